"""Recurrences, ranges and trip counts of loops, of HLO IR and of the source."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from pystage.compiler import limits
from pystage.compiler.analysis.induction import (
    InductionVariable,
    Recurrence,
    exact_trips,
    most_trips,
    recurrence,
    recurrences,
    widened,
)
from pystage.compiler.analysis.intervals import Intervals
from pystage.compiler.analysis.ranges import Interval
from pystage.compiler.frontend.entry import stage_function
from pystage.compiler.hlo.ir import Op, Value
from pystage.compiler.hlo.types import BOOL, INT64, ArrayType
from pystage.compiler.ops import Select
from pystage.compiler.stage import ir as stage
from tests.passes.programs import Code, Operand

LOOPS: list[tuple[str, int, int, int]] = [
    ("LT", 0, 10, 3),
    ("LE", 0, 9, 3),
    ("GT", 10, 0, -3),
    ("GE", 10, 1, -3),
    ("LT", 5, 5, 1),
    ("LT", 7, 5, 1),
]


def _loop(direction: str, start: Operand, end: Operand, step: Callable[[Code, Value], Value]) -> Op:
    c = Code(ArrayType(INT64), ArrayType(BOOL))
    initial = c.params[0] if start is None else start
    results = c.while_([initial], lambda i: c.compare(direction, i, end), lambda i: [step(c, i)])
    owner = results[0].owner
    assert isinstance(owner, Op)
    return owner


@pytest.mark.parametrize(("direction", "start", "end", "step"), LOOPS)
def test_exact_trips_are_those_that_the_loop_makes(direction: str, start: int, end: int, step: int) -> None:
    goes_on = {"LT": int.__lt__, "LE": int.__le__, "GT": int.__gt__, "GE": int.__ge__}[direction]
    trips, i = 0, start
    while goes_on(i, end):
        trips, i = trips + 1, i + step
    assert exact_trips(_loop(direction, start, end, lambda c, i: c.add(i, step))) == trips
    assert exact_trips(_loop(direction, start, end, lambda c, i: c.add(step - 1, c.add(i, 1)))) == trips
    assert exact_trips(_loop(direction, start, end, lambda c, i: c.sub(i, -step))) == trips


def test_a_counter_bounds_the_trips_of_a_loop_that_may_end_early() -> None:
    c = Code(ArrayType(INT64), ArrayType(BOOL))

    def goes_on(i: Value, other: Value) -> Value:
        return c.b.op(Select(), other, c.compare("LT", i, 200), c.value(0, BOOL))

    results = c.while_([1, c.params[1]], goes_on, lambda i, other: [c.add(i, 1), other])
    loop = results[0].owner
    assert isinstance(loop, Op)
    assert exact_trips(loop) is None
    assert most_trips(loop) == 199


def test_trips_are_not_exact_where_the_step_differs_or_the_counter_may_go_astray() -> None:
    either = _loop(
        "LT", 0, 9, lambda c, i: c.if_(c.params[1], lambda: [c.add(i, 1)], lambda: [c.add(i, 2)])[0]
    )
    assert exact_trips(either) is None
    assert exact_trips(_loop("LT", 0, 9, lambda c, i: c.mul(i, 2))) is None
    assert exact_trips(_loop("LT", 0, 9, lambda c, i: c.sub(i, 1))) is None
    assert exact_trips(_loop("NE", 0, 9, lambda c, i: c.add(i, 1))) is None


def _found(body: Callable[[Code, Value, Value], Operand]) -> Recurrence | None:
    """What the body of a loop adds to its second value; the first is a counter below 8."""
    c = Code(ArrayType(BOOL))
    results = c.while_([0, 0], lambda i, _: c.compare("LT", i, 8), lambda i, x: [c.add(i, 1), body(c, i, x)])
    loop = results[0].owner
    assert isinstance(loop, Op)
    region = loop.regions[1]
    return recurrence(region.results[1], region.params[1], Intervals())


def _parts(found: Recurrence | None) -> tuple[float, ...]:
    assert found is not None
    return found.low, found.high, found.down, found.up


def test_a_recurrence_adds_up_branches_sums_and_inner_loops() -> None:
    def branch(c: Code, i: Value, x: Value) -> Value:
        return c.if_(c.params[0], lambda: [c.add(x, 5)], lambda: [c.sub(x, 2)])[0]

    def inner(trips: int | None) -> Callable[[Code, Value, Value], Value]:
        return lambda c, i, x: c.for_(
            i if trips is None else 3, [c.add(x, 1)], lambda j, y: [c.add(y, 2)], trips
        )[0]

    assert _parts(_found(lambda c, i, x: x)) == (0, 0, 0, 0)
    assert _parts(_found(lambda c, i, x: c.add(c.sub(x, 3), 1))) == (-2, -2, -3, 1)
    assert _parts(_found(branch)) == (-2, 5, -2, 5)
    assert _parts(_found(inner(3))) == (1, 7, 0, 2)
    assert _parts(_found(inner(None))) == (1, math.inf, 0, 2)
    assert _found(lambda c, i, x: c.mul(x, 2)) is None
    assert _found(lambda c, i, x: c.add(i, i)) is None


def test_ranges_follow_from_the_initial_value_the_step_and_the_trips() -> None:
    up, down = Recurrence(1, 1, 0, 1), Recurrence(-3, 2, -3, 2)
    assert InductionVariable((0, 0), up, 10).during == (0, 9)
    assert InductionVariable((0, 0), up, 10).after == (0, 10)
    assert InductionVariable((5, 6), down, 4).after == (5 - 12, 6 + 8)
    assert InductionVariable((5, 6), down, 0).during == (5, 6)
    assert InductionVariable((0, 0), up, None).after == (0, limits.INDUCTION_TRIPS)
    assert InductionVariable((1, 1), down, None).after == (
        1 - 3 * limits.INDUCTION_TRIPS,
        1 + 2 * limits.INDUCTION_TRIPS,
    )
    assert InductionVariable((0, 0), Recurrence(0, math.inf, 0, 4), 2).after == (
        0,
        4 * limits.INDUCTION_TRIPS,
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((0, 5), (0, 5), (0, 5)),
        ((3, 5), (4, 4), (3, 5)),
        ((3, 5), (1, 5), (0, 5)),
        ((3, 5), (-1, 5), (-math.inf, 5)),
        ((3, 5), (3, 6), (3, math.inf)),
        ((-math.inf, 5), (0, 5), (-math.inf, 5)),
    ],
)
def test_widening_gives_up_the_bound_that_moves(
    before: Interval, after: Interval, expected: Interval
) -> None:
    assert widened(before, after) == expected


def counting(n, x):  # type: ignore[no-untyped-def]
    up = down = both = scaled = other = 0
    for i in range(n):
        up += 2
        down = down - 1
        if x > i:
            both += 1
        else:
            both -= 4
        scaled = scaled * 2 + 1
        other = 1 + up
    return up, down, both, scaled, other


def _loop_of(instructions: Sequence[stage.Instr]) -> stage.Instr:
    return next(i for i in instructions if isinstance(i, stage.For))


def test_the_source_tells_what_is_added_to_each_variable() -> None:
    found = recurrences(_loop_of(stage_function(counting).body))
    assert {name: (r.down, r.up) for name, r in found.items()} == {
        "up": (0, 2),
        "down": (-1, 0),
        "both": (-4, 1),
    }
    assert (found["up"].low, found["up"].high, found["both"].low) == (0, math.inf, -math.inf)
