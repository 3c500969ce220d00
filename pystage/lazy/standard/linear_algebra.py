"""Matrix products and transposes of the main namespace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..array import LazyTensor
from .data_types import NUMERIC
from .operands import apply, array, arrays


def matmul(x1: LazyTensor, x2: LazyTensor, /) -> LazyTensor:
    """The product of matrices, stacks of them, and vectors."""
    return apply(np.matmul, *arrays("matmul", x1, x2, category=NUMERIC))


def matrix_transpose(x: LazyTensor, /) -> LazyTensor:
    """`x` with its last two axes exchanged."""
    if array("matrix_transpose", x).ndim < 2:
        raise ValueError(f"`matrix_transpose` takes matrices, not an array of shape {x.shape}")
    return apply(np.swapaxes, x, -1, -2)


def tensordot(
    x1: LazyTensor, x2: LazyTensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> LazyTensor:
    """The sum of products over axes: so many last and first ones, or those named for each array."""
    arrays("tensordot", x1, x2, category=NUMERIC)
    return apply(np.tensordot, x1, x2, axes)


def vecdot(x1: LazyTensor, x2: LazyTensor, /, *, axis: int = -1) -> LazyTensor:
    """The dot products of vectors along an axis; the first is conjugated."""
    arrays("vecdot", x1, x2, category=NUMERIC)
    if not -min(x1.ndim, x2.ndim) <= axis < 0:
        raise ValueError(f"`vecdot` takes an axis that both arrays count from their last one, not {axis}")
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"`vecdot` takes vectors of one length, not {x1.shape[axis]} and {x2.shape[axis]}")
    return apply(np.linalg.vecdot, x1, x2, axis=axis)
