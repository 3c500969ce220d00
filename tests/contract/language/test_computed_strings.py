"""Strings that are one of several, as the path says: states of machines, names in lists, keys of dicts, orders."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([1.0, -2.0, 3.0, 0.0, 2.0, 3.0])
INPUTS = ((X,), (np.arange(20.0) - 7,), (np.zeros(0),), (np.zeros(3),))
THREE = ((X,), (np.arange(20.0) - 7,), (np.ones(4),))


@cases.each(*INPUTS)
def state_machine(x):
    state = "H"
    seen = {"H": 0, "E": 0, "F": 0}
    for v in x:
        if state == "H":
            state = "E" if v > 0 else "F"
        elif state == "E":
            if v < 1:
                state = "H"
        else:
            state = "H"
        seen[state] += 1
    return state, seen


@cases.each(*INPUTS)
def traceback(x):
    i, state, out = len(x) - 1, "up", []
    while i > 0:
        if state == "up":
            if x[i] > 0:
                state = "left"
            i -= 1
        else:
            state = "up"
            i -= 2
        out.append(i)
    return out, state == "up", state


@cases.each(*INPUTS)
def the_last_name(x):
    kind, last = "none", None
    for v in x:
        if v > 1:
            kind = last = "hubs"
        elif v < -1:
            kind = last = "random"
    return kind, last


@cases.each(*INPUTS)
def names_in_a_list(x):
    names, letters = ["C", "C#", "D"], "ACGT"
    out, chosen, text = [], [], []
    for v in x:
        name = "a" if v > 0 else "b"
        out.append(name)
        chosen.append(names[int(abs(v)) % 3])
        text.append(letters[int(abs(v)) % 4])
    return out, out[len(out) // 2 :], chosen, "".join(text)


@cases.each(*THREE)
def the_least_of_named(x):
    named = {"hubs": x, "none": x[::-1] * 2, "old": x - 1}
    by_sum = min(named, key=lambda s: named[s].sum())
    by_both = min(named, key=lambda s: (named[s].sum() > 0, s))
    by_name = max(named, key=lambda s: (len(named[s]), s))
    return by_sum, by_both, by_name, named[by_sum], max(zip(x, ["a", "b", "c"]))


@cases.each(*THREE)
def names_in_order(x):
    d = {"a": x[0], "b": x[1], "c": x[2]}
    order = sorted(d, key=lambda k: -d[k])
    pairs = []
    for name, v in sorted(d.items(), key=lambda kv: (kv[1], kv[0]), reverse=True):
        pairs.append((name, v))
    listed = [(1, "x", x[0]), (2, "yy", x[1]), (3, "z", x[2])]
    listed.sort(key=lambda t: t[2])
    return order, [d[k] for k in order], d.get(order[1]), pairs, listed, sorted(d, key=d.get)[0]


@cases.each(*THREE)
def names_of_the_path_in_order(x):
    first = "m" if x[0] > 0 else "z"
    second = "b" if x[1] > 0 else "q"
    third = first if x[2] > 1 else "c"
    return sorted([first, second, third]), first < second, first >= third, sorted([(first, 1), (third, 2)])


def numbers_beside_names(x):
    return sorted([float(x[0]), "a", float(x[1])])


def test_numbers_are_not_compared_with_names():
    check(numbers_beside_names, X, refused="PS202")


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
