"""The range of an exact result holds every result, is tight where the operands are, and takes infinite ends."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import pytest

from pystage.compiler.analysis import ranges
from pystage.compiler.analysis.ranges import ANY, Interval, decide, full, hull, meet, open_ends, within
from pystage.compiler.hlo.types import BOOL, INT64, UINT64

OPERATORS: dict[Callable[[Interval, Interval], Interval], Callable[[Any, Any], Any]] = {
    ranges.add: operator.add,
    ranges.subtract: operator.sub,
    ranges.multiply: operator.mul,
    ranges.floor_divide: operator.floordiv,
    ranges.remainder: operator.mod,
    ranges.power: operator.pow,
    ranges.shift_left: operator.lshift,
    ranges.shift_right: operator.rshift,
    ranges.bit_and: operator.and_,
    ranges.bit_or: operator.or_,
    ranges.bit_xor: operator.xor,
    ranges.maximum: max,
    ranges.minimum: min,
}

TIGHT = (ranges.add, ranges.subtract, ranges.multiply, ranges.floor_divide, ranges.maximum, ranges.minimum)

FINITE: list[tuple[int, int]] = [(-5, -1), (-3, 4), (0, 6), (2, 9), (3, 3), (-4, -4), (0, 0)]


@pytest.mark.parametrize("of", OPERATORS, ids=lambda f: f.__name__)
def test_a_range_holds_every_result(of: Callable[[Interval, Interval], Interval]) -> None:
    plain = OPERATORS[of]
    for x, y in itertools.product(FINITE, FINITE):
        results = []
        for i, j in itertools.product(range(x[0], x[1] + 1), range(y[0], y[1] + 1)):
            try:
                results.append(plain(i, j))
            except (ZeroDivisionError, ValueError):  # it raises, and gives nothing
                continue
        low, high = of(x, y)
        assert all(low <= r <= high for r in results), (of, x, y)
        if of in TIGHT and len(results) == (x[1] - x[0] + 1) * (y[1] - y[0] + 1):
            assert (low, high) == (min(results), max(results)), (of, x, y)


@pytest.mark.parametrize("of", OPERATORS, ids=lambda f: f.__name__)
def test_an_infinite_end_holds_what_every_finite_one_does(
    of: Callable[[Interval, Interval], Interval],
) -> None:
    def opened(x: tuple[int, int]) -> list[Interval]:
        return [x, (-math.inf, x[1]), (x[0], math.inf), ANY]

    for x, y in itertools.product(FINITE, FINITE):
        inner = of(x, y)
        for wide_x, wide_y in itertools.product(opened(x), opened(y)):
            outer = of(wide_x, wide_y)
            assert hull(outer, inner) == outer or ANY in (inner, outer), (of, wide_x, wide_y)


def test_known_ends_give_known_results() -> None:
    inf = math.inf
    assert ranges.floor_divide((-7, inf), (2, 2)) == (-4, inf)
    assert ranges.floor_divide((0, 9), (-2, -2)) == (-5, 0)
    assert ranges.floor_divide((3, 9), (2, inf)) == (0, 4)
    assert ranges.remainder(ANY, (4, 4)) == (0, 3)
    assert ranges.remainder(ANY, (-4, -4)) == (-3, 0)
    assert ranges.remainder((0, 2), (5, 9)) == (0, 2)
    assert ranges.multiply((0, inf), (2, 3)) == (0, inf)
    assert ranges.shift_left((1, 3), (0, 1000)) == (0, inf)
    assert ranges.power((0, 3), (0, 2)) == (0, 9)
    assert ranges.bit_and(ANY, (7, 7)) == (0, 7)
    assert ranges.absolute((-3, 2)) == (0, 3) and ranges.absolute(ANY) == (0, inf)


@pytest.mark.parametrize("direction", ["LT", "LE", "GT", "GE", "EQ", "NE"])
def test_a_comparison_is_decided_where_all_results_agree(direction: str) -> None:
    plain = getattr(operator, direction.lower())
    for x, y in itertools.product(FINITE, FINITE):
        results = {plain(i, j) for i, j in itertools.product(range(x[0], x[1] + 1), range(y[0], y[1] + 1))}
        assert decide(direction, x, y) == (min(results), max(results))


def test_what_leaves_a_type_may_be_anything_of_it() -> None:
    assert within((0, 2**63), INT64) == full(INT64)
    assert within((0, 9), UINT64) == (0, 9)
    assert full(BOOL) == (0, 1)
    assert open_ends(full(INT64), INT64) == ANY
    assert open_ends((0, 2**64), INT64) == (0, math.inf)
    assert meet((0, 5), (3, 9)) == (3, 5)
    assert meet((0, 5), (7, 9)) == (0, 5)
