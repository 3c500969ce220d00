"""`sliding_window_view` of arrays whose size is known, and of those whose size only the run knows."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check
from numpy.lib.stride_tricks import sliding_window_view

cases = Cases()

X = np.arange(6.0) - 2
M = np.arange(20.0).reshape(4, 5) % 7


@cases.each((X,), (X[:3],), (X.astype(np.int8),), (X > 0,), (X * 1j,))
@cases.each((X.tolist(),), (X[::-2],))
@cases(X[:2], raises=ValueError)
@cases(X[:0], raises=ValueError)
def of_vectors(x):
    w = sliding_window_view(x, 3)
    return w, w.sum(axis=1), np.lib.stride_tricks.sliding_window_view(x, (1,)), w.shape


@cases.each((jnp.asarray(X),), (jnp.asarray(M)[0],))
def of_jax(x):
    return sliding_window_view(x, 3)


@cases.each((M,), (M[:, ::2],), (M.T,))
def of_matrices(m):
    return (
        sliding_window_view(m, (2, 3)),
        sliding_window_view(m, 2, axis=0),
        sliding_window_view(m, 2, axis=-1).mean(axis=-1),
        sliding_window_view(m, (2, 2), axis=(0, 0)),
        sliding_window_view(m, (2, 3), axis=(1, 0))[0],
        sliding_window_view(m, (0, 1))[1:],
    )


@cases.each((X,))
def of_views(x):
    w = sliding_window_view(x, 2)
    x[1] = 99
    return w, w[1], w[:, 0], w.T, w.reshape(-1), w.copy()


@cases.each((X,))
def copies_may_be_stored_into(x):
    w = sliding_window_view(x, 2).copy()
    w[0, 0] = 5
    return w, x


@cases(X, raises=ValueError)
def stored_into(x):
    sliding_window_view(x, 2)[0] = 1
    return x


@cases(X, raises=ValueError)
def a_row_stored_into(x):
    w = sliding_window_view(x, 2)[1]
    w += 1
    return x


@cases(X, refused="PS203")
@cases(M, refused="PS203")
def writeable(x):
    return sliding_window_view(x, 2, writeable=True)


@cases(M, raises=ValueError)
def sizes_for_some_axes(m):
    return sliding_window_view(m, 2)


@cases(X, raises=ValueError)
def negative(x):
    return sliding_window_view(x, -1)


@cases(X, raises=np.exceptions.AxisError)
def no_such_axis(x):
    return sliding_window_view(x, 2, axis=1)


ALL, SOME, TWO, ONE, NONE = -9.0, -0.5, 1.5, 2.5, 9.0


@cases.each((X, ALL), (X, SOME), (X, TWO), (X.astype(int), SOME), (jnp.asarray(X), SOME))
@cases(X, ONE, raises=ValueError)
@cases(X, NONE, raises=ValueError)
@cases(X[:1], ALL, raises=ValueError)
def of_selected(x, t):
    w = sliding_window_view(x[x > t], 2)
    return w, w.sum(axis=1), w @ np.array([1, 2]), len(w), w.max(), w[0], w[-1], w.T, w.shape


@cases.each((X, 6), (X, 3), (X, 2))
@cases(X, 1, raises=ValueError)
def of_slices(x, k):
    w = sliding_window_view(x[:k], 2)
    x[1] = 77
    return w, w[:, 1]


@cases.each((X, np.array([6])), (X, np.array([3])), (X, np.array([2])))
@cases(X, np.array([1]), raises=ValueError)
def views_of_slices(x, k):
    w = sliding_window_view(x[: k[0]], 2)
    x[1] = 77
    return w, w[:, 1].sum()


@cases(X, np.array([4]), raises=ValueError)
def stored_into_those_of_slices(x, k):
    w = sliding_window_view(x[: k[0]], 2)
    w[0] = 1
    return x


@cases.each((M, np.array([4])), (M, np.array([2])))
@cases(M, np.array([1]), raises=ValueError)
def of_rows(m, k):
    rows = m[: k[0]]
    a, b = sliding_window_view(rows, (2, 3)), sliding_window_view(rows, 3, axis=1)
    return a, b, a.sum(axis=(2, 3)), sliding_window_view(rows.T, 2, axis=1), b.mean(axis=-1)


@cases.each((M, np.array([4])), (M, np.array([3])))
@cases(M, np.array([2]), raises=ValueError)
def twice_along_one_axis(m, k):
    return sliding_window_view(m[: k[0]], (2, 2), axis=(0, 0))


@cases.each((X, np.array([ALL, TWO])), (X, np.array([])))
@cases(X, np.array([ALL, ONE]), raises=ValueError)
def in_a_loop(x, ts):
    total = 0.0
    for t in ts:
        for a, b in sliding_window_view(x[x > t], 2):
            total = total * 2 + a - b
        if t < 0:
            total += sliding_window_view(x[x > t], 3).max(axis=1).sum()
    return total


@cases.each((np.array([0, 1, 2, 3, 1, 0, 2]), SOME), (np.array([0, 1, 2]), ALL))
def codes(seq, t):
    weights = 4 ** np.arange(1, -1, -1)
    values, counts = np.unique(sliding_window_view(seq[seq > t], 2) @ weights, return_counts=True)
    return values[counts > 1], values


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_gradient() -> None:
    def known(x):
        return (sliding_window_view(x, 3).prod(axis=1) * np.arange(1.0, 5)).sum()

    def selected(x):
        return (sliding_window_view(x[x > -1.5], 2).prod(axis=1) ** 2).sum()

    for function in (known, selected):
        found, step = pystage.grad(function)(X + 0.25), 1e-6
        for i in range(6):
            change = np.zeros(6)
            change[i] = step
            slope = (function(X + 0.25 + change) - function(X + 0.25 - change)) / (2 * step)
            assert np.isclose(found[i], slope, atol=1e-6)
