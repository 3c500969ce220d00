"""`jax.nn`: activations and normalisations, composed of meanings of `jax.numpy` and of operations.

Arguments first become `jax.Array`s, as under the `jax.jit` that JAX puts around these functions, so that Python numbers
are weakly typed. Rarely used options (masks, weights) become a `JaxCall`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, ArrayType, is_floating, is_integer
from ....ops import (
    Abs,
    Add,
    Broadcast,
    Compare,
    Divide,
    Exponential,
    Iota,
    IsFinite,
    Log,
    Maximum,
    Select,
    StopGradient,
    Subtract,
)
from ....values.lattice import Abstract, Array, Const
from ...context import Context, Raw
from ...registry import meaning
from ...rules.jax import axes_of, axis_of, canonical, integer, is_none, jax_array, known_dtype
from ..lax.elementwise import like
from ..lax.reduce import reduced
from ..traced_calls import jax_call


class Sheet:
    """Formulas of `jax.numpy` on abstract values: `f.add(x, 1)` is the meaning of `jnp.add`."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def __getattr__(self, name: str) -> Callable[..., Abstract]:
        function = getattr(jnp, name)
        return lambda *args: self(function, *args)

    def __call__(self, function: Any, *args: Raw) -> Abstract:
        """A call of any known function."""
        return self.ctx.call(Const(function), [a if isinstance(a, Abstract) else Const(a) for a in args])


@meaning(jax.nn.identity)
def identity(ctx: Context, x: Raw) -> Abstract:
    """`x` as an array."""
    return jax_array(ctx, x, "jax.nn.identity")


@meaning(jax.nn.relu)
def relu(ctx: Context, x: Raw) -> Abstract:
    """`maximum(x, 0)`, with the slope 0 at 0."""
    f, array = Sheet(ctx), jax_array(ctx, x, "jax.nn.relu")
    return f.where(f.greater(array, 0), array, f(lax.stop_gradient, f.maximum(array, 0)))


@meaning(jax.nn.relu6)
def relu6(ctx: Context, x: Raw) -> Abstract:
    """`minimum(maximum(x, 0), 6)`, with the slope 0 at 0 and at 6."""
    f, array = Sheet(ctx), jax_array(ctx, x, "jax.nn.relu6")
    value = f.minimum(f.maximum(array, 0), 6.0)
    inside = f.logical_and(f.greater(array, 0), f.less(array, 6))
    return f.where(inside, array, f(lax.stop_gradient, value))


@meaning(jax.nn.sigmoid)
def sigmoid(ctx: Context, x: Raw) -> Abstract:
    """`1 / (1 + exp(-x))`, of inexact numbers only."""
    return Sheet(ctx)(lax.logistic, jax_array(ctx, x, "jax.nn.sigmoid"))


@meaning(jax.nn.softplus)
def softplus(ctx: Context, x: Raw) -> Abstract:
    """`log(1 + exp(x))`."""
    return Sheet(ctx).logaddexp(jax_array(ctx, x, "jax.nn.softplus"), 0)


@meaning(jax.nn.squareplus)
def squareplus(ctx: Context, x: Raw, b: Raw = 4) -> Abstract:
    """`(x + sqrt(x² + b)) / 2`."""
    f = Sheet(ctx)
    array, other = jax_array(ctx, x, "jax.nn.squareplus"), jax_array(ctx, b, "jax.nn.squareplus")
    root = f.sqrt(f.add(f.square(array), other))
    return f.divide(f.add(array, root), 2)


@meaning(jax.nn.soft_sign)
def soft_sign(ctx: Context, x: Raw) -> Abstract:
    """`x / (|x| + 1)`."""
    f = Sheet(ctx)
    array = jax_array(ctx, x, "jax.nn.soft_sign")
    return f.divide(array, f.add(f.abs(array), 1))


@meaning(jax.nn.silu)
def silu(ctx: Context, x: Raw) -> Abstract:
    """`x * sigmoid(x)`; `swish` is another name of it."""
    array = jax_array(ctx, x, "jax.nn.silu")
    return Sheet(ctx).multiply(array, sigmoid(ctx, array))


