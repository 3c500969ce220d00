"""Arithmetic on program values: division, remainders, powers, shifts, comparisons, by the rules of each library.

In: values of one shape, in the element types of a loop. Out: one value. `form` selects the rules where NumPy, JAX and
Python differ (division by zero, signed zeros). Constant operands are folded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ... import ops
from ...hlo.ir import Region, Value
from ...hlo.op import HloOp
from ...hlo.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    UINT64,
    DType,
    is_complex,
    is_floating,
    is_integer,
    is_unsigned,
)
from ...ops.elementwise.base import OfComplex
from ...values.boundary import Form
from ..interfaces.operations import Operations

Kernel = Callable[..., Value]
"""`(ctx, form, *values) → value`."""

CHAIN_LIMIT = 64
"""The greatest known exponent that is written as products; these are as precise as a library's power."""

_SWAPPED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ", "NE": "NE"}


def op(kind: HloOp) -> Kernel:
    """A kernel of one operation."""

    def kernel(ctx: Operations, form: Form, *values: Value) -> Value:
        return ctx.op(by_form(kind, form, values[0].type.dtype), *values)

    return kernel


def by_form(kind: HloOp, form: Form, dtype: DType) -> HloOp:
    """An operation as NumPy computes it, or as JAX does, whose functions of complex numbers are XLA's."""
    if form is Form.JAX and is_complex(dtype) and isinstance(kind, OfComplex):
        return replace(kind, by_xla=True)
    return kind


# ---------------------------------------------------------------- small things


def like(ctx: Operations, value: Value, number: object) -> Value:
    """A constant of the type of `value`."""
    return ctx.broadcast(ctx.constant(number, value.type.dtype), value.type.shape)


def select(ctx: Operations, condition: Value, on_true: Value, on_false: Value) -> Value:
    """`on_true` where the condition holds."""
    return ctx.op(ops.Select(), condition, on_true, on_false)


def known_number(value: Value) -> Any:
    """The number that every element of `value` certainly is, or None."""
    kind = getattr(value.owner, "kind", None)
    while isinstance(kind, ops.Broadcast):
        value = value.owner.operands[0]  # type: ignore[union-attr]
        kind = getattr(value.owner, "kind", None)
    if isinstance(kind, ops.Constant) and kind.data.size == 1:
        return kind.data.item()
    return None


def nonzero(value: Value) -> bool:
    """True if no element of `value` is 0, as far as the program says."""
    number = known_number(value)
    return number is not None and bool(number != 0)


def zero_at(ctx: Operations, value: Value) -> Value:
    """Where `value` is 0."""
    return ctx.op(ops.Compare("EQ"), value, like(ctx, value, 0))


def is_nan(ctx: Operations, value: Value) -> Value:
    """Where `value` is NaN (of a complex number, either part)."""
    return ctx.op(ops.Compare("NE"), value, value)


def signbit(ctx: Operations, form: Form, x: Value) -> Value:
    """Whether the sign bit is set; of booleans and unsigned integers never."""
    dtype = x.type.dtype
    if dtype == BOOL or is_unsigned(dtype):
        return ctx.broadcast(ctx.constant(False, BOOL), x.type.shape)
    if not is_integer(dtype):
        x = ctx.op(ops.BitcastConvert(np.dtype(f"i{dtype.itemsize}")), x)
    return ctx.op(ops.Compare("LT"), x, like(ctx, x, 0))


