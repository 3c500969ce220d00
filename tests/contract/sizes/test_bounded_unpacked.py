"""Arrays whose size only the run knows, unpacked and gone over."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.arange(6.0) - 2
M = np.arange(12.0).reshape(6, 2) % 5
ALL, SOME, ONE, NONE = [np.array(t) for t in (-9.0, 1.5, 3.5, 9.0)]


@cases.each((M, ALL), (M, SOME), (M, ONE), (M, NONE), (M.astype(np.int8), SOME))
def columns(m, t):
    x, y = m[m[:, 0] > t].T
    return x, y, x.sum() * y.sum()


@cases.each((jnp.asarray(M), ALL), (jnp.asarray(M), SOME), (jnp.asarray(M), NONE))
def columns_of_jax(m, t):
    x, y = m[m[:, 0] > t].T
    return x, y


@cases.each((M, ALL), (M, SOME), (M, NONE))
def columns_of_a_copy(m, t):
    x, y = np.asarray(m[m[:, 0] > t].T)
    x += 1
    y[:1] = x[:1]
    return x, y, m


@cases.each((M, 4), (M, 1), (M, 0))
def columns_are_views(m, k):
    x, y = m[:k].T
    x *= 10
    y[::2] = -1
    return m, x, y


@cases(M, SOME, raises=ValueError)
@cases(M, NONE, raises=ValueError)
def too_many_columns(m, t):
    x, y, z = m[m[:, 0] > t].T
    return x, y, z


@cases(M, SOME, raises=ValueError)
def too_few_columns(m, t):
    (x,) = m[m[:, 0] > t].T
    return x


@cases.each((M, ALL), (M, SOME), (M, NONE))
def starred_columns(m, t):
    first, *others = m[m[:, 0] > t].T
    return first, others


@cases.each((X, 0.5))
@cases(X, -9.0, raises=ValueError)
@cases(X, 1.5, raises=ValueError)
@cases(X, 9.0, raises=ValueError)
@cases(X[:1], -9.0, raises=ValueError)
@cases(X[:0], -9.0, raises=ValueError)
def three(x, t):
    a, b, c = x[x > t]
    return a, b + c


@cases(X, 2.5)
@cases(X, 9.0, raises=ValueError)
@cases(X, 0.5, raises=ValueError)
def one(x, t):
    (a,) = x[x > t]
    return a


@cases.each((np.array([3, 1]), 2.5))
@cases(np.array([3, 4]), 2.5, raises=ValueError)
def one_of_integers(x, t):
    (a,) = np.flatnonzero(x > t)
    return a, x[a]


@cases.each((M, 2.5))
@cases(M, 9.0, raises=ValueError)
@cases(M, -1.0, raises=ValueError)
@cases(M[:1], -1.0, raises=ValueError)
def two_rows(m, t):
    a, b = m[m[:, 1] > t]
    return a, b, a @ b


@cases.each((M, 2))
@cases(M, 1, raises=ValueError)
@cases(M, 3, raises=ValueError)
@cases(M, 0, raises=ValueError)
def two_rows_are_views(m, k):
    a, b = m[:k]
    a[0] = 99
    b += a
    return m


@cases.each((M, 2))
@cases(M, 3, raises=ValueError)
def points(m, k):
    (a, b), (c, d) = m[:k]
    return a * d - b * c


@cases.each((X, -9.0), (X, 0.5), (X, 1.5))
@cases(X, 2.5, raises=ValueError)
@cases(X, 9.0, raises=ValueError)
def first_and_last(x, t):
    a, *rest, b = x[x > t]
    return a, rest, b


@cases.each((X, -9.0), (X, 2.5))
@cases(X, 9.0, raises=ValueError)
def all_but_the_first(x, t):
    a, *rest = x[x > t]
    return a, rest, len(rest)


@cases.each((X, True, 0.5), (X, False, 9.0))
@cases(X, True, 9.0, raises=ValueError)
def in_a_branch(x, c, t):
    found = 0.0
    if c:
        a, b, _ = x[x > t]
        found = a * b
    return found


@cases.each((M, np.array([3.0, 2.0])), (M, np.array([])))
@cases(M, np.array([3.0, 9.0]), raises=ValueError)
def in_a_loop(m, ts):
    found = 0.0
    for t in ts:
        x, y = m[m[:, 0] >= t].T
        a, *_ = x
        found = found * 2 + a + y.sum()
    return found


@cases.each((M, 0.5), (M, 3.5))
@cases(M, 9.0)
def rows(m, t):
    total = 0.0
    for row in m[m[:, 0] > t]:
        total = total * 2 + row @ row
    return total


@cases.each((M, 0.5), (M, 3.5), (M, 9.0))
def rows_unpacked(m, t):
    total = 0.0
    for x, y in m[m[:, 0] > t]:
        total = total * 2 + x - y
    return total


@cases.each((M, 4), (M, 1), (M, 0))
def rows_stored_into(m, k):
    for row in m[:k]:
        row += row.sum()
    return m


@cases.each((M, M[::-1], 0.5), (M, M[::-1], 3.5), (M, M[::-1], 9.0), (M, M[:3], 0.5))
def pairs_of_rows(m, n, t):
    total, found = 0.0, []
    for i, (a, b) in enumerate(zip(m[m[:, 0] > t], n)):
        total = total + i * (a @ b)
        found.append(a[0] + b[1])
    return total, found


@cases.each((M, 0.5), (M, 3.5), (M, 9.0))
def columns_gone_over(m, t):
    found = []
    for column in m[m[:, 0] > t].T:
        found.append(column.sum())
    return found


@cases.each((M, 0.5), (M, 3.5), (M, 9.0))
def columns_zipped(m, t):
    total = 0.0
    for a, b in zip(m[m[:, 0] > t].T, m.T):
        total += a.sum() * b.sum()
    return total, [c.sum() for c in m[m[:, 0] > t].T]


@cases.each((M, 0.5), (M, 3.5), (M, 9.0))
def columns_as_arguments(m, t):
    return np.hypot(*m[m[:, 0] > t].T), list(m[m[:, 0] > t].T)


@cases.each((M, 0.5), (M, 3.5), (M, 9.0))
def rows_zipped_with_their_columns(m, t):
    kept = m[m[:, 0] > t]
    return [a * b for a, b in zip(*kept.T)], [tuple(p) for p in kept]


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_gradient() -> None:
    def area(m, t):
        x, y = m[m[:, 0] > t].T
        return 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))

    found = pystage.grad(area)(M, 1.5)
    step = 1e-6
    for at in np.ndindex(M.shape):
        up, down = M.copy(), M.copy()
        up[at] += step
        down[at] -= step
        assert np.isclose(found[at], (area(up, 1.5) - area(down, 1.5)) / (2 * step), atol=1e-6)
