"""NumPy functions whose result's size depends on integers of the program: counts, positions, repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ...kernels.python_implementations import size_depends
from .size_rules import composed_for_computed

# ---------------------------------------------------------------- positions


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


# ---------------------------------------------------------------- made of a number
