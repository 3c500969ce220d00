"""Sums of products of bounded arrays: `einsum`, and norms, of all elements and of vectors along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....values.boundary import Form
from ....values.bounded import Bounded, Extent
from ....values.lattice import Abstract, Const
from ...context import Context, Raw
from ...kernels.python_implementations import run_program
from ...operands.contraction import Labels
from ...operands.libraries import Rules
from ...rules.jax import is_none
from ..indexing.bounded import refuse
from ..indexing.bounded_operands import result_with, together
from ..indexing.size_checks import AlignedOperand, operand
from ..linalg import norms  # noqa: F401  (declares the meaning of what is served here)
from ..linalg.einsum import described, parse
from ..linalg.product_operands import with_zeros
from .size_rules import for_bounded, twins_for_bounded


@twins_for_bounded(np.einsum, jnp.einsum)
def einsum(ctx: Context, rules: Rules, subscripts: Raw, /, *operands: Raw) -> Abstract:
    """Of at most two operands, which share at most one bounded axis: of the wholes, zero beyond what is summed."""
    text, operands = described(ctx, subscripts, operands)
    given = [operand(ctx, x) for x in operands]
    sides = [o for o in given if o is not None]
    if not len(given) == len(sides) <= 2:
        refuse(ctx, "einsum of these operands", *operands)
    labelled, result = parse(ctx, rules, text, [len(o.axes) for o in sides])
    bounded = _extents(labelled, sides)
    shared = [label for label in labelled[0] if label in bounded and label in labelled[-1]]
    if any(labels.count(label) > 1 for labels in labelled for label in bounded):
        refuse(ctx, "einsum along a diagonal", *operands)
    if len(sides) == 2 and shared:
        if len(shared) > 1:
            refuse(ctx, "einsum along these axes", *operands)

        def plain(*args: Any) -> Any:
            return rules.module.einsum(text, *args)

        sides = together(ctx, "einsum", plain, operands, [labels.index(shared[0]) for labels in labelled])
    bounded = _extents(labelled, sides)  # where the operands lie now
    wholes = []
    for labels, o in zip(labelled, sides):
        summed = {i for i, label in enumerate(labels) if label not in result}
        value = with_zeros(ctx, o, summed)
        wholes.append(ctx.jax(value, o.weak) if o.form is Form.JAX else ctx.ndarray(value))
    made = ctx.call(Const(rules.module.einsum), [Const(text), *wholes])
    return result_with(ctx, made, [bounded.get(label, 0) for label in result])


def _extents(labelled: Sequence[Labels], operands: Sequence[AlignedOperand]) -> dict[str, Extent]:
    """The bounded axes, by their labels."""
    pairs = [pair for labels, o in zip(labelled, operands) for pair in zip(labels, o.axes)]
    return {label: axis for label, axis in pairs if isinstance(axis, Extent)}


@for_bounded(np.linalg.norm)
def norm(ctx: Context, x: Raw, ord: Raw = None, axis: Raw = None, keepdims: Raw = False) -> Abstract:
    """As `np.linalg.norm`; the norms of matrices need their size."""
    of_two = isinstance(x, Bounded) and x.rank == 2
    order = None if is_none(ord) else ctx.known(ord, "the order of norm")
    if of_two and is_none(axis) and order == "fro":
        order = None
    of_all = is_none(axis) and (order is None or (isinstance(x, Bounded) and x.rank == 1))
    if not of_all and (is_none(axis) or not isinstance(ctx.known(axis, "the axis of norm"), int)):
        refuse(ctx, "the norm of a matrix", x)
    return run_program(ctx, _norm, (x, Const(order), axis, keepdims), {})


def _norm(x: Any, order: Any, axis: Any, keepdims: Any) -> Any:
    sizes = np.abs(x if x.dtype.kind in "fc" else x.astype(float))
    if order is None or order == 2:
        return np.sqrt(np.sum(sizes * sizes, axis=axis, keepdims=keepdims))
    if order == np.inf:
        return np.max(sizes, axis=axis, keepdims=keepdims, initial=0)
    if order == -np.inf:
        return np.min(sizes, axis=axis, keepdims=keepdims)
    if order == 0:
        return np.sum((x != 0).astype(sizes.dtype), axis=axis, keepdims=keepdims)
    if order == 1:
        return np.sum(sizes, axis=axis, keepdims=keepdims)
    return np.sum(sizes**order, axis=axis, keepdims=keepdims) ** (1 / order)
