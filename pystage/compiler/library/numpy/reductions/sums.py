"""Reductions of NumPy and `jax.numpy`: sums, means, extrema, counts, and their variants that skip NaN.

Sums of floats are XLA's and differ from NumPy's pairwise sums by rounding. Sources: NumPy's reference of each function;
StableHLO's `reduce`.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.ir import Value
from ....hlo.types import BOOL, INT64, UINT64, DType, is_complex, is_floating
from ....ops import Add, Compare, Divide, Imag, Maximum, Multiply, Real, Select, Sqrt, Subtract
from ....values.lattice import Abstract, Tuple
from ...context import Context, Raw
from ...kernels.arithmetic import real_dtype
from ...operands.casting import assigned_value
from ...operands.libraries import Rules, twins
from ...operands.nested_sequences import array_argument
from ...operands.reduction_operands import (
    ReductionOperand,
    counted,
    product,
    reduced,
    source,
    spread_back,
    total,
    wider,
    without_nan,
)
from ...rules.jax import canonical, ints, is_none
from ..indexing.stores import cast

# ---------------------------------------------------------------- sums and products


def accumulator(ctx: Context, rules: Rules, dtype: DType, promote: bool = True) -> DType:
    """The element type of a sum: small integers are summed in the default integer type."""
    if dtype.kind not in "biu":
        return dtype
    if rules.is_jax and not promote:
        return canonical(INT64, ctx.x64) if dtype == BOOL else dtype
    wide = UINT64 if dtype.kind == "u" else INT64
    wide = canonical(wide, ctx.x64) if rules.is_jax else wide
    return wide if dtype.itemsize < wide.itemsize or dtype == BOOL else dtype


def in_type(
    ctx: Context, rules: Rules, of: ReductionOperand, dtype: Raw, name: str, default: DType
) -> ReductionOperand:
    """The elements in the type that `dtype` asks for, or in the default one."""
    wanted = default if is_none(dtype) else rules.dtype(ctx, dtype, name)
    return of.of(cast(ctx, of.value, wanted))


def initial_value(ctx: Context, rules: Rules, initial: Raw, dtype: DType, name: str) -> Value | None:
    """The `initial` argument as a scalar of the reduction's type."""
    if is_none(initial):
        return None
    if rules.is_jax:
        return cast(ctx, rules.operand(ctx, initial, name).value, dtype)
    return assigned_value(ctx, initial, dtype, name)


def _declare_sum(name: str, combine: Callable[..., Value], what: str, **options: bool) -> None:
    """Declares the sum or the product of that name, or that of what is not NaN."""

    def call(
        ctx: Context,
        rules: Rules,
        a: Raw,
        axis: Raw = None,
        dtype: Raw = None,
        out: Raw = None,
        keepdims: Raw = False,
        initial: Raw = None,
        where: Raw = True,
    ) -> Abstract:
        of = source(ctx, rules, a, axis, keepdims, name, where)
        of = without_nan(ctx, of) if name.startswith("nan") else of
        of = in_type(ctx, rules, of, dtype, name, accumulator(ctx, rules, of.dtype))
        return reduced(ctx, rules, of, combine(ctx, of, initial_value(ctx, rules, initial, of.dtype, name)))

    call.__name__, call.__doc__ = name, what
    twins(getattr(np, name), getattr(jnp, name), accumulates=True, **options)(call)


_declare_sum("sum", total, "The sum along the axes.", fold=True)
_declare_sum("prod", product, "The product along the axes.", fold=True)
_declare_sum("nansum", total, "The sum of what is not NaN.", delegates=False)
_declare_sum("nanprod", product, "The product of what is not NaN.", delegates=False)


# ---------------------------------------------------------------- means


def mean_of(ctx: Context, of: ReductionOperand, dtype: DType, rounded: bool = False) -> Value:
    """Sum divided by count, computed in 32 bits where the type has 16; with `rounded` the sum is of that type."""
    wide = wider(dtype)
    sums = total(ctx, of.of(cast(ctx, of.value, wide)))
    if rounded:
        sums = ctx.convert(ctx.convert(sums, dtype), wide)
    return ctx.convert(ctx.op(Divide(), sums, counted(ctx, of, wide)), dtype)


