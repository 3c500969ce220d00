"""What a name may be when paths meet is held as alternatives: as many after any number of trips of a loop."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()


X = np.array([1.0, 2, 3, 5, 6, 7, 9, 12, 13, 20])


@cases.each((X, 1.5), (X, 99.0), (X[:0], 2.0))
def nothing_of_another_kind(x, k):
    """What is returned early of no elements is of another type; its length tells that it is not what goes on."""

    def lengths_of_runs(flags):
        if len(flags) == 0:
            return np.array([]), np.array([], dtype=int)
        starts = np.flatnonzero(np.concatenate(([True], flags[1:] != flags[:-1])))
        return flags[starts], np.diff(np.append(starts, len(flags)))

    value, length = lengths_of_runs(np.diff(x) <= k)
    if len(value):
        return value & (length > 1)
    return np.zeros(0, bool)


@cases.each((X, 1.5), (X, 99.0))
def told_by_its_length(x, k):
    y = np.array([]) if k > 3 else x > 2
    return (y & (x > 3)).sum() if len(y) != 0 else 0


@cases.each((jnp.array([1.0, -1, 2, 3, -2]),))
def acc_jax(x):
    s = 0.0
    for v in x:
        if v > 0:
            s = s + v
    return s


@cases.each((jnp.array([-1.0, -1]),))
def acc_jax0(x):
    s = 0.0
    for v in x:
        if v > 0:
            s = s + v
    return s


@cases.each((jnp.arange(12.0).reshape(4, 3),))
def acc_rows(x):
    s = 0.0
    for v in x:
        if v[0] > 3:
            s = s + v
    return s


@cases.each((np.arange(12.0).reshape(4, 3),))
def acc_rows_np(x):
    s = 0.0
    for v in x:
        if v[0] > 3:
            s = s + v
    return s


@cases.each((np.arange(12.0).reshape(4, 3),))
def acc_rows_none(x):
    s = None
    for v in x:
        if v[0] > 3:
            if s is None:
                s = v
            else:
                s = s + v
    return s


@cases.each((np.arange(12.0).reshape(4, 3), 4), (np.arange(12.0).reshape(4, 3), 2))
def acc_rows_none_of_unknown_length(x, n):
    s = None
    for i in range(n):
        v = x[i]
        if v[0] >= 3:
            if s is None:
                s = v
            else:
                s = s + v
    return s


@cases.each(
    (
        np.arange(12.0, dtype=np.float32).reshape(4, 3),
        7,
    )
)
def acc_rows_n(x, n):
    s = 0
    for i in range(n):
        if i % 2:
            s = s + x[i % 4]
        else:
            s = s + 1
    return s


@cases.each(
    (
        jnp.arange(5),
        2,
    )
)
def jint(x, k):
    s = 0
    for i in range(k):
        if x[i] > 0:
            s += x[i]
    return s


@cases.each(
    (
        jnp.arange(5),
        2,
    )
)
def jfl(x, k):
    s = 0
    for i in range(k):
        if x[i] > 0:
            s += x[i] * 0.5
        elif x[i] < -2:
            s = 7
    return s


@cases.each(
    (
        jnp.arange(5.0),
        2.0,
    )
)
def mixed(x, c):
    s = 1 if c > 1 else x[0]
    t = np.float32(2) if c > 3 else x[1]
    return s + t, s, t, s * 2.5, -t


@cases.each(
    (
        jnp.arange(5.0),
        2.0,
    )
)
def gen(x, c):
    return sum(v for v in x if v > c)


@cases.each(
    (
        jnp.arange(5.0),
        2.0,
    )
)
def cnt(x, c):
    n = 0
    best = -1.0
    for v in x:
        if v > c:
            n += 1
        if v > best:
            best = v
    return n, best, n / len(x)


@cases.each(
    (
        jnp.arange(5.0),
        2.0,
    )
)
def whil(x, c):
    s = 0.0
    i = 0
    while s < c:
        if x[i] > 1:
            s = s + x[i]
        i += 1
    return s, i


@cases.each(
    (
        jnp.arange(6.0).reshape(2, 3),
        2.0,
    )
)
def lst(x, c):
    acc = [0.0, 0]
    for r in x:
        for v in r:
            if v > c:
                acc[0] = acc[0] + v
            else:
                acc[1] += 1
    return acc


@cases.each(
    (
        jnp.arange(6.0).reshape(2, 3),
        2.0,
    )
)
def dct(x, c):
    acc = {"a": 0.0}
    for r in x:
        if r.sum() > c:
            acc["a"] += r.mean()
    return acc


@cases.each(
    (
        jnp.arange(6.0).reshape(2, 3),
        True,
    )
)
def strs(x, c):
    s = 0
    if x[0, 0] > 0:
        s = x[0, 0]
    return str(type(s).__name__), isinstance(s, int), float(s)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


@pytest.mark.parametrize("make", [np.ones, jnp.ones])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_sum_under_a_condition_is_one_loop_whatever_the_number_of_trips(make, shape):
    def total(x):
        s = 0.0
        for v in x:
            if v.sum() > 0:
                s = s + v
        return s

    sizes = {str(pystage.code_typed(total, make((n, *shape)))).count("\n") for n in (4, 9, 200)}
    assert len(sizes) == 1
