"""Arrays from nested lists and tuples, for `np.array` and `jnp.array`.

In: a nested list or tuple of numbers, constant or staged, and of arrays of one shape. Out: their stack, in the element
type that the library infers. A nest of constants is one constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...hlo.types import INT64, DType
from ...ops import Slice
from ...values.boundary import Form
from ...values.gated import GatedNumber, number_of_kind
from ...values.lattice import LISTS, Abstract, Array, Const, Range, Ref, Tuple
from ...values.packing import stacked
from ...values.vector import Vector
from ..context import Context, Raw
from ..kernels.structures import abstract, items_in_list, known_object, list_items
from ..numpy.indexing.indices import known_sequence
from ..rules.rows import row_at
from .libraries import NUMPY, ArrayArgument, Rules
from .rows_as_arrays import column, refuse_bfloat16


def stack_nested(ctx: Context, value: Raw) -> Array:
    """A nested list or tuple as `np.asarray` reads it; ValueError in the program where rows differ."""
    return Array(nested(ctx, NUMPY, value, "np.array").value, Form.NDARRAY)


def elements(ctx: Context, raw: Raw) -> list[Abstract] | None:
    """The elements of a list, tuple or range; None for anything else."""
    if isinstance(raw, Const) and isinstance(raw.value, list | tuple):
        return [Const(v) for v in raw.value]
    if isinstance(raw, Tuple):
        return list(raw.items)
    if isinstance(raw, Ref) and isinstance(ctx.cell(raw), LISTS):
        return list(list_items(ctx, ctx.cell(raw).items))
    if isinstance(raw, Range) or (isinstance(raw, Const) and isinstance(raw.value, range)):
        return ctx.iterate(raw)
    return None


def samples(ctx: Context, raw: Raw) -> Sequence[Abstract] | None:
    """The elements of a list, tuple or range; of a list of rows, one element of the common kinds."""
    items = _vector(ctx, raw)
    if items is not None:
        return [row_at(ctx.b, items.element, ctx.constant(0, INT64))]
    return elements(ctx, raw)


def _vector(ctx: Context, raw: Raw) -> Vector[Abstract] | None:
    """The elements of a list of rows, or of a long range, as a vector."""
    items = items_in_list(ctx, raw)
    if isinstance(known_object(ctx, raw), range):
        items = ctx.gathered(abstract(raw))
    return items if isinstance(items, Vector) else None


class _Ragged(Exception):
    """Raised where the rows of a nested sequence have several shapes."""


def nested(ctx: Context, rules: Rules, raw: Raw, function: str) -> ArrayArgument:
    """A number, an array, or a nested sequence of them, as one array."""
    try:
        return _nested(ctx, rules, raw, function)
    except _Ragged:
        ragged = like_sequence(ctx, raw)
    try:
        np.array(ragged)  # says down to which axis the shapes agree
    except ValueError as error:
        ctx.raise_(ValueError(str(error)))
    raise AssertionError(f"NumPy makes an array of {ragged!r}")


def array_argument(ctx: Context, rules: Rules, raw: Raw, function: str) -> ArrayArgument:
    """An array argument of a function that makes an array of a nested sequence in NumPy and refuses it in JAX."""
    return rules.operand(ctx, raw, function) if rules.is_jax else nested(ctx, rules, raw, function)


def _known_rows(ctx: Context, rules: Rules, raw: Raw, function: str) -> ArrayArgument | None:
    """The array of a list of rows of known length."""
    items = _vector(ctx, raw)
    if items is None or not isinstance(items.length, int) or not items.length:
        return None
    found = column(ctx, rules, items.element, function)
    if found is None or found.lengths:
        return None
    array = found.array
    rest = array.shape[1:]
    part = Slice((0,) * array.rank, (items.length, *rest), (1,) * array.rank)
    return ArrayArgument(ctx.op(part, array.value))


def _nested(ctx: Context, rules: Rules, raw: Raw, function: str) -> ArrayArgument:
    rows = _known_rows(ctx, rules, raw, function)
    if rows is not None:
        return rows
    items = elements(ctx, raw)
    if items is None:
        return rules.operand(ctx, raw, function)
    known = known_sequence(ctx, raw)
    if known is not None and not rules.is_jax:
        return ArrayArgument(ctx.constant(known, known.dtype))
    if not items:
        return ArrayArgument(ctx.constant(np.zeros(0), rules.default_float(ctx)))
    for item in items:
        refuse_bfloat16(ctx, rules, item, function)
    parts = _parts(ctx, rules, items, function)
    if len({p.shape for p in parts}) > 1:
        raise _Ragged
    values, _ = rules.common(ctx, parts)
    if known is not None:
        dtype = values[0].type.dtype
        return ArrayArgument(ctx.constant(known.astype(dtype), dtype))
    return ArrayArgument(stacked(ctx.b, values))


def _parts(ctx: Context, rules: Rules, items: list[Abstract], function: str) -> list[ArrayArgument]:
    """The items as arrays; numbers of one of several kinds in the element type of the others, where that covers them."""
    gated = [item for item in items if isinstance(item, GatedNumber)]
    others = [_nested(ctx, rules, item, function) for item in items if not isinstance(item, GatedNumber)]
    dtype = None if rules.is_jax or not others else _covering(ctx, rules, others, gated, function)
    rest = iter(others)
    return [
        next(rest)
        if not isinstance(item, GatedNumber)
        else _nested(ctx, rules, item, function)
        if dtype is None
        else ArrayArgument(ctx.convert(item.value, dtype))
        for item in items
    ]


def _covering(
    ctx: Context, rules: Rules, others: list[ArrayArgument], gated: list[GatedNumber], function: str
) -> DType | None:
    """The common element type of arrays, if it is that with numbers of whichever kind too."""
    if any(item.may_be_jax for item in gated):
        return None
    kinds = [number_of_kind(ctx.b, item, at) for item in gated for at in range(len(item.kinds))]
    operands = [rules.operand(ctx, kind, function) for kind in kinds]
    dtype, _ = rules.common_dtype(ctx, others)
    is_exact = dtype.kind in "fc" or all(item.whole is None for item in gated)
    return dtype if is_exact and dtype == rules.common_dtype(ctx, [*others, *operands])[0] else None


def like_sequence(ctx: Context, raw: Raw) -> Any:
    """A nested sequence or an array of the same kind and shape as `raw`, of zeros."""
    items = elements(ctx, raw)
    if isinstance(raw, GatedNumber):
        return 0
    if items is None:
        read = ctx.read(raw)
        shape = read.shape if isinstance(read, Array) else np.shape(read.value)
        return (
            np.broadcast_to(np.zeros((), read.dtype if isinstance(read, Array) else None), shape)
            if shape
            else 0
        )
    sample = [like_sequence(ctx, item) for item in items]
    return tuple(sample) if isinstance(raw, Tuple) else sample


def depth(value: Any) -> int:
    """The number of axes of a nested sequence of numbers and arrays."""
    if isinstance(value, list | tuple):
        return 1 + max(map(depth, value), default=0)
    return int(np.ndim(value))


def is_sequence(ctx: Context, raw: Raw) -> bool:
    """True for a list, tuple or range."""
    return samples(ctx, raw) is not None
