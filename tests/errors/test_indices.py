"""Indices out of bounds: NumPy's IndexError, for loads and stores, one index and many, and what was done before."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

import pystage

cases = Cases()

X, M = np.arange(4.0), np.arange(12.0).reshape(3, 4)
TABLE, LARGE = np.arange(6.0).reshape(2, 3), np.uint64(2**63 + 1)
BAD = {"raises": IndexError}


# ---------------------------------------------------------------- loads


def load(x, i):
    return x[i]


for _i in (0, 3, -4, -1):
    cases(X, _i)(load)
for _i in (4, -5, 2**62, -(2**62), np.int8(-5), np.int32(4)):
    cases(X, _i, **BAD)(load)
cases(X, np.uint64(2**63 + 1), raises=OverflowError)(load)


@cases(TABLE, 5, LARGE, raises=OverflowError)
@cases(TABLE, LARGE, 5, raises=OverflowError)
@cases(TABLE, np.uint64(1), LARGE, raises=OverflowError)
@cases(TABLE, np.uint64(5), 7, raises=IndexError)
def load_of_two_beyond_64_bits(x, i, j):
    return x[i, j]


@cases(TABLE, 5, LARGE, raises=OverflowError)
def store_of_two(x, i, j):
    x[i, j] = 1.0


@cases(TABLE, 5, raises=OverflowError)
def a_known_number_beyond_64_bits(x, i):
    return x[i, 2**63]


@cases(TABLE, **BAD)
def a_known_number_beyond_uint64(x):
    return x[0, 2**64]


@cases(TABLE, **BAD)
def a_known_number_below_64_bits(x):
    x[-(2**63) - 1] = 1.0


@cases([1, 2], LARGE, **BAD)
@cases((1, 2), LARGE, **BAD)
@cases([1, 2], np.float64(1.0), raises=TypeError)
def item_that_is_none(items, i):
    return items[i]


@cases([1, 2], **BAD)
def store_of_an_item_beyond_64_bits(items):
    items[2**63] = 3


@cases(M, 2, -4)
@cases(M, 3, 0, **BAD)
@cases(M, 0, 4, **BAD)
@cases(M, -4, 9, **BAD)
def load_of_two(x, i, j):
    return x[i, j]


@cases(M, 1)
@cases(M, -4, **BAD)
def a_row(x, i):
    return x[i] * 2.0


@cases(M, 1)
@cases(M, 4, **BAD)
def a_column(x, j):
    return x[1:, j].sum()


@cases(M, 0)
@cases(M, 1)
@cases(M, 2, **BAD)
def of_a_view(x, i):
    return x.T[1:3][i, ::2] * 2.0


@cases(M, 3, 2)
@cases(M, 4, 2, **BAD)
@cases(M, 3, -5, **BAD)
def with_an_ellipsis_and_a_new_axis(x, i, j):
    return x[..., i] + x[None, 0, j]


@cases(np.zeros((0, 2)), 1)
@cases(np.zeros((0, 2)), 2, **BAD)
def of_an_empty_array(x, i):
    return x[:, i] + 1.0


@cases(np.zeros(0), 0, **BAD)
def nothing_to_load(x, i):
    return x[i]


# ---------------------------------------------------------------- many at once


@cases(X, np.array([0, 3, -4]))
@cases(X, np.array([0, 7, -9]), **BAD)
@cases(X, np.array([[1, 2], [3, -5]]), **BAD)
@cases(X, np.array([1, 200], np.uint8), **BAD)
@cases(X, np.zeros((0,), int))
def places(x, i):
    return x[i]


@cases(M, np.array([0, 2]), np.array([3, -1]))
@cases(M, np.array([0, 3]), np.array([9, -1]), **BAD)
@cases(M, np.array([0, 1]), np.array([9, -1]), **BAD)
def pairs_of_places(x, i, j):
    return x[i, j]


@cases(M, np.array([0, 2]), 1)
@cases(M, np.array([0, 2]), 4, **BAD)
@cases(M, np.array([0, -4]), 1, **BAD)
def places_and_one(x, i, j):
    return x[i, j], x[i]


@cases(X, np.array([1, 0]))
@cases(X, np.array([1, 6]), **BAD)
def places_stored(x, i):
    x[0] = 5.0
    x[i] = np.array([7.0, 8.0])
    x[i] += 1.0
    return x


# ---------------------------------------------------------------- stores


@cases(X, 2)
@cases(X, 4, **BAD)
@cases(X, -5, **BAD)
def store(x, i):
    x[0] = 9.0
    x[i] = 5.0
    x[1] = 6.0
    return x


@cases(M, 1, np.ones(4))
@cases(M, 3, np.ones(4), **BAD)
def store_a_row(x, i, row):
    x[i] = row
    x[0, 0] = 7.0


@cases(X, 1)
@cases(X, 7, **BAD)
def in_place(x, i):
    x[i] += 2.0
    x *= 2.0
    return x


@cases(X, np.array([3, 1, 0, 2]))
@cases(X, np.array([3, 1, 4, 2]), **BAD)
def scattered_in_a_loop(x, places):
    y = np.zeros(4)
    for k in range(len(x)):
        y[places[k]] = x[k]
        x[k] = -1.0
    return y


@cases(X, 3)
@cases(X, 6, **BAD)
def beyond_the_end_in_a_loop(x, n):
    for i in range(n):
        x[i] = x[i] + 1.0
    return x


@cases(X, 3)
@cases(X, 0, **BAD)
def a_while_beyond_the_end(x, k):
    i = k
    while x[i] < 2.5:
        x[i] = x[i] + 10.0
        i = i + 2
    return i, x


@cases(X, 1)
@cases(X, 5, **BAD)
def swapped(x, i):
    x[0], x[i] = x[i], x[0]
    return x


@cases(X, [10.0], 2)
@cases(X, [10.0], 4, **BAD)
def appended_after(x, log, i):
    log.append(x[i])
    log.append(1.0)
    return len(log)


# ---------------------------------------------------------------- not evaluated


@cases(X, 2)
@cases(X, 9)
def guarded(x, i):
    if 0 <= i < len(x):
        return float(x[i])
    return -1.0


@cases(X, 2)
@cases(X, 9)
def guarded_by_and(x, i):
    return i < len(x) and bool(x[i] > 0.5)


@cases(X, 9)
def in_a_loop_that_does_not_run(x, i):
    for _ in range(0):
        x[i] = 1.0
    while i < 0:
        i = i + int(x[i])
    return i


@cases(X, 0)
@cases(X, 1, **BAD)
def the_first_of_many(x, i):
    return x[i * 4] + x[i * 5] + x[i - 9 * i]


# ---------------------------------------------------------------- functions of NumPy


@cases(X, np.array([1, 3]))
@cases(X, np.array([1, 4]), **BAD)
def take(x, i):
    return np.take(x, i)


@cases(M, np.array([1, 3]))
@cases(M, np.array([1, 4]), **BAD)
def take_along(x, i):
    return np.take(x, i, axis=1)


@cases(M, np.array([[1], [3], [0]]))
@cases(M, np.array([[1], [4], [0]]), **BAD)
def take_along_axis(x, i):
    return np.take_along_axis(x, i, axis=1)


@cases(X, np.array([1, 3]))
@cases(X, np.array([1, 4]), **BAD)
def put(x, i):
    np.put(x, i, 9.0)
    x[0] = 1.0


@cases(X, 2)
@cases(X, 5, **BAD)
def item(x, i):
    return x.item(i)


@cases(X, np.array([1, 3]))
@cases(X, np.array([1, 9]), **BAD)
def add_at(x, i):
    np.add.at(x, i, 1.0)
    x[0] = 9.0


# ---------------------------------------------------------------- the setting, and what does not check


def test_jax_arrays_clamp():
    check(load, jnp.arange(4.0), 9)
    check(load, jnp.arange(4.0), -9)
    check(load, jnp.arange(4.0), np.array([1, 9]))


def test_the_setting():
    f = pystage.compile(load)
    assert pystage.config.check_bounds is True
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4"):
        f(X, 9)
    pystage.config.check_bounds = False
    try:
        assert f(X, 9) == 3.0
        assert f(X, -9) == 0.0
    finally:
        pystage.config.check_bounds = True
    with pytest.raises(IndexError):
        f(X, 9)
    with pytest.raises(TypeError, match="must be True or False"):
        pystage.config.check_bounds = 1
    assert "check_bounds=True" in repr(pystage.config)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
