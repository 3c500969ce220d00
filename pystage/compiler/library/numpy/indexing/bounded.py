"""Bounded arrays made by `x[mask]` and `x[i:j]`: their sizes, views of them, and compaction of their elements.

The program computes the size of `x[mask]` with a computed mask, and of `x[i:j]` of unknown length. Such an array is a
whole and the positions of it that belong to the array (`values/bounded.py`). What needs adjacent elements asks for a
`compact` array, whose elements are the first ones of an array of their own. What can use neither form is refused, unless
unrolling the loop around gives the size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn, cast

import numpy as np

from .... import limits, ops
from ....ad.calculus import differentiable
from ....analysis.differences import difference, polynomial
from ....diagnostics.codes_types import MaskedUse
from ....diagnostics.diagnostic import DiagnosticError
from ....hlo.ir import Op, Value
from ....hlo.types import BOOL, INT64, ArrayType
from ....values.boundary import Form
from ....values.bounded import Bounded, Compressed, Extent, Progression, extent_of
from ....values.identity import Identity
from ....values.lattice import Abstract, Array, Const, Ref, SliceObject, Tuple, through
from ....values.views import Flipped, Index, Permuted, View, Window, entire, index_value, read_path
from ...context import Context, Raw
from .fancy_indexing import Fancy, gather
from .slices import SelectedPositions, mask_of, progression, stride, times
from .stores import known_array

# ---------------------------------------------------------------- making


def bounded(ctx: Context, whole: Ref | Array, extents: Sequence[Extent]) -> Bounded:
    """`whole` with these bounded axes; views of all elements of an array are left out."""
    type = whole.type if isinstance(whole, Array) else ctx.contents(whole).type
    while isinstance(whole, Ref) and whole.path and whole.path[-1] == entire(type.shape):
        inner = Ref(whole.cell, whole.path[:-1])
        if ctx.contents(inner).type != type:
            break
        whole = inner
    ordered = sorted(extents, key=lambda e: e.axis)
    return Bounded(whole, type, tuple(ordered), (Identity(ctx.b.span),))


def extent_along(mask: Value, chosen: SelectedPositions | None, axis: int) -> Extent:
    """The extent that a mask, or a slice of unknown length, selects along the axes from `axis` on."""
    return Extent(axis, mask) if chosen is None else extent_of(chosen.positions, axis, chosen.bounds)


def around(
    ctx: Context, extents: Sequence[Extent], shape: Sequence[int]
) -> tuple[list[Extent], Window | None]:
    """The window of an array of `shape` around slices that are certainly short, and their positions in it.

    What is done with a part costs what the part does: it is a view of as many elements as the slices have at most, moved so
    that it lies inside. None where no slice is short.
    """
    starts: list[Index] = [0] * len(shape)
    sizes, found = list(shape), []
    for extent in extents:
        places, axis = extent.progression, extent.axis
        most = None if places is None else _most_spread(ctx, places, extent.most)
        if places is not None and most is not None and 2 * most > shape[axis]:
            most = _capacity_of(ctx, extent, shape[axis]) or most
        if places is None or most is None or 2 * most > shape[axis]:
            found.append(extent)
            continue
        first = places.start
        if cast(int, places.step) < 0:
            first = ctx.op(ops.Subtract(), first, ctx.constant(most - 1, INT64))
            first = ctx.op(ops.Maximum(), first, ctx.constant(0, INT64))
        elif ctx.intervals(first)[1] > shape[axis] - most:
            first = ctx.op(ops.Minimum(), first, ctx.constant(shape[axis] - most, INT64))
        starts[axis], sizes[axis] = first, most
        found.append(replace(extent, start=ctx.op(ops.Subtract(), places.start, first)))
    return found, Window(tuple(starts), tuple(sizes)) if sizes != list(shape) else None


def _most_spread(ctx: Context, places: Progression, known: int | None) -> int | None:
    """The maximal number of positions that a slice spans, where known; it has at most `known` elements."""
    if not isinstance(places.step, int):
        return None
    _, most = difference(places.count, 0, ctx.intervals)
    most = most if known is None else min(most, known)
    return None if math.isinf(most) else max((int(most) - 1) * abs(places.step) + 1, 1)


def _capacity_of(ctx: Context, extent: Extent, most: int) -> int | None:
    """The capacity of a slice in a loop both of whose ends are data, where that is short compared with its axis.

    One that starts or ends with its axis has no capacity: it is as likely long.
    """
    places = extent.progression
    data = [math.isinf(ctx.range_of(bound)[1]) or _is_loaded(bound.value) for bound in extent.bounds]
    if (
        places is None
        or places.step not in (1, -1)
        or len(data) == 1
        or not any(data)
        or most < 2 * limits.FIRST_WINDOW
    ):
        return None
    if not (ctx.is_repeated() and ctx.can_grow()):
        return None
    capacity = ctx.capacity(
        limits.FIRST_WINDOW, what="a slice" if not extent.axis else f"a slice of axis {extent.axis}"
    )
    if 2 * capacity.size > most:
        return None
    ctx.needs_capacity(capacity, places.count)
    return capacity.size


def _is_loaded(number: Value) -> bool:
    """True for a number that is an element of an array, or computed from one."""
    pending, seen = [number], {number}
    while pending and len(seen) < limits.LOADED_BOUND_DEPTH:
        op = pending.pop().owner
        if isinstance(op, Op):
            if isinstance(op.kind, ops.DynamicSlice | ops.Gather):
                return True
            new = set(op.operands) - seen
            seen |= new
            pending += new
    return False


def part_around(ctx: Context, array: Bounded) -> Bounded:
    """The same array with a window around short slices as its whole."""
    extents, window = around(ctx, array.extents, array.type.shape)
    return array if window is None else bounded(ctx, viewed(ctx, array.whole, window), extents)


def first_elements(ctx: Context, whole: Ref | Array, sizes: dict[int, Value]) -> Bounded:
    """The first elements of `whole` along some axes, as many as `sizes` says of each."""
    zero = ctx.constant(0, INT64)
    return bounded(ctx, whole, [extent_of(Progression(zero, 1, n), axis) for axis, n in sizes.items()])


def longer(ctx: Context, axis: Extent | int, by: int) -> Extent | int:
    """An axis of a compact array with so many more elements."""
    if isinstance(axis, int) or not by:
        return axis + by if isinstance(axis, int) else axis
    assert axis.size is not None
    return replace(axis, size=ctx.op(ops.Add(), axis.size, ctx.constant(by, INT64)))


def from_zero(ctx: Context, count: int) -> Progression:
    """The extent of all positions of an axis of `count` elements."""
    return Progression(ctx.constant(0, INT64), 1, ctx.constant(count, INT64))


def whole_like(ctx: Context, array: Bounded, value: Value) -> Ref | Array:
    """A whole of the kind of another's."""
    return ctx.jax(value, array.weak) if array.form is Form.JAX else ctx.ndarray(value)


