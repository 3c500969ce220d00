"""Elementwise functions of `jax.lax`, each one HLO operation.

Operands must have equal element types; their shapes must be equal, one of them a scalar, or of equal rank with axes of
length 1. The result is a `jax.Array`, weakly typed if all operands are. A case that lax accepts and no single
StableHLO operation covers becomes a `JaxCall` (`jax/traced_calls.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jax import lax

from .... import ops
from ....diagnostics.codes_types import NoSuchOperation, ShapeMismatch
from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import BOOL, FLOAT32, FLOAT64, DType, is_complex, is_integer, is_unsigned
from ....ops.operands import ALL, BOOLS, COMPLEXES, FLOATS, INTEGERS, UNSIGNED, describe
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const
from ...context import Context, Raw
from ...kernels.arithmetic import by_form, integer_power
from ...numpy.indexing.stores import cast
from ...registry import meaning
from ...rules.jax import all_weak, integer, is_none, jax_array, known_dtype
from ..pytrees import flatten, unflatten
from ..traced_calls import jax_call

DTypes = frozenset[DType]

NUMBERS = INTEGERS | FLOATS | COMPLEXES
INEXACT = FLOATS | COMPLEXES
LOGICAL = INTEGERS | BOOLS
ORDERED = ALL - COMPLEXES


def _accepts(ctx: Context, name: str, array: Array, dtypes: DTypes) -> None:
    if array.dtype not in dtypes:
        ctx.fail(
            NoSuchOperation(
                span=ctx.span, operation=name, types=f"{array.type} (it takes {describe(dtypes)})"
            )
        )


def same_dtypes(ctx: Context, name: str, arrays: Sequence[Array]) -> None:
    """PS202 unless all have one element type, as every lax function asks."""
    if len({a.dtype for a in arrays}) > 1:
        types = " and ".join(str(a.type) for a in arrays)
        ctx.fail(NoSuchOperation(span=ctx.span, operation=name, types=f"{types}: lax promotes no types"))


def fit_shapes(ctx: Context, name: str, arrays: Sequence[Array]) -> list[Value]:
    """The values in their common shape: scalars and axes of length 1 stretch, ranks do not."""
    shapes = [a.shape for a in arrays]
    if all(s == shapes[0] for s in shapes):
        return [a.value for a in arrays]
    ranks = {len(s) for s in shapes if s}
    try:
        common = np.broadcast_shapes(*shapes)
    except ValueError:
        ranks = {-1, -2}
    if len(ranks) > 1:
        listed = " and ".join(map(str, shapes))
        ctx.fail(
            ShapeMismatch(span=ctx.span, text=f"{name}: the shapes {listed} do not fit (lax adds no axes)")
        )
    return [ctx.broadcast(a.value, common) for a in arrays]


def apply(ctx: Context, name: str, op: HloOp, raws: Sequence[Raw], dtypes: DTypes) -> Array:
    """`op` on operands of one of `dtypes`, brought to one shape."""
    arrays = [jax_array(ctx, raw, name) for raw in raws]
    for array in arrays:
        _accepts(ctx, name, array, dtypes)
    same_dtypes(ctx, name, arrays)
    op = by_form(op, Form.JAX, arrays[0].dtype)
    return ctx.jax(ctx.op(op, *fit_shapes(ctx, name, arrays)), all_weak(arrays))


# ---------------------------------------------------------------- one operation of StableHLO each


def _unary(name: str, op: HloOp, dtypes: DTypes) -> Callable[..., Abstract]:
    def apply_unary(ctx: Context, x: Raw) -> Abstract:
        return apply(ctx, name, op, (x,), dtypes)

    return apply_unary


def _accurate(name: str, function: Any, op: HloOp, dtypes: DTypes) -> Callable[..., Abstract]:
    """As `_unary`, of a function with a keyword `accuracy`; JAX itself serves what is not the default."""

    def apply_accurate(ctx: Context, x: Raw, *, accuracy: Raw = None) -> Abstract:
        if not is_none(accuracy):
            return jax_call(ctx, function, [x], {"accuracy": accuracy})
        return apply(ctx, name, op, (x,), dtypes)

    return apply_accurate


def _binary(name: str, op: HloOp, dtypes: DTypes) -> Callable[..., Abstract]:
    def apply_binary(ctx: Context, x: Raw, y: Raw) -> Abstract:
        return apply(ctx, name, op, (x, y), dtypes)

    return apply_binary


_UNARY: tuple[tuple[Any, HloOp, DTypes], ...] = (
    (lax.neg, ops.Negate(), NUMBERS),
    (lax.floor, ops.Floor(), FLOATS),
    (lax.ceil, ops.Ceil(), FLOATS),
    (lax.is_finite, ops.IsFinite(), FLOATS),
    (lax.asin, ops.Asin(), INEXACT),
    (lax.acos, ops.Acos(), INEXACT),
    (lax.atan, ops.Atan(), INEXACT),
    (lax.sinh, ops.Sinh(), INEXACT),
    (lax.cosh, ops.Cosh(), INEXACT),
    (lax.asinh, ops.Asinh(), INEXACT),
    (lax.acosh, ops.Acosh(), INEXACT),
    (lax.atanh, ops.Atanh(), INEXACT),
    (lax.abs, ops.Abs(), NUMBERS - UNSIGNED),
    (lax.real, ops.Real(), COMPLEXES),
    (lax.imag, ops.Imag(), COMPLEXES),
    (lax.bitwise_not, ops.Not(), LOGICAL),
    (lax.population_count, ops.PopulationCount(), INTEGERS),
    (lax.clz, ops.CountLeadingZeros(), INTEGERS),
    (lax.erf, ops.Erf(), FLOATS),
    (lax.erfc, ops.Erfc(), FLOATS),
    (lax.erf_inv, ops.ErfInv(), FLOATS),
    (lax.lgamma, ops.Lgamma(), FLOATS),
    (lax.digamma, ops.Digamma(), FLOATS),
)

_ACCURATE: tuple[tuple[Any, HloOp, DTypes], ...] = (
    (lax.exp, ops.Exponential(), INEXACT),
    (lax.log, ops.Log(), INEXACT),
    (lax.expm1, ops.ExponentialMinusOne(), INEXACT),
    (lax.log1p, ops.LogPlusOne(), INEXACT),
    (lax.tanh, ops.Tanh(), INEXACT),
    (lax.sin, ops.Sine(), INEXACT),
    (lax.cos, ops.Cosine(), INEXACT),
    (lax.tan, ops.Tan(), INEXACT),
    (lax.sqrt, ops.Sqrt(), INEXACT),
    (lax.rsqrt, ops.Rsqrt(), INEXACT),
    (lax.cbrt, ops.Cbrt(), FLOATS),
)

_BINARY: tuple[tuple[Any, HloOp, DTypes], ...] = (
    (lax.add, ops.Add(), NUMBERS),
    (lax.sub, ops.Subtract(), NUMBERS),
    (lax.div, ops.Divide(), NUMBERS),
    (lax.rem, ops.Remainder(), NUMBERS - COMPLEXES),
    (lax.nextafter, ops.NextAfter(), FLOATS),
    (lax.bitwise_and, ops.And(), LOGICAL),
    (lax.bitwise_or, ops.Or(), LOGICAL),
    (lax.bitwise_xor, ops.Xor(), LOGICAL),
    (lax.shift_left, ops.ShiftLeft(), INTEGERS),
    (lax.shift_right_arithmetic, ops.ShiftRightArithmetic(), INTEGERS),
    (lax.shift_right_logical, ops.ShiftRightLogical(), INTEGERS),
    (lax.eq, ops.Compare("EQ"), ALL),
    (lax.ne, ops.Compare("NE"), ALL),
    (lax.lt, ops.Compare("LT"), ORDERED),
    (lax.le, ops.Compare("LE"), ORDERED),
    (lax.gt, ops.Compare("GT"), ORDERED),
    (lax.ge, ops.Compare("GE"), ORDERED),
    (lax.complex, ops.Complex(), frozenset({FLOAT32, FLOAT64})),
)


def _declare() -> None:
    for function, op, dtypes in _UNARY:
        meaning(function)(_unary(f"lax.{function.__name__}", op, dtypes))
    for function, op, dtypes in _ACCURATE:
        meaning(function)(_accurate(f"lax.{function.__name__}", function, op, dtypes))
    for function, op, dtypes in _BINARY:
        meaning(function)(_binary(f"lax.{function.__name__}", op, dtypes))


_declare()


# ---------------------------------------------------------------- what takes more than one operation


def like(ctx: Context, array: Array, number: complex) -> Value:
    """`number` in the type and shape of `array`."""
    return ctx.broadcast(ctx.constant(number, array.dtype), array.shape)


@meaning(lax.sign)
def sign(ctx: Context, x: Raw) -> Abstract:
    """StableHLO's sign has no unsigned integers: of those, it is whether `x` is not 0."""
    array = jax_array(ctx, x, "lax.sign")
    if not is_unsigned(array.dtype):
        return apply(ctx, "lax.sign", ops.Sign(), (array,), NUMBERS)
    nonzero = ctx.op(ops.Compare("NE"), array.value, like(ctx, array, 0))
    return ctx.jax(ctx.convert(nonzero, array.dtype), array.weak)


