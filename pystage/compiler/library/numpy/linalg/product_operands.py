"""Operands of products, static or bounded: `a[i, :j] @ b[:j]`.

In: two arrays and the axes over which their products are summed. Out: their values, with zeros at positions that do not
belong to an operand along the summed axis, and the axes of the product. Along other axes it is bounded as its operand is.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from ....ad.calculus import differentiable
from ....hlo.ir import Value
from ....ops import Select
from ....values.bounded import Bounded, Extent
from ...context import Context, Raw
from ...operands.bounded_arguments import Axis, as_array, flattened, placed_argument
from ...operands.libraries import ArrayArgument, Rules
from ...operands.nested_sequences import array_argument
from ..indexing.bounded import refuse, where_of
from ..indexing.bounded_operands import together
from ..indexing.size_checks import AlignedOperand

Factors = tuple[ArrayArgument, ArrayArgument, tuple[Axis, ...]]
"""Two operands, and the axes of their product, or none where all are known."""


def factors(
    ctx: Context,
    rules: Rules,
    a: Raw,
    b: Raw,
    function: str,
    summed: Callable[[int, int], tuple[int, int]],
    most: int = 2,
) -> Factors:
    """The operands of `function`, which sums over an axis of each; bounded ones have at most `most` axes."""
    if not isinstance(a, Bounded) and not isinstance(b, Bounded):
        left, right = [array_argument(ctx, rules, x, function) for x in (a, b)]
        return left, right, ()
    given = [placed_argument(ctx, rules, x, function) for x in (a, b)]
    ranks = [g.rank for g in given]
    if not all(1 <= rank <= most for rank in ranks):
        refuse(ctx, f"{rules.name}.{function}", a, b)
    arrays = [x if isinstance(x, Bounded) else as_array(ctx, rules, g) for x, g in zip((a, b), given)]
    axes = summed(*ranks)
    plain = getattr(rules.module, function)
    aligned = together(ctx, f"{rules.name}.{function}", plain, arrays, axes)
    left, right = [ArrayArgument(with_zeros(ctx, o, {at}), o.weak, o.form) for o, at in zip(aligned, axes)]
    free = [axis for o, at in zip(aligned, axes) for i, axis in enumerate(o.axes) if i != at]
    return left, right, tuple(free)


def flat_factors(ctx: Context, rules: Rules, a: Raw, b: Raw, function: str) -> Factors:
    """The operands of a function that multiplies all pairs of elements, as vectors."""
    left, right = [flattened(ctx, rules, placed_argument(ctx, rules, x, function)) for x in (a, b)]
    free = (*left.axes, *right.axes)
    aligned = [AlignedOperand(g.value, g.axes, g.form, g.weak) for g in (left, right)]
    left, right = [ArrayArgument(with_zeros(ctx, o, frozenset()), o.weak, o.form) for o in aligned]
    return left, right, free


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
