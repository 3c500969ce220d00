"""What the first trip of a loop shows (a trip count, a key, a shape) must hold in all trips, or the loop starts again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()


@dataclass
class Counter:
    m: int


@cases.each((3,))
def dict_inner(n):
    total = 0.0
    m = 1
    for i in range(n):
        d = {}
        for t in range(m):
            d[t] = 1.0
        total += d[0]
        m += 1
    return total


@cases.each((3,))
def dict_inner_last(n):
    total = 0.0
    m = 1
    for i in range(n):
        d = {}
        for t in range(m):
            d[t] = 1.0 * t
        total += d[m - 1]
        m += 1
    return total


@cases.each((4,))
def while_inner(n):
    total = 0.0
    m = 1
    k = 0
    while m < n:
        d = {}
        for t in range(m):
            d[t] = 1.0
        total += len(d)
        m += 1
    return total


@cases.each((np.arange(6.0),))
def arr_dict(x):
    m = 1
    s = 0.0
    for i in range(3):
        d = {}
        for t in range(m):
            d[t] = x[t]
        for t in range(m):
            s += d[t]
        m += 1
    return s


@cases.each((np.arange(6.0),))
def list_inner(x):
    m = 1
    s = 0.0
    for i in range(3):
        rows = []
        for t in range(m):
            rows.append(x[t])
        s += rows[0] + len(rows)
        m += 1
    return s


@cases.each(
    (
        np.arange(6.0),
        3,
    )
)
def list_inner_n(x, n):
    m = 1
    s = 0.0
    for i in range(n):
        rows = []
        for t in range(m):
            rows.append(x[t])
        s += rows[0] + len(rows)
        m += 1
    return s


@cases.each((3,))
def obj_count(n):
    c = Counter(1)
    s = 0
    for i in range(n):
        d = {}
        for t in range(c.m):
            d[t] = t
        s += d[0] + len(d)
        c.m += 1
    return s


@cases.each((3,))
def lst_count(n):
    c = [1]
    s = 0
    for i in range(n):
        d = {}
        for t in range(c[0]):
            d[t] = t
        s += d[0] + len(d)
        c[0] += 1
    return s


@cases.each((3,))
def shape_change(n):
    m = 1
    s = 0.0
    for i in range(n):
        x = np.ones(m)
        s += x.sum()
        m += 1
    return s


@cases.each((3,))
def shape_attr(n):
    c = [1]
    s = 0.0
    for i in range(n):
        x = np.ones(c[0])
        s += x.sum()
        c[0] += 1
    return s


@cases.each((3,))
def string_key(n):
    d = {"a": 1, "b": 2, "ab": 3}
    k = "a"
    s = 0
    for i in range(n):
        s += d.get(k, 5)
        k = k + "b"
    return s


@cases.each((4,), raises=KeyError)
def raise_later(n):
    d = {0: 1.0, 1: 2.0}
    k = 0
    s = 0.0
    for i in range(n):
        s += d[k]
        k += 1
    return s


@cases.each((3,))
def tup(n):
    t = (1,)
    s = 0
    for i in range(n):
        s += len(t)
        t = t + (i,)
    return s


@cases.each((3,))
def swapconst(n):
    a, b = 1, 2
    s = 0
    for i in range(n):
        d = {}
        for t in range(a):
            d[t] = 1
        s += len(d)
        a, b = b, a
    return s


@cases.each((3,))
def closure_counter(n):
    m = 1

    def inc():
        nonlocal m
        m += 1

    s = 0
    for i in range(n):
        d = {}
        for t in range(m):
            d[t] = 1
        s += d[0] + len(d)
        inc()
    return s


@cases.each((3,))
def try_key(n):
    m = 0
    s = 0
    d = {1: 5}
    for i in range(n):
        try:
            s += d[m]
        except KeyError:
            s += 100
        m += 1
    return s


@cases.each((np.arange(5.0),))
def rnn(xs_in):
    s = 0.0
    p = 0
    for n in range(4):
        if p + 2 > len(xs_in):
            p = 0
        xs = {}
        h = {-1: 0.0}
        for t in range(p, p + 2):
            xs[t] = xs_in[t]
            h[t - p] = h[t - p - 1] + xs[t]
        s += h[1]
        p += 2
    return s


@cases.each((np.arange(5.0),))
def setgrow(x):
    seen = set()
    s = 0.0
    m = 1
    for n in range(4):
        for t in range(m):
            seen.add(t)
        s += len(seen)
        m += 1
    return s


@cases.each((3,))
def assert_in(n):
    m = 1
    s = 0.0
    for i in range(n):
        d = {}
        for t in range(m):
            d[t] = 1.0
        assert m - 1 in d
        s += 1
        m += 1
    return s


@cases.each((3,))
def while_m(n_iter):
    total = 0.0
    m = 1
    while m < 4:
        d = {}
        for t in range(m):
            d[t] = 1.0
        total += d[0]
        m += 1
    return total


@cases.each((3,))
def raise_first_only(n):
    c = {"k": 0}
    out = 0
    for i in range(n):
        d = {}
        for t in range(c["k"] + 1):
            d[t] = i
        out += d[c["k"]]
        c["k"] += 1
    return out


@cases.each((5,))
def cond_reset(n):
    m = 1
    s = 0
    for i in range(n):
        d = {}
        for t in range(m):
            d[t] = t
        s += len(d)
        if m == 2:
            m = 1
        else:
            m = 2
    return s


# ---------------------------------------------------------------- large trips before which something is None

X = np.random.default_rng(0).standard_normal(30)


def large(x, k):
    y = x[x > k / 10]
    values, counts = np.unique(np.round(y * 4), return_counts=True)
    heights, _ = np.histogram(y, bins=6)
    wide = np.median(np.convolve(y, [1.0, 2.0, 1.0]))
    return values[np.argmax(counts)] + heights.max() + np.percentile(y, [10, 50, 90]).sum() + wide + np.std(y)


@cases.each((X, 4), (X, 1), (X[::-1], 3))
def best_of_large_trips(x, n):
    found = None
    for k in range(n):
        score = large(x, k)
        if found is None or score > found[0]:
            found = (score, k)
    return found


@cases.each((X, 4), (X, 1))
def what_the_trip_before_found(x, n):
    last, total = None, 0.0
    for k in range(n):
        score = large(x, k)
        if k > 0:
            total += last * score
        last = score
    return total, last


@cases.each((X, 4), (X, 1))
def a_vector_after_the_first_large_trip(x, n):
    total = 0
    for k in range(n):
        total = total + np.full(3, large(x, k))
    return total


@cases(X, 3, raises=TypeError)
def none_where_a_number_is_wanted(x, n):
    last, total = None, 0.0
    for k in range(n):
        score = large(x, k)
        total += last * score
        last = score
    return total


def test_a_large_trip_is_in_the_program_once() -> None:
    compiled = pystage.compile(best_of_large_trips)
    once, several = [len(compiled.lower(X, n).as_text().splitlines()) for n in (1, 4)]
    assert several < 1.4 * once


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
