"""Arrays of known size changed in place by arrays whose size only the run knows."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.arange(6.0) - 2
A = np.array([1.0, 2, 3])
M = np.arange(6.0).reshape(2, 3)
THREE, ONE, TWO, NONE = 0.5, 2.5, 1.5, 9.0


@cases.each(
    (A, X, THREE), (A, X, ONE), (A.astype(np.float32), X, THREE), (A[:1], X, ONE), (A[::-1], X, THREE)
)
@cases.each(
    (M, X, THREE), (M, X, ONE), (M.T[:1], X, ONE), (A * 1j, X, THREE), (A[:0], X, NONE), (A[:0], X, ONE)
)
@cases(A, X, TWO, raises=ValueError)
@cases(A, X, NONE, raises=ValueError)
@cases(M.T, X, THREE, raises=ValueError)
@cases(A[:1], X, THREE, raises=ValueError)
@cases(A[:1], X, NONE, raises=ValueError)
@cases(A.astype(int), X, THREE, refused="PS209")
def added(a, x, t):
    b = a
    a += x[x > t]
    a *= 2
    a -= x[x > t] * x[x > t]
    return a, b is a


@cases.each((A, X.astype(int), THREE), (A.astype(np.int8), X.astype(np.int8), ONE), (M, X > 0, THREE))
@cases(A.astype(np.int8), np.abs(X).astype(np.uint8), TWO)
def of_other_types(a, x, t):
    a += x[x > t]
    return a


@cases.each((A.astype(int), X.astype(int), THREE), (A.astype(int), X.astype(int), ONE), (M > 2, X > 0, THREE))
def of_bits(a, x, t):
    a |= x[x > t]
    a ^= x[x > t]
    return a


@cases.each((A, X, THREE), (A, X, ONE))
def divided(a, x, t):
    a /= x[x > t]
    a **= x[x > t]
    a //= x[x > t]
    a %= x[x > t]
    return a


@cases.each((X, np.array([6])), (X, np.array([1])))
@cases(X, np.array([3]), raises=ValueError)
@cases(X, np.array([0]), raises=ValueError)
def by_its_own_memory(x, k):
    x += x[: k[0]][::-1]
    return x


@cases.each((A, X, THREE), (A, X, ONE))
@cases(A, X, TWO, raises=ValueError)
def a_part(a, x, t):
    a[:] -= x[x > t]
    rows = np.zeros((2, 3))
    rows[1] += x[x > t]
    rows[:, 1:2] *= x[x > t][:1]
    return a, rows


@cases(A, X, THREE, raises=ValueError)
def read_only(a, x, t):
    np.broadcast_to(a, (2, 3))[0] += x[x > t]
    return a


@cases(A, X, THREE, raises=ValueError)
def of_more_axes(a, x, t):
    a += np.stack([x[x > t], x[x > t]])
    return a


@cases.each((A, jnp.asarray(X), THREE), (jnp.asarray(A), X, THREE), (jnp.asarray(A), jnp.asarray(X), ONE))
def of_jax(a, x, t):
    b = a
    a += x[x > t]
    return a, b


@cases.each((np.array([3, 1, 3, 5]), np.array([2, 4, 0])), (np.array([7, 7]), np.array([])))
@cases(np.array([3, 9]), np.array([2]), raises=ValueError)
def counted(codes, sizes):
    found = np.zeros(8, int)
    for n in sizes:
        found += np.bincount(codes[: int(n)], minlength=8)
    return found


@cases.each((A, X, True, THREE), (A, X, False, TWO))
@cases(A, X, True, TWO, raises=ValueError)
def in_a_branch(a, x, c, t):
    if c:
        a += x[x > t]
    return a


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_gradient() -> None:
    def total(x):
        a = np.ones(4)
        a += x[x > -0.5]
        a *= x[x > -0.5]
        return (a**2).sum()

    found, step = pystage.grad(total)(X), 1e-6
    for i in range(6):
        change = np.zeros(6)
        change[i] = step
        assert np.isclose(found[i], (total(X + change) - total(X - change)) / (2 * step), atol=1e-5)
