"""Strings that are put together on the host, and exceptions with their cause: what `Made` templates call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda value: value, "r": repr, "s": str, "a": ascii}


class Verbatim(str):
    """The string that an object inside a container is shown by."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def formatted(value: Any, conversion: str, spec: str) -> str:
    """`f"{value!conversion:spec}"`."""
    return format(_CONVERSIONS[conversion](value), spec)


def joined(*parts: str) -> str:
    """The parts of a string, one after the other."""
    return "".join(parts)


def picked(which: int, *options: str) -> str:
    """One of several strings."""
    return options[which]


def caused(exception: BaseException, cause: BaseException | None) -> BaseException:
    """`exception`, raised from `cause`."""
    exception.__cause__ = cause
    return exception
