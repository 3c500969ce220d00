"""`x[…]` and `x[…] = v` on arrays: the doors that the engine calls.

Basic indexing of an ndarray gives a reference to the same memory (or a NumPy scalar), fancy indexing a copy;
of a `jax.Array` both compute a new value. A store makes a new array for the cell that owns the memory.
Indices that the program computes are checked where they do not certainly lie inside (`inside.py`).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from ..hlo.ir import Value
from ..hlo.types import BOOL, DType
from ..ops import Select
from ..values.boundary import Form
from ..values.lattice import Abstract, Array, Const, Ref, Tuple
from ..values.views import entire, read_path
from .arithmetic import like
from .at import At, AtIndex
from .casting import array_value, assigned_value
from .classes import class_name
from .context import Context, Raw
from .gathering import Fancy, basic_views, fancy, gather, scatter
from .indices import Indices, parse
from .jax_random import is_key, key_item
from .masks import Masked, masked_choice, only_mask, refuse
from .nesting import depth, like_sequence
from .rules import numpy_constant
from .stores import broadcasts, check_writable, dtype_of, fit, mismatch, shape_of, store_through
from .structures import abstract, known_object

_IMMUTABLE = (
    "JAX arrays are immutable and do not support in-place item assignment. Instead of x[idx] = y, use "
    "x = x.at[idx].set(y) or another .at[] method: "
    "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"
)


def array_getitem(ctx: Context, obj: Abstract, index: Raw) -> Abstract:
    """`obj[index]` of an ndarray, a `jax.Array`, a NumPy scalar, or of `x.at`."""
    if isinstance(obj, At):
        return AtIndex(obj.array, index)
    if isinstance(obj, Masked):
        refuse(ctx, "indexing")
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
            ctx.raise_(TypeError(_IMMUTABLE))
        if isinstance(obj, Masked):
            return _store_into_selection(ctx, obj, index, value)
        refuse_item(ctx, obj, "does not support item assignment")
    assert isinstance(obj, Ref)
    check_writable(ctx, obj)
    shape = shape_of(ctx, obj)
    indices = parse(ctx, index, shape, jax=False)
    target = Ref(obj.cell, (*obj.path, *basic_views(indices.items, shape)))
    here = (target.path, (*target.path, entire(shape)))
    if indices.is_basic and isinstance(value, Ref) and value.cell == target.cell and value.path in here:
        return  # x[i] += v has changed the memory already; NumPy then stores it onto itself
    if indices.masks:
        _store_masked(ctx, target, indices, value)
    elif isinstance(value, Masked):
        refuse(ctx, "a store elsewhere")
    elif indices.is_basic:
        _store_basic(ctx, target, value, indices.elements)
    else:
        new = array_value(ctx, value, dtype_of(ctx, obj), "the stored value")
        at = fancy(ctx, indices)
        whole = ctx.contents(target)
        new = _fit_fancy(ctx, new, at.result_shape(whole.type.static_shape))
        indices.check_places()
        at = unless_raised(ctx, target, at, whole)
        store_through(ctx, target, scatter(ctx, whole, at, new), masked=False)


# ---------------------------------------------------------------- loads


def _load_ndarray(ctx: Context, obj: Ref, index: Raw) -> Abstract:
    shape = shape_of(ctx, obj)
    indices = parse(ctx, index, shape, jax=False)
    view = Ref(obj.cell, (*obj.path, *basic_views(indices.items, shape)))
    if indices.masks:
        return _masked(ctx, view if indices.is_sliced else ctx.ndarray(ctx.contents(view)), indices)
    if not indices.is_basic:
        at = fancy(ctx, indices)
        indices.check_places()
        return ctx.new(gather(ctx, ctx.contents(view), at))
    if indices.elements or indices.copies:
        return ctx.new(ctx.contents(view))
    return view if view.path != obj.path else Ref(obj.cell, (*obj.path, entire(shape)))


def _load_jax(ctx: Context, array: Array, index: Raw) -> Abstract:
    indices = parse(ctx, index, array.shape, jax=True)
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
    if known_object(ctx, index) == ():
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
    return Masked(whole, type, mask.value, axis)


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
    """What NumPy makes of a sequence (or, into one element, of an array) like `sample`, of more axes than `shape`.

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
    """The same places; all outside of `array`, where a store into `target` must not happen any more."""
    mask = ctx.store_mask(target.cell)
    if mask is None:
        return at
    first, *others = at.places
    nowhere = like(ctx, first, array.type.static_shape[at.axes[0]])
    return replace(at, places=(ctx.op(Select(), mask, first, nowhere), *others))


def _fit_fancy(ctx: Context, new: Value, shape: tuple[int, ...]) -> Value:
    """A value in the shape of what a fancy index selects."""
    if not broadcasts(new.type.static_shape, shape):
        mismatch(ctx, new.type.static_shape, shape)
    return fit(ctx, new, shape)


def _store_into_selection(ctx: Context, selection: Masked, index: Raw, value: Raw) -> None:
    """`selection[...] = value`, or with `[:]`."""
    known = known_object(ctx, index)
    if isinstance(selection.whole, Array):
        ctx.raise_(TypeError(_IMMUTABLE))
    if known is not Ellipsis and known != slice(None):
        refuse(ctx, "a store into some of the selected elements")
    store_selected(ctx, selection, value)


def store_selected(ctx: Context, selection: Masked, value: Raw) -> None:
    """Stores into all elements of a selection of an ndarray, as `masked_choice` takes the value."""
    assert isinstance(selection.whole, Ref)
    whole = selection.elements(ctx)
    dtype = selection.type.dtype
    new = _chosen_from(ctx, value, dtype)
    chosen = masked_choice(ctx, whole, selection.mask, selection.axis, new, dtype, True)
    store_through(ctx, selection.whole, chosen)


def _chosen_from(ctx: Context, value: Raw, dtype: DType) -> Masked | Value:
    """What is stored at a mask, in the type of the elements."""
    return value if isinstance(value, Masked) else array_value(ctx, value, dtype, "the stored value")


def _store_masked(ctx: Context, target: Ref, indices: Indices, value: Raw) -> None:
    """`x[mask] = value`: what the mask selects is chosen from the value."""
    mask, axis = only_mask(ctx, indices)
    whole = ctx.contents(target)
    dtype = dtype_of(ctx, target)
    new = _chosen_from(ctx, value, dtype)
    chosen = masked_choice(ctx, whole, mask.value, axis, new, dtype, mask.is_slice)
    store_through(ctx, target, chosen)


__all__ = ["array_getitem", "array_setitem", "store_through"]
