"""`x[…]` and `x[…] = v` on arrays: the entry points for inference.

Basic indexing of an ndarray returns a reference to the same memory (or a NumPy scalar), fancy indexing a copy; of a
`jax.Array` both compute a new value. A store replaces the array in the cell that owns the memory. Computed indices that
may be out of bounds are checked (`bounds_checks.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import BFLOAT16, BOOL, INT64, MOST_AXES, DType
from ....ops import Compare, Select, Slice
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent
from ....values.identity import Identity
from ....values.lattice import NONE, Abstract, Array, Const, Ref, SliceObject, Tuple, is_number, through
from ....values.views import entire, read_path
from ...context import Context, Raw
from ...jax.at import At, AtIndex
from ...jax.random import is_key, key_item
from ...kernels.arithmetic import like
from ...kernels.structures import abstract, known_object
from ...operands.casting import array_value, assigned_value
from ...operands.libraries import numpy_constant
from ...operands.nested_sequences import depth, like_sequence
from ...rules.classes import class_name
from ..indexing.bounded import bounded, compact, count, elements, in_order, part_around, refuse, viewed
from ..indexing.bounded_indices import has_bounded, index_of_whole, index_of_wholes
from ..indexing.bounded_operands import beside
from ..indexing.fancy_indexing import Fancy, basic_views, fancy, gather, scatter
from ..indexing.indices import Indices, IntegerIndex, MaskIndex, NewAxis, is_index, parse
from ..indexing.masks import beside_places, masked_axes, masked_choice, storing
from ..indexing.stores import broadcasts, check_writable, dtype_of, fit, mismatch, shape_of, store_through
from ..indexing.strided_stores import is_wide, stored_in_steps

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
    if has_bounded(index):
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
    if has_bounded(index):
        return store_at_bounded(ctx, obj, index, value)
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
        whole = ctx.contents(target)
        if isinstance(value, Bounded):
            shape = fancy(ctx, indices).result_shape(whole.type.shape)
            stored = bounded(ctx, ctx.ndarray(ctx.broadcast(ctx.constant(0, BOOL), shape)), ())
            value = beside(ctx, "a store", storing(stored), stored, value)
        new = array_value(ctx, value, dtype_of(ctx, obj), "the stored value")
        at = fancy(ctx, indices)
        new = _fit_fancy(ctx, new, at.result_shape(whole.type.shape))
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
    view = Ref(obj.cell, (*obj.path, *basic_views(indices.items, shape)), Identity(ctx.span))
    if indices.masks:
        found = _bounded(ctx, view if indices.is_sliced else ctx.ndarray(ctx.contents(view)), indices)
        return in_order(ctx, found)
    if not indices.is_basic:
        at = fancy(ctx, indices)
        indices.check_indices()
        return ctx.new(gather(ctx, ctx.contents(view), at))
    if indices.elements or indices.copies:
        return ctx.new(ctx.contents(view))
    return view if view.path != obj.path else through(obj, (entire(shape),), view.identity)


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
    """Indexing of a NumPy scalar, which takes `()`, one `...`, `None` and truth values; a Python number takes no index."""
    if array.form is Form.PYTHON:
        refuse_item(ctx, array, "is not subscriptable")
    known = known_object(ctx, index)
    if isinstance(known, tuple) and not known:
        return array
    entries = index.items if isinstance(index, Tuple) else (abstract(index),)
    constants = [entry.value for entry in entries if isinstance(entry, Const)]
    too_many = sum(v is ... for v in constants) > 1 or sum(v is None for v in constants) > MOST_AXES
    if too_many or not all(_is_of_scalar(ctx, entry) for entry in entries):
        ctx.raise_(IndexError("invalid index to scalar variable."))
    indices = parse(ctx, index, (), jax=False)
    return ctx.ndarray(read_path(ctx.b, array.value, basic_views(indices.items, ())))


def _is_of_scalar(ctx: Context, entry: Abstract) -> bool:
    """Whether NumPy's scalars take such an entry of an index."""
    if isinstance(entry, Ref) and ctx.is_ndarray(entry):
        return dtype_of(ctx, entry) == BOOL and not shape_of(ctx, entry)
    if isinstance(entry, Array):
        return entry.dtype == BOOL
    return isinstance(entry, Const) and (
        entry.value is None or entry.value is ... or isinstance(entry.value, bool | np.bool_)
    )


