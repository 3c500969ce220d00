"""`Counter` and `defaultdict`: dicts that say what a missing key gives."""

from __future__ import annotations

import collections
import copy
import operator
import pickle
from collections import Counter, defaultdict

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 7.0])
SIZES = [(X[:0],), (X[:1],), (X,), (np.arange(200.0) % 130,)]


# ---------------------------------------------------------------- counters


@cases.each(*SIZES)
def counted(a):
    c = Counter()
    for x in a:
        c[int(x)] += 1
    return c, c[99], len(c), c.most_common(2), c.most_common(), c.total(), c.most_common(int(c[3]))


@cases.each(*SIZES)
def counted_by_the_constructor(a):
    c = Counter(a.tolist())
    d = collections.Counter(int(x) % 3 for x in a)
    return c, type(c) is Counter, isinstance(c, dict), sorted(d.items(), key=lambda kv: -kv[1]), d


MANY = [i * i % 7 for i in range(200)]


@cases(MANY)
def counters_of_several_kinds_of_keys(s):
    pairs = Counter(tuple(s[i : i + 2]) for i in range(len(s) - 1))
    return pairs, Counter(s), Counter(i % 3 for i in s), Counter((i % 3, 1) for i in s)


@cases(MANY)
def pairs_after_numbers(s):
    return Counter(s), Counter(tuple(s[i : i + 2]) for i in range(len(s) - 1))


@cases.each((X,), (X[:0],))
def arithmetic(a):
    c = Counter(int(x) for x in a)
    d = Counter(int(x) for x in a[:4])
    d[8] = -2
    return c + d, c - d, d - c, c | d, c & d, -d, +d


@cases.each((X,), (X[:1],))
def order_of_counters(a):
    c = Counter(a.tolist())
    d = Counter(a.tolist())
    d[55.0] = 0
    e = dict(c)
    same = c == d, c != d, c == e, d == e, e == c, c == Counter(e)
    d[3.0] -= 1
    return same, c == d, c >= d, d <= c, c > d, c < d, c <= c


@cases.each((X,), (X[:0],))
def changed_in_place(a):
    c = Counter(a.tolist())
    c.update([1.0, 2.0])
    c.subtract({3.0: 5})
    c.subtract([7.0])
    c.update(c)
    del c[1.0]
    del c[1000.0]
    d = c.copy()
    c += Counter([8.0])
    c |= Counter([9.0, 9.0])
    c -= Counter([2.0])
    c &= Counter({2.0: 7, 8.0: 1})
    return c, d


@cases.each((X,))
def known_elements(a):
    c = Counter("abracadabra")
    c["a"] += int(len(a))
    both = c + Counter("xyz")
    named = Counter(a=1, b=2)
    named.update("ab", z=4)
    return c, c.most_common(2), both, Counter({"q": 3}), c["nope"], named, "nope" in c


@cases.each((X, Counter("hello")), (X[:1], Counter()))
def counts_of_the_caller(a, c):
    c["l"] += int(a[0])
    return c["nope"], c


@cases.each((X,), (X[:0],))
def made_of_counts(a):
    c = Counter({"x": len(a), "y": 2, "z": -1})
    d = Counter(int(x) for x in a)
    return (
        list(c.elements()),
        operator.neg(d),
        operator.pos(d),
        d != Counter(),
        d.copy(),
        c | {"x": 1},
        d.most_common(0),
    )


# ---------------------------------------------------------------- defaultdict


@cases.each(*SIZES)
def summed(a):
    d = defaultdict(float)
    for x in a:
        d[int(x)] += x
    e = defaultdict(lambda: 5)
    for x in a:
        e[int(x), int(x) % 2] += 1
    return d, d[77], len(d), dict(e)


@cases.each((X,))
def merged(a):
    d = defaultdict(int)
    for x in a:
        d[int(x)] += 1
    e = {3: 7}
    d |= {4: 1}
    return d | e, e | d, {**d}, dict(d), d.copy(), d.default_factory, Counter(d) | Counter(e), e | Counter(d)


@cases.each((X,))
def known_keys(a):
    d = defaultdict(lambda: np.zeros(3))
    d["a"] += a[:3]
    d["b"][1] += 2.0
    d["a"][0] = 7
    e = defaultdict(set)
    e["x"].add(3)
    f = defaultdict(dict, {"p": {}})
    f["q"][1] = a[0]
    g = defaultdict(lambda: defaultdict(int))
    g["u"]["v"] += 3
    h = defaultdict(list, x=[1])
    h["x"].append(2)
    h["y"].append(a[1])
    return dict(d), e, f, dict(g), h


@cases.each((X,), raises=KeyError)
def none_for_a_factory(a):
    return defaultdict(None)[int(a[0])]


@cases.each((X,), raises=KeyError)
def no_entry_by_other_methods(a):
    d = defaultdict(int, {1: 2})
    found = d.get(5), d.get(int(a[0]), 4), d.pop(int(a[0]), 9), 5 in d
    d.pop(int(a[0]))
    return found


