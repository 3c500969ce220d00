"""`np.fill_diagonal` of matrices whose size is known, and of those whose size only the run knows."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

M = np.arange(20.0).reshape(5, 4) - 6
X = np.array([3.0, -1, 2, 5])
SIZES = [np.array([k]) for k in (0, 1, 3, 5)]


@cases.each(
    *[(M, v) for v in (7.0, np.array([1, 2]), np.arange(9), np.array([]), jnp.array([1.5, 2]), 2, True)]
)
@cases.each(
    (M.astype(np.int8), 1.5), (M.astype(np.int8), np.array([300, 1])), (M > 0, 0), (M[:1], 3), (M[:0], 3)
)
@cases(M.astype(np.int8), 300, raises=OverflowError)
@cases(M[0], 3, raises=ValueError)
def of_known_size(m, v):
    np.fill_diagonal(m, v)
    return m


@cases(M)
@cases(M[:0])
def with_nothing(m):
    np.fill_diagonal(m, [])
    return m


@cases(M, refused="PS606")
def with_its_own_column(m):
    np.fill_diagonal(m, m[:, 1])
    return m


@cases(M, SIZES[3], refused="PS606")
def with_its_own_rows(m, k):
    np.fill_diagonal(m, m[: k[0], 1])
    return m


@cases.each(*[(M, k) for k in SIZES])
def with_a_copy(m, k):
    np.fill_diagonal(m, m[: k[0], 1].copy())
    return m


@cases.each(*[(M, k, v) for k in SIZES for v in (7.0, np.array([1, 2]), np.array([]), np.arange(9.0))])
@cases.each((M.astype(np.int8), SIZES[3], 1.5), (M.astype(np.int8), SIZES[3], np.array([300, 1])))
@cases(M.astype(np.int8), SIZES[2], 300, raises=OverflowError)
def rows_of_it(m, k, v):
    np.fill_diagonal(m[: k[0]], v)
    return m


@cases.each(*[(M, k, 7.0) for k in SIZES[:3]])
def both_axes(m, k, v):
    part = m[: k[0], : k[0]]
    np.fill_diagonal(part, v)
    np.fill_diagonal(part.T[::-1], part.sum())
    return m, part


@cases.each((X, 0.0), (X, 9.0), (X, 4.0), (X, -9.0))
def distances(x, t):
    y = x[x > t]
    d = np.abs(y[:, None] - y[None, :])
    np.fill_diagonal(d, np.inf)
    return d, d.min(axis=1, initial=100), y


@cases.each((X, 0.0), (X, 9.0), (X, 4.0))
def with_as_many(x, t):
    d = np.outer(x[x > t], x[x > t])
    np.fill_diagonal(d, x[x > t])
    return d


@cases.each((X, SIZES[0]), (X, SIZES[1]), (X, SIZES[2]))
def of_three_axes(x, k):
    d = np.zeros((k[0], k[0], k[0]), int)
    np.fill_diagonal(d, 1)
    return d


@cases(M, SIZES[2], raises=ValueError)
@cases(M, SIZES[0], raises=ValueError)
def of_a_vector(m, k):
    np.fill_diagonal(m[0, : k[0]], 1)


@cases(M, SIZES[2], raises=ValueError)
def of_unequal_axes(m, k):
    d = np.zeros((k[0], k[0], 2))
    np.fill_diagonal(d, 1)


@cases.each((X, np.array([0.0, 9.0, 4.0, -9.0])), (X, np.array([])))
def in_a_loop(x, ts):
    total = np.zeros(2)
    for t in ts:
        y = x[x > t]
        w = np.abs(y[None, :] - y[:, None]) ** 2
        if t < 5:
            np.fill_diagonal(w, 1.0)
        total = total * 2 + np.array([w.sum(), (1 / (w + 1)).sum()])
    return total


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_gradient() -> None:
    def force(x, t):
        y = x[x > t]
        r = y[None, :] - y[:, None]
        d = r**2
        np.fill_diagonal(d, 1.0)
        return (np.abs(r) / d).sum() * y[0]

    found, step = pystage.grad(force)(X, 0.0), 1e-6
    for i in range(4):
        change = np.zeros(4)
        change[i] = step
        slope = (force(X + change, 0.0) - force(X - change, 0.0)) / (2 * step)
        assert np.isclose(found[i], slope, atol=1e-5)
