"""Functions of real and complex numbers that take several operations: logarithms, angles, decompositions of numbers.

In: values of one shape, in the element types of a loop. Out: one value. Functions that are one operation (`sin`, `exp`)
are declared in `numpy/ufuncs/elementwise.py` directly.
"""

from __future__ import annotations

import math

import numpy as np

from ... import ops
from ...hlo.ir import Region, Value
from ...hlo.op import HloOp
from ...hlo.types import BOOL, UINT8, is_complex, is_floating
from ...values.boundary import Form
from ..interfaces.operations import Operations
from ..rules.promote import convert
from .arithmetic import Kernel, absolute, any_of, by_form, copysign, is_nan, like, select, zero_at


def logarithm(base: int) -> Kernel:
    """The logarithm to `base`, exact where the argument is an integral power of the base."""

    def kernel(ctx: Operations, form: Form, x: Value) -> Value:
        if is_complex(x.type.dtype):
            return _scaled(ctx, ctx.op(by_form(ops.Log(), form, x.type.dtype), x), 1 / math.log(base))
        quotient = ctx.op(ops.Divide(), ctx.op(ops.Log(), x), like(ctx, x, math.log(base)))
        if form is Form.JAX:
            return quotient
        whole = ctx.op(ops.RoundNearestEven(), quotient)
        exact = ctx.op(ops.Compare("EQ"), ctx.op(ops.Power(), like(ctx, x, base), whole), x)
        return select(ctx, exact, whole, quotient)

    return kernel


def _scaled(ctx: Operations, x: Value, factor: float) -> Value:
    """A complex number times a real one, part by part."""
    real, imaginary = ctx.op(ops.Real(), x), ctx.op(ops.Imag(), x)
    scale = like(ctx, real, factor)
    return ctx.op(
        ops.Complex(), ctx.op(ops.Multiply(), real, scale), ctx.op(ops.Multiply(), imaginary, scale)
    )


def exp2(ctx: Operations, form: Form, x: Value) -> Value:
    """2 to the power `x`."""
    if is_complex(x.type.dtype):
        return ctx.op(by_form(ops.Exponential(), form, x.type.dtype), _scaled(ctx, x, math.log(2)))
    return ctx.op(ops.Power(), like(ctx, x, 2), x)


def scaled_by(factor: float) -> Kernel:
    """The kernel that multiplies by a number (degrees, radians)."""

    def kernel(ctx: Operations, form: Form, x: Value) -> Value:
        return ctx.op(ops.Multiply(), x, like(ctx, x, factor))

    return kernel


