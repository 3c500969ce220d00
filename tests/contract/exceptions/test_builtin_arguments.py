"""Built-in functions and methods with unusual arguments, and what they refuse."""

from __future__ import annotations

import itertools
import math
import operator
from collections import deque

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


class Tally:
    def __init__(self) -> None:
        self.seen = 0

    def __iadd__(self, other: int) -> Tally:
        self.seen += other
        return self


@cases(deque(["a"]), deque(["a", "b"]), [1, 2], 3)
def operators_in_place_as_functions(letters, pair, numbers, n):
    tally = Tally()
    same = operator.iadd(tally, n) is tally
    return (
        operator.iadd(letters, "bcd"),
        operator.iadd(pair, pair),
        operator.iadd(numbers, numbers),
        same,
        tally.seen,
    )


@cases(105, 6)
def methods_of_bytes_with_computed_numbers(byte, start):
    text = b"mississippi"
    return text.count(byte), text.count(b"i", start), text.index(byte, start), text.rjust(2 * start, b"-")


def texts_of(calls):
    found = []
    for call in calls:
        try:
            call()
        except (TypeError, ValueError) as error:
            found.append((type(error).__name__, str(error)))
    return found


@cases(1.0)
def arguments_that_math_does_not_take(x):
    calls = [
        lambda: math.atan2("spam", x),
        lambda: math.atan2(x),
        lambda: math.atan2(x, x, x),
        lambda: math.hypot("a", x),
        lambda: math.copysign(x),
        lambda: math.ldexp(x),
    ]
    return texts_of(calls)


@cases(2, [1, 2])
def what_is_not_there(n, numbers):
    calls = [
        lambda: [-2, 1, 2].index(2, 0, -10),
        lambda: (1, 2).index(7),
        lambda: itertools.repeat(n, "a"),
        lambda: n @ n,
        lambda: int(base=n),
    ]
    return texts_of(calls)


@cases(np.arange(12.0).reshape(3, 4))
def what_arrays_refuse_for_their_shapes_and_types(x):
    calls = [
        lambda: x + np.ones(2),
        lambda: x @ np.ones(3),
        lambda: x // 7j,
        lambda: x < np.ones(2),
        lambda: np.add(x, np.ones(2)),
        lambda: np.where(x > 1, x, np.ones(2)),
        lambda: np.sum(x, axis=5),
        lambda: x & 1,
        lambda: ~x,
        lambda: x + "a",
        lambda: x.reshape(5),
    ]
    return texts_of(calls)


@cases(np.arange(4.0), np.ones(2))
def a_store_that_is_refused(x, other):
    try:
        x += other
    except ValueError as error:
        return str(error), x
    return None


@cases(np.arange(4.0))
def shapes_of_which_some_fit(x):
    total = 0
    for i in range(6):
        try:
            x = x + np.ones(i)
        except ValueError:
            total += i
    return x, total


@cases(np.arange(4.0), np.ones(2), raises=ValueError)
def an_exception_that_no_handler_catches(x, other):
    try:
        return x + other
    except TypeError:
        return x
    finally:
        x[0] = 5.0


@pytest.mark.parametrize("function, args, options", cases.params)
def test_builtins_take_and_refuse_what_pythons_do(function, args, options):
    check(function, *args, **options)
