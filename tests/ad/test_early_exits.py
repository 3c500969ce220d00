"""Gradients through counted loops that end before their last trip, and through those whose first trip stands apart."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import pystage

X = np.random.default_rng(0).uniform(-1, 2, 20)


def broken(x):
    total = 0.0
    for v in x:
        if total > 3:
            break
        total = 0.9 * total + v * v
    return total


def broken_without_residuals(x):
    total = 0.0
    for v in x:
        total = 0.9 * total + v
        if total > 1:
            break
    return total


def returned(x):
    total = 0.0
    for i in range(len(x)):
        total = 0.9 * total + x[i] * x[i]
        if total > 3:
            return total * x[0]
    return total


def first_trip_apart(x):
    total = None
    for v in x:
        total = v * v if total is None else 0.9 * total + v * v
    return total


def inner_broken(x):
    total = 0.0
    for v in x:
        part = 1.0
        for w in x:
            if part > 2 + v:
                break
            part = part * 1.1 + v * w * w
        total += part * v
    return total


def otherwise(x):
    total = 1.0
    for v in x:
        total *= 1 + 0.1 * v
        if total > 1e6:
            break
    else:
        total *= x[3]
    return total


def continued(x):
    total = 1.0
    for v in x:
        if v < 0:
            continue
        total = total * 0.9 + v * v
    return total


def by_differences(function, x):
    steps = 1e-6 * np.eye(len(x))
    return np.array([(function(x + h) - function(x - h)) / 2e-6 for h in steps])


@pytest.mark.parametrize(
    "function",
    [
        broken,
        broken_without_residuals,
        returned,
        first_trip_apart,
        inner_broken,
        otherwise,
        continued,
    ],
)
def test_gradient(function) -> None:
    expected = by_differences(function, X)
    assert np.any(expected != 0)
    np.testing.assert_allclose(pystage.grad(function)(X), expected, atol=1e-7)
    with jax.enable_x64(True):
        by_jax = jax.grad(pystage.compile(lambda x: function(np.asarray(x))))(X)
        np.testing.assert_allclose(by_jax, expected, atol=1e-7)


def test_gradient_after_a_caught_exception() -> None:
    def caught(x):
        total = 1.0
        try:
            for v in x:
                if v > 1.3:
                    raise ValueError("enough")
                total = 0.9 * total + v * v
        except ValueError:
            total *= 2
        return total

    np.testing.assert_allclose(pystage.grad(caught)(X), by_differences(caught, X), atol=1e-7)


def test_second_order() -> None:
    hessian = pystage.hessian(broken)(X)
    expected = np.array(
        [(pystage.grad(broken)(X + h) - pystage.grad(broken)(X - h)) / 2e-6 for h in 1e-6 * np.eye(20)]
    )
    np.testing.assert_allclose(hessian, expected, atol=1e-6)


def test_second_order_around_an_operation_without_a_rule() -> None:
    def largest(x):
        return x[np.argmax(x)] ** 3 * x[0]

    numeric = [
        (pystage.grad(largest)(X + h) - pystage.grad(largest)(X - h)) / 2e-6 for h in 1e-6 * np.eye(20)
    ]
    np.testing.assert_allclose(pystage.hessian(largest)(X), numeric, atol=1e-6)
