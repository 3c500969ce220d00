"""Sequences of Python's library (`rules/sequences.py`): objects with a list of their own."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import cast

import numpy as np

from ...values.gated import Gated, narrow
from ...values.lattice import Abstract, AnyList, Const, Items, ObjectCell, Ref
from ..context import Context, Raw
from ..kernels.structures import abstract, cell_of, list_of
from ..rules.sequences import ITEMS, SEQUENCES, sequence_cell
from ..rules.split import needs_split


def is_sequence(ctx: Context, value: Raw) -> bool:
    """True for a deque or an array."""
    cell = cell_of(ctx, value)
    return isinstance(cell, ObjectCell) and cell.cls in SEQUENCES


def items_of(ctx: Context, ref: Raw) -> Ref:
    """The list of the elements of a sequence, to which nothing else refers; one of several of a sequence by path."""
    items = narrow(ctx.b, ctx.intervals, cell_of(ctx, ref).fields[ITEMS])
    if isinstance(items, Gated):
        raise needs_split(items)
    return cast(Ref, items)


def contents(ctx: Context, ref: Raw) -> Items:
    """The elements of a sequence, a vector from the first one on."""
    return cast(AnyList, ctx.cell(items_of(ctx, ref))).items


def new_sequence(ctx: Context, cls: type, items: Items, *constants: Raw) -> Ref:
    """A new sequence of these elements."""
    return Ref(ctx.state.new_cell(sequence_cell(cls, list_of(ctx, items), list(map(abstract, constants)))))


def mapped_sequence(ctx: Context, ref: Raw, part: Callable[[Abstract], Abstract]) -> Ref:
    """A new sequence of what `part` makes of each element."""
    items, cell = contents(ctx, ref), cell_of(ctx, ref)
    if isinstance(items, tuple):
        items = tuple(map(part, items))
    constants = [cell.fields[name] for name in SEQUENCES[cell.cls].constants]
    return new_sequence(ctx, cell.cls, items, *constants)


def as_array_argument(ctx: Context, value: Raw) -> Raw:
    """What NumPy copies of a sequence: of an `array.array` an ndarray of its type, of a deque a list; others as they are."""
    if not is_sequence(ctx, value):
        return value
    listed, cell = list_of(ctx, contents(ctx, value)), cell_of(ctx, value)
    if cell.cls is not array:
        return listed
    dtype = np.dtype(ctx.known(cell.fields["typecode"], "the type of an array.array"))
    return ctx.call(Const(np.array), [listed, Const(dtype)])