# ---------------------------------------------------------------- what is known of them


def elements(ctx: Context, array: Bounded) -> Value:
    """All elements of the whole, at present."""
    return array.whole.value if isinstance(array.whole, Array) else ctx.contents(array.whole)


def belonging(ctx: Context, array: Bounded) -> Value:
    """All elements of the whole, with derivatives of those that belong to the array only.

    What is computed of the others may be infinite or no number, and so are its derivatives.
    """
    value = elements(ctx, array)
    return only_where(ctx, where(ctx, array), value) if differentiable(value.type) else value


def only_where(ctx: Context, mask: Value, value: Value) -> Value:
    """`value`, without derivatives where the mask, of its shape, is false."""
    return ctx.op(ops.Select(), mask, value, ctx.op(ops.StopGradient(), value))


def spread(ctx: Context, mask: Value, shape: tuple[int, ...], axis: int) -> Value:
    """A mask along one axis of `shape` as a mask of that shape."""
    return mask if mask.type.shape == shape else ctx.op(ops.Broadcast(shape, (axis,)), mask)


def mask_along(ctx: Context, array: Bounded, extent: Extent) -> Value:
    """Which positions along `extent` belong to the array."""
    return mask_of_extent(ctx, extent, array.bound(extent))


def mask_of_extent(ctx: Context, extent: Extent, bound: int) -> Value:
    """Which positions belong to an extent, of the `bound` that the whole has there."""
    if extent.mask is not None:
        return extent.mask
    places = extent.progression
    assert places is not None
    return mask_of(ctx, places, bound)


def where(ctx: Context, array: Bounded, extents: Sequence[Extent] | None = None) -> Value:
    """Which elements of the whole belong to the array, as far as `extents` (by default all) say."""
    return where_of(ctx, array.type.shape, array.extents if extents is None else extents)


def where_of(ctx: Context, shape: tuple[int, ...], extents: Sequence[Extent]) -> Value:
    """Which elements of a whole of `shape` belong to all the extents."""
    found: Value | None = None
    for extent in extents:
        mask = spread(ctx, mask_of_extent(ctx, extent, shape[extent.axis]), shape, extent.axis)
        found = mask if found is None else ctx.op(ops.And(), found, mask)
    return ctx.broadcast(ctx.constant(True, BOOL), shape) if found is None else found


