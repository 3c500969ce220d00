"""Lists of `None`, or of numbers of one kind, that a loop fills at computed places with something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pystage
import pytest
from pystage.compiler.hlo.walk import kinds
from pystage.compiler.ops import While
from tests.checking import check

N = 40


def filled(x):
    out = [None] * len(x)
    for k in range(len(x)):
        out[k] = x[k] * 2
    return out


def some(x):
    out = [None] * len(x)
    for k in range(len(x)):
        if x[k] > 3:
            out[k] = x[k] * 2
    return out, [v for v in out if v is not None], out[2] is None, out.count(None)


def backwards(x):
    n = len(x)
    out = [None] * n
    out[n - 1] = x[n - 1]
    for k in range(n - 2, -1, -1):
        out[k] = x[k] + 0.5 * out[k + 1]
    return np.array(out)


def memoised(x):
    memo, count = [None] * len(x), 0
    for k in range(3 * len(x)):
        j = k * k % len(x)
        if memo[j] is None:
            memo[j] = k * 2
            count += 1
    return memo, count


def pairs(x):
    out = [None] * len(x)
    for k in range(len(x)):
        out[k] = (k, x[k])
    total = 0.0
    for k, value in out:
        total += k * value
    return out, total


def left_out(x):
    out = [None] * len(x)
    for k in range(len(x) - 1):
        out[k] = x[k] * 2
    total = 0.0
    try:
        for k in range(len(x)):
            total += out[k]
    except TypeError as error:
        return total, str(error)


def words(x):
    out = ["none"] * len(x)
    for k in range(len(x)):
        out[k] = k if x[k] > 3 else "small"
    return out


ROLLED = [filled, some, backwards, memoised, pairs, left_out, words]


@pytest.mark.parametrize("function", ROLLED)
def test_the_loop_stays_rolled(function: Any) -> None:
    x = np.arange(float(N))
    check(function, x)
    assert While in kinds(pystage.compile(function).staged(x).function)


def summed(x):
    return sum(filled(x)), sorted(filled(x), reverse=True)[:3]


def as_keys(x):
    return dict(zip(range(len(x)), filled(x)))


def of_arrays(x):
    out = [None] * len(x)
    now = np.eye(2)
    for k in range(len(x)):
        now = now * 0.5 + x[k]
        out[k] = now
    out[3][0, 0] = 7.0
    return out, out[1] is out[2]


@pytest.mark.parametrize("function", [summed, as_keys, of_arrays])
def test_what_needs_one_kind_of_elements_has_the_loop_written_out(function: Any) -> None:
    check(function, np.arange(float(N)))


def stored_beside_an_integer(x):
    w = [1.0, 2.0, 3]
    for k in x:
        w[int(k) % 5 - 1] = 0.5
    out = np.zeros(3)
    out[:] = w
    return np.array(w), out, w


@pytest.mark.parametrize("places", [[], [0.0], [3.0], [1.0, 3.0, 7.0]])
def test_an_array_of_mixed_numbers_has_the_type_of_those_that_stay_of_one_kind(places: list[float]) -> None:
    check(stored_beside_an_integer, np.array(places))


def test_a_store_outside_of_mixed_numbers_raises() -> None:
    check(stored_beside_an_integer, np.array([1.0, 4.0]), raises=IndexError)


def an_array_of_the_last_number(x):
    return np.array([x[0], 2.0 if x[1] > 2 else 2, 3]), np.array([1, 2.0 if x[1] > 2 else 2**62 + 1, 0.5])


@pytest.mark.parametrize("x", [[1.0, 1.0], [1.0, 3.0]])
def test_an_array_with_a_number_of_several_kinds_has_the_type_of_the_others(x: list[float]) -> None:
    check(an_array_of_the_last_number, np.array(x))


def test_numbers_all_of_which_may_be_of_another_kind_are_refused() -> None:
    def stored(x):
        w = [1, 2, 3]
        for k in x:
            w[int(k)] = 0.5
        return np.array(w)

    check(stored, np.array([1.0, 2.0] * 40), refused="PS208")
