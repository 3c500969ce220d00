"""Bounded arrays as indices, and indices of bounded arrays: both become indices of wholes.

In: an index of a bounded array, or one with bounded arrays of integers. Out: an index of arrays of known extents, and the
bounded axes of the result; the program raises what NumPy raises for indices out of bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .....records import dataclass
from ....hlo.ir import Value
from ....hlo.types import BOOL, INT64, is_integer
from ....ops import Add, And, Clamp, Compare, Maximum, Minimum, Or, Reduce, Select, Subtract
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent
from ....values.lattice import NONE, Abstract, Array, Const, Ref, SliceObject, Tuple
from ...context import Context, Raw
from ...kernels.structures import abstract
from ...rules.promote import value_of
from .bounded import (
    bounded,
    count,
    elements,
    first_elements,
    forwards,
    index_in_whole,
    mask_along,
    part_along,
    refuse,
    where,
)
from .bounded_operands import beside, placed
from .indices import check_no_sequence, entry_of, is_index


def inside_indices(ctx: Context, index: Bounded) -> Value:
    """The positions of a vector, with 0 for those that do not belong to it."""
    zero = ctx.broadcast(ctx.constant(0, index.type.dtype), index.type.shape)
    return ctx.op(Select(), where(ctx, index), elements(ctx, index), zero)


@dataclass(frozen=True, slots=True)
class BoundedIndex:
    """An index with bounded arrays of integers, as one of wholes, with 0 for elements that do not belong to them.

    `batch` is an array of the shape to which they broadcast, with the bounded axes of that; None where the index has none.
    """

    index: Tuple
    batch: Bounded | None


def has_bounded(index: Raw) -> bool:
    return isinstance(index, Bounded) or (
        isinstance(index, Tuple) and any(isinstance(item, Bounded) for item in index.items)
    )


def index_of_wholes(ctx: Context, shape: tuple[int, ...], index: Raw, jax: bool) -> BoundedIndex:
    """The index of an array of `shape` without bounded arrays; a bounded mask has as many elements as the axis."""
    items = list(index.items) if isinstance(index, Tuple) else [abstract(index)]
    axis = sum(
        [item is not NONE and not isinstance(item, Bounded) for item in items[: _first_bounded(items)]]
    )
    for i, item in enumerate(items):
        if isinstance(item, Bounded) and item.type.dtype == BOOL:
            if len(items) > 1 and item.rank > 1:
                refuse(ctx, "indexing with a mask", item)
            items[i] = _exact_mask(ctx, item, shape[axis : axis + item.rank])
    arrays = [i for i, item in enumerate(items) if isinstance(item, Bounded)]
    if not arrays:
        return BoundedIndex(Tuple(tuple(items)), None)
    if any(isinstance(item, Bounded) and not is_integer(item.type.dtype) for item in items):
        ctx.raise_(IndexError("arrays used as indices must be of integer (or boolean) type"))
    if 0 in shape:
        if jax or len(arrays) > 1:
            refuse(ctx, "indexing an array without elements", *items)
        named = sum([item is not NONE for item in items[: arrays[0]]])
        if not shape[named]:
            items[arrays[0]] = _no_index(ctx, items[arrays[0]], named)
            return BoundedIndex(Tuple(tuple(items)), None)
    positions = [i for i, item in enumerate(items) if i in arrays or _is_array(ctx, item)]
    wholes, found = placed(ctx, "indexing", _indexed, [items[i] for i in positions])
    values = [read.value for x in wholes if isinstance(read := ctx.read(x), Array)]
    shape = np.broadcast_shapes(*[v.type.shape for v in values])
    extents = [e.moved(len(shape)) for e in found]
    zeros = ctx.broadcast(ctx.constant(0, INT64), shape)
    batch = bounded(ctx, ctx.jax(zeros), extents)
    bounds_checks = where(ctx, batch)
    for i, value in zip(positions, values):
        zero = ctx.broadcast(ctx.constant(0, value.type.dtype), shape)
        chosen = ctx.op(Select(), bounds_checks, ctx.broadcast(value, shape), zero)
        items[i] = ctx.jax(chosen) if jax else ctx.ndarray(chosen)
    return BoundedIndex(Tuple(tuple(items)), batch if extents else None)


def _no_index(ctx: Context, index: Abstract, axis: int) -> Abstract:
    """Indices along an axis of no elements: there must be none, or the program raises NumPy's exception."""
    assert isinstance(index, Bounded)

    def look_up(numbers: np.ndarray) -> None:
        for i in numbers.ravel():
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size 0")

    own = where(ctx, index)
    some = ctx.op(Reduce(Or(), tuple(range(index.rank))), own, ctx.constant(False, BOOL))
    ctx.check(some, IndexError("index is out of bounds"), look_up, [index])
    shape = tuple([0 if isinstance(n, Extent) else n for n in index.axes])
    return ctx.ndarray(ctx.broadcast(ctx.constant(0, INT64), shape))


