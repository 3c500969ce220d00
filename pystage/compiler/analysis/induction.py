"""Induction analysis: integers that a loop changes by additions, their ranges, and how often the loop runs.

In: a loop, of HLO IR or of stage IR. Out: its recurrences, induction variables and trip count. A recurrence says what
one trip adds to a value. An induction variable is a recurrence with an initial value and a trip count; its range in
every trip (`during`) and behind the loop (`after`) follow. The trip count need not be known: no program makes more than
2**50 additions, so that a counter with a constant step keeps within 64 bits.

`recurrence` reads a finished body of HLO IR. `recurrences` reads the source, for loops whose body is yet to be inferred.
Other carried integers keep the bounds that a trip does not move (`widened`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator

from .. import limits
from ..hlo.ir import Op, Value
from ..hlo.types import is_integer
from ..ops import Add, And, Compare, Constant, If, Select, Subtract, While
from ..stage import ir as stage
from ..stage.walk import walk
from .ranges import Interval, full


class Recurrence:
    """The sum that one trip adds, between `low` and `high`, by additions between `down` and `up`."""

    __slots__ = ("down", "high", "low", "up")

    def __init__(self, low: float, high: float, down: float, up: float) -> None:
        self.low = low
        self.high = high
        self.down = down
        self.up = up

    @property
    def step(self) -> int | None:
        """The constant step, if every trip adds the same."""
        return int(self.low) if self.low == self.high and math.isfinite(self.low) else None


UNCHANGED = Recurrence(0, 0, 0, 0)


class InductionVariable:
    """An integer that a loop carries: its initial value, what a trip adds, and the most trips (None: not known)."""

    __slots__ = ("initial", "recurrence", "trips")

    def __init__(self, initial: Interval, recurrence: Recurrence, trips: int | None) -> None:
        self.initial = initial
        self.recurrence = recurrence
        self.trips = trips

    @property
    def after(self) -> Interval:
        """Its range behind the loop, as exact integers."""
        return self._within(math.inf if self.trips is None else self.trips)

    @property
    def during(self) -> Interval:
        """Its range at the beginning of any trip."""
        return self._within(math.inf if self.trips is None else max(self.trips - 1, 0))

    def _within(self, count: float) -> Interval:
        """The range after `count` trips or fewer."""
        r = self.recurrence
        low = max(_times(min(r.low, 0), count), min(r.down, 0) * limits.INDUCTION_TRIPS)
        high = min(_times(max(r.high, 0), count), max(r.up, 0) * limits.INDUCTION_TRIPS)
        return self.initial[0] + low, self.initial[1] + high


def widened(before: Interval, after: Interval) -> Interval:
    """The widening of a carried integer's range: a bound that a trip moves is given up, but for 0 below."""
    low = before[0]
    if after[0] < low:
        low = 0 if after[0] >= 0 else -math.inf
    return low, math.inf if after[1] > before[1] else before[1]


# -- of a finished loop


def recurrence(value: Value, begin: Value, ranges: Callable[[Value], Interval]) -> Recurrence | None:
    """The recurrence from `begin` to `value`; None if there is more to it than additions.

    `ranges` gives the intervals of the values that are added.
    """
    return _Additions(ranges).of(value, begin)


class _Additions:
    """Follows a value back to the one that it began with."""

    def __init__(self, ranges: Callable[[Value], Interval]) -> None:
        self._ranges = ranges
        self._left = limits.INDUCTION_DEPTH

    def of(self, value: Value, begin: Value) -> Recurrence | None:
        op = value.owner
        if value is begin:
            return UNCHANGED
        self._left -= 1
        if not isinstance(op, Op) or self._left < 0 or not is_integer(value.type.dtype):
            return None
        match op.kind:
            case Add():
                x, y = op.operands
                return self._sum(x, y, begin) or self._sum(y, x, begin)
            case Subtract():
                return self._sum(op.operands[0], op.operands[1], begin, -1)
            case Select():
                return self._either(op.operands[1:], begin)
            case If():
                return self._either([r.results[value.index] for r in op.regions], begin)
            case While():
                return self._loop(op, value.index, begin)
        return None

    def _sum(self, x: Value, y: Value, begin: Value, sign: int = 1) -> Recurrence | None:
        before = self.of(x, begin)
        if before is None:
            return None
        low, high = self._ranges(y)
        if (low, high) == full(y.type.dtype):
            return None
        if sign < 0:
            low, high = -high, -low
        return Recurrence(before.low + low, before.high + high, min(before.down, low), max(before.up, high))

    def _either(self, values: Iterable[Value], begin: Value) -> Recurrence | None:
        known: list[Recurrence] = []
        for value in values:
            found = self.of(value, begin)
            if found is None:
                return None
            known.append(found)
        return Recurrence(
            min(r.low for r in known),
            max(r.high for r in known),
            min(r.down for r in known),
            max(r.up for r in known),
        )

    def _loop(self, op: Op, index: int, begin: Value) -> Recurrence | None:
        """The sum that the trips of an inner loop add."""
        before = self.of(op.operands[index], begin)
        body = op.regions[1]
        inner = self.of(body.results[index], body.params[index])
        if before is None or inner is None:
            return None
        trips = most_trips(op)
        count = math.inf if trips is None else trips
        return Recurrence(
            before.low + _times(min(inner.low, 0), count),
            before.high + _times(max(inner.high, 0), count),
            min(before.down, inner.down),
            max(before.up, inner.up),
        )


