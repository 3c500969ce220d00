"""`np.unravel_index`: flat indices as one index per axis; and `np.ravel_multi_index`, which goes the other way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.python_implementations import composed
from ...operands.known_calls import folded

_LARGEST = np.iinfo(np.intp).max
_TOO_LARGE = (
    "dimensions are too large; arrays and shapes with a total size greater than 'intp' are not supported."
)


@folded(np.unravel_index, "shape")
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> Any:
    """The index along each axis of elements counted in C order or, with "F", in Fortran order."""
    extents = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    flat = np.asarray(indices)
    if flat.dtype.kind not in "biu":
        raise TypeError("only int indices permitted")
    size = math.prod(extents)
    if size > _LARGEST:
        raise ValueError(_TOO_LARGE)
    outside = (flat < 0) | (flat >= size)
    if np.any(outside):
        raise ValueError(
            f"index {int(np.ravel(flat)[np.ravel(outside)][0])} is out of bounds for array with size {size}"
        )
    if len(extents) == 0 and flat.ndim > 0:
        raise ValueError("multiple indices are not supported for 0d arrays")
    found, rest = [], flat.astype(np.intp)
    for extent in extents if order == "F" else extents[::-1]:
        found.append(rest % max(extent, 1))
        rest = rest // max(extent, 1)
    return tuple(found if order == "F" else found[::-1])


@composed(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    """The places of elements counted in C order or, with "F", in Fortran order, of one index for each axis."""
    extents = (dims,) if np.ndim(dims) == 0 else tuple(dims)
    count = len(extents)
    given = [np.asarray(each) for each in multi_index]
    if len(given) != count:
        raise ValueError(f"parameter multi_index must be a sequence of length {count}")
    for each in given:
        if each.dtype.kind not in "biu":
            raise TypeError("only int indices permitted")
    if math.prod(extents) > _LARGEST:
        raise ValueError("invalid dims: array size defined by dims is larger than the maximum possible size.")
    indices = [each.astype(np.intp) for each in given]
    zero = 0 * indices[0]
    for each in indices[1:]:
        zero = zero + 0 * each
    modes = (mode,) * count if isinstance(mode, str) else mode
    found, factor = zero, 1
    for axis in range(count) if order == "F" else range(count - 1, -1, -1):
        index, extent = indices[axis] + zero, extents[axis]
        if extent == 0 and index.size > 0:
            raise ValueError("cannot unravel if shape has zero entries (is empty).")
        if modes[axis] == "wrap":
            index = index % max(extent, 1)
        elif modes[axis] == "clip":
            index = np.minimum(np.maximum(index, 0), extent - 1)
        elif np.any((index < 0) | (index >= extent)):
            raise ValueError("invalid entry in coordinates array")
        found = found + index * factor
        factor = factor * extent
    return found
