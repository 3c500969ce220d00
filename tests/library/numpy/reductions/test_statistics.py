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


def at_edges(dtype: str, count: int, low: float, high: float) -> Any:
    """The edges of bins of one width, the numbers next to them, and what no bin holds."""
    edges = np.linspace(low, high, count + 1, dtype=dtype)
    beyond = np.array([low - 1, high + 1, np.inf, -np.inf, np.nan], dtype)
    return np.concatenate(
        (edges, np.nextafter(edges, edges.dtype.type(9)), np.nextafter(edges, -edges), beyond)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("count", "low", "high"), [(10, 0.1, 0.7), (97, -1 / 3, 1.1), (1000, 1.0, 1.3)])
def test_numbers_at_the_edges_of_bins(dtype: str, count: int, low: float, high: float) -> None:
    x = at_edges(dtype, count, low, high)
    check(lambda x: np.histogram(x, count, (low, high)), x)
    check(lambda x: np.histogram(x, count), x[np.isfinite(x)])
    check(lambda x, w: np.histogram(x, count, (low, high), weights=w), x, RNG.random(x.size).astype(dtype))
    check(lambda x, w: np.histogram(x, count, (low, high), weights=w), x, RNG.integers(0, 9, x.size))


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


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "elements", [[1.0, np.nan], [1.0, 2.0], [np.nan, np.nan], [[np.nan, 1.0], [np.nan, 2.0]]]
)
@pytest.mark.parametrize("q", [30.0, np.float64(30), np.float32(30), [30.0, 50.0]], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_percentiles_that_are_nan_have_the_type_of_the_elements(elements: Any, q: Any, dtype: Any) -> None:
    def function(x: Any, q: Any) -> Any:
        return np.percentile(x, q), np.percentile(x, q, axis=0), np.percentile(x, q, keepdims=True)

    def without_nan(x: Any, q: Any) -> Any:
        return np.nanpercentile(x, q), np.nanpercentile(x, q, axis=0)

    check(function, np.array(elements, dtype), q, tolerance=0)
    check(without_nan, np.array(elements, dtype), q, tolerance=0)


def test_large_arrays_with_and_without_nan() -> None:
    def function(x: Any) -> Any:
        return (
            np.nanmedian(x),
            np.nanmedian(x, axis=0),
            np.nanpercentile(x, [5, 77], axis=1),
            np.nanquantile(x, 0.3),
        )

    x = RNG.standard_normal((50, 60))
    check(function, x)
    x[3, 5] = np.nan
    check(function, x)
    check(function, x.astype(np.float32))


@cases.each(([1.0, np.nan],), ([1.0, np.inf],), (np.array([np.nan, 2.0], np.float32),), raises=ValueError)
def histograms_of_no_range(x: Any) -> Any:
    return np.histogram(np.asarray(x), bins=3)


@cases([1.0, 3.0, 2.0], raises=ValueError)
def histograms_of_unordered_edges(edges: Any) -> Any:
    return np.histogram(np.arange(4.0), bins=np.asarray(edges))


@cases(np.arange(4.0))
def histograms_without_bins(x: Any) -> Any:
    return np.histogram(x, [])


@cases.each((HOLES[:, [0, 1, 3]],), (V,))
def places_without_nan(x: Any) -> Any:
    return np.nanargmax(x), np.nanargmin(x, axis=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("x", [[1e308, 1.7e308], [1.7e308], np.zeros((0, 3)), np.zeros(0, int)], ids=str)
def test_medians_of_extremes(x: Any) -> None:
    check(lambda x: np.nanmedian(x), np.asarray(x))


@pytest.mark.filterwarnings("ignore:All-NaN")
def test_nothing_but_nan() -> None:
    check(lambda x: np.nanmedian(x, axis=0), HOLES)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_statistics(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)


@pytest.mark.parametrize("number", [2, 2.5, np.array(2), np.array(2.5)], ids=repr)
def test_numbers_have_no_axis_to_count_along(number: Any) -> None:
    def texts(x):
        found = ["", "", ""]
        for i, f in enumerate((np.mean, np.var, np.nanstd)):
            try:
                f(x, axis=0)
            except ValueError as error:
                found[i] = str(error)
        return found, np.sum(x, axis=0)

    check(texts, number)
