"""NumPy's functions of infinities, NaN, narrow integers and arrays without elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()
INFINITE = np.array([np.nan, 1.0, -np.inf, 0.5])


@cases.each((INFINITE, 40), (INFINITE[1:], 40), (np.array([1.0, np.inf, np.nan]), 80))
def order_of_numbers(x: Any, q: Any) -> Any:
    of_numbers = x[~np.isnan(x)]
    return np.nanpercentile(x, q), np.nanquantile(x, q / 100), np.percentile(of_numbers, q), np.nanmedian(x)


@cases.each((np.array([-np.inf, -0.0, 4.0]), 0.5), (np.array([-np.inf, -0.0, 4.0], np.float32), 2.0))
def powers_of_a_half(x: Any, y: Any) -> Any:
    return (
        np.power(x, 0.5),
        x**0.5,
        x ** np.float64(0.5),
        x ** np.array([0.5]),
        x ** np.array([0.5, 0.5, 0.5]),
        np.power(x[0], 0.5),
        x[0] ** 0.5,
        np.float_power(x, 0.5),
        np.power(x, y),
        np.array([y]) ** np.array([y]),
        x[1:] ** x[2:],
    )


@cases.each((np.array([]),), (np.array([-3.0, 2.0]),))
def norms(x: Any) -> Any:
    return (
        np.linalg.norm(x, np.inf),
        np.linalg.norm(x, 1),
        np.linalg.norm(x, 2),
        np.linalg.norm(x[:, None], np.inf),
        np.linalg.norm(x[None], 1),
    )


@cases.each((np.zeros((2, 2)),), (np.zeros((1, 1)),), (np.array([[np.nan, 1.0], [0.0, 0.0]]),))
def conditions(a: Any) -> Any:
    return np.linalg.cond(a) if not np.isnan(a).any() else np.linalg.cond(a, 1)


@cases.each((np.array([]),), (np.zeros((0, 2)),), (np.ones((2, 2)),))
@cases(np.zeros((2, 0)), raises=ValueError)
def lines(x: Any) -> Any:
    return np.apply_along_axis(np.sum, 0, x)


@cases.each((np.array([], int), np.array([2])), (np.array([3, 2]), np.array([2, 2])))
def elements_of_both(a: Any, b: Any) -> Any:
    return np.intersect1d(a, b, return_indices=True)


@cases.each((np.array([0, 1]), np.array([2, 7])), (np.array([], int), np.array([2, 7])))
def parts_of_what_may_be_empty(x: Any, i: Any) -> Any:
    return x[x > 0][np.flatnonzero(i > 9)], np.array([], int)[np.arange(2)[i > 9]]


@cases(
    np.array([15, 25, -15, 149, 250]), np.array([5, 15, 255], np.uint8), np.array([127, -128, 45], np.int8)
)
def decimals(i: Any, u: Any, b: Any) -> Any:
    return (
        np.around(i, -2),
        np.around(u, -1),
        np.round(u, 1),
        np.around(b, -1),
        np.around(b, -2),
        round(u[2], -1),
        np.around(i.astype(np.int16), -1),
        np.around(i.astype(float), 308),
    )


@cases.each(
    (np.array([0.0, 2.5, 1e308]), 3), (np.array([-0.0, 0.0]), 2), (np.array([0, 3, 3]), 2)
)  # fmt: skip
@cases(np.array([1.0, 1.0 + 2.0**-52]), 10, raises=ValueError)
@cases(np.array([0.0, 5e-324]), 3, raises=ValueError)
def bins(x: Any, n: Any) -> Any:
    return np.histogram(x, n)


@cases.each(
    (
        np.array([0.5, -np.inf, np.inf, 1.0, np.nan]),
        np.array([0.0, 1.0, 2.0]),
        np.array([np.inf, np.inf, 3.0]),
    ),
    (np.array([0.5, 1.0, 1.5, 2.0, 5.0]), np.array([0.0, 1.0, np.inf]), np.array([1.0, 2.0, 2.0])),
    (np.array([0.5, 0.0, 1.5, 2.0, 1.0]), np.array([-np.inf, 1.0, 2.0]), np.array([4.0, 1.0, -np.inf])),
)
def between_points_that_are_not_finite(x: Any, xp: Any, fp: Any) -> Any:
    return np.interp(x, xp, fp), np.interp(0.25, xp, fp)


@cases.each((np.array([0.0, 2.5, 1e308]),), (np.array([0.0, 49.0, np.nan, 49.0]),))
def shares_of_the_greatest(x: Any) -> Any:
    some = x[np.isfinite(x)]
    return np.histogram(some, 3), some / some.max(), (some / some.max()).astype(int)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function, args, options", cases.params)
def test_extreme_values(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
