"""`math.fsum` and `math.prod` of any iterable, also of as many numbers as only the run knows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([0.1, -2.0, 16.5, 3.5, 0.0, 1.0, -7.25, 0.25])
FAR_APART = np.array([0.1, -2.0, 1e16, 3.5, 0.0, 1.0, -1e16, 0.25])


@cases.each((X, 0.0), (X, 5.0), (X, 1e20), (X[:0], 0.0), (FAR_APART, -1.0), (FAR_APART, -1e20))
def of_what_a_mask_selects(x, least):
    some = [v for v in x if v > least]
    return math.fsum(x[x > least]), math.fsum(some), math.prod(some), math.prod(x[x > least], start=2)


@cases(X)
def of_iterables(x):
    return (
        math.fsum(x),
        math.fsum(v * v for v in x),
        math.fsum([2, x[1], 0.1]),
        math.prod(range(1, 5)),
        math.prod([2, x[3]]),
    )


@cases(X)
def of_known_numbers(x):
    return math.fsum([1e16, 1.0, 1e-3, -1e16, 1e100, -1e100, 2.0**-60]) + x[0], math.fsum((0.1,) * 10)


@cases.each((2.5,), (0.5,), (-0.5,), (1e-300,), (2.0**-1022,), (-(2.0**970),))
def rounded_once(x):
    return (
        math.fsum([x, 1e16, -1e16, 1.0]),
        math.fsum([x, 2.0**53, -(2.0**53)]),
        math.fsum([1e16, 1.0, x * 1e-16]),
        math.fsum([x, -x, 2.0**53 + 2, 1.0, x]),
        math.fsum([x, -0.0]) + math.fsum([-x]),
        math.fsum([2.0**1023, x, -(2.0**1023)]),
    )


@cases([0.1] * 10)
@cases([2, 2.5])
@cases([1.0, math.inf])
@cases([math.nan, 1.0])
@cases([-math.inf, 3.0, math.nan])
@cases([math.inf, 1.0, -math.inf], raises=ValueError)
@cases([1e308, 1e308], raises=OverflowError)
@cases([1.0, "a"], raises=TypeError)
def of_a_list(xs):
    return math.fsum(xs), math.prod(xs)


@cases(X, 3.0)
@cases(np.array([1e308, 1e308, 4.0]), 3.0, raises=OverflowError)
@cases(np.array([math.inf, -math.inf]), -math.inf)
def of_what_is_caught(x, least):
    try:
        return math.fsum(x[x >= least])
    except ValueError:
        return -1.0


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
