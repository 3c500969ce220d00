"""Sorting functions; every sort is stable."""

from __future__ import annotations

import numpy as np

from ..array import LazyTensor
from .data_types import REAL
from .operands import apply, array


def argsort(x: LazyTensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> LazyTensor:
    """The indices that sort along an axis; equal elements stay in their order, also from the largest down."""
    array("argsort", x, REAL)
    if not descending:
        return apply(np.argsort, x, axis=axis, stable=True)
    turned = apply(np.argsort, apply(np.flip, x, axis=axis), axis=axis, stable=True)
    return apply(np.subtract, x.shape[axis] - 1, apply(np.flip, turned, axis=axis))


def sort(x: LazyTensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> LazyTensor:
    """`x` sorted along an axis."""
    made = apply(np.sort, array("sort", x, REAL), axis=axis, stable=True)
    return apply(np.flip, made, axis=axis) if descending else made
