"""Runs what `python` runs, in this process: a script, a folder or an archive with `__main__.py`, or `-m module`."""

from __future__ import annotations

import importlib.util
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

from ..records import dataclass
from .targets import ImportFailed, UsageError, is_ours

_INTERRUPTED = 130
"""The exit status of what SIGINT ends, as a shell tells it."""


@dataclass(frozen=True)
class Script:
    """What is run as `__main__`: its module, its code, and what Python calls it in `sys.argv`."""

    module: ModuleType
    code: Callable[[], CodeType | None]
    name: str
    arguments: Sequence[str]

    def run(self) -> int:
        """Runs it, and gives the exit status. What it raises is told as Python tells it, without pystage's frames.

        The process is the script's from here on: `__main__` and `sys.argv` stay as it leaves them, for its threads and for
        what runs at exit.
        """
        sys.argv = [self.name, *self.arguments]
        sys.modules["__main__"] = self.module
        try:
            code = self.code()
            assert code is not None
            exec(code, vars(self.module))
        except SystemExit as leaving:
            if leaving.code is None or isinstance(leaving.code, int):
                return leaving.code or 0
            print(leaving.code, file=sys.stderr)
            return 1
        except BaseException as error:
            _tell(error)
            return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
        return 0


def script_of(words: Sequence[str]) -> Script:
    """What `python WORDS` runs; `sys.path` begins as it does there. UsageError if there is no such thing."""
    if not words or words[0] == "-m":
        if len(words) < 2:
            raise UsageError("name a script, a folder, or a module after -m (--run)")
        _begin_path(os.getcwd(), always=False)
        return _of_spec(_module(words[1]), None, words[2:])
    path, arguments = words[0], words[1:]
    if not os.path.exists(path):
        raise UsageError(f"there is no file {path}")
    importer = pkgutil.get_importer(os.path.abspath(path))
    if importer is None:
        _begin_path(str(Path(path).resolve().parent), always=False)
        return _of_file(path, arguments)
    spec = importer.find_spec("__main__", None)
    if spec is None:
        raise UsageError(f"there is no `__main__.py` in {path}")
    _begin_path(os.path.abspath(path), always=True)
    return _of_spec(spec, path, arguments)


def _of_file(path: str, arguments: Sequence[str]) -> Script:
    file = os.path.abspath(path)
    loader = SourceFileLoader("__main__", file)
    module = ModuleType("__main__")
    module.__file__, module.__loader__ = file, loader
    return Script(module, lambda: loader.source_to_code(loader.get_data(file), file), path, arguments)


def _of_spec(spec: ModuleSpec, name: str | None, arguments: Sequence[str]) -> Script:
    code = getattr(spec.loader, "get_code", None)
    if code is None or not spec.has_location:
        raise UsageError(f"{spec.name} is not written in Python")
    module = importlib.util.module_from_spec(spec)
    module.__name__ = "__main__"
    return Script(module, lambda: code(spec.name), name or str(spec.origin), arguments)


def _module(name: str) -> ModuleSpec:
    """What `-m name` runs: of a package its `__main__`."""
    try:
        spec = importlib.util.find_spec(name)
        is_package = spec is not None and spec.submodule_search_locations is not None
        found = importlib.util.find_spec(f"{name}.__main__") if is_package else spec
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise ImportFailed(name, error) from None
        found, is_package = None, False
    except (Exception, SystemExit, KeyboardInterrupt) as error:  # of the package around it
        raise ImportFailed(name, error) from None
    if found is None:
        raise UsageError(
            f"the package {name} has no `__main__`" if is_package else f"there is no module {name}"
        )
    return found


def _begin_path(folder: str, always: bool) -> None:
    """Lets `sys.path` begin with a folder in place of what Python put there for pystage."""
    if not sys.flags.safe_path:
        del sys.path[0]
    if always or not sys.flags.safe_path:
        sys.path.insert(0, folder)


def _tell(error: BaseException) -> None:
    """Tells of an exception as Python does, or as the script's own hook; `PYSTAGE_TRACEBACK=full` shows all frames."""
    if os.environ.get("PYSTAGE_TRACEBACK") != "full":
        for each in _linked(error):
            each.__traceback__ = _users(each.__traceback__)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.excepthook(type(error), error, error.__traceback__)


def _linked(error: BaseException) -> Iterator[BaseException]:
    """An exception, its causes, and those in groups."""
    known: dict[int, BaseException] = {}
    open: list[BaseException | None] = [error]
    while open:
        each = open.pop()
        if each is not None and id(each) not in known:
            known[id(each)] = each
            open += [each.__cause__, each.__context__]
            if isinstance(each, BaseExceptionGroup):
                open += each.exceptions
            yield each


def _users(frames: TracebackType | None) -> TracebackType | None:
    """The frames that are not pystage's."""
    kept = []
    while frames is not None:
        if not is_ours(frames.tb_frame.f_code.co_filename):
            kept.append(frames)
        frames = frames.tb_next
    found = None
    for each in kept[::-1]:
        found = TracebackType(found, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return found
