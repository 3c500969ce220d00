"""NumPy's objects that are indexed, and norms of matrices, compiled and interpreted, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4))
cases = Cases()


@cases(X)
def grids(x: Any) -> Any:
    rows, columns = np.mgrid[0:3, 0:4]
    return rows * x + columns, np.mgrid[0:1:3j], np.mgrid[2:5], np.ogrid[0 : x.shape[0], 1:9:2]


@cases(X, 2.0)
def joined(x: Any, y: Any) -> Any:
    rows = np.r_[x[0], 0, y, 1:4, x[1, :2]]
    return rows, np.c_[x[0], x[1], [1, 2, 3, 4]], np.c_[x, x[:, 0]], x[np.s_[1:, ::2]], x[np.index_exp[0]]


@cases(X)
def a_grid_is_written_to(x: Any) -> Any:
    grid = np.mgrid[0:3, 0:4]
    grid[0] += 5
    return grid, np.mgrid[0:3, 0:4]


@cases(3)
def a_grid_of_another_size_in_each_trip(n: Any) -> Any:
    total = 0
    while n > 0:
        total += np.mgrid[0:n].sum()
        n -= 1
    return total


@cases(np.array([3]), refused="PS401")
def a_grid_of_unknown_size(n: Any) -> Any:
    return np.mgrid[0 : n[0]].sum()


@cases.each((X,), (X.astype(np.float32),), (X + 1j * X[::-1],), (np.arange(6).reshape(2, 3),))
def norms(x: Any) -> Any:
    norm = np.linalg.norm
    return [norm(x, order) for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)]


@cases(RNG.standard_normal((2, 3, 4)))
def norms_of_stacks(x: Any) -> Any:
    norm = np.linalg.norm
    return norm(x, 2, axis=(1, 2)), norm(x, "nuc", axis=(0, 2)), norm(x, -2, axis=(2, 0), keepdims=True)


@cases.each((X, 3), (X, "no"), raises=ValueError)
def no_such_norm(x: Any, order: Any) -> Any:
    return np.linalg.norm(x, order)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_grids(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
