"""What iterating over abstract containers and iterators gives, for the tests of the library layer."""

from __future__ import annotations

from typing import Any

from pystage.compiler.library.context import Context, Raw
from pystage.compiler.library.kernels.structures import MISSING, known_object, lift
from pystage.compiler.values.lattice import (
    Abstract,
    Const,
    DictCell,
    DictView,
    Enumerate,
    ListCell,
    Mapped,
    Range,
    Ref,
    Reversed,
    SetCell,
    Tuple,
    Zip,
)

LISTED = 1 << 16
"""The greatest length of a range that is written out as a list of numbers."""


def container_elements(ctx: Context, value: Raw) -> list[Abstract] | None:
    """What iterating over a container or an iterator gives, in order; None where it cannot be listed.

    Taking the elements of an iterator does not use it up: that is up to the caller.
    """
    match value:
        case Tuple(items=items):
            return list(items)
        case Const(value=known):
            return _known_elements(ctx, known)
        case Ref():
            return _cell_elements(ctx.cell(value))
        case DictView(kind=kind, cell=cell):
            entries = ctx.cell(Ref(cell)).entries
            return [view_element(kind, k, v) for k, v in entries.items()]
        case Range():
            known = known_object(ctx, value)
            listed = known is not MISSING and len(known) <= LISTED
            return [Const(i) for i in known] if listed else None
        case Enumerate() | Zip() | Reversed() | Mapped():
            return _iterator_elements(ctx, value)
        case _:
            return None


def view_element(kind: str, key: Any, value: Abstract) -> Abstract:
    """An element of `d.keys()`, `d.values()` or `d.items()`."""
    match kind:
        case "keys":
            return Const(key)
        case "values":
            return value
        case _:
            return Tuple((Const(key), value))


def _known_elements(ctx: Context, known: Any) -> list[Abstract] | None:
    if isinstance(known, str | bytes | tuple | list | dict | frozenset | set | range):
        return [lift(ctx, v) for v in known] if len(known) <= LISTED else None
    if isinstance(known, type) and hasattr(known, "__members__"):  # an enum class
        return [Const(v) for v in known.__members__.values()]
    return None


def _cell_elements(cell: Any) -> list[Abstract] | None:
    match cell:
        case ListCell(items=items):
            return list(items)
        case DictCell(entries=entries):
            return [Const(k) for k in entries]
        case SetCell(items=known):
            return [Const(v) for v in known]
        case _:
            return None


def _iterator_elements(ctx: Context, value: Enumerate | Zip | Reversed | Mapped) -> list[Abstract] | None:
    match value:
        case Enumerate(inner, start):
            items = ctx.iterate(inner)
            first = known_object(ctx, start)
            if items is None or first is MISSING:
                return None
            return [Tuple((Const(first + i), item)) for i, item in enumerate(items)]
        case Reversed(inner):
            items = ctx.iterate(inner)
            return None if items is None else items[::-1]
        case Zip(inners, strict):
            rows = _rows(ctx, inners, strict)
            return None if rows is None else [Tuple(row) for row in rows]
        case Mapped(function, inners):
            rows = _rows(ctx, inners, False)
            return None if rows is None else [ctx.call(function, row) for row in rows]


def _rows(ctx: Context, inners: tuple[Abstract, ...], strict: bool) -> list[tuple[Abstract, ...]] | None:
    """What `zip` gives for iterables, None where one of them cannot be listed."""
    columns = []
    for inner in inners:
        items = ctx.iterate(inner)
        if items is None:
            return None
        columns.append(items)
    try:
        return list(zip(*columns, strict=strict))
    except ValueError as error:
        ctx.raise_(error)