def most_trips(loop: Op) -> int | None:
    """How often a loop runs at most, where that is known: by one of the comparisons that must hold for a trip."""
    assert isinstance(loop.kind, While)
    if loop.kind.trip_count is not None:
        return loop.kind.trip_count
    found = [_trips(loop, test) for test in _conjuncts(loop.regions[0].results[0])]
    return min([trips for trips in found if trips is not None], default=None)


def exact_trips(loop: Op) -> int | None:
    """How often a loop runs, where its condition compares a counter with a constant and nothing else; else None.

    A loop that may end early (`break`, an exception) has a condition that says more.
    """
    return _trips(loop, loop.regions[0].results[0])


def _conjuncts(condition: Value) -> Iterator[Value]:
    """The values that are all true where a condition is."""
    owner = condition.owner
    if isinstance(owner, Op) and isinstance(owner.kind, And):
        for operand in owner.operands:
            yield from _conjuncts(operand)
    elif isinstance(owner, Op) and isinstance(owner.kind, Select) and _is_false(owner.operands[2]):
        for operand in owner.operands[:2]:
            yield from _conjuncts(operand)
    else:
        yield condition


def _is_false(value: Value) -> bool:
    owner = value.owner
    return isinstance(owner, Op) and isinstance(owner.kind, Constant) and not owner.kind.data.any()


def _trips(loop: Op, tested: Value) -> int | None:
    """How often a counter passes a test against a constant, which is how often the loop runs if nothing else ends it."""
    condition, body = loop.regions
    test = tested.owner
    if not isinstance(test, Op) or not isinstance(test.kind, Compare):
        return None
    counter, limit = test.operands
    if counter.owner is not condition:
        return None
    index = counter.index
    start, end = _constant(loop.operands[index]), _constant(limit)
    found = recurrence(body.results[index], body.params[index], _of_constant)
    step = None if found is None else found.step
    if start is None or end is None or step is None:
        return None
    match test.kind.direction:
        case "LT" if step > 0:
            return len(range(start, end, step))
        case "LE" if step > 0:
            return len(range(start, end + 1, step))
        case "GT" if step < 0:
            return len(range(start, end, step))
        case "GE" if step < 0:
            return len(range(start, end - 1, step))
    return None


def _of_constant(value: Value) -> Interval:
    found = _constant(value)
    return full(value.type.dtype) if found is None else (found, found)


def _constant(value: Value) -> int | None:
    """A constant integer."""
    owner = value.owner
    if not isinstance(owner, Op) or not isinstance(owner.kind, Constant):
        return None
    array = owner.kind.data
    return int(array) if array.dtype.kind in "iu" and array.shape == () else None


def _times(a: float, b: float) -> float:
    return 0 if not a or not b else a * b


# -- of a loop of the source


@functools.lru_cache(maxsize=4096)
def recurrences(loop: stage.Instr) -> dict[str, Recurrence]:
    """The recurrences of the local variables that a loop of the source changes by adding constants only.

    An inner loop may make any number of these additions, so that only each of them is bounded.
    """
    loaded: dict[str, str] = {}
    constants: dict[str, int] = {}
    sums: dict[str, tuple[str, int]] = {}
    found: dict[str, tuple[int, int]] = {}
    others: set[str] = set()
    for i in walk([loop]):
        match i:
            case stage.Load(dst=dst, name=name, scope=stage.StorageClass.LOCAL):
                loaded[dst] = name
            case stage.Constant(dst=dst, value=int(value)):
                constants[dst] = value
            case (
                stage.Binary(dst=dst, op="+" | "-" as op, left=left, right=right)
                | stage.Inplace(dst=dst, op="+" | "-" as op, left=left, right=right)
            ):
                if left in loaded and right in constants:
                    sums[dst] = loaded[left], constants[right] if op == "+" else -constants[right]
                elif right in loaded and left in constants and op == "+":
                    sums[dst] = loaded[right], constants[left]
            case stage.Store(name=name, src=src, scope=stage.StorageClass.LOCAL) if (
                sums.get(src, ("",))[0] == name
            ):
                down, up = found.get(name, (0, 0))
                found[name] = min(down, sums[src][1]), max(up, sums[src][1])
            case stage.Store(name=name) | stage.Delete(name=name):
                others.add(name)
    return {
        name: Recurrence(_times(down, math.inf), _times(up, math.inf), down, up)
        for name, (down, up) in found.items()
        if name not in others
    }
