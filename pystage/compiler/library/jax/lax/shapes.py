"""`jax.lax`: creation of arrays, and rearrangement of their elements.

Static operands (shapes, axes, permutations) must be constants. No function broadcasts or promotes implicitly. Results
are `jax.Array`s, weakly typed if all operands are.
"""

from __future__ import annotations

from jax import lax

from ....diagnostics.codes_jax import BadControlFlow
from ....diagnostics.codes_types import ShapeMismatch
from ....hlo.types import ArrayType, DType
from ....ops import Broadcast, Concatenate, Iota, OptimizationBarrier, Pad, Reshape, Reverse, Transpose
from ....values.lattice import Abstract, Array
from ...context import Context, Raw
from ...registry import meaning
from ...rules.jax import (
    all_weak,
    axes_of,
    checked,
    integer,
    ints,
    is_none,
    items,
    jax_array,
    known_dtype,
    optional_ints,
)
from ..pytrees import flatten, unflatten
from .elementwise import same_dtypes

Shape = tuple[int, ...]


def spread(ctx: Context, array: Array, shape: Shape, axes: Shape) -> Array:
    """`lax.broadcast_in_dim`: axis `i` of the array becomes axis `axes[i]`; length 1 stretches."""
    kept = [i for i, n in enumerate(array.shape) if n == shape[axes[i]]]
    value = ctx.reshape(array.value, tuple([array.shape[i] for i in kept]))
    return ctx.jax(ctx.op(Broadcast(shape, tuple([axes[i] for i in kept])), value), array.weak)


@meaning(lax.broadcast)
def broadcast(ctx: Context, operand: Raw, sizes: Raw) -> Abstract:
    """New axes of `sizes` in front."""
    array = jax_array(ctx, operand, "lax.broadcast")
    front = ints(ctx, sizes, "the sizes of lax.broadcast")
    return spread(ctx, array, front + array.shape, tuple(range(len(front), len(front) + array.rank)))


@meaning(lax.broadcast_in_dim)
def broadcast_in_dim(ctx: Context, operand: Raw, shape: Raw, broadcast_dimensions: Raw) -> Abstract:
    """The array in `shape`, its axes at `broadcast_dimensions`."""
    array = jax_array(ctx, operand, "lax.broadcast_in_dim")
    wanted = ints(ctx, shape, "the shape of lax.broadcast_in_dim")
    axes = ints(ctx, broadcast_dimensions, "the dimensions of lax.broadcast_in_dim")
    fits = (
        len(axes) == array.rank
        and len(set(axes)) == len(axes)
        and all(0 <= a < len(wanted) for a in axes)
        and all(n in (1, wanted[a]) for n, a in zip(array.shape, axes, strict=True))
    )
    if not fits:
        text = f"lax.broadcast_in_dim: {array.type} has no place in shape {wanted} at axes {axes}"
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))
    return spread(ctx, array, wanted, axes)


@meaning(lax.reshape)
def reshape(ctx: Context, operand: Raw, new_sizes: Raw, dimensions: Raw = None) -> Abstract:
    """The elements in another shape; `dimensions` is the order in which the axes are read."""
    array = jax_array(ctx, operand, "lax.reshape")
    shape = ints(ctx, new_sizes, "the shape of lax.reshape")
    order = optional_ints(ctx, dimensions, "the dimensions of lax.reshape")
    value = array.value
    if order is not None and order != tuple(range(array.rank)):
        value = checked(ctx, Transpose(order), value)
    return ctx.jax(checked(ctx, Reshape(shape), value), array.weak)


@meaning(lax.transpose)
def transpose(ctx: Context, operand: Raw, permutation: Raw) -> Abstract:
    """The axes in another order."""
    array = jax_array(ctx, operand, "lax.transpose")
    order = ints(ctx, permutation, "the permutation of lax.transpose")
    if order == tuple(range(array.rank)):
        return array
    return ctx.jax(checked(ctx, Transpose(order), array.value), array.weak)


@meaning(lax.squeeze)
def squeeze(ctx: Context, array: Raw, dimensions: Raw) -> Abstract:
    """Without the axes `dimensions`, which have length 1."""
    given = jax_array(ctx, array, "lax.squeeze")
    axes = axes_of(ctx, dimensions, given.rank, "lax.squeeze")
    if any(given.shape[a] != 1 for a in axes):
        text = f"lax.squeeze: axes {axes} of {given.type} are not all of length 1"
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))
    shape = tuple([n for a, n in enumerate(given.shape) if a not in axes])
    return ctx.jax(ctx.reshape(given.value, shape), given.weak)


@meaning(lax.expand_dims)
def expand_dims(ctx: Context, array: Raw, dimensions: Raw) -> Abstract:
    """With new axes of length 1 at `dimensions` of the result."""
    given = jax_array(ctx, array, "lax.expand_dims")
    new = ints(ctx, dimensions, "the dimensions of lax.expand_dims")
    axes = axes_of(ctx, new, given.rank + len(new), "lax.expand_dims")
    rest = iter(given.shape)
    shape = tuple([1 if a in axes else next(rest) for a in range(given.rank + len(axes))])
    return ctx.jax(ctx.reshape(given.value, shape), given.weak)