@cases.each((X,))
def factories_that_do_more(a):
    calls = []

    def factory():
        calls.append(1)
        return 2.5

    d = defaultdict(factory)
    for i in range(3):
        d[int(a[i])] += 1
    return len(calls), dict(d)


given = defaultdict(int)
given[5] = 2


@cases.each((X, given), (X, defaultdict(float)))
def default_dict_of_the_caller(a, d):
    d[5] += 1
    for x in a:
        d[int(x)] += 1
    return d[1000], type(d)


# ---------------------------------------------------------------- both


def increased(d, k):
    d[k] += 1
    return d[k]


@cases.each((X,), (-X,))
def in_calls_and_branches(a):
    d = defaultdict(int)
    c = Counter()
    for x in a:
        increased(d, int(x))
        if x > 1:
            increased(c, int(x))
    e = d if a[0] > 2 else defaultdict(int)
    e[0] += 5
    return d, c, e is d, e


@cases.each((X,))
def numbers_of_several_kinds(a):
    d = defaultdict(int)
    for x in a:
        if x > 2:
            d[int(x)] += x
        else:
            d[int(x)] += 1
    e = defaultdict(float)
    e[1] += 2
    e[1.0] += a[0]
    e[True] += 1
    e[int(a[1])] += 10
    return d, e, list(e), Counter([1, 1.0, True, int(a[1])])


@cases.each((X,))
def copied(a):
    c = Counter(a.tolist())
    d = defaultdict(int, c)
    e, f, g = copy.copy(c), copy.deepcopy(c), copy.copy(d)
    c[3.0] += 1
    f[1.0] = 7
    g[99.0]
    return c, d, e, f, g


@cases.each((X,))
def printed(a):
    d = defaultdict(int)
    for x in a:
        d[int(x)] += 1
    c = Counter(int(x) for x in a)
    print(d, c, f"{c}", repr(defaultdict(list)), Counter())
    return str(c)


@cases.each((X,), raises=RuntimeError)
def inserts_while_it_iterates(a):
    d = defaultdict(int)
    for x in a:
        d[int(x)] += 1
    for k in d:
        d[k + 100]


@cases.each((X,))
def a_counter_inserts_nothing(a):
    c = Counter()
    for x in a:
        c[int(x)] += 1
    for k in c:
        c[k] += c[k + 100] + 1
    return c


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_a_dict_with_a_default_is_as_in_the_plain_run(program, args, options):
    check(program, *args, **options)


def random_operations(ops, vals):
    d, c, out = defaultdict(int), Counter(), []
    for k in range(len(ops)):
        x = int(vals[k])
        if ops[k] == 0:
            d[x] += k
        elif ops[k] == 1:
            c[x] += k
        elif ops[k] == 2:
            out.append(d[x])
        elif ops[k] == 3:
            out.append(c[x])
        elif ops[k] == 4:
            del c[x]
        elif ops[k] == 5:
            if x in d:
                del d[x]
        elif ops[k] == 6:
            out.append(d.pop(x, -1))
        elif ops[k] == 7:
            out.append(c.setdefault(x, k))
        elif ops[k] == 8:
            c.update({x: k, x + 1: 2})
        else:
            c.subtract([x])
    return d, c, out, c.most_common(3), c == Counter(dict(c)), sorted(d.items())


@pytest.mark.parametrize("seed", range(2))
def test_random_operations(seed):
    rng = np.random.default_rng(seed)
    check(random_operations, rng.integers(0, 10, 300), rng.integers(0, 20, 300), interpreted=False)


captured_counts = Counter("hello")
captured_default = defaultdict(int, {5: 2})


def test_of_the_environment():
    def known(a):
        return captured_default[5] + captured_counts["l"] + captured_counts["nothing"] * a

    def changed(a):
        captured_default[int(a[0])] += 1
        captured_counts["l"] += 1
        return captured_default[78] * a

    check(known, X)
    before = dict(captured_default)
    pystage.compile(changed)(X)
    assert captured_default == before | {3: 1, 78: 0}
    assert captured_counts["l"] == 3


def test_results_are_of_the_same_class():
    @pystage.compile
    def both(a):
        d = defaultdict(int)
        for x in a:
            d[int(x)] += 1
        return d, Counter(a.tolist())

    d, c = pickle.loads(pickle.dumps(both(X)))
    assert (type(d), type(c), d.default_factory) == (defaultdict, Counter, int)
    assert d["missing"] == 0
    assert "missing" in d
    assert c["missing"] == 0
    assert "missing" not in c


def test_a_function_that_takes_nothing_is_the_factory_of_a_result():
    def made(a):
        d = defaultdict(lambda: 5)
        d[int(a[0])] += 1
        return d, d

    check(made, X)
    d, again = pystage.compile(made)(X)
    assert again is d
    assert d["missing"] == 5
    assert d.default_factory.__qualname__.endswith("made.<locals>.<lambda>")


def test_a_function_that_takes_variables_is_no_factory_of_a_result():
    def made(a):
        n = len(a)
        d = defaultdict(lambda: n)
        d[int(a[0])] += 1
        return d

    check(made, X, refused="PS504")
