"""Operands of products, static or bounded: `a[i, :j] @ b[:j]`.

In: two arrays and the axes over which their products are summed. Out: their values, with zeros at positions that do not
belong to an operand along the summed axes, and the axes of the product. Along other axes it is bounded as its operand is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any

from ....ad.calculus import differentiable
from ....ops import Select
from ....values.bounded import Bounded, Extent
from ....values.lattice import Abstract
from ...context import Context, Raw
from ...operands.bounded_arguments import array_of, flat_argument, placed_argument
from ...operands.libraries import ArrayArgument, Rules
from ...operands.nested_sequences import array_argument
from ..indexing.bounded import refuse, where_of
from ..indexing.bounded_operands import together
from ..indexing.size_checks import AlignedOperand, Axis, operand

Factors = tuple[ArrayArgument, ArrayArgument, tuple[Axis, ...]]
"""Two operands, and the axes of their product, or none where all are known."""


def factors(
    ctx: Context,
    rules: Rules,
    a: Raw,
    b: Raw,
    function: str,
    summed: Callable[[int, int], Sequence[tuple[int, int]]],
    most: int = 2,
    **options: Any,
) -> Factors:
    """The operands of `function`, which sums over pairs of their axes; bounded ones have at most `most` axes."""
    if not isinstance(a, Bounded) and not isinstance(b, Bounded):
        left, right = [array_argument(ctx, rules, x, function) for x in (a, b)]
        return left, right, ()
    given = [placed_argument(ctx, rules, x, function) for x in (a, b)]
    ranks = [g.rank for g in given]
    if not all(1 <= rank <= most for rank in ranks):
        refuse(ctx, f"{rules.name}.{function}", a, b)
    pairs = summed(*ranks)
    plain = functools.partial(getattr(rules.module, function), **options)
    arrays = [x if isinstance(x, Bounded) else array_of(ctx, rules, g) for x, g in zip((a, b), given)]
    aligned = aligned_operands(ctx, f"{rules.name}.{function}", plain, arrays, pairs)
    along = [{pair[which] for pair in pairs} for which in (0, 1)]
    left, right = [with_zeros(ctx, o, axes) for o, axes in zip(aligned, along)]
    free = [axis for o, axes in zip(aligned, along) for i, axis in enumerate(o.axes) if i not in axes]
    return left, right, tuple(free)


def aligned_operands(
    ctx: Context,
    name: str,
    plain: Callable[..., Any],
    arrays: Sequence[Abstract],
    pairs: Sequence[tuple[int, int]],
) -> list[AlignedOperand]:
    """Arrays as operands; two are aligned along the only one of these pairs of axes that the program computes.

    `plain` is the function of the arrays that the plain run calls.
    """
    found = [o for x in arrays if (o := operand(ctx, x)) is not None]
    computed = [p for p in pairs if any(isinstance(o.axes[i], Extent) for o, i in zip(found, p))]
    if len(computed) > 1:
        refuse(ctx, f"{name} over several computed axes", *arrays)
    return together(ctx, name, plain, arrays, computed[0]) if computed else found


def flat_factors(ctx: Context, rules: Rules, a: Raw, b: Raw, function: str) -> Factors:
    """The operands of a function that multiplies all pairs of elements, as vectors."""
    left, right = [flat_argument(ctx, rules, placed_argument(ctx, rules, x, function)) for x in (a, b)]
    free = (*left.axes, *right.axes)
    aligned = [AlignedOperand(g.value, g.axes, g.form, g.weak) for g in (left, right)]
    left, right = [with_zeros(ctx, o, frozenset()) for o in aligned]
    return left, right, free


def with_zeros(ctx: Context, o: AlignedOperand, axes: Set[int]) -> ArrayArgument:
    """The elements of an operand, zero where they do not belong to it along the axes that are summed.

    And along the other axes, over which the derivative by the other operand sums.
    """
    summed = differentiable(o.value.type)
    shape = o.value.type.shape
    extents = [
        replace(e, axis=at) for at, e in enumerate(o.axes) if isinstance(e, Extent) and (summed or at in axes)
    ]
    value = o.value
    if extents:
        zero = ctx.broadcast(ctx.constant(0, o.dtype), shape)
        value = ctx.op(Select(), where_of(ctx, shape, extents), value, zero)
    return ArrayArgument(value, o.weak, o.form)
