"""Patterns of sequences and mappings whose length or keys the program computes, and of what is neither."""

from __future__ import annotations

import collections

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

POSITIVE, NEGATIVE = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.0, 3.0])


@cases(3)
@cases(1)
@cases(0)
def ranges(n):
    match range(n):
        case [first, second, *rest]:
            return first, second, len(rest)
        case [first]:
            return first, first, -1
    return n, n, n


@cases(POSITIVE)
@cases(NEGATIVE)
def computed_lists_and_tuples(x):
    taken = [value for value in x if value > 1.0]
    match taken:
        case [first]:
            total = first
        case [first, second]:
            total = first * second
        case _:
            total = 0.0
    match tuple(taken):
        case (_, *rest):
            return total + len(rest)
    return total


@cases(POSITIVE)
@cases(NEGATIVE)
def computed_keys(x):
    places = {}
    for i in range(3):
        places[int(x[i])] = i
    match places:
        case {2: place, 1: _}:
            return place
        case {0: place, **others}:
            return place - len(others)
    return -1


@cases(POSITIVE)
@cases(NEGATIVE)
def a_key_of_one_path(x):
    found = collections.defaultdict(float, {1: 2.0})
    if x[0] > 0:
        found[3] = x[1]
    match found:
        case {3: value}:
            pass
        case {1: value}:
            value = -value
    return value, len(found)


@cases(POSITIVE)
def what_is_a_sequence(x):
    matched = []
    for subject in (collections.deque([1.0, 2.0]), {1, 2}, "ab", {1: 2, 2: 3}.keys(), zip([1], [2]), x[:2]):
        match subject:
            case [_, _]:
                matched.append(True)
            case _:
                matched.append(False)
    return matched


@cases(POSITIVE)
@cases([1.0, 2.0])
def whole_objects(x):
    try:
        match x[0]:
            case np.float64(number):
                pass
    except TypeError as error:
        return str(error)
    match x[0], x:
        case float(number), list(items):
            return number + len(items)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
