"""`bisect` of sequences whose contents, or whose length, only the program knows."""

from __future__ import annotations

import bisect
from bisect import bisect_left, insort

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()
X = np.array([3.0, -1.0, 3.0, 0.5, 2.0, 9.0])


@cases.each((X,), (-X,), (X[:1],), (X[:0],))
def inserted_in_order(x):
    found = []
    for v in x:
        insort(found, v)
    return found, bisect_left(found, 2.0), bisect.bisect(found, 2.0), bisect.bisect_right(found, 3.0)


@cases.each((np.sort(X), 3.0), (np.sort(X), -7.0), (np.sort(X), 99.0))
@cases(X[:0], 1.0, raises=IndexError)
def of_an_array(x, v):
    return bisect.bisect_left(x, v), bisect.bisect_right(x, v), bisect.bisect_left(x, v, 1, 3)


@cases.each((X, 0.5), (X, -2.0))
def by_a_key(x, v):
    pairs = sorted([(abs(y), i) for i, y in enumerate(x)])
    bisect.insort_left(pairs, (v * v, -1), key=lambda pair: pair[0])
    return pairs, bisect_left(pairs, v, key=lambda pair: pair[0])


@cases.each((X, 3), (X, 1))
def medians_of_windows(x, n):
    window, out = [], []
    for i in range(len(x)):
        bisect.insort(window, x[i])
        if i >= n:
            del window[bisect.bisect_left(window, x[i - n])]
        out.append(window[len(window) // 2])
    return out


@cases(X, -1, raises=ValueError)
def from_a_negative_place(x, n):
    return bisect.bisect_left(x, 1.0, n)


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_program(function, args, options) -> None:
    check(function, *args, **options)


def test_it_is_staged() -> None:
    pystage.compile(medians_of_windows, fallback="error")(X, 3)
