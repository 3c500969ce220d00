"""NumPy's order statistics that skip NaN, quantiles with weights and of computed sizes, composed of simpler functions.

Signatures are NumPy's. Lines have different numbers of elements that count, so that the place of a quantile is computed
for each line: by the methods of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ...kernels.python_implementations import NO_SUBTRACTION, composed
from .statistics import weights_along

_LARGE = 1_000
"""Larger arrays are first searched for NaN: without any, no complete sort is needed."""

IN_OWN_TYPE = bool(np.percentile([1.0, 2.0, 3.0], np.float32(30)) != 1.6)
"""Whether percentages are divided in their own type, as by NumPy 2.4, or in that of floating-point elements, as before."""

_ENDS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
"""The parameters alpha and beta of the methods that have them."""


def _given(out: Any, result: Any) -> Any:
    """The result, or `out` with the result in it."""
    if out is None:
        return result
    out[...] = result
    return out


# ---------------------------------------------------------------- medians


@composed(np.nanmedian)
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    """The median of what is not NaN; NaN where there is nothing else."""
    x = np.asarray(a)
    if not np.issubdtype(x.dtype, np.inexact):
        return np.median(x, axis=axis, out=out, keepdims=keepdims)
    if x.size == 0:
        return np.nanmean(x, axis=axis, out=out, keepdims=keepdims)
    if x.size > _LARGE and not np.isnan(x).any():
        return _given(out, np.median(x, axis=axis, keepdims=keepdims))
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim)
    ordered, count = _ordered(x, axes)
    places = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, len(ordered) - 1)
    low, high = [np.take_along_axis(ordered, place[None], axis=0)[0] for place in places]
    middle = np.where(count % 2 == 1, low + 0.0, np.mean(np.stack((low, high)), axis=0))
    middle = np.where(count > 0, middle, np.nan)
    if keepdims:
        return _given(out, middle.reshape([1 if i in axes else n for i, n in enumerate(x.shape)]))
    return _given(out, middle[()])


def _lines(a: Any, axes: Any) -> Any:
    """The elements along axes, moved to the first axis."""
    rest = [n for i, n in enumerate(a.shape) if i not in axes]
    count = math.prod([a.shape[i] for i in axes])
    return np.moveaxis(a, axes, tuple(range(len(axes)))).reshape((count, *rest))


def _ordered(a: Any, axes: Any) -> Any:
    """The elements along axes, sorted along the first axis, and the count of those that are numbers."""
    lines = _lines(a, axes)
    return np.sort(lines, axis=0), np.sum(~np.isnan(lines), axis=0)


# ---------------------------------------------------------------- quantiles


@composed(np.nanquantile)
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """The quantiles of what is not NaN; NaN where there is nothing else."""
    given = np.asarray(a)
    if np.issubdtype(given.dtype, np.complexfloating):
        raise TypeError("a must be an array of real numbers")
    if weights is not None:
        return _given(out, weighted_quantile(given, q, axis, keepdims, weights, True, method))
    if given.size == 0:
        np.quantile([0.0], np.true_divide(q, 1))  # raises what the shares cannot be
        return np.nanmean(given, axis=axis, out=out, keepdims=keepdims)
    if not np.issubdtype(given.dtype, np.inexact):
        return _given(out, np.quantile(given, q, axis=axis, method=method, keepdims=keepdims))
    if given.size > _LARGE and not np.isnan(given).any():
        return _given(out, np.quantile(given, q, axis=axis, method=method, keepdims=keepdims))
    axes = tuple(range(given.ndim)) if axis is None else normalize_axis_tuple(axis, given.ndim)
    ordered, count = _ordered(given, axes)
    share = np.asarray(q)
    results = [_at_share(ordered, count, s, method) for s in np.ravel(share)]
    dtype = np.asarray(np.quantile(np.zeros(2, given.dtype), q, method=method)).dtype
    result = np.stack(results).astype(dtype).reshape(share.shape + count.shape)
    if dtype != given.dtype and count.size and np.ravel(count)[0] == 0:  # the first line decides for all
        result = result.astype(given.dtype)
    if keepdims:
        kept = [1 if i in axes else n for i, n in enumerate(given.shape)]
        return _given(out, result.reshape((*share.shape, *kept)))
    return _given(out, result[()])


def _place(method: Any, n: Any, q: Any) -> Any:
    """The position of the quantile `q` among `n` sorted elements, counted from 0."""
    if method in ("inverted_cdf", "averaged_inverted_cdf"):
        return n * q - 1
    if method == "closest_observation":
        return n * q - 1 - 0.5
    if method in _ENDS:
        alpha, beta = _ENDS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    at = (n - 1) * q
    if method == "lower":
        return np.floor(at)
    if method == "higher":
        return np.ceil(at)
    if method == "nearest":
        return np.around(at)
    if method == "midpoint":
        return 0.5 * (np.floor(at) + np.ceil(at))
    return at


def _at_share(ordered: Any, count: Any, share: Any, method: Any) -> Any:
    """The value at a share of the way through the first `count` of the ordered elements."""
    at = _place(method, count, share)
    floor, last = np.floor(at), np.maximum(count - 1, 0)
    if method == "inverted_cdf":
        floor = np.where(at == floor, floor, floor + 1)
    elif method == "closest_observation":
        floor = np.where((at == floor) & (floor % 2 == 1), floor, floor + 1)
    below = np.clip(floor, 0, last).astype(np.int64)
    low = np.take_along_axis(ordered, below[None], axis=0)[0]
    if method in ("inverted_cdf", "closest_observation", "lower", "higher", "nearest"):
        return np.where(count > 0, low, np.nan)
    above = np.where(at < 0, 0, np.clip(floor + 1, 0, last)).astype(np.int64)
    high = np.take_along_axis(ordered, above[None], axis=0)[0]
    rest = at - np.where(
        at < 0, 0, np.where(at >= last, -1, below)
    )  # at an end it decides the sign of a zero
    if method == "averaged_inverted_cdf":
        rest = np.where(rest == 0, 0.5, 1.0)
    elif method == "midpoint":
        rest = np.where(at == floor, 0.0, 0.5)
    gap = high - low
    return np.where(count > 0, np.where(rest < 0.5, low + gap * rest, high - gap * (1 - rest)), np.nan)


@composed(np.nanpercentile)
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """`nanquantile` with `q` in percent."""
    np.percentile([0.0], np.true_divide(q, 1))  # raises what the shares cannot be
    dtype = np.asarray(a).dtype
    if IN_OWN_TYPE or dtype.kind != "f":
        share = q / 100 if _is_weak(q) else np.true_divide(q, 100)
    else:
        share = np.true_divide(q, dtype.type(100))
    return np.nanquantile(a, share, axis, out, overwrite_input, method, keepdims, weights=weights)


def weighted_quantile(
    a: Any, q: Any, axis: Any, keepdims: Any, weights: Any, skips_nan: Any, method: Any
) -> Any:
    """The quantiles by the method `inverted_cdf`, of elements that count as often as their weights say."""
    shares = np.asarray(q)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]")
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    axes = tuple(range(a.ndim)) if axis is None else normalize_axis_tuple(axis, a.ndim, argname="axis")
    heavy = weights_along(a, np.asarray(weights), None if axis is None else axes)
    if (heavy < 0).any():
        raise ValueError("Weights must be non-negative.")
    lines, heavy = _lines(a, axes), _lines(np.broadcast_to(heavy, a.shape), axes)
    places = np.argsort(lines, axis=0, kind="stable")
    ordered, heavy = [np.take_along_axis(x, places, axis=0) for x in (lines, heavy)]
    nan = np.isnan(ordered)
    counts = (~nan).sum(axis=0) if skips_nan else np.full(nan.shape[1:], len(ordered))
    if skips_nan:
        heavy = np.where(nan, 0, heavy)
    shared = heavy.cumsum(axis=0, dtype=np.float64)
    shared = shared / shared[-1]
    if (np.isnan(shared[-1]) & (counts > 0)).any():
        raise ValueError("Weights included NaN, inf or were all zero.")
    if shares.dtype.kind == "f":
        shared = shared.astype(shares.dtype)
    shared = np.where(shared == 0, -1, shared)
    found = []
    for share in np.ravel(shares):
        place = np.minimum((shared < share).sum(axis=0), np.maximum(counts - 1, 0))
        found.append(np.take_along_axis(ordered, place[None], axis=0)[0])
    result = np.stack(found).reshape(shares.shape + lines.shape[1:])
    if lines.dtype.kind == "f":
        result = np.where(nan.all(axis=0) if skips_nan else nan[-1], ordered[-1], result)
    if keepdims:
        kept = [1 if i in axes else n for i, n in enumerate(a.shape)]
        return result.reshape((*shares.shape, *kept))
    return result


def weighted_percentile(
    a: Any, q: Any, axis: Any, keepdims: Any, weights: Any, skips_nan: Any, method: Any
) -> Any:
    """`weighted_quantile` with `q` in percent."""
    shares = np.true_divide(q, 100)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("Percentiles must be in the range [0, 100]")
    return weighted_quantile(a, shares, axis, keepdims, weights, skips_nan, method)


# ---------------------------------------------------------------- quantiles of arrays of computed size


def sized_quantile(a: Any, q: Any, axis: Any) -> Any:
    """The value at a share `q` of the way through the sorted elements, interpolated between two of them."""
    return _at_shares(a, _checked_shares(a, q, "Quantiles", 1), _is_weak(q), axis)


def sized_percentile(a: Any, q: Any, axis: Any) -> Any:
    """As `sized_quantile`, of a hundred."""
    return _at_shares(a, _checked_shares(a, np.true_divide(q, 100), "Percentiles", 100), _is_weak(q), axis)


def _is_weak(q: Any) -> Any:
    """True for a Python number, which leaves the element type as it is."""
    return type(q) in (int, float)


def _checked_shares(a: Any, q: Any, name: Any, whole: Any) -> Any:
    """Shares from 0 to 1 as an array, of real numbers."""
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    shares = np.asarray(q)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"{name} must be in the range [0, {whole}]")
    return shares


def _at_shares(a: Any, shares: Any, weak: Any, axis: Any) -> Any:
    """The values at shares of the way through the sorted elements; interpolated as in NumPy."""
    if axis is None:
        a, axis = np.ravel(a), 0
    ordered = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    n = len(ordered)
    inexact = np.issubdtype(ordered.dtype, np.inexact)
    place = np.asarray((n - 1) * shares)
    is_place = np.issubdtype(place.dtype, np.integer)
    if n == 0:
        if is_place and not inexact:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        first = 0 if not inexact and np.ravel(shares)[0] > 0 else -1
        raise IndexError(f"index {first} is out of bounds for axis 0 with size 0")
    if is_place:
        found = ordered[place[()]]
    else:
        if ordered.dtype == bool:
            raise TypeError(NO_SUBTRACTION)
        at_end = place >= n - 1
        below = np.where(at_end, n - 1, np.floor(place)).astype(np.intp)[()]
        part: Any = (place - np.where(at_end, -1, below)).astype(place.dtype)
        part = float(part) if weak else np.reshape(part, part.shape + (1,) * (ordered.ndim - 1))
        low, high = ordered[below], ordered[np.minimum(below + 1, n - 1)]
        step = high - low
        found = np.where(part >= 0.5, high - step * (1 - part), low + step * part)[()]
    if inexact:
        last = ordered[n - 1]
        if np.ndim(found) == 0 and found.dtype != last.dtype:
            return last_if_nan(last, found)
        found = np.where(np.isnan(last), last, found)[()]
    return found


def last_if_nan(last: Any, found: Any) -> Any:
    """One quantile, which is the last of the sorted elements, and has its type, where that is NaN."""
    return last if (last != last).all() else found
