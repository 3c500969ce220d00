"""Gathers and scatters at computed indices: `take`, `put`, `choose` and their kin.

A call whose result has a size that depends on values is refused, with a rewrite that works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ...diagnostics.codes_types import ArgumentNotStaged
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT64, UINT64, ArrayType
from ...ops import And, Clamp, Compare, Concatenate, Iota, Maximum, Remainder, Select, Subtract, Transpose
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import NONE, Abstract, Array, Const, NumberKind, Ref, SliceObject
from ..context import Context, Raw
from ..kernels.arithmetic import any_of, select
from ..kernels.python_implementations import run_program, size_depends
from ..kernels.structures import abstract
from ..operands.bounded_arguments import (
    array_of,
    compact_argument,
    flat_argument,
    is_bounded,
    placed_argument,
    size_along,
    value_of_size,
    whole_of,
)
from ..operands.casting import array_value
from ..operands.known_calls import folded, is_computed
from ..operands.libraries import NUMPY, ArrayArgument, delegated
from ..operands.nested_sequences import elements, nested
from ..registry import meaning
from ..rules.classes import c_name, class_of
from ..rules.jax import axis_of, is_none
from ..rules.promote import numpy_common
from .concatenation import Arrays, joined, part, taken
from .creation import filled
from .indexing.bounded import refuse, where_of
from .indexing.bounded_operands import result_with
from .indexing.bounds_checks import check_inside, outside_of_axis
from .indexing.fancy_indexing import Fancy, gather, scatter
from .indexing.flat_stores import store_repeated, store_until_outside
from .indexing.indices import from_front
from .indexing.stores import check_writable, dtype_of, mismatch, returned_out, shape_of, store_through
from .manipulation import as_array, rank_of
from .subscripts.subscripts import IMMUTABLE, array_getitem, array_setitem


def indices_of(
    ctx: Context,
    given: ArrayArgument,
    extent: int | Value,
    mode: Raw,
    function: str,
    check: Callable[[Array, Value], None],
) -> Value:
    """Integers as int64 indices along an axis of `extent` elements, by NumPy's `mode`.

    For the mode `raise`, `check` is called with the integers, and with the indices that they are.
    """
    if given.dtype.kind not in "iub" and given.form is Form.PYTHON and not given.rank:
        given = ArrayArgument(ctx.convert(given.value, INT64))
    if given.dtype == UINT64 and function == "take":  # the same bits
        given = ArrayArgument(ctx.convert(given.value, INT64))
    if given.dtype.kind not in "iub" or given.dtype == UINT64:
        ctx.raise_(
            TypeError(
                f"Cannot cast array data from {given.dtype!r} to dtype('int64') according to the rule 'safe'"
            )
        )
    how = ctx.known(mode, f"the mode of {function}")
    if how == "raise":
        array = Array(given.value, Form.NDARRAY)
        front = from_front(ctx, array, extent) if function != "choose" else ctx.convert(given.value, INT64)
        check(array, front)
        return front
    value = ctx.convert(given.value, INT64)
    shape = value.type.shape
    if how == "clip":
        zero = ctx.constant(0, INT64)
        if isinstance(extent, int):
            last = ctx.constant(extent - 1, INT64)
        else:
            last = ctx.op(Maximum(), ctx.op(Subtract(), extent, ctx.constant(1, INT64)), zero)
        return ctx.op(Clamp(), zero, value, last)
    if how != "wrap":
        ctx.raise_(ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{how}')"))
    if not isinstance(extent, int):
        extent = ctx.op(Maximum(), extent, ctx.constant(1, INT64))
    rest = ctx.op(Remainder(), value, ctx.broadcast(value_of_size(ctx, extent), shape))
    return from_front(ctx, Array(rest, Form.NDARRAY), extent)


@meaning(np.take)
def take(
    ctx: Context, a: Raw, indices: Raw, axis: Raw = None, out: Raw = None, mode: Raw = "raise"
) -> Abstract:
    """The slices at the indices, along an axis or from the flat array."""
    is_jax = delegated(ctx, a, indices)
    bounded = isinstance(a, Bounded) or isinstance(indices, Bounded)
    how = ctx.known(mode, "the mode of take")
    if is_jax and (not is_none(out) or how == "raise"):  # its method refuses the mode "raise"
        ctx.raise_(NotImplementedError("The 'raise' mode to jnp.take is not supported."))
    if bounded and not is_none(out):
        refuse(ctx, "np.take with out", a, indices)
    if is_jax and not bounded:
        keywords = {"axis": axis if isinstance(axis, Abstract) else Const(axis), "mode": Const(how)}
        return ctx.call(Const(jnp.take), [a, indices], keywords)
    given = compact_argument(ctx, NUMPY, a, "take")
    given = flat_argument(ctx, NUMPY, given) if is_none(axis) else given
    at = 0 if is_none(axis) else axis_of(ctx, axis, given.rank, "take")
    places = placed_argument(ctx, NUMPY, indices, "take")
    size, members = size_along(ctx, given, at), None
    if places.extents:
        members = where_of(ctx, places.shape, places.extents)

    def outside(index: Any, *extents: int) -> None:
        np.take(np.broadcast_to(np.int8(0), extents), index, axis=at)

    shape = [
        Const(n) if i != at or isinstance(size, int) else ctx.python(size) for i, n in enumerate(given.shape)
    ]

    def check(index: Array, front: Value) -> None:
        check_inside(ctx, index, front, size, outside, members=members, more=shape)

    positions = indices_of(ctx, places, size, how, "take", check)
    if not isinstance(size, int) and how != "raise":
        none = ctx.op(Compare("EQ"), size, ctx.constant(0, INT64))
        some = ctx.constant(bool(places.value.type.size), BOOL) if members is None else any_of(ctx, members)
        ctx.check(ctx.op(And(), none, some), IndexError(), outside, [Const(0), *shape])
    found = gather(ctx, given.value, Fancy((at,), (positions,), positions.type.shape, at, False))
    axes = (*given.axes[:at], *places.axes, *given.axes[at + 1 :])
    if bounded:
        return result_with(ctx, ctx.jax(found) if is_jax else ctx.new(found), axes)
    return _into(ctx, a, out, found, ValueError("output array does not match result of ndarray.take"))


def _into(ctx: Context, owner: Raw, out: Raw, value: Value, mismatched: Exception) -> Abstract:
    """A new array, or `out`, as the method of `owner` returns it.

    `out` must have the shape; elements are cast into its type whatever they are. That it is one of which the elements'
    type can hold all is asked of NumPy itself.
    """
    if is_none(out):
        return ctx.new(value)
    if not ctx.is_ndarray(out):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.take or np.choose", argument="out"))
    if value.type.shape != shape_of(ctx, out):
        ctx.raise_(mismatched)
    store_through(ctx, out, value, memory="output array")
    return returned_out(ctx, out, owner)


def _along(
    ctx: Context, array: Value, indices: Raw, axis: int, function: str
) -> tuple[Fancy, Callable[[], None]]:
    """Indices of `take_along_axis`: one index for each result, along `axis`; and the check that they are inside."""
    given = nested(ctx, NUMPY, indices, function)
    shape = array.type.shape
    if given.rank != len(shape):
        ctx.raise_(ValueError("`indices` and `arr` must have the same number of dimensions"))
    if given.dtype.kind not in "iu":
        ctx.raise_(IndexError("`indices` must be an integer array"))
    own = [n if i == axis else m for i, (n, m) in enumerate(zip(given.shape, shape))]
    try:
        batch = np.broadcast_shapes(given.shape, tuple(own))
    except ValueError:
        ctx.raise_(IndexError("shape mismatch: indexing arrays could not be broadcast together"))
    given_places = Array(given.value, Form.NDARRAY)
    front = from_front(ctx, given_places, shape[axis])
    chosen = ctx.broadcast(front, batch)
    zeros = ctx.broadcast(ctx.constant(0, INT64), batch)
    lines = [ctx.op(Iota(ArrayType(INT64, batch), i)) if n > 1 else zeros for i, n in enumerate(shape)]
    positions = [chosen if i == axis else line for i, line in enumerate(lines)]
    outside = outside_of_axis(axis, shape[axis])
    return Fancy(tuple(range(len(shape))), tuple(positions), batch, 0, False), lambda: check_inside(
        ctx, given_places, front, shape[axis], outside
    )


@meaning(np.take_along_axis)
def take_along_axis(ctx: Context, arr: Raw, indices: Raw, axis: Raw = -1) -> Abstract:
    """One element of each line along `axis` for each index of that line."""
    arr = as_array(ctx, NUMPY, arr, "take_along_axis")
    if is_none(axis):
        arr, axis = ctx.call(Const(np.ravel), [abstract(arr)]), 0
    rank = rank_of(ctx, NUMPY, arr, "take_along_axis")
    at = axis_of(ctx, axis, rank, "take_along_axis")
    if rank == 1:
        return array_getitem(ctx, abstract(arr), _along_vector(ctx, indices, "take_along_axis"))
    value = nested(ctx, NUMPY, arr, "take_along_axis").value
    positions, check = _along(ctx, value, indices, at, "take_along_axis")
    if delegated(ctx, arr):  # an index outside is the nearest that is inside
        return ctx.jax(gather(ctx, value, positions), arr.weak)
    check()
    return ctx.ndarray(gather(ctx, value, positions))


def _along_vector(ctx: Context, indices: Raw, function: str) -> Abstract:
    """Indices of `take_along_axis` of a vector, which are the index of its elements."""
    given: Abstract = abstract(as_array(ctx, NUMPY, indices, function))
    if rank_of(ctx, NUMPY, given, function) != 1:
        ctx.raise_(ValueError("`indices` and `arr` must have the same number of dimensions"))
    if NUMPY.operand(ctx, whole_of(given), function).dtype.kind not in "iu":
        ctx.raise_(IndexError("`indices` must be an integer array"))
    return given


def _target(ctx: Context, array: Raw, text: str) -> Ref | Bounded:
    """The ndarray that a function stores into; TypeError(text) where it is none."""
    if isinstance(array, Bounded) and isinstance(array.whole, Ref):
        return array
    if not ctx.is_ndarray(array):
        ctx.raise_(TypeError(text))
    assert isinstance(array, Ref)
    return array


@meaning(np.put_along_axis)
def put_along_axis(ctx: Context, arr: Raw, indices: Raw, values: Raw, axis: Raw) -> Abstract:
    """Stores at the indices of `take_along_axis`, in place."""
    target = _target(ctx, arr, IMMUTABLE)
    rank = rank_of(ctx, NUMPY, target, "put_along_axis")
    at = 0 if is_none(axis) else axis_of(ctx, axis, rank, "put_along_axis")
    if rank == 1:
        array_setitem(ctx, target, _along_vector(ctx, indices, "put_along_axis"), values)
        return NONE
    if isinstance(target, Bounded):
        refuse(ctx, "np.put_along_axis of several axes", target)
    shape = shape_of(ctx, target)
    value = ctx.contents(target)
    if is_none(axis):
        value = ctx.reshape(value, (value.type.size,))
    positions, check = _along(ctx, value, indices, at, "put_along_axis")
    new = array_value(ctx, values, value.type.dtype, "the stored value")
    new = _broadcast(ctx, new, positions.batch)
    check()
    store_through(ctx, target, ctx.reshape(scatter(ctx, value, positions, new), shape))
    return Const(None)


def _broadcast(ctx: Context, value: Value, shape: tuple[int, ...]) -> Value:
    own = value.type.shape
    if len(own) > len(shape) or any(n not in (1, m) for n, m in zip(own[::-1], shape[::-1])):
        mismatch(ctx, own, shape)
    return ctx.broadcast(value, shape)


@meaning(np.put)
def put(ctx: Context, a: Raw, ind: Raw, v: Raw, mode: Raw = "raise") -> Abstract:
    """Stores at indices of the flat array, in place; values are repeated as needed."""
    if is_bounded(ctx, a) or is_bounded(ctx, ind) or is_bounded(ctx, v):
        known = ctx.known(mode, "the mode of put")
        if known != "raise" or any(rank_of(ctx, NUMPY, x, "put") != n for x, n in ((a, 1), (v, 0))):
            refuse(ctx, "np.put of several values or axes", a, ind, v)
        array_setitem(ctx, abstract(a), ind, v)
        return NONE
    if not ctx.is_ndarray(a):
        cls = class_of(ctx, a)[0]
        error = TypeError(f"argument 1 must be numpy.ndarray, not {cls}")
        error.__cause__ = error.__context__ = AttributeError(f"{c_name(cls)!r} object has no attribute 'put'")
        ctx.raise_(error)
    assert isinstance(a, Ref)
    target = a
    check_writable(ctx, target, "put: output array")
    shape = shape_of(ctx, target)
    checked: list[Array] = []
    size = int(np.prod(shape))
    places = nested(ctx, NUMPY, ind, "put")
    positions = indices_of(ctx, places, size, mode, "put", lambda given, front: checked.append(given))
    new = array_value(ctx, v, dtype_of(ctx, target), "the stored value")
    if checked:
        store_until_outside(
            ctx, target, checked[0], positions, new, _outside_of_put(shape), "put: output array"
        )
    else:
        store_repeated(ctx, target, positions, new, "put: output array")
    return Const(None)


def _outside_of_put(shape: tuple[int, ...]) -> Callable[[Any], None]:
    def outside(index: Any) -> None:
        np.put(np.empty(shape, np.int8), index, 0)

    return outside


@meaning(np.putmask)
def putmask(ctx: Context, a: Raw, mask: Raw, values: Raw) -> Abstract:
    """Stores where the mask holds, in place; values have the array's shape, or are one number."""
    target = _target(ctx, a, "putmask: first argument must be an array")
    if any(isinstance(x, Bounded) for x in (target, mask, values)):
        if rank_of(ctx, NUMPY, values, "putmask"):
            refuse(ctx, "np.putmask of several values", target, mask, values)
        array_setitem(ctx, target, mask, values)
        return NONE
    assert isinstance(target, Ref)
    shape = shape_of(ctx, target)
    where = ctx.convert(nested(ctx, NUMPY, mask, "putmask").value, BOOL)
    if where.type.size != int(np.prod(shape)):
        ctx.raise_(ValueError("putmask: mask and data must be the same size"))
    dtype = dtype_of(ctx, target)
    if ctx.is_ndarray(values) and not np.can_cast(source := dtype_of(ctx, values), dtype, "safe"):
        rule = f"dtype('{source}') to dtype('{dtype}') according to the rule 'safe'"
        ctx.raise_(TypeError(f"Cannot cast array data from {rule}"))
    new = array_value(ctx, values, dtype, "the stored value")
    if new.type.size not in (1, where.type.size):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.putmask", argument="values of another size"))
    new = (
        ctx.reshape(new, shape)
        if new.type.size == where.type.size
        else ctx.broadcast(ctx.reshape(new, ()), shape)
    )
    chosen = select(ctx, ctx.reshape(where, shape), new, ctx.contents(target))
    store_through(ctx, target, chosen, memory="putmask: output array")
    return Const(None)


MOST_CHOICES = 64
"""The greatest number of arrays of NumPy's iterator, including the indices."""


@meaning(np.choose)
def choose(ctx: Context, a: Raw, choices: Raw, out: Raw = None, mode: Raw = "raise") -> Abstract:
    """For each element the choice of this number."""
    if delegated(ctx, a):
        how = ctx.known(mode, "the mode of choose")
        if not is_none(out):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function="jnp.choose", argument="out"))
        return ctx.call(Const(jnp.choose), [a, abstract(choices)], {"mode": Const(how)})
    listed = elements(ctx, choices)
    listed = ctx.iterate(choices) if listed is None else listed
    if not listed:
        ctx.raise_(ValueError("0-length sequence."))
    if len(listed) >= MOST_CHOICES:
        ctx.raise_(ValueError(f"Need at least 0 and at most {MOST_CHOICES} array objects."))
    given: list[ArrayArgument] = [nested(ctx, NUMPY, c, "choose") for c in listed]
    dtype = numpy_common(tuple([NumberKind(each.dtype, each.form) for each in given]))
    values = [ctx.convert(each.value, dtype) for each in given]

    def outside(index: Any) -> None:
        np.choose(index, [np.int8(0)] * len(values))

    def check(index: Array, front: Value) -> None:
        check_inside(
            ctx, index, front, len(values), outside, fallback=ValueError("invalid entry in choice array")
        )

    which = indices_of(ctx, nested(ctx, NUMPY, a, "choose"), len(values), mode, "choose", check)
    try:
        shape = np.broadcast_shapes(which.type.shape, *[v.type.shape for v in values])
    except ValueError:
        ctx.raise_(ValueError("shape mismatch: objects cannot be broadcast to a single shape."))
    at = ctx.broadcast(which, shape)
    result = ctx.broadcast(values[0], shape)
    for i, value in enumerate(values[1:], 1):
        here = ctx.op(Compare("EQ"), at, filled(ctx, i, shape, INT64))
        result = ctx.op(Select(), here, ctx.broadcast(value, shape), result)
    return _into(ctx, a, out, result, TypeError("choose: invalid shape for output array."))


