"""`jax.nn`: activations and normalisations, composed of meanings of `jax.numpy` and of operations.

Arguments first become `jax.Array`s, as under the `jax.jit` that JAX puts around these functions, so that Python numbers
are weakly typed. Activations that are composed of a few operations in JAX too, and rarely used options (masks, weights),
become a `JaxCall`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .... import ops
from ....hlo.types import FLOAT32, FLOAT64, ArrayType, DType, is_floating, is_integer
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Array, Const
from ...context import Context, Raw
from ...numpy.indexing.bounded import with_masks
from ...numpy.indexing.bounded_operands import result_with
from ...numpy.indexing.size_checks import Axis
from ...operands.libraries import JAX, as_jax
from ...operands.reduction_operands import ReductionOperand, reduce, reduced, source, spread_back, total
from ...registry import meaning
from ...rules.jax import axes_of, axis_of, canonical, integer, is_none, jax_array, known_dtype
from ..lax.elementwise import like
from ..traced_calls import jax_call, jax_meaning


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


for _function in (
    jax.nn.celu,
    jax.nn.elu,
    jax.nn.hard_sigmoid,
    jax.nn.hard_silu,
    jax.nn.hard_tanh,
    jax.nn.leaky_relu,
    jax.nn.log_sigmoid,
    jax.nn.mish,
    jax.nn.relu6,
    jax.nn.selu,
    jax.nn.soft_sign,
    jax.nn.squareplus,
):
    meaning(_function)(jax_meaning(_function))


@meaning(jax.nn.identity)
def identity(ctx: Context, x: Raw) -> Abstract:
    """`x` as an array."""
    return jax_array(ctx, x, "jax.nn.identity")


@meaning(jax.nn.relu)
def relu(ctx: Context, x: Raw) -> Abstract:
    """`maximum(x, 0)`, with the slope 0 at 0."""
    f, array = Sheet(ctx), jax_array(ctx, x, "jax.nn.relu")
    return f.where(f.greater(array, 0), array, f(lax.stop_gradient, f.maximum(array, 0)))


@meaning(jax.nn.sigmoid)
def sigmoid(ctx: Context, x: Raw) -> Abstract:
    """`1 / (1 + exp(-x))`, of inexact numbers only."""
    return Sheet(ctx)(lax.logistic, jax_array(ctx, x, "jax.nn.sigmoid"))


@meaning(jax.nn.softplus)
def softplus(ctx: Context, x: Raw) -> Abstract:
    """`log(1 + exp(x))`."""
    return Sheet(ctx).logaddexp(jax_array(ctx, x, "jax.nn.softplus"), 0)


@meaning(jax.nn.silu)
def silu(ctx: Context, x: Raw) -> Abstract:
    """`x * sigmoid(x)`; `swish` is another name of it."""
    array = jax_array(ctx, x, "jax.nn.silu")
    return Sheet(ctx).multiply(array, sigmoid(ctx, array))


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


@meaning(jax.nn.one_hot)
def one_hot(ctx: Context, x: Raw, num_classes: Raw, *, dtype: Raw = None, axis: Raw = -1) -> Abstract:
    """1 where an element is the index along the new axis, else 0."""
    given, axes = _given(ctx, x, "jax.nn.one_hot")
    array = jax_array(ctx, given.whole, "jax.nn.one_hot") if isinstance(given, Bounded) else given
    count = integer(ctx, num_classes, "num_classes of jax.nn.one_hot")
    at = axis_of(ctx, axis, array.rank + 1, "jax.nn.one_hot")
    wanted = canonical(FLOAT64, ctx.x64)
    if not is_none(dtype):
        wanted = known_dtype(ctx, dtype, "the dtype of jax.nn.one_hot")
    shape = (*array.shape[:at], count, *array.shape[at:])
    kept = tuple([i for i in range(len(shape)) if i != at])
    spread = ctx.op(ops.Broadcast(shape, kept), array.value)
    classes = ctx.op(ops.Iota(ArrayType(array.dtype, shape), at))
    made = ctx.jax(ctx.convert(ctx.op(ops.Compare("EQ"), spread, classes), wanted))
    return result_with(ctx, made, (*axes[:at], count, *axes[at:]))


def _given(ctx: Context, x: Raw, function: str) -> tuple[Array | Bounded, tuple[Axis, ...]]:
    """An argument as a `jax.Array`, which may be bounded; and its axes."""
    if not isinstance(x, Bounded):
        array = jax_array(ctx, x, function)
        return array, array.shape
    made = with_masks(ctx, as_jax(ctx, x, function))
    return made, made.axes


# ---------------------------------------------------------------- along axes


def _reduction(
    ctx: Context, array: Array | Bounded, axis: Raw, keepdims: bool, function: str
) -> ReductionOperand:
    """The elements of an array along the axes, or of all."""
    axes = None if is_none(axis) else axes_of(ctx, axis, array.rank, function)
    return source(ctx, JAX, array, axes, keepdims, function)


def _shifted(ctx: Context, of: ReductionOperand) -> ReductionOperand:
    """The elements less the greatest of those that are reduced, as floats. What is made of it does not depend on them:
    no derivative goes through them."""
    greatest = ctx.op(ops.StopGradient(), reduce(ctx, ops.Maximum(), of))
    shifted = ctx.op(ops.Subtract(), of.value, spread_back(ctx, greatest, of))
    return of.of(_inexact(ctx, ctx.jax(shifted)).value)


def _is_real(dtype: DType) -> bool:
    return is_floating(dtype) or is_integer(dtype)


@meaning(jax.nn.softmax)
def softmax(ctx: Context, x: Raw, axis: Raw = -1, where: Raw = None) -> Abstract:
    """`exp(x) / sum(exp(x))` along `axis`, of `x` less its maximum."""
    array, axes = _given(ctx, x, "jax.nn.softmax")
    if not is_none(where) or not _is_real(array.type.dtype):
        return jax_call(ctx, jax.nn.softmax, [array, axis], {"where": where})
    of = _shifted(ctx, _reduction(ctx, array, axis, False, "jax.nn.softmax"))
    powers = of.of(ctx.op(ops.Exponential(), of.value))
    made = ctx.op(ops.Divide(), powers.value, spread_back(ctx, total(ctx, powers), of))
    return result_with(ctx, ctx.jax(made), axes)


@meaning(jax.nn.log_softmax)
def log_softmax(ctx: Context, x: Raw, axis: Raw = -1, where: Raw = None) -> Abstract:
    """`x - log(sum(exp(x)))` along `axis`, of `x` less its maximum."""
    array, axes = _given(ctx, x, "jax.nn.log_softmax")
    if not is_none(where) or not _is_real(array.type.dtype):
        return jax_call(ctx, jax.nn.log_softmax, [array, axis], {"where": where})
    of = _shifted(ctx, _reduction(ctx, array, axis, False, "jax.nn.log_softmax"))
    sums = ctx.op(ops.Log(), total(ctx, of.of(ctx.op(ops.Exponential(), of.value))))
    return result_with(ctx, ctx.jax(ctx.op(ops.Subtract(), of.value, spread_back(ctx, sums, of))), axes)


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
    array, _ = _given(ctx, a, "jax.nn.logsumexp")
    signed = bool(ctx.known(return_sign, "return_sign of jax.nn.logsumexp"))
    kept = bool(ctx.known(keepdims, "keepdims of jax.nn.logsumexp"))
    if signed or not is_none(b) or not is_none(where) or not is_floating(array.type.dtype):
        options = {"axis": axis, "b": b, "keepdims": kept, "return_sign": signed, "where": where}
        return jax_call(ctx, jax.nn.logsumexp, [array], options)
    of = _reduction(ctx, array, axis, kept, "jax.nn.logsumexp")
    greatest = ctx.jax(ctx.op(ops.StopGradient(), reduce(ctx, ops.Maximum(), of)))
    finite = ctx.op(ops.IsFinite(), greatest.value)
    offset = ctx.op(ops.Select(), finite, greatest.value, like(ctx, greatest, 0))
    shifted = ctx.op(ops.Subtract(), of.value, spread_back(ctx, offset, of))
    sums = ctx.op(ops.Abs(), total(ctx, of.of(ctx.op(ops.Exponential(), shifted))))
    return reduced(ctx, JAX, of, ctx.op(ops.Add(), ctx.op(ops.Log(), sums), offset))
