"""Which names are one array of computed size, and which are two with the same elements."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([1.0, -2.0, 3.0, 0.0, 2.0, 4.0])
SIZES = [(X, -9), (X, 0), (X, 3), (X, 9), (X + 5, 0)]


def itself(u):
    return u


def shorter(u, k):
    if k > 2:
        return u
    return u[1:]


def of_two(u, v, k):
    return u if k > 2 else v


@cases.each(*SIZES)
def given_back(x, n):
    y, z = x[x > n], x[x > n + 1]
    return y, z, itself(y), itself(z), itself(y) is y, itself(z) is y


@cases.each(*SIZES)
def one_or_a_part(x, n):
    y = x[x > n]
    z = shorter(y, x[0])
    return y, z, z is y


@cases.each(*SIZES)
def one_of_two(x, n):
    y, z = x[x > n], x[x > n + 1]
    w = of_two(y, z, x[0])
    return w, y, z, w is y, w is z, of_two(z, y, x[0]) is w


@cases.each(*SIZES)
def after_a_loop(x, n):
    y = x[x > n]
    z = y
    while len(z) > 2:
        z = z[1:]
    return y, z, itself(z), z is y


@cases.each(*SIZES)
def after_two_loops(x, n):
    y = x[x > n]
    z = y
    while len(z) > 3:
        z = z[1:]
    w = z
    while len(w) > 2:
        w = w[:-1]
    return y, z, w


@cases.each(*SIZES)
def parts_of_each_branch(x, n):
    y = x[x > n]
    z = y[1:] if n > 0 else y[:2] if x[0] > 2 else y
    return [y, z, z, y], {"z": z, "same": z is y}


@cases.each(*SIZES)
def a_part_that_a_loop_may_replace(x, n):
    y = x[x > n]
    z = y[:-1]
    while len(z) > 2:
        z = z[z != z[0]]
    return y, z


@cases.each(*SIZES)
def another_from_before_the_loop(x, n):
    y, z = x[x > n], x[x > n - 1] * 2
    w = y
    for i in range(len(y)):
        if i > 1:
            y = z
    return y, z, y is z, y is w


@cases.each(*SIZES)
def of_a_loop_and_of_another(x, n):
    y = x[x > n]
    for _ in range(int(x[0])):
        y = y[:]
    z = y
    for _ in range(int(x[0])):
        z = z[:]
    return y, z, y[:], y is z


@cases.each(*SIZES)
def of_the_loops_of_two_calls(x, n):
    def part(u):
        v = u
        for _ in range(int(x[0])):
            v = v[1:]
        return v

    y = x[x > n]
    z, w = part(y), part(y)
    return y, z, w, itself(z) is z, z is w


@cases.each(*SIZES)
def of_a_loop_in_a_loop(x, n):
    y = x[x > n]
    for _ in range(int(x[0]) + 1):
        y = z = y[1:]
        for _ in range(2):
            z = z[:-1]
    return y, z


@cases.each((X, 0), (X, 1))
def two_names_of_a_part(x, n):
    y = x[1:]
    w = v = y
    for _ in range(int(x[5]) + n):
        y = y[1:]
    return y, w, w is v, x


@cases(X, 3, refused="PS305")
def a_part_or_another(x, n):
    y, z = x[:], x[1:]
    for i in range(int(x[5])):
        y = z if i % 2 else y[1:]
    return y, z, y is z


@cases(X, 0, refused="PS210")
def of_the_trip_before(x, n):
    y = before = x[x > n]
    for _ in range(int(x[5]) + n):
        before = y
        y = y[0 * len(x[x < n]) :]
    return y, before


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
