"""Functions as arguments: a lambda that each call makes anew is no reason for another program, unless that shows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pystage

X = np.arange(4.0)
Function = Callable[..., Any]


def summed(x, f):
    total = 0.0
    for i in range(len(x)):
        total += f(x[i])
    return total


def of_both(fs, x, f):
    return fs[0](x[0]) + f(x[1])


def compiled_and_plain(function: Function, calls: list[tuple[Any, ...]], programs: int) -> None:
    compiled = pystage.compile(function, tier="compiled", fallback="error")
    for args in calls:
        assert compiled(*args) == function(*args)
    assert compiled.programs == programs


def test_a_lambda_made_anew() -> None:
    compiled_and_plain(summed, [(X, lambda v: v * 2) for _ in range(4)], 1)
    compiled_and_plain(of_both, [([np.sin], X, lambda v: v * 2) for _ in range(4)], 1)


def scaled(factor: Any) -> Function:
    return lambda v: v * factor


def test_what_it_closes_over() -> None:
    values = [2.0, 2.0, 3.0, 2, -0.0, 0.0, (1, 2)[1]]
    compiled_and_plain(summed, [(X, scaled(value)) for value in values], 5)
    arrays = [np.float64(2.0), np.float64(2.0)]
    compiled_and_plain(summed, [(X, scaled(value)) for value in arrays], 2)
    compiled_and_plain(summed, [(X, scaled(arrays[0])) for _ in range(3)], 1)


def test_its_defaults() -> None:
    def made(step: float) -> Function:
        def f(v, step=step, *, more=step):
            return v * step + more

        return f

    compiled_and_plain(summed, [(X, made(value)) for value in (2.0, 2.0, 3.0)], 2)


def with_setter(factor: float) -> tuple[Function, Function]:
    def change(to: float) -> None:
        nonlocal factor
        factor = to

    return lambda v: v * factor, change


def test_what_changes_later_is_the_function_s_own() -> None:
    compiled = pystage.compile(summed, tier="compiled", fallback="error")
    (first, change), (second, _) = with_setter(2.0), with_setter(2.0)
    assert compiled(X, first) == compiled(X, second) == summed(X, second)
    change(5.0)
    assert compiled(X, second) == summed(X, second)
    assert compiled(X, first) == summed(X, first)
    assert compiled(X, with_setter(5.0)[0]) == summed(X, first)


def counter() -> tuple[Function, Function]:
    count = 0

    def f(v):
        nonlocal count
        count += 1
        return v * count

    return f, lambda: count


def test_what_it_counts_is_its_own() -> None:
    compiled = pystage.compile(summed, tier="compiled", fallback="error")
    counters = [counter() for _ in range(3)]
    expected = summed(X, counter()[0])
    assert [compiled(X, f) for f, _ in counters] == [expected] * 3
    assert [count() for _, count in counters] == [len(X)] * 3


def handed_back(x, f):
    return f(x[0]), f


def compared(x, f, g):
    return x[0] + 1 if f is g else f(x[0])


def kept_for_later(x, f):
    return [lambda v: f(v) + 1][0](x[0]), (lambda: f)()


@pytest.mark.parametrize("function", [handed_back, kept_for_later])
def test_where_it_shows_which_one_it_is(function: Function) -> None:
    compiled = pystage.compile(function, tier="compiled")
    for f in [scaled(2.0), scaled(2.0)]:
        assert compiled(X, f)[1] is f


def test_where_it_is_compared() -> None:
    f, g = scaled(2.0), scaled(2.0)
    compiled_and_plain(compared, [(X, f, f), (X, f, g), (X, g, f), (X, g, g)], 4)


def test_a_variable_that_the_call_assigns_is_that_of_one_of_them() -> None:
    def made() -> tuple[Function, Function]:
        factor = 2.0

        def assign(value: float) -> None:
            nonlocal factor
            factor = value

        return (lambda v: v * factor), assign

    def assigning(f: Function, assign: Function) -> Any:
        assign(10.0)
        return f(1.0)

    (of_one, assign), (of_other, assign_other) = made(), made()
    compiled = pystage.compile(assigning, tier="compiled", fallback="error")
    for f in (of_one, of_other, of_one):
        assign(2.0)
        assign_other(2.0)
        result = compiled(f, assign)
        assign(2.0)
        assert result == assigning(f, assign)


def test_nans_of_two_signs() -> None:
    def signed(nan: float) -> Function:
        return lambda v: math.copysign(v, nan)

    compiled_and_plain(lambda f: f(1.0), [(signed(math.nan),), (signed(-math.nan),)], 2)
