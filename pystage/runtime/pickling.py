"""Pickles of compiled functions: by name, as of plain functions, else by value, with their source text.

`cloudpickle` takes functions of `__main__` by value, for a process that does not have them, and drops where their code
stands. So a compiled function has the texts of its source with it, and those of the functions of `__main__` that it
refers to; the front end finds them again by comparing them with the code that runs (`frontend/interactive.py`).
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..compiler.diagnostics.errors import StagingError
from ..compiler.frontend.code_equality import nested_codes
from ..compiler.frontend.errors import FrontendError
from ..compiler.frontend.interactive import remember_text
from ..compiler.frontend.source import text_around


def reduced(
    function: Any,
    name: str,
    again: Callable[..., Any] | None,
    plain: Callable[..., Any],
    given: dict[str, Any],
    pickler: Any,
) -> str | tuple[Any, ...]:
    """The result of `__reduce__` for a compiled function that `again` makes of the `plain` one, with the attributes `given`.

    `pickler` is the frame that asks: cloudpickle's wants a value where other processes do not have the module.
    """
    module = str(function.__module__)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    by_name = found is function and not _wants_values(pickler, module)
    if by_name or again is None:
        return name
    return _made, (again, plain, tuple(_texts(plain))), given


def _made(again: Callable[..., Any], plain: Callable[..., Any], texts: tuple[str, ...]) -> Any:
    for text in texts:
        remember_text(text)
    return again(plain)


def _wants_values(frame: types.FrameType | None, module: str) -> bool:
    """True if a pickle is for processes without this module: cloudpickle decides it by the module's name."""
    if frame is None or "cloudpickle" not in str(frame.f_globals.get("__name__", "")):
        return False
    registered = frame.f_globals.get("list_registry_pickle_by_value", frozenset)()
    parts = module.split(".")
    return module == "__main__" or any(".".join(parts[:i]) in registered for i in range(1, len(parts) + 1))


def _texts(plain: Any) -> Iterator[str]:
    """The texts of a function and of what it refers to in its own module, each once."""
    module = getattr(plain, "__module__", None)
    seen: set[int] = set()
    known: set[str] = set()
    pending = [plain]
    while pending:
        value = pending.pop()
        value = getattr(value, "__pystage_function__", value)
        value = getattr(value, "__func__", value)
        if id(value) in seen or getattr(value, "__module__", None) != module:
            continue
        seen.add(id(value))
        if isinstance(value, type):
            pending += vars(value).values()
        elif isinstance(value, types.FunctionType):
            pending += _referred(value)
            try:
                text = text_around(value)
            except (FrontendError, StagingError):
                continue
            if text not in known:
                known.add(text)
                yield text


def _referred(function: types.FunctionType) -> Iterator[Any]:
    """The objects that the names and cells of a function refer to."""
    for code in (function.__code__, *nested_codes(function.__code__)):
        for name in code.co_names:
            if name in function.__globals__:
                yield function.__globals__[name]
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue
