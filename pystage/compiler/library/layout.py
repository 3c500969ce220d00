"""How an ndarray lies in memory: whether NumPy's `reshape` of it is a view.

The memory of a cell is taken to be in row-major order. A stand-in without contents goes through the same
views, so that NumPy itself answers.
"""

from __future__ import annotations

import numpy as np

from ..values.lattice import Ref
from ..values.state import Layout
from ..values.views import Flipped, Part, Permuted, Repeated, Reshaped, Strided, View, Window
from .context import Context


def _stand_in(ctx: Context, ref: Ref) -> np.ndarray:
    """An array without contents that lies in memory as `ref` does."""
    base = ctx.state.get(ref.cell).value.type
    array: np.ndarray = np.empty(base.static_shape, base.dtype)
    for view in ref.path:
        array = _through(array, view)
    return array


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
        case Repeated(new_shape=shape):
            return np.broadcast_to(array, shape)
        case Part():
            return array.imag if view.imaginary else array.real
    raise AssertionError(f"an unknown view {view!r}")


def _rely(ctx: Context, ref: Ref, when: Layout) -> None:
    content = ctx.state.get(ref.cell)
    ctx.state.rely_on_layout([ref.cell, *[cell for cell, _ in content.sources]], when)


def is_contiguous(ctx: Context, ref: Ref, order: str = "C") -> bool:
    """True if the elements lie in row-major order (with F: column-major) without gaps."""
    contiguous = not ref.path and order == "C"
    if not contiguous:
        flags = _stand_in(ctx, ref).flags
        contiguous = bool(flags.c_contiguous if order == "C" else flags.f_contiguous)
    _rely(ctx, ref, Layout.IF_STORED if contiguous else Layout.IF_ANY_STORED)
    return contiguous


def keeps_order(ctx: Context, ref: Ref) -> bool:
    """True if the order in memory (K, A) is the row-major one."""
    _rely(ctx, ref, Layout.ALWAYS)
    return is_contiguous(ctx, ref)


def reshapes_as_view(ctx: Context, ref: Ref, shape: tuple[int, ...], order: str = "C") -> bool:
    """True if `reshape` to `shape` is a view of the same memory."""
    array = _stand_in(ctx, ref)
    if array.size == 0 or array.shape == shape:
        return True
    in_order = array.reshape(shape, order="F" if order == "F" else "C")
    view = (not ref.path and order == "C") or bool(np.may_share_memory(array, in_order))
    _rely(ctx, ref, Layout.IF_STORED if view else Layout.IF_ANY_STORED)
    return view
