"""Collects the Python files to check from the paths of a command line, each with its import root."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from ...compiler.policy import package_of_file
from ..targets import UsageError

_SKIPPED = {"__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env"}
"""Folders whose files nobody here wrote; so are hidden ones and virtual environments of any name."""
_RUN = {"__main__.py", "setup.py"}
"""Files that are there to be run: an import would run them."""
_GENERATED = ("@generated", "DO NOT EDIT")
"""What the first lines of a generated file say."""


def files_of(paths: Iterable[str]) -> list[Path]:
    """The Python files under paths and in modules, each once, in order. `UsageError` where there are none."""
    found: dict[Path, None] = {}
    for path in paths:
        under = list(_under(_path_of(path)))
        if not under:
            raise UsageError(f"there is no Python file in {path}")
        found |= dict.fromkeys(under)
    return sorted(found, key=lambda file: (root_of(file), file))


def root_of(file: Path) -> Path:
    """The folder from which Python imports a file: the one above its outermost package."""
    folder = file.parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


@contextmanager
def imports_from(root: Path) -> Iterator[None]:
    """For modules of one root: what was imported from it is forgotten afterwards, so that those of another may have
    the same names."""
    before, path = set(sys.modules), list(sys.path)
    sys.path[:] = [str(root), *[entry for entry in path if entry != str(root)]]
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if name not in before and _is_from(module, root):
                del sys.modules[name]


def _is_from(module: ModuleType, root: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and root in Path(file).parents and package_of_file(file) is None


def _path_of(path: str) -> Path:
    """The file or the folder of a path or of a module."""
    place = Path(path)
    if place.exists():
        return place.resolve()
    if not all(part.isidentifier() for part in path.split(".")):
        raise UsageError(f"there is no file or folder {path}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(path)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        raise UsageError(f"there is no file, folder or module {path}")
    origin = Path(spec.origin).resolve()
    return origin.parent if origin.name == "__init__.py" else origin


def _under(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(name for name in folders if not _is_skipped(Path(folder, name)))
        for name in sorted(files):
            file = Path(folder, name)
            if (
                name.endswith(".py")
                and not name.startswith(".")
                and name not in _RUN
                and not _is_generated(file)
            ):
                yield file


def _is_skipped(folder: Path) -> bool:
    name = folder.name
    hidden = name.startswith(".") or name.endswith(".egg-info")
    return hidden or name in _SKIPPED or (folder / "pyvenv.cfg").exists()


def _is_generated(file: Path) -> bool:
    if file.name.endswith(("_pb2.py", "_pb2_grpc.py")):
        return True
    try:
        with file.open(errors="replace") as text:
            start = text.read(500)
    except OSError:  # a link to what is not there
        return True
    return any(mark in line for line in start.splitlines()[:5] for mark in _GENERATED)
