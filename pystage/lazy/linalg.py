"""The `linalg` extension of the Array API standard 2024.12 on lazy tensors."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .array import LazyTensor
from .standard.data_types import FLOATING, NUMERIC, named
from .standard.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from .standard.manipulation import reshape
from .standard.operands import apply, apply_any, array, arrays

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def _matrices(name: str, x: Any) -> LazyTensor:
    found = array(name, x, FLOATING)
    if found.ndim < 2:
        raise np.linalg.LinAlgError(f"`{name}` takes matrices, not an array of shape {found.shape}")
    return found


def cholesky(x: LazyTensor, /, *, upper: bool = False) -> LazyTensor:
    """The Cholesky factors of positive-definite matrices, lower triangles or upper ones."""
    return apply(np.linalg.cholesky, _matrices("cholesky", x), upper=upper)


def cross(x1: LazyTensor, x2: LazyTensor, /, *, axis: int = -1) -> LazyTensor:
    """The cross products of vectors of three elements along an axis."""
    arrays("cross", x1, x2, category=NUMERIC)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"`cross` takes vectors of length 3, not {x1.shape[axis]} and {x2.shape[axis]}")
    return apply(np.linalg.cross, x1, x2, axis=axis)


def det(x: LazyTensor, /) -> LazyTensor:
    """The determinants of square matrices."""
    return apply(np.linalg.det, _matrices("det", x))


def diagonal(x: LazyTensor, /, *, offset: int = 0) -> LazyTensor:
    """The diagonals of matrices, those beside the main one by `offset`."""
    return apply(np.diagonal, array("diagonal", x), offset, -2, -1)


def eigh(x: LazyTensor, /) -> Any:
    """The eigenvalues and eigenvectors of Hermitian matrices."""
    return apply_any(np.linalg.eigh, _matrices("eigh", x))


def eigvalsh(x: LazyTensor, /) -> LazyTensor:
    """The eigenvalues of Hermitian matrices."""
    return apply(np.linalg.eigvalsh, _matrices("eigvalsh", x))


def inv(x: LazyTensor, /) -> LazyTensor:
    """The inverses of square matrices."""
    return apply(np.linalg.inv, _matrices("inv", x))


def matrix_norm(
    x: LazyTensor, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro"
) -> LazyTensor:
    """The norms of matrices."""
    return apply(np.linalg.norm, _matrices("matrix_norm", x), ord, (-2, -1), keepdims)


def matrix_power(x: LazyTensor, n: int, /) -> LazyTensor:
    """Square matrices to an integer power."""
    return apply(np.linalg.matrix_power, _matrices("matrix_power", x), n)


def matrix_rank(x: LazyTensor, /, *, rtol: float | LazyTensor | None = None) -> LazyTensor:
    """The ranks of matrices: how many singular values are larger than `rtol` times the largest."""
    values = svdvals(_matrices("matrix_rank", x))
    return apply(np.sum, apply(np.greater, values, _threshold(x, values, rtol)), axis=-1)


def _threshold(x: LazyTensor, values: LazyTensor, rtol: float | LazyTensor | None) -> LazyTensor:
    """The singular values up to which they count as zero, with an axis of length 1 at the end."""
    if rtol is None:
        eps = np.finfo(x.dtype).eps
        rtol = np.max(x.shape[-2:]).item() * float(eps)
    elif isinstance(rtol, LazyTensor):
        rtol = rtol[..., None]
    return apply(np.multiply, apply(np.max, values, axis=-1, keepdims=True, initial=0.0), rtol)


def outer(x1: LazyTensor, x2: LazyTensor, /) -> LazyTensor:
    """The products of each element of a vector with each of another."""
    arrays("outer", x1, x2, category=NUMERIC)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"`outer` takes vectors, not arrays of shapes {x1.shape} and {x2.shape}")
    return apply(np.outer, x1, x2)


def pinv(x: LazyTensor, /, *, rtol: float | LazyTensor | None = None) -> LazyTensor:
    """The pseudo-inverses of matrices; singular values up to `rtol` times the largest are taken for zero."""
    if rtol is None:
        rtol = max(_matrices("pinv", x).shape[-2:]) * float(np.finfo(x.dtype).eps)
    return apply(np.linalg.pinv, _matrices("pinv", x), rcond=rtol)


def qr(x: LazyTensor, /, *, mode: Literal["reduced", "complete"] = "reduced") -> Any:
    """The factors Q, with orthonormal columns, and R, upper triangles, of matrices."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"`qr` has the modes 'reduced' and 'complete', not {mode!r}")
    return apply_any(np.linalg.qr, _matrices("qr", x), mode=mode)


def slogdet(x: LazyTensor, /) -> Any:
    """The signs of the determinants of square matrices, and the logarithms of their absolute values."""
    return apply_any(np.linalg.slogdet, _matrices("slogdet", x))


def solve(x1: LazyTensor, x2: LazyTensor, /) -> LazyTensor:
    """What square matrices must be multiplied with to give `x2`: one vector, or stacks of matrices."""
    arrays("solve", x1, x2, category=FLOATING)
    return apply(np.linalg.solve, _matrices("solve", x1), x2)


def svd(x: LazyTensor, /, *, full_matrices: bool = True) -> Any:
    """The singular value decompositions `U`, `S`, `Vh` of matrices."""
    return apply_any(np.linalg.svd, _matrices("svd", x), full_matrices=full_matrices)


def svdvals(x: LazyTensor, /) -> LazyTensor:
    """The singular values of matrices, the largest first."""
    return apply(np.linalg.svd, _matrices("svdvals", x), compute_uv=False)


def trace(x: LazyTensor, /, *, offset: int = 0, dtype: Any = None) -> LazyTensor:
    """The sums along the diagonals of matrices; of integers with 64 bits at least."""
    array("trace", x, NUMERIC)
    return apply(np.trace, x, offset, -2, -1, named(dtype))


def vector_norm(
    x: LazyTensor,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> LazyTensor:
    """The norms of vectors along an axis, along several, or of all elements."""
    array("vector_norm", x, FLOATING)
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    own = [np.lib.array_utils.normalize_axis_index(a, x.ndim) for a in axes]
    rest = [a for a in range(x.ndim) if a not in own]
    turned = apply(np.transpose, x, (*rest, *own))
    flat = reshape(turned, (*[x.shape[a] for a in rest], -1 if x.size else _size(x, own)))
    norm = apply(np.linalg.norm, flat, ord, -1)
    if not keepdims:
        return norm
    return reshape(norm, tuple([1 if a in own else n for a, n in enumerate(x.shape)]))


def _size(x: LazyTensor, axes: list[int]) -> int:
    return int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
