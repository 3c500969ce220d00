"""Dicts with computed keys whose values are lists and other objects, which have other names too."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

NONE = np.zeros(0, np.int64)
SOME = np.array([1, -2, 3, 2, 5, -1, 1, 4])
MANY = np.tile(SOME, 20)
SIZES = [(NONE,), (SOME[:1],), (SOME,), (MANY,)]
SOME_AND_NONE = [(SOME,), (NONE,)]
EDGES = np.array([[0, 1], [1, 2], [2, 5], [5, 0], [3, 1]])
GRAPHS = [(EDGES[:0],), (EDGES[:1],), (EDGES,), (np.tile(EDGES, (15, 1)),)]


# ---------------------------------------------------------------- filled


@cases.each(*SIZES)
def set_by_default(xs):
    places = {}
    for i, x in enumerate(xs):
        places.setdefault(int(x), []).append(i)
    return places


@cases.each(*SIZES)
def by_a_factory(xs):
    places = defaultdict(list)
    for i, x in enumerate(xs):
        places[int(x)].append((i, x * 0.5))
    return places, len(places), sum([len(each) for each in places.values()])


@cases.each(*SIZES)
def made_if_missing(xs):
    places = {}
    for x in xs:
        k = int(x) % 3
        if k not in places:
            places[k] = []
        places[k].append(x)
    return places, sorted(places)


@cases.each(*SOME_AND_NONE)
def made_with_an_element(xs):
    places = {}
    for x in xs:
        k = int(x) % 3
        if k in places:
            places[k].append(int(x))
        else:
            places[k] = [int(x)]
    return places


@cases.each(*SOME_AND_NONE)
def got_or_empty(xs):
    places = {}
    for x in xs:
        k = int(x) % 3
        places[k] = places.get(k, []) + [int(x)]
    total = 0
    for k, found in places.items():
        for x in found:
            total += x * k
    return places, total


@cases.each(*GRAPHS)
def neighbours(edges):
    near = {}
    for a, b in edges:
        near.setdefault(int(a), []).append(int(b))
        near.setdefault(int(b), []).append(int(a))
    total = 0
    seen = set()
    pending = [0]
    while pending:
        node = pending.pop()
        if node in seen or node not in near:
            continue
        seen.add(node)
        for other in near[node]:
            total += other
            pending.append(other)
    return near, total, len(seen), {k: len(v) for k, v in near.items()}


@cases.each(*GRAPHS)
def by_pairs(edges):
    found = {}
    for i, (a, b) in enumerate(edges):
        key = (int(a) % 2, int(b))
        found.setdefault(key, []).append((i, (int(b), int(a))))
    out = []
    for (a, b), pairs in found.items():
        for i, pair in pairs:
            out.append((a * b, i, pair[0] - pair[1]))
    return found, out


@cases.each(*SOME_AND_NONE)
def dicts_of_lists_of_lists(xs):
    groups = {}
    for x in xs:
        groups.setdefault(int(x) % 3, []).append([int(x), 1])
    for group in groups.values():
        for pair in group:
            pair[1] += pair[0]
    return groups


@cases.each(*SOME_AND_NONE)
def every_method(xs):
    d = {}
    for x in xs:
        each = d.setdefault(int(x) % 3, [7])
        each.append(int(x))
        each.extend([1, 2])
        each.sort()
        each.remove(2)
        if 5 in each:
            each.pop()
        if len(each) > 6:
            d[int(x) % 3] = each[1:4]
    return d, [k for k, v in d.items() if v[0] < 1], [min(v) for v in d.values()]


@cases.each(*SOME_AND_NONE)
def taken_out(xs):
    d = {}
    out = []
    for x in xs:
        k = int(x) % 4
        d.setdefault(k, []).append(int(x))
        if len(d[k]) > 2:
            out.append(d.pop(k))
        elif x < -1:
            del d[k]
    rest = d.pop(77, [])
    rest.append(5)
    return d, out, rest


# ---------------------------------------------------------------- more names than one


@cases.each(*SOME_AND_NONE)
def kept_by_a_variable(xs):
    d = {}
    last = [0]
    for x in xs:
        k = int(x) % 3
        if k not in d:
            d[k] = last
            last = [k]
        d[k].append(int(x))
        last.append(-1)
    return d, last


@cases.each(*SOME_AND_NONE)
def under_two_keys(xs):
    d = {}
    for x in xs:
        one = [int(x)]
        d[int(x)] = one
        d[-int(x)] = one
        one.append(9)
    for k in list(d):
        d[k].append(k)
    return d, [d[k] is d[-k] for k in d]


@cases.each((SOME, 1), (SOME, -2), (MANY, 5))
def default_that_is_kept(xs, k):
    d = {}
    default = [100]
    for x in xs:
        d.setdefault(int(x), default).append(int(x))
    d[k].append(7)
    return d, default, d[k] is default


@cases.each((SOME, 1), (SOME, 50))
def default_that_is_not_stored(xs, k):
    d = {}
    for x in xs:
        d.setdefault(int(x), []).append(int(x))
    default = [100]
    found = d.get(k, default)
    found.append(3)
    again = d.setdefault(k, default)
    again.append(4)
    return d, default, found is default, again is found


@cases.each(*SOME_AND_NONE)
def copied(xs):
    d = {}
    for x in xs:
        d.setdefault(int(x) % 3, []).append(int(x))
    other = dict(d)
    deep = {k: list(v) for k, v in d.items()}
    for k in list(d):
        other[k].append(50)
        deep[k].append(60)
    other.update({1: [2]})
    return d, other, deep


@cases.each((SOME, 2), (MANY, 3))
def into_a_list(xs, k):
    d = {}
    lists = []
    for x in xs:
        one = d.setdefault(int(x) % 3, [])
        one.append(int(x))
        lists.append(one)
    lists[k].append(44)
    return d, lists, lists[0] is lists[-1]


@cases(SOME)
def of_displays(xs):
    d = {int(xs[0]): [1], int(xs[1]): [2, 3]}
    one = dict.fromkeys([int(x) for x in xs], [])
    for x in xs:
        one[int(x)].append(x)
    d[int(xs[1])].append(4)
    return d, one


# ---------------------------------------------------------------- known keys, the caller's


@cases([1, 2], [3], np.array([0, 1, 1, 0]))
def known_keys(a, b, places):
    d = {0: a, 1: b}
    for k in places:
        d[int(k)].append(int(k))
    d[int(places[0]) + 5] = [8]
    return d, a, d[0] is a


@cases({i: [i] for i in range(-3, 30)}, SOME)
@cases({i: [i] for i in range(-3, 4)}, SOME[:4])
def of_the_caller(near, places):
    total = 0
    for k in places:
        for w in near[int(k)]:
            total += w
        near[int(k)].append(total)
    return total


@cases({i: [i] for i in range(-3, 30)}, SOME)
@cases({}, SOME)
def made_longer(near, places):
    for k in places:
        near.setdefault(int(k), []).append(int(k))


# ---------------------------------------------------------------- objects and dicts


class Order:
    """What a dict holds by its number."""

    def __init__(self, number, quantity):
        self.number = number
        self.quantity = quantity


def submit(orders, order):
    """What a callee keeps."""
    if order.quantity > 0:
        orders[order.number] = order


@cases.each(*SOME_AND_NONE)
def objects(xs):
    orders = {}
    filled = 0
    for i, x in enumerate(xs):
        submit(orders, Order(i, int(x)))
        if i - 2 in orders:
            order = orders[i - 2]
            order.quantity -= 1
            filled += 1
            if order.quantity == 0:
                del orders[i - 2]
    return {k: (o.number, o.quantity) for k, o in orders.items()}, filled, len(orders)


@cases.each(*SOME_AND_NONE)
def records(xs):
    found = {}
    for x in xs:
        k = int(x) % 3
        if k not in found:
            found[k] = {"count": 0, "sum": 0.0, "all": []}
        one = found[k]
        one["count"] += 1
        one["sum"] += x / 2
        one["all"].append(int(x))
    return found


# ---------------------------------------------------------------- known keys, looked up by an index


def before(n):
    """Of every third place but the first, the two before it."""
    return {j: [j - 1, j - 2] for j in range(3, n, 3)}


@cases.each((4, before(4)), (20, before(20)), (20, {}))
def successors(n, preds):
    found = [[] for _ in range(n)]
    for j in range(n):
        for p in preds.get(j, []):
            found[p].append(j)
    return found, [len(preds.get(j, [])) for j in range(n)]


def test_a_loop_that_looks_up_lists_stays_a_loop():
    sizes = [len(str(pystage.code_hlo(successors, n, before(n))).splitlines()) for n in (20, 40)]
    assert sizes[1] < 1.2 * sizes[0]


# ---------------------------------------------------------------- exceptions


@cases(SOME, 5)
@cases(SOME, 50, raises=KeyError)
@cases(NONE, 5, raises=KeyError)
def missing(xs, k):
    d = {}
    for x in xs:
        d.setdefault(int(x), []).append(1)
    d[k].append(2)
    return d


@cases(SOME, np.array([1, 9, -1, 5, 77]))
def handled(xs, places):
    d = {}
    for x in xs:
        d.setdefault(int(x), []).append(1)
    bad = 0
    for k in places:
        try:
            d[int(k)].append(2)
            d[int(k)].append(d[int(k)][3])
        except KeyError:
            bad += 1
        except IndexError:
            bad += 100
    return d, bad


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_dicts_of_lists(function, args, options):
    check(function, *args, **options)