def count(ctx: Context, array: Bounded, extent: Extent) -> Array:
    """The number of elements of the array along `extent`, as a Python int."""
    most = array.bound(extent)
    if extent.size is not None:
        return ctx.python(extent.size, (0, most))
    mask = mask_along(ctx, array, extent)
    ones = ctx.op(ops.Convert(INT64), mask)
    total = ctx.op(ops.Reduce(ops.Add(), (0,)), ones, ctx.constant(0, INT64))
    return ctx.python(total, (0, most))


def shape(ctx: Context, array: Bounded) -> list[Abstract]:
    """The shape, with known and computed integers."""
    return [count(ctx, array, a) if isinstance(a, Extent) else Const(a) for a in array.axes]


def size(ctx: Context, array: Bounded) -> Array:
    """The number of elements of the array, as a Python int."""
    found = number_of(ctx, array, array.axes)
    assert isinstance(found, Array)
    return found


def number_of(ctx: Context, array: Bounded, axes: Sequence[Extent | int]) -> Array | Const:
    """The product of the extents of these axes of the array, as a Python int."""
    known, most, found = 1, 1, None
    for axis in axes:
        if isinstance(axis, int):
            known *= axis
            continue
        most *= array.bound(axis)
        each = count(ctx, array, axis).value
        found = each if found is None else ctx.op(ops.Multiply(), found, each)
    if found is None:
        return Const(known)
    if known != 1:
        found = ctx.op(ops.Multiply(), found, ctx.constant(known, INT64))
    return ctx.python(found, (0, known * most))


def length(ctx: Context, array: Bounded) -> Abstract:
    """`len(x[mask])`."""
    return shape(ctx, array)[0]


def bounded_attribute(ctx: Context, array: Bounded, name: str) -> Abstract | None:
    """An attribute of a bounded array that does not need its elements: dtype, ndim, size, shape, transpose."""
    match name:
        case "dtype":
            return Const(array.type.dtype)
        case "itemsize":
            return Const(array.type.dtype.itemsize)
        case "ndim":
            return Const(array.rank)
        case "shape":
            return Tuple(tuple(shape(ctx, array)))
        case "size":
            return size(ctx, array)
        case "T":
            return transposed(ctx, array, tuple(range(array.rank))[::-1])
    return None


# ---------------------------------------------------------------- refusing


def refuse(ctx: Context, what: str, *arrays: Raw) -> NoReturn:
    """Fails where something needs the number of elements of bounded arrays.

    Where loops around decide it, inference begins again with these unrolled.
    """
    given = [e for a in arrays if isinstance(a, Bounded) for e in a.extents]
    sizes = [(ctx.python(e.size),) if e.size is not None else () for e in given]
    refuse_bounds(ctx, what, [n for e, size in zip(given, sizes) for n in e.bounds or size])


def refuse_bounds(ctx: Context, what: str, bounds: Sequence[Array]) -> NoReturn:
    """The same as `refuse`, for the numbers that determine slices."""
    try:
        for bound in bounds:
            ctx.known(bound, "a bound of a slice, so that its size is known,")
    except DiagnosticError:
        pass  # what it would need is said better here
    ctx.fail(MaskedUse(span=ctx.span, what=what))


# ---------------------------------------------------------------- the elements in order


def is_known_false(value: Value) -> bool:
    """True for the constants False and 0."""
    kind = value.owner.kind if isinstance(value.owner, Op) else None
    return isinstance(kind, ops.Constant) and not kind.data


def same_number(ctx: Context, a: Value | None, b: Value | None) -> bool:
    """True if two integers of the program are certainly equal."""
    return a is b or (a is not None and b is not None and not polynomial(a, b, ctx.intervals))


def is_compact(extent: Extent) -> bool:
    """True if the elements of the array are the first ones of the whole."""
    places = extent.progression
    if places is None or places.step != 1:
        return False
    return is_known_false(places.start)


def own_copy(ctx: Context, array: Bounded) -> Bounded:
    """The same elements in memory of their own; a `jax.Array` itself."""
    if isinstance(array.whole, Array):
        return array
    return bounded(ctx, ctx.ndarray(elements(ctx, array)), array.extents)


def compact(ctx: Context, array: Bounded) -> Bounded:
    """The same elements as the first ones of an array of its own; the array itself if it is compact.

    What lies beyond them means nothing.
    """
    if all(map(is_compact, array.extents)):
        return array
    value = elements(ctx, array)
    extents: list[Extent] = []
    for extent in array.extents:
        own = count(ctx, array, extent)
        if extent.mask is not None:
            value = compress(ctx, value, extent.mask, extent.axis, own.value)
        elif not is_compact(extent):
            value = taken(ctx, value, extent.axis, places_in_order(ctx, array, extent))
        zero = ctx.constant(0, INT64)
        extents.append(extent_of(Progression(zero, 1, own.value), extent.axis, extent.bounds))
    return bounded(ctx, whole_like(ctx, array, value), extents)