def _mean_type(ctx: Context, rules: Rules, of: ReductionOperand, axis: Raw, dtype: Raw, name: str) -> DType:
    """The element type of a mean; NumPy, which counts along each axis, refuses one that a number does not have."""
    sums_only = rules.is_jax or (name.startswith("nan") and of.dtype.kind in "fc")
    if not of.extents and not is_none(axis) and not sums_only:
        for given in ints(ctx, axis, f"the axes of {name}"):
            ctx.raise_(np.exceptions.AxisError(given, 0, None))
    if is_none(dtype):
        return rules.inexact(ctx, of.dtype)
    wanted = rules.dtype(ctx, dtype, name)
    if name.startswith("nan") and not rules.is_jax and of.dtype.kind not in "biu" and wanted.kind in "biu":
        ctx.raise_(TypeError("If a is inexact, then dtype must be inexact"))
    return wanted


@twins(np.mean, jnp.mean, fold=True, accumulates=True)
def mean(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw = None,
    dtype: Raw = None,
    out: Raw = None,
    keepdims: Raw = False,
    *,
    where: Raw = True,
) -> Abstract:
    """The arithmetic mean; of integers in the default floating-point type."""
    of = source(ctx, rules, a, axis, keepdims, "mean", where)
    wanted = _mean_type(ctx, rules, of, axis, dtype, "mean")
    if wanted.kind not in "biu":
        return reduced(ctx, rules, of, mean_of(ctx, of, wanted))
    wide = rules.default_float(ctx)  # NumPy sums in the integer type and divides
    sums = ctx.convert(total(ctx, of.of(cast(ctx, of.value, wanted))), wide)
    return reduced(ctx, rules, of, ctx.convert(ctx.op(Divide(), sums, counted(ctx, of, wide)), wanted))


@twins(np.nanmean, jnp.nanmean, delegates=False, accumulates=True)
def nanmean(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw = None,
    dtype: Raw = None,
    out: Raw = None,
    keepdims: Raw = False,
    *,
    where: Raw = True,
) -> Abstract:
    """The mean of what is not NaN."""
    of = source(ctx, rules, a, axis, keepdims, "nanmean", where)
    wanted = _mean_type(ctx, rules, of, axis, dtype, "nanmean")
    rounded = not rules.is_jax and is_floating(of.dtype)
    return reduced(ctx, rules, of, mean_of(ctx, without_nan(ctx, of), wanted, rounded))


def variance(
    ctx: Context,
    rules: Rules,
    of: ReductionOperand,
    dtype: DType,
    correction: Raw,
    name: str,
    mean: Value | None = None,
) -> Value:
    """The mean squared distance from the mean, divided by count minus `correction`; real, in `dtype`.

    `mean` is the mean where the caller has it, in a shape that broadcasts to that of the elements.
    """
    wide = wider(dtype)
    of = of.of(cast(ctx, of.value, wide))
    if mean is None:
        middle = spread_back(ctx, mean_of(ctx, of, wide), of)
    else:
        middle = ctx.broadcast(cast(ctx, mean, wide), of.extents)
    centred = ctx.op(Subtract(), of.value, middle)
    if (
        of.where is not None
    ):  # what does not count, and may be no number, has no part in the mean's derivative
        zeros = ctx.broadcast(ctx.constant(0, wide), of.extents)
        centred = ctx.op(Select(), of.where, centred, zeros)
    if is_complex(wide):
        parts = [ctx.op(kind, centred) for kind in (Real(), Imag())]
        squares = ctx.op(Add(), *[ctx.op(Multiply(), p, p) for p in parts])
    else:
        squares = ctx.op(Multiply(), centred, centred)
    real = squares.type.dtype
    sums = total(ctx, of.of(squares))
    ddof = ctx.broadcast(cast(ctx, rules.operand(ctx, correction, name).value, real), of.shape)
    count = ctx.op(Subtract(), counted(ctx, of, real), ddof)
    zero = ctx.broadcast(ctx.constant(0, real), of.shape)
    if rules.is_jax or name.startswith("nan"):
        valid = ctx.op(Compare("GT"), count, zero)
        nan = ctx.broadcast(ctx.constant(np.nan, real), of.shape)
        return ctx.convert(ctx.op(Select(), valid, ctx.op(Divide(), sums, count), nan), real_dtype(dtype))
    return ctx.convert(ctx.op(Divide(), sums, ctx.op(Maximum(), count, zero)), real_dtype(dtype))


