"""`x[…]` and `x[…] = v` on arrays: the entry points for inference.

Basic indexing of an ndarray returns a reference to the same memory (or a NumPy scalar), fancy indexing a copy; of a
`jax.Array` both compute a new value. A store replaces the array in the cell that owns the memory. Computed indices that
may be out of bounds are checked (`bounds_checks.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from ....hlo.ir import Value
from ....hlo.types import BFLOAT16, BOOL, INT64, ArrayType, DType, is_integer
from ....ops import Add, And, Compare, Maximum, Minimum, Or, Reduce, Select, Subtract
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent
from ....values.lattice import NONE, Abstract, Array, Const, Ref, SliceObject, Tuple, is_number
from ....values.views import entire, read_path
from ...context import Context, Raw
from ...jax.at import At, AtIndex
from ...jax.random import is_key, key_item
from ...kernels.arithmetic import like
from ...kernels.nesting import depth, like_sequence
from ...kernels.structures import abstract, known_object
from ...rules.casting import array_value, assigned_value
from ...rules.classes import class_name
from ...rules.libraries import numpy_constant
from ...rules.promote import value_of
from .beside import beside, placed
from .bounded import (
    bounded,
    count,
    elements,
    first_elements,
    in_order,
    mask_along,
    part_along,
    place_of,
    refuse,
    viewed,
    where,
)
from .gathering import Fancy, basic_views, fancy, gather, scatter
from .indices import Indices, IntegerIndex, MaskIndex, NewAxis, is_index, parse
from .masks import masked_axes, masked_choice, storing
from .stores import broadcasts, check_writable, dtype_of, fit, mismatch, shape_of, store_through

IMMUTABLE = (
    "JAX arrays are immutable and do not support in-place item assignment. Instead of x[idx] = y, use "
    "x = x.at[idx].set(y) or another .at[] method: "
    "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"
)


def array_getitem(ctx: Context, obj: Abstract, index: Raw) -> Abstract:
    """`obj[index]` of an ndarray, a `jax.Array`, a NumPy scalar, or of `x.at`."""
    if isinstance(obj, At):
        return AtIndex(obj.array, index)
    if isinstance(obj, Bounded):
        return _load_bounded(ctx, obj, index)
    if _has_bounded(index):
        return _load_at_bounded(ctx, obj, index)
    if ctx.is_ndarray(obj):
        assert isinstance(obj, Ref)
        return _load_ndarray(ctx, obj, index)
    if isinstance(obj, Array) and is_key(obj):
        return key_item(ctx, obj, index)
    read = ctx.read(obj)
    if isinstance(read, Array) and read.form is Form.JAX:
        return _load_jax(ctx, read, index)
    if isinstance(read, Const):
        read = Array(numpy_constant(ctx, read.value, "indexing"), Form.SCALAR)
    return _load_scalar(ctx, read, index)


def array_setitem(ctx: Context, obj: Abstract, index: Raw, value: Raw) -> None:
    """`obj[index] = value`; a `jax.Array` raises JAX's TypeError in the program."""
    if not ctx.is_ndarray(obj):
        if isinstance(obj, Array) and obj.form is Form.JAX:
            ctx.raise_(TypeError(IMMUTABLE))
        if isinstance(obj, Bounded):
            return _store_into_bounded(ctx, obj, index, value)
        refuse_item(ctx, obj, "does not support item assignment")
    assert isinstance(obj, Ref)
    check_writable(ctx, obj)
    shape = shape_of(ctx, obj)
    if _has_bounded(index):
        return _store_at_bounded(ctx, obj, index, value)
    indices = parse(ctx, index, shape, jax=False)
    target = Ref(obj.cell, (*obj.path, *basic_views(indices.items, shape)))
    here = (target.path, (*target.path, entire(shape)))
    if indices.is_basic and isinstance(value, Ref) and value.cell == target.cell and value.path in here:
        return  # x[i] += v has changed the memory already; NumPy then stores it onto itself
    if indices.masks:
        _store_masked(ctx, target, indices, value)
    elif indices.is_basic:
        if isinstance(value, Bounded):
            value = _store_exactly(ctx, target, value)
        if indices.elements and isinstance(value, Array) and value.form is Form.JAX:
            _check_number(ctx, value, dtype_of(ctx, obj))
        _store_basic(ctx, target, value, indices.elements)
    else:
        at = fancy(ctx, indices)
        whole = ctx.contents(target)
        if isinstance(value, Bounded):
            shape = at.result_shape(whole.type.static_shape)
            stored = bounded(ctx, ctx.ndarray(ctx.broadcast(ctx.constant(0, BOOL), shape)), ())
            value = beside(ctx, "a store", storing(stored), stored, value)
        new = array_value(ctx, value, dtype_of(ctx, obj), "the stored value")
        new = _fit_fancy(ctx, new, at.result_shape(whole.type.static_shape))
        indices.check_indices()
        at = unless_raised(ctx, target, at, whole)
        store_through(ctx, target, scatter(ctx, whole, at, new), masked=False)


