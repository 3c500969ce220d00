"""Class look-up as Python does it, and which instances can be staged. No code of the class runs."""

from __future__ import annotations

from typing import Any

_SENTINEL: Any = object()


def lookup_class(cls: type, name: str, after: type | None = None) -> Any:
    """The raw attribute `name` in the MRO of `cls` (behind `after`, for `super`), or the sentinel."""
    mro = cls.__mro__
    if after is not None:
        mro = mro[mro.index(after) + 1 :]
    for base in mro:
        if name in base.__dict__:
            return base.__dict__[name]
    return _SENTINEL


def found(raw: Any) -> bool:
    """True if `lookup_class` found something."""
    return raw is not _SENTINEL


def unsupported(cls: type) -> str:
    """Why instances of a class cannot be cells; empty if they can."""
    if type(cls) is not type and type(cls).__call__ is not type.__call__:
        return f"its metaclass {type(cls).__name__} defines how it is called"
    for base in cls.__mro__[1:]:
        if base.__module__ == "builtins" and base is not object:
            return f"it inherits from {base.__name__}"
    if lookup_class(cls, "__new__") is not object.__new__ and not issubclass(cls, tuple):
        new = lookup_class(cls, "__new__")
        generic = getattr(new, "__module__", "") == "typing" or "Generic" in getattr(new, "__qualname__", "")
        if not generic:
            return "it defines __new__"
    return ""
