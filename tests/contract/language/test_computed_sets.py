"""Sets whose elements only the program knows: all that does not depend on their order."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 7.0])


@cases.each((X,), (X[:0],), (np.arange(65.0),))
def distinct(a):
    seen = set()
    for x in a:
        seen.add(int(x))
    return seen, len(seen), sorted(seen), bool(seen), sum(seen)


@cases.each((X,))
def made_in_all_ways(a):
    rows = [int(x) for x in a if x > 1]
    return {int(x) for x in a}, {int(a[0]), int(a[1])}, set(rows), len(set(rows)), set(sorted(set(rows)))


@cases.each((-1,), (4,))
def in_the_order_of_what_is_specialised_on(axis):
    axes = tuple({3 + a if a < 0 else a for a in (axis, 0, -2)})
    return axes, [a * 2 for a in {axis, axis + 9}], list({str(a) for a in axes})


@cases.each((X, X[2:]), (X, X + 1), (X[:0], X), interpreted=False, runs=1)
def algebra(a, b):
    s, t = {int(x) for x in a}, {int(x) for x in b}
    parts = s | t, s & t, s - t, s ^ t, s.union(t), s.intersection(t), s.difference(t)
    return (
        parts,
        s <= t,
        s < t,
        s >= t,
        s > t,
        s == t,
        s != t,
        s.isdisjoint(t),
        s.issubset(t),
        s.issuperset(t),
    )


@cases(X, X + 1, interpreted=False, runs=1)
def changed(a, b):
    s, t = {int(x) for x in a}, {int(x) for x in b}
    u = s.copy()
    u |= t
    v = s.copy()
    v &= t
    w = s.copy()
    w -= t
    s.update(t, [1, 50])
    t.symmetric_difference_update({1, 2})
    return s, t, u, v, w, s | {1000}, {7} & s


@cases.each((X,))
def discarded(a):
    s = {1, 2, 3}
    for x in a:
        s.discard(int(x))
    s.add(int(a[0]))
    s.remove(int(a[0]))
    return s


@cases.each((X,), raises=KeyError)
def removed_twice(a):
    s = {1, 2, 3}
    for x in a:
        s.remove(int(x))
    return s


@cases.each((np.array([2, 0, 1, 1]),))
def visited_pairs(moves):
    seen = {(0, 0)}
    i = j = 0
    for m in moves:
        if m == 0:
            i += 1
        elif m == 1:
            j += 1
        else:
            j -= 1
        if (i, j) in seen:
            break
        seen.add((i, j))
    return len(seen), i, j, max(seen), min(seen)


@cases.each((np.array([1.0, 2.0, 1.0]),))
def equal_numbers_of_several_kinds(a):
    s = {1, 20}
    for x in a:
        s.add(int(x))
    return sorted(s), 1.0 in s, True in s, a[1] in s, 1.5 in s, "x" in s


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_a_set_with_computed_elements_is_as_in_the_plain_run(program, args, options):
    check(program, *args, **options)


def gone_over(a):
    s = {int(x) for x in a}
    return [x for x in s]


def popped(a):
    s = {int(x) for x in a}
    return s.pop()


def smallest_by_a_key(a):
    s = {int(x) for x in a}
    return min(s, key=lambda x: x // 100)


def a_frozenset_first(x):
    return frozenset({1, 2}) | {int(v) for v in x}


def taken_from_a_frozenset(x):
    return frozenset({1, 2}) - {int(v) for v in x}


@pytest.mark.parametrize("program", [a_frozenset_first, taken_from_a_frozenset])
def test_a_computed_frozenset_is_refused(program):
    check(program, X, refused="PS401")


def a_frozenset_last(x):
    found = {int(v) for v in x}
    return found | frozenset({1, 2}), found & frozenset({1, 2}), frozenset({1}) <= found


def test_a_frozenset_among_the_operands():
    check(a_frozenset_last, X)


@pytest.mark.parametrize("program", [gone_over, popped, smallest_by_a_key])
def test_what_depends_on_the_order_of_a_set_is_refused(program):
    check(program, X, refused="PS401")