def refuse_item(ctx: Context, number: Abstract, what: str) -> NoReturn:
    """Makes the program raise Python's TypeError for a number."""
    ctx.raise_(TypeError(f"{class_name(ctx, number)!r} object {what}"))


def _bounded(ctx: Context, whole: Ref | Array, indices: Indices) -> Bounded:
    """The elements of `whole` that a computed mask, or slices of unknown length, select."""
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
    """The same indices, or all out of bounds of `array` where a store into `target` must not happen any more."""
    mask = ctx.store_mask(target.cell)
    if mask is None:
        return at
    first, *others = at.positions
    nowhere = like(ctx, first, array.type.shape[at.axes[0]])
    return replace(at, positions=(ctx.op(Select(), mask, first, nowhere), *others))


def _fit_fancy(ctx: Context, new: Value, shape: tuple[int, ...]) -> Value:
    """A value in the shape of what a fancy index selects."""
    if not broadcasts(new.type.shape, shape):
        mismatch(ctx, new.type.shape, shape)
    return fit(ctx, new, shape)


def _store_exactly(ctx: Context, target: Ref, value: Bounded) -> Raw:
    """Stores a bounded array into elements of known number, which it must have."""
    type = ctx.contents(target).type
    whole = Bounded(target, type, ())
    return beside(ctx, "a store", storing(whole), whole, value)


def store_selected(ctx: Context, target: Bounded, value: Raw) -> None:
    """Stores into all elements of a bounded ndarray, as `masked_choice` takes the value."""
    _store_chosen(ctx, target, _chosen_from(ctx, value, target.type.dtype))


def _store_chosen(ctx: Context, target: Bounded, new: Bounded | Value) -> None:
    """Stores a bounded array, or a value of the elements' type, into all elements of a bounded ndarray."""
    assert isinstance(target.whole, Ref)
    whole = elements(ctx, target)
    store_through(ctx, target.whole, masked_choice(ctx, target, whole, new, target.type.dtype))


def _chosen_from(ctx: Context, value: Raw, dtype: DType) -> Bounded | Value:
    """The values to store at a mask, in the type of the elements."""
    return value if isinstance(value, Bounded) else array_value(ctx, value, dtype, "the stored value")


def _store_masked(ctx: Context, target: Ref, indices: Indices, value: Raw) -> None:
    """`x[mask] = value`: what the mask selects is chosen from the value.

    A number is stored at the places of a slice of a wide or a computed step alone, which may be few.
    """
    dtype, slice_ = dtype_of(ctx, target), indices.masks[0].slice
    new = _chosen_from(ctx, value, dtype)
    is_line = len(indices.items) == 1 and len(shape_of(ctx, target)) == 1
    is_line &= dtype.kind in "biu"  # the derivative of a choice costs less
    if slice_ is not None and is_line and is_wide(slice_) and isinstance(new, Value) and not new.type.rank:
        made = stored_in_steps(ctx, ctx.contents(target), slice_, new, ctx.store_mask(target.cell))
        return store_through(ctx, target, made, masked=False)
    _store_chosen(ctx, _bounded(ctx, target, indices), new)


# ---------------------------------------------------------------- bounded arrays as what is indexed, and as indices


def _load_at_bounded(ctx: Context, obj: Abstract, index: Raw) -> Abstract:
    """`x[positions[i:j]]`: the elements at some of the positions, as a bounded array."""
    if not is_number(obj) and not ctx.is_ndarray(obj):
        refuse(ctx, "indexing", index, obj)
    read = ctx.read(obj)
    jax = isinstance(read, Array) and read.form is Form.JAX
    shape = read.shape if isinstance(read, Array) else ()
    if (
        shape == (0,)
        and isinstance(index, Bounded)
        and index.type.dtype != BOOL
        and index.rank == 1
        and not jax
    ):
        return _load_nothing(ctx, obj, index)
    at = index_of_wholes(ctx, shape, index, jax)
    found = array_getitem(ctx, obj, at.index)
    if at.batch is None:
        return found
    position = fancy(ctx, parse(ctx, at.index, shape, jax)).position
    return _with_extents(ctx, found, [e.moved(position) for e in at.batch.extents])


