"""Slices whose length only the program knows, and selections of ndarrays that have several names."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import check

X = np.linspace(-1, 2, 10)


def sieve(limit):
    prime = np.ones(limit.shape[0], bool)
    prime[:2] = False
    i = 2
    while i * i < len(prime):
        if prime[i]:
            prime[i * i :: i] = False
        i += 1
    return prime


def sums(x, bounds):
    lo, hi = bounds
    return x[lo:hi].sum(), x[:hi].sum(), x[lo:].mean(), x[hi:lo:-1].sum(), x[::hi].sum(), len(x[lo:hi])


def stored(x, bounds):
    lo, hi = bounds
    x[lo:hi] = 7.0
    x[hi:] += 1
    x[: lo - 1 : 2] *= 3
    return x


def seen_by_all_names(x, bounds):
    part = x[bounds[0] :]
    other = part
    x[-1] = 50.0
    first = part.sum()
    part += 1
    other[...] = other * 2
    part[:] = part - 1
    return first, other.sum(), x


def rows(a, bounds):
    for i in range(3):
        k = bounds[i]
        a[i, k:] -= 0.5 * a[i + 1, k:]
        a[k:, i] = 0.0
    return a, a[bounds[0], bounds[1] :] @ a[bounds[2], bounds[1] :]


def back_substitution(a, b):
    n = len(b)
    x = np.zeros(n)
    i = n - 1
    while i >= 0:
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
        i -= 1
    return x


def by_step(x, step):
    return x[:: step[0]].sum(), x[5 : -2 : step[0]].sum()


def callee(x, bounds):
    def halve(part):
        part *= 0.5

    halve(x[bounds[0] : bounds[1]])
    return x.sum()


def of_empty(x, bounds):
    return x[bounds[1] : bounds[0]].sum(), x[100 + bounds[0] :].size


@pytest.mark.parametrize("bounds", [(2, 7), (0, 0), (-4, 9), (7, 2), (-100, 100), (3, -1)])
def test_bounds(bounds) -> None:
    for function in (sums, stored, seen_by_all_names, callee, of_empty):
        if function is sums and (bounds[1] == 0 or len(X[bounds[0] :]) == 0):
            continue
        check(function, X.copy(), np.array(bounds))


def test_sieve() -> None:
    check(sieve, np.zeros(100))


def test_rows() -> None:
    a = np.random.default_rng(0).standard_normal((5, 6))
    check(rows, a, np.array([1, 4, 0, 2]))


def test_back_substitution() -> None:
    rng = np.random.default_rng(0)
    a = np.triu(rng.standard_normal((6, 6))) + 3 * np.eye(6)
    check(back_substitution, a, rng.standard_normal(6))


def test_steps() -> None:
    for step in (1, 3, -2, 20):
        check(by_step, X, np.array([step]))
    check(by_step, X, np.array([0]), raises=ValueError)


def test_of_jax_arrays() -> None:
    def total(x, k):
        return x[k:].sum(), x[: k + 2].max()

    found = pystage.compile(total)(jnp.asarray(X), jnp.asarray(3))
    np.testing.assert_allclose(found, total(jnp.asarray(X), 3))


def test_gradient() -> None:
    def loss(x):
        k = int(x[0] * 3)
        y = x * x
        y[k:] *= 2
        return y[: k + 2].sum()

    x = np.array([0.9, 2.0, -1.0, 0.5, 3.0])
    numeric = [(loss(x + h) - loss(x - h)) / 2e-6 for h in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(pystage.grad(loss)(x), numeric, atol=1e-6)


def names_of_a_selection(x):
    v = x[x > 0]
    w = v
    v += 1
    kept = [v]
    v *= 2
    return w.sum(), kept[0].max(), x


def selection_in_a_callee(x):
    def double(t):
        t *= 2

    v = x[x > 0]
    double(v)
    v[...] = v - 0.5
    return v.sum(), x


def dot_of_selections(x):
    mask = x > 0
    return x[mask] @ x[mask]


def test_selections_are_memory() -> None:
    for function in (names_of_a_selection, selection_in_a_callee, dot_of_selections):
        check(function, X.copy())


def test_slices_of_two_axes_results_and_stores() -> None:
    def two(a, k):
        return a[k[0] :, k[1] :].sum()

    def returned(x, k):
        return x[k[0] :]

    def one_for_each(x, k):
        x[k[0] :] = np.arange(5.0)
        return x

    check(two, np.ones((3, 3)), np.array([1, 2]))
    check(returned, X, np.array([5]))
    check(one_for_each, X.copy(), np.array([5]))
    check(one_for_each, X.copy(), np.array([6]), raises=ValueError)


@pytest.mark.parametrize("arrays", [(X, X), (X, jnp.asarray(X)), (jnp.asarray(X), X)])
@pytest.mark.parametrize("count", [3, 4])
def test_lengths_that_differ_raise_what_the_arrays_raise(arrays, count):
    def difference(x, y, n):
        try:
            return str((x[: n[0]] - y[:3]).sum())
        except (TypeError, ValueError) as error:
            return type(error).__name__ + str(error)

    check(difference, *arrays, np.array([count]))


def test_slices_that_do_not_fit_raise_the_text_of_the_function():
    def program(x):
        count = 0
        for i in range(2):
            count += len(np.where(x[1 : len(x) - i] > 1, x[2 : len(x) - i + 1], x[1 : len(x) - i]))
        return count

    check(program, np.arange(6.0), raises=ValueError)