# ---------------------------------------------------------------- insertion and deletion


def _known_indices(ctx: Context, obj: Raw, what: str) -> Any:
    """An integer, a slice or a list of integers that must be known."""
    if isinstance(obj, SliceObject):
        return slice(*[ctx.known(x, what) for x in (obj.start, obj.stop, obj.step)])
    return ctx.known(obj, what)


@meaning(np.delete)
def delete(ctx: Context, arr: Raw, obj: Raw, axis: Raw = None) -> Abstract:
    """A copy without some elements along an axis."""
    given = placed_argument(ctx, NUMPY, arr, "delete")
    given = flat_argument(ctx, NUMPY, given) if is_none(axis) else given
    at = 0 if is_none(axis) else axis_of(ctx, axis, given.rank, "delete")
    size = size_along(ctx, given, at)
    count = Const(size) if isinstance(size, int) else ctx.python(size, (0, given.shape[at]))
    left = ctx.call(Const(_left), [count, abstract(obj), Const(at)])
    return ctx.call(Const(np.take), [array_of(ctx, NUMPY, given), left], {"axis": Const(at)})


def _left(n: Any, obj: Any, axis: Any) -> Any:
    obj = obj if np.size(obj) else np.empty(0, int)  # an empty list is of floats
    return np.ravel(np.delete(np.arange(n).reshape((*[1] * axis, n)), obj, axis=axis))


