"""The `math` module on computed Python floats and integers.

In: a number (anything that `float()` takes). Out: a Python float, int or bool. On constants the real function runs at
compile time, with its exceptions; `math_checks.py` handles exceptions at run time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import ops
from ...analysis.ranges import ANY
from ...hlo.ir import Value
from ...hlo.op import HloOp
from ...hlo.types import BOOL, FLOAT64, INT64
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, ListCell, Tuple
from ..context import Context, Raw
from ..kernels import arithmetic as a
from ..kernels import transcendental as t
from ..kernels.arithmetic import Kernel, like, select
from ..kernels.number_checks import check_integral, check_overflow, check_product
from ..kernels.python_implementations import meaning_by, run_program
from ..kernels.structures import MISSING, call_now, cell_of, known_object
from ..registry import meaning
from ..rules.classes import class_name, class_of
from ..rules.promote import value_of
from .builtins import listed
from .numbers.exact_sums import exact_sum
from .numbers.math_checks import check_call, check_logarithm
from .numbers.scalars import integral, special, to_python
from .operators import binary


def number(ctx: Context, x: Raw) -> Value:
    """An argument as a float64 scalar, as `float(x)` makes it."""
    method = special(ctx, x, "__float__")
    made = ctx.call(method, []) if method is not None else to_python(ctx, x, float)
    return value_of(ctx, ctx.read(made), FLOAT64, Form.PYTHON)


def integer(ctx: Context, x: Raw) -> Value:
    """An argument as an int64 scalar; it must be an integer."""
    operand = ctx.read(x)
    if isinstance(operand, Array) and operand.dtype.kind not in "biu":
        ctx.raise_(TypeError(f"{class_name(ctx, operand)!r} object cannot be interpreted as an integer"))
    return value_of(ctx, operand, INT64, Form.PYTHON)


def _declare(
    function: Callable[..., Any], kernel: Kernel, read: Callable[[Context, Raw], Value] = number
) -> None:
    """`function` means `kernel` on its arguments as scalars; a boolean kernel gives a bool."""

    def call(ctx: Context, *args: Raw) -> Abstract:
        known = [known_object(ctx, x) for x in args]
        if not any(k is MISSING for k in known):
            return call_now(ctx, function, *known)
        values = [read(ctx, x) for x in args]
        made = kernel(ctx, Form.PYTHON, *values)
        check_call(ctx, function, values, made)
        return ctx.python(made)

    call.__name__ = function.__name__
    call.__doc__ = f"`math.{function.__name__}`."
    meaning(function)(call)


def _op(kind: HloOp) -> Kernel:
    return a.op(kind)


# ---------------------------------------------------------------- real functions

_OPERATIONS: dict[Callable[..., Any], HloOp] = {
    math.sqrt: ops.Sqrt(),
    math.exp: ops.Exponential(),
    math.expm1: ops.ExponentialMinusOne(),
    math.log1p: ops.LogPlusOne(),
    math.sin: ops.Sine(),
    math.cos: ops.Cosine(),
    math.tan: ops.Tan(),
    math.asin: ops.Asin(),
    math.acos: ops.Acos(),
    math.atan: ops.Atan(),
    math.atan2: ops.Atan2(),
    math.sinh: ops.Sinh(),
    math.cosh: ops.Cosh(),
    math.tanh: ops.Tanh(),
    math.asinh: ops.Asinh(),
    math.acosh: ops.Acosh(),
    math.atanh: ops.Atanh(),
    math.erf: ops.Erf(),
    math.erfc: ops.Erfc(),
    math.lgamma: ops.Lgamma(),
    math.pow: ops.Power(),
    math.fmod: ops.Remainder(),
    math.fabs: ops.Abs(),
}
for _function, _operation in _OPERATIONS.items():
    _declare(_function, _op(_operation))

_declare(math.log2, t.logarithm(2))
_declare(math.log10, t.logarithm(10))
_declare(math.degrees, t.scaled_by(180 / math.pi))
_declare(math.radians, t.scaled_by(math.pi / 180))
_declare(math.copysign, a.copysign)
_declare(math.isnan, t.isnan)
_declare(math.isinf, t.isinf)
_declare(math.isfinite, t.isfinite)


def _gamma(ctx: Context, form: Form, x: Value) -> Value:
    """`exp(lgamma(x))` with the sign of the gamma function; whole numbers give whole numbers."""
    size = ctx.op(ops.Exponential(), ctx.op(ops.Lgamma(), x))
    floor = ctx.op(ops.Floor(), x)
    odd = ctx.op(ops.Compare("NE"), ctx.op(ops.Remainder(), floor, like(ctx, x, 2)), like(ctx, x, 0))
    below = ctx.op(ops.Compare("LT"), x, like(ctx, x, 0))
    signed = select(ctx, ctx.op(ops.And(), below, odd), ctx.op(ops.Subtract(), like(ctx, x, 0), size), size)
    whole = ctx.op(
        ops.And(), ctx.op(ops.Compare("EQ"), floor, x), ctx.op(ops.Compare("LT"), x, like(ctx, x, 19))
    )
    return select(ctx, whole, ctx.op(ops.RoundNearestEven(), signed), signed)


def _ieee_remainder(ctx: Context, form: Form, x: Value, y: Value) -> Value:
    """`x - n * y` with `n` the nearest integer to `x / y`, exactly: by remainders of magnitudes, which are exact."""
    size, divisor = ctx.op(ops.Abs(), x), ctx.op(ops.Abs(), y)
    rest = ctx.op(ops.Remainder(), size, divisor)
    beyond = ctx.op(ops.Subtract(), divisor, rest)
    half = ctx.op(ops.Multiply(), ctx.op(ops.Subtract(), size, rest), ctx.constant(0.5, FLOAT64))
    twice = ctx.op(ops.Multiply(), ctx.op(ops.Remainder(), half, divisor), ctx.constant(2.0, FLOAT64))
    found = select(
        ctx,
        ctx.op(ops.Compare("LT"), rest, beyond),
        rest,
        select(
            ctx,
            ctx.op(ops.Compare("GT"), rest, beyond),
            ctx.op(ops.Negate(), beyond),
            ctx.op(ops.Subtract(), rest, twice),
        ),
    )
    return select(ctx, a.signbit(ctx, form, x), ctx.op(ops.Negate(), found), found)


_declare(math.gamma, _gamma)
_declare(math.remainder, _ieee_remainder)
for _name, _kernel in (("cbrt", _op(ops.Cbrt())), ("exp2", t.exp2), ("nextafter", _op(ops.NextAfter()))):
    if hasattr(math, _name):
        _declare(getattr(math, _name), _kernel)


@meaning(math.log)
def log(ctx: Context, x: Raw, base: Raw = None, /) -> Abstract:
    """`math.log(x, base)`."""
    known = [known_object(ctx, v) for v in (x, base)]
    if MISSING not in known:
        return call_now(ctx, math.log, *(known if base is not None else known[:1]))
    argument = number(ctx, x)
    value = ctx.op(ops.Log(), argument)
    if base is None:
        check_logarithm(ctx, argument, None, None)
        return ctx.python(value)
    other = number(ctx, base)
    divisor = ctx.op(ops.Log(), other)
    check_logarithm(ctx, argument, other, divisor)
    return ctx.python(ctx.op(ops.Divide(), value, divisor))


@meaning(math.hypot)
def hypot(ctx: Context, *coordinates: Raw) -> Abstract:
    """`math.hypot(*coordinates)`."""
    known = [known_object(ctx, c) for c in coordinates]
    if not any(k is MISSING for k in known):
        return call_now(ctx, math.hypot, *known)
    values = [number(ctx, c) for c in coordinates]
    length = ctx.op(ops.Abs(), values[0])
    for value in values[1:]:
        length = t.hypot(ctx, Form.PYTHON, length, value)
    return ctx.python(length)


@meaning(math.dist)
def dist(ctx: Context, p: Raw, q: Raw, /) -> Abstract:
    """`math.dist(p, q)`."""
    first, second = listed(ctx, p, "math.dist"), listed(ctx, q, "math.dist")
    if len(first) != len(second):
        ctx.raise_(ValueError("both points must have the same number of dimensions"))
    return hypot(ctx, *[binary(ctx, "-", x, y) for x, y in zip(first, second, strict=True)])


# ---------------------------------------------------------------- to integers


def _rounding(function: Callable[..., Any], name: str, kernel: Kernel) -> None:
    """`math.floor` and its like: an int."""

    def call(ctx: Context, x: Raw, /) -> Abstract:
        method = special(ctx, x, name)
        if method is not None:
            return ctx.call(method, [])
        known = known_object(ctx, x)
        if known is not MISSING:
            return call_now(ctx, function, known)
        _check_truncates(ctx, x, function)
        operand = ctx.read(x)
        if isinstance(operand, Array) and operand.dtype.kind in "biu":
            return to_python(ctx, x, int)
        rounded = kernel(ctx, Form.PYTHON, number(ctx, x))
        assert isinstance(operand, Array)
        check_integral(ctx, function, operand, rounded, f"math.{function.__name__}({{}})")
        return ctx.python(integral(ctx, rounded))

    call.__name__ = function.__name__
    call.__doc__ = f"`math.{function.__name__}`: an int."
    meaning(function)(call)


def _check_truncates(ctx: Context, x: Raw, function: Callable[..., Any]) -> None:
    """Checks that the class has a `__trunc__`, which most NumPy scalars lack, for `math.trunc`."""
    for cls in class_of(ctx, x):
        if function is math.trunc and not hasattr(cls, "__trunc__"):
            ctx.raise_(TypeError(f"type {cls.__name__} doesn't define __trunc__ method"))


_rounding(math.floor, "__floor__", _op(ops.Floor()))
_rounding(math.ceil, "__ceil__", _op(ops.Ceil()))
_rounding(math.trunc, "__trunc__", t.trunc)


def _isqrt(ctx: Context, form: Form, n: Value) -> Value:
    """The integer part of the square root: rounded, then corrected by one."""
    root = ctx.convert(ctx.op(ops.Floor(), ctx.op(ops.Sqrt(), ctx.convert(n, FLOAT64))), INT64)
    one = like(ctx, n, 1)
    too_great = ctx.op(ops.Compare("GT"), root, ctx.op(ops.Divide(), n, ctx.op(ops.Maximum(), root, one)))
    root = select(ctx, too_great, ctx.op(ops.Subtract(), root, one), root)
    above = ctx.op(ops.Add(), root, one)
    return select(ctx, ctx.op(ops.Compare("LE"), above, ctx.op(ops.Divide(), n, above)), above, root)


def _folded(kernel: Kernel, empty: int) -> Kernel:
    """A kernel of two integers applied to any number of them."""

    def kernel_of_all(ctx: Context, form: Form, *values: Value) -> Value:
        result = ctx.constant(empty, INT64)
        for value in values:
            result = kernel(ctx, form, result, value)
        return result

    return kernel_of_all


_declare(math.isqrt, _isqrt, integer)
_declare(math.gcd, _folded(t.gcd, 0), integer)


def _lcm(ctx: Context, x: Value, y: Value) -> Value:
    """The least common multiple of two integers; PS810 where 64 bits do not hold it."""
    divisor = t.gcd(ctx, Form.PYTHON, x, y)
    divisor = select(ctx, a.zero_at(ctx, divisor), like(ctx, divisor, 1), divisor)
    operands = [Array(v, Form.PYTHON) for v in (ctx.op(ops.Divide(), x, divisor), y)]
    made = ctx.op(ops.Multiply(), *[o.value for o in operands])
    check_product(ctx, "*", (operands[0], operands[1]), ANY, made, None)
    return ctx.op(ops.Abs(), made)


@meaning(math.lcm)
def lcm(ctx: Context, *integers: Raw) -> Abstract:
    """`math.lcm(*integers)`."""
    known = [known_object(ctx, x) for x in integers]
    if not any(k is MISSING for k in known):
        return call_now(ctx, math.lcm, *known)
    result = ctx.constant(1, INT64)
    for each in integers:
        result = _lcm(ctx, result, integer(ctx, each))
    return ctx.python(result, (0, math.inf))


@meaning(math.factorial)
def factorial(ctx: Context, n: Raw, /) -> Abstract:
    """`math.factorial(n)`: from a table of the 21 factorials that 64 bits hold."""
    known = known_object(ctx, n)
    if known is not MISSING:
        return call_now(ctx, math.factorial, known)
    value = integer(ctx, n)
    result = ctx.constant(1, INT64)
    for i in range(2, 21):
        here = ctx.op(ops.Compare("GE"), value, like(ctx, value, i))
        result = select(ctx, here, ctx.constant(math.factorial(i), INT64), result)
    check_call(ctx, math.factorial, [value], result)
    return ctx.python(result, (1, math.inf))


@meaning(math.comb)
def comb(ctx: Context, n: Raw, k: Raw, /) -> Abstract:
    """`math.comb`, of known integers."""
    return call_now(ctx, math.comb, *[ctx.known(v, "the arguments of math.comb") for v in (n, k)])


@meaning(math.perm)
def perm(ctx: Context, n: Raw, k: Raw = None, /) -> Abstract:
    """`math.perm`, of known integers."""
    return call_now(ctx, math.perm, *[ctx.known(v, "the arguments of math.perm") for v in (n, k)])


# ---------------------------------------------------------------- of sequences


@meaning(math.prod)
@meaning_by
def prod(iterable: Any, /, *, start: Any = 1) -> Any:
    """`math.prod(iterable)`: one product after the other."""
    for item in iterable:
        start = start * item
    return start


@meaning(math.fsum)
def fsum(ctx: Context, iterable: Raw, /) -> Abstract:
    """`math.fsum(iterable)`: rounded once."""
    held = iterable if isinstance(iterable, Tuple) else cell_of(ctx, iterable)
    known = (
        [known_object(ctx, item) for item in held.items] if isinstance(held, Tuple | ListCell) else [MISSING]
    )
    if any(each is MISSING for each in known):
        return run_program(ctx, exact_sum, [iterable])
    return call_now(ctx, math.fsum, known)


# ---------------------------------------------------------------- numbers taken apart


@meaning(math.modf)
def modf(ctx: Context, x: Raw, /) -> Abstract:
    """`math.modf(x)`: the fractional and the integral part, as floats."""
    known = known_object(ctx, x)
    if known is not MISSING:
        return call_now(ctx, math.modf, known)
    return Tuple(tuple([ctx.python(v) for v in t.modf(ctx, Form.PYTHON, number(ctx, x))]))


@meaning(math.ldexp)
def ldexp(ctx: Context, x: Raw, i: Raw, /) -> Abstract:
    """`math.ldexp(x, i)`."""
    known = [known_object(ctx, v) for v in (x, i)]
    if MISSING not in known:
        return call_now(ctx, math.ldexp, *known)
    given = number(ctx, x), integer(ctx, i)
    made = t.ldexp(ctx, Form.PYTHON, *given)
    check_overflow(ctx, math.ldexp, [Array(v, Form.PYTHON) for v in given], [given[0]], made)
    return ctx.python(made)


@meaning(math.isclose)
def isclose(ctx: Context, a: Raw, b: Raw, /, *, rel_tol: Raw = 1e-09, abs_tol: Raw = 0.0) -> Abstract:
    """`math.isclose(a, b)`."""
    known = [known_object(ctx, v) for v in (a, b, rel_tol, abs_tol)]
    if not any(k is MISSING for k in known):
        return call_now(ctx, lambda p, q, r, s: math.isclose(p, q, rel_tol=r, abs_tol=s), *known)
    x, y, relative, absolute = [number(ctx, v) for v in (a, b, rel_tol, abs_tol)]
    distance = ctx.op(ops.Abs(), ctx.op(ops.Subtract(), x, y))
    greater = ctx.op(ops.Maximum(), ctx.op(ops.Abs(), x), ctx.op(ops.Abs(), y))
    limit = ctx.op(ops.Maximum(), ctx.op(ops.Multiply(), relative, greater), absolute)
    infinite = ctx.op(ops.Compare("EQ"), greater, like(ctx, greater, math.inf))
    near = select(ctx, infinite, ctx.constant(False, BOOL), ctx.op(ops.Compare("LE"), distance, limit))
    return ctx.python(ctx.op(ops.Or(), ctx.op(ops.Compare("EQ"), x, y), near))
