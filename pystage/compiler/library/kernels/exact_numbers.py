"""Exact results of Python's numbers where float64 arithmetic rounds: comparisons of integers with floats, and rounding
to decimal digits.

In: scalars of Python's types. Out: CPython's result, bit for bit. Products are split into halves whose products are
exact, so that XLA may contract a multiplication and an addition without effect.
"""

from __future__ import annotations

import math

import numpy as np

from ... import ops
from ...diagnostics.codes_calls import WrongArguments
from ...hlo.ir import Value
from ...hlo.types import FLOAT32, FLOAT64, INT32, INT64
from ...values.boundary import Form
from ..interfaces.operations import Operations
from .arithmetic import copysign, like, remainder, select

EXACT_INTEGERS = 1 << 53
"""Every integer below this size is a float64."""

EXACT_POWER = 22
"""The greatest power of ten that is a float64."""

MOST_DIGITS, LEAST_DIGITS = 323, -308
"""With more digits CPython's `round` gives the number back, with fewer zero."""

_LOW_HALF = (1 << 27) - 1


# ---------------------------------------------------------------- an integer and a float


def compare_known_integer(direction: str, integer: int) -> tuple[str, float] | bool:
    """`integer direction x` for a float `x`, as a comparison `bound direction x` or a constant.

    An integer that is no float64 lies between two of them; `bound` is the one that is nearest.
    """
    try:
        bound = float(integer)
    except OverflowError:
        bound = math.inf if integer > 0 else -math.inf
    if math.isfinite(bound) and int(bound) == integer:
        return direction, bound
    if direction in ("EQ", "NE"):
        return direction == "NE"
    above = bound > integer
    if direction in ("LT", "LE"):
        return ("LE" if above else "LT"), bound
    return ("GT" if above else "GE"), bound


def compare_integer(ctx: Operations, direction: str, integer: Value, number: Value) -> Value:
    """`integer direction number` for an int64 and a float64, without rounding the integer.

    Rounding keeps the order, so that only an integer that rounds to `number` needs a second look: `number` is
    an integer then, and one of 64 bits unless it is 2**63.
    """
    rounded = ctx.op(ops.Compare(direction), ctx.convert(integer, FLOAT64), number)
    same = ctx.op(ops.Compare("EQ"), ctx.convert(integer, FLOAT64), number)
    exact = ctx.op(ops.Compare(direction), integer, ctx.convert(number, INT64))
    beyond = ctx.op(ops.Compare("GE"), number, like(ctx, number, 2.0**63))
    if direction in ("LT", "LE", "NE"):
        exact = ctx.op(ops.Or(), beyond, exact)
    else:
        exact = ctx.op(ops.And(), ctx.op(ops.Compare("LT"), number, like(ctx, number, 2.0**63)), exact)
    return select(ctx, same, exact, rounded)


# ---------------------------------------------------------------- rounding to decimal digits


def round_float(ctx: Operations, x: Value, digits: int) -> Value:
    """`round(x, digits)` of a Python float: the float nearest to the decimal number that is nearest to `x`."""
    if digits > MOST_DIGITS:
        return x
    if digits < LEAST_DIGITS:
        return select(ctx, ctx.op(ops.IsFinite(), x), copysign(ctx, Form.PYTHON, like(ctx, x, 0), x), x)
    if abs(digits) > EXACT_POWER:
        return _round_scaled(ctx, x, digits)
    scale = like(ctx, x, 10.0 ** abs(digits))
    if digits < 0:
        scaled = ctx.op(ops.Divide(), x, scale)
        half = copysign(ctx, Form.PYTHON, like(ctx, x, 10.0**-digits / 2), x)
        lost = ctx.op(ops.Subtract(), ctx.op(ops.Remainder(), x, scale), half)
        return _unless_whole(ctx, x, scaled, ctx.op(ops.Multiply(), _nearest(ctx, scaled, lost), scale))
    scaled = ctx.op(ops.Multiply(), x, scale)
    lost = _product_error(ctx, x, 10.0**digits, scaled)
    return _unless_whole(ctx, x, scaled, ctx.op(ops.Divide(), _nearest(ctx, scaled, lost), scale))


def _product_error(ctx: Operations, x: Value, factor: float, product: Value) -> Value:
    """`x * factor - product` for the rounded product (Dekker 1971), by halves whose products are exact."""
    known = np.float64(factor)
    known_high = (known.view(np.int64) & ~_LOW_HALF).view(np.float64)
    high = ctx.op(ops.And(), ctx.op(ops.BitcastConvert(INT64), x), ctx.constant(~_LOW_HALF, INT64))
    x_high = ctx.op(ops.BitcastConvert(FLOAT64), high)
    x_low = ctx.op(ops.Subtract(), x, x_high)
    error = ctx.op(ops.Negate(), product)
    for part in (known_high, known - known_high):
        for half in (x_high, x_low):
            error = ctx.op(ops.Add(), ctx.op(ops.Multiply(), half, like(ctx, x, part)), error)
    return error


