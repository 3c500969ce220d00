"""Searching functions."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..array import LazyTensor
from .data_types import ANY, BOOLEAN, INTEGER, REAL
from .operands import apply, apply_any, array, arrays, operands


def argmax(x: LazyTensor, /, *, axis: int | None = None, keepdims: bool = False) -> LazyTensor:
    """The index of the largest element, along an axis or of the flattened array."""
    return apply(np.argmax, array("argmax", x, REAL), axis=axis, keepdims=keepdims)


def argmin(x: LazyTensor, /, *, axis: int | None = None, keepdims: bool = False) -> LazyTensor:
    """The index of the smallest element, along an axis or of the flattened array."""
    return apply(np.argmin, array("argmin", x, REAL), axis=axis, keepdims=keepdims)


def count_nonzero(
    x: LazyTensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> LazyTensor:
    """How many elements are not zero."""
    flags = apply(np.not_equal, array("count_nonzero", x), 0)
    return apply(np.sum, flags, axis=axis, dtype=np.dtype(np.int64), keepdims=keepdims)


def nonzero(x: LazyTensor, /) -> tuple[LazyTensor, ...]:
    """The indices along each axis of the elements that are not zero."""
    if not array("nonzero", x).shape:
        raise ValueError("`nonzero` takes arrays with at least one axis")
    return tuple(apply_any(np.nonzero, x))


def searchsorted(
    x1: LazyTensor,
    x2: LazyTensor,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: LazyTensor | None = None,
) -> LazyTensor:
    """Where elements stand in a sorted array, before or after those that are equal."""
    arrays("searchsorted", x1, x2, category=REAL)
    if sorter is None:
        return apply(np.searchsorted, x1, x2, side=side)
    array("searchsorted", sorter, INTEGER)
    return apply(np.searchsorted, x1, x2, side=side, sorter=sorter)


def where(condition: LazyTensor, x1: Any, x2: Any, /) -> LazyTensor:
    """The elements of `x1` where a condition holds, else those of `x2`; one of them may be a Python scalar."""
    array("where", condition, BOOLEAN)
    return apply(np.where, condition, *operands("where", ANY, x1, x2))
