"""`x[…]` and `x[…] = v` on arrays: the entry points for inference.

Basic indexing of an ndarray returns a reference to the same memory (or a NumPy scalar), fancy indexing a copy; of a
`jax.Array` both compute a new value. A store replaces the array in the cell that owns the memory. Computed indices that
may be out of bounds are checked (`bounds_checks.py`).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from ....hlo.ir import Value
from ....hlo.types import BFLOAT16, BOOL, INT64, DType, is_integer
from ....ops import Add, Compare, Maximum, Minimum, Multiply, Or, Select, Subtract
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const, Ref, SliceObject, Tuple, is_number
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
from .gathering import Fancy, basic_views, fancy, gather, scatter
from .indices import Indices, IntegerIndex, MaskIndex, NewAxis, is_index, parse
from .masks import Masked, beside, masked_choice, only_mask, refuse, selected_part, selection
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
    if isinstance(obj, Masked):
        return _load_selected(ctx, obj, index)
    if isinstance(index, Masked):
        return _load_at_selection(ctx, obj, index)
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
        if isinstance(obj, Masked):
            return _store_into_selection(ctx, obj, index, value)
        refuse_item(ctx, obj, "does not support item assignment")
    assert isinstance(obj, Ref)
    check_writable(ctx, obj)
    shape = shape_of(ctx, obj)
    if isinstance(index, Masked):
        return _store_at_selection(ctx, obj, index, value)
    indices = parse(ctx, index, shape, jax=False)
    target = Ref(obj.cell, (*obj.path, *basic_views(indices.items, shape)))
    here = (target.path, (*target.path, entire(shape)))
    if indices.is_basic and isinstance(value, Ref) and value.cell == target.cell and value.path in here:
        return  # x[i] += v has changed the memory already; NumPy then stores it onto itself
    if indices.masks:
        _store_masked(ctx, target, indices, value)
    elif isinstance(value, Masked):
        refuse(ctx, "a store elsewhere", value)
    elif indices.is_basic:
        if indices.elements and isinstance(value, Array) and value.form is Form.JAX:
            _check_number(ctx, value, dtype_of(ctx, obj))
        _store_basic(ctx, target, value, indices.elements)
    else:
        new = array_value(ctx, value, dtype_of(ctx, obj), "the stored value")
        at = fancy(ctx, indices)
        whole = ctx.contents(target)
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
        return _masked(ctx, view if indices.is_sliced else ctx.ndarray(ctx.contents(view)), indices)
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
        return _masked(ctx, ctx.jax(value, array.weak), indices)
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


def _masked(ctx: Context, whole: Ref | Array, indices: Indices) -> Masked:
    """The lazy result of a load with a computed mask, or of a slice whose length is not known."""
    mask, axis = only_mask(ctx, indices)
    type = whole.type if isinstance(whole, Array) else ctx.contents(whole).type
    return selection(whole, type, mask.value, axis, mask.slice)


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


def _store_into_selection(ctx: Context, selected: Masked, index: Raw, value: Raw) -> None:
    """`selected[index] = value`."""
    if isinstance(selected.whole, Array):
        ctx.raise_(TypeError(IMMUTABLE))
    known = known_object(ctx, index)
    if known is Ellipsis or known == slice(None):
        return store_selected(ctx, selected, value)
    inner = _inside(ctx, selected, index)
    if isinstance(inner, Masked):
        return store_selected(ctx, inner, value)
    array_setitem(ctx, inner[0], inner[1], value)


def store_selected(ctx: Context, selected: Masked, value: Raw) -> None:
    """Stores into all elements of a selection of an ndarray, as `masked_choice` takes the value."""
    assert isinstance(selected.whole, Ref)
    dtype = selected.type.dtype
    new = _chosen_from(ctx, value, dtype)
    store_through(ctx, selected.whole, masked_choice(ctx, selected, selected.elements(ctx), new, dtype))


def _load_at_selection(ctx: Context, obj: Abstract, index: Masked) -> Abstract:
    """`x[positions[i:j]]`: what stands at some of the indices, as a selection."""
    if not _are_index_arrays(index) or (not is_number(obj) and not ctx.is_ndarray(obj)):
        refuse(ctx, "indexing", index, obj)
    whole = _inside_indices(ctx, index)
    found = array_getitem(ctx, obj, ctx.jax(whole) if index.form is Form.JAX else ctx.ndarray(whole))
    assert isinstance(found, Ref | Array)
    return index.of(found, found.type if isinstance(found, Array) else ctx.contents(found).type, 0)


def _store_at_selection(ctx: Context, obj: Ref, index: Masked, value: Raw) -> None:
    """`x[positions[i:j]] = value`."""
    dtype, shape, extent = dtype_of(ctx, obj), shape_of(ctx, obj), index.mask.type.size

    def plain(ours: np.ndarray, theirs: np.ndarray) -> None:
        np.empty(1, np.int8)[np.zeros(theirs.shape, np.int64)] = ours.astype(np.int8)

    if not _are_index_arrays(index) or (isinstance(value, Masked) and len(shape) > 1):
        refuse(ctx, "a store", index, value)
    given = beside(ctx, "a store", plain, index, value, (value, index)) if len(shape) == 1 else value
    new = array_value(ctx, given, dtype, "the stored value")
    if new.type.rank and len(shape) > 1:
        refuse(ctx, "a store of an array", index)
    indices = parse(ctx, ctx.ndarray(_inside_indices(ctx, index)), shape, jax=False)
    indices.check_indices()
    outside = ctx.broadcast(ctx.constant(shape[0], INT64), (extent,))
    positions = ctx.op(Select(), index.mask, fancy(ctx, indices).positions[0], outside)
    whole = ctx.contents(obj)
    at = unless_raised(ctx, obj, Fancy((0,), (positions,), (extent,), 0, False), whole)
    new = ctx.broadcast(ctx.reshape(new, (new.type.size,) if new.type.rank else ()), at.result_shape(shape))
    store_through(ctx, obj, scatter(ctx, whole, at, new), masked=False)


def _are_index_arrays(index: Masked) -> bool:
    """True for a selection of a vector of integers."""
    return index.type.rank == 1 and is_integer(index.type.dtype)


def _inside_indices(ctx: Context, index: Masked) -> Value:
    """The indices of a vector, with 0 for those that are not selected."""
    zero = ctx.broadcast(ctx.constant(0, index.type.dtype), index.type.static_shape)
    return ctx.op(Select(), index.mask, index.elements(ctx), zero)


def _load_selected(ctx: Context, selected: Masked, index: Raw) -> Abstract:
    """`selected[index]`: an element, or fewer elements of a slice."""
    inner = _inside(ctx, selected, index)
    return inner if isinstance(inner, Masked) else array_getitem(ctx, *inner)


def _inside(ctx: Context, selected: Masked, index: Raw) -> Masked | tuple[Abstract, Raw]:
    """The selection by an index of a slice of dynamic length: fewer of its elements, or an array and the index of it."""
    entries = list(index.items) if isinstance(index, Tuple) else [abstract(index)]
    positions, axis = selected.positions, selected.axis
    plain = all(isinstance(e, SliceObject) or is_index(e) for e in entries)
    if positions is None or not plain or len(entries) > selected.type.rank:
        refuse(ctx, "one element of a selection" if all(map(is_index, entries)) else "indexing", selected)
    whole: Abstract = selected.whole
    full = SliceObject(Const(None), Const(None), Const(None))
    own = entries[axis] if axis < len(entries) else full
    others = [full if i == axis else e for i, e in enumerate(entries)]
    if isinstance(own, SliceObject):
        axis -= sum(map(is_index, others[:axis]))
        whole = array_getitem(ctx, whole, Tuple(tuple(others)))
        if not isinstance(whole, Ref | Array) or not ctx.can_be_known(own.step):
            refuse(ctx, "indexing", selected)
        return selected_part(ctx, replace(selected, whole=whole, axis=axis), own)
    number = ctx.read(own)
    count = selected.count(ctx)
    front = ctx.convert(value_of(ctx, number, INT64), INT64)
    moved = ctx.op(Add(), front, positions.count)
    front = ctx.op(Select(), ctx.op(Compare("LT"), front, ctx.constant(0, INT64)), moved, front)

    def look_up(i: int, n: int) -> None:
        if jax and not n:
            raise IndexError(f"index is out of bounds for axis {axis} with size 0")
        if not jax and not -n <= i < n:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")

    jax, zero = isinstance(whole, Array), ctx.constant(0, INT64)
    if jax:  # takes the nearest element
        outside = ctx.op(Compare("EQ"), positions.count, zero)
        last = ctx.op(Subtract(), positions.count, ctx.constant(1, INT64))
        front = ctx.op(Maximum(), ctx.op(Minimum(), front, last), zero)
    else:
        below, beyond = ctx.op(Compare("LT"), front, zero), ctx.op(Compare("GE"), front, positions.count)
        outside = ctx.op(Or(), below, beyond)
    ctx.check(outside, IndexError("index is out of bounds"), look_up, [number, count])
    step = ctx.constant(positions.step, INT64)
    place = ctx.op(Add(), positions.start, ctx.op(Multiply(), front, step))
    others[axis] = ctx.python(place, (0, selected.type.static_shape[axis] - 1))
    return whole, Tuple(tuple(others))


def _chosen_from(ctx: Context, value: Raw, dtype: DType) -> Masked | Value:
    """The values stored at a mask, in the type of the elements."""
    return value if isinstance(value, Masked) else array_value(ctx, value, dtype, "the stored value")


def _store_masked(ctx: Context, target: Ref, indices: Indices, value: Raw) -> None:
    """`x[mask] = value`: what the mask selects is chosen from the value."""
    selected = _masked(ctx, target, indices)
    dtype = dtype_of(ctx, target)
    new = _chosen_from(ctx, value, dtype)
    store_through(ctx, target, masked_choice(ctx, selected, ctx.contents(target), new, dtype))


__all__ = ["array_getitem", "array_setitem", "store_through"]
