"""The `cmath` module on computed Python numbers.

In: a number (anything that `complex()` takes). Out: a Python complex number, float or bool. On constants the real function
runs at compile time. The exceptions are those of CPython's `cmathmodule.c`: the real function is called after the run, so
that the text is that of the running Python.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import ops
from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import COMPLEX128, FLOAT64
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Tuple
from ...context import Context, Raw
from ...kernels import transcendental as t
from ...kernels.arithmetic import absolute, like, select, signbit, true_divide
from ...kernels.number_checks import both, check_overflow, compared, either, is_zero
from ...kernels.structures import MISSING, call_now, known_object
from ...registry import meaning
from ...rules.promote import value_of
from .scalars import to_python


def number(ctx: Context, x: Raw) -> Value:
    """An argument as a complex128 scalar, as `complex(x)` makes it."""
    return value_of(ctx, ctx.read(to_python(ctx, x, complex)), COMPLEX128, Form.PYTHON)


def _real(ctx: Context, x: Raw) -> Value:
    return value_of(ctx, ctx.read(to_python(ctx, x, float)), FLOAT64, Form.PYTHON)


def _parts(ctx: Context, x: Value) -> tuple[Value, Value]:
    return ctx.op(ops.Real(), x), ctx.op(ops.Imag(), x)


# ---------------------------------------------------------------- domains

Domain = Callable[[Context, Value, Value], Value]
"""The domain error of a function, as a scalar bool by the parts of its argument."""


def _is_infinite(ctx: Context, x: Value) -> Value:
    return t.isinf(ctx, Form.PYTHON, x)


def _is_number(ctx: Context, x: Value) -> Value:
    return ctx.op(ops.Compare("EQ"), x, x)


def _no_angle(ctx: Context, x: Value, y: Value) -> Value:
    """The domain error of cosh and sinh: an infinite angle of a number that is not 0."""
    return both(ctx, _is_infinite(ctx, y), _is_number(ctx, x))


def _no_finite_angle(ctx: Context, x: Value, y: Value) -> Value:
    """The domain error of tanh: an infinite angle of a finite number."""
    return both(ctx, _is_infinite(ctx, y), ctx.op(ops.IsFinite(), x))


def _no_power(ctx: Context, x: Value, y: Value) -> Value:
    """The domain error of exp: an infinite angle of a number that is not 0."""
    return both(ctx, _is_infinite(ctx, y), _is_number(ctx, x), compared(ctx, "GT", x, -math.inf))


def _turned(domain: Domain) -> Domain:
    """The domain of `f(iz)` by that of `f`."""
    return lambda ctx, x, y: domain(ctx, y, x)


def _zero(ctx: Context, x: Value, y: Value) -> Value:
    return both(ctx, is_zero(ctx, x), is_zero(ctx, y))


def _poles(ctx: Context, x: Value, y: Value) -> Value:
    """The domain error of atanh: 1 and -1."""
    ends = [compared(ctx, "EQ", x, one) for one in (1.0, -1.0)]
    return both(ctx, either(ctx, *ends), is_zero(ctx, y))


# ---------------------------------------------------------------- functions

_LIMITED: dict[Callable[..., Any], Domain] = {
    cmath.exp: _no_power,
    cmath.cosh: _no_angle,
    cmath.sinh: _no_angle,
    cmath.tanh: _no_finite_angle,
    cmath.cos: _turned(_no_angle),
    cmath.sin: _turned(_no_angle),
    cmath.tan: _turned(_no_finite_angle),
    cmath.log: _zero,
    cmath.log10: _zero,
    cmath.atanh: _poles,
    cmath.atan: _turned(_poles),
}
"""The functions that raise ValueError, with their domains."""

_OVERFLOWING = frozenset({cmath.exp, cmath.cosh, cmath.sinh, cmath.cos, cmath.sin})
"""The functions that raise OverflowError where a finite number gives an infinite one."""

_EDGES = [complex(x, y) for x, y in itertools.product((math.inf, -math.inf, math.nan, 0.0, -0.0), repeat=2)]


def _called(function: Callable[..., Any], x: complex) -> complex | None:
    try:
        return complex(function(x))
    except (ValueError, OverflowError):
        return None


def _as_cpython(
    ctx: Context, function: Callable[..., Any], ufunc: Callable[..., Any], x: Value, made: Value
) -> Value:
    """`made`, NumPy's result, with CPython's values at zeros, infinities and NaN.

    Annex G leaves signs of zeros open there, and CPython's tables follow older revisions of it.
    """
    for edge in _EDGES:
        wanted = _called(function, edge)
        with np.errstate(all="ignore"):
            found = complex(ufunc(np.complex128(edge)))
        if wanted is not None and repr(wanted) != repr(found):
            matching = [_is_edge(ctx, part, end) for part, end in zip(_parts(ctx, x), (edge.real, edge.imag))]
            made = select(ctx, both(ctx, *matching), ctx.constant(wanted, COMPLEX128), made)
    return made


def _is_edge(ctx: Context, x: Value, end: float) -> Value:
    if math.isnan(end):
        return ctx.op(ops.Not(), _is_number(ctx, x))
    equal = compared(ctx, "EQ", x, end)
    if end:
        return equal
    negative = signbit(ctx, Form.PYTHON, x)
    return both(ctx, equal, negative if math.copysign(1, end) < 0 else ctx.op(ops.Not(), negative))


def _check(ctx: Context, function: Callable[..., Any], x: Value, made: Value) -> None:
    """The exceptions of `function`, whose result for `x` is `made`."""
    arguments = [Array(x, Form.PYTHON)]
    if function in _LIMITED:
        bad = _LIMITED[function](ctx, *_parts(ctx, x))
        ctx.check(bad, ValueError("math domain error"), function, arguments)
    if function in _OVERFLOWING:
        bad = both(ctx, t.isinf(ctx, Form.PYTHON, made), t.isfinite(ctx, Form.PYTHON, x))
        ctx.check(bad, OverflowError("math range error"), function, arguments)


def _computed(
    ctx: Context, function: Callable[..., Any], kind: HloOp, ufunc: Callable[..., Any], x: Value
) -> Value:
    made = _as_cpython(ctx, function, ufunc, x, ctx.op(kind, x))
    _check(ctx, function, x, made)
    return made


def _declare(function: Callable[..., Any], kernel: Callable[[Context, Value], Value]) -> None:
    def call(ctx: Context, x: Raw, /) -> Abstract:
        known = known_object(ctx, x)
        if known is not MISSING:
            return call_now(ctx, function, known)
        return ctx.python(kernel(ctx, number(ctx, x)))

    call.__name__ = function.__name__
    call.__doc__ = f"`cmath.{function.__name__}`."
    meaning(function)(call)


def _declare_operation(function: Callable[..., Any], kind: HloOp, ufunc: Callable[..., Any]) -> None:
    _declare(function, lambda ctx, x: _computed(ctx, function, kind, ufunc, x))


for _function, _kind, _ufunc in (
    (cmath.sqrt, ops.Sqrt(), np.sqrt),
    (cmath.exp, ops.Exponential(), np.exp),
    (cmath.sin, ops.Sine(), np.sin),
    (cmath.cos, ops.Cosine(), np.cos),
    (cmath.tan, ops.Tan(), np.tan),
    (cmath.sinh, ops.Sinh(), np.sinh),
    (cmath.cosh, ops.Cosh(), np.cosh),
    (cmath.tanh, ops.Tanh(), np.tanh),
    (cmath.asin, ops.Asin(), np.arcsin),
    (cmath.acos, ops.Acos(), np.arccos),
    (cmath.atan, ops.Atan(), np.arctan),
    (cmath.asinh, ops.Asinh(), np.arcsinh),
    (cmath.acosh, ops.Acosh(), np.arccosh),
    (cmath.atanh, ops.Atanh(), np.arctanh),
):
    _declare_operation(_function, _kind, _ufunc)


def _log10(ctx: Context, x: Value) -> Value:
    made = t.logarithm(10)(ctx, Form.PYTHON, x)
    _check(ctx, cmath.log10, x, made)
    return made


def _angle(ctx: Context, x: Value) -> Value:
    real, imaginary = _parts(ctx, x)
    return ctx.op(ops.Atan2(), imaginary, real)


_declare(cmath.log10, _log10)
_declare(cmath.phase, _angle)
_declare(cmath.isnan, lambda ctx, x: t.isnan(ctx, Form.PYTHON, x))
_declare(cmath.isinf, lambda ctx, x: t.isinf(ctx, Form.PYTHON, x))
_declare(cmath.isfinite, lambda ctx, x: t.isfinite(ctx, Form.PYTHON, x))


@meaning(cmath.log)
def log(ctx: Context, z: Raw, base: Raw = None, /) -> Abstract:
    """`cmath.log(z, base)`: of a base the quotient of two logarithms."""
    known = [known_object(ctx, v) for v in (z, base)]
    if MISSING not in known:
        return call_now(ctx, cmath.log, *(known if base is not None else known[:1]))
    x = number(ctx, z)
    value = ctx.op(ops.Log(), x)
    if base is None:
        _check(ctx, cmath.log, x, value)
        return ctx.python(value)
    other = number(ctx, base)
    divisor = ctx.op(ops.Log(), other)
    bad = either(ctx, is_zero(ctx, other), is_zero(ctx, divisor))
    arguments = [Array(v, Form.PYTHON) for v in (x, other)]
    ctx.check(bad, ValueError("math domain error"), cmath.log, arguments)
    return ctx.python(true_divide(ctx, Form.PYTHON, value, divisor))


@meaning(cmath.polar)
def polar(ctx: Context, z: Raw, /) -> Abstract:
    """`cmath.polar(z)`: the absolute value and the angle."""
    known = known_object(ctx, z)
    if known is not MISSING:
        return call_now(ctx, cmath.polar, known)
    x = number(ctx, z)
    size = absolute(ctx, Form.PYTHON, x)
    check_overflow(ctx, cmath.polar, [Array(x, Form.PYTHON)], list(_parts(ctx, x)), size)
    return Tuple((ctx.python(size), ctx.python(_angle(ctx, x))))


@meaning(cmath.rect)
def rect(ctx: Context, r: Raw, phi: Raw, /) -> Abstract:
    """`cmath.rect(r, phi)`: `r (cos phi + i sin phi)`; angles that are not finite do not count at 0."""
    known = [known_object(ctx, v) for v in (r, phi)]
    if MISSING not in known:
        return call_now(ctx, cmath.rect, *known)
    size, angle = _real(ctx, r), _real(ctx, phi)
    none, zero = compared(ctx, "EQ", size, 0.0), like(ctx, size, 0.0)
    bad = both(ctx, _is_infinite(ctx, angle), _is_number(ctx, size), ctx.op(ops.Not(), none))
    arguments = [Array(v, Form.PYTHON) for v in (size, angle)]
    ctx.check(bad, ValueError("math domain error"), cmath.rect, arguments)
    no_angle = ctx.op(ops.Not(), ctx.op(ops.IsFinite(), angle))
    endless = ctx.op(ops.And(), no_angle, _is_infinite(ctx, size))
    real = ctx.op(ops.Multiply(), size, ctx.op(ops.Cosine(), angle))
    real = select(ctx, endless, like(ctx, size, math.inf), real)
    imaginary = ctx.op(ops.Multiply(), size, ctx.op(ops.Sine(), angle))
    turned = select(ctx, signbit(ctx, Form.PYTHON, size), ctx.op(ops.Negate(), angle), angle)
    turned = select(ctx, _is_number(ctx, size), turned, zero)
    imaginary = select(ctx, compared(ctx, "EQ", angle, 0.0), turned, imaginary)
    nothing = ctx.op(ops.And(), no_angle, none)
    parts = [select(ctx, nothing, zero, part) for part in (real, imaginary)]
    return ctx.python(ctx.op(ops.Complex(), *parts))


@meaning(cmath.isclose)
def isclose(ctx: Context, a: Raw, b: Raw, *, rel_tol: Raw = 1e-09, abs_tol: Raw = 0.0) -> Abstract:
    """`cmath.isclose(a, b)`: equal, or finite and as near as the tolerances, which must be known, allow."""
    relative, near = (float(ctx.known(v, "a tolerance of cmath.isclose")) for v in (rel_tol, abs_tol))
    known = [known_object(ctx, v) for v in (a, b)]
    if MISSING not in known or relative < 0 or near < 0:
        numbers = (0, 0) if MISSING in known else known
        return call_now(ctx, lambda p, q: cmath.isclose(p, q, rel_tol=relative, abs_tol=near), *numbers)
    p, q = number(ctx, a), number(ctx, b)
    first, second, distance = [absolute(ctx, Form.PYTHON, v) for v in (p, q, ctx.op(ops.Subtract(), p, q))]
    limits = [ctx.op(ops.Multiply(), size, like(ctx, size, relative)) for size in (first, second)]
    limits.append(like(ctx, distance, near))
    inside = either(ctx, *[ctx.op(ops.Compare("LE"), distance, limit) for limit in limits])
    finite = [ctx.op(ops.Not(), t.isinf(ctx, Form.PYTHON, v)) for v in (p, q)]
    return ctx.python(either(ctx, ctx.op(ops.Compare("EQ"), p, q), both(ctx, *finite, inside)))