@meaning(jax.nn.mish)
def mish(ctx: Context, x: Raw) -> Abstract:
    """`x * tanh(softplus(x))`."""
    f = Sheet(ctx)
    array = jax_array(ctx, x, "jax.nn.mish")
    return f.multiply(array, f.tanh(softplus(ctx, array)))


@meaning(jax.nn.log_sigmoid)
def log_sigmoid(ctx: Context, x: Raw) -> Abstract:
    """`-softplus(-x)`."""
    f = Sheet(ctx)
    return f.negative(softplus(ctx, f.negative(jax_array(ctx, x, "jax.nn.log_sigmoid"))))


@meaning(jax.nn.elu)
def elu(ctx: Context, x: Raw, alpha: Raw = 1.0) -> Abstract:
    """`x` where positive, else `alpha * expm1(x)`."""
    f = Sheet(ctx)
    array, scale = jax_array(ctx, x, "jax.nn.elu"), jax_array(ctx, alpha, "jax.nn.elu")
    positive = f.greater(array, 0)
    below = f.multiply(scale, f.expm1(f.where(positive, 0.0, array)))
    return f.where(positive, array, below)


@meaning(jax.nn.selu)
def selu(ctx: Context, x: Raw) -> Abstract:
    """`scale * elu(x, alpha)` with the constants of self-normalising networks (arXiv:1706.02515)."""
    return Sheet(ctx).multiply(1.0507009873554804934, elu(ctx, x, 1.6732632423543772848))


@meaning(jax.nn.celu)
def celu(ctx: Context, x: Raw, alpha: Raw = 1.0) -> Abstract:
    """`max(x, 0) + alpha * expm1(min(x, 0) / alpha)`."""
    f = Sheet(ctx)
    array, scale = jax_array(ctx, x, "jax.nn.celu"), jax_array(ctx, alpha, "jax.nn.celu")
    below = f.multiply(scale, f.expm1(f.divide(f.minimum(array, 0.0), scale)))
    return f.add(f.maximum(array, 0.0), below)


@meaning(jax.nn.leaky_relu)
def leaky_relu(ctx: Context, x: Raw, negative_slope: Raw = 1e-2) -> Abstract:
    """`x` where not negative, else `negative_slope * x`."""
    f = Sheet(ctx)
    array = jax_array(ctx, x, "jax.nn.leaky_relu")
    slope = jax_array(ctx, negative_slope, "jax.nn.leaky_relu")
    return f.where(f.greater_equal(array, 0), array, f.multiply(slope, array))


@meaning(jax.nn.hard_tanh)
def hard_tanh(ctx: Context, x: Raw) -> Abstract:
    """`x` between -1 and 1."""
    f = Sheet(ctx)
    array = jax_array(ctx, x, "jax.nn.hard_tanh")
    return f.where(f.greater(array, 1), 1, f.where(f.less(array, -1), -1, array))


@meaning(jax.nn.hard_sigmoid)
def hard_sigmoid(ctx: Context, x: Raw) -> Abstract:
    """`relu6(x + 3) / 6`."""
    f = Sheet(ctx)
    return f.divide(relu6(ctx, f.add(jax_array(ctx, x, "jax.nn.hard_sigmoid"), 3.0)), 6.0)


@meaning(jax.nn.hard_silu)
def hard_silu(ctx: Context, x: Raw) -> Abstract:
    """`x * hard_sigmoid(x)`; `hard_swish` is another name of it."""
    array = jax_array(ctx, x, "jax.nn.hard_silu")
    return Sheet(ctx).multiply(array, hard_sigmoid(ctx, array))


@meaning(jax.nn.gelu)
def gelu(ctx: Context, x: Raw, approximate: Raw = True) -> Abstract:
    """`x * Φ(x)` with the normal distribution's Φ, by its tanh approximation or by `erfc` (arXiv:1606.08415)."""
    f = Sheet(ctx)
    array = _inexact(ctx, jax_array(ctx, x, "jax.nn.gelu"))
    if ctx.known(approximate, "approximate of jax.nn.gelu"):
        cube = f.multiply(f.multiply(array, array), array)
        inner = f.multiply(0.044715, cube)
        root = _scalar(ctx, array, float(np.sqrt(2 / np.pi)))
        cdf = f.multiply(0.5, f.add(1.0, f.tanh(f.multiply(root, f.add(array, inner)))))
        return f.multiply(array, cdf)
    root = _scalar(ctx, array, float(np.sqrt(0.5)))
    tail = f(lax.erfc, f.multiply(f.negative(array), root))
    made = jax_array(ctx, f.multiply(f.multiply(0.5, array), tail), "jax.nn.gelu")
    return ctx.jax(made.value)


