"""Dicts whose keys only the program knows: they are rows of arrays, in the order of insertion."""

from __future__ import annotations

import threading

import numpy as np
import pystage
import pytest
from checking import Cases, check
from pystage.compiler.ops import DynamicUpdateSlice, If, While

cases = Cases()

X = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 7.0])
SIZES = [(X[:0],), (X[:1],), (X,), (np.arange(64.0),), (np.arange(65.0),), (np.arange(200.0) % 130,)]


# ---------------------------------------------------------------- keys that come and go


@cases.each((np.arange(9.0),), (np.arange(1.0),))
def known_tuples_as_keys(x):
    d = {}
    for i in range(len(x)):
        d[(i, 8, 9)] = x[i]
    out = []
    known = {(7, 8, 9): 1, (1, 8, 9): 2}
    for key in known:
        if key in d:
            out.append(d[key])
    for key, value in known.items():
        out.append(d.get(key, -1.0) * value)
    out.append(d.get(known.popitem()[0], 5.0))
    pairs = {(i, 1) for i in range(len(x))}
    return out, [key in pairs for key in {(1, 1): 0, (17, 1): 0}]


@cases.each((np.array([0.5, 0.2, 0.7, 0.1]),))
def keys_that_are_removed_and_added(x):
    kept = {(7, 8, 9): 1.0}
    for i in range(len(x)):
        bad = [t for t, r in kept.items() if x[i] < r]
        count = {}
        for t in bad:
            for e in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0])):
                key = (min(e), max(e))
                count[key] = count.get(key, 0) + 1
            del kept[t]
        for (a, b), k in count.items():
            if k == 1:
                kept[(a, b, i)] = x[i]
    return sorted(tuple(sorted(t)) for t in kept if max(t) < 7), kept


@cases.each(*SIZES)
def counted(a):
    counts = {}
    for x in a:
        k = int(x)
        if k in counts:
            counts[k] += 1
        else:
            counts[k] = 1
    return counts


@cases.each(*SIZES)
def counted_by_get(a):
    counts = {}
    for x in a:
        counts[x] = counts.get(x, 0) + 1
    return counts, len(counts), list(counts)


@cases.each((0,), (1,), (64,), (65,), (300,))
def squares(n):
    roots = {}
    i = 0
    while i < n:
        roots[i * i] = i
        i += 1
    return roots


@cases.each((X,), (X[:0],))
def toggled(a):
    seen = {}
    for x in a:
        k = int(x)
        if k in seen:
            del seen[k]
        else:
            seen[k] = float(x)
    return seen


@cases.each((X,))
def goes_to_the_end_when_it_comes_again(a):
    d = {}
    for x in a:
        d[int(x)] = x
    del d[int(a[0])]
    d[int(a[0])] = a[1]
    return d, list(d.items())


@cases.each((X,), (X[::-1],))
def popped(a):
    d = {}
    for x in a:
        d[int(x)] = float(x)
    first = d.pop(int(a[0]))
    other = d.pop(int(a[0]), -1.0)
    return d, first, other, d.popitem()


@cases.each((X,))
def cleared_and_copied(a):
    d = {int(x): float(x) for x in a}
    e = d.copy()
    d.clear()
    d[int(a[1])] = 5.0
    return d, e, bool(d), dict(e), d == e, e == dict(e)


@cases.each((X,))
def set_by_default(a):
    d = {}
    total = 0.0
    for i, x in enumerate(a):
        total += d.setdefault(int(x), float(i))
    return d, total


@cases.each((X,), (X + 1,))
def updated(a):
    d = {int(x): 1.0 for x in a}
    d.update({1: 4.0, 100: 5.0})
    e = {7: 1.5}
    e.update(d)
    return d, e, d | {2: 0.5}, {**d, 9: 3.0}


# ---------------------------------------------------------------- kinds of keys and values


@cases.each((X,), (X[:0],))
def pairs(a):
    d = {}
    for i in range(len(a)):
        d[int(a[i]), i % 3] = (i, float(a[i]))
    return d


@cases.each((np.array([2, 1, 2, 5]),))
def own_numbers_of_arrays(a):
    d = {}
    for x in a:
        d[x] = x * 2
    return d, d[int(a[0])], int(a[1]) in d, (a[3] + 0.5) in d, float(a[3]) in d


