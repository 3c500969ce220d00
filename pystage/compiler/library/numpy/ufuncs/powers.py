"""Powers whose rules are not promotion followed by a kernel.

In: base and exponent. Out: the power, or None where the general rule applies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from ....hlo.ir import Value
from ....hlo.types import BOOL, INT64, DType, is_complex, is_floating, is_integer
from ....ops import And, Compare
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Array, Const
from ...context import Context, Raw
from ...kernels import arithmetic as a
from ...registry import meaning
from ...rules.bounds import check_fits
from ...rules.jax import canonical
from ...rules.promote import (
    SAME_KIND,
    Casting,
    LoopTypes,
    Operand,
    broadcast_shape,
    fits,
    kinds_of,
    numeric,
    shape_of,
    value_of,
)
from ..indexing.bounded_operands import elementwise
from . import ufuncs as u
from .elementwise import (
    ElementwiseFunction,
    apply_jax,
    apply_loop,
    apply_numpy,
    call_numpy,
    jax_operands,
    without_options,
)


def check_power(ctx: Context, operands: Sequence[Operand]) -> None:
    """NumPy's error for integers to a known negative integer power."""
    left, right = operands
    dtype = kinds_of(left)[0].dtype
    if isinstance(right, Array):
        check_fits(ctx, right, dtype)
        shape = broadcast_shape(ctx, "power", shape_of(left), shape_of(right))
        check_exponents(ctx, dtype, right.value, shape)
    if not isinstance(right, Const) or isinstance(right.value, float | complex | np.inexact):
        return
    if type(right.value) is int and is_integer(dtype) and not fits(right.value, dtype):
        return  # the conversion raises
    if int(right.value) < 0 and (is_integer(dtype) or dtype == BOOL):
        if ctx.members is None:
            ctx.raise_(ValueError("Integers to negative integer powers are not allowed."))
        check_exponents(ctx, dtype, ctx.constant(int(right.value), INT64), shape_of(left))


def check_exponents(ctx: Context, base: DType, exponents: Value, shape: tuple[int, ...]) -> None:
    """NumPy's error for integers to a negative integer power that the program computes; `shape`: that of the powers."""
    if not (is_integer(base) or base == BOOL) or exponents.type.dtype.kind != "i" or not exponents.type.size:
        return
    negative = ctx.op(Compare("LT"), exponents, a.like(ctx, exponents, 0))
    members = None if ctx.members is None else ctx.members(shape)
    if members is not None:
        negative = ctx.op(And(), ctx.broadcast(negative, shape), members)
    text = "Integers to negative integer powers are not allowed."
    ctx.check(a.any_of(ctx, negative), ValueError(text), np.power, [np.int64(2), np.int64(-1)])


def special_power(ctx: Context, operands: Sequence[Operand]) -> Abstract | None:
    """The result of `**` on arrays for the exponents that NumPy computes without `power`."""
    left, right = operands
    if any(k.form is Form.JAX for o in operands for k in kinds_of(o)):
        return jax_power(ctx, left, right)
    if all(k.form is Form.PYTHON for o in operands for k in kinds_of(o)):
        return None
    check_power(ctx, operands)
    function = function_of_exponent(operands)
    if function is not None:
        return apply_numpy(ctx, function, [left])
    if all(k.form is not Form.NDARRAY for o in operands for k in kinds_of(o)):
        return None
    return apply_numpy(ctx, _ufunc_for(left, right), operands)


def _ufunc_for(left: Operand, right: Operand) -> ElementwiseFunction:
    """`np.power` for operands of these shapes; whether NumPy looks at one exponent for all elements."""
    shape = shape_of(right)
    return u.POWER_OF_ONE if math.prod(shape) == 1 and not (shape and shape == shape_of(left)) else u.POWER


def function_of_exponent(operands: Sequence[Operand]) -> ElementwiseFunction | None:
    """The function that NumPy's `x ** y` and `x **= y` of an ndarray call for a literal exponent in place of `power`."""
    left, right = operands
    if not isinstance(left, Array) or left.form is not Form.NDARRAY or not isinstance(right, Const):
        return None
    inexact = is_floating(left.dtype) or is_complex(left.dtype)
    if type(right.value) is float and right.value == 0.5 and inexact:
        return u.SQRT
    if type(right.value) is int and right.value == 2:
        return u.SQUARE
    return u.RECIPROCAL if type(right.value) is int and right.value == -1 and inexact else None


def jax_power(ctx: Context, left: Operand, right: Operand) -> Abstract:
    """`jnp.power`: one integer as exponent multiplies, and leaves the type of the base as it is."""
    base, exponent = kinds_of(left)[0], kinds_of(right)[0]
    if is_integer(exponent.dtype) and not shape_of(right) and isinstance(left, Array):
        return _integer_exponent(ctx, left, right)
    floating = is_floating(base.dtype) or is_complex(base.dtype)
    if is_integer(exponent.dtype) and floating and base.form is Form.JAX and exponent.form is not Form.PYTHON:
        loop = LoopTypes((base.dtype, base.dtype), (base.dtype,), Form.JAX, base.weak and exponent.weak)
        return apply_loop(ctx, u.POWER, [left, right], loop)
    result = apply_jax(ctx, u.POWER, [left, right])
    assert isinstance(result, Array)
    return ctx.jax(result.value, result.weak and not is_integer(result.dtype))


def _integer_exponent(ctx: Context, left: Array, right: Operand) -> Abstract:
    weak = left.weak or left.form is Form.PYTHON
    dtype = numeric(canonical(left.dtype, ctx.x64))
    x = value_of(ctx, left, dtype, Form.JAX)
    base = f"{dtype}[{','.join(map(str, x.type.shape))}]"
    if not isinstance(right, Const):
        if is_integer(dtype) and right.form is not Form.JAX and right.dtype.kind == "i":
            negative = ctx.op(Compare("LT"), right.value, a.like(ctx, right.value, 0))
            ctx.check(negative, _refused_by_jax(base, -1), _refuse, [base, right])
        loop = LoopTypes((dtype, dtype), (dtype,), Form.JAX, weak)
        return apply_loop(ctx, u.POWER, [left, right], loop)
    exponent = int(right.value)
    if exponent < 0 and is_integer(dtype):
        ctx.raise_(_refused_by_jax(base, exponent))
    return ctx.jax(a.integer_power(ctx, x, exponent), weak)


def _refused_by_jax(base: str, exponent: int) -> TypeError:
    """JAX's exception for integers to a negative power."""
    return TypeError(f"Integers cannot be raised to negative powers, got integer_pow({base}, {exponent})")


def _refuse(base: str, exponent: int) -> None:
    raise _refused_by_jax(base, exponent)


def _numpy_power(
    ctx: Context, args: Sequence[Raw], out: Raw, where: Raw, dtype: Raw, casting: Casting = SAME_KIND
) -> Abstract:
    if any(isinstance(x, Bounded) for x in args) and without_options(out, where, dtype):
        return elementwise(
            ctx, "np.power", np.power, lambda *x: _numpy_power(ctx, x, out, where, dtype), *args
        )
    left, right = [ctx.read(x) for x in args]
    check_power(ctx, [left, right])
    return call_numpy(ctx, _ufunc_for(left, right), args, out, where, dtype, casting)


meaning(np.power)(u.with_ufunc_options(2, _numpy_power))


@meaning(*dict.fromkeys((jnp.power, jnp.pow)))
def jnp_power(ctx: Context, x1: Raw, x2: Raw, /) -> Abstract:
    """`jnp.power`."""
    left, right = jax_operands(ctx, "power", (x1, x2))
    return jax_power(ctx, left, right)
