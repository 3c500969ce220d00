"""Deques: objects with a list of their own, a vector to which elements are added at both ends.

In: a reference to a deque; a vector. Out: its elements; a vector. Other rows do not move (`Vector.start`).
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from ...hlo.types import INT64
from ...ops import Subtract
from ...values.lattice import Abstract, AnyList, Const, Items, ObjectCell, Ref
from ...values.vector import Vector
from ..context import Context, Raw
from ..kernels.structures import cell_of, list_of
from ..rules.rows import row_behind
from . import row_lists
from .row_lists import Int

ITEMS = "the elements"
CHANGES = "how often it has got longer or shorter"
BOUND = "maxlen"
"""The fields of a deque; the last one is an attribute that the program may read."""


# ---------------------------------------------------------------- parts of a deque


def deque_cell(items: Ref, maxlen: int | None) -> ObjectCell:
    """A deque of these elements."""
    fields = {ITEMS: items, BOUND: Const(maxlen), CHANGES: Const(0)}
    return ObjectCell(collections.deque, fields)


def is_deque(ctx: Context, value: Raw) -> bool:
    """True for a deque."""
    cell = cell_of(ctx, value)
    return isinstance(cell, ObjectCell) and cell.cls is collections.deque


def items_of(ctx: Context, ref: Raw) -> Ref:
    """The list of the elements of a deque, which only the deque refers to."""
    return cast(Ref, cell_of(ctx, ref).fields[ITEMS])


def contents(ctx: Context, ref: Raw) -> Items:
    """The elements of a deque, a vector from the first one on."""
    return cast(AnyList, ctx.cell(items_of(ctx, ref))).items


def maxlen_of(ctx: Context, ref: Raw) -> int | None:
    """The maximal length of a deque."""
    return cast("int | None", ctx.known(cell_of(ctx, ref).fields[BOUND], "the maxlen of a deque"))


def new_deque(ctx: Context, items: Items, maxlen: int | None) -> Ref:
    """A new deque of these elements."""
    return Ref(ctx.state.new_cell(deque_cell(list_of(ctx, items), maxlen)))


def mapped_deque(ctx: Context, ref: Raw, part: Callable[[Abstract], Abstract]) -> Ref:
    """A new deque of what `part` makes of each element."""
    items = contents(ctx, ref)
    if isinstance(items, tuple):
        items = tuple(map(part, items))
    return new_deque(ctx, items, maxlen_of(ctx, ref))


# ---------------------------------------------------------------- rings


def put(
    ctx: Context, rows: Vector[Abstract], new: Abstract, in_front: bool, maxlen: int | None
) -> Vector[Abstract]:
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
        rows = replace(rows, start=row_behind(ctx.b, rows, rows.capacity - 1))
        return replace(row_lists.with_item(ctx, rows, 0, new), length=count)
    stored = row_lists.with_item(ctx, rows, before, new)
    return replace(stored, start=row_behind(ctx.b, rows, dropped), length=count)
