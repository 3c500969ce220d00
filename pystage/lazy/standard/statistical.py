"""Statistical functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import LazyTensor
from .data_types import FLOATING, NUMERIC, REAL, REAL_FLOATING, named
from .manipulation import concat
from .operands import apply, array

Axis = int | tuple[int, ...] | None


def cumulative_prod(
    x: LazyTensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> LazyTensor:
    """The products of the elements up to each along an axis, which starts with a 1 with `include_initial`."""
    return _cumulated(np.cumprod, x, axis, dtype, include_initial)


def cumulative_sum(
    x: LazyTensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> LazyTensor:
    """The sums of the elements up to each along an axis, which starts with a 0 with `include_initial`."""
    return _cumulated(np.cumsum, x, axis, dtype, include_initial)


def _cumulated(
    function: Any, x: LazyTensor, axis: int | None, dtype: Any, include_initial: bool
) -> LazyTensor:
    name = "cumulative_sum" if function is np.cumsum else "cumulative_prod"
    if not array(name, x, NUMERIC).shape:
        raise ValueError(f"`{name}` takes arrays with at least one axis")
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"`{name}` needs the axis of an array of several axes")
        axis = 0
    made = apply(function, x, axis=axis, dtype=named(dtype))
    if not include_initial:
        return made
    shape = list(x.shape)
    shape[axis] = 1
    first = apply(np.full_like, made, int(function is np.cumprod), shape=tuple(shape))
    return concat([first, made], axis=axis)


def max(x: LazyTensor, /, *, axis: Axis = None, keepdims: bool = False) -> LazyTensor:
    """The largest element."""
    return apply(np.max, array("max", x, REAL), axis=axis, keepdims=keepdims)


def mean(x: LazyTensor, /, *, axis: Axis = None, keepdims: bool = False) -> LazyTensor:
    """The arithmetic mean."""
    return apply(np.mean, array("mean", x, FLOATING), axis=axis, keepdims=keepdims)


def min(x: LazyTensor, /, *, axis: Axis = None, keepdims: bool = False) -> LazyTensor:
    """The smallest element."""
    return apply(np.min, array("min", x, REAL), axis=axis, keepdims=keepdims)


def prod(x: LazyTensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> LazyTensor:
    """The product; of integers with 64 bits at least."""
    array("prod", x, NUMERIC)
    return apply(np.prod, x, axis=axis, dtype=named(dtype), keepdims=keepdims)


def std(
    x: LazyTensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> LazyTensor:
    """The standard deviation, with the number of elements less `correction` as the divisor."""
    array("std", x, REAL_FLOATING)
    return apply(np.std, x, axis=axis, ddof=correction, keepdims=keepdims)


def sum(x: LazyTensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> LazyTensor:
    """The sum; of integers with 64 bits at least."""
    array("sum", x, NUMERIC)
    return apply(np.sum, x, axis=axis, dtype=named(dtype), keepdims=keepdims)


def var(
    x: LazyTensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> LazyTensor:
    """The variance, with the number of elements less `correction` as the divisor."""
    array("var", x, REAL_FLOATING)
    return apply(np.var, x, axis=axis, ddof=correction, keepdims=keepdims)
