"""Functions of bounded arrays as plain programs over simpler ones: shapes, sums of products, statistics, stores.

A program refuses (`size_depends`) arguments for which it cannot compute the size of the result.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ....values.bounded import Bounded
from ....values.lattice import Abstract, Ref
from ...context import Context, Raw
from ...kernels.python_implementations import run_program, size_depends
from ..indexing.flat_stores import refuse_own_memory
from ..padding import mode_name
from ..rounding import allclose
from ..searching import digitize
from ..series import sort_complex
from .order_statistics import at_shares, checked_shares, is_weak
from .size_rules import composed_for_bounded, composed_for_computed, for_bounded

# ---------------------------------------------------------------- shapes


@composed_for_bounded(np.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    """The last two axes in each other's place."""
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return np.swapaxes(x, -1, -2)


@composed_for_bounded(np.atleast_3d)
def atleast_3d(ary: Any) -> Any:
    """With axes of one element, so that there are three."""
    if ary.ndim == 1:
        return ary[None, :, None]
    return ary[:, :, None] if ary.ndim == 2 else ary


@composed_for_bounded(np.dstack)
def dstack(tup: Any) -> Any:
    """One behind the other, along the third axis."""
    return np.concatenate([np.atleast_3d(np.asarray(a)) for a in tup], axis=2)


@composed_for_bounded(np.tril)
def tril(m: Any, k: Any = 0) -> Any:
    """The elements at and below a diagonal; zero elsewhere."""
    return np.where(np.tri(m.shape[-2], m.shape[-1], k, bool), m, np.zeros(1, m.dtype))


@composed_for_bounded(np.triu)
def triu(m: Any, k: Any = 0) -> Any:
    """The elements at and above a diagonal; zero elsewhere."""
    return np.where(np.tri(m.shape[-2], m.shape[-1], k - 1, bool), np.zeros(1, m.dtype), m)


@composed_for_bounded(np.diag)
def diag(v: Any, k: Any = 0) -> Any:
    """A matrix with the vector on its `k`-th diagonal; the diagonal of a matrix."""
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = len(v) + abs(k)
    before = np.zeros(max(-k, 0), v.dtype)
    after = np.zeros(max(k, 0), v.dtype)
    rows = np.concatenate((before, v, after))
    return np.where(np.eye(n, k=k, dtype=bool), rows[:, None], np.zeros(1, v.dtype))


@composed_for_bounded(np.trace)
def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    """The sum along a diagonal."""
    return np.diagonal(a, offset, axis1, axis2).sum(axis=-1)


@composed_for_bounded(np.vander)
def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    """The powers of a vector, as the columns of a matrix."""
    if N is None:
        size_depends("np.vander of as many columns as elements", "give the number of columns")
    kind = np.promote_types(x.dtype, int)
    base = x.astype(kind)
    columns = [np.ones(len(x), kind), base]
    for _ in range(N - 2):
        columns.append(columns[-1] * base)
    return np.stack(columns[:N] if increasing else columns[:N][::-1], axis=1)


