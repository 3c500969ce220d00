"""Functions that call functions, and blocks, compiled and interpreted, against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from checking import Cases, check

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4))
CUBE = RNG.standard_normal((2, 3, 4))
cases = Cases()


def _spread(line: Any, scale: float = 1.0) -> Any:
    return (line.max() - line.min()) * scale


def _sorted_pair(line: Any) -> Any:
    return np.sort(line)[:2]


def _root(x: Any, y: Any = 0.0) -> Any:
    if x > y:
        return math.sqrt(x - y)
    return 0.0


ROOTS = np.vectorize(_root)
WHOLE = np.vectorize(lambda x: x * 2 + 1, otypes=[np.float32])


@cases.each((X,), (CUBE,), (RNG.integers(0, 9, (3, 4)),))
def along_an_axis(x: Any) -> Any:
    return (
        np.apply_along_axis(_spread, 0, x),
        np.apply_along_axis(_spread, -1, x, 2.0),
        np.apply_along_axis(_sorted_pair, 1, x),
        np.apply_over_axes(np.sum, x, [0, -1]),
    )


@cases(X, raises=ValueError)
def along_no_lines(x: Any) -> Any:
    return np.apply_along_axis(np.sum, 1, x[:0])


@cases.each((X, 0.5), (X[0], X), (2.0, 0.5))
def every_element(x: Any, y: Any) -> Any:
    return np.vectorize(_root)(x, y), ROOTS(x), WHOLE(x)


@cases(X)
def pieces(x: Any) -> Any:
    return (
        np.piecewise(x, [x < 0, x > 1], [lambda v: -v, 2.0]),
        np.piecewise(x, [x < 0], [np.abs, lambda v: v * 3]),
    )


@cases.each((X, X[:, :1]), (np.arange(12).reshape(3, 4), np.array([[1], [2], [9]])))
def put_together(x: Any, y: Any) -> Any:
    return (
        np.block([[x, y], [y, x]]),
        np.block([x[0], 1, y[:, 0]]),
        np.isin(x, [1, 2, 5]),
        np.isin(x, y, invert=True),
        np.resize(x, (5, 4)),
        np.resize(y, 2),
        np.array_equiv(x, x[:1]),
        np.unstack(x),
    )


@cases(X)
def running(x: Any) -> Any:
    return (
        np.cumulative_sum(x, axis=1, include_initial=True),
        np.cumulative_prod(x[0]),
        np.astype(x, np.int32),
        np.tril_indices_from(x[:, :3]),
        np.triu_indices_from(x, 1),
        np.diag_indices_from(x[:, :3]),
    )


@cases.each((X.astype(np.float32), 3), (np.arange(3), 2.5))
def questions_about_types(x: Any, n: Any) -> Any:
    if np.issubdtype(x.dtype, np.floating) and not np.isscalar(x):
        return np.promote_types(x.dtype, np.int8), np.isscalar(n), np.can_cast(x.dtype, np.float64)
    return np.common_type(x), np.isdtype(x.dtype, "integral"), np.isscalar(x[0])


@cases(X, refused="PS604")
def several_results(x: Any) -> Any:
    return np.vectorize(lambda v: (v, v), signature="()->(),()")(x)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_applying(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