def _given_mean(
    ctx: Context, rules: Rules, mean: Raw, of: ReductionOperand, dtype: DType, name: str
) -> Value:
    """The `mean` argument; PS203 where NumPy would compute the distances in another type, or of another shape."""
    given = array_argument(ctx, rules, mean, name).value
    fits = given.type.dtype == dtype and np.broadcast_shapes(given.type.shape, of.extents) == of.extents
    if not fits or of.bounded:
        argument = "a mean of another type or shape than the elements have"
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"{rules.name}.{name}", argument=argument))
    return given


def _declare_spread(name: str, what: str, **options: bool) -> None:
    """Declares the variance or the standard deviation of that name, or that of what is not NaN."""

    def call(
        ctx: Context,
        rules: Rules,
        a: Raw,
        axis: Raw = None,
        dtype: Raw = None,
        out: Raw = None,
        ddof: Raw = 0,
        keepdims: Raw = False,
        *,
        where: Raw = True,
        mean: Raw = None,
        correction: Raw = None,
    ) -> Abstract:
        of = source(ctx, rules, a, axis, keepdims, name, where)
        wanted = _mean_type(ctx, rules, of, axis, dtype, name)
        explicit = not is_none(dtype) and is_complex(wanted)
        if wanted.kind in "biu" or is_complex(of.dtype) != is_complex(wanted) or explicit:
            function, argument = f"{rules.name}.{name}", f"dtype {wanted}"
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=function, argument=argument))
        if not is_none(correction) and ctx.known(ddof, f"ddof of {name} beside correction") != 0:
            rules.mismatch(ctx, "ddof and correction can't be provided simultaneously.")
        middle = None if is_none(mean) else _given_mean(ctx, rules, mean, of, wanted, name)
        of = without_nan(ctx, of) if name.startswith("nan") else of
        by = ddof if is_none(correction) else correction
        result = variance(ctx, rules, of, wanted, by, name, middle)
        return reduced(ctx, rules, of, ctx.op(Sqrt(), result) if name.endswith("std") else result)

    call.__name__, call.__doc__ = name, what
    twins(getattr(np, name), getattr(jnp, name), accumulates=True, **options)(call)


_declare_spread("var", "The variance, with `count - ddof` as divisor.", fold=True)
_declare_spread("std", "The standard deviation: the root of `var`.", fold=True)
_declare_spread("nanvar", "The variance of what is not NaN.", delegates=False)
_declare_spread("nanstd", "The standard deviation of what is not NaN.", delegates=False)


@twins(None, jnp.average)
def average(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw = None,
    weights: Raw = None,
    returned: Raw = False,
    *,
    keepdims: Raw = False,
) -> Abstract:
    """The mean, or with weights `sum(a * weights) / sum(weights)`."""
    of = source(ctx, rules, a, axis, keepdims, "average")
    if is_none(weights):
        result = mean_of(ctx, of, rules.inexact(ctx, of.dtype))
        scale = counted(ctx, of, result.type.dtype)
    else:
        given = rules.operand(ctx, weights, "average")
        values = rules.operand(ctx, a, "average")
        dtype, _ = rules.common_dtype(ctx, [values, given])
        dtype = rules.inexact(ctx, dtype)
        own = given.shape
        if own != of.extents:
            if len(of.axes) != 1 or own != (of.extents[of.axes[0]],):
                ctx.raise_(TypeError("Axis must be specified when shapes of a and weights differ."))
            own = tuple([n if i in of.axes else 1 for i, n in enumerate(of.extents)])
        factors = ctx.broadcast(ctx.reshape(ctx.convert(given.value, dtype), own), of.extents)
        scale = total(ctx, of.of(factors))
        sums = total(ctx, of.of(ctx.op(Multiply(), ctx.convert(of.value, dtype), factors)))
        result = ctx.op(Divide(), sums, scale)
    if ctx.known(returned, "returned of average"):
        return Tuple((rules.result(ctx, result), rules.result(ctx, scale)))
    return reduced(ctx, rules, of, result)