def _check_number(ctx: Context, value: Array, dtype: DType) -> None:
    """TypeError for a `jax.Array` as an element of a bfloat16 ndarray: ml_dtypes takes it for no number."""
    if dtype == BFLOAT16:
        ctx.raise_(TypeError(f"expected number, got {class_name(ctx, value)}"))


# ---------------------------------------------------------------- loads


def _load_ndarray(ctx: Context, obj: Ref, index: Raw) -> Abstract:
    shape = shape_of(ctx, obj)
    indices = parse(ctx, index, shape, jax=False)
    view = Ref(obj.cell, (*obj.path, *basic_views(indices.items, shape)))
    if indices.masks:
        found = _bounded(ctx, view if indices.is_sliced else ctx.ndarray(ctx.contents(view)), indices)
        return in_order(ctx, found)
    if not indices.is_basic:
        at = fancy(ctx, indices)
        indices.check_indices()
        return ctx.new(gather(ctx, ctx.contents(view), at))
    if indices.elements or indices.copies:
        return ctx.new(ctx.contents(view))
    return view if view.path != obj.path else Ref(obj.cell, (*obj.path, entire(shape)))


def _load_jax(ctx: Context, array: Array, index: Raw) -> Abstract:
    indices = parse(ctx, index, array.shape, jax=True)
    axis = 0
    for item in indices.items:
        if isinstance(item, IntegerIndex) and not array.shape[axis]:
            ctx.raise_(IndexError(f"index is out of bounds for axis {axis} with size 0"))
        axis += item.value.type.rank if isinstance(item, MaskIndex) else not isinstance(item, NewAxis)
    views = basic_views(indices.items, array.shape, clamp=True)
    value = read_path(ctx.b, array.value, views)
    if indices.masks:
        return in_order(ctx, _bounded(ctx, ctx.jax(value, array.weak), indices))
    if not indices.is_basic:
        value = gather(ctx, value, fancy(ctx, indices))
    return ctx.jax(value, array.weak)


def _load_scalar(ctx: Context, array: Array, index: Raw) -> Abstract:
    """A NumPy scalar takes `()`, `...`, `None` and truth values; a Python number takes no index."""
    if array.form is Form.PYTHON:
        refuse_item(ctx, array, "is not subscriptable")
    known = known_object(ctx, index)
    if isinstance(known, tuple) and not known:
        return array
    entries = index.items if isinstance(index, Tuple) else (abstract(index),)
    if not all(_is_of_scalar(entry) for entry in entries):
        ctx.raise_(IndexError("invalid index to scalar variable."))
    indices = parse(ctx, index, (), jax=False)
    return ctx.ndarray(read_path(ctx.b, array.value, basic_views(indices.items, ())))


def _is_of_scalar(entry: Abstract) -> bool:
    """Whether NumPy's scalars take such an entry of an index."""
    if isinstance(entry, Array):
        return entry.dtype == BOOL
    return isinstance(entry, Const) and (
        entry.value is None or entry.value is ... or isinstance(entry.value, bool | np.bool_)
    )


