"""Iterators over lists and arrays of which only the run knows how many elements they have, and where each stands."""

import functools
import itertools
import operator

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

V = np.array([2, 0, 1, 2, -1, 4])
ALL = [(V, -9), (V, 1), (V, 3), (V, 9)]
"""All elements, some, one, none."""


# ---------------------------------------------------------------- next


@cases.each(*ALL)
def the_first(v, n):
    return next(iter([a for a in v if a > n]), -1), next(iter(v[v > n]), -1)


@cases.each(*ALL[:3])
@cases(*ALL[3], raises=StopIteration)
def the_first_or_stop_iteration(v, n):
    return next(iter(v[v > n]))


@cases.each(*ALL)
def the_first_or_a_handler(v, n):
    try:
        return next(iter([a for a in v if a > n]))
    except StopIteration:
        return -7


@cases.each(*ALL)
def one_after_the_other(v, n):
    it, other = iter([a for a in v if a > n]), iter(v[v > n])
    return next(it, 0), next(it, 1), next(it, 2), next(other, 0), next(other, 1)


@cases.each(*ALL)
def until_there_is_none(v, n):
    tokens = iter([a for a in v if a > n])
    total = 0
    while True:
        token = next(tokens, None)
        if token is None:
            break
        total = total * 3 + token
    return total, next(tokens, 5)


@cases.each(*ALL)
def as_long_as_needed(v, n):
    it = iter(v)
    total = 0
    while total < n:
        total += next(it, 99)
    return total, next(it, 0), sum(it)


@cases.each(*ALL)
def on_one_path_only(v, n):
    it = iter(v[v > 0])
    if v[0] > n:
        next(it, None)
    return list(it)


@cases.each(*ALL)
def an_ended_one_gives_nothing_of_a_longer_list(v, n):
    left = [a for a in v if a > n]
    it = iter(left)
    first = next(it, -1)
    left.append(5)
    left.append(6)
    return first, next(it, -1), list(it), left


# ---------------------------------------------------------------- loops over what is left


@cases.each(*ALL)
def differences(v, n):
    left = [a for a in v if a > n]
    it = iter(left)
    last = next(it, 0)
    found = []
    for a in it:
        found.append(a - last)
        last = a
    return found


@cases.each(*ALL)
def beside_what_is_left(v, n):
    w = v[v > n]
    it = iter(w)
    next(it, None)
    return [b - a for a, b in zip(w, it)]


@cases.each(*ALL)
def ended_by_a_break(v, n):
    total = 0
    for a in iter(v[v > n]):
        total += a
        if a > 2:
            break
    return total


@cases.each(*ALL)
def listed_and_empty_then(v, n):
    it = iter([a for a in v if a > n])
    return next(it, 0), list(it), list(it)


@cases.each((np.arange(3000.0), 2))
def over_a_long_array(x, n):
    it = iter(x)
    first = next(it)
    total = 0.0
    for a in it:
        total += a * n
    return first, total


# ---------------------------------------------------------------- map


@cases.each(*ALL)
def mapped(v, n):
    total = 0
    for a in map(abs, v[v > n]):
        total += a
    for a in map(lambda e: e * 2, [e for e in v if e > n]):
        total += a
    return total


@cases.each(*ALL)
def mapped_beside(v, n):
    w = [a for a in v if a > n]
    found = []
    for a in map(lambda a, b: a - b, w, v):
        found.append(a)
    return found, list(map(lambda a, b: a * b, v[v > n], v)), [p for (p,) in zip(v[v > n])]


@cases.each(*ALL)
def mapped_while_it_grows(v, n):
    left = [a for a in v if a > n]
    total = 0
    for a in map(abs, left):
        total += a
        if len(left) < 5:
            left.append(a)
    return total, left


# ---------------------------------------------------------------- over one of several


def either(v, n):
    y = v
    if v[0] > n:
        y = v[v > 0]
    return y


@cases.each(*ALL)
def enumerated_alternatives(v, n):
    total = 0
    for i, e in enumerate(either(v, n)):
        if e > 3:
            break
        total += i * e
    return total, list(enumerate(either(v, n)))


@cases.each(*ALL)
def alternatives_beside_others(v, n):
    total = 0
    for i, (a, b) in enumerate(zip(v, either(v, n))):
        total += i * a * b
    return total, sum(a * b for a, b in zip(either(v, n), v))


@cases.each(*ALL)
def reversed_and_mapped_alternatives(v, n):
    total = 0
    for a in map(abs, either(v, n)):
        total += a
    return total, [a for a in reversed(either(v, n))]


@cases.each(*ALL)
def a_list_or_a_tuple(v, n):
    w = [1, 2]
    if v[0] > n:
        w = (1, 2, 3)
    total = 0
    for i, a in enumerate(w):
        total += i * a
    return total


# ---------------------------------------------------------------- itertools and functools


@cases.each(*ALL)
def neighbours_and_sums(v, n):
    w = [a for a in v if a > n]
    sums = (
        list(itertools.accumulate(w)),
        list(itertools.accumulate(w, max)),
        list(itertools.accumulate(w, initial=3)),
    )
    total = 0
    for a, b in itertools.pairwise(v[v > n]):
        total += a * b
    return list(itertools.pairwise(w)), sums, total


@cases.each(*ALL)
def one_after_another(v, n):
    w = [a for a in v if a > n]
    parts = list(itertools.islice(w, 2)), list(itertools.islice(w, 1, None, 2))
    return [a for a in itertools.chain(w, v, w)], parts


@cases.each(*ALL)
def folded(v, n):
    w = [a for a in v if a > n]
    return functools.reduce(operator.add, w, 0), functools.reduce(lambda a, b: a * b + 1, v[v > n], 1)


@cases.each(*ALL[:3])
@cases(*ALL[3], raises=TypeError)
def folded_without_a_first(v, n):
    return functools.reduce(max, [a for a in v if a > n])


@cases.each(*ALL)
def groups(v, n):
    longest = 0
    for is_greater, group in itertools.groupby(v > n):
        if is_greater:
            longest = max(longest, sum(1 for _ in group))
    sums = [(k, sum(g)) for k, g in itertools.groupby(v, key=lambda e: e > n)]
    return longest, sums, [(k, list(g)) for k, g in itertools.groupby([e // 2 for e in v if e > n])]


@cases(V, 1, refused="PS604")
def groups_of_an_iterator(v, n):
    it = iter(v)
    for _, group in itertools.groupby(it):
        return list(group), list(it)


@cases.each(*ALL)
def ended_on_one_path(v, n):
    it = iter(v[v > 0])
    if v[0] > n:
        for _ in it:
            pass
    return [a for a in it], next(it, -1)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
