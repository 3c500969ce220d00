"""NumPy's statistics, composed of simpler functions: means with weights, histograms.

Signatures are NumPy's. A keyword that is missing here is refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ...kernels.python_implementations import composed, size_depends
from ...python.numbers.exact_sums import bits_of

# ---------------------------------------------------------------- means


@composed(np.average)
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False
) -> Any:
    """The mean, or with weights `sum(a * weights) / sum(weights)`; and, if `returned`, the divisor."""
    given = np.asarray(a)
    if axis is not None:
        axis = normalize_axis_tuple(axis, given.ndim, argname="axis")
    if weights is None:
        found = given.mean(axis, keepdims=keepdims)
        total = np.asarray(given.size / np.size(found), found.dtype)[()]
    else:
        heavy = weights_along(given, np.asarray(weights), axis)
        kind = np.result_type(given.dtype, heavy.dtype)
        if given.dtype.kind in "biu":
            kind = np.result_type(kind, np.float64)
        total = heavy.sum(axis=axis, dtype=kind, keepdims=keepdims)
        if np.any(total == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        found = (given.astype(kind) * heavy.astype(kind)).sum(axis=axis, keepdims=keepdims) / total
    if not returned:
        return found
    if np.ndim(found) == 0:
        return found, total
    return found, np.zeros_like(found) + total


def weights_along(a: Any, weights: Any, axis: Any) -> Any:
    """Weights of the elements of `a`, or of those along some axes, with the axes of `a`."""
    rank = a.ndim
    if weights.ndim == rank and (axis is None or len(axis) < rank or axis == tuple(range(rank))):
        for own, other in zip(a.shape, weights.shape):
            if own != other:
                raise (TypeError(_DIFFER) if axis is None else ValueError(_INCONSISTENT))
        return weights
    if axis is None:
        raise TypeError(_DIFFER)
    if a.shape == weights.shape:
        return weights
    if weights.ndim != len(axis):
        raise ValueError(_INCONSISTENT)
    for at, other in zip(axis, weights.shape):
        if a.shape[at] != other:
            raise ValueError(_INCONSISTENT)
    weights = np.transpose(weights, [axis.index(at) for at in sorted(axis)])
    for at in tuple(range(rank)):
        if at not in axis:
            weights = np.expand_dims(weights, at)
    return weights


_DIFFER = "Axis must be specified when shapes of a and weights differ."
_INCONSISTENT = "Shape of weights must be consistent with shape of a along specified axis."


# ---------------------------------------------------------------- histograms


@composed(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of bins of one width between the extrema of `a` or the limits of `range`."""
    values = np.ravel(np.asarray(a))
    if isinstance(bins, str):
        size_depends(
            f"a histogram with bins={bins!r}", "give the number of bins, as in `bins=10`, or their edges"
        )
    if np.ndim(bins) == 1:
        given = np.asarray(bins)
        if (given[:-1] > given[1:]).any():
            raise ValueError("`bins` must increase monotonically, when an array")
        return given
    if np.ndim(bins) != 0:
        raise ValueError("`bins` must be 1d, when an array")
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    if range is None and values.size == 0:
        low, high = 0, 1
        kind = np.result_type(0, 1, values)
    elif range is None:
        low, high = values.min(), values.max()
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
        kind = values.dtype
        if kind.kind == "f" and not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    else:
        low, high = range
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"supplied range of [{low}, {high}] is not finite")
        kind = np.result_type(low, high, values)
    if np.issubdtype(kind, np.integer) or kind == np.dtype(bool):
        kind = np.result_type(kind, float)
    flat = low == high
    if flat and range is None and values.dtype == np.dtype(float):
        _check_widths(values, bins)
    first = np.where(flat, low - 0.5, low)
    last = np.where(flat, high + 0.5, high)
    edges = np.linspace(first, last, bins + 1, endpoint=True, dtype=kind)
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(f"Too many bins for data range. Cannot create {bins} finite-sized bins.")
    return edges


def _check_widths(values: Any, bins: Any) -> None:
    """Raises ValueError where there are fewer floats between the extrema than bins; XLA flushes the smallest floats to 0."""
    bits = bits_of(values)
    order = np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)
    width = order.max() - order.min()
    if 0 < width < bins:
        raise ValueError(f"Too many bins for data range. Cannot create {bins} finite-sized bins.")


