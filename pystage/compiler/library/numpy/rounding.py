"""Rounding, closeness and equality of arrays, and the parts of complex numbers.

In: arrays and tolerances. Out: arrays; `np.allclose` returns a Python boolean as in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...hlo.ir import Value
from ...hlo.types import BOOL, FLOAT16, FLOAT64, DType, is_complex, is_floating, is_integer
from ...ops import Abs, Add, And, Compare, Complex, Imag, Multiply, Or, Real, Reduce, Subtract
from ...values.boundary import Form
from ...values.lattice import Abstract, Const, NumberKind, Ref
from ..context import Context, Raw
from ..kernels import arithmetic as a
from ..kernels import transcendental as t
from ..kernels.python_implementations import composed
from ..kernels.structures import abstract, call_now
from ..operands.nested_sequences import is_sequence
from ..python.numbers.scalars import round_value
from ..registry import meaning
from ..rules.jax import is_jax, is_none
from ..rules.promote import (
    LoopTypes,
    broadcast_shape,
    inexact,
    jax_common,
    kinds_of,
    no_such,
    resolve,
    shape_of,
    value_of,
)
from .array_attributes import part_of
from .indexing.stores import dtype_of
from .indexing.stores import shape_of as target_shape
from .selection import common_loop
from .ufuncs.elementwise import jax_operands, result_into

# ---------------------------------------------------------------- rounding


def _rounded(ctx: Context, x: Value, decimals: int, into: DType | None = None) -> Value:
    if is_complex(x.type.dtype):
        parts = [round_value(ctx, ctx.op(part, x), decimals, into) for part in (Real(), Imag())]
        return ctx.op(Complex(), *parts)
    return round_value(ctx, x, decimals, into)


@meaning(np.round, np.around)
def np_round(ctx: Context, a: Raw, decimals: Raw = 0, out: Raw = None) -> Abstract:
    """`np.round(a, decimals)`: halves to even, decimals by scaling."""
    digits = int(ctx.known(decimals, "the decimals of np.round"))
    operand = ctx.read(a)
    if is_jax(operand):
        if not is_none(out):
            ctx.raise_(NotImplementedError("The 'out' argument to jnp.round is not supported."))
        return jnp_round(ctx, a, digits)
    loop = common_loop(ctx, "np.round", [operand], False)
    if digits and loop.outputs[0] == BOOL:
        return call_now(
            ctx, np.round, np.zeros(1, bool), digits
        )  # NumPy multiplies, and has no bool for that
    value = value_of(ctx, operand, FLOAT16 if loop.outputs[0] == BOOL else loop.outputs[0])
    if ctx.is_ndarray(out) and target_shape(ctx, out) != value.type.shape:
        ctx.raise_(ValueError("invalid output shape"))
    into = None
    if (
        not is_complex(value.type.dtype)
        and ctx.is_ndarray(out)
        and np.can_cast(value.type.dtype, dtype_of(ctx, out), "same_kind")
    ):
        into = np.zeros(0, dtype_of(ctx, out)).real.dtype
    return result_into(ctx, out, _rounded(ctx, value, digits, into), "np.round", owner=a)


@meaning(jnp.round, jnp.around)
def jnp_round(ctx: Context, a: Raw, decimals: Raw = 0) -> Abstract:
    """`jnp.round(a, decimals)`."""
    digits = int(ctx.known(decimals, "the decimals of jnp.round"))
    (operand,) = jax_operands(ctx, "round", (a,))
    loop = common_loop(ctx, "jnp.round", [operand], True)
    dtype = loop.outputs[0]
    if dtype == BOOL or (is_integer(dtype) and digits < 0):
        ctx.fail(no_such(ctx, "jnp.round", [operand]))
    return ctx.jax(_rounded(ctx, value_of(ctx, operand, dtype, Form.JAX), digits), loop.weak)


# ---------------------------------------------------------------- nearness


@composed(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    """Which elements are within `atol + rtol * abs(b)` of each other; anything but a Python number counts as an array."""
    x, y, absolute, relative = _operand(a), _operand(b), _operand(atol), _operand(rtol)
    y = float(y) if isinstance(y, int) else y
    if not isinstance(y, float | complex):
        y = y.astype(np.result_type(y, 1.0))
    close = np.less_equal(abs(x - y), absolute + relative * abs(y)) & np.isfinite(y) | (x == y)
    if equal_nan:
        close = close | (np.isnan(x) & np.isnan(y))
    return np.asarray(close)[()]


def _operand(given: Any) -> Any:
    return given if isinstance(given, int | float | complex) else np.asarray(given)


@composed(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    """Whether all elements are close to each other."""
    return bool(np.all(np.isclose(a, b, rtol, atol, equal_nan)))


def _near(
    ctx: Context, name: str, first: Raw, second: Raw, tolerances: tuple[Raw, Raw], equal_nan: Raw
) -> Value:
    """The computation of `jnp.isclose`."""
    operands = jax_operands(ctx, name, (first, second))

    def rule(kinds: tuple[NumberKind, ...]) -> LoopTypes:
        dtype = inexact(jax_common(ctx, kinds)[0])
        return LoopTypes((dtype,) * len(kinds), (BOOL,), Form.JAX)

    loop = resolve(ctx, name, operands, rule)
    shape = broadcast_shape(ctx, name, *map(shape_of, operands))
    x, y = [
        ctx.broadcast(value_of(ctx, o, d, loop.form), shape)
        for o, d in zip(operands, loop.inputs, strict=True)
    ]
    part = a.real_dtype(x.type.dtype)
    relative, absolute = [
        ctx.broadcast(value_of(ctx, v, part, loop.form), shape) for v in jax_operands(ctx, name, tolerances)
    ]
    limit = ctx.op(Add(), absolute, ctx.op(Multiply(), relative, ctx.op(Abs(), y)))
    close = ctx.op(Compare("LE"), ctx.op(Abs(), ctx.op(Subtract(), x, y)), limit)
    close = ctx.op(And(), close, t.isfinite(ctx, loop.form, y))
    close = ctx.op(Or(), close, ctx.op(Compare("EQ"), x, y))
    if ctx.known(equal_nan, f"equal_nan of {name}"):
        close = ctx.op(Or(), close, ctx.op(And(), a.is_nan(ctx, x), a.is_nan(ctx, y)))
    return close


def all_of(ctx: Context, flags: Value) -> Value:
    """Whether all booleans are true, as a scalar."""
    axes = tuple(range(flags.type.rank))
    return ctx.op(Reduce(And(), axes), flags, ctx.constant(True, BOOL)) if axes else flags


@meaning(jnp.isclose)
def jax_isclose(
    ctx: Context, a: Raw, b: Raw, rtol: Raw = 1e-05, atol: Raw = 1e-08, equal_nan: Raw = False
) -> Abstract:
    """`jnp.isclose`."""
    return ctx.jax(_near(ctx, "isclose", a, b, (rtol, atol), equal_nan))


@meaning(jnp.allclose)
def jax_allclose(
    ctx: Context, a: Raw, b: Raw, rtol: Raw = 1e-05, atol: Raw = 1e-08, equal_nan: Raw = False
) -> Abstract:
    """`jnp.allclose`."""
    return ctx.jax(all_of(ctx, _near(ctx, "allclose", a, b, (rtol, atol), equal_nan)))


@meaning(jnp.array_equal)
def jax_array_equal(ctx: Context, a1: Raw, a2: Raw, equal_nan: Raw = False) -> Abstract:
    """`jnp.array_equal`."""
    operands = [ctx.read(a1), ctx.read(a2)]
    if shape_of(operands[0]) != shape_of(operands[1]):
        return ctx.jax(ctx.constant(False, BOOL))
    loop = common_loop(ctx, "array_equal", operands, True)
    x, y = [value_of(ctx, o, loop.outputs[0], loop.form) for o in operands]
    same = ctx.op(Compare("EQ"), x, y)
    if ctx.known(equal_nan, "equal_nan of array_equal"):
        same = ctx.op(Or(), same, ctx.op(And(), a.is_nan(ctx, x), a.is_nan(ctx, y)))
    return ctx.jax(all_of(ctx, same))


# ---------------------------------------------------------------- parts of complex numbers


def _part(imaginary: bool) -> Callable[..., Abstract]:
    """`np.real`, `np.imag`: the attribute of what has it."""

    def part(ctx: Context, val: Raw) -> Abstract:
        if is_sequence(ctx, val):
            val = ctx.call(Const(np.asarray), [abstract(val)])
        if isinstance(val, Ref) and ctx.is_ndarray(val):
            return part_of(ctx, val, dtype_of(ctx, val), imaginary)
        return ctx.getattr(abstract(val), "imag" if imaginary else "real")

    return part


meaning(np.real)(_part(False))
meaning(np.imag)(_part(True))


def _jax_part(kernel: a.Kernel) -> Callable[..., Abstract]:
    def part(ctx: Context, val: Raw, /) -> Abstract:
        (operand,) = jax_operands(ctx, "real", (val,))
        loop = common_loop(ctx, "real", [operand], True)
        return ctx.jax(kernel(ctx, Form.JAX, value_of(ctx, operand, loop.outputs[0], Form.JAX)), loop.weak)

    return part


meaning(jnp.real)(_jax_part(a.real))
meaning(jnp.imag)(_jax_part(a.imag))


def _as_float(dtype: DType) -> DType:
    return dtype if is_floating(dtype) or is_complex(dtype) else FLOAT64


def _infinite(sign: float, jax: bool) -> Callable[..., Abstract]:
    def test(ctx: Context, x: Raw, out: Raw = None) -> Abstract:
        (operand,) = jax_operands(ctx, "isposinf or isneginf", (x,)) if jax else (ctx.read(x),)
        if jax and not is_none(out):
            ctx.raise_(NotImplementedError("The 'out' argument to isneginf/isposinf is not supported."))
        dtype = kinds_of(operand)[0].dtype
        if is_complex(dtype):
            ctx.fail(no_such(ctx, "isposinf or isneginf", [operand]))
        value = value_of(ctx, operand, _as_float(dtype))
        found = ctx.op(Compare("EQ"), value, a.like(ctx, value, sign))
        return ctx.jax(found) if jax else result_into(ctx, out, found, "np.isposinf or np.isneginf")

    return test


for _jax, _library in ((False, np), (True, jnp)):
    meaning(_library.isposinf)(_infinite(math.inf, _jax))
    meaning(_library.isneginf)(_infinite(-math.inf, _jax))