def compress(ctx: Context, value: Value, mask: Value, axis: int, size: Value) -> Value:
    """The `size` elements that a mask selects along an axis, compacted; what follows them has no meaning."""
    places = ctx.op(ops.MaskPlaces(), mask)
    made = ctx.convert(places, value.type.dtype) if _is_iota(value) else taken(ctx, value, axis, places)
    ctx.compressed[made] = Compressed(value, mask, axis, size)
    return made


def with_masks(ctx: Context, array: Bounded) -> Bounded:
    """The array before masks selected its elements, where they are unchanged; else `array` itself.

    What is computed of all elements costs less than to put the selected ones in order, which then is left out.
    """
    content = elements(ctx, array)
    found = ctx.compressed.get(content)
    if found is None:
        return array
    along = array.axes[found.axis]
    if not isinstance(along, Extent) or not is_compact(along) or not same_number(ctx, along.size, found.size):
        return array  # a part of them
    extents = [Extent(e.axis, found.mask) if e.axis == found.axis else e for e in array.extents]
    return bounded(ctx, whole_like(ctx, array, found.whole), extents)


def in_order(ctx: Context, array: Bounded) -> Bounded:
    """The array without masks: selected elements are compacted."""
    return array if all(e.mask is None for e in array.extents) else compact(ctx, array)


def taken(ctx: Context, value: Value, axis: int, places: Value) -> Value:
    """The elements of `value` at these places along `axis`."""
    return gather(ctx, value, Fancy((axis,), (places,), places.type.shape, axis, False))


def _is_iota(value: Value) -> bool:
    """True for the numbers 0, 1, 2, …, each at its own position."""
    if value.type.rank != 1 or value.type.dtype.kind not in "iu":
        return False
    if isinstance(value.owner, Op) and isinstance(value.owner.kind, ops.Iota):
        return True
    known = known_array(value)
    return known is not None and np.array_equal(known, np.arange(known.size))


def places_in_order(ctx: Context, array: Bounded, extent: Extent) -> Value:
    """The positions that belong to `extent`, compacted, as int64; what follows are any positions inside."""
    most, places = array.bound(extent), extent.progression
    if places is None:
        refuse(ctx, "the order of the elements", array)
    found = times(ctx, ctx.op(ops.Iota(ArrayType(INT64, (most,)), 0)), places.step)
    found = ctx.op(ops.Add(), found, ctx.broadcast(places.start, (most,)))
    least = ctx.broadcast(ctx.constant(0, INT64), (most,))
    last = ctx.broadcast(ctx.constant(max(most - 1, 0), INT64), (most,))
    return ctx.op(ops.Maximum(), ctx.op(ops.Minimum(), found, last), least)


def index_in_whole(ctx: Context, array: Bounded, extent: Extent, numbers: Value) -> Value:
    """The positions in the whole of elements, by their indices along `extent`, clamped into range."""
    places, shape = extent.progression, numbers.type.shape
    if places is None:
        refuse(ctx, "one element", array)
    return ctx.op(ops.Add(), ctx.broadcast(places.start, shape), times(ctx, numbers, places.step))


def rank_in_mask(ctx: Context, mask: Value) -> Value:
    """For each true element of a vector, the number of true elements before it."""
    extents = (most,) = mask.type.shape
    if not most:
        return ctx.broadcast(ctx.constant(0, INT64), extents)
    ones, zero = ctx.op(ops.Convert(INT64), mask), ctx.constant(0, INT64)
    total = ctx.op(ops.ReduceWindow(ops.Add(), (most,), (1,), ((most - 1, 0),), (1,), (1,)), ones, zero)
    return ctx.op(ops.Subtract(), total, ctx.broadcast(ctx.constant(1, INT64), extents))


# ---------------------------------------------------------------- views of them


def part_along(ctx: Context, array: Bounded, extent: Extent, entry: SliceObject) -> Extent:
    """A slice along a bounded axis."""
    inner = progression(ctx, entry, count(ctx, array, extent))
    places = extent.progression
    if places is None:
        refuse(ctx, "a slice", array)
    start = ctx.op(ops.Add(), places.start, times(ctx, inner.start, places.step))
    step: int | Value
    if isinstance(places.step, int) and isinstance(inner.step, int):
        step = places.step * inner.step
    else:
        step = times(ctx, stride(ctx, inner.step), places.step)
    ends = tuple([end for end in (entry.start, entry.stop) if isinstance(end, Array)])
    bounds = ends if len(ends) == 2 or not extent.bounds else extent.bounds
    return extent_of(Progression(start, step, inner.count), extent.axis, bounds)