@cases.each((np.array([0.0, -0.0, 1.0, 2.5]),), (np.array([-0.0, 0.0, 1.0, 1.0]),))
def the_first_key_stays(a):
    d = {}
    for i, x in enumerate(a):
        d[float(x)] = i
    return list(d), d, 1 in d, True in d


@cases.each((np.array([True, False, True]),))
def truths(a):
    d = {}
    for i, x in enumerate(a):
        d[bool(x)] = i
    return d, d.get(1, -1), d.get(0.0, -1)


@cases.each((X,))
def known_keys_beside_computed_ones(a):
    d = {1: 10.0, 2: 20.0}
    d[int(a[0])] = 30.0
    return d, d[2], 3 in d, 2 in d


@cases.each((X,), (X * 2,))
def kinds_that_meet(a):
    d = {1: 1}
    for x in a:
        if x > 2:
            d[int(x)] = x
    return d


@cases.each((np.array([1.0, 0.0, 1.0]),))
def known_dicts_read_at_computed_keys(a):
    names = {0: (1.0, 2), 1: (3.0, 4)}
    total = 0.0
    for x in a:
        f, i = names[int(x)]
        total += f * i
    return total


@cases.each((np.array([1.0, 0.0, 2.0]),))
def known_values_of_several_kinds_read_at_computed_keys(a):
    steps = {0: [1.0], 1: [2.0, 3.0], 2: []}
    total = 0.0
    for x in a:
        for step in steps[int(x)]:
            total = total * 2 + step
    return total


@cases.each((np.array([1.0, 2.0]), True), (np.array([1.0, 2.0]), False))
def one_of_two_dicts(a, c):
    d = {int(a[0]): 1.0}
    e = {int(a[1]): 2.0}
    t = d if c and a[0] > 0 else e
    t[int(a[1])] = 7.0
    return d, e, t


# ---------------------------------------------------------------- loops over them


@cases.each((X,), (X[:0],))
def gone_over(a):
    d = {}
    for x in a:
        d[int(x)] = float(x) * 2
    total = 0.0
    for k, v in d.items():
        total = total * 2 + k * v
    for i, k in enumerate(d):
        total -= i * d[k]
    for k, v in zip(d.keys(), d.values()):
        total += k - v
    return total, list(d.values()), sorted(d), sorted(d.items(), key=lambda e: -e[0]), sum(d.values())


@cases.each((X,))
def values_replaced_meanwhile(a):
    d = {int(x): float(x) for x in a}
    for k in d:
        d[k] = d[k] / 2
    return d, max(d.values()), min(d), max(d, key=d.get)


@cases.each((X,))
def longer_at_a_break(a):
    d = {int(x): 1 for x in a}
    for k in d:
        if k > 1:
            d[k + 100] = 2
            break
    return d


@cases.each((X,), raises=RuntimeError)
def longer_meanwhile(a):
    d = {int(x): 1 for x in a}
    for k in d:
        d[k + 100] = 2
    return d


@cases.each((X[:1],), raises=RuntimeError)
def shorter_in_the_last_trip(a):
    d = {int(x): 1 for x in a}
    for k in d:
        del d[k]
    return d


# ---------------------------------------------------------------- exceptions


@cases.each((X,), raises=KeyError)
def missing(a):
    d = {1: 2.0}
    total = 0.0
    for x in a:
        total += d[int(x)]
    return total


@cases.each((X,), raises=KeyError)
def missing_pair(a):
    d = {}
    for x in a:
        d[int(x), 1] = 2.0
    del d[int(a[0]), 2]


@cases.each((X,))
def missing_and_caught(a):
    d = {1: 2.0, 3: 1.0}
    total = 0.0
    for x in a:
        try:
            total += d[int(x)]
            del d[int(x)]
        except KeyError:
            total -= 100
    return total, d


@cases.each(({}, X), ({3: 1.5, 4: 2.5}, X), ({5: 1.0}, X[:0]))
def argument_changed(d, a):
    e = d
    for x in a:
        e[int(x)] = float(x)
    return len(d), e is d