def multiples(ctx: Operations, x: Value, integers: Value, largest: int) -> Value:
    """`x * integers`, rounded once whatever is added to it: XLA may contract that with a product, not with this sum.

    The integers, of the type of `x`, are not above `largest`; both halves of `x` times such a number are exact.
    """
    plain = ctx.op(ops.Multiply(), x, integers)
    dtype = x.type.dtype
    half = {FLOAT64: 27, FLOAT32: 12}.get(dtype)
    if half is None or largest >= 1 << (half - 1):
        return plain
    bits = INT64 if dtype == FLOAT64 else INT32
    mask = ctx.broadcast(ctx.constant(~((1 << half) - 1), bits), x.type.shape)
    high = ctx.op(ops.BitcastConvert(dtype), ctx.op(ops.And(), ctx.op(ops.BitcastConvert(bits), x), mask))
    parts = [ctx.op(ops.Multiply(), each, integers) for each in (high, ctx.op(ops.Subtract(), x, high))]
    halved = ctx.op(
        ops.And(), ctx.op(ops.IsFinite(), x), ctx.op(ops.Compare("NE"), plain, like(ctx, plain, 0))
    )
    return select(ctx, halved, ctx.op(ops.Add(), *parts), plain)  # zeros keep their signs


def _nearest(ctx: Operations, scaled: Value, lost: Value) -> Value:
    """The whole number nearest to `scaled` and something of the sign of `lost`, halves to even.

    What was lost is less than half a unit in the last place, so that it decides only between halves.
    """
    whole = ctx.op(ops.RoundNearestEven(), scaled)
    rest = ctx.op(ops.Subtract(), scaled, whole)
    zero, one, half = (like(ctx, scaled, n) for n in (0.0, 1.0, 0.5))
    up = ctx.op(ops.And(), ctx.op(ops.Compare("EQ"), rest, half), ctx.op(ops.Compare("GT"), lost, zero))
    down = ctx.op(
        ops.And(),
        ctx.op(ops.Compare("EQ"), rest, ctx.op(ops.Negate(), half)),
        ctx.op(ops.Compare("LT"), lost, zero),
    )
    whole = select(ctx, up, ctx.op(ops.Add(), whole, one), whole)
    return select(ctx, down, ctx.op(ops.Subtract(), whole, one), whole)


def _unless_whole(ctx: Operations, x: Value, scaled: Value, rounded: Value) -> Value:
    """`rounded` with the sign of `x`; `x` itself where it has no fraction, is infinite or NaN."""
    inside = ctx.op(ops.Compare("LT"), ctx.op(ops.Abs(), scaled), like(ctx, scaled, float(EXACT_INTEGERS)))
    return select(ctx, inside, copysign(ctx, Form.PYTHON, rounded, x), x)


def _round_scaled(ctx: Operations, x: Value, digits: int) -> Value:
    """Digits beyond the powers of ten that are floats: scaled in two steps, exact to rounding."""
    steps = [10.0**EXACT_POWER, 10.0 ** (abs(digits) - EXACT_POWER)]
    there, back = (ops.Multiply(), ops.Divide()) if digits > 0 else (ops.Divide(), ops.Multiply())
    scaled = x
    for step in steps:
        scaled = ctx.op(there, scaled, like(ctx, x, step))
    rounded = ctx.op(ops.RoundNearestEven(), scaled)
    for step in reversed(steps):
        rounded = ctx.op(back, rounded, like(ctx, x, step))
    return _unless_whole(ctx, x, scaled, rounded)


def round_integer(ctx: Operations, x: Value, digits: int) -> Value:
    """`round(x, digits)` of a Python int: to a multiple of a power of ten, halves to even."""
    if digits >= 0:
        return x
    if digits < -19:
        return like(ctx, x, 0)
    if digits == -19:
        ctx.fail(WrongArguments(span=ctx.span, name="round()", why="10**19 does not fit into 64 bits"))
    unit = like(ctx, x, 10**-digits)
    rest = remainder(ctx, Form.PYTHON, x, unit)
    below = ctx.op(ops.Subtract(), x, rest)
    half, zero = like(ctx, x, 10**-digits // 2), like(ctx, x, 0)
    odd = ctx.op(
        ops.Compare("NE"), ctx.op(ops.And(), ctx.op(ops.Divide(), below, unit), like(ctx, x, 1)), zero
    )
    tie = ctx.op(ops.And(), ctx.op(ops.Compare("EQ"), rest, half), odd)
    up = ctx.op(ops.Or(), ctx.op(ops.Compare("GT"), rest, half), tie)
    return select(ctx, up, ctx.op(ops.Add(), below, unit), below)
