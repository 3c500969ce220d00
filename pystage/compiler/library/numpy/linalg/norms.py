"""`np.linalg.norm`: norms of vectors and matrices along axes."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from ....hlo.ir import Value
from ....hlo.types import is_complex
from ....ops import Abs, Add, Imag, Maximum, Minimum, Multiply, Power, Real, Sqrt, Transpose
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Const
from ...context import Context, Raw
from ...jax.traced_calls import jax_call
from ...operands.libraries import Rules, twins
from ...operands.reduction_operands import (
    ReductionOperand,
    not_zero,
    reduce,
    reduced,
    reduced_shape,
    source,
    total,
)
from ...rules.jax import axes_of, is_none
from ..indexing.bounded import refuse
from ..manipulation import as_array, rank_of
from ..reductions.extrema import check_elements

_BY_SUMS = (1, -1, np.inf, -np.inf)
"""The orders of the norms of matrices that are sums of absolute values; 2, -2 and "nuc" need singular values."""


def squares(ctx: Context, value: Value) -> Value:
    """The squares of the absolute values."""
    if not is_complex(value.type.dtype):
        return ctx.op(Multiply(), value, value)
    return ctx.op(Add(), *[ctx.op(Multiply(), p, p) for p in (ctx.op(Real(), value), ctx.op(Imag(), value))])


@twins(np.linalg.norm, jnp.linalg.norm, delegates=False)
def norm(
    ctx: Context, rules: Rules, x: Raw, ord: Raw = None, axis: Raw = None, keepdims: Raw = False
) -> Abstract:
    """The 2-norm of all elements, or the norm of this order along one axis or two."""
    x = as_array(ctx, rules, x, "norm")
    rank = rank_of(ctx, rules, x, "norm")
    order = ctx.known(ord, "the order of norm")
    axes = tuple(range(rank)) if is_none(axis) else axes_of(ctx, axis, rank, "norm")
    of_all = is_none(axis) and order is None
    if not of_all and len(axes) not in (1, 2):
        rules.mismatch(ctx, "Improper number of dimensions to norm.")
    if rules.is_jax and len(axes) == 2 and order not in (None, "fro", *_BY_SUMS):
        return jax_call(ctx, jnp.linalg.norm, [x, ord], {"axis": axis, "keepdims": keepdims})
    of = source(ctx, rules, x, tuple(sorted(axes)), keepdims, "norm")
    of = replace(of, value=ctx.convert(of.value, rules.inexact(ctx, of.dtype)), from_zero=False)
    if order is None or (len(axes) == 2 and order in ("fro", "f")) or (len(axes) == 1 and order == 2):
        found = ctx.op(Sqrt(), total(ctx, of.of(squares(ctx, of.value))))
    elif len(axes) == 1:
        found = _vector_norm(ctx, rules, of, order)
    elif isinstance(x, Bounded):
        refuse(ctx, "the norm of a matrix", x)
    else:
        found = ctx.reshape(_matrix_norm(ctx, rules, of.value, axes, order), of.shape)
    return reduced(ctx, rules, of, found)


def _vector_norm(ctx: Context, rules: Rules, of: ReductionOperand, order: object) -> Value:
    """A norm along one axis."""
    sizes = of.of(ctx.op(Abs(), of.value))
    if order in (np.inf, -np.inf):
        return _best(ctx, rules, sizes, order == np.inf)
    if order == 0:
        return total(ctx, of.of(ctx.convert(not_zero(ctx, of.value), sizes.dtype)))
    if order == 1:
        return total(ctx, sizes)
    if isinstance(order, str) or not isinstance(order, int | float):
        rules.mismatch(ctx, f"Invalid norm order '{order}' for vectors")
    power = ctx.broadcast(ctx.constant(order, sizes.dtype), of.extents)
    root = ctx.broadcast(ctx.constant(1 / order, sizes.dtype), of.shape)
    return ctx.op(Power(), total(ctx, sizes.of(ctx.op(Power(), sizes.value, power))), root)


def _matrix_norm(ctx: Context, rules: Rules, value: Value, axes: tuple[int, ...], order: object) -> Value:
    """The greatest or least sum of absolute values of a row or a column."""
    row, column = axes
    if row == column:
        rules.mismatch(ctx, "Duplicate axes given.")
    if order in (2, -2, "nuc"):
        return _by_singular_values(ctx, rules, value, axes, order)
    if order not in _BY_SUMS:
        rules.mismatch(ctx, "Invalid norm order for matrices.")
    summed = row if order in (1, -1) else column
    other = column if order in (1, -1) else row
    sizes = ctx.op(Abs(), value)
    shape = reduced_shape(sizes.type.shape, (summed,), False)
    sums = total(ctx, ReductionOperand(sizes, (summed,), None, shape))
    at = other - (other > summed)
    of = ReductionOperand(sums, (at,), None, reduced_shape(shape, (at,), False))
    return _best(ctx, rules, of, isinstance(order, int | float) and order > 0)


def _best(ctx: Context, rules: Rules, of: ReductionOperand, greatest: bool) -> Value:
    """The greatest of numbers that are not negative, 0 of none; or the least."""
    if greatest:
        return reduce(ctx, Maximum(), of, ctx.constant(0, of.dtype))
    if not rules.is_jax:
        check_elements(ctx, of, None, "minimum")
    return reduce(ctx, Minimum(), of)


def _by_singular_values(
    ctx: Context, rules: Rules, value: Value, axes: tuple[int, ...], order: object
) -> Value:
    """The greatest or the least singular value, or the sum of all."""
    others = [a for a in range(value.type.rank) if a not in axes]
    matrices = ctx.op(Transpose((*others, *axes)), value)
    values = ctx.call(Const(np.linalg.svdvals), [ctx.ndarray(matrices)])
    found = rules.operand(ctx, values, "norm").value
    last = found.type.rank - 1
    of = ReductionOperand(found, (last,), None, reduced_shape(found.type.shape, (last,), False))
    if order == "nuc":
        return total(ctx, of)
    return _best(ctx, rules, of, order == 2)