@composed_for_bounded(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", *, constant_values: Any = 0) -> Any:
    """More elements around an array: a constant, or its outermost elements."""
    if mode not in ("constant", "edge") or np.ndim(constant_values):
        size_depends(
            f"np.pad of mode {mode!r}, or with several constants", "join the parts with `np.concatenate`"
        )
    if np.ndim(pad_width) == 0:
        widths = [(pad_width, pad_width)] * array.ndim
    elif np.ndim(pad_width) == 1:
        widths = [tuple(np.broadcast_to(pad_width, (2,)))] * array.ndim
    elif isinstance(pad_width, tuple) and len(pad_width) == array.ndim and {*map(len, pad_width)} == {2}:
        widths = list(pad_width)
    else:
        widths = [tuple(pair) for pair in np.broadcast_to(pad_width, (array.ndim, 2))]
    made = array
    for axis in tuple(range(array.ndim)):
        before, after = widths[axis]
        if mode == "constant":
            ends = [
                np.full((*made.shape[:axis], n, *made.shape[axis + 1 :]), constant_values, array.dtype)
                for n in (before, after)
            ]
        else:
            if made.shape[axis] == 0 and before + after > 0:
                raise ValueError(
                    f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
                )
            one = [
                np.moveaxis(np.moveaxis(made, axis, 0)[part], 0, axis) for part in (slice(1), slice(-1, None))
            ]
            ends = [np.repeat(part, n, axis=axis) for part, n in zip(one, (before, after))]
        made = np.concatenate((ends[0], made, ends[1]), axis=axis)
    return made


@composed_for_bounded(np.meshgrid)
def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> Any:
    """Vectors along the axes of one grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    if not copy:
        size_depends("np.meshgrid without copy", "leave `copy` as it is")
    vectors = [np.ravel(x) for x in xi]
    rank = len(vectors)
    axes = list(range(rank))
    if indexing == "xy" and rank > 1:
        axes[0], axes[1] = 1, 0
    grids = []
    for vector, own in zip(vectors, axes):
        grid = vector
        for axis in tuple(range(rank)):
            if axis != own:
                grid = np.expand_dims(grid, axis)
        for other, axis in zip(vectors, axes):
            if axis != own and not sparse:
                grid = np.take(grid, np.zeros(len(other), np.intp), axis=axis)
        grids.append(grid)
    return tuple(grids)


@composed_for_bounded(np.ix_)
def ix_(*args: Any) -> Any:
    """Vectors of integers along axes of their own; of bools the places of those that are true."""
    made = []
    for own, given in enumerate(args):
        places = np.asarray(given)
        if places.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if places.dtype == bool:
            places = np.flatnonzero(places)
        for axis in tuple(range(len(args))):
            if axis != own:
                places = np.expand_dims(places, axis)
        made.append(places)
    return tuple(made)


@composed_for_bounded(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Element by element, the first choice whose condition holds."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    found = default
    for condition, choice in list(zip(condlist, choicelist))[::-1]:
        found = np.where(condition, choice, found)
    return found


@composed_for_bounded(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """The elements of a vector at indices."""
    if np.ndim(arr) != 1:
        size_depends("np.take_along_axis of several axes", "index the lines one by one")
    return np.asarray(arr)[indices]


# ---------------------------------------------------------------- products


@composed_for_bounded(np.kron)
def kron(a: Any, b: Any) -> Any:
    """The products of all elements of two vectors."""
    if np.ndim(a) != 1 or np.ndim(b) != 1:
        size_depends("np.kron of matrices", "multiply with new axes")
    return np.ravel(np.outer(a, b))


@composed_for_bounded(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """The convolution of two vectors."""
    first, second = np.asarray(a), np.asarray(v)
    n, m = len(first), len(second)
    if n == 0:
        raise ValueError("a cannot be empty")
    if m == 0:
        raise ValueError("v cannot be empty")
    mode = mode_name(mode)
    kind = np.result_type(first, second)
    wide = np.dtype(np.float32) if kind == np.float16 else kind  # as NumPy sums
    first, second, found = first.astype(wide), second.astype(wide), np.zeros(n + m - 1, wide)
    for i in range(m):
        found[i : i + n] += first * second[i]
    found = found.astype(kind)
    short, long = min(n, m), max(n, m)
    if mode == "full":
        return found
    if mode == "same":
        return found[(short - 1) // 2 : (short - 1) // 2 + long].copy()
    return found[short - 1 : long].copy()


@composed_for_bounded(np.vecdot)
def vecdot(x1: Any, x2: Any, /) -> Any:
    """The product of two vectors, of which the first is conjugated."""
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        size_depends("np.vecdot of matrices", "sum the products along the last axis")
    return np.vdot(x1, x2)


@composed_for_bounded(np.matvec)
def matvec(x1: Any, x2: Any, /) -> Any:
    """A matrix times a vector."""
    return np.matmul(x1, x2)


@composed_for_bounded(np.vecmat)
def vecmat(x1: Any, x2: Any, /) -> Any:
    """A conjugated vector times a matrix."""
    return np.matmul(x1.conj(), x2)


@composed_for_bounded(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The product of two vectors."""
    if np.ndim(a) != 1 or np.ndim(b) != 1 or axes not in (0, 1):
        size_depends("np.tensordot of these axes", "use `@` or `np.einsum`")
    return np.asarray(np.dot(a, b)) if axes == 1 else np.outer(a, b)


@composed_for_bounded(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """The norm of this order of all elements, or along one axis."""
    if axis is None and keepdims:
        size_depends("np.linalg.vector_norm with keepdims", "name the axis")
    if axis is None:
        return np.linalg.norm(np.ravel(x), ord)
    return np.linalg.norm(x, ord, axis, keepdims)


# ---------------------------------------------------------------- comparisons


@composed_for_bounded(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    """Whether two arrays have one shape and the same elements."""
    a, b = np.asarray(a1), np.asarray(a2)
    if a.ndim != b.ndim:
        return False
    for axis in tuple(range(a.ndim)):
        if a.shape[axis] != b.shape[axis]:
            return False
    same = a == b
    if equal_nan and np.issubdtype(a.dtype, np.inexact) and np.issubdtype(b.dtype, np.inexact):
        same = same | (np.isnan(a) & np.isnan(b))
    return bool(same.all())


composed_for_bounded(np.allclose)(allclose)
composed_for_bounded(np.sort_complex)(sort_complex)


# ---------------------------------------------------------------- statistics


@composed_for_bounded(np.nanquantile)
def nanquantile(a: Any, q: Any, axis: Any = None) -> Any:
    """The quantiles of what is not NaN; NaN where there is nothing else."""
    return _without_nan_at_shares(a, checked_shares(a, q, "Quantiles", 1), is_weak(q), axis)


@composed_for_bounded(np.nanpercentile)
def nanpercentile(a: Any, q: Any, axis: Any = None) -> Any:
    """`nanquantile` with `q` in percent."""
    shares = checked_shares(a, np.true_divide(q, 100), "Percentiles", 100)
    return _without_nan_at_shares(a, shares, is_weak(q), axis)


def _without_nan_at_shares(a: Any, shares: Any, weak: Any, axis: Any) -> Any:
    """`at_shares` of the elements that are not NaN."""
    kept = _without_nan(a, axis, "np.nanquantile")
    if np.size(a) == 0:
        return np.nanmean(kept)
    if len(kept) == 0:
        return np.full(shares.shape, np.nan, kept.dtype)[()]
    return at_shares(kept, shares, weak)


def _without_nan(a: Any, axis: Any, name: Any) -> Any:
    """The elements that are numbers."""
    if axis is not None and len(normalize_axis_tuple(axis, a.ndim)) < a.ndim:
        size_depends(f"{name} along an axis", "go over the lines")
    flat = np.ravel(a)
    return flat[~np.isnan(flat)] if np.issubdtype(flat.dtype, np.inexact) else flat


@composed_for_bounded(np.nanmedian)
def nanmedian(a: Any, axis: Any = None) -> Any:
    """The median of what is not NaN."""
    kept = _without_nan(a, axis, "np.nanmedian")
    return np.median(kept) if len(kept) > 0 or np.size(a) == 0 else np.ravel(a)[-1]


@composed_for_computed(np.partition, "kth")
def partition(a: Any, kth: Any, axis: Any = -1) -> Any:
    """The elements in order."""
    whole = np.asarray(a)
    _check_kth(kth, whole, axis)
    return np.sort(whole, axis=axis)


@composed_for_computed(np.argpartition, "kth")
def argpartition(a: Any, kth: Any, axis: Any = -1) -> Any:
    """The places of the elements in order."""
    whole = np.asarray(a)
    _check_kth(kth, whole, axis)
    return np.argsort(whole, axis=axis)


def _check_kth(kth: Any, a: Any, axis: Any) -> None:
    n = a.size if axis is None else a.shape[axis]
    places = np.ravel(np.asarray(kth))
    if places.dtype == bool:
        raise ValueError("Booleans unacceptable as partition index")
    if not np.issubdtype(places.dtype, np.integer):
        raise TypeError("Partition index must be integer")
    places = np.where(places < 0, places + n, places)
    outside = (places < 0) | (places >= n)
    if a.size > 0 and outside.any():
        raise ValueError(f"kth(={places[np.argmax(outside)]}) out of bounds ({n})")


# ---------------------------------------------------------------- lines and bins


composed_for_bounded(np.digitize)(digitize)


@composed_for_bounded(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Linear interpolation between points, of which `xp` ascends."""
    if period is not None:
        size_depends("np.interp with a period", "bring the positions into one period")
    for given in (x, xp):
        if np.iscomplexobj(given):
            pair = f"from {np.asarray(given).dtype!r} to dtype('float64')"
            raise TypeError(f"Cannot cast array data {pair} according to the rule 'safe'")
    if np.iscomplexobj(fp):
        size_depends("np.interp of complex values", "interpolate the real and the imaginary parts")
    positions, values = np.asarray(xp, float), np.asarray(fp, float)
    n = len(positions)
    if n == 0:
        raise ValueError("array of sample points is empty")
    if len(values) != n:
        raise ValueError("fp and xp are not of the same length.")
    at = np.asarray(x, float)
    low = np.clip(np.searchsorted(positions, at, side="right") - 1, 0, max(n - 2, 0))
    high = np.minimum(low + 1, n - 1)
    slope = (values[high] - values[low]) / (positions[high] - positions[low])
    on, back = at - positions[low] + 0.0, positions[low] - at + 0.0
    found = np.where(np.signbit(slope), slope * on, -(slope * back)) + values[low]  # at a point with -0.0
    behind = slope * (at - positions[high]) + values[high]
    found = np.where(np.isnan(found), behind, found)
    level = (values[low] == values[high]) | (at == positions[low])
    found = np.where(np.isnan(found) & level, values[low], found)
    found = np.where(at == positions[-1], values[-1], found)
    found = np.where(at < positions[0], values[0] if left is None else left, found)
    found = np.where(at > positions[-1], values[-1] if right is None else right, found)
    return np.where(np.isnan(at) & (n > 1), at, found)[()]


# ---------------------------------------------------------------- stores


@composed_for_bounded(np.copyto)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """The elements of one array stored into another."""
    if where is not True:
        size_depends("np.copyto with where", "store with a mask")
    given = np.asarray(src)
    if not np.can_cast(given.dtype, dst.dtype, casting):
        pair = f"from {given.dtype!r} to {dst.dtype!r}"
        raise TypeError(f"Cannot cast array data {pair} according to the rule '{casting}'")
    dst[...] = src


@for_bounded(np.fill_diagonal)
def fill_diagonal(ctx: Context, a: Raw, val: Raw, wrap: Raw = False) -> Abstract:
    """Stores into the main diagonal, in place."""
    array = a.whole if isinstance(a, Bounded) else a
    if isinstance(array, Ref):
        refuse_own_memory(ctx, val, array, "np.fill_diagonal")
    return run_program(ctx, _fill_diagonal, (a, val, wrap))


def _fill_diagonal(a: Any, val: Any, wrap: Any) -> None:
    if isinstance(a, jax.Array) or wrap:
        size_depends("np.fill_diagonal of a jax.Array, or with wrap", "store at the indices")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    count = a.shape[0]
    for extent in a.shape[1:]:
        if a.ndim > 2 and extent != count:
            raise ValueError("All dimensions of input must be of equal length")
        count = min(count, extent)
    places, values = np.arange(count), np.asarray(val, a.dtype)
    if values.ndim == 0:
        a[(places,) * a.ndim] = values
    elif values.size > 0:
        a[(places,) * a.ndim] = np.ravel(values)[places % values.size]


@composed_for_bounded(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """A number stored where the mask is true."""
    if np.ndim(values):
        size_depends("np.putmask of several values", "store with a mask")
    a[mask] = values


@composed_for_bounded(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Values stored at places of a vector."""
    if np.ndim(arr) != 1:
        size_depends("np.put_along_axis of several axes", "store into the lines one by one")
    arr[indices] = values


@composed_for_bounded(np.put)
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """A number stored at some places of a vector."""
    if a.ndim != 1 or np.ndim(v) or mode != "raise":
        size_depends("np.put of several values or axes", "store at the indices")
    a[ind] = v