@meaning(lax.max)
def max_(ctx: Context, x: Raw, y: Raw) -> Abstract:
    """The larger one; complex numbers, ordered by their parts, are JAX's own."""
    return _extreme(ctx, lax.max, ops.Maximum(), x, y)


@meaning(lax.min)
def min_(ctx: Context, x: Raw, y: Raw) -> Abstract:
    """The smaller one; complex numbers, ordered by their parts, are JAX's own."""
    return _extreme(ctx, lax.min, ops.Minimum(), x, y)


def _extreme(ctx: Context, function: Any, op: HloOp, x: Raw, y: Raw) -> Abstract:
    left, right = jax_array(ctx, x, "lax.max"), jax_array(ctx, y, "lax.max")
    if is_complex(left.dtype):
        return jax_call(ctx, function, [left, right])
    return apply(ctx, f"lax.{function.__name__}", op, (left, right), ORDERED)


@meaning(lax.atan2)
def atan2(ctx: Context, x: Raw, y: Raw) -> Abstract:
    """The angle of the point `(y, x)`; of complex numbers, JAX's own."""
    left, right = jax_array(ctx, x, "lax.atan2"), jax_array(ctx, y, "lax.atan2")
    if is_complex(left.dtype):
        return jax_call(ctx, lax.atan2, [left, right])
    return apply(ctx, "lax.atan2", ops.Atan2(), (left, right), FLOATS)


