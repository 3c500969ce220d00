"""NumPy functions whose result's size depends on integers of the program: counts, positions, repetitions."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ....diagnostics.codes_constant import NotKnown
from ....diagnostics.errors import StagingError
from ....hlo.types import FLOAT64, INT64
from ....ops import Compare
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Array
from ...context import Context, Raw
from ...kernels.number_checks import refuse as refuse_number
from ...kernels.python_implementations import size_depends
from ...rules.jax import is_none
from ..indexing.bounded import bounded, count, refuse, where
from ..indexing.bounded_operands import placed
from ..searching import least_length, occurrences
from .size_rules import composed_for_computed, for_bounded


@for_bounded(np.bincount)
def bincount(ctx: Context, x: Raw, weights: Raw = None, minlength: Raw = 0) -> Abstract:
    """The number of occurrences of each number, or the sum of its weights."""
    if not isinstance(x, Bounded) and is_none(weights):
        refuse(ctx, "np.bincount", x)
    given = [x] if is_none(weights) else [x, weights]
    wholes, extents = placed(ctx, "np.bincount", _sized, given)
    numbers, *heavy = [read for whole in wholes if isinstance(read := ctx.read(whole), Array)]
    if numbers.rank != 1:
        ctx.raise_(ValueError("object too deep for desired array"))
    if numbers.dtype.kind not in "biu":
        source = f"Cannot cast array data from {numbers.dtype!r} to dtype('int64')"
        ctx.raise_(TypeError(f"{source} according to the rule 'safe'"))
    shape = numbers.type.static_shape
    parts = ctx.convert(heavy[0].value, FLOAT64) if heavy else ctx.broadcast(ctx.constant(1, INT64), shape)
    if heavy:
        own = (
            count(ctx, x, x.extents[0]) if isinstance(x, Bounded) else count(ctx, weights, weights.extents[0])
        )
        none = ctx.op(Compare("EQ"), own.value, ctx.constant(0, INT64))
        reason = NotKnown(span=ctx.span, what="the element type of np.bincount of no elements with weights")
        ctx.check(none, StagingError(()), refuse_number, [lambda: reason])
    inside = where(ctx, bounded(ctx, ctx.jax(numbers.value), [e.moved(1) for e in extents]))
    return occurrences(ctx, numbers.value, parts, least_length(ctx, minlength), inside)


def _sized(x: Any, weights: Any = None) -> None:
    np.bincount(np.zeros(x.shape, int), weights)


@composed_for_computed(np.repeat, "repeats")
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element repeated, along an axis or flat; of a `jax.Array` by its method."""
    a = a if isinstance(a, jax.Array) and not isinstance(repeats, list) else np.asarray(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = normalize_axis_index(axis, a.ndim)
    n = a.shape[axis]
    counts = np.asarray(repeats)
    if counts.ndim == 0:
        if counts < 0:
            raise ValueError("repeats may not contain negative values.")
        times = int(counts)
        return _at(a, np.arange(n * times) // max(times, 1), axis)
    if len(counts) != n and len(counts) != 1:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({len(counts)},)")
    if (counts < 0).any():
        raise ValueError("repeats may not contain negative values.")
    ends = np.cumsum(counts + np.zeros(n, np.intp))
    total = int(ends[-1]) if n > 0 else 0
    if total < 0:  # the sum has wrapped around
        raise ValueError("negative dimensions are not allowed")
    return _at(a, np.searchsorted(ends, np.arange(total), side="right"), axis)


def _at(a: Any, indices: Any, axis: int) -> Any:
    return np.moveaxis(np.moveaxis(a, axis, 0)[indices], 0, axis)


@composed_for_computed(np.tile, "reps")
def tile(A: Any, reps: Any) -> Any:
    """The whole array repeated along its axes."""
    counts = [reps] if np.ndim(reps) == 0 else list(reps)
    a = np.asarray(A)
    while a.ndim < len(counts):
        a = np.expand_dims(a, 0)
    for axis in tuple(range(-len(counts), 0)):
        n = a.shape[axis]
        a = np.take(a, np.arange(n * max(int(counts[axis]), 0)) % max(n, 1), axis=axis)
    return a


@composed_for_computed(np.resize, "new_shape")
def resize(a: Any, new_shape: Any) -> Any:
    """The elements of an array again and again, in another shape."""
    extents = (new_shape,) if np.ndim(new_shape) == 0 else new_shape
    size = 1
    for n in extents:
        size = size * n
        if n < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    flat = np.ravel(a)
    n = len(flat)
    if n == 0:
        return np.zeros(new_shape, flat.dtype)
    return flat[np.arange(size) % n].reshape(new_shape)


# ---------------------------------------------------------------- positions


@composed_for_computed(np.delete, "obj")
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """A copy without some elements along an axis."""
    a = np.asarray(arr)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = normalize_axis_index(axis, a.ndim)
    n = a.shape[axis]
    kept = np.ones(n, bool)
    if isinstance(obj, slice):
        kept[obj] = False
        return np.compress(kept, a, axis=axis)
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
    else:
        kept[places] = False
    return np.compress(kept, a, axis=axis)


@composed_for_computed(np.insert, "obj")
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """A copy with values before some positions of an axis."""
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


@composed_for_computed(np.unravel_index, "shape")
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> Any:
    """The index along each axis of elements counted in C order or, with "F", in Fortran order."""
    extents = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    flat = np.asarray(indices)
    if flat.dtype.kind not in "biu":
        raise TypeError("only int indices permitted")
    size = 1
    for extent in extents:
        size = size * extent
    outside = (flat < 0) | (flat >= size)
    if np.any(outside):
        raise ValueError(
            f"index {int(np.ravel(flat)[np.ravel(outside)][0])} is out of bounds for array with size {size}"
        )
    found, rest = [], flat.astype(np.intp)
    for extent in extents if order == "F" else extents[::-1]:
        found.append(rest % max(extent, 1))
        rest = rest // max(extent, 1)
    return tuple(found if order == "F" else found[::-1])


# ---------------------------------------------------------------- parts


def _between(ary: Any, cuts: Any, axis: Any) -> Any:
    """The parts of an array between places of an axis."""
    lines = np.moveaxis(ary, axis, 0)
    return [np.moveaxis(lines[cuts[i] : cuts[i + 1]], 0, axis) for i in range(len(cuts) - 1)]


@composed_for_computed(np.array_split, "indices_or_sections")
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """A list of views: so many parts of about the same size, or parts between the places named."""
    n = ary.shape[axis]
    if np.ndim(indices_or_sections) > 0:
        places = np.asarray(indices_or_sections)
        if places.dtype.kind not in "iu":
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        return _between(ary, [0, *[int(place) for place in places], n], axis)
    count = indices_or_sections
    if count <= 0:
        raise ValueError("number sections must be larger than 0.")
    each, longer = n // count, n % count
    return _between(ary, [i * each + min(i, longer) for i in range(count + 1)], axis)


@composed_for_computed(np.split, "indices_or_sections")
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """As `array_split`; so many parts are of one size."""
    if np.ndim(indices_or_sections) == 0 and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


@composed_for_computed(np.vsplit, "indices_or_sections")
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Split along the first axis."""
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@composed_for_computed(np.hsplit, "indices_or_sections")
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Split along the second axis, of a vector along its only one."""
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@composed_for_computed(np.dsplit, "indices_or_sections")
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Split along the third axis."""
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


# ---------------------------------------------------------------- made of a number


@composed_for_computed(np.linspace, "num")
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """`num` numbers at equal distances."""
    if np.ndim(start) or np.ndim(stop) or retstep:
        size_depends("np.linspace of arrays", "give both ends as numbers")
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    kind = np.result_type(start, stop, np.float64)
    first, last = np.asarray(start).astype(kind), np.asarray(stop).astype(kind)
    parts = num - 1 if endpoint else num
    at = np.arange(num)
    width = last - first
    step = width / max(parts, 1)
    shares = at.astype(kind)
    found = np.where(step == 0, shares / max(parts, 1) * width, shares * step) + first
    if endpoint:
        found = np.where((at == parts) & (num > 1), last, found)
    if dtype is None:
        return found
    return (np.floor(found) if np.issubdtype(dtype, np.integer) else found).astype(dtype)


@composed_for_computed(np.tri, "N", "M")
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Any:
    """Ones at and below a diagonal."""
    columns = N if M is None else M
    return (np.arange(columns)[None, :] - np.arange(N)[:, None] <= k).astype(dtype)


@composed_for_computed(np.eye, "N", "M")
def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Any:
    """Ones on a diagonal."""
    columns = N if M is None else M
    return (np.arange(columns)[None, :] - np.arange(N)[:, None] == k).astype(dtype)


@composed_for_computed(np.identity, "n")
def identity(n: Any, dtype: Any = None) -> Any:
    """The identity matrix."""
    return eye(n, dtype=float if dtype is None else dtype)


@composed_for_computed(np.diag_indices, "n")
def diag_indices(n: Any, ndim: Any = 2) -> Any:
    """The indices of a main diagonal."""
    return (np.arange(n),) * ndim


@composed_for_computed(np.tril_indices, "n", "m")
def tril_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """The indices of what stands at and below a diagonal."""
    return np.nonzero(tri(n, m, k, bool))


@composed_for_computed(np.triu_indices, "n", "m")
def triu_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """The indices of what stands at and above a diagonal."""
    return np.nonzero(~tri(n, m, k - 1, bool))
