"""Known ranges of more elements than are ever listed one by one become vectors, as comprehensions over them do."""

from collections import deque

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.ones(5000)
ONE = 1


@cases(X, ONE)
def list_of_a_range(x, k):
    places = list(range(len(x)))
    places[3:5] = []
    places.remove(7)
    return sum(places), places[k + 5], [*range(len(x), 0, -1), k][k], tuple(range(len(x)))[k]


@cases(X, ONE)
def sorted_and_chosen(x, k):
    longest = max(range(len(x)), key=lambda i: x[i] * i)
    return sorted(range(len(x)), reverse=True)[k], longest, deque(range(len(x)), maxlen=3)


@cases(X, ONE)
def lazy_iterables(x, k):
    last = list(reversed(range(len(x))))[k]
    return list(enumerate(x))[k], list(zip(range(len(x)), x))[k], list(map(float, range(len(x))))[k], last


@cases(X, ONE)
def rest_of_an_iterator(x, k):
    places = iter(range(len(x)))
    return next(places), len(list(places)), k * 2


@cases(X, ONE)
def keys_of_a_dict(x, k):
    counts = dict.fromkeys(range(len(x)), 0)
    counts[k] += 1
    return counts[k], len(counts), dict(enumerate(range(len(x))))[k]


@cases(X, ONE)
def elements_of_sets(x, k):
    left = set(range(len(x)))
    left.discard(k)
    return len(left), k in left, len(frozenset(range(len(x))))


@cases(X, ONE)
def arrays_of_a_range(x, k):
    return np.array(range(len(x))) * k, np.array([range(len(x)), range(len(x))]).sum()


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, interpreted=False, **options)
