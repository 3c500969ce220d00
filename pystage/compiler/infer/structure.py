"""Structures that have only parts (tuples, ranges, slices, closures): taking them apart and rebuilding them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ..values.lattice import Abstract, Array, Closure, Const, DictView, Ref, Tuple, Unknown


def structure_parts(x: Abstract) -> list[Abstract] | None:
    """The parts of a structure that has only parts (no cells of its own); None for anything else."""
    match x:
        case Tuple(items):
            return list(items)
        case Closure():
            return [*x.defaults, *[v for _, v in x.kw_defaults]]
        case Unknown() | Const() | Array() | Ref() | DictView():
            return None
        case _:
            return _field_parts(x)


def _field_parts(x: Abstract) -> list[Abstract] | None:
    found: list[Abstract] = []
    for name in getattr(x, "__slots__", ()):
        value = getattr(x, name)
        if isinstance(value, Abstract):
            found.append(value)
        elif isinstance(value, tuple):
            for item in value:
                inner = item[1] if isinstance(item, tuple) else item
                if isinstance(inner, Abstract):
                    found.append(inner)
    return found


def structure_head(x: Abstract) -> object:
    """What two structures must have equal to be joined part by part."""
    match x:
        case Tuple(cls=cls):
            return cls
        case Closure(function=function):
            return function
        case _:
            return tuple(
                [
                    v
                    for n in getattr(x, "__slots__", ())
                    if not isinstance(v := getattr(x, n), Abstract | tuple)
                ]
            )


def with_parts(x: Abstract, parts: list[Abstract]) -> Abstract:
    """The structure `x` with other parts, in the order of `structure_parts`."""
    if isinstance(x, Tuple):
        return Tuple(tuple(parts), x.cls)
    rest = iter(parts)
    changes: dict[str, object] = {}
    for name in getattr(x, "__slots__", ()):
        value = getattr(x, name)
        if isinstance(value, Abstract):
            changes[name] = next(rest)
        elif isinstance(value, tuple):
            changes[name] = tuple([_with_part(item, rest) for item in value])
    return replace(x, **changes)


def _with_part(item: object, rest: object) -> object:
    parts = cast("list[Abstract]", rest)
    if isinstance(item, Abstract):
        return next(parts)  # type: ignore[call-overload]
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], Abstract):
        return (item[0], next(parts))  # type: ignore[call-overload]
    return item
