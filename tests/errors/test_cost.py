"""What checks cost where they are proved away: nothing, counted in instructions of HLO."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from checking import check

import pystage
from pystage.compiler.ops import BitcastConvert

X, PLACES = np.arange(8.0), np.arange(8)


@pytest.fixture
def without_checks() -> Iterator[None]:
    yield
    pystage.config.check_bounds = True


def recurrence(x):
    for i in range(1, len(x)):
        x[i] = 0.5 * x[i - 1] + x[i]
    return x


def neighbours(x):
    for i in range(len(x) - 1):
        if x[i] > x[i + 1]:
            x[i], x[i + 1] = x[i + 1], x[i]
    return x


def backwards(x):
    for i in range(len(x) - 1, -1, -1):
        x[i] = x[i] - x[len(x) - 1 - i]
    return x


def strided(x):
    for i in range(len(x) // 2):
        x[2 * i + 1] = x[2 * i]
    return x


def around(x, n):
    for k in range(n):
        x[k % len(x)] = x[(k * 3 + 1) % len(x)] + 1.0
    return x


def masked_bits(x, n):
    for k in range(n):
        x[k & 7] = x[(k >> 1) & 7] + 1.0
    return x


def counted_while(x):
    i = 0
    while i < len(x):
        x[i] = x[i] * 2.0
        i = i + 1
    return x


def inner_while(x):
    for i in range(len(x) - 3):
        j = i
        while j < i + 3:
            x[j] = 0.5 * x[j] + 0.75
            j += 1
    return x


def guarded(x, i):
    if 0 <= i < len(x):
        x[i] = 1.0
    return x


def guarded_from_below(x, i):
    if i < len(x) and i >= -len(x):
        x[i] = 1.0
    return x


def best(x):
    return x[np.argmax(x)] + x[x.argmin()]


def in_order(x):
    return x[np.argsort(x)]


def clipped(x, i):
    return x[min(max(i, 0), len(x) - 1)] + x[np.clip(i, 0, 7)]


def narrow(x, table):
    return table[x]


def elements(x, total):
    for v in x:
        total += v
    for i, v in enumerate(x):
        x[i] = v + total
    return total


def running_place(x):
    k = 0
    for _ in range(2):
        for _ in range(4):
            x[k] = x[k] + 1.0
            k += 1
    return x


def random_places(x, n):
    seed = 7
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        x[seed % len(x)] += 1.0
    return x


FREE = [
    (recurrence, (X,)),
    (neighbours, (X,)),
    (backwards, (X,)),
    (strided, (X,)),
    (around, (X, 20)),
    (masked_bits, (X, 20)),
    (counted_while, (X,)),
    (inner_while, (X,)),
    (guarded, (X, 3)),
    (guarded_from_below, (X, -3)),
    (best, (X,)),
    (in_order, (X,)),
    (clipped, (X, 9)),
    (narrow, (np.array([3, 200], np.uint8), np.arange(256))),
    (elements, (X, 1.0)),
    (running_place, (X,)),
    (random_places, (X, 50)),
]


@pytest.mark.parametrize("function, args", FREE, ids=[f.__name__ for f, _ in FREE])
def test_proved_checks_cost_nothing(function, args, without_checks):
    check(function, *args)
    lowered = pystage.compile(function).lower(*args)
    assert lowered.staged.program.failure is None
    pystage.config.check_bounds = False
    unchecked = pystage.compile(function).lower(*args)
    assert lowered.instruction_counts() == unchecked.instruction_counts()


def gather(x, places):
    total = 0.0
    for k in range(len(places)):
        total += x[places[k]]
    return total


def test_what_cannot_be_proved_is_checked():
    assert pystage.compile(gather).lower(X, PLACES).staged.program.failure is not None
    check(gather, X, PLACES)
    check(gather, X, PLACES + 1, raises=IndexError)


def exchange(x, places):
    for k in range(len(places) - 1):
        a, b = places[k], places[k + 1]
        x[a], x[b] = x[b], x[a]
    return x


def histogram(x, places):
    for k in range(len(places)):
        x[places[k]] += 1.0
    return x


def shifted(x, places):
    for k in range(len(places)):
        j = places[k]
        x[j + 1] = x[j + 1] * 2 + x[j]
        if x[j] > 3:
            x[j] = x[j + 1]
    return x


def in_one_arm(x, places):
    j = places[0]
    if x[0] > 1:
        x[j] = 5
    x[j] += 1
    return x


def caught(x, places):
    j = places[0]
    try:
        x[j] = 1
    except IndexError:
        x[0] = 9
    x[j] += 1
    return x


# of `caught` both places raise by one comparison
CHECKS = [(exchange, 2), (histogram, 1), (shifted, 2), (in_one_arm, 2), (caught, 1)]


@pytest.mark.parametrize("function, checks", CHECKS, ids=[f.__name__ for f, _ in CHECKS])
def test_an_index_that_has_been_checked_is_not_checked_again(function, checks):
    lowered = pystage.compile(function).lower(X, PLACES)
    bits = [op for op in lowered.staged.program.function.body.walk() if isinstance(op.kind, BitcastConvert)]
    assert len(bits) == checks
    for places in (PLACES[:7], PLACES[::-1][1:], -PLACES[1:]):
        check(function, X, places)
    for bad in (8, 20, -9):
        for at in (0, 3):
            places = PLACES[:6].copy()
            places[at] = bad
            if at == 0 or function not in (in_one_arm, caught):
                check(function, X, places, raises=IndexError)
