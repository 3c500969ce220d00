"""`jax.lax`: static and dynamic slices of arrays, and updates of them.

As in JAX, a negative start counts from the end, and the start of a slice that exceeds the array is clamped.
"""

from __future__ import annotations

import numpy as np
from jax import lax

from ....diagnostics.codes_types import NoSuchOperation, ShapeMismatch
from ....hlo.ir import Value
from ....hlo.types import DType, is_integer, is_unsigned
from ....ops import Add, Compare, DynamicSlice, DynamicUpdateSlice, Reshape, Select, Slice
from ....values.lattice import Abstract, Array, Const, ListCell, Ref
from ...context import Context, Raw
from ...registry import meaning
from ...rules.jax import (
    axis_of,
    checked,
    index_dtype,
    integer,
    ints,
    is_none,
    items,
    jax_array,
    optional_ints,
)
from .elementwise import same_dtypes

Shape = tuple[int, ...]


@meaning(lax.slice)
def slice_(
    ctx: Context, operand: Raw, start_indices: Raw, limit_indices: Raw, strides: Raw = None
) -> Abstract:
    """`operand[start:limit:stride]` on every axis, all counted from the front."""
    array = jax_array(ctx, operand, "lax.slice")
    starts = ints(ctx, start_indices, "the starts of lax.slice")
    limits = ints(ctx, limit_indices, "the limits of lax.slice")
    steps = optional_ints(ctx, strides, "the strides of lax.slice") or (1,) * array.rank
    return ctx.jax(checked(ctx, Slice(starts, limits, steps), array.value), array.weak)


def part(ctx: Context, array: Array, axis: int, start: int, limit: int, stride: int = 1) -> Array:
    """`array[start:limit:stride]` along one axis."""
    if (start, limit, stride) == (0, array.shape[axis], 1):
        return array
    starts = [0] * array.rank
    limits = list(array.shape)
    strides = [1] * array.rank
    starts[axis], limits[axis], strides[axis] = start, limit, stride
    op = Slice(tuple(starts), tuple(limits), tuple(strides))
    return ctx.jax(checked(ctx, op, array.value), array.weak)


@meaning(lax.slice_in_dim)
def slice_in_dim(
    ctx: Context, operand: Raw, start_index: Raw, limit_index: Raw, stride: Raw = 1, axis: Raw = 0
) -> Abstract:
    """`operand[start:limit:stride]` along one axis; None means its end, negative counts from there."""
    array = jax_array(ctx, operand, "lax.slice_in_dim")
    at = axis_of(ctx, axis, array.rank, "lax.slice_in_dim")
    extent = array.shape[at]
    start = 0 if is_none(start_index) else integer(ctx, start_index, "the start of lax.slice_in_dim")
    limit = extent if is_none(limit_index) else integer(ctx, limit_index, "the limit of lax.slice_in_dim")
    step = integer(ctx, stride, "the stride of lax.slice_in_dim")
    return part(ctx, array, at, start + extent * (start < 0), limit + extent * (limit < 0), step)


@meaning(lax.index_in_dim)
def index_in_dim(ctx: Context, operand: Raw, index: Raw, axis: Raw = 0, keepdims: Raw = True) -> Abstract:
    """One element along an axis, which stays with length 1 if `keepdims`."""
    array = jax_array(ctx, operand, "lax.index_in_dim")
    at = axis_of(ctx, axis, array.rank, "lax.index_in_dim")
    place = integer(ctx, index, "the index of lax.index_in_dim")
    extent = array.shape[at]
    if not -extent <= place < extent:
        text = f"lax.index_in_dim: index {place} is out of bounds for axis {at} of {array.type}"
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))
    found = part(ctx, array, at, place % extent, place % extent + 1)
    if ctx.known(keepdims, "keepdims of lax.index_in_dim"):
        return found
    return ctx.jax(_without_axis(ctx, found, at), array.weak)


def _without_axis(ctx: Context, array: Array, axis: int) -> Value:
    return ctx.op(Reshape((*array.shape[:axis], *array.shape[axis + 1 :])), array.value)


@meaning(lax.split)
def split(ctx: Context, operand: Raw, sizes: Raw, axis: Raw = 0) -> Abstract:
    """Consecutive parts of these sizes along an axis, as a new list."""
    array = jax_array(ctx, operand, "lax.split")
    at = axis_of(ctx, axis, array.rank, "lax.split")
    lengths = ints(ctx, sizes, "the sizes of lax.split")
    if sum(lengths) != array.shape[at] or any(n < 0 for n in lengths):
        text = f"lax.split: parts of {lengths} do not make up axis {at} of {array.type}"
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))
    return Ref(ctx.state.new_cell(ListCell(tuple(parts_of(ctx, array, at, lengths)))))


