"""Linear interpolation, integrals by the trapezoidal rule, and polynomials through points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...hlo.ir import Value
from ...hlo.types import FLOAT64, INT64, is_complex
from ...ops import (
    Add,
    And,
    Compare,
    Divide,
    IsFinite,
    Maximum,
    Minimum,
    Multiply,
    Negate,
    Or,
    Select,
    Subtract,
)
from ...values.boundary import Form
from ...values.lattice import Abstract
from ..context import Context, Raw
from ..kernels.arithmetic import is_nan, select, signbit
from ..kernels.python_implementations import composed, run_program
from ..operands.libraries import NUMPY
from ..operands.nested_sequences import nested
from ..registry import meaning
from ..rules.jax import is_none
from .concatenation import part
from .creation import filled
from .indexing.fancy_indexing import Fancy, gather
from .searching import count_preceding


@meaning(np.interp)
def interp(
    ctx: Context, x: Raw, xp: Raw, fp: Raw, left: Raw = None, right: Raw = None, period: Raw = None
) -> Abstract:
    """Linear interpolation between the points (`xp`, `fp`), of which `xp` ascends; float64 or complex128."""
    if not is_none(period):
        return run_program(ctx, periodic, [x, xp, fp, period])
    given = [nested(ctx, NUMPY, a, "interp") for a in (x, xp, fp)]
    for each in given[:2]:
        if is_complex(each.dtype):
            source = f"Cannot cast array data from {each.dtype!r} to dtype('float64')"
            ctx.raise_(TypeError(f"{source} according to the rule 'safe'"))
    if is_complex(given[2].dtype):
        return run_program(ctx, by_parts, [x, xp, fp, left, right])
    at, positions, values = [ctx.convert(each.value, FLOAT64) for each in given]
    if positions.type.shape != values.type.shape or positions.type.rank != 1:
        ctx.raise_(ValueError("fp and xp are not of the same length."))
    (size,) = positions.type.static_shape
    shape = at.type.static_shape
    if size == 0:
        ctx.raise_(ValueError("array of sample points is empty"))
    result, slope = _between(ctx, at, positions, values)
    for edge, outside, direction in ((0, left, "LT"), (size - 1, right, "GT")):
        bound = ctx.broadcast(ctx.reshape(part(ctx, positions, 0, edge, edge + 1), ()), shape)
        own = ctx.reshape(part(ctx, values, 0, edge, edge + 1), ())
        if direction == "GT":
            # The value of the last point itself, with the slope of the line that ends there.
            exact = ctx.broadcast(own, shape)
            on_line = _line(ctx, slope, at, bound, exact)
            exact = ctx.op(Select(), ctx.op(IsFinite(), slope), on_line, exact)
            result = ctx.op(Select(), ctx.op(Compare("EQ"), at, bound), exact, result)
        beyond = (
            own if is_none(outside) else ctx.convert(nested(ctx, NUMPY, outside, "interp").value, FLOAT64)
        )
        beyond = ctx.broadcast(beyond, shape)
        result = ctx.op(Select(), ctx.op(Compare(direction), at, bound), beyond, result)
    return ctx.new(select(ctx, is_nan(ctx, at), at, result) if size > 1 else result)


def periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """`np.interp` of points that repeat after a period."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    period = abs(period)
    at = np.asarray(x, dtype=np.float64)
    positions = np.asarray(xp, dtype=np.float64)
    values = np.asarray(fp)
    if positions.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if positions.shape[0] != values.shape[0]:
        raise ValueError("fp and xp are not of the same length")
    positions = positions % period
    order = np.argsort(positions)
    positions, values = positions[order], values[order]
    positions = np.concatenate((positions[-1:] - period, positions, positions[0:1] + period))
    values = np.concatenate((values[-1:], values, values[0:1]))
    return np.interp(at % period, positions, values)


