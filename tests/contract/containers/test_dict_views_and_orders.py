"""Dicts and sets as people use them: their order by keys, views as sets, what makes them of iterables."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 7.0])
DISTINCT = np.array([3.0, 1.0, -4.5, 2.0, 7.0])
BOTH = [(X,), (X[:1],)]


def doubled(a):
    return {int(x): float(x) * 2 for x in a}


def elements(a):
    return {int(x) for x in a}


# ---------------------------------------------------------------- entries of several kinds


@cases.each((np.array([3, 5]),), (np.array([1, 5]),), interpreted=False, runs=1)
def sets_of_several_kinds(n):
    mixed = {int(n[0]), "q"}
    return (
        ({int(n[0])} <= {"a", 3}, {int(n[0])} >= {"a", 3}, {int(n[0]), 4}.isdisjoint({"a", 3})),
        (len({int(n[0]), 4} & {"a", 3}), len({(int(n[0]), 2)} - {(3, 2), (1, 2, 3)})),
        (mixed <= {"q", "r", 3}, mixed == {"q", 3}, mixed.isdisjoint({"q", "r"}), len(mixed ^ {"q", "r"})),
        ({("a", int(n[0]))} <= {("a", 3), ("b", 2)}, len({int(n[0]), None} & {None, "r"})),
    )


@cases.each((np.array([3, 5]),), (np.array([1, 5]),), interpreted=False, runs=1)
def dicts_of_several_kinds(n):
    named = {"a": int(n[0]), "b": 2}
    counted = {int(n[0]): 1, 4: 2}
    return (
        (
            named.keys() < {"a", "b", "c"},
            named.keys() >= {"a"},
            named.keys() <= {"a"},
            named.keys() == {"b", "a"},
        ),
        (counted == {3: 1, 4: "s"}, {3: 1, 4: "s"} == counted, counted == {3: 1, 4: 2}),
        ({int(n[0]): 1, "k": 2} == {"k": 2, 3: 1}, {int(n[0]): 1}.keys() == {"a", 3}),
    )


def dicts_of_dicts(n):
    return {int(n[0]): (1,), 5: (1, 2)} == {3: {}, 5: [1]}


# ---------------------------------------------------------------- order


@cases.each(*BOTH)
def extremes(a):
    d, s = doubled(a), elements(a)
    by_key = (
        min(d, key=d.get),
        max(d, key=d.get),
        max(d, key=lambda k: -d[k]),
        max(d.items(), key=lambda kv: kv[1]),
    )
    return min(d), max(d), min(s), max(s), by_key, min(d.values()), max(s, default=0)


@cases.each(*BOTH, (X[:0],))
def in_order(a):
    d, s = doubled(a), elements(a)
    return (
        sorted(d),
        sorted(d, key=lambda k: -k),
        sorted(d, key=d.get, reverse=True),
        sorted(d.items(), key=lambda kv: (-kv[1], kv[0])),
        sorted(s, reverse=True),
        dict(sorted(d.items())),
        min(d, default=-1),
    )


@cases.each(*BOTH)
def elements_of_sets_by_other_keys(a):
    s = elements(a)
    return min(s, key=lambda k: (k - 2) ** 2 + 0.1 * k), max(s, key=lambda k: -k), sorted(s, key=lambda k: -k)


@cases.each((DISTINCT,))
def nearest_neighbours(a):
    unvisited = set(range(len(a)))
    tour = [0]
    unvisited.remove(0)
    while unvisited:
        following = min(unvisited, key=lambda j: abs(a[tour[-1]] - a[j]))
        unvisited.remove(following)
        tour.append(following)
    return tour


# ---------------------------------------------------------------- of iterables


@cases.each(*BOTH, (X[:0],))
def from_keys(a):
    d = doubled(a)
    keys = [int(x) for x in a]
    return (
        dict.fromkeys(keys),
        dict.fromkeys(int(x) for x in a),
        dict.fromkeys(a.tolist(), 0),
        dict.fromkeys("ab", 1),
        list(dict.fromkeys(keys)),
        dict.fromkeys(d, 1.5),
    )


@cases.each(*BOTH)
def of_arrays_of_computed_size(a):
    chosen = a[a > 1]
    return (
        dict(zip(chosen, chosen * 2)),
        dict(zip(chosen.tolist(), range(10))),
        dict(enumerate(chosen.tolist())),
    )


@cases.each((X[:0],))
def of_none(a):
    return dict(enumerate(a[a > 1].tolist()))


@cases.each(*BOTH, (X[:0],))
def of_pairs(a):
    keys = [int(x) for x in a]
    return (
        dict(zip(keys, a * 2)),
        dict(zip(keys, [x + 1 for x in a])),
        dict(zip("abc", a)),
        dict(enumerate(a.tolist())),
        dict(iter([(1, 2)])),
        {(int(x), i % 2): x for i, x in enumerate(a) if x > 1},
    )


@cases.each(*BOTH)
def merged(a):
    d, e = doubled(a), {1: 9.0, 50: 3.0}
    f = d | e
    d |= e
    d |= [(3, 4.0)]
    return f, d, e | d, {**e, **d}


@cases.each((X,))
def taken_out(a):
    d = doubled(a)
    found = (
        d.pop(3),
        d.pop(99, None),
        d.pop(99, -1.5),
        d.popitem(),
        d.setdefault(1, 5.0),
        d.setdefault(8, 0.5),
    )
    missing = d.get(55), d.get(1, 2), d.pop(int(a[0]), None) is None
    return found, missing, d


@cases.each(*BOTH, (X[:0],))
def unpacked(a):
    d = doubled(a)
    return [*d], [0.5, *d.values(), 5.0], [*d, *sorted(d)]


@cases.each((X,))
def mapped(a):
    d = doubled(a)
    return (
        list(map(lambda k: k + 1, d)),
        sum(map(lambda kv: kv[0] * kv[1], d.items())),
        list(map(str, [1, 2])),
    )


# ---------------------------------------------------------------- sets and views


@cases.each(*BOTH)
def views_as_sets(a):
    d, e = doubled(a), doubled(a[1:3])
    return (
        sorted(d.keys() & e.keys()),
        sorted(d.keys() | e.keys()),
        sorted(d.keys() - e.keys()),
        sorted(d.keys() ^ e.keys()),
        sorted(d.keys() & {1, 2}),
        sorted({1, 2, 50} - d.keys()),
        sorted(d.keys() - [3, 3]),
        sorted(d.keys() & [1, 1, 8]),
        d.keys() >= e.keys(),
        d.keys() == e.keys(),
        d.keys() == set(d),
        d.keys() < {1, 2, 3, 7, 8},
        d.keys().isdisjoint(e),
        d.items() == doubled(a).items(),
        sorted(d.items() & e.items()),
    )


@cases.each((X,))
def known_views(a):
    d, e = {1: a, 2: a}, {2: 1}
    s = t = {1, 5}
    s |= e.keys()
    return (
        d.keys() & e.keys(),
        d.keys() | e.keys(),
        d.keys() - e,
        d.keys() ^ [3],
        d.keys() <= {1, 2, 3},
        d.keys().isdisjoint([5]),
        d.items() == d.items(),
        {1: 2}.items() & {1: 2, 3: 4}.items(),
        {1: 2}.items() == {(1, 2)},
        [type(x) for x in {1: 0}.keys() & {1.0, 2.0}],
        [type(x) for x in {1: 0, 2: 0}.keys() & {1.0: 0}.keys()],
        s,
        t,
        s is t,
    )


@cases.each(*BOTH)
def methods_with_iterables(a):
    s, some = elements(a), [int(x) for x in a[:2]]
    return (
        sorted(s.union([1, 50], a.astype(int).tolist())),
        sorted(s.intersection(some)),
        s.issubset(range(10)),
        s.issuperset(some),
        sorted(s.symmetric_difference([1, 99])),
        sorted(s.difference(some, [7])),
        s.isdisjoint([100]),
        sorted(set().union(some, s)),
        sorted(s.union(doubled(a))),
        sorted(s.intersection(doubled(a).keys())),
    )


@cases.each((X,))
def changed_in_place(a):
    s = t = elements(a)
    s |= {10, 20}
    s.update([1], (5, 6))
    s &= {10, 5, 1, 3}
    s ^= {3, 77}
    s -= {77}
    s.intersection_update([1, 10, 5])
    s.difference_update([5])
    s.symmetric_difference_update([2])
    return sorted(s), len(s), s is t


@cases.each((X,))
def membership(a):
    d = {(int(x), 1): 2.0 for x in a}
    s = {(int(x), int(x)) for x in a}
    return (
        [(3, 1) in d, (3, 2) in d, (int(a[0]), 1) in d, (3, 3) in s, (3, 4) in s],
        [3 in s, "x" in d, (3, 1, 1) in d, None in d],
        [2.0 in d.values(), 3.0 in d.values(), ((3, 1), 2.0) in d.items(), ((3, 1), 1.0) in d.items()],
    )


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_it_is_as_in_the_plain_run(program, args, options):
    check(program, *args, **options)


# ---------------------------------------------------------------- what has no order


def nearest_of_two(a):
    return min(elements(a), key=lambda k: (k - 1.5) ** 2)


def sorted_by_parity(a):
    return sorted(elements(a), key=lambda k: k % 2)


def notes_in_which_order(a):
    seen = []

    def key(k):
        seen.append(k)
        return -k

    return sorted(elements(a), key=key), seen


def prints_in_which_order(a):
    def key(k):
        print(k)
        return -k

    return min(elements(a), key=key)


def keys_of_a_set(a):
    return dict.fromkeys(elements(a))


@pytest.mark.parametrize(
    "program", [nearest_of_two, sorted_by_parity, notes_in_which_order, prints_in_which_order, keys_of_a_set]
)
def test_what_depends_on_the_order_of_a_set_is_refused(program):
    check(program, X, refused="PS401")


def test_entries_without_a_common_template_are_refused():
    check(dicts_of_dicts, np.array([3, 5]), refused="PS401")