@folded(_left, "obj")
def _places_left(n: Any, obj: Any, axis: Any) -> Any:
    """The places of an axis of `n` elements without some."""
    kept = np.ones(n, bool)
    if isinstance(obj, slice):
        kept[obj] = False
        return np.flatnonzero(kept)
    places = np.asarray(obj)
    if places.ndim == 0:
        if places < -n or places >= n:
            raise IndexError(f"index {places} is out of bounds for axis {axis} with size {n}")
        kept[int(places)] = False
    elif places.dtype == bool:
        if len(places) != n:
            text = "boolean array argument obj to delete must be one dimensional and match the axis length of"
            raise ValueError(f"{text} {n}")
        kept = ~places
    elif places.size:
        kept[places] = False
    return np.flatnonzero(kept)


@meaning(np.insert)
def insert(ctx: Context, arr: Raw, obj: Raw, values: Raw, axis: Raw = None) -> Abstract:
    """A copy with values before some indices."""
    if any(is_bounded(ctx, x) for x in (arr, obj, values)) or is_computed(ctx, obj):
        return run_program(ctx, _inserted, (arr, obj, values, axis))
    value = nested(ctx, NUMPY, arr, "insert").value
    at = 0
    if is_none(axis):
        value = ctx.reshape(value, (value.type.size,))
    else:
        at = axis_of(ctx, axis, value.type.rank, "insert")
    which = _known_indices(ctx, obj, "the place of insert")
    shape = value.type.shape
    places = _insertions(ctx, which, shape[at])
    new = array_value(ctx, values, value.type.dtype, "the inserted value")
    own = new.type.shape
    wide = (*[1] * (len(shape) - len(own)), *own)
    new = ctx.reshape(new, wide)
    if not places.ndim:
        new = ctx.op(Transpose((*range(1, at + 1), 0, *range(at + 1, len(wide)))), new)
    count = new.type.shape[at] if places.size == 1 else places.size
    new = _broadcast(ctx, new, tuple([count if i == at else n for i, n in enumerate(shape)]))
    if places.size == 1:
        where = places.item()
        pieces = [part(ctx, value, at, 0, where), new, part(ctx, value, at, where, shape[at])]
        return joined(ctx, NUMPY, Arrays([ArrayArgument(p) for p in pieces]), at, None, "insert")
    order = np.insert(np.arange(shape[at]), places, np.arange(shape[at], shape[at] + count))
    return ctx.ndarray(taken(ctx, ctx.op(Concatenate(at), value, new), order, at))