def _indexed(*positions: np.ndarray) -> None:
    """The exception of NumPy for index arrays whose shapes do not broadcast."""
    np.zeros((1,) * len(positions), np.int8)[tuple([np.zeros(p.shape, np.intp) for p in positions])]


def _first_bounded(items: Sequence[Abstract]) -> int:
    return next((i for i, item in enumerate(items) if isinstance(item, Bounded)), 0)


def _is_array(ctx: Context, item: Abstract) -> bool:
    """True for an index that is an array of integers."""
    if isinstance(item, SliceObject | Const) or is_index(item):
        return False
    read = ctx.read(item)
    return isinstance(read, Array) and read.rank > 0


def _exact_mask(ctx: Context, mask: Bounded, shape: tuple[int, ...]) -> Abstract:
    """A bounded mask of an array of `shape`, of which it must have the shape."""

    def plain(theirs: np.ndarray, ours: np.ndarray) -> None:
        np.zeros(theirs.shape, np.int8)[ours.astype(np.bool_)]

    target = bounded(ctx, ctx.ndarray(ctx.broadcast(ctx.constant(0, BOOL), shape)), ())
    exact: Abstract = beside(ctx, "indexing", plain, target, mask, broadcasts=False)
    return exact


def index_of_whole(ctx: Context, array: Bounded, index: Raw) -> tuple[Ref | Array, Tuple, list[Extent], bool]:
    """An index of a bounded array as an index of its whole, and the bounded axes of the result.

    The last says whether the plain run returns a copy.
    """
    mask = index.items[0] if isinstance(index, Tuple) and len(index.items) == 1 else abstract(index)
    if array.rank > 1 and _mask_rank(ctx, mask) == array.rank:
        array = forwards(ctx, array)
        return array.whole, Tuple((_mask_of_whole(ctx, array, mask),)), [], True
    entries = _entries(ctx, array, index)
    if any(_mask_rank(ctx, e) for e in entries):
        array = forwards(ctx, array)
    extents: list[Extent] = []
    inner: list[Abstract] = []
    copies = False
    axis = at = 0
    arrays = [e for e in entries if not (e is None or isinstance(e, SliceObject) or is_index(e))]
    if len(arrays) > 1 or (arrays and (any(map(is_index, entries)) or _rank(ctx, arrays[0]) != 1)):
        return _index_by_arrays(ctx, array, entries)
    for entry in entries:
        if entry is None:
            inner.append(NONE)
            at += 1
            continue
        own = array.axes[axis]
        axis += 1
        if isinstance(own, int):
            inner.append(entry)
            at += not is_index(entry)
        elif isinstance(entry, SliceObject):
            whole_axis = entry if _is_all(entry) else None
            extent = own if whole_axis else part_along(ctx, array, own, entry)
            extents.append(replace(extent, axis=at))
            inner.append(SliceObject(Const(None), Const(None), Const(None)))
            at += 1
        elif is_index(entry):
            inner.append(_one_place(ctx, array, own, entry))
        else:
            found, chosen = _some_places(ctx, array, own, entry)
            if chosen is not None:
                extents.append(replace(chosen, axis=at))
            inner.append(found)
            copies = True
            at += 1
    if not at and len(inner) < len(_given(index)):
        inner.append(Const(Ellipsis))  # an array without axes, and no number
    return array.whole, Tuple(tuple(inner)), extents, copies