def _load_nothing(ctx: Context, obj: Abstract, index: Bounded) -> Abstract:
    """The elements of a vector without elements at some positions, of which there must be none."""
    line = compact(ctx, index)
    if line.type.size:
        some = ctx.op(Compare("GT"), count(ctx, line, line.extents[0]).value, ctx.constant(0, INT64))
        first = ctx.reshape(ctx.op(Slice((0,), (1,), (1,)), elements(ctx, line)), ())
        ctx.check(some, IndexError(), _outside_nothing, [Array(ctx.convert(first, INT64), Form.PYTHON)])
    return ctx.call(Const(np.copy), [obj])


def _outside_nothing(position: int) -> None:
    """Raises what indexing a vector without elements raises."""
    np.zeros(0)[np.array([position])]


def store_at_bounded(ctx: Context, obj: Ref, index: Raw, value: Raw, combine: HloOp | None = None) -> None:
    """`x[positions[i:j]] = value`; with `combine`, the value is combined with the elements."""
    dtype, shape = dtype_of(ctx, obj), shape_of(ctx, obj)
    given = index_of_wholes(ctx, shape, index, jax=False)
    if given.batch is None:
        if combine is not None:
            refuse(ctx, "a ufunc's method at", index)
        return array_setitem(ctx, obj, given.index, value)
    indices = parse(ctx, given.index, shape, jax=False)
    target = Ref(obj.cell, (*obj.path, *basic_views(indices.items, shape)))
    whole = ctx.contents(target)
    at, placed = beside_places(ctx, whole, fancy(ctx, indices), given.batch, value)
    new = array_value(ctx, placed, dtype, "the stored value")
    new = _fit_fancy(ctx, new, at.result_shape(whole.type.shape))
    indices.check_indices()
    at = unless_raised(ctx, target, at, whole)
    store_through(ctx, target, scatter(ctx, whole, at, new, combine), masked=False)


def _load_bounded(ctx: Context, array: Bounded, index: Raw) -> Abstract:
    """`array[index]`."""
    whole, inner, extents, copies = index_of_whole(ctx, array, index)
    found = array_getitem(ctx, whole, inner)
    made = _with_extents(ctx, found, extents)
    if not isinstance(made, Bounded):
        return made
    if not copies:
        return part_around(ctx, made)
    whole = made.whole if isinstance(made.whole, Array) else ctx.ndarray(elements(ctx, made))
    return in_order(ctx, bounded(ctx, whole, made.extents))


def _store_into_bounded(ctx: Context, array: Bounded, index: Raw, value: Raw) -> None:
    """`array[index] = value`."""
    if isinstance(array.whole, Array):
        ctx.raise_(TypeError(IMMUTABLE))
    known = known_object(ctx, index)
    if known is Ellipsis or known == slice(None):
        return store_selected(ctx, array, value)
    whole, inner, extents, _ = index_of_whole(ctx, array, index)
    if not extents:
        return array_setitem(ctx, whole, inner, value)
    places = index_of_places(ctx, array, inner, extents)
    if places is not None:
        return array_setitem(ctx, whole, places, value)
    target = _with_extents(ctx, array_getitem(ctx, whole, inner), extents)
    assert isinstance(target, Bounded)
    store_selected(ctx, part_around(ctx, target), value)


def index_of_places(ctx: Context, array: Bounded, index: Tuple, extents: Sequence[Extent]) -> Raw | None:
    """An index of the whole of `array` whose only array of integers has that extent; None where there is no array in it."""
    at = [
        i for i, e in enumerate(index.items) if not (isinstance(e, SliceObject) or is_index(e) or e is NONE)
    ]
    if not at:
        return None
    if len(at) > 1 or [e.axis for e in extents] != at or any(map(is_index, index.items)):
        refuse(ctx, "a store at these positions of a bounded array", array)
    places = ctx.read(index.items[at[0]])
    assert isinstance(places, Array)
    counted = bounded(ctx, places, [replace(extents[0], axis=0)])
    return Tuple((*index.items[: at[0]], counted, *index.items[at[0] + 1 :]))


def _with_extents(ctx: Context, found: Abstract, extents: Sequence[Extent]) -> Abstract:
    """The result in a whole, with further bounded axes."""
    if not extents:
        return found
    if isinstance(found, Bounded):
        return bounded(ctx, found.whole, [*found.extents, *extents])
    if not isinstance(found, Ref):
        read = ctx.read(found)
        assert isinstance(read, Array)
        found = read
    return bounded(ctx, found, extents)


__all__ = ["array_getitem", "array_setitem", "store_through"]