def refuse_item(ctx: Context, number: Abstract, what: str) -> NoReturn:
    """The program raises Python's TypeError for a number."""
    ctx.raise_(TypeError(f"{class_name(ctx, number)!r} object {what}"))


def _bounded(ctx: Context, whole: Ref | Array, indices: Indices) -> Bounded:
    """What a computed mask, or slices whose length is not known, name of `whole`."""
    shape = whole.shape if isinstance(whole, Array) else shape_of(ctx, whole)
    extents, views = masked_axes(ctx, indices, shape)
    for view in views:
        whole = viewed(ctx, whole, view)
    return bounded(ctx, whole, extents)


# ---------------------------------------------------------------- stores


def _store_basic(ctx: Context, target: Ref, value: Raw, element: bool) -> None:
    """A store into a view; into one element only a number may be stored."""
    dtype = dtype_of(ctx, target)
    sample = like_sequence(ctx, value)
    shape = shape_of(ctx, target)
    if depth(sample) > len(shape):
        stored = _stored_deeper(ctx, sample, shape, dtype, element)
        if stored is not None:
            return store_through(ctx, target, stored)
    store_through(ctx, target, assigned_value(ctx, value, dtype, "the stored value"))


def _stored_deeper(
    ctx: Context, sample: Any, shape: tuple[int, ...], dtype: DType, element: bool
) -> Value | None:
    """NumPy's result for a store of a sequence (or, into one element, of an array) like `sample`, of more axes than `shape`.

    Mostly an exception; of a sequence that becomes one bool, its truth; None where its elements are stored.
    """
    if not element and isinstance(sample, np.ndarray):
        return None
    target = np.zeros((*shape, 1), dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if element:
                target[0] = sample
            else:
                target[..., 0] = sample
    except (TypeError, ValueError) as error:
        ctx.raise_(error)
    return None if isinstance(sample, np.ndarray) else ctx.constant(target[..., 0], dtype)


def unless_raised(ctx: Context, target: Ref, at: Fancy, array: Value) -> Fancy:
    """The same indices; all outside of `array`, where a store into `target` must not happen any more."""
    mask = ctx.store_mask(target.cell)
    if mask is None:
        return at
    first, *others = at.positions
    nowhere = like(ctx, first, array.type.static_shape[at.axes[0]])
    return replace(at, positions=(ctx.op(Select(), mask, first, nowhere), *others))


def _fit_fancy(ctx: Context, new: Value, shape: tuple[int, ...]) -> Value:
    """A value in the shape of what a fancy index selects."""
    if not broadcasts(new.type.static_shape, shape):
        mismatch(ctx, new.type.static_shape, shape)
    return fit(ctx, new, shape)


def _store_exactly(ctx: Context, target: Ref, value: Bounded) -> Raw:
    """A bounded array that is stored into elements of known number, which it must have."""
    type = ctx.contents(target).type
    whole = Bounded(target, type, ())
    return beside(ctx, "a store", storing(whole), whole, value)


def store_selected(ctx: Context, target: Bounded, value: Raw) -> None:
    """Stores into all elements of a bounded ndarray, as `masked_choice` takes the value."""
    assert isinstance(target.whole, Ref)
    dtype = target.type.dtype
    new = _chosen_from(ctx, value, dtype)
    whole = elements(ctx, target)
    store_through(ctx, target.whole, masked_choice(ctx, target, whole, new, dtype))


def _chosen_from(ctx: Context, value: Raw, dtype: DType) -> Bounded | Value:
    """What is stored at a mask, in the type of the elements."""
    return value if isinstance(value, Bounded) else array_value(ctx, value, dtype, "the stored value")


def _store_masked(ctx: Context, target: Ref, indices: Indices, value: Raw) -> None:
    """`x[mask] = value`: what the mask selects is chosen from the value."""
    store_selected(ctx, _bounded(ctx, target, indices), value)


# ---------------------------------------------------------------- bounded arrays as what is indexed, and as indices


@dataclass(frozen=True, slots=True)
class _BoundedPlaces:
    """An index with bounded arrays of integers: as one of wholes, with 0 for what does not belong to them.

    `batch` is an array of the shape to which they broadcast, with the bounded axes of that; None where the index has none.
    """

    index: Tuple
    batch: Bounded | None


def _has_bounded(index: Raw) -> bool:
    return isinstance(index, Bounded) or (
        isinstance(index, Tuple) and any(isinstance(item, Bounded) for item in index.items)
    )


def _bounded_places(ctx: Context, shape: tuple[int, ...], index: Raw, jax: bool) -> _BoundedPlaces:
    """The index of an array of `shape` without bounded arrays; a bounded mask has as many elements as the axis."""
    items = list(index.items) if isinstance(index, Tuple) else [abstract(index)]
    if 0 in shape:
        refuse(ctx, "indexing an array without elements", *items)
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
        return _BoundedPlaces(Tuple(tuple(items)), None)
    if any(isinstance(item, Bounded) and not is_integer(item.type.dtype) for item in items):
        ctx.raise_(IndexError("arrays used as indices must be of integer (or boolean) type"))
    positions = [i for i, item in enumerate(items) if i in arrays or _is_array(ctx, item)]
    wholes, found = placed(ctx, "indexing", np.broadcast_arrays, [items[i] for i in positions])
    values = [read.value for x in wholes if isinstance(read := ctx.read(x), Array)]
    shape = np.broadcast_shapes(*[v.type.static_shape for v in values])
    extents = [e.moved(len(shape)) for e in found]
    zeros = ctx.broadcast(ctx.constant(0, INT64), shape)
    batch = bounded(ctx, ctx.jax(zeros), extents)
    bounds_checks = where(ctx, batch)
    for i, value in zip(positions, values):
        zero = ctx.broadcast(ctx.constant(0, value.type.dtype), shape)
        chosen = ctx.op(Select(), bounds_checks, ctx.broadcast(value, shape), zero)
        items[i] = ctx.jax(chosen) if jax else ctx.ndarray(chosen)
    return _BoundedPlaces(Tuple(tuple(items)), batch if extents else None)


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


def _load_at_bounded(ctx: Context, obj: Abstract, index: Raw) -> Abstract:
    """`x[positions[i:j]]`: what stands at some of the positions, as a bounded array."""
    if not is_number(obj) and not ctx.is_ndarray(obj):
        refuse(ctx, "indexing", index, obj)
    read = ctx.read(obj)
    jax = isinstance(read, Array) and read.form is Form.JAX
    shape = read.shape if isinstance(read, Array) else ()
    at = _bounded_places(ctx, shape, index, jax)
    found = array_getitem(ctx, obj, at.index)
    if at.batch is None:
        return found
    position = fancy(ctx, parse(ctx, at.index, shape, jax)).position
    return _with_extents(ctx, found, [e.moved(position) for e in at.batch.extents])


def _store_at_bounded(ctx: Context, obj: Ref, index: Raw, value: Raw) -> None:
    """`x[positions[i:j]] = value`."""
    dtype, shape = dtype_of(ctx, obj), shape_of(ctx, obj)
    given = _bounded_places(ctx, shape, index, jax=False)
    if given.batch is None:
        return array_setitem(ctx, obj, given.index, value)
    indices = parse(ctx, given.index, shape, jax=False)
    target = Ref(obj.cell, (*obj.path, *basic_views(indices.items, shape)))
    whole = ctx.contents(target)
    at = fancy(ctx, indices)
    result = at.result_shape(whole.type.static_shape)
    extents = tuple([e.moved(at.position) for e in given.batch.extents])
    stored = Bounded(
        ctx.jax(ctx.broadcast(ctx.constant(0, dtype), result)), ArrayType(dtype, result), extents
    )
    new = array_value(ctx, beside(ctx, "a store", storing(stored), stored, value), dtype, "the stored value")
    new = _fit_fancy(ctx, new, result)
    indices.check_indices()
    first, *others = at.positions
    outside = ctx.broadcast(ctx.constant(whole.type.static_shape[at.axes[0]], INT64), at.batch)
    bounds_checks = ctx.op(Select(), where(ctx, given.batch), first, outside)
    at = unless_raised(ctx, target, replace(at, positions=(bounds_checks, *others), unique=False), whole)
    store_through(ctx, target, scatter(ctx, whole, at, new), masked=False)


def _inside_indices(ctx: Context, index: Bounded) -> Value:
    """The positions of a vector, with 0 for those that do not belong to it."""
    zero = ctx.broadcast(ctx.constant(0, index.type.dtype), index.type.static_shape)
    return ctx.op(Select(), where(ctx, index), elements(ctx, index), zero)


def _load_bounded(ctx: Context, array: Bounded, index: Raw) -> Abstract:
    """`array[index]`."""
    whole, inner, extents, copies = _inside(ctx, array, index)
    found = array_getitem(ctx, whole, inner)
    made = _with_extents(ctx, found, extents)
    if not isinstance(made, Bounded) or not copies:
        return made
    whole = made.whole if isinstance(made.whole, Array) else ctx.ndarray(elements(ctx, made))
    return in_order(ctx, bounded(ctx, whole, made.extents))


def _store_into_bounded(ctx: Context, array: Bounded, index: Raw, value: Raw) -> None:
    """`array[index] = value`."""
    if isinstance(array.whole, Array):
        ctx.raise_(TypeError(IMMUTABLE))
    known = known_object(ctx, index)
    if known is Ellipsis or known == slice(None):
        return store_selected(ctx, array, value)
    whole, inner, extents, _ = _inside(ctx, array, index)
    if not extents:
        return array_setitem(ctx, whole, inner, value)
    if not all(isinstance(e, SliceObject) or is_index(e) or e is NONE for e in inner.items):
        refuse(ctx, "a store at these positions of a bounded array", array)
    target = _with_extents(ctx, array_getitem(ctx, whole, inner), extents)
    assert isinstance(target, Bounded)
    store_selected(ctx, target, value)


def _with_extents(ctx: Context, found: Abstract, extents: Sequence[Extent]) -> Abstract:
    """What was found in a whole, with the bounded axes that it has besides."""
    if not extents:
        return found
    if isinstance(found, Bounded):
        return bounded(ctx, found.whole, [*found.extents, *extents])
    if not isinstance(found, Ref):
        read = ctx.read(found)
        assert isinstance(read, Array)
        found = read
    return bounded(ctx, found, extents)


def _inside(ctx: Context, array: Bounded, index: Raw) -> tuple[Ref | Array, Tuple, list[Extent], bool]:
    """An index of a bounded array as an index of its whole, and the bounded axes of what that returns.

    The last says whether the plain run returns a copy.
    """
    entries = _entries(ctx, array, index)
    extents: list[Extent] = []
    inner: list[Abstract] = []
    copies = False
    axis = at = 0
    arrays = sum([not (e is None or isinstance(e, SliceObject) or is_index(e)) for e in entries])
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
            if not ctx.can_be_known(entry.step):
                refuse(ctx, "a slice of a computed step", array)
            whole_axis = entry if _is_all(entry) else None
            extent = own if whole_axis else part_along(ctx, array, own, entry)
            extents.append(replace(extent, axis=at))
            inner.append(SliceObject(Const(None), Const(None), Const(None)))
            at += 1
        elif is_index(entry):
            inner.append(_one_place(ctx, array, own, entry))
        else:
            if arrays > 1 or any(map(is_index, entries)):
                refuse(ctx, "indexing with another array", array)
            found, chosen = _some_places(ctx, array, own, entry)
            if chosen is not None:
                extents.append(replace(chosen, axis=at))
            inner.append(found)
            copies = True
            at += 1
    return array.whole, Tuple(tuple(inner)), extents, copies


def _is_all(entry: SliceObject) -> bool:
    return all(isinstance(p, Const) and p.value is None for p in (entry.start, entry.stop, entry.step))


def _entries(ctx: Context, array: Bounded, index: Raw) -> list[Any]:
    """What stands between the brackets, one entry for each axis of the array, and None for new ones."""
    given = list(index.items) if isinstance(index, Tuple) else [abstract(index)]
    found: list[Any] = []
    for raw in given:
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
    """The place in the whole of the element that an integer names; the program raises where there is none."""
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
    return ctx.python(place_of(ctx, array, extent, front), (0, array.bound(extent) - 1))


def _some_places(
    ctx: Context, array: Bounded, extent: Extent, entry: Abstract
) -> tuple[Abstract, Extent | None]:
    """An index of the whole along a bounded axis for a mask or an array of integers, and the extent of what that returns."""
    form = ctx.jax if array.form is Form.JAX else ctx.ndarray
    if isinstance(entry, Bounded):
        if entry.rank != 1:
            refuse(ctx, "indexing", array, entry)
        if entry.type.dtype == BOOL:
            return _masked_places(ctx, array, extent, entry)
        own = entry.extents[0]
        positions = _places(ctx, array, extent, _inside_indices(ctx, entry), where(ctx, entry))
        return form(positions), own
    read = ctx.read(entry)
    if not isinstance(read, Array) or read.rank != 1:
        refuse(ctx, "indexing", array)
    if read.dtype == BOOL:
        n = read.shape[0]
        entry = first_elements(ctx, form(read.value), {0: ctx.constant(n, INT64)})
        return _masked_places(ctx, array, extent, entry)
    if not is_integer(read.dtype):
        ctx.raise_(IndexError("arrays used as indices must be of integer (or boolean) type"))
    return form(_places(ctx, array, extent, read.value, None)), None


def _masked_places(
    ctx: Context, array: Bounded, extent: Extent, mask: Bounded
) -> tuple[Abstract, Extent | None]:
    """As `_some_places`, of a mask that has as many elements as the axis."""

    def plain(theirs: np.ndarray, ours: np.ndarray) -> None:
        np.zeros(theirs.shape, np.int8)[ours.astype(np.bool_)]

    line = Bounded(
        ctx.jax(mask_along(ctx, array, extent)),
        ArrayType(BOOL, (array.bound(extent),)),
        (replace(extent, axis=0),),
    )
    here = ctx.read(beside(ctx, "indexing", plain, line, mask, broadcasts=False))
    assert isinstance(here, Array)
    if extent.mask is None and extent.step < 0:
        refuse(ctx, "a mask of elements in reverse", array)
    chosen = ctx.op(And(), mask_along(ctx, array, extent), here.value)
    return SliceObject(Const(None), Const(None), Const(None)), Extent(
        extent.axis, chosen, ordered=extent.ordered
    )


def _places(ctx: Context, array: Bounded, extent: Extent, given: Value, counted: Value | None) -> Value:
    """The positions in the whole of elements by their numbers; the program raises where one that is `counted` is outside."""
    shape = given.type.static_shape
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
        for i in numbers:
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")

    if array.form is not Form.JAX:
        bad = ctx.op(Reduce(Or(), (0,)), outside, ctx.constant(False, BOOL))
        seen = number if counted is None else ctx.op(Select(), counted, number, zero)
        ctx.check(
            bad, IndexError("index is out of bounds"), look_up, [ctx.ndarray(seen), count(ctx, array, extent)]
        )
    most = ctx.broadcast(ctx.constant(max(array.bound(extent) - 1, 0), INT64), shape)
    front = ctx.op(Maximum(), ctx.op(Minimum(), front, most), zero)
    return place_of(ctx, array, extent, front)


__all__ = ["array_getitem", "array_setitem", "store_through"]