@cases.each(({3: 1.5, 4: 2.5}, X), raises=KeyError)
def argument_changed_before_a_raise(d, a):
    for x in a:
        d[int(x)] = float(x)
    return d[int(a[0]) + 50]


class Memo:
    def __init__(self):
        self.known = {}
        self.hits = 0

    def square(self, n):
        if n in self.known:
            self.hits += 1
        else:
            self.known[n] = n * n
        return self.known[n]


@cases.each((X,))
def of_an_object(a):
    memo = Memo()
    total = 0
    for x in a:
        total += memo.square(int(x))
    return total, memo.hits, memo.known


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_a_dict_with_computed_keys_is_as_in_the_plain_run(program, args, options):
    check(program, *args, **options)


# ---------------------------------------------------------------- derivatives, threads, sizes, refusals


def test_the_derivative_goes_through_values():
    def loss(x, keys):
        d = {}
        for i in range(len(keys)):
            k = int(keys[i])
            d[k] = d.get(k, 0.0) + x[i] ** 2
        total = 0.0
        for k, v in d.items():
            total = total + k * v
        return total

    x, keys = np.arange(1.0, 6.0), np.array([2, 1, 2, 5, 1])
    np.testing.assert_allclose(pystage.grad(loss)(x, keys), 2 * x * keys)


def test_threads_that_grow_one_dict_agree():
    compiled = pystage.compile(counted, fallback="error")
    found: dict[int, object] = {}

    def work(n):
        found[n] = compiled(np.arange(float(n)) % (n // 2))

    threads = [threading.Thread(target=work, args=(n,)) for n in (100, 101, 102, 103)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: counted(np.arange(float(n)) % (n // 2)) for n in (100, 101, 102, 103)}


def test_a_loop_that_fills_a_dict_has_the_same_size_for_more_trips():
    def size(n):
        return len(pystage.compile(counted).lower(np.zeros(n)).as_text().splitlines())

    assert size(20_000) == size(50_000)


def last_places(a, n):
    places = {}
    hits = 0
    for i in range(len(a)):
        k = int(a[i])
        if k in places:
            hits += places[k]
        places[k] = i
        if i >= n:
            hits += places.pop(int(a[i - n]), 0)
    return places, list(places), hits


@pytest.mark.parametrize("factor", [1, 1024, 2**32, 2**50])
def test_keys_that_come_and_go_for_long_are_found(factor):
    keys = np.random.default_rng(1).integers(-100, 100, 2000) * factor
    check(last_places, keys, 60, runs=1, interpreted=False)


def entries_from_the_middle(n):
    d, t = {}, 0
    for i in range(n):
        d[i * i % 61] = i
        if i % 4:
            t += d.pop((i // 2) ** 2 % 61, 0)
        if i % 30 == 29:
            t += d.popitem()[1] + len(d)
            for k in d:
                t = (t * 3 + k * d[k]) % 1009
    return t, d


def test_entries_are_taken_out_of_the_middle_and_the_rest_stay_in_order():
    check(entries_from_the_middle, 400, runs=1)


def test_a_trip_that_stores_and_takes_out_entries_passes_over_no_others():
    staged = pystage.compile(last_places, fallback="error")
    staged(np.arange(400), 60)
    loop = next(op for op in staged._dispatcher.staged[-1].function.body.walk() if type(op.kind) is While)
    in_place = (DynamicUpdateSlice, If, While)
    made = [op for op in loop.regions[1].walk() if type(op.kind) not in in_place]
    assert max(result.type.size for op in made for result in op.results) <= 8  # the slots of a bucket


def nan_as_a_key(a):
    d = {}
    for x in a:
        d[float(x)] = 1
    return d


def test_nan_is_no_key_since_python_tells_one_from_another():
    check(nan_as_a_key, np.array([1.0, np.nan]), refused="PS401")


def taken_out_meanwhile(a):
    d = {int(x): 1 for x in a}
    for k in d:
        d.pop(k)
        d[k] = 2
    return d


def test_entries_taken_out_and_stored_again_in_a_loop_over_a_dict_are_refused():
    check(taken_out_meanwhile, np.array([1.0, 2.0]), refused="PS401")