@meaning(lax.mul)
def mul(ctx: Context, x: Raw, y: Raw, *, out_dtype: Raw = None) -> Abstract:
    """`x * y`; with `out_dtype`, JAX's own."""
    if not is_none(out_dtype):
        return jax_call(ctx, lax.mul, [x, y], {"out_dtype": out_dtype})
    return apply(ctx, "lax.mul", ops.Multiply(), (x, y), NUMBERS)


@meaning(lax.square)
def square(ctx: Context, x: Raw) -> Abstract:
    """`x * x`."""
    return apply(ctx, "lax.square", ops.Multiply(), (x, x), NUMBERS)


@meaning(lax.logistic)
def logistic(ctx: Context, x: Raw, *, accuracy: Raw = None) -> Abstract:
    """`1 / (1 + exp(-x))`, as JAX emits it."""
    if not is_none(accuracy):
        return jax_call(ctx, lax.logistic, [x], {"accuracy": accuracy})
    array = jax_array(ctx, x, "lax.logistic")
    _accepts(ctx, "lax.logistic", array, INEXACT)
    one = like(ctx, array, 1)
    exponential, divide = [by_form(o, Form.JAX, array.dtype) for o in (ops.Exponential(), ops.Divide())]
    below = ctx.op(ops.Add(), one, ctx.op(exponential, ctx.op(ops.Negate(), array.value)))
    return ctx.jax(ctx.op(divide, one, below), array.weak)


