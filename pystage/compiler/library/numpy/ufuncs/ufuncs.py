"""The elementwise functions: one declaration per NumPy ufunc and its twin in `jax.numpy`.

`declare` registers both as meanings and returns the declaration, which the operators use too. A twin that
is missing here becomes a `JaxCall`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, get_args

import jax.numpy as jnp
import numpy as np

from .... import ops
from ....hlo.ir import Value
from ....hlo.types import is_complex, is_integer
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Const
from ...context import Context, Raw
from ...jax.traced_calls import jax_call
from ...kernels import arithmetic as a
from ...kernels import float_bits
from ...kernels import transcendental as t
from ...kernels.structures import abstract
from ...operands.libraries import as_ndarray
from ...registry import declared, meaning, signed
from ...rules.jax import is_none
from ...rules.promote import SAME_KIND, Casting, inexact, kinds_of, numeric
from ..indexing.bounded_operands import elementwise
from .elementwise import DTypeMap, ElementwiseFunction, apply_jax, boolean, call_numpy, jax_operands, same

ALL_KINDS = "biufc"
REAL = "biuf"
NUMERIC = "iufc"
INTEGRAL = "biu"
FLOATING = "fc"


def declare(
    ufunc: np.ufunc,
    kernel: Callable[..., Value | tuple[Value, ...]],
    *twins: Any,
    inputs: DTypeMap = same,
    output: DTypeMap = same,
    domain: str = "biufc",
    comparison: bool = False,
    strong: str = "",
) -> ElementwiseFunction:
    """Declares the meaning of `ufunc` and its twins in `jax.numpy`; see `ElementwiseFunction`."""
    function = ElementwiseFunction(ufunc.__name__, ufunc, kernel, inputs, output, domain, comparison, strong)
    meaning(ufunc)(_numpy_meaning(function))
    for twin in dict.fromkeys(map(_ById, twins)):
        if declared(twin.object) is None:
            meaning(twin.object)(_jax_meaning(function, twin.object))
    return function


class _ById:
    """A key for objects that compare by identity."""

    def __init__(self, object: Any) -> None:
        self.object = object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.object is self.object

    def __hash__(self) -> int:
        return id(self.object)


def _with_signature(call: Callable[..., Abstract], operands: int, text: Callable[..., None]) -> None:
    """Gives a meaning the operands `x1, x2, …` before the parameters of `text`."""

    def signature() -> inspect.Signature:
        names = ["x"] if operands == 1 else [f"x{i + 1}" for i in range(operands)]
        only = inspect.Parameter.POSITIONAL_ONLY
        rest = inspect.signature(text).parameters.values()
        parameters = [inspect.Parameter("ctx", only), *[inspect.Parameter(n, only) for n in names], *rest]
        return inspect.Signature(parameters)

    signed(call, signature)


def _numpy_meaning(function: ElementwiseFunction) -> Callable[..., Abstract]:
    def call(
        ctx: Context, args: Sequence[Raw], out: Raw, where: Raw, dtype: Raw, casting: Casting = SAME_KIND
    ) -> Abstract:
        return call_numpy(ctx, function, args, out, where, dtype, casting)

    whole = with_ufunc_options(function.ufunc.nin, call)
    whole.__name__ = function.name
    whole.__doc__ = f"`np.{function.name}`."
    return whole


def with_ufunc_options(operands: int, call: Callable[..., Abstract]) -> Callable[..., Abstract]:
    """`call(ctx, args, out, where, dtype, casting)` as a meaning with the signature of a ufunc."""

    def whole(
        ctx: Context,
        *args: Raw,
        out: Raw = None,
        where: Raw = True,
        casting: Raw = SAME_KIND,
        order: Raw = "K",
        dtype: Raw = None,
        subok: Raw = True,
    ) -> Abstract:
        if len(args) > operands:
            args, out = args[:operands], args[operands]
        rules = get_args(Casting)
        rule = _option(ctx, "casting", casting, rules, ", ".join(map(repr, rules)))
        _option(ctx, "order", order, ("C", "F", "A", "K", None), "'C', 'F', 'A', or 'K'")
        given = tuple([as_ndarray(ctx, arg) for arg in args])
        where = Const(False) if is_none(where) else where  # a mask of None selects nothing
        return call(ctx, given, out, where, dtype, *([] if rule == SAME_KIND else [rule]))

    def options(
        out: Raw = None,
        *,
        where: Raw = True,
        casting: Raw = SAME_KIND,
        order: Raw = "K",
        dtype: Raw = None,
        subok: Raw = True,
    ) -> None: ...

    _with_signature(whole, operands, options)
    return whole


def _option(ctx: Context, name: str, given: Raw, options: tuple[str | None, ...], text: str) -> str:
    """An option of a ufunc that must be known; for other values NumPy raises ValueError with this text."""
    known = ctx.known(given, f"the option {name}") if isinstance(given, Abstract) else given
    if known not in options:
        ctx.raise_(ValueError(f"{name} must be one of {text} (got {known!r})"))
    return str(known)


def _jax_meaning(function: ElementwiseFunction, twin: Any) -> Callable[..., Abstract]:
    """The meaning for types that the declaration does not cover: a call of JAX itself, with its own errors."""

    def call(ctx: Context, *args: Raw) -> Abstract:
        if any(isinstance(a, Bounded) for a in args):
            return elementwise(ctx, f"jnp.{function.name}", twin, lambda *x: call(ctx, *x), *args)
        operands = jax_operands(ctx, function.name, args)
        kinds = [k for o in operands for k in kinds_of(o)]
        if len(kinds) == len(operands) and function.jax_loop(ctx, tuple(kinds)) is None:
            return jax_call(ctx, twin, [abstract(x) for x in args], {})
        return apply_jax(ctx, function, operands)

    def options() -> None: ...

    call.__name__ = function.name
    call.__doc__ = f"`jnp.{function.name}`."
    _with_signature(call, function.ufunc.nin, options)
    return call


# ---------------------------------------------------------------- arithmetic

ADD = declare(np.add, a.op(ops.Add()), jnp.add)
SUBTRACT = declare(np.subtract, a.op(ops.Subtract()), jnp.subtract, domain=NUMERIC)
MULTIPLY = declare(np.multiply, a.op(ops.Multiply()), jnp.multiply)
DIVIDE = declare(np.divide, a.op(ops.Divide()), jnp.divide, jnp.true_divide, inputs=inexact)
FLOOR_DIVIDE = declare(np.floor_divide, a.floor_divide, jnp.floor_divide, inputs=numeric, domain=REAL)
REMAINDER = declare(np.remainder, a.remainder, jnp.remainder, jnp.mod, inputs=numeric, domain=REAL)
declare(np.fmod, a.fmod, jnp.fmod, inputs=numeric, domain=REAL)
declare(np.divmod, a.divmod_, jnp.divmod, inputs=numeric, domain=REAL)
POWER = ElementwiseFunction("power", np.power, a.power, numeric)
POWER_OF_ONE = ElementwiseFunction("power", np.power, a.power_of_one, numeric)
declare(np.float_power, a.power, jnp.float_power, inputs=inexact)
NEGATIVE = declare(np.negative, a.op(ops.Negate()), jnp.negative, domain=NUMERIC)


def _same_value(ctx: Context, form: Form, x: Value) -> Value:
    return x


POSITIVE = declare(np.positive, _same_value, jnp.positive)
ABSOLUTE = declare(np.absolute, a.absolute, jnp.absolute, jnp.abs, output=a.real_dtype)
declare(np.fabs, a.absolute, jnp.fabs, inputs=inexact, domain="f")
declare(np.sign, a.sign, jnp.sign, domain=NUMERIC)


def _square(ctx: Context, form: Form, x: Value) -> Value:
    return ctx.op(ops.Multiply(), x, x)


def _reciprocal(ctx: Context, form: Form, x: Value) -> Value:
    if is_complex(x.type.dtype) and form is not Form.JAX:
        return ctx.op(ops.ComplexReciprocal(), x)
    quotient = a.true_divide(ctx, form, a.like(ctx, x, 1), x)
    if not is_integer(x.type.dtype):
        return quotient
    with np.errstate(all="ignore"):
        at_zero = np.reciprocal(np.zeros((), x.type.dtype))
    return a.select(ctx, a.zero_at(ctx, x), a.like(ctx, x, at_zero), quotient)


SQUARE = declare(np.square, _square, jnp.square, inputs=numeric)
RECIPROCAL = declare(np.reciprocal, _reciprocal, jnp.reciprocal, inputs=inexact)
declare(np.gcd, t.gcd)
declare(np.lcm, t.lcm)

# ---------------------------------------------------------------- powers, logarithms, angles

SQRT = declare(np.sqrt, a.op(ops.Sqrt()), jnp.sqrt, inputs=inexact)
declare(np.cbrt, a.op(ops.Cbrt()), jnp.cbrt, inputs=inexact, domain="f")
declare(np.exp, a.op(ops.Exponential()), jnp.exp, inputs=inexact)
declare(np.exp2, t.exp2, jnp.exp2, inputs=inexact)
declare(np.expm1, a.op(ops.ExponentialMinusOne()), jnp.expm1, inputs=inexact)
declare(np.log, a.op(ops.Log()), jnp.log, inputs=inexact)
declare(np.log1p, a.op(ops.LogPlusOne()), jnp.log1p, inputs=inexact)
declare(np.log2, t.logarithm(2), jnp.log2, inputs=inexact, strong=ALL_KINDS)
declare(np.log10, t.logarithm(10), jnp.log10, inputs=inexact, strong=ALL_KINDS)
declare(np.logaddexp, t.logaddexp(1.0), jnp.logaddexp, inputs=inexact, domain="f")
declare(np.logaddexp2, t.logaddexp(math.log(2)), jnp.logaddexp2, inputs=inexact, domain="f")

declare(np.sin, a.op(ops.Sine()), jnp.sin, inputs=inexact)
declare(np.cos, a.op(ops.Cosine()), jnp.cos, inputs=inexact)
declare(np.tan, a.op(ops.Tan()), jnp.tan, inputs=inexact)
declare(np.arcsin, a.op(ops.Asin()), jnp.arcsin, jnp.asin, inputs=inexact)
declare(np.arccos, a.op(ops.Acos()), jnp.arccos, jnp.acos, inputs=inexact)
declare(np.arctan, a.op(ops.Atan()), jnp.arctan, jnp.atan, inputs=inexact)
declare(np.arctan2, a.op(ops.Atan2()), jnp.arctan2, jnp.atan2, inputs=inexact, domain="f")
declare(np.sinh, a.op(ops.Sinh()), jnp.sinh, inputs=inexact)
declare(np.cosh, a.op(ops.Cosh()), jnp.cosh, inputs=inexact)
declare(np.tanh, a.op(ops.Tanh()), jnp.tanh, inputs=inexact)
declare(np.arcsinh, a.op(ops.Asinh()), jnp.arcsinh, jnp.asinh, inputs=inexact)
declare(np.arccosh, a.op(ops.Acosh()), jnp.arccosh, jnp.acosh, inputs=inexact)
declare(np.arctanh, a.op(ops.Atanh()), jnp.arctanh, jnp.atanh, inputs=inexact)
declare(np.hypot, t.hypot, jnp.hypot, inputs=inexact, domain="f")
declare(np.deg2rad, t.scaled_by(math.pi / 180), jnp.deg2rad, inputs=inexact)
declare(np.radians, t.scaled_by(math.pi / 180), jnp.radians, inputs=inexact)
declare(np.rad2deg, t.scaled_by(180 / math.pi), jnp.rad2deg, inputs=inexact)
declare(np.degrees, t.scaled_by(180 / math.pi), jnp.degrees, inputs=inexact)

# ---------------------------------------------------------------- bits

BITWISE_AND = declare(np.bitwise_and, a.op(ops.And()), jnp.bitwise_and, domain=INTEGRAL)
BITWISE_OR = declare(np.bitwise_or, a.op(ops.Or()), jnp.bitwise_or, domain=INTEGRAL)
BITWISE_XOR = declare(np.bitwise_xor, a.op(ops.Xor()), jnp.bitwise_xor, domain=INTEGRAL)
INVERT = declare(np.invert, a.op(ops.Not()), jnp.invert, jnp.bitwise_not, jnp.bitwise_invert, domain=INTEGRAL)
LEFT_SHIFT = declare(
    np.left_shift,
    a.op(ops.ShiftLeft()),
    jnp.left_shift,
    jnp.bitwise_left_shift,
    inputs=numeric,
    domain="iu",
)
RIGHT_SHIFT = declare(
    np.right_shift,
    a.right_shift,
    jnp.right_shift,
    jnp.bitwise_right_shift,
    inputs=numeric,
    domain="iu",
)


# ---------------------------------------------------------------- comparisons and logic


def _comparison(ufunc: np.ufunc, direction: str, twin: Any) -> ElementwiseFunction:
    return declare(ufunc, a.compare(direction), twin, output=boolean, comparison=True)


EQUAL = _comparison(np.equal, "EQ", jnp.equal)
NOT_EQUAL = _comparison(np.not_equal, "NE", jnp.not_equal)
LESS = _comparison(np.less, "LT", jnp.less)
LESS_EQUAL = _comparison(np.less_equal, "LE", jnp.less_equal)
GREATER = _comparison(np.greater, "GT", jnp.greater)
GREATER_EQUAL = _comparison(np.greater_equal, "GE", jnp.greater_equal)
MAXIMUM = declare(np.maximum, a.maximum, jnp.maximum)
MINIMUM = declare(np.minimum, a.minimum, jnp.minimum)
declare(np.fmax, a.extremum(ops.Maximum()), jnp.fmax)
declare(np.fmin, a.extremum(ops.Minimum()), jnp.fmin)

declare(np.logical_and, t.logical(ops.And()), jnp.logical_and, output=boolean)
declare(np.logical_or, t.logical(ops.Or()), jnp.logical_or, output=boolean)
declare(np.logical_xor, t.logical(ops.Xor()), jnp.logical_xor, output=boolean)
declare(np.logical_not, t.logical(ops.Not()), jnp.logical_not, output=boolean)
declare(np.isfinite, t.isfinite, jnp.isfinite, output=boolean, strong=INTEGRAL)
declare(np.isinf, t.isinf, jnp.isinf, output=boolean, strong=ALL_KINDS)
declare(np.isnan, t.isnan, jnp.isnan, output=boolean)
declare(np.signbit, a.signbit, jnp.signbit, output=boolean, domain=REAL, strong=ALL_KINDS)

# ---------------------------------------------------------------- numbers taken apart

declare(np.copysign, a.copysign, jnp.copysign, inputs=inexact, domain="f")
declare(np.nextafter, a.op(ops.NextAfter()), jnp.nextafter, inputs=inexact, domain="f")
declare(np.ldexp, t.ldexp)
declare(np.heaviside, t.heaviside, jnp.heaviside, inputs=inexact, domain="f")
declare(np.modf, t.modf)
declare(np.frexp, float_bits.frexp)
declare(np.spacing, float_bits.spacing)
declare(np.conjugate, a.conjugate, jnp.conjugate, jnp.conj)
declare(np.floor, a.real_only(a.op(ops.Floor())), jnp.floor, domain=REAL)
declare(np.ceil, a.real_only(a.op(ops.Ceil())), jnp.ceil, domain=REAL)
declare(np.trunc, t.trunc, jnp.trunc, domain=REAL)
declare(np.rint, a.rint, jnp.rint, domain=FLOATING)
if hasattr(np, "bitwise_count"):
    declare(np.bitwise_count, t.bit_count)