def logaddexp(factor: float) -> Kernel:
    """`log(exp(x) + exp(y))` with exponentials to the base `exp(factor)`; equal infinities stay.

    The greater one is chosen, no maximum: so there are derivatives of all orders also where the two are equal.
    """

    def kernel(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
        scale = like(ctx, x, factor)
        first = ctx.op(ops.Or(), ctx.op(ops.Compare("GE"), x, y), is_nan(ctx, x))
        greater, less = select(ctx, first, x, y), select(ctx, first, y, x)
        distance = ctx.op(ops.Subtract(), less, greater)
        equal = ctx.op(
            ops.And(), ctx.op(ops.Compare("EQ"), x, y), ctx.op(ops.Compare("NE"), distance, distance)
        )
        distance = select(ctx, equal, like(ctx, x, 0), distance)
        small = ctx.op(ops.Exponential(), ctx.op(ops.Multiply(), distance, like(ctx, x, factor)))
        rest = ctx.op(ops.Divide(), ctx.op(ops.LogPlusOne(), small), scale)
        return ctx.op(ops.Add(), greater, rest)

    return kernel


def hypot(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """The length of (x, y), without overflow on the way; infinite if either is."""
    x, y = ctx.op(ops.Abs(), x), ctx.op(ops.Abs(), y)
    long, short = ctx.op(ops.Maximum(), x, y), ctx.op(ops.Minimum(), x, y)
    one = like(ctx, x, 1)
    ratio = ctx.op(ops.Divide(), short, select(ctx, zero_at(ctx, long), one, long))
    length = ctx.op(
        ops.Multiply(), long, ctx.op(ops.Sqrt(), ctx.op(ops.Add(), one, ctx.op(ops.Multiply(), ratio, ratio)))
    )
    infinite = like(ctx, x, math.inf)
    either = ctx.op(ops.Or(), ctx.op(ops.Compare("EQ"), x, infinite), ctx.op(ops.Compare("EQ"), y, infinite))
    return select(ctx, either, infinite, length)


def trunc(ctx: Operations, form: Form, x: Value) -> Value:
    """Towards zero; integers stay."""
    if not is_floating(x.type.dtype):
        return x
    up, down = ctx.op(ops.Ceil(), x), ctx.op(ops.Floor(), x)
    return select(ctx, ctx.op(ops.Compare("LT"), x, like(ctx, x, 0)), up, down)


def modf(ctx: Operations, form: Form, x: Value) -> tuple[Value, Value]:
    """The fractional and the integral part, both with the sign of `x`."""
    whole = trunc(ctx, form, x)
    finite = ctx.op(ops.IsFinite(), x)
    rest = select(ctx, finite, ctx.op(ops.Subtract(), x, whole), like(ctx, x, 0))
    rest = select(ctx, is_nan(ctx, x), x, rest)
    return copysign(ctx, form, rest, x), whole


def heaviside(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """0 below 0, 1 above, `y` at 0, NaN at NaN."""
    step = select(ctx, ctx.op(ops.Compare("LT"), x, like(ctx, x, 0)), like(ctx, x, 0), like(ctx, x, 1))
    return select(ctx, zero_at(ctx, x), y, select(ctx, is_nan(ctx, x), x, step))


def ldexp(ctx: Operations, form: Form, x: Value, exponent: Value) -> Value:
    """`x * 2**exponent`, in two steps so that neither factor overflows alone; zeros, infinities and NaN as they are."""
    given = x
    power = ctx.convert(exponent, x.type.dtype)
    half = ctx.op(ops.Floor(), ctx.op(ops.Multiply(), power, like(ctx, x, 0.5)))
    two = like(ctx, x, 2)
    for part in (half, ctx.op(ops.Subtract(), power, half)):
        x = ctx.op(ops.Multiply(), x, ctx.op(ops.Power(), two, part))
    is_scaled = ctx.op(ops.And(), ctx.op(ops.IsFinite(), given), ctx.op(ops.Not(), zero_at(ctx, given)))
    return select(ctx, is_scaled, x, given)


def sinc(ctx: Operations, form: Form, x: Value) -> Value:
    """`sin(pi x) / (pi x)`, 1 at 0."""
    angle = ctx.op(ops.Multiply(), x, like(ctx, x, math.pi))
    at_zero = zero_at(ctx, x)
    one = like(ctx, x, 1)
    safe = select(ctx, at_zero, one, angle)
    sine = ctx.op(by_form(ops.Sine(), form, x.type.dtype), safe)
    return select(ctx, at_zero, one, ctx.op(by_form(ops.Divide(), form, x.type.dtype), sine, safe))


# ---------------------------------------------------------------- tests of numbers


def _of_parts(ctx: Operations, kernel: Kernel, x: Value, both: bool) -> Value:
    real, imaginary = (kernel(ctx, Form.NDARRAY, ctx.op(part, x)) for part in (ops.Real(), ops.Imag()))
    return ctx.op(ops.And() if both else ops.Or(), real, imaginary)


def _everywhere(ctx: Operations, x: Value, flag: bool) -> Value:
    return ctx.broadcast(ctx.constant(flag, BOOL), x.type.shape)


def isfinite(ctx: Operations, form: Form, x: Value) -> Value:
    """Whether neither infinite nor NaN."""
    if is_complex(x.type.dtype):
        return _of_parts(ctx, isfinite, x, both=True)
    return ctx.op(ops.IsFinite(), x) if is_floating(x.type.dtype) else _everywhere(ctx, x, True)


def isinf(ctx: Operations, form: Form, x: Value) -> Value:
    """Whether infinite."""
    if is_complex(x.type.dtype):
        return _of_parts(ctx, isinf, x, both=False)
    if not is_floating(x.type.dtype):
        return _everywhere(ctx, x, False)
    return ctx.op(ops.Compare("EQ"), ctx.op(ops.Abs(), x), like(ctx, x, math.inf))


def isnan(ctx: Operations, form: Form, x: Value) -> Value:
    """Whether NaN."""
    number = is_floating(x.type.dtype) or is_complex(x.type.dtype)
    return is_nan(ctx, x) if number else _everywhere(ctx, x, False)


def logical(kind: HloOp) -> Kernel:
    """The kernel of a logical operation: on booleans, which numbers become by being not 0."""

    def kernel(ctx: Operations, form: Form, *values: Value) -> Value:
        return ctx.op(kind, *[convert(ctx, v, BOOL) for v in values])

    return kernel


# ---------------------------------------------------------------- integers


def bit_count(ctx: Operations, form: Form, x: Value) -> Value:
    """How many bits of the absolute value are set, as uint8."""
    return ctx.convert(ctx.op(ops.PopulationCount(), absolute(ctx, form, x)), UINT8)


def gcd(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """The greatest common divisor, element by element: Euclid's algorithm as one loop over all elements."""
    return ctx.convert(_unsigned_gcd(ctx, *_magnitudes(ctx, form, x, y)), x.type.dtype)


def _magnitudes(ctx: Operations, form: Form, *values: Value) -> list[Value]:
    """The absolute values of integers, unsigned: that of the least one too."""
    return [ctx.convert(absolute(ctx, form, v), np.dtype(f"u{v.type.dtype.itemsize}")) for v in values]


def _unsigned_gcd(ctx: Operations, x: Value, y: Value) -> Value:
    condition, body = Region((x.type, y.type)), Region((x.type, y.type))
    with ctx.b.region(condition):
        going = ctx.op(ops.Compare("NE"), condition.params[1], like(ctx, condition.params[1], 0))
        condition.results = (any_of(ctx, going),)
    with ctx.b.region(body):
        a, b = body.params
        done = zero_at(ctx, b)
        rest = ctx.op(ops.Remainder(), a, select(ctx, done, like(ctx, b, 1), b))
        body.results = (select(ctx, done, a, b), select(ctx, done, b, rest))
    return ctx.b.apply(ops.While(), (x, y), (condition, body)).results[0]


def lcm(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """The least common multiple; 0 if either is 0."""
    dtype = x.type.dtype
    x, y = _magnitudes(ctx, form, x, y)
    divisor = _unsigned_gcd(ctx, x, y)
    divisor = select(ctx, zero_at(ctx, divisor), like(ctx, divisor, 1), divisor)
    return ctx.convert(ctx.op(ops.Multiply(), ctx.op(ops.Divide(), x, divisor), y), dtype)