def parts_of(ctx: Context, array: Array, axis: int, lengths: Shape) -> list[Array]:
    """Consecutive parts of these lengths along an axis."""
    ends = [int(end) for end in np.cumsum(lengths)]
    return [part(ctx, array, axis, end - n, end) for end, n in zip(ends, lengths, strict=True)]


# ---------------------------------------------------------------- at computed indices


def start_values(ctx: Context, starts: list[Abstract], shape: Shape, wrap: bool) -> list[Value]:
    """Scalar starts in one integer type; negative ones, if `wrap`, count from the end of their axis."""
    arrays = [jax_array(ctx, start, "a start index") for start in starts]
    for array in arrays:
        if array.shape or not is_integer(array.dtype):
            types = f"{array.type} as a start index"
            ctx.fail(NoSuchOperation(span=ctx.span, operation="a dynamic slice", types=types))
    common = _common_index_dtype(ctx, arrays)
    pairs = zip(starts, arrays, shape, strict=True)
    return [_start(ctx, start, array, extent, common, wrap) for start, array, extent in pairs]


def _common_index_dtype(ctx: Context, arrays: list[Array]) -> DType:
    """The type of all indices that are no Python numbers, if they agree; else JAX's."""
    dtypes = {a.dtype for a in arrays if not a.weak}
    dtype = dtypes.pop() if len(dtypes) == 1 else index_dtype(ctx)
    return dtype if dtype.itemsize >= 4 else index_dtype(ctx)


def _start(ctx: Context, start: Abstract, array: Array, extent: int, common: DType, wrap: bool) -> Value:
    if isinstance(start, Const):
        place = int(start.value)
        if place < 0 and not wrap:
            text = f"the start index {place} is negative, which allow_negative_indices=False excludes"
            ctx.fail(ShapeMismatch(span=ctx.span, text=text))
        return ctx.constant(place + extent if place < 0 else place, common)
    value = ctx.convert(array.value, common)
    known_positive = isinstance(start, Array) and ctx.range_of(start)[0] >= 0
    if not wrap or known_positive or is_unsigned(array.dtype):
        return value
    below = ctx.op(Compare("LT"), value, ctx.constant(0, common))
    return ctx.op(Select(), below, ctx.op(Add(), value, ctx.constant(extent, common)), value)


def _starts(ctx: Context, raw: Raw, array: Array, wrap: Raw, function: str) -> list[Value]:
    listed = items(ctx, raw, function)
    if len(listed) != array.rank:
        text = f"{function}: {len(listed)} start indices for {array.type}"
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))
    same_dtypes(ctx, function, [jax_array(ctx, start, function) for start in listed])
    allowed = bool(ctx.known(wrap, f"allow_negative_indices of {function}"))
    return start_values(ctx, listed, array.shape, allowed)


@meaning(lax.dynamic_slice)
def dynamic_slice(
    ctx: Context,
    operand: Raw,
    start_indices: Raw,
    slice_sizes: Raw,
    *,
    allow_negative_indices: Raw = True,
) -> Abstract:
    """The part of shape `slice_sizes` that begins at the starts."""
    array = jax_array(ctx, operand, "lax.dynamic_slice")
    starts = _starts(ctx, start_indices, array, allow_negative_indices, "lax.dynamic_slice")
    sizes = ints(ctx, slice_sizes, "the sizes of lax.dynamic_slice")
    return ctx.jax(checked(ctx, DynamicSlice(sizes), array.value, *starts), array.weak)


@meaning(lax.dynamic_update_slice)
def dynamic_update_slice(
    ctx: Context, operand: Raw, update: Raw, start_indices: Raw, *, allow_negative_indices: Raw = True
) -> Abstract:
    """`operand` with the part that begins at the starts replaced by `update`."""
    array = jax_array(ctx, operand, "lax.dynamic_update_slice")
    new = jax_array(ctx, update, "lax.dynamic_update_slice")
    same_dtypes(ctx, "lax.dynamic_update_slice", [array, new])
    starts = _starts(ctx, start_indices, array, allow_negative_indices, "lax.dynamic_update_slice")
    stored = checked(ctx, DynamicUpdateSlice(), array.value, new.value, *starts)
    return ctx.jax(stored, array.weak and new.weak)


