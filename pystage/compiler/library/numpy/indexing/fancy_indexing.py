"""Fancy indexing: loads and stores at index arrays, as `Gather` and `Scatter`.

In: the value of an array and normalised `Indices`. The integers and slices of the index are views and apply first; the
rest are index arrays along some axes of that view, broadcast together. As in NumPy, their axes replace the indexed axes
if these are adjacent, else they come first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .....records import dataclass
from ....diagnostics.codes_types import MaskedUse
from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import INT64
from ....ops import Concatenate, Gather, Scatter
from ....values.views import Flipped, Index, Reshaped, Strided, View, Window
from ...context import Context
from .indices import Indices, IntegerArrayIndex, IntegerIndex, Item, MaskIndex, NewAxis
from .slices import SliceIndex


def basic_views(items: Sequence[Item], shape: tuple[int, ...], clamp: bool = False) -> tuple[View, ...]:
    """The views for integers, slices and new axes; axes indexed by arrays stay whole.

    `clamp`: known integers outside are clamped, as JAX's loads do.
    """
    parts: list[SliceIndex] = []
    sizes: list[int] = []
    for item in items:
        if isinstance(item, NewAxis):
            sizes.append(1)
            continue
        extent = shape[len(parts)]
        match item:
            case IntegerIndex(index=index):
                if clamp and isinstance(index, int):
                    index = min(max(index, 0), extent - 1)
                parts.append(SliceIndex(index, 1, 1))
            case SliceIndex():
                parts.append(item)
                sizes.append(item.size)
            case MaskIndex(value=value):
                taken = shape[len(parts) : len(parts) + value.type.rank]
                parts += [SliceIndex(0, n, 1) for n in taken]
                sizes += taken
            case IntegerArrayIndex():
                parts.append(SliceIndex(0, extent, 1))
                sizes.append(extent)
    views = _box_views(parts, shape)
    if sizes != [p.size for p in parts]:
        views.append(Reshaped(tuple(sizes)))
    return tuple(views)


def _box_views(parts: list[SliceIndex], shape: tuple[int, ...]) -> list[View]:
    """The views that cut the parts out of an array of `shape`."""
    views: list[View] = []
    if any(abs(p.step) > 1 for p in parts):
        if any(not isinstance(p.start, int) for p in parts):
            at: list[Index] = [0 if isinstance(p.start, int) else p.start for p in parts]
            sizes = [n if isinstance(p.start, int) else p.size for p, n in zip(parts, shape)]
            views.append(Window(tuple(at), tuple(sizes)))
            parts = [p if isinstance(p.start, int) else SliceIndex(0, p.size, 1) for p in parts]
        starts = tuple([_first(p) for p in parts])
        limits = tuple([a + (p.size - 1) * abs(p.step) + 1 if p.size else a for a, p in zip(starts, parts)])
        views.append(Strided(starts, limits, tuple([abs(p.step) for p in parts])))
    elif not all(p.is_whole(n) or (p.step == -1 and p.size == n) for p, n in zip(parts, shape)):
        begins = tuple([p.start if not isinstance(p.start, int) else _first(p) for p in parts])
        views.append(Window(begins, tuple([p.size for p in parts])))
    flipped = tuple([axis for axis, p in enumerate(parts) if p.step < 0])
    if flipped:
        views.append(Flipped(flipped))
    return views


def _first(part: SliceIndex) -> int:
    """The lowest index of a part with a known start."""
    assert isinstance(part.start, int)
    return part.start + (part.size - 1) * part.step if part.step < 0 and part.size else part.start


# ---------------------------------------------------------------- arrays of indices


@dataclass(frozen=True, slots=True)
class Fancy:
    """Arrays of indices along `axes` of an array, broadcast to `batch`, whose axes go to `position`."""

    axes: tuple[int, ...]
    positions: tuple[Value, ...]
    batch: tuple[int, ...]
    position: int
    unique: bool

    def result_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the result for an array of `shape`."""
        kept = [n for axis, n in enumerate(shape) if axis not in self.axes]
        return (*kept[: self.position], *self.batch, *kept[self.position :])

    def offset_axes(self, rank: int) -> tuple[int, ...]:
        """The axes of the result that are axes of the array."""
        total = rank - len(self.axes) + len(self.batch)
        inner = range(self.position, self.position + len(self.batch))
        return tuple([axis for axis in range(total) if axis not in inner])


