"""The Array-API names of `np.linalg`, products of stacked vectors and powers of matrices, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from library.harness import Known, check_call

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 3))
Z = (RNG.standard_normal((2, 3)) + 1j * RNG.standard_normal((2, 3))).astype(np.complex64)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex64"])
def test_stacked_vectors(dtype: str) -> None:
    x = RNG.integers(0, 3, (2, 3)).astype(dtype)
    y = RNG.integers(0, 3, (2, 3, 3)).astype(dtype)
    check_call(np.vecdot, x, x[0])
    check_call(np.vecdot, x[0], x[1])
    if hasattr(np, "matvec"):  # NumPy 2.2
        check_call(np.matvec, y, x)
        check_call(np.matvec, y[0], x[0])
        check_call(np.vecmat, x, y)
        check_call(np.vecmat, Z, X.astype(np.complex64))
    check_call(np.linalg.vecdot, x, x)
    check_call(np.linalg.vecdot, x, x, axis=Known(0))


def test_stacked_vectors_that_do_not_fit() -> None:
    for function in [getattr(np, name) for name in ("vecdot", "matvec", "vecmat") if hasattr(np, name)]:
        check_call(function, X[:, :2], X[0])
        check_call(function, X, np.ones((1, 1)))
        check_call(function, np.float64(2), X)
    check_call(np.vecdot, Z, Z.conj())


def test_names() -> None:
    stack = RNG.standard_normal((2, 3, 4))
    check_call(np.linalg.matmul, X, X)
    check_call(np.linalg.outer, X[0], X[1])
    check_call(np.linalg.outer, X, X[1])
    check_call(np.linalg.tensordot, X, X)
    check_call(np.linalg.tensordot, X, X, axes=Known(1))
    check_call(np.linalg.cross, X, X[::-1].copy(), axis=Known(0))
    check_call(np.linalg.trace, stack, offset=Known(1))
    check_call(np.linalg.diagonal, stack, offset=Known(-1))
    check_call(np.linalg.matrix_transpose, stack)
    check_call(np.linalg.matrix_norm, stack)
    check_call(np.linalg.matrix_norm, stack, ord=Known(1), keepdims=Known(True))


@pytest.mark.parametrize("order", [2, 1, 0, 3, np.inf])
def test_vector_norm(order: Any) -> None:
    check_call(np.linalg.vector_norm, X, ord=Known(order))
    check_call(np.linalg.vector_norm, X, ord=Known(order), keepdims=Known(True))
    check_call(np.linalg.vector_norm, X, ord=Known(order), axis=Known(0))
    check_call(np.linalg.vector_norm, X, ord=Known(order), axis=Known(1), keepdims=Known(True))