def _along(ctx: Context, array: Array, axis: int, start: Raw, wrap: Raw, function: str) -> list[Value]:
    """Starts that are 0 on all axes but one."""
    positions: list[Abstract] = [Const(0)] * array.rank
    positions[axis] = start if isinstance(start, Abstract) else Const(start)
    allowed = bool(ctx.known(wrap, f"allow_negative_indices of {function}"))
    return start_values(ctx, positions, array.shape, allowed)


@meaning(lax.dynamic_slice_in_dim)
def dynamic_slice_in_dim(
    ctx: Context,
    operand: Raw,
    start_index: Raw,
    slice_size: Raw,
    axis: Raw = 0,
    *,
    allow_negative_indices: Raw = True,
) -> Abstract:
    """`slice_size` elements along an axis from `start_index` on."""
    array = jax_array(ctx, operand, "lax.dynamic_slice_in_dim")
    at = axis_of(ctx, axis, array.rank, "lax.dynamic_slice_in_dim")
    size = integer(ctx, slice_size, "the size of lax.dynamic_slice_in_dim")
    starts = _along(ctx, array, at, start_index, allow_negative_indices, "lax.dynamic_slice_in_dim")
    sizes = (*array.shape[:at], size, *array.shape[at + 1 :])
    return ctx.jax(checked(ctx, DynamicSlice(sizes), array.value, *starts), array.weak)


@meaning(lax.dynamic_index_in_dim)
def dynamic_index_in_dim(
    ctx: Context,
    operand: Raw,
    index: Raw,
    axis: Raw = 0,
    keepdims: Raw = True,
    *,
    allow_negative_indices: Raw = True,
) -> Abstract:
    """One element along an axis, which stays with length 1 if `keepdims`."""
    array = jax_array(ctx, operand, "lax.dynamic_index_in_dim")
    at = axis_of(ctx, axis, array.rank, "lax.dynamic_index_in_dim")
    starts = _along(ctx, array, at, index, allow_negative_indices, "lax.dynamic_index_in_dim")
    sizes = (*array.shape[:at], 1, *array.shape[at + 1 :])
    found = ctx.jax(checked(ctx, DynamicSlice(sizes), array.value, *starts), array.weak)
    if ctx.known(keepdims, "keepdims of lax.dynamic_index_in_dim"):
        return found
    return ctx.jax(_without_axis(ctx, found, at), array.weak)


@meaning(lax.dynamic_update_slice_in_dim)
def dynamic_update_slice_in_dim(
    ctx: Context,
    operand: Raw,
    update: Raw,
    start_index: Raw,
    axis: Raw,
    *,
    allow_negative_indices: Raw = True,
) -> Abstract:
    """`operand` with elements along an axis, from `start_index` on, replaced by `update`."""
    array = jax_array(ctx, operand, "lax.dynamic_update_slice_in_dim")
    new = jax_array(ctx, update, "lax.dynamic_update_slice_in_dim")
    same_dtypes(ctx, "lax.dynamic_update_slice_in_dim", [array, new])
    at = axis_of(ctx, axis, array.rank, "lax.dynamic_update_slice_in_dim")
    starts = _along(ctx, array, at, start_index, allow_negative_indices, "lax.dynamic_update_slice_in_dim")
    stored = checked(ctx, DynamicUpdateSlice(), array.value, new.value, *starts)
    return ctx.jax(stored, array.weak and new.weak)


@meaning(lax.dynamic_update_index_in_dim)
def dynamic_update_index_in_dim(
    ctx: Context,
    operand: Raw,
    update: Raw,
    index: Raw,
    axis: Raw,
    *,
    allow_negative_indices: Raw = True,
) -> Abstract:
    """`operand` with one element along an axis replaced by `update`, with that axis or without."""
    array = jax_array(ctx, operand, "lax.dynamic_update_index_in_dim")
    new = jax_array(ctx, update, "lax.dynamic_update_index_in_dim")
    at = axis_of(ctx, axis, array.rank, "lax.dynamic_update_index_in_dim")
    if new.rank != array.rank:
        shape = (*new.shape[:at], 1, *new.shape[at:])
        new = ctx.jax(ctx.reshape(new.value, shape), new.weak)
    return dynamic_update_slice_in_dim(
        ctx, array, new, index, at, allow_negative_indices=allow_negative_indices
    )
