"""Interval analysis: the minimum and the maximum of a value of the program.

In: a value, and the facts that hold at the point of the query (`under` a condition, in the body of a loop). Out: an
interval. Facts that hold in a region open a layer. Results are memoised in the layer of the innermost fact that they
needed, so that they outlive all other layers: a value is analysed once, and again only under facts that say more of it.
The analysis eliminates checks: of indices, of divisors, of integer overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, cast

from .. import limits
from ..hlo.ir import Op, Region, Value
from ..hlo.types import is_floating, is_integer
from ..ops import Add, And, Case, Compare, Constant, Convert, If, Not, Or, ReduceWith, Select, Subtract, While
from ..speculation import Balanced, Declarations, Fixed, Grows, Journaled
from .induction import InductionVariable, most_trips, recurrence
from .ranges import FALSE, TRUE, Interval, full, hull, meet, within
from .transfer import BY_POSITION, transfer

_NEGATED = {"LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT", "EQ": "NE", "NE": "EQ"}
_SWAPPED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ", "NE": "NE"}

Facts = dict[Value, Interval]


Found = tuple[Interval, int, int, int]
"""The interval of a value as it was found out; the layers whose facts it was found with, a bit for each; and, if limits cut
it short, how many choices and loops were open: where as many are, there is no more to find out."""


def _arms(value: Value) -> list[tuple[Value, Value]]:
    """The two values of which a branch or a selection gives one, each with the other: first that of the true condition."""
    op = cast(Op, value.owner)
    arms = [r.results[value.index] for r in op.regions] or op.operands[1:]
    return [(arms[0], arms[1]), (arms[1], arms[0])]


class Knowing:
    """The time during which facts hold; what needs them is forgotten with them."""

    __slots__ = ("_intervals", "_new")

    def __init__(self, intervals: Intervals, new: Facts) -> None:
        self._intervals = intervals
        self._new = new

    def __enter__(self) -> None:
        self._intervals.open(self._new)

    def __exit__(self, *exception: object) -> None:
        self._intervals.close()


class Intervals:
    """The intervals of the values of one program."""

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "facts": Journaled(),
            "_told_of": Journaled("the layers that are open"),
            "layers": Journaled("what was found out with none of the facts that are forgotten stays"),
            "needs": Balanced("it has a meaning only while a question is answered"),
            "_speculations": Journaled(),
            "_told": Fixed(),
            "_left": Grows("work that was done for nothing is done"),
            "_cut": Balanced("it has a meaning only while a question is answered"),
            "_depth": Balanced(),
            "_nested": Balanced(),
            "_choices": Balanced(),
        }
    )

    def __init__(self, step: Callable[..., None] = lambda steps=1: None, most: float = float("inf")) -> None:
        self._told = step  # of each value that is found out, or looked at again; of many operands, of how many more steps
        self._left = most
        """How many values may still be analysed; the others get the whole range of their type."""
        self.facts: list[Facts] = [{}]
        """The facts that hold, innermost layer last."""
        self._told_of: dict[Value, list[int]] = {}
        """By value, the layers that have facts of it, innermost last."""
        self.layers: list[dict[Value, Found]] = [{}]
        """Intervals memoised per layer: each needed the facts of this layer and of none further in."""
        self.needs = 0
        """The layers whose facts what is being found out needs so far."""
        self._speculations: list[int] = []  # of the open ones: how many layers there were
        self._cut = False  # a limit has cut short what is being found out
        self._depth = 0
        self._nested = 0
        self._choices = 0

    # -- questions

    def __call__(self, value: Value) -> Interval:
        """The interval of a value, as far as it is known here."""
        found = self._find(value)
        for level in self._told_of.get(value, ()):
            found = meet(found, self.facts[level][value])
            self.needs |= 1 << level
        return found

    def decides(self, condition: Value) -> bool | None:
        """The truth of a boolean, if it is certain."""
        low, high = self(condition)
        return bool(low) if low == high else None

    def _step(self) -> None:
        self._left -= 1
        self._told()

    def _find(self, value: Value) -> Interval:
        known = self.layers[-1].get(value)
        if known is None or known[2] > self._choices or known[3] > self._nested:
            known = self._look(value)
        interval, needs, choices, nested = known
        self.needs |= needs
        if choices or nested:
            self._cut = True
        return interval

    def _look(self, value: Value) -> Found:
        """The memoised interval of a value under fewer facts if the newer ones do not refine it, else the refined one."""
        level = len(self.layers) - 1
        known = None
        while level >= 0 and (known := self.layers[level].get(value)) is None:
            level -= 1
        if self._depth > limits.INTERVAL_DEPTH or self._left <= 0:
            return known or (full(value.type.dtype), 1 << len(self.layers) - 1, 0, 0)
        if known is None or known[2] > self._choices or known[3] > self._nested:
            return self._found_out(value, known)
        if any(self.facts[level + 1 :]):
            self._step()
            if self._is_concerned(value, level):
                return self._found_out(value, known)
        self.layers[-1][value] = known
        return known

    def _is_concerned(self, value: Value, level: int) -> bool:
        """True if facts of layers further in than `level` are of values near, from which `value` was computed."""
        told_of = self._told_of
        pending = list(_sources(value))
        for source in pending:
            levels = told_of.get(source)
            if levels and levels[-1] > level:
                return True
            if len(pending) < limits.INTERVAL_NEAR:
                pending += _sources(source)
        return False

    def _found_out(self, value: Value, known: Found | None) -> Found:
        """Looks at a value, and remembers what it finds as far out as that holds; `known` says less or the same."""
        before, cut_before = self.needs, self._cut
        self.needs, self._cut = 0, False
        self._depth += 1
        try:
            interval = self._compute(value)
        finally:
            self._depth -= 1
        needs, cut = self.needs, self._cut
        self.needs, self._cut = before, cut_before
        if known is not None:
            interval = meet(interval, known[0])
            needs |= known[1]
        found = (interval, needs, self._choices, self._nested) if cut else (interval, needs, 0, 0)
        self.layers[-1][value] = found
        if known is None or known[2] or known[3] or not cut:
            self.layers[needs.bit_length() - 1 if needs else 0][value] = found
        return found

    def _compute(self, value: Value) -> Interval:
        self._step()
        op = value.owner
        dtype = value.type.dtype
        if isinstance(op, Region) or dtype.kind not in "biuf":
            return full(dtype)
        kind = op.kind
        if isinstance(kind, Select):
            return self._select(op)
        if isinstance(kind, If):
            arms = [
                self._in_arm(op, region.results[value.index], taken)
                for region, taken in zip(op.regions, (True, False), strict=True)
                if self.decides(op.operands[0]) in (taken, None)
            ]
            return hull(*arms)
        if isinstance(kind, Case):
            return hull(*[self(region.results[value.index]) for region in op.regions])
        if isinstance(kind, While):
            return self._after_loop(op, value.index)
        if isinstance(kind, ReduceWith):
            return self._reduced(op, value.index)
        if isinstance(kind, BY_POSITION):
            return self(op.operands[value.index])
        if len(op.results) != 1 or op.regions:
            return full(dtype)
        self._told(len(op.operands) // limits.OPERANDS_PER_STEP)
        return transfer(op, [self(v) for v in op.operands])

    def _reduced(self, op: Op, index: int) -> Interval:
        """One result of combining elements with a region: what goes in, if nothing else can come out of it."""
        region = op.regions[0]
        count = len(op.results)
        known = [hull(self(op.operands[i]), self(op.operands[count + i])) for i in range(count)]
        with self.knowing(dict(zip(region.params, (*known, *known), strict=True))):
            found = self(region.results[index])
        return known[index] if meet(found, known[index]) == found else full(op.results[index].type.dtype)

    def _in_arm(self, op: Op, value: Value, taken: bool) -> Interval:
        with self._choosing(op.operands[0], taken):
            return self(value)

    @contextmanager
    def _choosing(self, condition: Value, taken: bool) -> Iterator[None]:
        """Where a choice is looked at that gave a value. What was found out there is forgotten, so that to look at
        each choice that led to this one in two ways again would take twice as long with every one."""
        if self._choices >= limits.INTERVAL_NESTED:
            self._cut = True
            yield
            return
        self._choices += 1
        try:
            with self.under(condition, taken):
                yield
        finally:
            self._choices -= 1

    def _select(self, op: Op) -> Interval:
        condition, *choices = op.operands
        decided = self.decides(condition)
        if decided is not None:
            return self(choices[0] if decided else choices[1])
        found = []
        for choice, taken in zip(choices, (True, False), strict=True):
            with self._choosing(condition, taken):
                found.append(self(choice))
        return hull(*found)

    # -- facts

    @contextmanager
    def under(self, condition: Value, truth: bool) -> Iterator[None]:
        """Assumes in the `with` block that `condition` is `truth`."""
        facts: Facts = {}
        self._assume(facts, condition, truth, 8)
        with self.knowing(facts):
            yield

    def assume(self, condition: Value, truth: bool) -> None:
        """Assumes that `condition` is `truth` until the enclosing `with` block ends."""
        facts: Facts = {}
        self._assume(facts, condition, truth, 8)
        self.keep(facts)

    def assume_range(self, value: Value, range: Interval) -> None:
        """Assumes that `value` is in this range, and its operands in theirs, until the enclosing `with` block ends."""
        facts: Facts = {}
        self._refine(facts, value, range, 8)
        self.keep(facts)

    def narrow(self, value: Value, range: Interval) -> None:
        """Assumes that `value` is in this range, where less is known, until the enclosing `with` block ends."""
        found = self(value)
        narrower = meet(found, range)
        if narrower != found:
            self.keep({value: narrower})

    def keep(self, facts: Facts) -> None:
        """Assumes these facts until the enclosing `with` block ends."""
        if self._speculations and self._speculations[-1] == len(self.facts):
            self.open({})
        known = self.facts[-1]
        for value, fact in facts.items():
            if value in known:
                known[value] = meet(known[value], fact)
            else:
                known[value] = fact
                self._told_of.setdefault(value, []).append(len(self.facts) - 1)

    def begin(self) -> int:
        """Begins a speculation. Its first fact opens a layer of its own."""
        self._speculations.append(len(self.facts))
        return len(self.facts)

    def commit(self, mark: int) -> None:
        """Keeps the facts of the speculation in the layer around it."""
        facts = self._end(mark)
        if facts:
            self.keep(facts)

    def roll_back(self, mark: int) -> None:
        """Drops the facts of the speculation, and all intervals that needed them."""
        self._end(mark)

    def _end(self, mark: int) -> Facts:
        self._speculations.pop()
        if len(self.facts) == mark:
            return {}
        return self.close()

    def open(self, facts: Facts) -> None:
        """Opens a layer with these facts, for `Knowing`."""
        level = len(self.facts)
        self.facts.append(facts)
        self.layers.append({})
        for value in facts:
            self._told_of.setdefault(value, []).append(level)

    def close(self) -> Facts:
        """Closes the innermost layer; gives its facts."""
        self.layers.pop()
        self.needs &= (1 << len(self.layers)) - 1
        facts = self.facts.pop()
        for value in facts:
            self._told_of[value].pop()
        return facts

    def knowing(self, facts: Mapping[Value, Interval]) -> Knowing:
        """Assumes in the `with` block that these values are in these intervals."""
        return Knowing(self, dict(facts))

    def _assume(self, facts: Facts, condition: Value, truth: bool, depth: int) -> None:
        """Adds what follows from `condition` being `truth`."""
        op = condition.owner
        facts[condition] = TRUE if truth else FALSE
        if not isinstance(op, Op) or not depth:
            return
        kind, operands = op.kind, op.operands
        if isinstance(kind, Not) and condition.type.dtype == operands[0].type.dtype:
            self._assume(facts, operands[0], not truth, depth - 1)
        elif isinstance(kind, And if truth else Or):
            for each in operands:
                self._assume(facts, each, truth, depth - 1)
        elif isinstance(kind, Compare) and not condition.type.shape:
            direction = kind.direction if truth else _NEGATED[kind.direction]
            left, right = map(self, operands)
            self._refine(facts, operands[0], _within(direction, operands[0], left, right), depth)
            self._refine(facts, operands[1], _within(_SWAPPED[direction], operands[1], right, left), depth)
        elif isinstance(kind, If | Select):
            for side, (arm, other) in enumerate(_arms(condition)):
                certain = side == 0 if arm is operands[0] else self.decides(arm)
                if certain == (not truth):
                    self._assume(facts, operands[0], bool(side), depth - 1)
                    self._assume(facts, other, truth, depth - 1)

    def _refine(self, facts: Facts, value: Value, interval: Interval, depth: int) -> None:
        """Adds that `value` is in `interval`, and what follows for what it was computed from."""
        op = value.owner
        if isinstance(op, Op) and isinstance(op.kind, Constant):
            return
        known = facts.get(value, self(value))
        facts[value] = meet(known, interval)
        if not isinstance(op, Op) or not depth or not is_integer(value.type.dtype):
            return
        low, high = facts[value]
        if isinstance(op.kind, Add | Subtract):
            x, y = op.operands
            size = self(y)
            if size[0] != size[1] and isinstance(op.kind, Add):
                x, y = y, x
                size = self(y)
            moved = size[0] if isinstance(op.kind, Add) else -size[0]
            start = self(x)
            exact = (start[0] + moved, start[1] + moved)
            if size[0] == size[1] and within(exact, value.type.dtype) == exact:
                self._refine(facts, x, (low - moved, high - moved), depth - 1)
        elif isinstance(op.kind, Convert) and is_integer(op.operands[0].type.dtype):
            source = self(op.operands[0])
            if within(source, value.type.dtype) == source:
                self._refine(facts, op.operands[0], (low, high), depth - 1)
        elif isinstance(op.kind, If | Select) and not op.operands[0].type.shape:
            for side, (arm, other) in enumerate(_arms(value)):
                least, most = self(arm)
                if most < low or high < least:
                    self._assume(facts, op.operands[0], bool(side), depth - 1)
                    self._refine(facts, other, (low, high), depth - 1)

    # -- loops

    def _after_loop(self, op: Op, index: int) -> Interval:
        """The interval of a `While`'s result: of its initial value, or of the value after a trip."""
        body = op.regions[1]
        start, param = self(op.operands[index]), body.params[index]
        if body.results[index] is param:
            return start
        found = recurrence(body.results[index], param, self)
        if found is not None:
            return within(InductionVariable(start, found, most_trips(op)).after, param.type.dtype)
        if self._nested >= limits.INTERVAL_NESTED:
            self._cut = True
            return full(param.type.dtype)
        with self._in_body(op):
            end = self(body.results[index])
        return hull(start, end)

    @contextmanager
    def _in_body(self, op: Op) -> Iterator[None]:
        """In the body of a loop, of which little is known yet."""
        self._nested += 1
        try:
            with self.knowing(self._of_condition(op)):
                yield
        finally:
            self._nested -= 1

    def _of_condition(self, op: Op) -> Facts:
        """The facts that the condition implies for the parameters of the body."""
        condition, body = op.regions
        facts: Facts = {}
        with self.knowing({}):
            self._assume(facts, condition.results[0], True, 8)
        renamed = dict(zip(condition.params, body.params, strict=True))
        return {renamed[v]: interval for v, interval in facts.items() if v in renamed}

    @contextmanager
    def in_loop(self, op: Op) -> Iterator[None]:
        """In the body of a loop of a whole program: with what its parameters can be in any trip.

        What was found out in the `with` block says more of the results of the loop.
        """
        facts = self._of_condition(op)
        body = op.regions[1]
        for index, param in enumerate(body.params):
            if param.type.shape or param.type.dtype.kind not in "biu":
                continue
            start, dtype = self(op.operands[index]), param.type.dtype
            if body.results[index] is param:
                found = start
            else:
                added = recurrence(body.results[index], param, self)
                found = full(dtype)
                if added is not None:
                    found = within(InductionVariable(start, added, most_trips(op)).during, dtype)
            facts[param] = meet(found, facts.get(param, full(dtype)))
        open_ends = [i for i, p in enumerate(body.params) if p in facts and facts[p] == full(p.type.dtype)]
        if open_ends and self._nested < limits.INTERVAL_NESTED:
            self._nested += 1
            try:
                with self.knowing(facts):
                    ends = {i: self(body.results[i]) for i in open_ends}
            finally:
                self._nested -= 1
            for i, end in ends.items():
                facts[body.params[i]] = hull(self(op.operands[i]), end)
        with self.knowing(facts):
            yield
            last = {i: self(r) for i, r in enumerate(body.results) if body.params[i] in facts}
        for i, end in last.items():
            result = op.results[i]
            interval = meet(hull(self(op.operands[i]), end), self(result))
            self.layers[-1][result] = interval, 1 << len(self.layers) - 1, 0, 0


def _sources(value: Value) -> Sequence[Value]:
    """The operands of a value's definition."""
    op = value.owner
    if isinstance(op, Region):
        return ()
    if isinstance(op.kind, While):
        return op.operands[value.index], op.regions[1].results[value.index]
    if isinstance(op.kind, If | Case):
        return op.operands[0], *[region.results[value.index] for region in op.regions]
    return op.operands


def _within(direction: str, value: Value, own: Interval, other: Interval) -> Interval:
    """The interval of the value, which is in its `own`, that `value direction other` implies."""
    step = 0 if is_floating(value.type.dtype) else 1
    match direction:
        case "LT":
            return -math.inf, other[1] - step
        case "LE":
            return -math.inf, other[1]
        case "GT":
            return other[0] + step, math.inf
        case "GE":
            return other[0], math.inf
        case "EQ":
            return other
    if other[0] == other[1] and step:
        low, high = own
        return low + (low == other[0]), high - (high == other[0])
    return -math.inf, math.inf
