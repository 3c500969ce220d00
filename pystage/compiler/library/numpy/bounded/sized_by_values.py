"""NumPy functions whose result's size depends on values, as plain programs over masks and sorted arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ....diagnostics.codes_types import ArgumentNotStaged, SizeDependsOnValues
from ....values.lattice import Abstract, Const
from ...context import Context, Raw
from ...kernels.python_implementations import run_program, size_depends
from ...kernels.structures import is_sequence
from ...operands.known_calls import called_now, known_argument
from ...registry import meaning, whole_signature
from ...rules.jax import is_jax


def found(function: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares a plain program as the meaning of `function`; for known arrays the function is called while compiling."""

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
            try:
                whole_signature(program).bind(*args, **kwargs)
            except TypeError:
                ctx.fail(
                    ArgumentNotStaged(
                        span=ctx.span, function=f"np.{function.__name__}", argument="these arguments"
                    )
                )
            if function is np.nonzero and is_jax(args[0]):
                return ctx.call(Const(jnp.nonzero), [args[0]])
            if function in _DELEGATING and any(map(is_jax, args)):
                rewrite = "use the mask itself, or convert the array first: `np.asarray(x)`"
                what = f"np.{function.__name__} of a jax.Array"
                ctx.fail(SizeDependsOnValues(span=ctx.span, what=what, rewrite=rewrite))
            is_trimmed = function is np.trim_zeros and is_sequence(ctx, args[0])
            if is_trimmed and not isinstance(known_argument(ctx, args[0]), tuple):
                rewrite = "make it an array first: `np.asarray(xs)`"
                what = "np.trim_zeros of a list"
                ctx.fail(SizeDependsOnValues(span=ctx.span, what=what, rewrite=rewrite))
            made = called_now(ctx, function, args, kwargs)
            return run_program(ctx, program, args, kwargs) if made is None else made

        call.__name__ = program.__name__
        call.__doc__ = program.__doc__
        meaning(function)(call)
        return program

    return declare


_DELEGATING = (np.argwhere, np.compress, np.trim_zeros)
"""Functions that NumPy has a method of the argument compute, so that a `jax.Array` gives `jax.Array`s."""


@found(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    """Where the flattened array is not zero."""
    flat = np.ravel(a)
    return np.arange(len(flat))[flat if flat.dtype == bool else flat != 0]


@found(np.nonzero)
def nonzero(a: Any) -> Any:
    """Where an array is not zero: one array of indices for each axis."""
    a = np.asarray(a)
    if a.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        )
    if a.ndim == 1:
        return (flatnonzero(a),)
    places = flatnonzero(a)
    indices: list[Any] = []
    for n in a.shape[::-1]:
        indices.insert(0, places % n)
        places = places // n
    return tuple(indices)


@found(np.argwhere)
def argwhere(a: Any) -> Any:
    """The indices of what is not zero, one row for each."""
    a = np.asarray(a)
    if a.ndim == 0:
        return argwhere(np.atleast_1d(a))[:, :0]
    return np.stack(nonzero(a), axis=1)