def _mask_rank(ctx: Context, entry: Any) -> int:
    """The number of axes of a mask; 0 for other entries."""
    if entry is None or isinstance(entry, SliceObject | Const | Tuple) or is_index(entry):
        return 0
    array = entry if isinstance(entry, Bounded) else ctx.read(entry)
    return array.rank if isinstance(array, Bounded | Array) and array.type.dtype == BOOL else 0


def _mask_of_whole(ctx: Context, array: Bounded, mask: Abstract) -> Abstract:
    """A mask of all axes of a bounded array, which must have its shape, as one of the whole."""

    def plain(theirs: np.ndarray, ours: np.ndarray) -> None:
        np.zeros(theirs.shape, np.int8)[ours.astype(np.bool_)]

    here = where(ctx, array)
    target = Bounded(ctx.jax(here), here.type, array.extents)
    axes = mask.axes if isinstance(mask, Bounded) else ctx.read(mask).shape  # type: ignore[union-attr]
    if any(isinstance(e.step, Value) for e in array.extents) or any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(array.axes, axes)
    ):
        refuse(ctx, "indexing with a mask", array)
    chosen = ctx.read(beside(ctx, "indexing", plain, target, mask, broadcasts=False))
    assert isinstance(chosen, Array)
    both = ctx.op(And(), here, chosen.value)
    return ctx.jax(both) if array.form is Form.JAX else ctx.ndarray(both)


def _index_by_arrays(
    ctx: Context, array: Bounded, entries: Sequence[Any]
) -> tuple[Ref | Array, Tuple, list[Extent], bool]:
    """The same as `index_of_whole`, with index arrays that broadcast together; integers are among them.

    Those stand where the first of them does, or in front where something else is between them.
    """
    inner: list[Abstract] = []
    extents: dict[int, Extent] = {}
    ranks: dict[int, int] = {}
    axis = 0
    for i, entry in enumerate(entries):
        if entry is None:
            inner.append(NONE)
            continue
        own = array.axes[axis]
        axis += 1
        if isinstance(entry, SliceObject):
            if isinstance(own, int):
                inner.append(entry)
                continue
            extents[i] = own if _is_all(entry) else part_along(ctx, array, own, entry)
            inner.append(SliceObject(Const(None), Const(None), Const(None)))
        elif is_index(entry):
            ranks[i] = 0
            inner.append(entry if isinstance(own, int) else _one_place(ctx, array, own, entry))
        else:
            ranks[i] = _rank(ctx, entry)
            if _mask_rank(ctx, entry) and isinstance(own, Extent) and isinstance(own.step, Value):
                _mask_along(ctx, array, own, entry)
                entry = ctx.call(Const(np.flatnonzero), [entry])
            elif _mask_rank(ctx, entry):
                entry, own = _where_masked(ctx, array, axis - 1, entry), array.type.shape[axis - 1]
            inner.append(entry if isinstance(own, int) else _places_by_array(ctx, array, own, entry))
    batch, named = max(ranks.values()), sorted(ranks)
    together = named == list(range(named[0], named[-1] + 1))
    found: list[Extent] = []
    for i, extent in extents.items():
        before = i - sum([n < i for n in named])
        found.append(replace(extent, axis=before + (batch if not together or i > named[0] else 0)))
    return array.whole, Tuple(tuple(inner)), found, True


def _where_masked(ctx: Context, array: Bounded, axis: int, mask: Abstract) -> Abstract:
    """The positions in the whole along an axis that a vector of bools selects."""
    own = array.axes[axis]
    if _mask_rank(ctx, mask) != 1:
        refuse(ctx, "indexing with a mask and another array", array)
    if isinstance(own, Extent):
        chosen = _mask_along(ctx, array, own, mask)
        return ctx.call(Const(np.flatnonzero), [ctx.ndarray(chosen)])
    exact = _exact_mask(ctx, mask, (own,)) if isinstance(mask, Bounded) else mask
    read = ctx.read(exact)
    if not isinstance(read, Array) or read.shape != (own,):
        refuse(ctx, "indexing with a mask and another array", array)
    return ctx.call(Const(np.flatnonzero), [ctx.ndarray(read.value)])


