"""`take` and `take_along_axis`. An index out of bounds raises NumPy's IndexError."""

from __future__ import annotations

import numpy as np

from ..array import LazyTensor
from .data_types import INTEGER
from .operands import apply, array


def take(x: LazyTensor, indices: LazyTensor, /, *, axis: int | None = None) -> LazyTensor:
    """The elements of `x` at `indices` along an axis, which may be left out where there is one only."""
    if array("take", x).ndim != 1 and axis is None:
        raise ValueError("`take` needs the axis of an array of several axes")
    array("take", indices, INTEGER)
    return apply(np.take, x, indices, axis=axis)


def take_along_axis(x: LazyTensor, indices: LazyTensor, /, *, axis: int = -1) -> LazyTensor:
    """The elements of `x` at `indices` along an axis, for each place along the others."""
    array("take_along_axis", indices, INTEGER)
    return apply(np.take_along_axis, array("take_along_axis", x), indices, axis=axis)