@meaning(lax.round)
def round_(ctx: Context, x: Raw, rounding_method: Raw = lax.RoundingMethod.AWAY_FROM_ZERO) -> Abstract:
    """To the nearest integer; halves away from zero, or to even."""
    method = lax.RoundingMethod(ctx.known(rounding_method, "the rounding method of lax.round"))
    op = ops.RoundNearestAfz() if method is lax.RoundingMethod.AWAY_FROM_ZERO else ops.RoundNearestEven()
    return apply(ctx, "lax.round", op, (x,), FLOATS)


@meaning(lax.conj)
def conj(ctx: Context, x: Raw) -> Abstract:
    """The conjugate; of a real number, the number as a complex one."""
    array = jax_array(ctx, x, "lax.conj")
    _accepts(ctx, "lax.conj", array, COMPLEXES | {FLOAT32, FLOAT64})
    if is_complex(array.dtype):
        real, imag = ctx.op(ops.Real(), array.value), ctx.op(ops.Negate(), ctx.op(ops.Imag(), array.value))
    else:
        real, imag = array.value, like(ctx, array, 0)
    return ctx.jax(ctx.op(ops.Complex(), real, imag), array.weak)


@meaning(lax.pow)
def pow_(ctx: Context, x: Raw, y: Raw) -> Abstract:
    """`x ** y`; an integer exponent takes the type of `x`, which must be inexact."""
    base, exponent = jax_array(ctx, x, "lax.pow"), jax_array(ctx, y, "lax.pow")
    weak = all_weak([base, exponent])
    if is_integer(exponent.dtype) and base.dtype in INEXACT:
        exponent = ctx.jax(ctx.convert(exponent.value, base.dtype), exponent.weak)
    result = apply(ctx, "lax.pow", ops.Power(), (base, exponent), INEXACT)
    return ctx.jax(result.value, weak)


@meaning(lax.integer_pow)
def integer_pow(ctx: Context, x: Raw, y: Raw) -> Abstract:
    """`x ** y` by repeated squaring; `y` is an integer known now."""
    array = jax_array(ctx, x, "lax.integer_pow")
    _accepts(ctx, "lax.integer_pow", array, NUMBERS)
    exponent = integer(ctx, y, "the exponent of lax.integer_pow")
    if exponent < 0 and is_integer(array.dtype):
        types = f"{array.type} and the negative exponent {exponent}"
        ctx.fail(NoSuchOperation(span=ctx.span, operation="lax.integer_pow", types=types))
    return ctx.jax(integer_power(ctx, array.value, exponent), array.weak)


@meaning(lax.reciprocal)
def reciprocal(ctx: Context, x: Raw) -> Abstract:
    """`1 / x`."""
    return integer_pow(ctx, x, -1)


# ---------------------------------------------------------------- selection


@meaning(lax.select)
def select(ctx: Context, pred: Raw, on_true: Raw, on_false: Raw) -> Abstract:
    """`on_true` where `pred`, else `on_false`; no broadcasting but of a scalar `pred`."""
    return select_n(ctx, pred, on_false, on_true)


