"""Items of lists and tuples at computed indices.

In: the items, and an integer of the program. Out: the item, if all have one type: numbers of one kind, or `jax.Array`s of
one dtype and shape. The items are the rows of one array, from which the program takes one; it raises Python's IndexError
for an index out of bounds, and counts negative indices from the end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...analysis.ranges import ANY
from ...hlo.ir import Value
from ...hlo.types import INT64
from ...ops import Add, Compare, DynamicSlice, Select
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, Const
from ...values.rows import stacked
from ..context import Context
from ..kernels.arithmetic import like
from ..numpy.indexing.bounds_checks import check_inside
from ..rules.promote import fits


def is_computed_index(index: Array) -> bool:
    """True for one integer, as Python takes it for an index."""
    return not index.rank and index.dtype.kind in "iu"


def computed_item(ctx: Context, items: tuple[Abstract, ...], index: Array, kind: str) -> Abstract | None:
    """`items[index]`; None where the items have no type in common, or are objects that a name may stand for."""
    outside = IndexError(f"{kind} index out of range")
    if not items:
        ctx.raise_(outside)
    parts = [_number(item) for item in items]
    first = parts[0]
    if first is None or any(part is None or part[1:] != first[1:] for part in parts):
        return None
    rows = [_value(ctx, part[0]) for part in parts if part is not None]
    if len({row.type for row in rows}) > 1:
        return None
    place = _front(ctx, index, len(items))
    check_inside(ctx, index, place, len(items), _lookup(kind, len(items)), fallback=outside)
    array = stacked(ctx.b, rows)
    shape = array.type.static_shape[1:]
    starts = [place, *[like(ctx, place, 0)] * len(shape)]
    value = ctx.reshape(ctx.op(DynamicSlice((1, *shape)), array, *starts), shape)
    form, weak = first[1], first[3]
    if form is Form.PYTHON:
        known = [item.value for item in items if isinstance(item, Const) and type(item.value) is int]
        return ctx.python(value, (min(known), max(known)) if len(known) == len(items) else ANY)
    return ctx.jax(value, weak) if form is Form.JAX else Array(value, form)


def _number(item: Abstract) -> tuple[Array | Const, Form, Any, bool] | None:
    """A number, or an array that nothing changes: with its form, its dtype, and whether JAX calls it weak."""
    if type(item) is Array and not item.key_impl and item.form is not Form.NDARRAY:
        return item, item.form, item.dtype, item.form is Form.JAX and item.weak
    if isinstance(item, Const):
        value = item.value
        if type(value) in (bool, float, complex) or (type(value) is int and fits(value, INT64)):
            return item, Form.PYTHON, np.asarray(value).dtype, False
        if isinstance(value, np.generic) and value.dtype.kind in "biufc":
            return item, Form.SCALAR, value.dtype, False
    return None


def _value(ctx: Context, part: Array | Const) -> Value:
    if isinstance(part, Array):
        return part.value
    return ctx.constant(part.value, np.asarray(part.value).dtype)


def _front(ctx: Context, index: Array, extent: int) -> Value:
    """The index, counted from the front."""
    place = ctx.convert(index.value, INT64)
    if index.dtype.kind == "u":
        return place
    negative = ctx.op(Compare("LT"), place, like(ctx, place, 0))
    return ctx.op(Select(), negative, ctx.op(Add(), place, like(ctx, place, extent)), place)


def _lookup(kind: str, extent: int) -> Callable[[Any], None]:
    """A function that raises Python's own exception for an index out of bounds."""
    sequence: Any = (None,) * extent if kind == "tuple" else [None] * extent

    def look(at: Any) -> None:
        operator.getitem(sequence, at)

    return look
