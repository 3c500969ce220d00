"""Exceptions of Python's numbers: division by zero, overflow, domains, and integers beyond 64 bits.

In: operands that are Python scalars, and a computed result. Out: checks in the program unless the ranges of the operands
rule the exception out; the operation itself raises Python's exception after the run. An integer beyond 64 bits is no
exception of Python's: it is PS810.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from ... import ops
from ...analysis.ranges import Interval, within
from ...diagnostics.codes_runtime import IntegerBeyond64Bits, PowerIsComplex
from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.errors import StagingError
from ...hlo.ir import Value
from ...hlo.types import FLOAT64, INT64, UINT64, DType, is_complex, is_floating
from ...values.boundary import Form
from ...values.lattice import Array, Const
from ..context import Context, ExceptionCase
from ..rules.promote import Operand, value_of
from .arithmetic import absolute, like

_LARGEST = 9.3e18
"""A float64 above 2**63, and so near that no rounding of a product takes it across."""

LEAST, MOST = -(2**63), 2**63 - 1


def refuse(make: Callable[..., Diagnostic], *args: Any) -> None:
    """Raises the diagnostic that `make` makes of a description of the arguments."""
    raise StagingError((make(*args),))


def beyond_64_bits(ctx: Context, bad: Value, text: str, *operands: Any) -> None:
    """Raises PS810 where `bad` holds; `text` is a template of the computation."""
    span = ctx.span

    def make(*values: Any) -> IntegerBeyond64Bits:
        return IntegerBeyond64Bits(span=span, operation=text.format(*values))

    ctx.check(bad, StagingError(()), refuse, [make, *operands])


def either(ctx: Context, *conditions: Value) -> Value:
    """Whether any of these scalars is true."""
    found = conditions[0]
    for each in conditions[1:]:
        found = ctx.op(ops.Or(), found, each)
    return found


def both(ctx: Context, *conditions: Value) -> Value:
    """Whether all of these scalars are true."""
    found = conditions[0]
    for each in conditions[1:]:
        found = ctx.op(ops.And(), found, each)
    return found


def compared(ctx: Context, direction: str, x: Value, number: object) -> Value:
    """`x direction number`, of a known number."""
    return ctx.op(ops.Compare(direction), x, like(ctx, x, number))


# ---------------------------------------------------------------- division


def is_zero(ctx: Context, x: Value) -> Value:
    """Whether a number is zero; of floats by its bits, since XLA takes subnormal numbers for zero."""
    dtype = x.type.dtype
    if is_complex(dtype):
        return both(ctx, is_zero(ctx, ctx.op(ops.Real(), x)), is_zero(ctx, ctx.op(ops.Imag(), x)))
    if not is_floating(dtype):
        return compared(ctx, "EQ", x, 0)
    low, high = ctx.intervals(x)
    if low > 0 or high < 0:
        return compared(ctx, "EQ", ctx.constant(1, INT64), 0)
    bits = ctx.op(ops.BitcastConvert(UINT64), x)
    return compared(ctx, "EQ", ctx.op(ops.ShiftLeft(), bits, like(ctx, bits, 1)), 0)


def check_divisor(
    ctx: Context, function: Callable[..., Any], left: Operand, right: Operand, dtype: DType
) -> None:
    """Raises ZeroDivisionError as `left / right` and its relatives; of integers, `-2**63 // -1` leaves 64 bits."""
    if isinstance(right, Array):
        ctx.check(is_zero(ctx, right.value), ZeroDivisionError("division by zero"), function, [left, right])
    if function is not operator.floordiv or dtype != INT64:
        return
    (low, _), (least, most) = ctx.range_of(left), ctx.range_of(right)
    if low <= LEAST and least <= -1 <= most:
        x, y = [value_of(ctx, o, INT64, Form.PYTHON) for o in (left, right)]
        bad = both(ctx, compared(ctx, "EQ", x, LEAST), compared(ctx, "EQ", y, -1))
        beyond_64_bits(ctx, bad, "{} // {}", left, right)


# ---------------------------------------------------------------- integers


def check_sum(
    ctx: Context, symbol: str, operands: tuple[Operand, Operand], exact: Interval, made: Value
) -> None:
    """Checks that `x + y` or `x - y` stays within 64 bits; `exact` is the range of the sum without a limit."""
    if _fits_int64(exact):
        return
    x, y = [value_of(ctx, o, INT64, Form.PYTHON) for o in operands]
    known = operands[1].value if isinstance(operands[1], Const) else None
    if known is not None:
        step = int(known) if symbol == "+" else -int(known)
        bad = compared(ctx, "GT", x, MOST - step) if step > 0 else compared(ctx, "LT", x, LEAST - step)
    elif symbol == "+":  # both have one sign, and the sum has the other
        bad = _negative(ctx, ctx.op(ops.And(), ctx.op(ops.Xor(), x, made), ctx.op(ops.Xor(), y, made)))
    else:
        bad = _negative(ctx, ctx.op(ops.And(), ctx.op(ops.Xor(), x, y), ctx.op(ops.Xor(), x, made)))
    beyond_64_bits(ctx, bad, "{} " + symbol + " {}", *operands)


def _fits_int64(exact: Interval) -> bool:
    return within(exact, INT64) == exact


def _negative(ctx: Context, x: Value) -> Value:
    return compared(ctx, "LT", x, 0)


def check_product(
    ctx: Context,
    symbol: str,
    operands: tuple[Operand, Operand],
    exact: Interval,
    made: Value,
    size: Value | None,
) -> None:
    """Checks that `x * y` or `x ** y` stays within 64 bits; `size` is the result as a float64, None for the product.

    What is not far beyond 64 bits wraps around to the other sign.
    """
    if _fits_int64(exact):
        return
    if symbol == "*" and any(isinstance(o, Const) for o in operands):
        factor = next(int(o.value) for o in operands if isinstance(o, Const))
        other = next(o for o in operands if isinstance(o, Array))
        bad = _beyond_quotient(ctx, other.value, factor)
    else:
        if size is None:
            x, y = [ctx.op(ops.Convert(FLOAT64), value_of(ctx, o, INT64, Form.PYTHON)) for o in operands]
            size = ctx.op(ops.Multiply(), x, y)
        far = compared(ctx, "GE", ctx.op(ops.Abs(), size), _LARGEST)
        bad = either(ctx, far, ctx.op(ops.Compare("NE"), _negative(ctx, made), _negative(ctx, size)))
    if bad is not None:
        beyond_64_bits(ctx, bad, "{} " + symbol + " {}", *operands)


def _beyond_quotient(ctx: Context, x: Value, factor: int) -> Value | None:
    """Whether `x * factor` leaves 64 bits; None for factors by which it never does."""
    if factor in (0, 1):
        return None
    x = ctx.convert(x, INT64)
    if factor == -1:
        return compared(ctx, "EQ", x, LEAST)
    ends = sorted((_quotient(MOST, factor), _quotient(LEAST, factor)))
    return either(ctx, compared(ctx, "LT", x, ends[0]), compared(ctx, "GT", x, ends[1]))


def _quotient(end: int, factor: int) -> int:
    """The integer quotient, towards zero."""
    size = abs(end) // abs(factor)
    return size if (end < 0) == (factor < 0) else -size


def check_shift(
    ctx: Context, symbol: str, operands: tuple[Operand, Operand], exact: Interval, made: Value
) -> None:
    """Raises ValueError for a negative shift count; `x << y` may leave 64 bits."""
    function = operator.lshift if symbol == "<<" else operator.rshift
    x, y = [value_of(ctx, o, INT64, Form.PYTHON) for o in operands]
    if isinstance(operands[1], Array):
        ctx.check(_negative(ctx, y), ValueError("negative shift count"), function, list(operands))
    if symbol == "<<" and not _fits_int64(exact):
        back = ctx.op(ops.ShiftRightArithmetic(), made, y)
        bad = ctx.op(ops.Compare("NE"), back, x)
        beyond_64_bits(ctx, bad, "{} << {}", *operands)


def check_least(ctx: Context, operand: Operand, text: str) -> None:
    """Checks `-x` and `abs(x)` of `-2**63`."""
    if ctx.range_of(operand)[0] <= LEAST:
        value = value_of(ctx, operand, INT64, Form.PYTHON)
        beyond_64_bits(ctx, compared(ctx, "EQ", value, LEAST), text, operand)


def check_integral(
    ctx: Context, function: Callable[..., Any], operand: Array, rounded: Value, text: str
) -> None:
    """Checks `int(x)`, `math.floor(x)` …: NaN, infinities, and values beyond 64 signed bits."""
    if operand.dtype == UINT64 and ctx.range_of(operand)[1] > MOST:
        beyond_64_bits(ctx, compared(ctx, "GT", operand.value, MOST), text, operand)
    if not is_floating(operand.dtype):
        return
    inside = both(ctx, compared(ctx, "GE", rounded, -(2.0**63)), compared(ctx, "LT", rounded, 2.0**63))
    size = ctx.op(ops.Abs(), rounded)
    span = ctx.span

    def make(value: Any) -> IntegerBeyond64Bits:
        return IntegerBeyond64Bits(span=span, operation=text.format(value))

    ctx.check_first(
        ctx.op(ops.Not(), inside),
        [
            ExceptionCase(
                ctx.op(ops.Compare("NE"), rounded, rounded), ValueError("not a number"), function, [operand]
            ),
            ExceptionCase(
                compared(ctx, "EQ", size, math.inf), OverflowError("infinity"), function, [operand]
            ),
            ExceptionCase(None, StagingError(()), refuse, [make, operand]),
        ],
    )


# ---------------------------------------------------------------- powers


def check_float_power(ctx: Context, left: Operand, right: Operand, x: Value, y: Value, made: Value) -> None:
    """Checks `x ** y` of floats: 0 to a negative power, overflow, and complex results."""
    dtype = made.type.dtype
    arguments = [left, right]
    exponent = right.value if isinstance(right, Const) else None
    if is_complex(dtype):
        _check_complex_power(ctx, arguments, x, y, made)
        return
    if exponent is None or exponent < 0:
        bad = is_zero(ctx, x)
        if exponent is None:
            bad = both(ctx, bad, _negative(ctx, y), ctx.op(ops.IsFinite(), y))
        if exponent != -math.inf:
            text = "0.0 cannot be raised to a negative power"
            ctx.check(bad, ZeroDivisionError(text), operator.pow, arguments)
    if exponent is None or (exponent != math.floor(exponent) if math.isfinite(exponent) else False):
        bad = both(ctx, _negative(ctx, x), ctx.op(ops.IsFinite(), x))
        if exponent is None:
            bad = both(
                ctx, bad, ctx.op(ops.Compare("NE"), ctx.op(ops.Floor(), y), y), ctx.op(ops.IsFinite(), y)
            )
        span = ctx.span

        def make(base: Any, power: Any) -> PowerIsComplex:
            return PowerIsComplex(span=span, base=repr(base), power=repr(power))

        ctx.check(bad, StagingError(()), refuse, [make, *arguments])
    if exponent is None or abs(exponent) > 1:
        check_overflow(ctx, operator.pow, arguments, [x, y], made)


def _check_complex_power(ctx: Context, arguments: list[Operand], x: Value, y: Value, made: Value) -> None:
    """Checks complex powers: 0 to a negative or complex power, an infinite angle (CPython raises the same), overflow."""
    real, imaginary = [ctx.op(part, y) for part in (ops.Real(), ops.Imag())]
    is_complex_power = compared(ctx, "NE", imaginary, 0.0)
    bad = both(ctx, is_zero(ctx, x), either(ctx, _negative(ctx, real), is_complex_power))
    limit = compared(ctx, "GT", ctx.op(ops.Abs(), real), 100.0)
    general = either(ctx, is_complex_power, limit, ctx.op(ops.Compare("NE"), ctx.op(ops.Floor(), real), real))
    angle = ctx.op(
        ops.Multiply(), real, ctx.op(ops.Atan2(), *[ctx.op(part, x) for part in (ops.Imag(), ops.Real())])
    )
    size = absolute(ctx, Form.PYTHON, x)
    turn = ctx.op(ops.Multiply(), imaginary, ctx.op(ops.Log(), size))
    phase = ctx.op(ops.Select(), is_complex_power, ctx.op(ops.Add(), angle, turn), angle)
    endless = compared(ctx, "EQ", ctx.op(ops.Abs(), phase), math.inf)
    bad = either(ctx, bad, both(ctx, general, compared(ctx, "NE", size, 0.0), endless))
    ctx.check(bad, ZeroDivisionError("0.0 to a negative or complex power"), operator.pow, arguments)
    sizes = [ctx.op(ops.Abs(), ctx.op(part, made)) for part in (ops.Real(), ops.Imag())]
    infinite = either(ctx, *[compared(ctx, "EQ", size, math.inf) for size in sizes])
    ctx.check(infinite, OverflowError("complex exponentiation"), operator.pow, arguments)


def check_overflow(
    ctx: Context, function: Callable[..., Any], arguments: list[Any], given: list[Value], made: Value
) -> None:
    """Raises OverflowError where a result is infinite and no argument is."""
    infinite = ctx.op(ops.Compare("EQ"), ctx.op(ops.Abs(), made), like(ctx, made, math.inf))
    bad = both(ctx, infinite, *[ctx.op(ops.IsFinite(), v) for v in given])
    ctx.check(bad, OverflowError("math range error"), function, arguments)