def _inexact(ctx: Context, array: Array) -> Array:
    """An integer array in JAX's floating-point type."""
    if array.dtype.kind not in "biu":
        return array
    dtype = canonical(FLOAT64, ctx.x64) if array.dtype.itemsize == 8 else FLOAT32
    return ctx.jax(ctx.convert(array.value, dtype), array.weak)


def _scalar(ctx: Context, array: Array, number: float) -> Array:
    """A number in the element type of `array`."""
    return ctx.jax(ctx.constant(number, array.dtype))


@meaning(jax.nn.glu)
def glu(ctx: Context, x: Raw, axis: Raw = -1) -> Abstract:
    """The first half along an axis times the sigmoid of the second."""
    f = Sheet(ctx)
    array = jax_array(ctx, x, "jax.nn.glu")
    at = axis_of(ctx, axis, array.rank, "jax.nn.glu")
    half = array.shape[at] // 2
    if array.shape[at] % 2:
        return jax_call(ctx, jax.nn.glu, [x], {"axis": axis})  # its own error
    first = f(lax.slice_in_dim, array, 0, half, 1, at)
    second = f(lax.slice_in_dim, array, half, 2 * half, 1, at)
    return f.multiply(first, sigmoid(ctx, second))


@meaning(jax.nn.one_hot)
def one_hot(ctx: Context, x: Raw, num_classes: Raw, *, dtype: Raw = None, axis: Raw = -1) -> Abstract:
    """1 where an element is the index along the new axis, else 0."""
    array = jax_array(ctx, x, "jax.nn.one_hot")
    count = integer(ctx, num_classes, "num_classes of jax.nn.one_hot")
    at = axis_of(ctx, axis, array.rank + 1, "jax.nn.one_hot")
    wanted = canonical(FLOAT64, ctx.x64)
    if not is_none(dtype):
        wanted = known_dtype(ctx, dtype, "the dtype of jax.nn.one_hot")
    shape = (*array.shape[:at], count, *array.shape[at:])
    kept = tuple([i for i in range(len(shape)) if i != at])
    spread = ctx.op(Broadcast(shape, kept), array.value)
    classes = ctx.op(Iota(ArrayType(array.dtype, shape), at))
    return ctx.jax(ctx.convert(ctx.op(Compare("EQ"), spread, classes), wanted))


# ---------------------------------------------------------------- along axes


def _axes(ctx: Context, axis: Raw, array: Array, function: str) -> tuple[int, ...]:
    return tuple(range(array.rank)) if is_none(axis) else axes_of(ctx, axis, array.rank, function)


def _reduce(ctx: Context, op: HloOp, value: Value, axes: tuple[int, ...]) -> Value:
    """A reduction; sums of narrow floats are made in float32, as JAX makes them."""
    narrow = isinstance(op, Add) and value.type.dtype in (FLOAT16, BFLOAT16)
    wide = ctx.convert(value, FLOAT32) if narrow else value
    return ctx.convert(reduced(ctx, op, ctx.jax(wide), axes), value.type.dtype)


def _spread(ctx: Context, value: Value, shape: tuple[int, ...], axes: tuple[int, ...]) -> Value:
    """A reduced value back in the shape that it was reduced from."""
    return ctx.op(Broadcast(shape, tuple([a for a in range(len(shape)) if a not in axes])), value)


def _shifted(ctx: Context, array: Array, axes: tuple[int, ...]) -> Value:
    """The array less its greatest elements along `axes`, as floats. What is made of it does not depend on them:
    no derivative goes through them."""
    greatest = ctx.op(StopGradient(), _reduce(ctx, Maximum(), array.value, axes))
    shifted = ctx.op(Subtract(), array.value, _spread(ctx, greatest, array.shape, axes))
    return _inexact(ctx, ctx.jax(shifted)).value


