"""Operations on deques (`values/deques.py`): rows as a ring, to which elements are added and from which they are taken at
both ends.

In: a reference to a deque; rows, of which the one at `start` comes first. Out: its elements; rows, an element. Other rows
do not move.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from ...hlo.types import INT64
from ...ops import Compare, Select, Subtract
from ...values.deques import BOUND, ITEMS, deque_cell
from ...values.lattice import Abstract, AnyList, ListCell, ObjectCell, Ref, RowsCell
from ..context import Context, Raw
from ..interfaces.operations import Operations
from ..kernels.structures import cell_of, new_list, new_rows
from ..rules.rows import from_first
from . import row_lists
from .row_lists import Int, added

# ---------------------------------------------------------------- parts of a deque


def is_deque(ctx: Context, value: Raw) -> bool:
    """True for a deque."""
    cell = cell_of(ctx, value)
    return isinstance(cell, ObjectCell) and cell.cls is collections.deque


def items_of(ctx: Context, ref: Raw) -> Ref:
    """The list of the elements of a deque, which only the deque refers to."""
    return cast(Ref, cell_of(ctx, ref).fields[ITEMS])


def contents(ctx: Context, ref: Raw) -> AnyList:
    """The elements of a deque, rows from the first one on."""
    cell = ctx.cell(items_of(ctx, ref))
    return from_first(ctx.b, cell) if isinstance(cell, RowsCell) else cell


def maxlen_of(ctx: Context, ref: Raw) -> int | None:
    """The maximal length of a deque."""
    return cast("int | None", ctx.known(cell_of(ctx, ref).fields[BOUND], "the maxlen of a deque"))


def new_deque(ctx: Context, content: AnyList, maxlen: int | None) -> Ref:
    """A new deque of these elements."""
    items = new_rows(ctx, content) if isinstance(content, RowsCell) else new_list(ctx, content.items)
    return Ref(ctx.state.new_cell(deque_cell(items, maxlen)))


def mapped_deque(ctx: Context, ref: Raw, part: Callable[[Abstract], Abstract]) -> Ref:
    """A new deque of what `part` makes of each element."""
    content = contents(ctx, ref)
    if isinstance(content, ListCell):
        content = ListCell(tuple(map(part, content.items)))
    return new_deque(ctx, content, maxlen_of(ctx, ref))


# ---------------------------------------------------------------- rings


def row_of(ctx: Operations, rows: RowsCell, place: Int) -> Int:
    """The row of the element at a position counted from the front, which is less than twice the number of rows."""
    return _around(ctx, rows, added(ctx, rows.start, place))


def _around(ctx: Operations, rows: RowsCell, row: Int) -> Int:
    """A row, taken modulo the number of rows."""
    if isinstance(row, int):
        return row % rows.capacity
    end = ctx.constant(rows.capacity, INT64)
    return ctx.op(Select(), ctx.op(Compare("GE"), row, end), ctx.op(Subtract(), row, end), row)


def item(ctx: Context, rows: RowsCell, place: Int) -> Abstract:
    """The element at a position inside."""
    return row_lists.item(ctx, rows, row_of(ctx, rows, place))


def with_item(ctx: Context, rows: RowsCell, place: Int, new: Abstract) -> RowsCell:
    """The rows with another element at a position inside."""
    return row_lists.with_item(ctx, rows, row_of(ctx, rows, place), new)


def put(ctx: Context, rows: RowsCell, new: Abstract, in_front: bool, maxlen: int | None) -> RowsCell:
    """The rows, which cover `new`, with it added at one end; of `maxlen` elements, the one at the other end is removed."""
    before = rows.length
    more: Int = 1
    dropped: Int = 0
    is_full = False if maxlen is None else row_lists.compared(ctx, "GE", rows.length, maxlen)
    if is_full is True:
        more, dropped = 0, 1
    elif is_full is not False:
        dropped = ctx.convert(is_full, INT64)
        more = ctx.op(Subtract(), ctx.constant(1, INT64), dropped)
    rows, count = row_lists.with_reserve(ctx, rows, more, 1)
    if in_front:
        start = row_of(ctx, rows, rows.capacity - 1)
        return replace(row_lists.with_item(ctx, rows, start, new), start=start, length=count)
    stored = with_item(ctx, rows, before, new)
    return replace(stored, start=_around(ctx, rows, added(ctx, rows.start, dropped)), length=count)


def taken(ctx: Context, rows: RowsCell, in_front: bool) -> tuple[Abstract, RowsCell]:
    """The element at one end, and the rows without it; there must be one."""
    count = added(ctx, rows.length, -1)
    if not in_front:
        return item(ctx, rows, count), replace(rows, length=count)
    first = item(ctx, rows, 0)
    return first, replace(rows, length=count, start=row_of(ctx, rows, 1))
