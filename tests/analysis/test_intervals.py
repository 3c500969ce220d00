"""How often interval analysis looks at the values of a program whose choices stand one after the other."""

from __future__ import annotations

import pytest

from pystage.compiler.analysis.intervals import Intervals
from pystage.compiler.analysis.ranges import Interval, full
from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.types import FLOAT64, INT64, ArrayType, DType
from pystage.compiler.ops import If, Select
from tests.passes.programs import Code


class _Counting(Intervals):
    """Counts the values that it looks at."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def _compute(self, value: Value) -> Interval:
        self.count += 1
        return super()._compute(value)


def _choices(n: int, kind: type[If | Select]) -> Function:
    """`n` times: `b = b - 1 if a > i else b + 1`."""
    c = Code(ArrayType(INT64), ArrayType(INT64))
    a, b = c.params
    for i in range(n):
        more = c.compare("GT", a, i)
        if kind is If:
            (b,) = c.if_(more, lambda b=b: [c.sub(b, 1)], lambda b=b: [c.add(b, 1)])  # type: ignore[misc]
        else:
            b = c.b.op(Select(), more, c.sub(b, 1), c.add(b, 1))
    return c.done(b)


@pytest.mark.parametrize("kind", [If, Select])
def test_the_number_of_looks_is_proportional_to_the_number_of_choices(kind: type[If | Select]) -> None:
    counts = []
    for n in (8, 16):
        function = _choices(n, kind)
        intervals = _Counting()
        intervals(function.body.results[0])
        counts.append(intervals.count)
    assert counts[1] < 2.5 * counts[0]


def _looks_while_it_is_built(n: int, dtype: DType) -> int:
    """`n` times: `a = a - b if a > i else a`, and `b = b + 1` in the other arm. What each arm uses is asked there."""
    c = Code(ArrayType(dtype), ArrayType(dtype))
    a, b = c.params
    intervals = _Counting()
    for i in range(n):
        more = c.compare("GT", a, i)
        for taken in (True, False):
            with intervals.under(more, taken):
                intervals(a if taken else b)
        a, b = c.if_(more, lambda a=a, b=b: [c.sub(a, b), b], lambda a=a, b=b: [a, c.add(b, 1)])  # type: ignore[misc]
    return intervals.count


@pytest.mark.parametrize("dtype", [INT64, FLOAT64])
def test_what_one_choice_needs_is_found_out_once_for_all_that_follow(dtype: DType) -> None:
    assert _looks_while_it_is_built(64, dtype) < 2.2 * _looks_while_it_is_built(32, dtype)


def test_facts_near_a_value_say_more_of_it_than_is_remembered() -> None:
    c = Code(ArrayType(INT64), ArrayType(INT64))
    a, b = c.params
    place = c.add(a, 3)
    intervals = Intervals()
    with intervals.under(c.compare("LT", b, 0), True):
        assert intervals(place) == full(INT64)
    with intervals.under(c.compare("LT", a, 5), True), intervals.under(c.compare("GE", a, 0), True):
        assert intervals(place) == (3, 7)
    with intervals.under(c.compare("GE", a, 1), True):
        assert intervals(c.sub(b, a)) == full(INT64)
    assert intervals(place) == full(INT64)


@pytest.mark.parametrize("kind", [If, Select])
def test_what_a_number_is_not_tells_which_choice_gave_it(kind: type[If | Select]) -> None:
    c = Code(ArrayType(INT64), ArrayType(INT64))
    a, b = c.params
    more = c.compare("GT", a, 3)
    if kind is If:
        (length,) = c.if_(more, lambda: [c.value(0)], lambda: [c.value(5)])
    else:
        length = c.b.op(Select(), more, c.value(0), c.value(5))
    known = Intervals()
    nonzero = c.compare("NE", length, 0)
    assert known.decides(more) is None
    with known.under(nonzero, True):
        assert known.decides(more) is False
        assert known(length) == (5, 5)
        assert known(a) == (full(INT64)[0], 3)
    with known.under(nonzero, False):
        assert known.decides(more) is True
    with known.under(c.compare("NE", b, 0), True):
        assert known.decides(more) is None