def _is_real(array: Array) -> bool:
    return is_floating(array.dtype) or is_integer(array.dtype)


@meaning(jax.nn.softmax)
def softmax(ctx: Context, x: Raw, axis: Raw = -1, where: Raw = None) -> Abstract:
    """`exp(x) / sum(exp(x))` along `axis`, of `x` less its maximum."""
    array = jax_array(ctx, x, "jax.nn.softmax")
    if not is_none(where) or not _is_real(array):
        return jax_call(ctx, jax.nn.softmax, [array, axis], {"where": where})
    axes = _axes(ctx, axis, array, "jax.nn.softmax")
    powers = ctx.op(Exponential(), _shifted(ctx, array, axes))
    total = _reduce(ctx, Add(), powers, axes)
    return ctx.jax(ctx.op(Divide(), powers, _spread(ctx, total, array.shape, axes)))


@meaning(jax.nn.log_softmax)
def log_softmax(ctx: Context, x: Raw, axis: Raw = -1, where: Raw = None) -> Abstract:
    """`x - log(sum(exp(x)))` along `axis`, of `x` less its maximum."""
    array = jax_array(ctx, x, "jax.nn.log_softmax")
    if not is_none(where) or not _is_real(array):
        return jax_call(ctx, jax.nn.log_softmax, [array, axis], {"where": where})
    axes = _axes(ctx, axis, array, "jax.nn.log_softmax")
    shifted = _shifted(ctx, array, axes)
    total = ctx.op(Log(), _reduce(ctx, Add(), ctx.op(Exponential(), shifted), axes))
    return ctx.jax(ctx.op(Subtract(), shifted, _spread(ctx, total, array.shape, axes)))


@meaning(jax.nn.logsumexp)
def logsumexp(
    ctx: Context,
    a: Raw,
    axis: Raw = None,
    b: Raw = None,
    keepdims: Raw = False,
    return_sign: Raw = False,
    where: Raw = None,
) -> Abstract:
    """`log(sum(exp(a)))` along `axis`, of `a` less its maximum where that is finite."""
    array = jax_array(ctx, a, "jax.nn.logsumexp")
    signed = bool(ctx.known(return_sign, "return_sign of jax.nn.logsumexp"))
    kept = bool(ctx.known(keepdims, "keepdims of jax.nn.logsumexp"))
    if signed or not is_none(b) or not is_none(where) or not is_floating(array.dtype):
        options = {"axis": axis, "b": b, "keepdims": kept, "return_sign": signed, "where": where}
        return jax_call(ctx, jax.nn.logsumexp, [array], options)
    axes = _axes(ctx, axis, array, "jax.nn.logsumexp")
    greatest = ctx.jax(ctx.op(StopGradient(), _reduce(ctx, Maximum(), array.value, axes)))
    finite = ctx.op(IsFinite(), greatest.value)
    offset = ctx.op(Select(), finite, greatest.value, like(ctx, greatest, 0))
    shifted = ctx.op(Subtract(), array.value, _spread(ctx, offset, array.shape, axes))
    total = ctx.op(Abs(), _reduce(ctx, Add(), ctx.op(Exponential(), shifted), axes))
    value = ctx.op(Add(), ctx.op(Log(), total), offset)
    if kept:
        value = ctx.reshape(value, tuple([1 if i in axes else n for i, n in enumerate(array.shape)]))
    return ctx.jax(value)


@meaning(jax.nn.standardize)
def standardize(
    ctx: Context,
    x: Raw,
    axis: Raw = -1,
    mean: Raw = None,
    variance: Raw = None,
    epsilon: Raw = 1e-5,
    where: Raw = None,
    *,
    algorithm: Raw = "fast",
) -> Abstract:
    """`(x - mean) / sqrt(variance + epsilon)`, mean and variance along `axis` where they are not given."""
    options = {"axis": axis, "mean": mean, "variance": variance, "where": where, "algorithm": algorithm}
    return jax_call(ctx, jax.nn.standardize, [x], {"epsilon": epsilon, **options})
