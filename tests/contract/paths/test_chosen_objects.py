"""Names that are one of several arrays, lists or deques in each trip of a loop, which loads and stores by all names."""

from __future__ import annotations

import heapq
from collections import deque

import numpy as np
import pystage
import pytest
from checking import Cases, check
from passes.programs import whole_arrays

cases = Cases()
X = np.round(np.random.default_rng(3).random(12) * 8) / 4
SIDE = np.random.default_rng(4).integers(-3, 4, 12)
LONG = 1_500


def args(*more):
    return (X, SIDE, *more)


def one_array_twice():
    a = np.arange(7.0)
    return (X, SIDE, a, a)


# ---------------------------------------------------------------- arrays


@cases(*args(np.arange(7.0), np.ones(7)))
@cases(*one_array_twice())
def stored_and_loaded_by_every_name(x, side, a, b):
    s = 0.0
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        h[i % 7] = x[i]
        s += a[i % 7] + b[i % 7]
        a[i % 5] += h[i % 7]
        s = s * 0.5 + h[i % 5]
        b[i % 3] = h[2] - s
        h[2], h[3] = h[3], h[2]
        s += h[i % 3] + h[2]
    return s, a, b


@cases(*args(np.arange(7.0), np.ones(7)))
@cases(*one_array_twice())
def of_three_by_two_choices(x, side, a, b):
    s, c = 0.0, np.zeros(7)
    for i in range(len(x)):
        h = a if side[i] > 0 else (b if side[i] < -1 else c)
        g = h if side[i] % 2 else c
        g[i % 7] += h[i % 4] + x[i]
        s += h[i % 7] + g[i % 4]
        if side[i] > 1:
            h[i % 4] += c[i % 7]
        s += g[i % 4]
    return s, a, b, c


@cases(*args(np.arange(7.0), np.ones(7)))
@cases(*one_array_twice())
def a_view_or_an_array_of_its_own(x, side, a, b):
    s = 0.0
    for i in range(len(x)):
        h = a[::-1] if side[i] > 0 else b
        g = h if side[i] != 2 else np.full(7, x[i])
        h[i % 7] += x[i]
        g[i % 5] -= a[i % 7]
        s += h[i % 5] * g[i % 7]
    return s, a, b


def raised_at(h, k, value):
    h[k] += value
    return h[k - 1]


@cases(*args(np.arange(7.0), np.ones(7)))
@cases(*one_array_twice())
def passed_on(x, side, a, b):
    s = 0.0
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        g = a if side[i] > 0 else np.full(7, x[i])
        s += raised_at(g, i % 7, x[i]) + raised_at(h, i % 7, s) + raised_at(b, i % 7, 1.0)
        s = s * 0.5 + g[i % 7] + h[i % 7]
    return s, a, b


@cases(*args(np.arange(7.0), np.ones(7)))
def stored_through_until_nothing_else_has_it(x, side, a, b):
    h = a.copy() if side[0] > 0 else b.copy()
    s = h[1]
    for i in range(len(x)):
        if side[i] > 0:
            h[i % 7] += x[i]
        s += h[1]
    return s, h


@cases(*args(np.arange(21.0).reshape(7, 3), np.ones((7, 3))))
def rows(x, side, a, b):
    s = 0.0
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        h[i % 7] += x[i]
        row = h[i % 4]
        row[1] = s
        s += a[i % 4, 1] + h[i % 7].sum() + row.max() + h.T[1, 2]
        b[i % 4] = h[3] + 1.0
        s += row[2]
    return s, a, b


# ---------------------------------------------------------------- lists


@cases(*args())
def lists(x, side):
    s, a, b = 0.0, [1.0], [2.0, 3.0]
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        h.append(x[i])
        s += a[-1] + b[0] + len(h)
        a[i % len(a)] += h[-1]
        h[0], h[-1] = h[-1], h[0]
        s = s * 0.5 + raised_at(h, i % len(h), a[0])
        b.append(h[0])
        if len(h) > 3:
            s += h.pop() + h[-1]
    return s, a, b


@cases(*args())
def heaps(x, side):
    s, a, b = 0.0, [], [0.5]
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        heapq.heappush(h, x[i])
        if len(h) > 2:
            s = s * 0.5 + heapq.heappop(h) - h[0]
        if len(b) > 2:
            heapq.heapreplace(b, h[0] + 1.0)
    return s, a, b


@cases(*args())
def deques(x, side):
    s, a, b = 0.0, deque([1.0, 2.0]), deque([3.0])
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        h.append(x[i])
        a.appendleft(h[0])
        h[-1] += b[0]
        if len(h) > 2:
            s = s * 0.5 + h.popleft() + a[0]
        s += h[0] + b[-1]
    return s, list(a), list(b)


@cases(*args())
def lists_of_numbers_of_either_kind_and_of_pairs(x, side):
    found, a, b = [], [(1, x[0])], [(2.5, x[1])]
    c, d = [1, 2], [0.5, 3]
    for i in range(len(x)):
        h, g = (a, c) if side[i] > 0 else (b, d)
        h.append((i, x[i]))
        g[i % 2] = g[(i + 1) % 2]
        a[0] = h[-1]
        found.append((h[i % len(h)], g[0], c[1]))
    return found, a, b, c, d


@cases(*args(), raises=IndexError)
def emptied(x, side):
    a, b = [1.0, 2.0], [3.0]
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        h.pop()
    return a, b


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_program(function, args, options):
    check(function, *args, **options)


# ---------------------------------------------------------------- costs


def chosen_array(x, side):
    a, b = np.zeros(len(x)), np.zeros(len(x))
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        h[i] = x[i]
        h[i // 2] += h[i]
    return a, b


def chosen(a, b, holds):
    return a if holds else b


def chosen_by_a_call(x, side):
    a, b = np.zeros(len(x)), np.zeros(len(x))
    for i in range(len(x)):
        h = chosen(a, b, side[i] > 0)
        h[i // 2] += raised_at(h, i, x[i])
    return a, b


def chosen_list(x, side):
    a, b = [0.0] * LONG, [1.0] * LONG
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        h[i // 2] += x[i]
        h.append(h.pop() + h[i // 3])
    return a, b


def chosen_heap(x, side):
    a, b = [], []
    for i in range(len(x)):
        h = a if side[i] > 0 else b
        heapq.heappush(h, x[i])
    return a, b


@pytest.mark.parametrize(
    "function", [chosen_array, chosen_by_a_call, chosen_list, chosen_heap], ids=lambda each: each.__name__
)
def test_no_array_is_copied_in_a_loop(function):
    """Though the name that is loaded from is another array in each trip."""
    lowered = pystage.compile(function).lower(np.zeros(LONG), np.zeros(LONG, int))
    assert whole_arrays(lowered.compile().as_text(), LONG) == []