def _rank(ctx: Context, entry: Abstract) -> int:
    """The number of axes of an array of indices."""
    if isinstance(entry, Bounded):
        return entry.rank
    read = ctx.read(entry)
    return read.rank if isinstance(read, Array) else 1


def _places_by_array(ctx: Context, array: Bounded, extent: Extent, entry: Abstract) -> Abstract:
    """The positions in the whole along a bounded axis of elements that an array of integers names."""
    form = ctx.jax if array.form is Form.JAX else ctx.ndarray
    if isinstance(entry, Bounded):
        if not is_integer(entry.type.dtype):
            ctx.raise_(IndexError("arrays used as indices must be of integer (or boolean) type"))
        positions = _places(ctx, array, extent, inside_indices(ctx, entry), where(ctx, entry))
        return bounded(ctx, form(positions), entry.extents)
    read = entry_of(ctx, entry, array.form is Form.JAX)
    if not isinstance(read, Array):
        refuse(ctx, "indexing with a list and another array", array)
    return form(_places(ctx, array, extent, read.value, None))


def _is_all(entry: SliceObject) -> bool:
    return all(isinstance(p, Const) and p.value is None for p in (entry.start, entry.stop, entry.step))


def _given(index: Raw) -> list[Any]:
    """What stands between the brackets."""
    return list(index.items) if isinstance(index, Tuple) else [abstract(index)]


def _entries(ctx: Context, array: Bounded, index: Raw) -> list[Any]:
    """What stands between the brackets, one entry for each axis of the array, and None for new ones."""
    found: list[Any] = []
    for raw in _given(index):
        if array.form is Form.JAX:
            check_no_sequence(ctx, raw)
        if isinstance(raw, Const) and isinstance(raw.value, slice):
            raw = SliceObject(Const(raw.value.start), Const(raw.value.stop), Const(raw.value.step))
        found.append(None if isinstance(raw, Const) and raw.value is None else raw)
    dots = [i for i, e in enumerate(found) if isinstance(e, Const) and e.value is Ellipsis]
    used = sum([e is not None for e in found]) - len(dots)
    if used > array.rank:
        text = f"too many indices for array: array is {array.rank}-dimensional, but {used} were indexed"
        ctx.raise_(IndexError(text))
    full = [SliceObject(Const(None), Const(None), Const(None))] * (array.rank - used)
    at = dots[0] if dots else len(found)
    return [*found[:at], *full, *found[at + 1 :]]


def _one_place(ctx: Context, array: Bounded, extent: Extent, entry: Abstract) -> Abstract:
    """The position in the whole of the element at an integer; the program raises where there is none."""
    number = ctx.read(entry)
    own, axis = count(ctx, array, extent), extent.axis
    front = ctx.convert(value_of(ctx, number, INT64), INT64)
    moved = ctx.op(Add(), front, own.value)
    front = ctx.op(Select(), ctx.op(Compare("LT"), front, ctx.constant(0, INT64)), moved, front)

    def look_up(i: int, n: int) -> None:
        if jax and not n:
            raise IndexError(f"index is out of bounds for axis {axis} with size 0")
        if not jax and not -n <= i < n:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")

    jax, zero = array.form is Form.JAX, ctx.constant(0, INT64)
    if jax:  # takes the nearest element
        outside = ctx.op(Compare("EQ"), own.value, zero)
        last = ctx.op(Subtract(), own.value, ctx.constant(1, INT64))
        front = ctx.op(Maximum(), ctx.op(Minimum(), front, last), zero)
    else:
        below, beyond = ctx.op(Compare("LT"), front, zero), ctx.op(Compare("GE"), front, own.value)
        outside = ctx.op(Or(), below, beyond)
    ctx.check(outside, IndexError("index is out of bounds"), look_up, [number, own])
    return ctx.python(index_in_whole(ctx, array, extent, front), (0, array.bound(extent) - 1))


