"""Structures that have only parts (tuples, ranges, slices, closures): taking them apart and rebuilding them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Closure,
    Const,
    DictCell,
    DictView,
    ListCell,
    MaybeUndef,
    ObjectCell,
    Ref,
    Tuple,
    Undef,
    Unknown,
    VariableCell,
    is_number,
)
from ...values.state import Content


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


def alike(a: Content | None, b: Content) -> bool:
    """True if two contents of a slot differ at most in the numbers inside, or in whether they are assigned."""
    a = a.value if isinstance(a, MaybeUndef) else a
    b = b.value if isinstance(b, MaybeUndef) else b
    if a is b or a is None or isinstance(a, Undef) or isinstance(b, Undef):
        return True
    if isinstance(a, Const | Array) and isinstance(b, Const | Array):
        return is_number(a) and is_number(b)
    if type(a) is not type(b):
        return False
    match a, b:
        case Ref(), Ref():
            return a.cell == b.cell and a.path == b.path
        case (ListCell(items=x), ListCell(items=y)) | (Tuple(items=x), Tuple(items=y)):
            return len(x) == len(y) and all(map(alike, x, y))
        case (DictCell(entries=p), DictCell(entries=q)) | (ObjectCell(fields=p), ObjectCell(fields=q)):
            return list(p) == list(q) and all(map(alike, p.values(), q.values()))
        case VariableCell(), VariableCell():
            return alike(a.value, b.value)
    return isinstance(a, ArrayCell)
