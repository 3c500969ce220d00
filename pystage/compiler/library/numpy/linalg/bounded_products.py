"""Products of bounded arrays: `a[i, :j] @ b[:j]`.

In: two operands, vectors or matrices, of which at least one is bounded. Out: the product of the wholes, with zeros at
positions that do not belong to an operand along the summed axis; along other axes the product is bounded as its operand
is.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from ....ad.calculus import differentiable
from ....hlo.ir import Value
from ....ops import Select
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent
from ....values.lattice import Abstract, Array, Const
from ...context import Context, Raw
from ...operands.libraries import as_jax
from ...rules.jax import jax_array
from ..indexing.bounded import refuse, where_of
from ..indexing.bounded_operands import result_with, together
from ..indexing.size_checks import AlignedOperand, operand


def of_bounded(ctx: Context, function: str, a: Raw, b: Raw) -> Abstract | None:
    """`np.dot`, `np.matmul`, `np.inner` or `np.vdot` of these; None if neither is bounded."""
    if not isinstance(a, Bounded) and not isinstance(b, Bounded):
        return None
    jax = any(isinstance(x, Array | Bounded) and x.form is Form.JAX for x in (a, b))
    if jax:
        a, b = [
            as_jax(ctx, x, function) if isinstance(x, Bounded) else jax_array(ctx, x, function)
            for x in (a, b)
        ]
    plain = getattr(jnp if jax else np, function)
    given = [operand(ctx, x) for x in (a, b)]
    ranks = [0 if o is None else len(o.axes) for o in given]
    most = {"vdot": 1, "inner": 1}.get(function, 2)
    if not all(1 <= rank <= most for rank in ranks):
        refuse(ctx, f"np.{function}", a, b)
    summed = ranks[0] - 1, 0 if ranks[1] == 1 else ranks[1] - 2
    left, right = together(ctx, f"np.{function}", plain, (a, b), summed)
    parts = [with_zeros(ctx, o, {axis}) for o, axis in zip((left, right), summed)]
    wholes = [ctx.jax(v, o.weak) if jax else ctx.ndarray(v) for v, o in zip(parts, (left, right))]
    made = ctx.call(Const(plain), wholes)
    free = [axis for o, at in zip((left, right), summed) for i, axis in enumerate(o.axes) if i != at]
    return result_with(ctx, made, free)


def with_zeros(ctx: Context, o: AlignedOperand, axes: Set[int]) -> Value:
    """The elements of an operand, zero where they do not belong to it along the axes that are summed.

    And along the other axes, over which the derivative by the other operand sums.
    """
    summed = differentiable(o.value.type)
    shape = o.value.type.static_shape
    extents = [
        replace(e, axis=at) for at, e in enumerate(o.axes) if isinstance(e, Extent) and (summed or at in axes)
    ]
    if not extents:
        return o.value
    zero = ctx.broadcast(ctx.constant(0, o.dtype), shape)
    return ctx.op(Select(), where_of(ctx, shape, extents), o.value, zero)