def by_parts(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    """`np.interp` between complex numbers: of their real and of their imaginary parts; where `x` is NaN, that and 0."""
    values = np.asarray(fp)
    low: Any = None if left is None else np.asarray(left)
    high: Any = None if right is None else np.asarray(right)
    real = np.interp(
        x, xp, values.real, None if low is None else low.real, None if high is None else high.real
    )
    imaginary = np.interp(
        x, xp, values.imag, None if low is None else low.imag, None if high is None else high.imag
    )
    result = np.zeros(np.shape(real), np.complex128)
    result.real = real
    result.imag = np.where(np.isnan(x) & (np.size(xp) > 1), 0.0, imaginary)
    return result[()]


def _line(ctx: Context, slope: Value, at: Value, x: Value, y: Value) -> Value:
    """The line through a point. At the point it is `y`, -0.0 too: -0.0 is added there."""
    zero = ctx.broadcast(ctx.constant(0, FLOAT64), slope.type.static_shape)
    on, back = [
        ctx.op(Add(), ctx.op(Subtract(), p, q), zero) for p, q in ((at, x), (x, at))
    ]  # 0.0 at the point
    falling, rising = ctx.op(Multiply(), slope, on), ctx.op(Negate(), ctx.op(Multiply(), slope, back))
    return ctx.op(Add(), ctx.op(Select(), signbit(ctx, Form.NDARRAY, slope), falling, rising), y)


def _between(ctx: Context, at: Value, positions: Value, values: Value) -> tuple[Value, Value]:
    """The line through the two points around each index, and its slope."""
    (size,) = positions.type.static_shape
    shape = at.type.static_shape
    one = filled(ctx, 1, shape, INT64)
    found = ctx.op(Subtract(), count_preceding(ctx, positions, at, "right"), one)
    low = ctx.op(Maximum(), found, filled(ctx, 0, shape, INT64))
    low = ctx.op(Minimum(), low, filled(ctx, max(size - 2, 0), shape, INT64))
    high = ctx.op(Minimum(), ctx.op(Add(), low, one), filled(ctx, size - 1, shape, INT64))
    x0, x1, y0, y1 = [
        gather(ctx, line, Fancy((0,), (i,), shape, 0, False))
        for line in (positions, values)
        for i in (low, high)
    ]
    slope = ctx.op(Divide(), ctx.op(Subtract(), y1, y0), ctx.op(Subtract(), x1, x0))
    line, behind = [_line(ctx, slope, at, x, y) for x, y in ((x0, y0), (x1, y1))]
    line = select(ctx, is_nan(ctx, line), behind, line)  # between points that are not finite
    level = ctx.op(Or(), ctx.op(Compare("EQ"), y0, y1), ctx.op(Compare("EQ"), at, x0))
    return select(ctx, ctx.op(And(), is_nan(ctx, line), level), y0, line), slope


@composed(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """The integral along an axis by the trapezoidal rule."""
    lines = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        widths = dx
    elif np.ndim(x) == 1:
        widths = np.diff(np.asarray(x))
    else:
        widths = np.moveaxis(np.diff(np.asarray(x), axis=axis), axis, -1)
    return (widths * (lines[..., 1:] + lines[..., :-1]) / 2.0).sum(axis=-1)


@meaning(np.polyval)
def polyval(ctx: Context, p: Raw, x: Raw) -> Abstract:
    """A polynomial with coefficients from the highest power down, by Horner's rule."""
    given = [nested(ctx, NUMPY, a, "polyval") for a in (p, x)]
    (coefficients, at), _ = NUMPY.common(ctx, given)
    if not coefficients.type.rank:
        ctx.raise_(TypeError("iteration over a 0-d array"))
    count, *rest = coefficients.type.static_shape
    try:
        shape = np.broadcast_shapes(at.type.static_shape, tuple(rest)) if count else at.type.static_shape
    except ValueError:
        shapes = [str(s).replace(" ", "") for s in (at.type.static_shape, tuple(rest))]
        ctx.raise_(ValueError(f"operands could not be broadcast together with shapes {' '.join(shapes)} "))
    at = ctx.broadcast(at, shape)
    value = filled(ctx, 0, shape, at.type.dtype)
    for i in range(count):
        term = ctx.broadcast(ctx.reshape(part(ctx, coefficients, 0, i, i + 1), tuple(rest)), shape)
        value = ctx.op(Add(), ctx.op(Multiply(), value, at), term)
    return ctx.new(value)
