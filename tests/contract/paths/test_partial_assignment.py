"""Variables and attributes that some paths assign and others do not, read where they have a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


class Box:
    pass


X = np.array([1.0, 2.0, -1.0, 3.0])


@cases.each((1.0,), (0.5,), (3.0,))
def walrus_after_and(x):
    if x > 1 and (y := x * 2) > 5:
        return y
    return x


@cases.each((1.0,), (3.0,))
def walrus_under_not(x):
    if not (x > 1 and (y := x * 2) > 5):
        return x
    return y


@cases(X)
@cases(X[:2])
def walrus_in_a_while(x):
    i, total = 0, 0.0
    while i < len(x) and (v := x[i]) > 0:
        total += v
        i += 1
    return total, i


@cases.each((50,), (11,), (3,))
def walrus_of_numbers(n):
    while n > 0 and (d := n % 7) != 3:
        n -= d + 1
    return n


@cases.each((5.0, 1.0), (-5.0, 1.0), (5.0, -1.0))
def the_same_condition_again(x, y):
    positive = x > 0
    if positive:
        root = x * 0.5
    if positive and y > 0:
        return root + y
    return y


@cases.each((2.0,), (-1.0,), (0.5,))
def captures_beside_literals(a):
    match (a > 1, a):
        case (True, y):
            return y * 2
        case (False, y) if y < 0:
            return -y
        case z:
            return z[1]


@cases.each((1,), (2,), (7,), (3,))
def captures_of_alternatives(a):
    match a:
        case 1 | 2 as n:
            return n * 10
        case n if n > 5:
            return n * 100
        case n:
            return n


@cases.each((0, 2.5), (1.5, 0.0), (1.0, 2.0))
def captures_of_parts(x, y):
    match (x, y):
        case (0, second):
            return second
        case (first, 0):
            return first
        case (first, second):
            return first + second


@cases.each((2.0,), (-2.0,))
def an_attribute(x):
    box = Box()
    if x > 0:
        box.value = x
    if x > 0:
        return box.value
    return 0.0


class Settings:
    scale = 3

    def method(self, x):
        return x + 1


@dataclass
class Limits:
    low: float = -1.0
    high: float = 1.0


@cases.each((2.0,), (-2.0,))
def default_of_the_class(x):
    settings = Settings()
    if x > 0:
        settings.scale = 4
    return settings.scale * x, settings.scale


@cases.each((2.0,), (-2.0,))
def another_type_than_the_default(x):
    settings = Settings()
    if x > 0:
        settings.scale = x
    return settings.scale


@cases.each((2.0,), (-2.0,))
def a_default_again(x):
    limits = Limits(0.0)
    if x > 0:
        del limits.low
    return limits.low + x


@cases.each((2.0,), (-2.0,))
def over_a_method(x):
    settings = Settings()
    if x > 0:
        settings.method = Settings().method
    return settings.method(x)


@cases.each((2.0,), (-2.0,))
def in_a_loop(x):
    limits = Limits()
    for i in range(4):
        if x > i:
            limits.high = x * i
        x = x - limits.high
    return limits.high, x


@cases.each((2.0,), (-2.0,))
def set_in_a_method(x):
    limits = Limits()

    def widen():
        limits.high = 2.0 * x

    if x > 0:
        widen()
    return limits.high


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
