"""Exceptions of the functions of `math`: ValueError outside of the domain, OverflowError for infinite results.

In: a function, its arguments as float64 scalars, and the computed result. Out: checks in the program, which call the real
function after the run, so that the text is that of the running Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ....hlo.ir import Value
from ....ops import Abs, Compare, Floor
from ....values.boundary import Form
from ....values.lattice import Array
from ...context import Context
from ...kernels.number_checks import beyond_64_bits, both, check_overflow, compared, either

Check = Callable[[Context, Callable[..., Any], Sequence[Value], Value], None]
"""`(ctx, function, arguments, result)`."""


def _arguments(values: Sequence[Value]) -> list[Array]:
    return [Array(v, Form.PYTHON) for v in values]


def _domain(ctx: Context, function: Callable[..., Any], values: Sequence[Value], bad: Value) -> None:
    ctx.check(bad, ValueError("math domain error"), function, _arguments(values))


def outside(direction: str, limit: float, size: bool = False) -> Check:
    """Raises ValueError where the argument (with `size`, its absolute value) compares so with a limit."""

    def check(ctx: Context, function: Callable[..., Any], values: Sequence[Value], made: Value) -> None:
        (x,) = values
        _domain(ctx, function, values, compared(ctx, direction, ctx.op(Abs(), x) if size else x, limit))

    return check


def overflow(ctx: Context, function: Callable[..., Any], values: Sequence[Value], made: Value) -> None:
    """Raises OverflowError where the result is infinite, and no argument is."""
    check_overflow(ctx, function, list(_arguments(values)), list(values), made)


def no_number(ctx: Context, function: Callable[..., Any], values: Sequence[Value], made: Value) -> None:
    """Raises ValueError where the result is NaN, and no argument is."""
    numbers = [ctx.op(Compare("EQ"), v, v) for v in values]
    _domain(ctx, function, values, both(ctx, ctx.op(Compare("NE"), made, made), *numbers))


def _power(ctx: Context, function: Callable[..., Any], values: Sequence[Value], made: Value) -> None:
    x, y = values
    no_number(ctx, function, values, made)
    pole = both(
        ctx, compared(ctx, "EQ", x, 0.0), compared(ctx, "LT", y, 0.0), compared(ctx, "GT", y, -math.inf)
    )
    _domain(ctx, function, values, pole)
    overflow(ctx, function, values, made)


def poles(least: float) -> Check:
    """Raises ValueError at the integers from 0 down (and at -inf, if it is beyond `least`), else OverflowError."""

    def check(ctx: Context, function: Callable[..., Any], values: Sequence[Value], made: Value) -> None:
        (x,) = values
        whole = ctx.op(Compare("EQ"), ctx.op(Floor(), x), x)
        bad = both(ctx, whole, compared(ctx, "LE", x, 0.0), compared(ctx, "GE", x, least))
        _domain(ctx, function, values, bad)
        overflow(ctx, function, values, made)

    return check


def not_negative(ctx: Context, function: Callable[..., Any], values: Sequence[Value], made: Value) -> None:
    """Raises ValueError for a negative integer."""
    (n,) = values
    ctx.check(compared(ctx, "LT", n, 0), ValueError("must not be negative"), function, _arguments(values))


def factorial(ctx: Context, function: Callable[..., Any], values: Sequence[Value], made: Value) -> None:
    """Raises ValueError for a negative integer, PS810 above 20."""
    not_negative(ctx, function, values, made)
    (n,) = values
    beyond_64_bits(ctx, compared(ctx, "GT", n, 20), "math.factorial({})", *_arguments(values))


def folded(ctx: Context, function: Callable[..., Any], values: Sequence[Value], made: Value) -> None:
    """Raises PS810 for a greatest common divisor or least common multiple that wrapped around."""
    least = [compared(ctx, "EQ", v, -(2**63)) for v in values]
    if least:
        texts = ", ".join(["{}"] * len(values))
        bad = either(ctx, *least, compared(ctx, "LT", made, 0))
        beyond_64_bits(ctx, bad, f"math.{function.__name__}({texts})", *_arguments(values))


CHECKS: dict[Callable[..., Any], Check] = {
    math.sqrt: outside("LT", 0.0),
    math.exp: overflow,
    math.expm1: overflow,
    math.log1p: outside("LE", -1.0),
    math.log2: outside("LE", 0.0),
    math.log10: outside("LE", 0.0),
    math.sin: outside("EQ", math.inf, size=True),
    math.cos: outside("EQ", math.inf, size=True),
    math.tan: outside("EQ", math.inf, size=True),
    math.asin: outside("GT", 1.0, size=True),
    math.acos: outside("GT", 1.0, size=True),
    math.sinh: overflow,
    math.cosh: overflow,
    math.acosh: outside("LT", 1.0),
    math.atanh: outside("GE", 1.0, size=True),
    math.pow: _power,
    math.fmod: no_number,
    math.remainder: no_number,
    math.gamma: poles(-math.inf),
    math.lgamma: poles(-1.7976931348623157e308),
    math.isqrt: not_negative,
    math.factorial: factorial,
    math.gcd: folded,
}
"""The checks of each function that may raise."""
if hasattr(math, "exp2"):
    CHECKS[math.exp2] = overflow


def check_call(ctx: Context, function: Callable[..., Any], values: Sequence[Value], made: Value) -> None:
    """Adds the checks of `function`, whose result for `values` is `made`."""
    check = CHECKS.get(function)
    if check is not None:
        check(ctx, function, values, made)


def check_logarithm(ctx: Context, x: Value, base: Value | None, log_of_base: Value | None) -> None:
    """`math.log(x)` and `math.log(x, base)`."""
    values = [x] if base is None else [x, base]
    low = [compared(ctx, "LE", v, 0.0) for v in values]
    _domain(ctx, math.log, values, either(ctx, *low))
    if log_of_base is not None:
        bad = compared(ctx, "EQ", log_of_base, 0.0)
        ctx.check(bad, ZeroDivisionError("float division by zero"), math.log, _arguments(values))
