"""Memory layout of arrays: a stand-in without contents takes the same views, so that NumPy determines strides and order.

The memory of a cell is assumed to be in row-major order.
"""

from __future__ import annotations

import numpy as np

from ..hlo.types import ArrayType
from .views import (
    Diagonal,
    Flipped,
    Permuted,
    RealOrImaginary,
    Repeated,
    Reshaped,
    SlidingWindows,
    Strided,
    View,
    Window,
)


def stand_in(base: ArrayType, path: tuple[View, ...]) -> np.ndarray:
    """An array without contents that lies in memory as the view at the end of `path` of an array does."""
    return seen_through(np.empty(base.static_shape, base.dtype), path)


def seen_through(array: np.ndarray, path: tuple[View, ...]) -> np.ndarray:
    """The view of an array at the end of `path`; a box that begins where the program says begins at the first element."""
    for view in path:
        array = _through(array, view)
    return array


def is_row_major(base: ArrayType, path: tuple[View, ...]) -> bool:
    """True if the elements of a view lie in row-major order without gaps."""
    return not path or bool(stand_in(base, path).flags.c_contiguous)


def _through(array: np.ndarray, view: View) -> np.ndarray:
    match view:
        case Window(starts=starts, sizes=sizes):
            at = [s if isinstance(s, int) else 0 for s in starts]
            return array[tuple([slice(a, a + n) for a, n in zip(at, sizes)])]
        case Strided(starts=first, limits=limits, strides=strides):
            return array[tuple([slice(*part) for part in zip(first, limits, strides)])]
        case Flipped(axes=axes):
            return np.flip(array, axes)
        case Permuted(permutation=permutation):
            return array.transpose(permutation)
        case Reshaped(new_shape=shape):
            return array.reshape(shape)
        case Diagonal(offset=offset):
            return array.diagonal(offset, -2, -1)
        case Repeated(new_shape=shape):
            return np.broadcast_to(array, shape)
        case SlidingWindows(sizes=sizes, axes=axes):
            return np.lib.stride_tricks.sliding_window_view(array, sizes, axes)
        case RealOrImaginary():
            return array.imag if view.imaginary else array.real
    raise AssertionError(f"an unknown view {view!r}")