def _some_places(
    ctx: Context, array: Bounded, extent: Extent, entry: Abstract
) -> tuple[Abstract, Extent | None]:
    """An index of the whole along a bounded axis for a mask or an array of integers, and the extent of the result."""
    form = ctx.jax if array.form is Form.JAX else ctx.ndarray
    if isinstance(entry, Bounded):
        if entry.rank != 1:
            refuse(ctx, "indexing", array, entry)
        if entry.type.dtype == BOOL:
            return _masked_places(ctx, array, extent, entry)
        if not array.bound(extent):
            return _no_index(ctx, entry, extent.axis), None
        own = entry.extents[0]
        positions = _places(ctx, array, extent, inside_indices(ctx, entry), where(ctx, entry))
        return form(positions), own
    read = entry_of(ctx, entry, array.form is Form.JAX)
    if not isinstance(read, Array) or read.rank != 1:
        refuse(ctx, "indexing", array)
    if read.dtype == BOOL:
        n = read.shape[0]
        entry = first_elements(ctx, form(read.value), {0: ctx.constant(n, INT64)})
        return _masked_places(ctx, array, extent, entry)
    return form(_places(ctx, array, extent, read.value, None)), None


def _masked_places(
    ctx: Context, array: Bounded, extent: Extent, mask: Bounded
) -> tuple[Abstract, Extent | None]:
    """The same as `_some_places`, of a mask that has as many elements as the axis."""
    chosen = _mask_along(ctx, array, extent, mask)
    if isinstance(extent.step, Value):  # in no known order
        return _some_places(ctx, array, extent, ctx.call(Const(np.flatnonzero), [mask]))
    full = SliceObject(Const(None), Const(None), Const(None))
    return full, Extent(extent.axis, chosen)


def _mask_along(ctx: Context, array: Bounded, extent: Extent, mask: Abstract) -> Value:
    """The positions of the whole along an axis that a mask of the size of the axis selects."""

    def plain(theirs: np.ndarray, ours: np.ndarray) -> None:
        np.zeros(theirs.shape, np.int8)[ours.astype(np.bool_)]

    own = mask_along(ctx, array, extent)
    line = Bounded(ctx.jax(own), own.type, (replace(extent, axis=0),))
    here = ctx.read(beside(ctx, "indexing", plain, line, mask, broadcasts=False))
    assert isinstance(here, Array)
    return ctx.op(And(), own, here.value)


def _places(ctx: Context, array: Bounded, extent: Extent, given: Value, counted: Value | None) -> Value:
    """The positions in the whole of elements by their indices; the program raises where one that is `counted` is outside."""
    shape = given.type.shape
    own = ctx.broadcast(count(ctx, array, extent).value, shape)
    zero = ctx.broadcast(ctx.constant(0, INT64), shape)
    number = ctx.convert(given, INT64)
    negative = ctx.op(Compare("LT"), number, zero)
    front = ctx.op(Select(), negative, ctx.op(Add(), number, own), number)
    outside = ctx.op(Or(), ctx.op(Compare("LT"), front, zero), ctx.op(Compare("GE"), front, own))
    if counted is not None:
        outside = ctx.op(And(), outside, counted)
    axis = extent.axis

    def look_up(numbers: np.ndarray, n: int) -> None:
        for i in numbers.ravel():
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")

    if array.form is not Form.JAX:
        bad = ctx.op(Reduce(Or(), tuple(range(len(shape)))), outside, ctx.constant(False, BOOL))
        seen = number if counted is None else ctx.op(Select(), counted, number, zero)
        ctx.check(
            bad, IndexError("index is out of bounds"), look_up, [ctx.ndarray(seen), count(ctx, array, extent)]
        )
    most = ctx.broadcast(ctx.constant(max(array.bound(extent) - 1, 0), INT64), shape)
    places = index_in_whole(ctx, array, extent, front)  # of no elements the first may be outside of the whole
    return ctx.op(Clamp(), zero, places, most)
