"""Set functions: the size of the result depends on values, so they are computed at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import LazyTensor
from .operands import apply, apply_any, array


def unique_all(x: LazyTensor, /) -> Any:
    """The distinct elements with their first indices, the inverse and how often each occurs."""
    return apply_any(np.unique_all, array("unique_all", x))


def unique_counts(x: LazyTensor, /) -> Any:
    """The distinct elements, and how often each occurs."""
    return apply_any(np.unique_counts, array("unique_counts", x))


def unique_inverse(x: LazyTensor, /) -> Any:
    """The distinct elements, and which of them each element is."""
    return apply_any(np.unique_inverse, array("unique_inverse", x))


def unique_values(x: LazyTensor, /) -> LazyTensor:
    """The distinct elements, in ascending order: the standard leaves it open, but its consumers rely on it."""
    return apply(np.unique, array("unique_values", x), equal_nan=False)
