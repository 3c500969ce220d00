"""Gradients, correlations and polynomials, compiled and interpreted, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 5))
AT = np.array([0.0, 0.5, 1.5, 2.0])
cases = Cases()


@cases.each((X,), (X.astype(np.float32),), (RNG.integers(0, 9, (4, 5)),))
def differences(x: Any) -> Any:
    return np.ediff1d(x), np.ediff1d(x[0], to_begin=1, to_end=x[1, :2])


@cases.each(
    (X, AT), (X.astype(np.float32), AT.astype(np.float32)), (RNG.integers(0, 9, (4, 5)), [0, 1, 3, 4])
)
def gradients(x: Any, at: Any) -> Any:
    return (
        np.gradient(x),
        np.gradient(x[0], 0.5),
        np.gradient(x, at, axis=0),
        np.gradient(x, 2, 0.5, edge_order=2),
        np.gradient(x, at, axis=0, edge_order=2),
    )


@cases.each(
    (X[0], X[1, :3]), (X[1, :2], X[0]), (X[0, :4], X[1, :4]), (X[0] + 1j, X[1, :2] - 2j), (X[0, :3], X[1, :4])
)
def correlations(a: Any, v: Any) -> Any:
    return np.correlate(a, v), np.correlate(a, v, "full"), np.correlate(a, v, mode="same")


@cases(np.array([True, True, False]))
def correlations_of_bools(a: Any) -> Any:
    return np.correlate(a, a), np.correlate(a, a[:2], "full")


@cases(np.array([True, True, False]), raises=TypeError)
def gradient_of_bools(a: Any) -> Any:
    return np.gradient(a)


@cases(np.array([1j, 2.0]), raises=TypeError)
def interpolation_at_complex_places(x: Any) -> Any:
    return np.interp(x, [0.0, 1.0], [2.0, 3.0])


@cases(np.array([-1, 0, 0.5, 1, 2.5, 3, 4, 9]))
def interpolation(x: Any) -> Any:
    bins, values = np.array([0.0, 1, 2.5, 4]), np.array([1.0, -1, 3, 7])
    narrow = np.interp(x.astype(np.float32), bins, values, left=-5.0, right=9)
    return (
        np.interp(x, bins, values),
        np.interp(2.0, bins, values),
        narrow,
        np.interp(x, bins[:1], values[:1]),
    )


@cases(np.array([0.0, 1, 2.5, 4]), raises=ValueError)
def interpolation_between_vectors_of_two_lengths(x: Any) -> Any:
    return np.interp(x, x, x[:2])


@cases.each(
    *[
        (np.array([1.0, 2.0, np.nan, np.inf]), y)
        for y in (np.array([1.0, 2.0, np.nan, np.inf]), np.ones(4), 2.0)
    ]
)
def equal_arrays(x: Any, y: Any) -> Any:
    whole = np.array_equal(np.array([1, 2]), np.array([1, 2], np.float32)), np.array_equal(np.float64(1), 1.0)
    return np.array_equal(x, y), np.array_equal(x, y, equal_nan=True), np.array_equal(x[:2], [1, 2]), whole


@cases(np.array([True, False]), raises=np._core._exceptions._UFuncOutputCastingError)
def bools_rounded_to_decimals(x: Any) -> Any:
    return np.round(x, 1)


@cases.each((X, AT), (X.astype(np.float32), AT), (RNG.integers(0, 9, (4, 5)), [0, 1, 3, 4]))
def integrals(y: Any, x: Any) -> Any:
    return np.trapezoid(y), np.trapezoid(y, dx=0.5, axis=0), np.trapezoid(y, x, axis=0), np.trapezoid(y.T, x)


@cases.each((X * 6,), (X.astype(np.float32) * 6,))
def phases(x: Any) -> Any:
    return np.unwrap(x), np.unwrap(x, axis=0, period=4.0), np.unwrap(x[0], discont=4.0)


@cases.each((X[0], X[1, :3]), (np.array([1, 2]), np.array([3, 0, 1])))
def polynomials(p: Any, q: Any) -> Any:
    return np.polyadd(p, q), np.polysub(p, q), np.polyder(p), np.polyder(q, 2), np.polyadd(1, q)


@cases.each((AT, X[:, 0]), (AT, X), tolerance=1e-8)
def fits(x: Any, y: Any) -> Any:
    return np.polyfit(x, y, 2), np.polyfit(x, y, deg=1)


@cases.each((X,), (np.float32(-1.5),), (2.5,), (-3,))
def towards_zero(x: Any) -> Any:
    return np.fix(x), np.isreal(x), np.iscomplex(x)


@cases(X + 1j * (X > 0))
def complex_parts(x: Any) -> Any:
    return np.isreal(x), np.iscomplex(x)


@cases.each((X, 2.0), (X.astype(np.float32), 3.5), tolerance=1e-6)
def bessel(x: Any, beta: Any) -> Any:
    return np.i0(x), np.kaiser(7, beta), np.kaiser(1, beta)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_series(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