def copysign(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """`|x|` with the sign of `y`."""
    size = ctx.op(ops.Abs(), x)
    return select(ctx, signbit(ctx, form, y), ctx.op(ops.Negate(), size), size)


# ---------------------------------------------------------------- division


def true_divide(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """`x / y` of floating-point or complex numbers."""
    return ctx.op(by_form(ops.Divide(), form, x.type.dtype), x, y)


def floor_divide(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """`x // y`, towards minus infinity. Integers by zero: 0 in NumPy, XLA's value in JAX."""
    return divmod_(ctx, form, x, y)[0] if is_floating(x.type.dtype) else _integer_quotient(ctx, form, x, y)


def remainder(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """`x % y`, with the sign of `y`. Integers by zero: 0."""
    if is_floating(x.type.dtype):
        return _float_remainder(ctx, form, x, y)
    divisor = _without_zero(ctx, y)
    rest = ctx.op(ops.Remainder(), x, divisor)
    if is_unsigned(x.type.dtype):
        return rest
    return select(ctx, _needs_step(ctx, rest, divisor), ctx.op(ops.Add(), rest, divisor), rest)


def divmod_(ctx: Operations, form: Form, x: Value, y: Value) -> tuple[Value, Value]:
    """`(x // y, x % y)`."""
    if not is_floating(x.type.dtype):
        return floor_divide(ctx, form, x, y), remainder(ctx, form, x, y)
    if form is Form.JAX:
        return _jax_float_divmod(ctx, x, y)
    rest = ctx.op(ops.Remainder(), x, y)
    step = _needs_step(ctx, rest, y)
    whole = ctx.op(ops.Divide(), ctx.op(ops.Subtract(), x, rest), y)
    whole = select(ctx, step, ctx.op(ops.Subtract(), whole, like(ctx, whole, 1)), whole)
    floor = ctx.op(ops.Floor(), whole)
    beyond = ctx.op(ops.Compare("GT"), ctx.op(ops.Subtract(), whole, floor), like(ctx, whole, 0.5))
    floor = select(ctx, beyond, ctx.op(ops.Add(), floor, like(ctx, whole, 1)), floor)
    plain = ctx.op(ops.Divide(), x, y)
    floor = select(ctx, zero_at(ctx, whole), copysign(ctx, form, like(ctx, whole, 0), plain), floor)
    if not nonzero(y):
        floor = select(ctx, zero_at(ctx, y), plain, floor)
    return floor, _signed_remainder(ctx, form, rest, step, y)


def _float_remainder(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    rest = ctx.op(ops.Remainder(), x, y)
    step = _needs_step(ctx, rest, y)
    if form is Form.JAX:
        return select(ctx, step, ctx.op(ops.Add(), rest, y), rest)
    return _signed_remainder(ctx, form, rest, step, y)


def _signed_remainder(ctx: Operations, form: Form, rest: Value, step: Value, y: Value) -> Value:
    """The remainder with the sign of the divisor, its zeros included; these vary as the remainder does."""
    moved = select(ctx, step, ctx.op(ops.Add(), rest, y), rest)
    fixed = ctx.op(ops.StopGradient(), rest)
    zero = ctx.op(ops.Subtract(), copysign(ctx, form, fixed, y), ctx.op(ops.Subtract(), fixed, rest))
    return select(ctx, zero_at(ctx, rest), zero, moved)


def _jax_float_divmod(ctx: Operations, x: Value, y: Value) -> tuple[Value, Value]:
    rest = ctx.op(ops.Remainder(), x, y)
    reduced = select(ctx, zero_at(ctx, y), x, ctx.op(ops.Subtract(), x, rest))
    whole = ctx.op(ops.Divide(), reduced, y)
    signs = ctx.op(ops.Compare("NE"), ctx.op(ops.Sign(), y), ctx.op(ops.Sign(), rest))
    step = ctx.op(ops.And(), ctx.op(ops.Compare("NE"), rest, like(ctx, rest, 0)), signs)
    whole = select(ctx, step, ctx.op(ops.Subtract(), whole, like(ctx, whole, 1)), whole)
    return round_half_away(ctx, whole), select(ctx, step, ctx.op(ops.Add(), rest, y), rest)


def round_half_away(ctx: Operations, x: Value) -> Value:
    """The nearest integer, halves away from zero."""
    return ctx.op(ops.RoundNearestAfz(), x)


def _needs_step(ctx: Operations, rest: Value, y: Value) -> Value:
    """Where a truncated remainder and the divisor differ in sign."""
    zero = like(ctx, rest, 0)
    differ = ctx.op(
        ops.Compare("NE"), ctx.op(ops.Compare("LT"), rest, zero), ctx.op(ops.Compare("LT"), y, zero)
    )
    return ctx.op(ops.And(), ctx.op(ops.Compare("NE"), rest, zero), differ)


def _without_zero(ctx: Operations, y: Value) -> Value:
    return y if nonzero(y) else select(ctx, zero_at(ctx, y), like(ctx, y, 1), y)


def _integer_quotient(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    quotient = ctx.op(ops.Divide(), x, y)
    if not is_unsigned(x.type.dtype):
        rest = ctx.op(ops.Remainder(), x, y)
        if form is Form.JAX:
            differ = ctx.op(ops.Compare("NE"), ctx.op(ops.Sign(), x), ctx.op(ops.Sign(), y))
            step = ctx.op(ops.And(), differ, ctx.op(ops.Compare("NE"), rest, like(ctx, rest, 0)))
        else:
            step = _needs_step(ctx, rest, y)
        quotient = select(ctx, step, ctx.op(ops.Subtract(), quotient, like(ctx, quotient, 1)), quotient)
    if form is Form.JAX or nonzero(y):
        return quotient
    return select(ctx, zero_at(ctx, y), like(ctx, quotient, 0), quotient)


def fmod(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """The remainder with the sign of `x`. Integers by zero: 0."""
    return ctx.op(ops.Remainder(), x, y if is_floating(x.type.dtype) else _without_zero(ctx, y))


# ---------------------------------------------------------------- powers and shifts


def power(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """`x ** y`; small known integral exponents are written as products."""
    if is_complex(x.type.dtype):
        return ctx.op(by_form(ops.Power(), form, x.type.dtype), x, y)
    exponent = known_number(y)
    if exponent is not None:
        number = float(exponent)
        if number.is_integer() and abs(number) <= CHAIN_LIMIT:
            return integer_power(ctx, x, int(number))
    if not is_integer(x.type.dtype):
        return ctx.op(ops.Power(), x, y)
    return _jax_integer_power(ctx, x, y) if form is Form.JAX else _numpy_integer_power(ctx, x, y)


def power_of_one(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """`x ** y` for one exponent: NumPy takes the square root where it is 0.5, which -0.0 and -inf tell apart."""
    exponent = known_number(y)
    if x.type.dtype not in (FLOAT32, FLOAT64) or (exponent is not None and exponent != 0.5):
        return power(ctx, form, x, y)
    if exponent is not None:
        return ctx.op(ops.Sqrt(), x)
    half, one = ctx.op(ops.Compare("EQ"), y, like(ctx, y, 0.5)), like(ctx, x, 1)
    root = ctx.op(ops.Sqrt(), select(ctx, half, x, one))
    return select(ctx, half, root, ctx.op(ops.Power(), select(ctx, half, one, x), y))


def integer_power(ctx: Operations, x: Value, exponent: int) -> Value:
    """`x ** exponent` by repeated squaring; a negative exponent divides 1 by it."""
    result: Value | None = None
    square = x
    rest = abs(exponent)
    while rest:
        if rest & 1:
            result = square if result is None else ctx.op(ops.Multiply(), result, square)
        rest >>= 1
        if rest:
            square = ctx.op(ops.Multiply(), square, square)
    if result is None:
        return like(ctx, x, 1)
    return true_divide(ctx, Form.JAX, like(ctx, x, 1), result) if exponent < 0 else result


def _numpy_integer_power(ctx: Operations, x: Value, y: Value) -> Value:
    """Integers to integer powers by repeated squaring, in a loop over the exponents' bits."""
    types = (x.type, x.type, x.type)
    condition, body = Region(types), Region(types)
    with ctx.b.region(condition):
        condition.results = (any_of(ctx, ctx.op(ops.Compare("GT"), condition.params[2], like(ctx, y, 0))),)
    with ctx.b.region(body):
        body.results = _power_step(ctx, *body.params)
    return ctx.b.apply(ops.While(), (like(ctx, x, 1), x, y), (condition, body)).results[0]


def _jax_integer_power(ctx: Operations, x: Value, y: Value) -> Value:
    """JAX looks at six bits of the exponent; 0 to a power that is not 0 is 0 from the beginning."""
    result = select(
        ctx,
        ctx.op(ops.And(), zero_at(ctx, x), ctx.op(ops.Compare("NE"), y, like(ctx, y, 0))),
        like(ctx, x, 0),
        like(ctx, x, 1),
    )
    for _ in range(6):
        result, x, y = _power_step(ctx, result, x, y)
    return result


def _power_step(ctx: Operations, result: Value, square: Value, rest: Value) -> tuple[Value, Value, Value]:
    one = like(ctx, rest, 1)
    odd = ctx.op(ops.Compare("NE"), ctx.op(ops.And(), rest, one), like(ctx, rest, 0))
    result = select(ctx, odd, ctx.op(ops.Multiply(), result, square), result)
    return result, ctx.op(ops.Multiply(), square, square), ctx.op(ops.ShiftRightLogical(), rest, one)


def any_of(ctx: Operations, flags: Value) -> Value:
    """Whether any of the booleans is true, as a scalar."""
    axes = tuple(range(flags.type.rank))
    return ctx.op(ops.Reduce(ops.Or(), axes), flags, ctx.constant(False, BOOL)) if axes else flags


def right_shift(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
    """`x >> y`: the sign is moved in, zeros for unsigned integers."""
    return ctx.op(ops.ShiftRightLogical() if is_unsigned(x.type.dtype) else ops.ShiftRightArithmetic(), x, y)


# ---------------------------------------------------------------- comparison, minimum, maximum


def compare(direction: str) -> Kernel:
    """The kernel of a comparison. Complex numbers are ordered by their real part, then the imaginary one.

    NumPy's that are NaN in either part have no order.
    """

    def kernel(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
        if x.type.dtype != y.type.dtype:
            return _mixed_signs(ctx, direction, x, y)
        if is_complex(x.type.dtype) and direction not in ("EQ", "NE"):
            parts = [ctx.op(part, v) for part in (ops.Real(), ops.Imag()) for v in (x, y)]
            real = ctx.op(ops.Compare(direction), parts[0], parts[1])
            imaginary = ctx.op(ops.Compare(direction), parts[2], parts[3])
            ordered = select(ctx, ctx.op(ops.Compare("EQ"), parts[0], parts[1]), imaginary, real)
            if form is Form.JAX:
                return ordered
            numbers = [ctx.op(ops.Compare("EQ"), v, v) for v in (x, y)]
            return ctx.op(ops.And(), ordered, ctx.op(ops.And(), *numbers))
        return ctx.op(ops.Compare(direction), x, y)

    return kernel


def _mixed_signs(ctx: Operations, direction: str, x: Value, y: Value) -> Value:
    """A comparison of signed with unsigned 64-bit integers, exact."""
    if is_unsigned(x.type.dtype):
        return _mixed_signs(ctx, _SWAPPED[direction], y, x)
    negative = ctx.op(ops.Compare("LT"), x, like(ctx, x, 0))
    inside = ctx.op(ops.Compare(direction), ctx.convert(x, UINT64), y)
    if direction in ("LT", "LE", "NE"):
        return ctx.op(ops.Or(), negative, inside)
    return ctx.op(ops.And(), ctx.op(ops.Not(), negative), inside)


def extremum(kind: HloOp) -> Kernel:
    """The kernel of `fmax` and `fmin`: the other operand where one is NaN."""

    def kernel(ctx: Operations, form: Form, x: Value, y: Value) -> Value:
        best = ctx.op(kind, x, y)
        if not (is_floating(x.type.dtype) or is_complex(x.type.dtype)):
            return best
        return select(ctx, is_nan(ctx, y), x, select(ctx, is_nan(ctx, x), y, best))

    return kernel


maximum, minimum = op(ops.Maximum()), op(ops.Minimum())


# ---------------------------------------------------------------- rounding, parts


def by_parts(kernel: Kernel) -> Kernel:
    """A kernel of real numbers applied to real and imaginary parts alike."""

    def both(ctx: Operations, form: Form, x: Value) -> Value:
        if not is_complex(x.type.dtype):
            return kernel(ctx, form, x)
        return ctx.op(
            ops.Complex(), kernel(ctx, form, ctx.op(ops.Real(), x)), kernel(ctx, form, ctx.op(ops.Imag(), x))
        )

    return both


def real_only(kernel: Kernel) -> Kernel:
    """A kernel that changes no integer and no boolean."""

    def kernel_or_same(ctx: Operations, form: Form, x: Value) -> Value:
        return kernel(ctx, form, x) if is_floating(x.type.dtype) else x

    return kernel_or_same


rint = by_parts(real_only(op(ops.RoundNearestEven())))


def real(ctx: Operations, form: Form, x: Value) -> Value:
    """The real part; of real numbers themselves."""
    return ctx.op(ops.Real(), x) if is_complex(x.type.dtype) else x


def imag(ctx: Operations, form: Form, x: Value) -> Value:
    """The imaginary part; of real numbers 0."""
    return ctx.op(ops.Imag(), x) if is_complex(x.type.dtype) else like(ctx, x, 0)


def conjugate(ctx: Operations, form: Form, x: Value) -> Value:
    """The complex conjugate; of real numbers themselves."""
    if not is_complex(x.type.dtype):
        return x
    return ctx.op(ops.Complex(), ctx.op(ops.Real(), x), ctx.op(ops.Negate(), ctx.op(ops.Imag(), x)))


def absolute(ctx: Operations, form: Form, x: Value) -> Value:
    """The absolute value; booleans and unsigned integers stay."""
    if x.type.dtype == BOOL or is_unsigned(x.type.dtype):
        return x
    size = ctx.op(ops.Abs(), x)
    if not is_complex(x.type.dtype) or form is Form.JAX:
        return size
    infinite = like(ctx, size, np.inf)
    parts = [ctx.op(ops.Abs(), ctx.op(part, x)) for part in (ops.Real(), ops.Imag())]
    ends = [ctx.op(ops.Compare("EQ"), part, infinite) for part in parts]
    return select(ctx, ctx.op(ops.Or(), *ends), infinite, size)  # also where the other part is NaN


def sign(ctx: Operations, form: Form, x: Value) -> Value:
    """-1, 0 or 1; of complex numbers `x / |x|`. Of -0.0 it is 0.0 in NumPy and -0.0 in JAX."""
    if is_unsigned(x.type.dtype):
        return ctx.op(ops.Minimum(), x, like(ctx, x, 1))
    signs = ctx.op(by_form(ops.Sign(), form, x.type.dtype), x)
    if form is Form.JAX or not is_floating(x.type.dtype):
        return signs
    return select(ctx, zero_at(ctx, x), like(ctx, x, 0), signs)


def real_dtype(dtype: DType) -> DType:
    """The type of the parts of a complex number; others stay."""
    return np.dtype(f"f{dtype.itemsize // 2}") if is_complex(dtype) else dtype
