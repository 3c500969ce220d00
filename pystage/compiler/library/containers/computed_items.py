"""Items of lists and tuples at computed indices.

In: the items, and an integer of the program. Out: the item. Items with a common template become rows of arrays, of which
the program takes one. For a few others the program branches on the index, so that a reference may be one of several
objects afterwards. An index out of bounds raises Python's IndexError; negative ones count from the end.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import limits
from ...hlo.ir import Value
from ...hlo.types import INT64
from ...ops import Add, Compare, DynamicSlice, Reshape, Select
from ...values.lattice import Abstract, Array, Const
from ..context import Context
from ..kernels.arithmetic import like
from ..numpy.indexing.bounds_checks import check_inside
from ..rules.rows import row_at, rows_of
from ..rules.templates import common_template

_EXAMPLES: dict[str, Any] = {"tuple": (None,), "string": " ", "bytes": b" "}
"""By the kind of a sequence other than a list, one with one item."""


def is_index(index: Abstract) -> bool:
    """True for one integer, as Python takes it for an index."""
    if isinstance(index, Const):
        return isinstance(index.value, int | np.integer) and -(2**62) < int(index.value) < 2**62
    return isinstance(index, Array) and not index.rank and index.dtype.kind in "iu"


def is_computed_index(ctx: Context, index: Abstract) -> bool:
    """True for an index that only the run knows."""
    return isinstance(index, Array) and is_index(index) and ctx.is_computed(index)


def computed_item(
    ctx: Context, items: tuple[Abstract, ...], index: Array, kind: str, ragged: bool = False
) -> Abstract | None:
    """`items[index]`; None without a common template. `ragged`: the items may be gated."""
    if not items:
        ctx.raise_(_outside(kind))
    template = common_template(items, ragged)
    if template is None:
        return None
    place = checked_place(ctx, index, len(items), kind)
    return row_at(ctx.b, rows_of(ctx.b, items, template, len(items)), place)


def chosen_item(ctx: Context, items: Sequence[Abstract], index: Array, kind: str) -> Abstract | None:
    """`items[index]` by branches over the different items; None for more than a few of these."""
    different: dict[object, int] = {}
    numbers = [different.setdefault(_identity(item), len(different)) for item in items]
    if not 0 < len(different) <= limits.ITEM_BRANCHES:
        return None
    place = checked_place(ctx, index, len(items), kind)
    if len(different) == len(items):
        return _chosen(ctx, items, ctx.python(place, (0, len(items) - 1)), 0)
    table = ctx.constant(np.array(numbers), INT64)
    number = ctx.op(Reshape(()), ctx.op(DynamicSlice((1,)), table, place))
    firsts = [items[numbers.index(k)] for k in range(len(different))]
    return _chosen(ctx, firsts, ctx.python(number, (0, len(firsts) - 1)), 0)


def _identity(item: Abstract) -> object:
    """A key, equal for items that are certainly one object, or equal strings."""
    return (str, item.value) if isinstance(item, Const) and type(item.value) is str else (object, id(item))


def is_of_few(text: str | bytes) -> bool:
    """True for a string over which a loop is rolled."""
    return isinstance(text, bytes) or len(set(text)) <= limits.LOOPED_CHARACTERS


def computed_character(ctx: Context, text: str | bytes, index: Array) -> Abstract | None:
    """`text[index]`; None for a string of many different characters, and where an unrolled loop knows the index."""
    if not is_of_few(text) and ctx.can_be_unrolled(index):
        return None
    items = tuple([Const(character) for character in text])
    if isinstance(text, bytes):
        return computed_item(ctx, items, index, "bytes")
    return chosen_item(ctx, items, index, "string")


def _chosen(ctx: Context, items: Sequence[Abstract], place: Array, first: int) -> Abstract:
    """The item at `place`, one of those that begin at `first`."""
    if all(item is items[0] for item in items):
        return items[0]
    half = len(items) // 2
    before = ctx.op(Compare("LT"), place.value, like(ctx, place.value, first + half))
    return ctx.branch(
        ctx.python(before),
        functools.partial(_chosen, ctx, items[:half], place, first),
        functools.partial(_chosen, ctx, items[half:], place, first + half),
    )


def checked_place(ctx: Context, index: Array, extent: int, kind: str) -> Value:
    """The index, counted from the front; the program raises IndexError where it is out of bounds."""
    place = _front(ctx, index, extent)
    check_inside(ctx, index, place, extent, _lookup(kind, extent), fallback=_outside(kind))
    return place


def _outside(kind: str) -> IndexError:
    return IndexError("index out of range" if kind == "bytes" else f"{kind} index out of range")


def _front(ctx: Context, index: Array, extent: int) -> Value:
    """The index, counted from the front."""
    place = ctx.convert(index.value, INT64)
    if index.dtype.kind == "u":
        return place
    negative = ctx.op(Compare("LT"), place, like(ctx, place, 0))
    return ctx.op(Select(), negative, ctx.op(Add(), place, like(ctx, place, extent)), place)


def _lookup(kind: str, extent: int) -> Callable[[Any], None]:
    """A function that raises Python's own exception for an index out of bounds."""
    sequence: Any = _EXAMPLES.get(kind, [None]) * extent

    def look(at: Any) -> None:
        if kind == "list assignment":
            operator.setitem(sequence, at, None)
        operator.getitem(sequence, at)

    return look
