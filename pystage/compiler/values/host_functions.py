"""Functions that a `CallTemplate` calls on the host: string formatting, and exceptions with their cause."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda value: value, "r": repr, "s": str, "a": ascii}


class Verbatim(str):
    """A string that is shown inside a container as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def formatted(value: Any, conversion: str, spec: str) -> str:
    """`f"{value!conversion:spec}"`."""
    return format(_CONVERSIONS[conversion](value), spec)


def joined(*parts: str) -> str:
    """The parts of a string, one after the other."""
    return "".join(parts)


def copied(exception: BaseException) -> BaseException:
    """An exception like this one, with its cause and context."""
    cls = type(exception)
    try:
        made = copy.copy(exception)
    except Exception:
        made = None
    if type(made) is not cls or made.args != exception.args:  # the class is not called with its arguments
        made = cls.__new__(cls, *exception.args)
        made.args = exception.args
        made.__dict__.update(exception.__dict__)
    made.__context__, made.__cause__ = exception.__context__, exception.__cause__
    made.__suppress_context__ = exception.__suppress_context__
    return made


def noted(exception: BaseException, note: str) -> BaseException:
    """`exception`, with one more note."""
    exception.add_note(note)
    return exception


def caused(exception: BaseException, cause: BaseException | None) -> BaseException:
    """`exception`, raised from `cause`."""
    exception.__cause__ = cause
    return exception
