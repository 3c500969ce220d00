"""Deques: objects with a list of their own, a ring (`Vector.start`) to which elements are added at both ends."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import cast

from ...values.lattice import Abstract, AnyList, Const, Items, ObjectCell, Ref
from ..context import Context, Raw
from ..kernels.structures import cell_of, list_of

ITEMS = "the elements"
CHANGES = "how often it has got longer or shorter"
BOUND = "maxlen"
"""The fields of a deque; the last one is an attribute that the program may read."""


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
