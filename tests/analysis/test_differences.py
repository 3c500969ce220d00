"""Symbolic differences: exact where the same numbers stand on both sides, and never narrower than the truth."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pystage.compiler.analysis.differences import difference, polynomial
from pystage.compiler.analysis.intervals import Intervals
from pystage.compiler.analysis.ranges import Interval
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Value
from pystage.compiler.hlo.types import INT32, INT64, ArrayType, DType
from pystage.compiler.ops import Convert, Divide, Maximum, Minimum, Select
from tests.passes.programs import Code

LEAST, MOST = -(2**63), 2**63 - 1
"""The ends of an int64."""


class Numbers(Code):
    """A program of integer parameters, of which the ranges are given."""

    def __init__(self, *ranges: Interval | None, dtype: DType = INT64) -> None:
        super().__init__(*[ArrayType(dtype)] * len(ranges))
        self.intervals = Intervals()
        for param, known in zip(self.params, ranges, strict=True):
            if known is not None:
                self.intervals.assume_range(param, known)

    def apart(self, a: Value | int, b: Value | int) -> Interval:
        """The range of `a - b`."""
        return difference(a, b, self.intervals)

    def min(self, x: Value, y: Value | int) -> Value:
        """`min(x, y)`."""
        return self.b.op(Minimum(), x, self.value(y, x.type.dtype))

    def max(self, x: Value, y: Value | int) -> Value:
        """`max(x, y)`."""
        return self.b.op(Maximum(), x, self.value(y, x.type.dtype))


def test_what_is_on_both_sides_cancels_out() -> None:
    c = Numbers((0, 100), (1, 8))
    i, b = c.params
    assert c.apart(c.add(i, 5), i) == (5, 5)
    assert c.apart(c.mul(c.add(i, 1), b), c.mul(i, b)) == (1, 8)
    assert c.apart(c.add(c.add(i, b), 1), c.sub(i, b)) == (3, 17)
    assert c.apart(i, i) == (0, 0)
    assert c.apart(i, 3) == (-3, 97)
    assert c.apart(100, i) == (0, 100)
    assert c.apart(7, 3) == (4, 4)
    assert polynomial(c.add(i, b), c.sub(i, 3), c.intervals) == {(b,): 1, (): 3}


def test_quotients_are_looked_through() -> None:
    c = Numbers((0, 100), (0, 100))
    i, n = c.params
    three = c.value(3, INT64)
    length = c.sub(c.min(c.add(i, 7), n), i)
    assert c.apart(c.b.op(Divide(), c.add(length, 2), three), 0)[1] == 3
    assert c.apart(c.b.op(Divide(), c.sub(i, c.add(i, 7)), three), 1) == (-3, -3)


def test_minima_maxima_and_choices_are_looked_through() -> None:
    c = Numbers((0, 100), (0, 100))
    i, n = c.params
    first, last = c.max(c.sub(i, 3), 0), c.min(c.add(i, 4), n)
    assert c.apart(last, first) == (-97, 7)
    assert c.apart(c.min(c.add(i, 4), 50), i) == (-50, 4)
    assert c.apart(i, c.max(c.sub(i, 2), 0)) == (0, 2)
    less = c.compare("LT", i, n)
    assert c.apart(c.b.op(Select(), less, i, n), n) == (-100, 0)
    assert c.apart(c.b.op(Select(), less, n, i), n) == (0, 100)
    other = c.compare("LT", n, 7)
    assert c.apart(c.b.op(Select(), other, c.add(i, 1), c.sub(i, 2)), i) == (-2, 1)
    (arm,) = c.if_(other, lambda: [c.add(i, 1)], lambda: [c.add(i, 9)])
    assert c.apart(arm, i) == (1, 9)
    (arm,) = c.if_(less, lambda: [i], lambda: [n])
    assert c.apart(arm, n) == (-100, 0)
    (arm,) = c.if_(less, lambda: [n], lambda: [i])
    assert c.apart(arm, n) == (0, 100)
    (arm,) = c.if_(less, lambda: [c.add(i, n)], lambda: [c.add(n, i)])
    assert c.apart(arm, i) == (0, 100)


def test_numbers_that_are_clipped_alike_are_no_further_apart() -> None:
    c = Numbers((0, 100), (0, 100))
    i, n = c.params
    assert c.apart(c.min(c.add(i, 4), n), c.min(i, n)) == (0, 4)
    assert c.apart(c.max(i, n), c.max(n, c.add(i, 4))) == (-4, 0)
    first, last = c.min(c.max(c.sub(i, 3), 0), n), c.min(c.max(c.add(i, 2), 0), n)
    assert c.apart(last, first) == (0, 5)
    assert c.apart(c.add(last, last), c.mul(first, 2)) == (0, 10)
    assert c.apart(c.min(c.add(i, 4), n), c.max(i, n)) == (-100, 0)


def test_a_difference_that_may_have_wrapped_around_keeps_its_upper_end() -> None:
    c = Numbers(None, (0, MOST - 3))
    anything, held = c.params
    low, high = c.apart(c.add(anything, 3), anything)
    assert low <= 3 - 2**64 and high == 3
    assert c.apart(c.add(held, 3), held) == (3, 3)
    low, high = c.apart(c.sub(anything, 3), anything)
    assert (low, high) == (-3, 2**64 - 3)


def test_a_conversion_that_keeps_the_number_is_looked_through() -> None:
    c = Numbers((0, 100), dtype=INT32)
    (i,) = c.params
    wide = c.b.op(Convert(INT64), c.add(i, 5))
    assert c.apart(wide, c.b.op(Convert(INT64), i)) == (5, 5)
    assert c.apart(wide, i) == (5, 5)
    any_ = Numbers(None, dtype=INT32)
    (i,) = any_.params
    low, high = any_.apart(any_.b.op(Convert(INT64), any_.add(i, 5)), any_.b.op(Convert(INT64), i))
    assert low <= 5 - 2**32 and high >= 5


Pair = Callable[[Numbers, Value, Value], tuple[Value, Value]]

PAIRS: dict[str, Pair] = {
    "offset": lambda c, x, y: (c.add(x, 5), x),
    "sum": lambda c, x, y: (c.add(x, y), x),
    "sums": lambda c, x, y: (c.add(x, y), c.sub(x, y)),
    "steps": lambda c, x, y: (c.mul(c.add(x, 1), y), c.mul(x, y)),
    "window": lambda c, x, y: (c.min(c.add(x, 4), 20), c.max(c.sub(x, y), 0)),
    "ends": lambda c, x, y: (c.max(c.min(x, y), -2), c.min(c.add(x, 3), 7)),
    "twice": lambda c, x, y: (c.min(c.mul(x, 2), y), c.max(x, c.mul(y, -3))),
    "clipped": lambda c, x, y: (c.min(c.add(x, 4), y), c.min(x, y)),
    "clipped twice": lambda c, x, y: (c.max(c.min(c.mul(x, 2), y), 0), c.max(c.min(c.sub(x, 3), y), 0)),
    "chosen": lambda c, x, y: (c.b.op(Select(), c.compare("GE", x, y), x, c.add(y, 1)), y),
}

ENDS = [(-4, 6), (0, 9), (LEAST, LEAST + 5), (MOST - 5, MOST), (-(2**62), 2**62), None]


@pytest.mark.parametrize("name", PAIRS)
def test_the_range_holds_every_difference_of_a_run(name: str) -> None:
    for ranges in itertools.product(ENDS, ENDS):
        c = Numbers(*ranges)
        a, b = PAIRS[name](c, *c.params)
        low, high = c.apart(a, b)
        function = c.done(a, b)
        for x, y in itertools.product(*map(_samples, ranges)):
            first, last = [int(v) for v in interpret(function, [np.int64(x), np.int64(y)])]
            assert low <= first - last <= high, (ranges, x, y)


def _samples(known: Sequence[int] | None) -> list[int]:
    low, high = (LEAST, MOST) if known is None else known
    return sorted({low, low + 1, (low + high) // 2, high - 1, high})
