"""Sorting by the `<` of a class, of objects that only a run knows."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([3.0, 1.0, 2.0, 5.0, 4.0, 1.0])
RNG = np.random.default_rng(3)
MANY = RNG.integers(0, 9, 40).astype(float)
WITH_NAN = np.array([3.0, np.nan, 2.0, 5.0, np.nan, 1.0, 0.5])


class Less:
    def __init__(self, x, place=0):
        self.x = x
        self.place = place

    def __lt__(self, other):
        return self.x < other.x


class Greater:
    def __init__(self, x):
        self.x = x

    def __gt__(self, other):
        return self.x > other.x


class Counted:
    def __init__(self, x):
        self.x = x
        self.compared = 0

    def __lt__(self, other):
        self.compared += 1
        return self.x < other.x


class Plain:
    def __init__(self, x):
        self.x = x


@dataclass(order=True)
class Data:
    x: float
    place: int = 0


class Backwards(NamedTuple):
    x: float

    def __lt__(self, other):
        return self.x > other.x


@cases.each((X,), (X[:1],), (X[:0],), (np.sort(MANY)[::-1],), (MANY,), (WITH_NAN,))
def by_less(a):
    made = [Less(float(x), i) for i, x in enumerate(a)]
    found = sorted(made)
    made.sort(reverse=True)
    return [p.place for p in found], [p.place for p in made]


@cases.each((X,), (MANY,))
def by_keys(a):
    numbers = [float(x) for x in a if x > 1]
    numbers.sort(key=Less)
    data = sorted([Data(float(x), -i) for i, x in enumerate(a)])
    return numbers, data, sorted(numbers, key=Greater, reverse=True)


@cases(X)
def in_tuples(a):
    return [(p.x, i) for p, i in sorted([(Less(float(x)), 1) for x in a[:5]])]


@cases(X)
def of_a_class_of_tuples(a):
    return sorted([Backwards(float(x)) for x in a])


@cases(MANY)
def each_comparison_counts(a):
    found = sorted([Counted(float(x)) for x in a])
    return [(p.x, p.compared) for p in found]


@cases(9)
def of_computed_length(n):
    return [p.x for p in sorted([Less(-i) for i in range(n)])]


@cases(X, raises=TypeError)
def without_order(a):
    return sorted([Plain(float(x)) for x in a])


@cases(X, raises=TypeError)
def by_none(a):
    return sorted([float(x) for x in a], key=lambda x: None)


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_it_is_as_in_the_plain_run(program, args, options):
    check(program, *args, **options)


def many(a):
    return [p.x for p in sorted([Less(float(x)) for x in a])]


def least(a):
    return [p.x for p in heapq.nsmallest(2, [Less(float(x)) for x in a])]


def test_orders_that_depend_on_more_than_the_comparisons_here_are_refused():
    check(many, np.arange(64.0), refused="PS401")
    check(least, X, refused="PS401")
