"""Tables of dicts and sets: rows of their entries, the hash index of keys, and the slots of rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from ...hlo.builder import Builder
from ...hlo.ir import Region, Value
from ...hlo.types import INT64
from ...ops import Add, Compare, Constant, Convert, Maximum, Select, Subtract, While
from ...values.lattice import (
    NONE,
    Abstract,
    AnyTable,
    DictCell,
    Items,
    SetCell,
    TableCell,
    Tuple,
)
from ...values.vector import Vector
from ...values.walk import rebuild, values_of
from .row_index import are_hashed_alike, has_numbers, index_of, index_type, slot_at, slots_of_rows, with_slot
from .rows import as_vector, rows_from, with_rows_from
from .templates import key_of


def class_of_table(cell: AnyTable) -> type:
    """The class of a dict or a set."""
    return set if isinstance(cell, SetCell) else cell.container


def is_dict(cell: object) -> TypeGuard[DictCell | TableCell]:
    """True for the contents of a dict."""
    return isinstance(cell, DictCell) or (isinstance(cell, TableCell) and issubclass(cell.container, dict))


def is_counter(cell: object) -> bool:
    """True for the contents of a `Counter`."""
    return isinstance(cell, DictCell | TableCell) and cell.container is Counter


def factory_of(cell: AnyTable) -> Abstract | None:
    """The `default_factory` of a `defaultdict`."""
    return None if isinstance(cell, SetCell) else cell.factory


def stored_entries(cell: AnyTable) -> Items:
    """The entries of a dict or a set as they are stored, with removed ones."""
    match cell:
        case TableCell():
            return cell.entries
        case DictCell(entries=known):
            return tuple([Tuple((key_of(key), value)) for key, value in known.items()])
        case SetCell(items=members):
            return tuple([Tuple((key_of(member), NONE)) for member in members])


def entries_of(b: Builder, cell: AnyTable) -> Items:
    """The entries of a dict or a set, each a pair of a key and a value; None is the value of an element of a set."""
    return stored_entries(compacted(b, cell) if isinstance(cell, TableCell) else cell)


def as_table(
    b: Builder, cell: AnyTable, template: Abstract, capacity: int, is_indexed: bool, is_marked: bool
) -> TableCell:
    """The dict or set as `capacity` rows of the template, which covers its entries.

    With an index if `is_indexed`, and with the slots of its rows if `is_marked`.
    """
    if not isinstance(cell, TableCell):
        rows = as_vector(b, stored_entries(cell), template, capacity)
        cell = cell_as(cell, rows)
    else:
        if not is_marked or cell.entries.capacity != capacity:
            cell = compacted(b, cell)
        if not is_indexed:
            cell = replace(cell, index=None)
        cell = with_rows(b, cell, as_vector(b, cell.entries, template, capacity))
    if is_indexed and cell.index is None:
        cell = replace(cell, index=index_of(b, keys_in(cell.entries), capacity, cell.entries.length))
    return marked(b, cell) if is_marked else cell


def cell_as(cell: AnyTable, rows: Vector[Abstract]) -> TableCell:
    """A dict or a set of the class of another, in its place, with these rows as its entries."""
    return TableCell(
        class_of_table(cell), rows, aliases=cell.aliases, selector=cell.selector, factory=factory_of(cell)
    )


def with_rows(b: Builder, cell: TableCell, rows: Vector[Abstract]) -> TableCell:
    """The table with its entries in other rows, at the same positions; with an index if it has one and the keys can."""
    held = replace(cell, entries=rows)
    if cell.index is None:
        return held
    keys = keys_in(rows)
    if cell.index.type == index_type(rows.capacity) and are_hashed_alike(keys_in(cell.entries), keys):
        return held
    held = compacted(b, held)
    indexed = has_numbers(keys)
    return replace(held, index=index_of(b, keys, rows.capacity, held.entries.length) if indexed else None)


# ---------------------------------------------------------------- entries that were taken out


def count_of(b: Builder, cell: TableCell) -> int | Value:
    """The number of entries."""
    return _less(b, cell.entries.length, cell.holes)


def marked(b: Builder, cell: TableCell) -> TableCell:
    """The table with the slots of its rows."""
    if cell.slots is not None:
        return cell
    assert cell.index is not None
    return replace(cell, slots=slots_of_rows(b, cell.index, cell.entries.capacity, cell.entries.length))


def compacted(b: Builder, cell: TableCell) -> TableCell:
    """The table in which the first rows, in order, hold the entries; without the slots of its rows."""
    if cell.slots is None:
        return cell
    some = b.op(Compare("GT"), _number(b, cell.holes), _number(b, 0))
    return replace(compacted_where(b, cell, some), slots=None, holes=0)


def compacted_where(b: Builder, cell: TableCell, condition: Value) -> TableCell:
    """The table, compacted if the condition holds: each entry moves to the first row that has become free."""
    assert cell.index is not None and cell.slots is not None
    rows, zero = cell.entries, _number(b, 0)
    end = b.op(Select(), condition, _number(b, rows.length), zero)
    initial = (zero, zero, cell.index, cell.slots, *values_of(rows.element))
    types = tuple([value.type for value in initial])
    test, body = Region(types), Region(types)
    with b.region(test):
        test.results = (b.op(Compare("LT"), test.params[0], end),)
    with b.region(body):
        place, free, index, slots, *columns = body.params
        slot = slot_at(b, slots, place)
        holds = b.op(Compare("GE"), slot, zero)
        inside = b.op(Maximum(), slot, zero)
        left = b.op(Select(), holds, free, slot_at(b, index, inside))
        body.results = (
            b.op(Add(), place, _number(b, 1)),
            b.op(Add(), free, b.op(Convert(INT64), holds)),
            with_slot(b, index, inside, left),
            with_slot(b, slots, free, slot),
            *[with_rows_from(b, column, free, rows_from(b, column, place, 1)) for column in columns],
        )
    _, count, index, slots, *moved = b.apply(While(rows.capacity), initial, (test, body)).results
    each = iter(moved)
    length = b.op(Select(), condition, count, _number(b, rows.length))
    holes = b.op(Select(), condition, zero, _number(b, cell.holes))
    entries = replace(rows, element=rebuild(rows.element, lambda v: next(each)), length=length)
    return replace(cell, entries=entries, index=index, slots=slots, holes=holes)


def without_holes_behind(b: Builder, cell: TableCell) -> TableCell:
    """The table, which is not empty, without holes behind the last entry."""
    slots = cell.slots
    if slots is None:
        return cell
    one = _number(b, 1)
    initial = _number(b, cell.entries.length), _number(b, cell.holes)
    types = tuple([value.type for value in initial])
    test, body = Region(types), Region(types)
    with b.region(test):
        slot = slot_at(b, slots, b.op(Subtract(), test.params[0], one))
        test.results = (b.op(Compare("LT"), slot, _number(b, 0)),)
    with b.region(body):
        body.results = tuple([b.op(Subtract(), param, one) for param in body.params])
    length, holes = b.apply(While(cell.entries.capacity), initial, (test, body)).results
    return replace(cell, entries=replace(cell.entries, length=length), holes=holes)


def _number(b: Builder, number: int | Value) -> Value:
    return b.op(Constant(np.asarray(number, np.int64))) if isinstance(number, int) else number


def _less(b: Builder, a: int | Value, by: int | Value) -> int | Value:
    if isinstance(by, int) and (by == 0 or isinstance(a, int)):
        return a if by == 0 else a - by  # type: ignore[operator]
    return b.op(Subtract(), _number(b, a), _number(b, by))


def keys_in(rows: Vector[Abstract]) -> Abstract:
    """The keys of entries."""
    assert isinstance(rows.element, Tuple)
    return rows.element.items[0]