@meaning(lax.rev)
def rev(ctx: Context, operand: Raw, dimensions: Raw) -> Abstract:
    """Reversed along `dimensions`."""
    array = jax_array(ctx, operand, "lax.rev")
    axes = ints(ctx, dimensions, "the dimensions of lax.rev")
    return ctx.jax(checked(ctx, Reverse(axes), array.value), array.weak)


@meaning(lax.concatenate)
def concatenate(ctx: Context, operands: Raw, dimension: Raw) -> Abstract:
    """Arrays of one rank and element type joined along an axis."""
    arrays = [jax_array(ctx, item, "lax.concatenate") for item in items(ctx, operands, "lax.concatenate")]
    if not arrays:
        ctx.fail(ShapeMismatch(span=ctx.span, text="lax.concatenate of no arrays"))
    same_dtypes(ctx, "lax.concatenate", arrays)
    axis = integer(ctx, dimension, "the dimension of lax.concatenate")
    return ctx.jax(checked(ctx, Concatenate(axis), *[a.value for a in arrays]), all_weak(arrays))


@meaning(lax.pad)
def pad(ctx: Context, operand: Raw, padding_value: Raw, padding_config: Raw) -> Abstract:
    """Copies of a scalar around and between the elements: `(low, high, interior)` for each axis."""
    array = jax_array(ctx, operand, "lax.pad")
    value = jax_array(ctx, padding_value, "lax.pad")
    same_dtypes(ctx, "lax.pad", [array, value])
    config = [tuple(map(int, c)) for c in ctx.known(padding_config, "the padding of lax.pad")]
    low, high, interior = [tuple([c[i] for c in config]) for i in range(3)]
    padded = checked(ctx, Pad(low, high, interior), array.value, value.value)
    return ctx.jax(padded, all_weak([array, value]))


# ---------------------------------------------------------------- new arrays


@meaning(lax.iota)
def iota(ctx: Context, dtype: Raw, size: Raw) -> Abstract:
    """0, 1, 2 … in `dtype`."""
    return broadcasted_iota(ctx, dtype, (integer(ctx, size, "the size of lax.iota"),), 0)


@meaning(lax.broadcasted_iota)
def broadcasted_iota(ctx: Context, dtype: Raw, shape: Raw, dimension: Raw) -> Abstract:
    """Each element's index along one axis."""
    element = known_dtype(ctx, dtype, "the dtype of lax.broadcasted_iota")
    extents = ints(ctx, shape, "the shape of lax.broadcasted_iota")
    axis = integer(ctx, dimension, "the dimension of lax.broadcasted_iota")
    return ctx.jax(checked(ctx, Iota(ArrayType(element, extents), axis)))


@meaning(lax.full)
def full(ctx: Context, shape: Raw, fill_value: Raw, dtype: Raw = None) -> Abstract:
    """An array of one scalar; its own element type if `dtype` is None."""
    extents = ints(ctx, shape, "the shape of lax.full")
    element = None if is_none(dtype) else known_dtype(ctx, dtype, "the dtype of lax.full")
    return _filled(ctx, extents, jax_array(ctx, fill_value, "lax.full"), element)


@meaning(lax.full_like)
def full_like(ctx: Context, x: Raw, fill_value: Raw, dtype: Raw = None, shape: Raw = None) -> Abstract:
    """An array of one scalar, with the shape and element type of `x` where others are not given."""
    array = jax_array(ctx, x, "lax.full_like")
    extents = array.shape if is_none(shape) else ints(ctx, shape, "the shape of lax.full_like")
    element = array.dtype if is_none(dtype) else known_dtype(ctx, dtype, "the dtype of lax.full_like")
    made = _filled(ctx, extents, jax_array(ctx, fill_value, "lax.full_like"), element)
    return ctx.jax(made.value, array.weak and is_none(dtype))


def _filled(ctx: Context, shape: Shape, fill: Array, dtype: DType | None) -> Array:
    if fill.shape:
        text = f"lax.full takes a scalar to fill with, not {fill.type}"
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))
    value = fill.value if dtype is None else ctx.convert(fill.value, dtype)
    return ctx.jax(ctx.broadcast(value, shape), fill.weak and dtype is None)


@meaning(lax.optimization_barrier)
def optimization_barrier(ctx: Context, operand: Raw, /) -> Abstract:
    """The same values, past which XLA moves nothing."""
    leaves, tree = flatten(ctx, operand)
    arrays = [jax_array(ctx, leaf, "lax.optimization_barrier") for leaf in leaves]
    if not arrays:
        ctx.fail(BadControlFlow(span=ctx.span, text="lax.optimization_barrier of no arrays"))
    values = ctx.b.ops(OptimizationBarrier(), *[a.value for a in arrays])
    return unflatten(ctx, tree, [ctx.jax(v, a.weak) for v, a in zip(values, arrays, strict=True)])
