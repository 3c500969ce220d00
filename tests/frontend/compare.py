"""Runs a function in CPython and as stage IR, and compares everything that can be seen."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from .stage_interpreter import as_python


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call did: its result or exception, and its arguments afterwards."""
    try:
        result = function(*args)
    except Exception as error:
        cause = type(error.__cause__).__name__ if error.__cause__ is not None else None
        message = "" if isinstance(error, (NameError, ValueError, TypeError)) else str(error)
        name = "NameError" if isinstance(error, NameError) else type(error).__name__
        return ("raised", name, message, cause, plain(args))
    return ("returned", plain(result), plain(args))


def plain(value: Any) -> Any:
    """A value as something whose equality tells types apart."""
    match value:
        case list() | tuple():
            return (type(value).__name__, [plain(v) for v in value])
        case dict():
            return ("dict", [(plain(k), plain(v)) for k, v in value.items()])
        case set() | frozenset():
            return (type(value).__name__, sorted(map(repr, value)))
        case None | bool() | int() | float() | complex() | str() | bytes():
            return (type(value).__name__, repr(value))
    if callable(value):
        return "callable"
    return (type(value).__name__, repr(value) if not hasattr(value, "__dict__") else plain(vars(value)))


def check(function: Any, *inputs: Any) -> None:
    """Compares on every input; a tuple is several arguments, anything else is the only one."""
    staged = as_python(function)
    for given in inputs or ((),):
        args = given if isinstance(given, tuple) else (given,)
        expected = outcome(function, copy.deepcopy(args))
        found = outcome(staged, copy.deepcopy(args))
        assert found == expected, f"{function.__qualname__}{args}: {found} != {expected}"