@found(np.compress)
def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """The slices of `a` along `axis` at which a vector of conditions is true; those beyond its end are not taken."""
    condition = np.asarray(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    if axis is None:
        return np.take(np.ravel(a), nonzero(condition)[0])
    return np.take(a, nonzero(condition)[0], axis=axis)


@found(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """The elements of `arr` at which the condition is true."""
    return np.take(np.ravel(arr), nonzero(np.ravel(condition))[0])


def _starts(ordered: Any, equal_nan: Any) -> Any:
    """Which elements of a sorted vector differ from the one before."""
    starts = np.ones(len(ordered), bool)
    starts[1:] = ordered[1:] != ordered[:-1]
    if equal_nan and ordered.dtype.kind in "fc":
        nan = np.isnan(ordered)
        starts[1:] = starts[1:] & ~(nan[1:] & nan[:-1])
    return starts


@found(np.unique)
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Any:
    """The distinct elements in order; optionally their first indices, the inverse, and the counts."""
    ar = np.asarray(ar)
    if axis is not None:
        axis = normalize_axis_index(axis, ar.ndim)
    if axis is not None and ar.ndim > 1:
        return _unique_lines(ar, axis, return_index, return_inverse, return_counts)
    flat = np.ravel(ar)
    if not (return_index or return_inverse):
        ordered = np.sort(flat)
        starts = _starts(ordered, equal_nan)
        if not return_counts:
            return ordered[starts]
        places = flatnonzero(starts)
        return ordered[starts], np.diff(np.concatenate((places, [len(ordered)])))
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    starts = _starts(ordered, equal_nan)
    results = [ordered[starts]]
    if return_index:
        results.append(order[starts])
    if return_inverse:
        inverse = np.zeros(len(flat), np.intp)
        inverse[order] = np.cumsum(starts) - 1
        results.append(inverse.reshape(ar.shape))
    if return_counts:
        results.append(np.diff(np.concatenate((flatnonzero(starts), [len(ordered)]))))
    return tuple(results)


def _unique_lines(ar: Any, axis: Any, return_index: Any, return_inverse: Any, return_counts: Any) -> Any:
    """The same as `unique`, of the lines along an axis, in lexicographic order."""
    lines = np.moveaxis(ar, axis, 0)
    n = len(lines)
    flat = lines.reshape((n, math.prod(lines.shape[1:])))
    if flat.shape[1] == 0:
        size_depends("np.unique of lines without elements", "leave them out")
    order = np.lexsort([flat[:, i] for i in range(flat.shape[1] - 1, -1, -1)])
    ordered = flat[order]
    starts = np.ones(n, bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    results = [np.moveaxis(lines[order][starts], 0, axis)]
    if return_index:
        results.append(order[starts])
    if return_inverse:
        inverse = np.zeros(n, np.intp)
        inverse[order] = np.cumsum(starts) - 1
        results.append(inverse)
    if return_counts:
        results.append(np.diff(np.concatenate((flatnonzero(starts), [n]))))
    return results[0] if len(results) == 1 else tuple(results)


@found(np.trim_zeros)
def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    """A vector without the zeros at its ends; a sequence of the class of `filt`."""
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    if isinstance(axis, tuple) and len(axis) == 0:
        return filt
    if np.ndim(filt) != 1:
        size_depends("np.trim_zeros of several axes", "find the limits of each axis by `np.any`")
    places = flatnonzero(filt)
    if len(places) == 0:
        return filt[:0]
    first, last = 0, len(filt)
    if "f" in trim:
        first = places[0]
    if "b" in trim:
        last = places[-1] + 1
    return filt[first:last]


@found(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    """The distinct elements of both arrays, in order."""
    return unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


@found(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    """The distinct common elements of both arrays, in order; optionally their first indices."""
    ar1, ar2 = np.ravel(ar1), np.ravel(ar2)
    if return_indices:
        if assume_unique:
            first, second = np.arange(len(ar1)), np.arange(len(ar2))
        else:
            ar1, first = unique(ar1, return_index=True)
            ar2, second = unique(ar2, return_index=True)
        both = np.concatenate((ar1, ar2))
        order = np.argsort(both, kind="stable")
        both = both[order]
        twice = both[1:] == both[:-1]
        return both[:-1][twice], first[order[:-1][twice]], second[order[1:][twice] - len(ar1)]
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    both = np.sort(np.concatenate((ar1, ar2)))
    return both[:-1][both[1:] == both[:-1]]


@found(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """The distinct elements of the first array that are not in the second, in order."""
    ar1 = np.ravel(ar1) if assume_unique else unique(ar1)
    return ar1[~np.isin(ar1, ar2)]


@found(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """The distinct elements of exactly one array, in order."""
    ar1, ar2 = np.ravel(ar1), np.ravel(ar2)
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    both = np.sort(np.concatenate((ar1, ar2)))
    edges = np.ones(len(both) + 1, bool)
    edges[1:-1] = both[1:] != both[:-1]
    return both[edges[1:] & edges[:-1]]
