"""`all`, `any` and `diff`."""

from __future__ import annotations

import numpy as np

from ..array import LazyTensor
from .data_types import NUMERIC
from .manipulation import concat
from .operands import apply, array, arrays


def all(x: LazyTensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> LazyTensor:
    """True where all elements are true."""
    return apply(np.all, array("all", x), axis=axis, keepdims=keepdims)


def any(x: LazyTensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> LazyTensor:
    """True where some element is true."""
    return apply(np.any, array("any", x), axis=axis, keepdims=keepdims)


def diff(
    x: LazyTensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: LazyTensor | None = None,
    append: LazyTensor | None = None,
) -> LazyTensor:
    """The differences of neighbours along an axis, `n` times, with more elements before and behind."""
    parts = [part for part in (prepend, x, append) if part is not None]
    arrays("diff", *parts, category=NUMERIC)
    return apply(np.diff, concat(parts, axis=axis) if len(parts) > 1 else x, n=n, axis=axis)