@meaning(lax.select_n)
def select_n(ctx: Context, which: Raw, *cases: Raw) -> Abstract:
    """The case that `which` counts, element by element; a bool chooses between two."""
    selector = jax_array(ctx, which, "lax.select_n")
    arrays = [jax_array(ctx, case, "lax.select_n") for case in cases]
    same_dtypes(ctx, "lax.select_n", arrays)
    shapes = {a.shape for a in arrays}
    if len(shapes) != 1 or (selector.shape and selector.shape not in shapes):
        types = " and ".join(str(a.type) for a in arrays)
        text = f"select: {selector.type} cannot choose between {types}: the shapes must be equal"
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))
    if selector.dtype not in LOGICAL or (selector.dtype == BOOL and len(arrays) > 2):
        types = f"{selector.type} as the choice between {len(arrays)} cases"
        ctx.fail(NoSuchOperation(span=ctx.span, operation="select", types=types))
    return ctx.jax(_choose(ctx, selector, [a.value for a in arrays]), all_weak(arrays))


def _choose(ctx: Context, selector: Array, cases: list[Value]) -> Value:
    """Halves the cases until one is left."""
    if len(cases) == 1:
        return cases[0]
    if selector.dtype == BOOL:
        return ctx.op(ops.Select(), selector.value, cases[1], cases[0])
    middle = len(cases) // 2
    below = ctx.op(ops.Compare("LT"), selector.value, like(ctx, selector, middle))
    lower = _choose(ctx, selector, cases[:middle])
    shifted = ctx.jax(ctx.op(ops.Subtract(), selector.value, like(ctx, selector, middle)))
    return ctx.op(ops.Select(), below, lower, _choose(ctx, shifted, cases[middle:]))


@meaning(lax.clamp)
def clamp(ctx: Context, min: Raw, x: Raw, max: Raw) -> Abstract:
    """`x` between the limits, which are scalars or have its shape."""
    arrays = [jax_array(ctx, raw, "lax.clamp") for raw in (min, x, max)]
    same_dtypes(ctx, "lax.clamp", arrays)
    low, array, high = arrays
    if array.dtype == BOOL or is_complex(array.dtype):
        return jax_call(ctx, lax.clamp, list(arrays))
    if any(a.shape and a.shape != array.shape for a in arrays):
        types = ", ".join(str(a.type) for a in arrays)
        text = f"lax.clamp: the limits must be scalars or have the shape of the array: {types}"
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))
    return ctx.jax(ctx.op(ops.Clamp(), low.value, array.value, high.value), all_weak(arrays))


# ---------------------------------------------------------------- conversion


@meaning(lax.convert_element_type)
def convert_element_type(ctx: Context, operand: Raw, new_dtype: Raw) -> Abstract:
    """The same values in another element type, strongly typed."""
    array = jax_array(ctx, operand, "lax.convert_element_type")
    dtype = known_dtype(ctx, new_dtype, "the dtype of lax.convert_element_type")
    value = array.value
    if is_complex(array.dtype) and not is_complex(dtype):
        value = ctx.op(ops.Real(), value)
    return ctx.jax(cast(ctx, value, dtype, jax=True))


@meaning(lax.stop_gradient)
def stop_gradient(ctx: Context, x: Raw) -> Abstract:
    """The values as they are, which count as constants; inexact leaves become `jax.Array`s, as JAX makes them."""
    leaves, tree = flatten(ctx, x)
    return unflatten(ctx, tree, [_stopped(ctx, leaf) for leaf in leaves])


def _stopped(ctx: Context, leaf: Abstract) -> Abstract:
    if isinstance(leaf, Const):
        return leaf
    read = ctx.read(leaf)
    dtype = read.dtype if isinstance(read, Array) else np.asarray(read.value).dtype
    if dtype not in INEXACT:
        return leaf
    array = (
        read
        if isinstance(read, Array) and read.form is Form.PYTHON
        else jax_array(ctx, leaf, "lax.stop_gradient")
    )
    return replace(array, value=ctx.op(ops.StopGradient(), array.value))
