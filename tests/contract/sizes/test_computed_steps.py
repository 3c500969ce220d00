"""Views whose direction and step only the run knows: slices of computed steps, and what a loop turns."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.arange(12.0)
M = X.reshape(4, 3)
K = [np.array([k]) for k in range(13)]
S = {k: np.array([k]) for k in (1, 2, 3, 5, -1, -2, -3, 20, -20)}


@cases.each(*[(X, s) for s in S.values()], (X[:1], S[2]), (X[:0], S[-2]), (X[::-1], S[3]))
@cases(X, np.array([0]), raises=ValueError)
def by_step(x, step):
    k = int(step[0])
    return x[::k], x[1::k].sum(), np.sort(x[::k]), x[::k][::-1], x[::k][1:] * 2, len(x[8:2:k])


@cases.each((X, S[2], S[-1]), (X, S[-2], S[2]), (X, S[-2], S[-2]), (X, S[5], S[3]))
def steps_of_steps(x, one, two):
    y = x[:: int(one[0])]
    z = y[:: int(two[0])]
    z[1:] += 10
    return y, z, z[0], z[-1], y[1:].mean(), x


@cases.each((X, S[2]), (X, S[-3]), (X, S[-1]), (X[:1], S[1]))
def stored_through(x, step):
    y = x[:: int(step[0])]
    y += 1
    y[1:] *= 2
    z = y[::-1]
    z[0] = 5
    return y + z, y @ z, x


@cases.each((X, S[2]), (X, S[-3]), (X, S[-1]))
def masks_of_views(x, step):
    y = x[:: int(step[0])]
    big = y[y > 3]
    y[y < 2] = np.arange(100, 100 + (y < 2).sum())
    return big, y[np.flatnonzero(y > 5)], y[[0, -1]], y[[]], x


@cases.each((M, S[2]), (M, S[-1]), (M, S[-3]))
def of_rows(a, step):
    b = a[:: int(step[0])]
    c = b[:, :: int(step[0])]
    c[0] += 1
    return b, c, b[b.sum(axis=1) > 5], c.T, b.sum(axis=0), c.ravel()


@cases(M, S[2], refused="PS221")
def masks_of_rows(a, step):
    b = a[:: int(step[0])]
    b[b > 3] = 0
    return b


@cases.each((X, K[0]), (X, K[3]), (X, K[12]))
def turned(x, k):
    y = x[:]
    for _ in range(k[0]):
        y = y[1:][::-1]
    return y, x


@cases.each((X, K[0]), (X, K[1]), (X, K[4]), (X, K[5]))
def turned_and_stored(x, k):
    y = x[::2]
    for i in range(k[0]):
        y = y[::-1][1:]
        y *= 2
        y[0] = -i
    return y, x


@cases.each((X, K[0]), (X, K[5]), (X[::-1], K[4]))
def turned_argument(x, k):
    given = x
    for _ in range(k[0]):
        x = x[:-1][::-1]
    x[0] = 77
    return x, given


@cases.each((X, K[2]), (X, K[0]), (X + 1, K[1]))
def turned_or_thinned(x, k):
    y = x[:]
    while len(y) > k[0]:
        y = y[1::2] if y[0] > 0 else y[::-1]
    return y, x


@cases.each((X, K[0]), (X, K[1]), (X, K[2]), (X, K[3]))
def turned_whole(x, k):
    y = x * 1
    z = x[:]
    for i in range(k[0]):
        y = y[::-1]
        z = z[::-1]
        y[0] += i
        z[1] += i
    return y, z, x


@cases.each((M, K[0]), (M, K[1]), (M, K[2]), (M, K[4]))
def turned_columns(a, k):
    b = a[:]
    for i in range(k[0]):
        b = b[1:, ::-1]
        b[:1, 0] += i
    return b, a


@cases.each((X, K[0]), (X, K[1]), (X, K[4]))
def exchanged(x, k):
    y, z = x[:], x[::-1]
    for _ in range(k[0]):
        y, z = z[1:], y[1:]
    y[0] = 5
    return y, z.sum(), x


@cases.each((X, K[0]), (X, K[1]), (X, K[4]))
def turned_and_joined(x, k):
    y = x * 2
    for i in range(k[0]):
        y = np.concatenate((y[::-1], [i]))[::-1]
    return y


@cases.each((X, S[2]), (X, S[-2]))
def indices_without_elements(x, k):
    y, none = x[x > k[0]], []
    y[none] = 3
    y[[]] += 2
    rows = x.reshape(4, 3)
    rows = rows[rows[:, 0] > 2]
    return y[none], y[[[]]], y[()], y[(),], rows[[]], rows[:, []], rows[0, []], rows[[], []]


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


@pytest.mark.parametrize("function, count", [(turned, 3), (turned_or_thinned, 2), (turned_and_joined, 2)])
def test_gradients(function, count) -> None:
    def loss(x):
        made = function(x * x, np.array([count]))
        y = made[0] if isinstance(made, tuple) else made
        return (y * np.arange(len(y))).sum()

    x = X + 0.5
    numeric = [(loss(x + h) - loss(x - h)) / 2e-6 for h in 1e-6 * np.eye(12)]
    np.testing.assert_allclose(pystage.grad(loss)(x), numeric, rtol=1e-6, atol=1e-4)


def test_sizes_differ_by_lane() -> None:
    def total(x, k):
        y = x[:]
        for _ in range(k):
            y = y[1:][::-1]
        return (y * np.arange(len(y))).sum()

    lanes = np.arange(5)
    found = pystage.vmap(total, in_axes=(None, 0))(X, lanes)
    np.testing.assert_allclose(found, [total(X, k) for k in lanes])


def test_of_jax_arrays() -> None:
    def f(x, k):
        y = x[:: k[0]]
        return y.sum(), y[0]

    found = pystage.compile(f)(jnp.asarray(X), jnp.asarray([-2]))
    np.testing.assert_allclose(found, f(X, [-2]))