def fancy(ctx: Context, indices: Indices) -> Fancy:
    """The arrays of an index, against the view that its integers and slices make."""
    axes: list[int] = []
    arrays: list[IntegerArrayIndex] = []
    axis = 0
    first: int | None = None
    for item in indices.items:
        if isinstance(item, MaskIndex):
            for bound in () if item.slice is None else item.slice.bounds:
                ctx.known(bound, "a bound of a slice beside another index")
            ctx.fail(MaskedUse(span=ctx.span, what="indexing with another index beside the mask"))
        if isinstance(item, IntegerIndex | IntegerArrayIndex) and first is None:
            first = axis - len(axes)
        if isinstance(item, IntegerArrayIndex):
            axes.append(axis)
            arrays.append(item)
        axis += not isinstance(item, IntegerIndex)
    shapes = [a.value.type.shape for a in arrays]
    batch = _common_shape(ctx, shapes)
    positions = tuple([ctx.broadcast(a.value, batch) for a in arrays])
    position = 0 if indices.separated else first or 0
    return Fancy(tuple(axes), positions, batch, position, _unique(arrays))


def _common_shape(ctx: Context, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        texts = " ".join("(" + ",".join(map(str, s)) + ("," if len(s) == 1 else "") + ")" for s in shapes)
        text = "shape mismatch: indexing arrays could not be broadcast together with shapes"
        ctx.raise_(IndexError(f"{text} {texts} "))


def _unique(arrays: Sequence[IntegerArrayIndex]) -> bool:
    """True if the indices are certainly all different."""
    if len(arrays) != 1 or arrays[0].known is None:
        return False
    known = arrays[0].known
    return len(np.unique(known)) == known.size


def index_vectors(ctx: Context, positions: Sequence[Value]) -> Value:
    """The indices of several axes, one vector per element along a last axis; of one axis as they are."""
    if len(positions) == 1:
        return positions[0]
    columns = [ctx.reshape(p, (*p.type.shape, 1)) for p in positions]
    return ctx.op(Concatenate(len(columns[0].type.shape) - 1), *columns)


def gather(ctx: Context, array: Value, at: Fancy) -> Value:
    """The elements of `array` at the indices; indices out of bounds are clamped."""
    shape = array.type.shape
    if 0 in at.result_shape(shape) or 0 in shape:
        return ctx.broadcast(ctx.constant(0, array.type.dtype), at.result_shape(shape))
    sizes = tuple([1 if axis in at.axes else n for axis, n in enumerate(shape)])
    kind = Gather(
        offset_dims=at.offset_axes(len(shape)),
        collapsed_slice_dims=tuple(sorted(at.axes)),
        start_index_map=at.axes,
        index_vector_dim=len(at.batch),
        slice_sizes=sizes,
    )
    return ctx.op(kind, array, index_vectors(ctx, at.positions))


def scatter(ctx: Context, array: Value, at: Fancy, new: Value, combine: HloOp | None = None) -> Value:
    """`array` with `new` at the indices, of several at one index the last; indices out of bounds are skipped."""
    shape = array.type.shape
    if 0 in new.type.shape or 0 in shape:
        return array
    kind = Scatter(
        combine=combine,
        update_window_dims=at.offset_axes(len(shape)),
        inserted_window_dims=tuple(sorted(at.axes)),
        scatter_dims_to_operand_dims=at.axes,
        index_vector_dim=len(at.batch),
        unique_indices=at.unique,
    )
    return ctx.op(kind, array, index_vectors(ctx, at.positions), new)


def as_index_arrays(items: Sequence[Item], ctx: Context) -> tuple[Item, ...]:
    """Integers as 0-d arrays of indices, where a store must not clamp them."""
    made: list[Item] = []
    for item in items:
        if isinstance(item, IntegerIndex):
            index = item.index
            made.append(IntegerArrayIndex(ctx.constant(index, INT64) if isinstance(index, int) else index))
        else:
            made.append(item)
    return tuple(made)
