"""`jax.Array`s whose size only the run knows, in NumPy's functions, beside ndarrays and beside lists."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = jnp.asarray([2.0, -1.0, 0.5, 3.0, 0.25, 4.0])
NONE = -jnp.abs(X)


# ---------------------------------------------------------------- functions of NumPy convert them


@cases.each((X,), (NONE,))
def as_an_ndarray(x):
    return np.asarray(x[x > 0])


@cases.each((X,), (NONE,))
def flat(x):
    return np.ravel(x[x > 0])


@cases.each((X,), (NONE,))
def with_an_axis(x):
    return np.atleast_2d(x[x > 0]), np.array(x[x > 0])


@cases.each((X,), (NONE,))
def computed_of_ndarrays(x):
    y = x[x > 0]
    return np.roll(y, 1), np.diff(y), np.isin(y, x), np.outer(y, y), np.count_nonzero(y), np.nansum(y)


@cases.each((X,), (NONE,))
def given_by_methods(x):
    y = x[x > 0]
    return np.sum(y), np.cumsum(y), np.reshape(y, -1), np.repeat(y, 2), np.repeat(y, [2]), np.flip(y)


@cases(X)
def taken_by_a_list(x):
    return np.take(x[x > 0], [0, -1])


@cases(X, raises=NotImplementedError)
def taken_by_a_number(x):
    return np.take(x[x > 0], 0)


@cases.each((X,), (NONE,))
def products(x):
    y = x[x > 0]
    z = np.asarray(y)
    return y @ y, y @ z, np.matmul(y, y), np.matmul(z, y)


@cases(X)
def first_power(x):
    return np.linalg.matrix_power(x[None] * x[:, None], 1)


@cases(X, np.array([0.0, 1.0, 2.0]))
@cases(X, np.array([0.0, 2.0, 1.0]), raises=ValueError)
@cases(X, np.array([2.0, 1.0, 1.0]))
def in_bins(x, bins):
    return np.digitize(x, bins), np.digitize(x[x > 0], bins)


# ---------------------------------------------------------------- beside ndarrays and lists


@cases.each((X, 0), (X, 1), (X, 4))
def added_to_a_part(x, k):
    a = np.ones(6)
    m = int(x[0]) + k - 2
    a[:m] += x[:m]
    a[1 : m + 1] *= x[0]
    return a


@cases(X)
def bound_anew(x):
    a = np.ones(6)
    y = z = a[: int(x[0])]
    y += x[: int(x[0])]
    return y, z, a


@cases(X, tolerance=1e-5)
def reflections(r):
    n = len(r)
    a = np.zeros(n)
    a[0] = 1.0
    error = r[0]
    for k in range(1, n):
        reflection = -(a[:k] @ r[k:0:-1]) / error
        a[1 : k + 1] += reflection * a[:k][::-1].copy()
        error *= 1.0 - reflection**2
    return a, error


@cases.each((X,), refused="PS202")
def added_to_a_list(x):
    a = [v for v in x if v > 0]
    return x[: len(a)] + a


@cases.each((X,), refused="PS202")
def multiplied_with_a_list(x):
    a = [v for v in x if v > 0]
    return x[: len(a)] @ a


@cases(X, raises=TypeError)
def indexed_by_a_list(x):
    return x[x > 0][[0, 1]]


@cases.each((X,), (NONE,))
def beside_numbers_in_lists(x):
    out = []
    for v in x:
        each = [v]
        out.append(each)
        if v > 1:
            each.append(7.0)
    return out


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