def _insertions(ctx: Context, which: Any, extent: int) -> np.ndarray:
    """The positions before which `np.insert` puts values, counted from the front; without axes for one number."""
    try:
        np.insert(np.arange(extent), which, 0)
    except (IndexError, ValueError, TypeError) as error:
        ctx.raise_(error)
    places = np.arange(*which.indices(extent)) if isinstance(which, slice) else np.asarray(which)
    if places.dtype == bool:
        places = np.flatnonzero(places)
    places = places.astype(np.intp)
    return np.where(places < 0, places + extent, places)


def _inserted(arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    """As `np.insert`, where the run knows the size or the positions."""
    a = np.asarray(arr)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = normalize_axis_index(axis, a.ndim)
    n = a.shape[axis]
    new = np.asarray(values).astype(a.dtype)
    if a.ndim > 1 and new.ndim:
        size_depends("np.insert of arrays", "join the parts with `np.concatenate`")
    if isinstance(obj, slice):
        places = np.arange(n)[obj]
    else:
        places = np.asarray(obj)
    if places.dtype == bool:
        places = np.flatnonzero(places)
    if places.ndim == 0:
        if places < -n or places > n:
            raise IndexError(f"index {places} is out of bounds for axis {axis} with size {n}")
        places = np.reshape(places, 1)
    if places.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    flat = np.ravel(new)
    given = len(flat)
    several = len(places)
    if np.ndim(obj) == 1 and several == 1 and not -n <= places[0] <= n:
        raise IndexError(f"index [{int(places[0])}] is out of bounds for axis {axis} with size {n}")
    places = np.where(places < 0, places + n, places)
    count = given if several == 1 else several
    if given != 1 and given != count:
        text = (
            f"value array of shape ({given},) could not be broadcast to indexing result of shape ({count},)"
        )
        raise ValueError(f"shape mismatch: {text}")
    places = places[np.minimum(np.arange(count), several - 1)]
    order = np.argsort(places, kind="stable")
    target = np.zeros(count, np.intp)
    target[order] = places[order] + np.arange(count)
    kept = np.ones(n + count, bool)
    kept[target] = False
    source = np.cumsum(kept) - 1
    own = np.take(a, np.clip(source, 0, max(n - 1, 0)), axis=axis) if n > 0 else _nothing(a, axis, count)
    moved = np.moveaxis(own, axis, 0)
    moved[target] = flat[np.minimum(np.arange(count), given - 1)] if new.ndim else new
    return np.moveaxis(moved, 0, axis)


def _nothing(a: Any, axis: Any, count: Any) -> Any:
    """Zeros of the type of `a`, of this size along an axis."""
    extents = list(a.shape)
    extents[axis] = count
    return np.zeros(tuple(extents), a.dtype)