def transposed(ctx: Context, array: Bounded, axes: Sequence[int]) -> Bounded:
    """The axes in another order; a view of the same memory."""
    order = tuple(axes)
    if order == tuple(range(array.rank)):
        return array.anew(ctx.b.span)
    extents = [replace(e, axis=order.index(e.axis)) for e in array.extents]
    return bounded(ctx, viewed(ctx, array.whole, Permuted(order)), extents)


def viewed(ctx: Context, whole: Ref | Array, view: View) -> Ref | Array:
    """A view of an ndarray, or its contents for a `jax.Array`."""
    if isinstance(whole, Ref):
        return through(whole, (view,))
    return ctx.jax(read_path(ctx.b, whole.value, (view,)), whole.weak)


def flipped(ctx: Context, array: Bounded, axes: Sequence[int]) -> Bounded:
    """The elements along these axes in reverse; a view of the same memory."""
    back = SliceObject(Const(None), Const(None), Const(-1))
    extents = [part_along(ctx, array, e, back) if e.axis in axes else e for e in array.extents]
    turned = tuple([axis for axis in axes if isinstance(array.axes[axis], int)])
    return bounded(ctx, viewed(ctx, array.whole, Flipped(turned)) if turned else array.whole, extents)


def forwards(ctx: Context, array: Bounded) -> Bounded:
    """The same array with ascending positions where the steps are known: as a reversed view of the whole."""
    turned = [e for e in array.extents if e.mask is None and isinstance(e.step, int) and e.step < 0]
    if not turned:
        return array
    extents = [e for e in array.extents if e not in turned]
    for extent in turned:
        last = ctx.constant(array.bound(extent) - 1, INT64)
        assert extent.start is not None
        step = -cast(int, extent.step)
        extents.append(replace(extent, start=ctx.op(ops.Subtract(), last, extent.start), step=step))
    made = bounded(ctx, viewed(ctx, array.whole, Flipped(tuple([e.axis for e in turned]))), extents)
    return made.same_as(array)


def widened(ctx: Context, array: Bounded) -> Bounded | None:
    """The same array as positions in the memory of which its whole is a window or the reverse; None where it is neither."""
    whole = array.whole
    if (
        not isinstance(whole, Ref)
        or not whole.path
        or not isinstance(view := whole.path[-1], Window | Flipped)
    ):
        return None
    wider = Ref(whole.cell, whole.path[:-1])
    shape = ctx.contents(wider).type.shape
    apart = view.axes if isinstance(view, Flipped) else narrowed(view, shape)
    if not {*apart} <= {e.axis for e in array.extents if e.mask is None}:
        return None
    return bounded(ctx, wider, [_seen_through(ctx, e, view, shape) for e in array.extents]).same_as(array)


def narrowed(window: Window, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of an array of `shape` of which a window shows a part."""
    return tuple([axis for axis, (n, most) in enumerate(zip(window.sizes, shape)) if n != most])


def _seen_through(ctx: Context, extent: Extent, view: Window | Flipped, shape: tuple[int, ...]) -> Extent:
    """The positions in an array of `shape` of those in a view of it."""
    axis, start = extent.axis, extent.start
    if start is None:
        return extent
    if isinstance(view, Window):
        most = min(view.sizes[axis], extent.most or shape[axis])
        moved = ctx.op(ops.Add(), start, index_value(ctx.b, view.starts[axis]))
        return replace(extent, start=moved, most=most if most < shape[axis] else None)
    if axis not in view.axes:
        return extent
    last = ctx.constant(shape[axis] - 1, INT64)
    step = -extent.step if isinstance(extent.step, int) else ctx.op(ops.Negate(), extent.step)
    return replace(extent, start=ctx.op(ops.Subtract(), last, start), step=step)


def raveled(ctx: Context, array: Bounded) -> Bounded:
    """All elements along one axis: a copy, or a view of a vector."""
    if array.rank == 1:
        return array.anew(ctx.b.span)
    if not all(isinstance(e.step, int) and e.step > 0 for e in array.extents):
        array = compact(ctx, array)
    size = array.type.size
    flat = ctx.reshape(elements(ctx, array), (size,))
    mask = ctx.reshape(where(ctx, array), (size,))
    return in_order(ctx, bounded(ctx, whole_like(ctx, array, flat), [Extent(0, mask)]))