@composed(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The number of elements, or the sum of their weights, between neighbouring edges; and the edges."""
    values = np.ravel(np.asarray(a))
    edges = np.histogram_bin_edges(values, bins, range)
    if len(edges) == 0:
        return np.zeros(0, np.int64 if weights is None else np.asarray(weights).dtype), edges
    count = len(edges) - 1
    equal = np.ndim(bins) == 0
    inside = (values >= edges[0]) & (values <= edges[-1])
    place = _bin_by_width(values, inside, edges) if equal else np.searchsorted(edges, values, "right") - 1
    place = np.where(inside, np.minimum(place, count - 1), count)
    if weights is None:
        n = np.zeros(count + 1, np.int64)
        np.add.at(n, place, 1)
    else:
        given = np.ravel(np.asarray(weights))
        if given.shape != values.shape:
            raise ValueError("weights should have the same shape as a.")
        n = np.zeros(count + 1, np.result_type(given.dtype, np.float64) if equal else given.dtype)
        np.add.at(n, place, given)
        n = n.astype(given.dtype)
    n = n[:count]
    if not equal and np.issubdtype(edges.dtype, np.inexact) and np.isnan(edges).any():
        n = _between_places(values, weights, edges).astype(n.dtype)
    if density:
        widths = np.array(np.diff(edges), float)
        return n / widths / n.sum(), edges
    return n, edges


def _between_places(values: Any, weights: Any, edges: Any) -> Any:
    """The number of elements, or the sum of their weights, between the positions of edges; NaN belongs at the end."""
    order = np.argsort(values, kind="stable")
    lines = values[order]
    places = np.append(np.searchsorted(lines, edges[:-1]), np.searchsorted(lines, edges[-1], "right"))
    if weights is None:
        return np.diff(places)
    sums = np.cumsum(np.ravel(np.asarray(weights))[order])
    return np.diff(np.append(np.zeros(1, sums.dtype), sums)[places])


@composed(np.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """The number of rows of `sample`, or the sum of their weights, in each box of a grid; and its edges."""
    columns = _columns(sample)
    rank = len(columns)
    if not isinstance(bins, list | tuple) and np.ndim(bins) == 0:
        bins = [bins] * rank
    elif len(bins) != rank:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is None:
        range = [None] * rank
    elif len(range) != rank:
        raise ValueError("range argument must have one entry per dimension")
    edges, places, sizes = [], [], []
    for axis, given in enumerate(bins):
        line = columns[axis]
        if np.ndim(given) == 0:
            if given < 1:
                raise ValueError(f"`bins[{axis}]` must be positive, when an integer")
            low, high = _outer_edges(line, range[axis])
            own = np.linspace(low, high, given + 1)
        elif np.ndim(given) == 1:
            own = np.asarray(given)
            if np.any(own[:-1] > own[1:]):
                raise ValueError(f"`bins[{axis}]` must be monotonically increasing, when an array")
        else:
            raise ValueError(f"`bins[{axis}]` must be a scalar or 1d array")
        place = np.searchsorted(own, line, side="right")
        places.append(place - (line == own[-1]))
        edges.append(own)
        sizes.append(len(own) + 1)
        if np.any(places[-1] < 0):
            raise ValueError("invalid entry in coordinates array")
    boxes = places[0]
    for place, size in zip(places[1:], sizes[1:]):
        boxes = boxes * size + place
    heavy = None if weights is None else np.asarray(weights)
    found = np.bincount(boxes, heavy, minlength=math.prod(sizes)).reshape(sizes).astype(float)
    found = found[tuple([slice(1, -1)] * rank)]
    if density:
        total = found.sum()
        for axis, own in enumerate(edges):
            found = found / np.diff(own).reshape([-1 if i == axis else 1 for i in _axes(rank)])
        found = found / total
    return found, edges


def _columns(sample: Any) -> Any:
    """The coordinates of points along each axis: of a matrix its columns, of a list what it holds."""
    if isinstance(sample, list | tuple) and np.ndim(sample[0]) == 1:
        lines = [np.asarray(line) for line in sample]
        kind = np.result_type(*lines)
        for line in lines[1:]:
            if len(line) != len(lines[0]):
                raise ValueError("the lines of a sample must have the same length")
        return [line.astype(kind) for line in lines]
    points = np.asarray(sample)
    if points.ndim != 2:
        points = np.atleast_2d(points).T
    elif isinstance(sample, list | tuple):
        points = points.T
    return [points[:, i] for i in _axes(points.shape[1])]


def _axes(rank: Any) -> Any:
    return list(range(rank))


def _outer_edges(values: Any, limits: Any) -> Any:
    """The ends of the bins: those that are given, or the extrema; moved apart where they are equal."""
    if limits is not None:
        low, high = limits
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"supplied range of [{low}, {high}] is not finite")
    elif len(values) == 0:
        low, high = 0, 1
    else:
        low, high = values.min(), values.max()
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    flat = low == high
    return np.where(flat, low - 0.5, low), np.where(flat, high + 0.5, high)


@composed(np.histogram2d)
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """`histogramdd` of points in a plane."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    count = len(bins) if isinstance(bins, list | tuple) or np.ndim(bins) > 0 else 1
    if count not in (1, 2):
        shared = np.asarray(bins)
        bins = [shared, shared]
    found, edges = np.histogramdd([x, y], bins, range, density, weights)
    return found, edges[0], edges[1]


def _bin_by_width(values: Any, inside: Any, edges: Any) -> Any:
    """The number of the bin, among bins of one width: by a division, and moved by one where the edges say so."""
    last = len(edges) - 2
    x = values.astype(edges.dtype)
    share = np.where(inside, (x - edges[0]) / (edges[-1] - edges[0]), 0)
    place = np.minimum((share * (last + 1)).astype(np.int64), last)
    place = place - (x < np.take(edges, place, mode="clip"))
    return place + ((x >= np.take(edges, place + 1, mode="clip")) & (place < last))
