"""Covariances, histograms and order statistics, compiled and interpreted, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 6))
Y = RNG.standard_normal((2, 6))
V = RNG.integers(0, 10, 20)
HOLES = np.where(X > 0.7, np.nan, X)
HOLES[:, 2] = np.nan
cases = Cases()


@cases.each((X,), (X.astype(np.float32),), (V,))
def extrema(x: Any) -> Any:
    return np.amax(x), np.amin(x, axis=-1, keepdims=True), np.amax(x, axis=0, initial=3)


@cases.each((X, Y), (X.astype(np.float32), Y), (RNG.integers(0, 9, (3, 6)), Y > 0), (X + 1j, Y))
def covariances(x: Any, y: Any) -> Any:
    return (
        np.cov(x),
        np.cov(x, y),
        np.cov(x, rowvar=False),
        np.cov(x[0], y[0], bias=True),
        np.cov(x[0], ddof=2),
    )


@cases.each((X, Y), (X.astype(np.float32), Y[0]))
def correlations(x: Any, y: Any) -> Any:
    return np.corrcoef(x), np.corrcoef(x, y), np.corrcoef(x, rowvar=False), np.corrcoef(x[0])


@cases.each((X,), (X.astype(np.float32),), (V,), (np.ones(3),))
def histograms(x: Any) -> Any:
    return (
        np.histogram(x),
        np.histogram(x, bins=4, range=(-1, 1.5)),
        np.histogram(x, [-1, 0, 0.5, 4]),
        np.histogram_bin_edges(x, 3),
    )


@cases(X, RNG.random((3, 6)), np.array([-1.0, 0.0, 0.25, 4.0]))
def weighted_histograms(x: Any, w: Any, edges: Any) -> Any:
    return (
        np.histogram(x, 4, weights=w),
        np.histogram(x, 5, density=True),
        np.histogram(x, edges, weights=w, density=True),
    )


@cases.each((HOLES[:, [0, 1, 3]],), (X,))
def order_without_nan(x: Any) -> Any:
    return (
        np.nanmedian(x),
        np.nanmedian(x, axis=0),
        np.nanquantile(x, [0.1, 0.9], axis=1),
        np.nanpercentile(x, 30, axis=-1, keepdims=True),
        np.nanpercentile(x, 100),
    )


@cases.each((HOLES[:, [0, 1, 3]],), (V,))
def places_without_nan(x: Any) -> Any:
    return np.nanargmax(x), np.nanargmin(x, axis=0)


@pytest.mark.filterwarnings("ignore:All-NaN")
def test_nothing_but_nan() -> None:
    check(lambda x: np.nanmedian(x, axis=0), HOLES)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_statistics(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
