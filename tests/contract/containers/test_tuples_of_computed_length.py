"""Tuples whose length only the program knows: the rows of a list that nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([1.0, 2.0, -1.0, 3.0, 0.5])
FEW = [(X,), (-X,), (np.abs(X),), (-np.abs(X),), (X[:1],), (X[:0],)]


# ---------------------------------------------------------------- tuples that grow


@cases.each(*FEW)
def of_a_list(x):
    found = [v for v in x if v > 0]
    t = tuple(found)
    found.append(7.0)
    return t, len(t), found


@cases.each(*FEW)
def of_a_generator(x):
    return tuple(v * 2 for v in x if v > 0)


@cases.each(*FEW)
def grows_in_a_loop(x):
    t = ()
    for v in x:
        if v > 0:
            t = t + (v,)
    return t


@cases.each(*FEW)
def grows_in_place(x):
    t = (10.0,)
    u = t
    for v in x:
        if v > 0:
            t += (v, -v)
    return t, u


@cases.each((5.0,), (0.5,), (2.0**63,), (2.0**120,))
def grows_in_a_while(x):
    t = ()
    while x > 1:
        x = x / 2
        t = t + (x,)
    return t


@cases.each(*[(np.arange(n) % 3, n) for n in (0, 1, 5, 200)])
def grows_at_the_front(x, n):
    t = ()
    for i in range(n):
        if x[i] > 0:
            t = (i,) + t
    return t


@cases.each((1.0,), (-1.0,))
def of_one_of_two_lengths(x):
    if x > 0:
        t = (1, 2, 3)
    else:
        t = (4,)
    return t, len(t)


@cases.each((1.0,), (-1.0,), (0.0,))
def of_one_of_three_lengths(x):
    t = ()
    if x > 0:
        t = (1.0, x, 3.0)
    elif x < 0:
        t = (4.0,)
    total = 0.0
    for v in t:
        total += v
    return total, t


@cases.each(*FEW)
def of_pairs(x):
    t = ()
    for i, v in enumerate(x):
        if v > 0:
            t = t + ((i, v),)
    return t


@cases.each(*FEW)
def of_parts_known_outside(x):
    t = tuple([v for v in x if v > 0])
    return (0.0,) + t + (9.0, 8.0), t + t


# ---------------------------------------------------------------- what is done with them


@cases.each(*FEW)
def items_and_slices(x):
    t = (5.0, *[v for v in x if v > 0])
    return t[0], t[-1], t[1:], t[:-1], t[::2], t[::-1], t[len(t) // 2 :]


@cases.each(*FEW)
def compared(x):
    t = tuple(v for v in x if v > 0)
    u = tuple(v for v in x if v > 0.7)
    return t == u, t != u, t < u, t <= u, t > u, t >= u, t == (1.0, 2.0, 3.0), t == list(t), t == ()


@cases.each(*[(X, y) for y in (X, X[:3], -X, X[:0])], (X[:0], X[:0]), (X > 0, X > 1))
def in_order(x, y):
    t, u = tuple(v for v in x if v != 0), tuple(v for v in y if v != 0)
    return t < u, t <= u, t > u, t >= u, list(t) < list(u), list(t) >= list(u)


@cases.each(*FEW)
def truth_and_membership(x):
    t = tuple(v for v in x if v > 0)
    return bool(t), not t, 3.0 in t, 7.0 in t, 1 if t else 2, t.count(2.0)


@cases.each(*FEW)
def gone_over(x):
    t = tuple(v for v in x if v > 0)
    total = 0.0
    for i, v in enumerate(t):
        total += i * v
    for v, w in zip(t, t[1:]):
        total += v * w
    for v in reversed(t):
        total = total / 2 + v
    return total, [v + 1 for v in t], list(t), sorted(t), sum(t)


@cases.each(*FEW)
def smallest(x):
    t = (5.0,) + tuple(v for v in x if v > 0)
    return min(t), max(t), any(t), all(t)


@cases.each(*FEW)
def into_an_array(x):
    t = tuple(v for v in x if v > 0)
    return np.array(t), np.sum(np.asarray(t))


def _longer(t, v):
    return t + (v,)


def _total(t):
    total = 0.0
    for v in t:
        total += v
    return total


@cases.each(*FEW)
def arguments_and_results(x):
    t = ()
    for v in x:
        if v > 0:
            t = _longer(t, v)
    return _total(t), _total(_longer(t, 1.0)), t


@cases.each(*FEW)
def elements_of_lists(x):
    out = []
    t = ()
    for v in x:
        if v > 0:
            t = t + (v,)
        out.append(t)
    return out, len(out)


@cases.each(*FEW)
def longest_of_a_list(x):
    out = [()]
    for v in x:
        for old in list(out):
            if v > 0 and len(out) < 20:
                out.append(old + (v,))
    best = ()
    for each in out:
        if len(each) > len(best):
            best = each
    return best, len(out)


@cases.each(*FEW)
def of_any_length_in_a_list(x):
    out = [(0,)]
    for i in range(len(x)):
        if x[i] > 0:
            out.append((i, i + 1))
        elif x[i] < -0.7:
            out.append((i, i + 1, i + 2))
    return out, out[-1], (0,) in out, (0, 1) in out


@cases.each(*FEW)
def subsets(x):
    found = [()]
    for v in x[:4]:
        if v > 0:
            longer = []
            for old in found:
                longer.append(old + (v,))
            found = found + longer
    return found, len(found)


@cases.each(*[(np.array(a),) for a in ([1, 2, 1, 2, 3], [0], [5, 5, 5])], (np.zeros(0, int),))
def keys_of_a_dict(x):
    d = {}
    for i in range(len(x)):
        key = ()
        for j in range(i):
            if x[j] == x[i]:
                key = key + (int(x[j]),)
        d[key] = d.get(key, 0) + 1
    return d


@cases.each(*[(np.array(a),) for a in ([1, 2, 1, 2, 3], [0], [5, 5, 5])], (np.zeros(0, int),))
def elements_of_a_set(x):
    seen = set()
    t = ()
    again = 0
    for v in x:
        t = t + (int(v),) if v > 1 else ()
        if t in seen:
            again += 1
        seen.add(t)
    return again, len(seen), seen


@cases.each(*[(np.array(a),) for a in ([1, 2, 1, 2, 3], [0], [5, 5, 5])], (np.zeros(0, int),))
def phrases(x):
    table = {(0,): 0, (1,): 1, (2,): 2, (3,): 3, (5,): 5}
    w = ()
    out = []
    for v in x:
        longer = w + (int(v),)
        if longer in table:
            w = longer
        else:
            out.append(table[w])
            table[longer] = len(table)
            w = (int(v),)
    if w:
        out.append(table[w])
    return out


@cases.each(*FEW)
def values_of_a_dict(x):
    d = {"a": ()}
    for v in x:
        if v > 0:
            d["a"] = d["a"] + (v,)
    return d


@cases.each(*FEW)
def kept_in_a_state(x):
    best, kept = 0.0, ()
    for i in range(len(x)):
        for j in range(i, len(x)):
            if x[i] + x[j] > best:
                best, kept = x[i] + x[j], (i, j) if i < j else (i,)
    return best, kept


@cases.each(*FEW)
def beside_none(x):
    t = None
    for v in x:
        if v > 0:
            t = (v,) if t is None else t + (v,)
    return t, t is None


@cases.each(*FEW)
def of_several_kinds(x):
    t = (1,)
    for v in x:
        if v > 0:
            t = t + (float(v),)
    return t


class Node:
    def __init__(self):
        self.path = ()


@cases.each(*FEW)
def in_an_attribute(x):
    node = Node()
    for v in x:
        if v > 0:
            node.path = node.path + (v,)
    return node.path, len(node.path)


@cases.each(*FEW)
def is_a_tuple(x):
    t = tuple(v for v in x if v > 0)
    return isinstance(t, tuple), isinstance(t, list), type(t) is tuple


@cases.each((np.arange(6),), (np.arange(2),), (np.arange(3),))
def unpacked(x):
    t = tuple(int(v) for v in x if v % 2 == 0 or v > 3) + (1,)
    first, *rest = t
    *front, last = t
    return first, rest, front, last


@cases.each((3,), (0,), (5,))
def repeated(n):
    return (1,) * n, (1.5, 2.5) * n


@cases.each((np.arange(6),), (np.arange(2),), (np.arange(0),))
def starred(x):
    t = tuple(int(v) for v in x if v % 2 == 0)
    return [*t, 1], (*t, 2), (0, *t, *t)


WORDS = [(np.arange(n) * 7 % 5 // m,) for n, m in ((0, 1), (70, 2), (120, 4), (200, 9))]


@cases.each(*WORDS)
def longer_than_the_keys_of_a_dict_have_memory_for(x):
    seen = {(0,): 0}
    w, lengths = (), []
    for c in x.tolist():
        w = (*w, c)
        lengths.append(w in seen)
        if len(w) < 5 or c == 1:
            seen[w] = len(seen)
        if c == 2:
            w = ()
    return seen, lengths, w


@cases.each(*WORDS)
def in_a_set_that_is_empty_at_first(x):
    seen = set()
    w = ()
    for c in x.tolist():
        w = (*w, c) if c else ()
        seen.add((len(w), w))
    return len(seen), (2, (1, 1)) in seen, w


@cases.each(*WORDS)
def in_a_list(x):
    words, w = [], ()
    for c in x.tolist():
        if c:
            w = (*w, c)
        else:
            words.append(w)
            w = ()
    words.insert(0, w)
    return words


@cases.each(*[(x, n) for x in (np.arange(3), np.arange(20)) for n in (0, 3, 70)])
def lists_are_extended_up_to_their_capacity(x, n):
    found = []
    for i in range(n):
        if i % 3:
            found.extend([v for v in x if v > i % 7])
        else:
            found += (i, i + 1)
    return found, len(found)


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_tuples_of_computed_length(function, args, options):
    check(function, *args, **options)
