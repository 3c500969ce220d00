"""How long a plain run takes at least: the trips that the source derives from the parameters, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pystage
from pystage.runtime.work_estimate import NODE, may_take_long, nesting_of, outline_of

N = 10_000


def by_number(n):
    total = 0
    for i in range(1, n + 1):
        total += i
    return total


def by_shape(x):
    rows, columns = x.shape
    total = 0.0
    for i in range(rows):
        for j in range(columns - 1):
            total += x[i, j]
    return total


def by_elements(xs):
    total = 0.0
    for _, x in enumerate(xs):
        total += x
    return total


def of_a_callee(x, n):
    m = len(x)
    for _ in range(n):
        by_number(m)
    return x


def inner_of_a_callee(x):
    return by_number(x.size // 2)


@pytest.mark.parametrize(
    ("function", "args", "trips"),
    [
        (by_number, (N,), N),
        (by_shape, (np.zeros((100, 100)),), N - 100),
        (by_elements, ([0.0] * N,), N),
        (of_a_callee, (np.zeros(100), 100), N),
        (inner_of_a_callee, (np.zeros(2 * N),), N),
    ],
)
def test_trips_that_the_parameters_say(function: Any, args: tuple[Any, ...], trips: int) -> None:
    assert trips * NODE < outline_of(function).seconds(args) < 50 * trips * NODE


def ended(n):
    for i in range(n):
        if i > 2:
            break
    return n


def computed(x, n):
    n = int(x.sum())
    for i in range(n):
        x[i] = 1.0
    return x


def waiting(n):
    while n > 3:
        n -= n // 2
    return n


def of_another_kind(n):
    for each in n:
        print(each)


@pytest.mark.parametrize(
    ("function", "args"),
    [(ended, (N,)), (computed, (np.zeros(3), N)), (waiting, (N,)), (of_another_kind, (N,))],
)
def test_trips_that_they_do_not_say_count_once(function: Any, args: tuple[Any, ...]) -> None:
    assert outline_of(function).seconds(args) < 100 * NODE


def by_constants():
    total = 0
    for i in range(3000):
        for j in range(3000):
            total += i ^ j
    return total


def after_many_names(n):
    return n


_names = "; ".join([f"v{i}" for i in range(300)])
after_many_names.__code__ = compile(
    f"def after_many_names(n):\n  {_names}\n  for i in range(n):\n    {_names}; by_number(i)",
    "<many>",
    "exec",
).co_consts[0]


@pytest.mark.parametrize(
    ("function", "depth"),
    [
        (by_number, 1),
        (by_shape, 2),
        (of_a_callee, 2),
        (inner_of_a_callee, 1),
        (waiting, 0),
        (by_constants, 2),
        (after_many_names, 2),
        (len, 0),
    ],
)
def test_loops_in_loops_are_counted_by_the_code(function: Any, depth: int) -> None:
    assert nesting_of(function)[0] == depth


def test_a_run_that_takes_long_is_not_taken_for_a_short_one() -> None:
    for function, args in (
        (by_number, (1 << 25,)),
        (of_a_callee, (np.zeros(1 << 12), 1 << 13)),
        (by_constants, ()),
    ):
        assert outline_of(function).seconds(args) > 0.25
        assert may_take_long(nesting_of(function), args)
    for function, args in (
        (by_shape, (np.zeros((500, 500)),)),
        (by_elements, ([0.0] * N,)),
        (waiting, (1 << 40,)),
    ):
        assert not may_take_long(nesting_of(function), args)


compiled = pystage.compile(by_shape)


class Sized:
    asked = 0

    def __len__(self):
        Sized.asked += 1
        return N

    shape = property(lambda self: (len(self),))

    def __getattr__(self, name):
        Sized.asked += 1
        raise AttributeError(name)


class OfAClass(type):
    @property
    def __module__(cls):
        Sized.asked += 1


class Shadowed(metaclass=OfAClass):
    @property
    def __dict__(self):
        Sized.asked += 1


SIZED, SHADOWED = Sized(), Shadowed()


def with_a_global(n):
    return SIZED, SHADOWED, Shadowed, by_number(n), compiled(n)


def test_no_code_of_the_user_is_run() -> None:
    Sized.asked = 0  # pytest has looked at it
    for function in (by_elements, by_shape):
        may_take_long(nesting_of(function), (Sized(),))
        outline_of(function).seconds((Sized(),))
    assert nesting_of(with_a_global)[0] == 2
    assert not Sized.asked


@pytest.mark.filterwarnings("error")
def test_the_least_integers() -> None:
    assert not may_take_long((1, 0), (np.int8(-128),))
    assert may_take_long((1, 0), (np.int64(np.iinfo(np.int64).min),))


class Account:
    def __init__(self, amount):
        self.amount = amount


def makes_one(amount):
    return Account(amount).amount


def test_methods_have_lines() -> None:
    assert outline_of(makes_one).lines == 4


def test_without_a_source() -> None:
    assert outline_of(len).seconds(([],)) < 1e-6
