"""Many lanes at once: a function that computes what another does for each of many lanes.

In: a function, which of its parameters have lanes, and how many there are. Out: a function in which every value
that differs from lane to lane has a leading axis that counts them.

A branch whose condition differs runs both arms and selects, lane by lane. A loop whose condition differs goes on
while any lane does, and keeps the values of lanes that have ended. What runs for some lanes only (`_active`) must
not go on for others: a loop of unknown length inside of it stops as soon as no lane needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..ad.calculus import Calculus
from ..diagnostics.span import Span
from ..hlo.builder import Builder
from ..hlo.calculus import NotBatched
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.types import BOOL, INT64, ArrayType
from ..ops import (
    Add,
    And,
    Call,
    Case,
    Compare,
    Constant,
    If,
    JaxCall,
    Not,
    Or,
    Reduce,
    ReduceWith,
    VjpRule,
    While,
)
from ..ops.batching import later, of_all_lanes
from .ruled import of_all
from .spread import Mask, Spread


class NotMapped(Exception):
    """Raised for what cannot happen in all lanes at once; says what, and where."""

    def __init__(self, what: str, span: Span | None) -> None:
        super().__init__(what)
        self.span = span


@dataclass(frozen=True, slots=True)
class _Key:
    function: Function
    params: Mask
    masked: bool


class Batch:
    """Functions for a number of lanes; each is made once for each set of parameters with lanes.

    `once`: what is the same in all lanes is done once, also where it is done for its effect.
    """

    def __init__(self, lanes: int, once: bool = False) -> None:
        self.lanes = lanes
        self.once = once
        self.spread = Spread()
        self.rules: dict[tuple[VjpRule, Mask, bool], VjpRule] = {}
        """Rules for all lanes, by what they are made of."""
        self._made: dict[_Key, Function] = {}

    def results(self, function: Function, params: Mask) -> Mask:
        """Which results have lanes."""
        return self.spread.results(function, params)

    def function(self, old: Function, params: Mask, masked: bool = False) -> Function:
        """`old` for all lanes. `masked`: one more parameter says which of them are needed."""
        key = _Key(old, params, masked)
        if key not in self._made:
            self._made[key] = _Function(self, old, params, masked).made
        return self._made[key]


class _Function:
    """One function for all lanes: what stands for each of its values, and which of these have lanes."""

    def __init__(self, owner: Batch, old: Function, params: Mask, masked: bool) -> None:
        self._owner = owner
        self._lanes = owner.lanes
        self._spread = owner.spread.of(old.body, [v for v, p in zip(old.body.params, params) if p])
        self._new: dict[Value, Value] = {}
        self._in_vain = False
        """Whether something is computed for lanes that do not use it."""
        types = [self._type(v, p) for v, p in zip(old.body.params, params)]
        body = Region((*types, *([ArrayType(BOOL, (self._lanes,))] if masked else [])))
        self._active: Value | None = body.params[-1] if masked else None
        self._b = Builder(body)
        self._c = Calculus(self._b)
        self._new.update(zip(old.body.params, body.params))
        self._ops(old.body)
        body.results = self._values(old.body.results)
        self.made = old.rewritten(body, "_lanes")
        self.made.catches |= self._in_vain

    # -- values

    def _type(self, value: Value, has_lanes: bool) -> ArrayType:
        return value.type.with_shape((self._lanes, *value.type.static_shape)) if has_lanes else value.type

    def _values(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple([self._new[v] for v in values])

    def _flags(self, values: Sequence[Value]) -> list[bool]:
        return [v in self._spread for v in values]

    def _full(self, value: Value, has_lanes: bool = True) -> Value:
        """What stands for a value, with lanes if `has_lanes`."""
        made = self._new[value]
        if not has_lanes or value in self._spread:
            return made
        return of_all_lanes(self._c, made, False, self._lanes, value.type.static_shape)

    def _selected(self, condition: Value, on_true: Value, on_false: Value) -> Value:
        """Lane by lane one of two values that have lanes."""
        return self._c.select(
            self._c.broadcast(condition, on_true.type.static_shape, (0,)), on_true, on_false
        )

    def _any(self, flags: Value) -> Value:
        start = self._b.op(Constant(np.asarray(False)))
        return self._b.op(Reduce(Or(), (0,)), flags, start)

    # -- operations

    def _ops(self, region: Region) -> None:
        for op in region.ops:
            self._b.span = op.span
            self._op(op)

    def _op(self, op: Op) -> None:
        if not self._lanes and op.results and all(self._flags(op.results)):
            self._new.update((r, self._c.zeros(self._type(r, True))) for r in op.results)
            return
        match op.kind:
            case While():
                self._loop(op)
            case If() | Case():
                self._branch(op)
            case Call(function):
                self._call(op, function)
            case _:
                self._plain(op)

    def _define(self, op: Op, results: Sequence[Value]) -> None:
        self._new.update(zip(op.results, results, strict=True))

    def _plain(self, op: Op) -> None:
        inner = [v for region in op.regions for o in region.walk() for v in o.operands]
        if not op.kind.pure and not isinstance(op.kind, JaxCall) and not self._owner.once:
            raise NotMapped(f"`{op.kind.opcode}`", op.span)
        if not any(v in self._spread for v in (*op.operands, *inner)):
            made = self._b.apply(op.kind, self._values(op.operands), [self._copy(r, {}) for r in op.regions])
            self._define(op, made.results)
            return
        try:
            self._define(op, self._by_rule(op, any(v in self._spread for v in inner)))
        except NotBatched:
            self._define(op, self._one_by_one(op, [v for v in inner if v in self._spread and v in self._new]))

    def _by_rule(self, op: Op, inside: bool) -> Sequence[Value]:
        operands, flags = self._values(op.operands), self._flags(op.operands)
        if not op.regions:
            return op.kind.batch(self._c, op, operands, flags, self._lanes)
        count = len(operands) // 2
        if not isinstance(op.kind, ReduceWith) or inside or any(flags[count:]):
            raise NotBatched(f"`{op.kind.opcode}`")
        arrays = [self._full(v) for v in op.operands[:count]]
        kind = ReduceWith(later(op.kind.axes))
        return self._b.apply(kind, (*arrays, *operands[count:]), [self._copy(op.regions[0], {})]).results

    def _copy(self, region: Region, by: dict[Value, Value]) -> Region:
        """A region without lanes as it is; `by`: what stands for some values there."""
        made = Region(tuple([p.type for p in region.params]))
        by = {**by, **dict(zip(region.params, made.params))}
        with self._b.region(made):
            for op in region.ops:
                operands = [by[v] if v in by else self._new[v] for v in op.operands]
                copy = self._b.apply(op.kind, operands, [self._copy(r, by) for r in op.regions])
                by.update(zip(op.results, copy.results, strict=True))
            made.results = tuple([by[v] if v in by else self._new[v] for v in region.results])
        return made

    def _one_by_one(self, op: Op, captured: Sequence[Value]) -> Sequence[Value]:
        """The operation for one lane after another, in a loop."""
        b, c = self._b, self._c
        zero, limit = (b.op(Constant(np.asarray(n, INT64))) for n in (0, self._lanes))
        starts = [c.zeros(self._type(r, True)) for r in op.results]
        types = (ArrayType(INT64), *[s.type for s in starts])
        tests, steps = Region(types), Region(types)
        with b.region(tests):
            tests.results = (b.op(Compare("LT"), tests.params[0], limit),)
        with b.region(steps):
            lane, *buffers = steps.params

            def of_lane(value: Value) -> Value:
                whole = self._new[value]
                if value not in self._spread:
                    return whole
                shape = value.type.static_shape
                part = c.dynamic_slice(whole, [lane, *[zero] * len(shape)], (1, *shape))
                return c.reshape(part, shape)

            by = {v: of_lane(v) for v in dict.fromkeys((*op.operands, *captured))}
            regions = [self._copy(r, by) for r in op.regions]
            made = b.apply(op.kind, [by[v] for v in op.operands], regions).results
            stored = [
                c.update(buffer, c.reshape(r, (1, *r.type.static_shape)), [lane, *[zero] * r.type.rank])
                for buffer, r in zip(buffers, made, strict=True)
            ]
            steps.results = (b.op(Add(), lane, b.op(Constant(np.asarray(1, INT64)))), *stored)
        return b.apply(While(self._lanes), (zero, *starts), (tests, steps)).results[1:]

    # -- control flow

    def _call(self, op: Op, function: Function) -> None:
        params = tuple(self._flags(op.operands))
        assert isinstance(op.kind, Call)
        ruled = op.kind.rule is not None
        masked = self._active is not None and _may_run_on(function.body)
        if not any(params) and (ruled or not masked):
            self._plain_call(op)
            return
        operands = list(self._values(op.operands))
        if masked:
            assert self._active is not None
            operands.append(self._active)
        if ruled:
            kind = of_all(self._owner, op.kind, params, masked)
        else:
            kind = replace(op.kind, function=self._owner.function(function, params, masked))
        self._define(op, self._b.apply(kind, operands).results)

    def _plain_call(self, op: Op) -> None:
        assert isinstance(op.kind, Call)
        effects = [
            o for o in op.kind.function.body.walk() if not o.kind.pure and not isinstance(o.kind, JaxCall)
        ]
        if effects and not self._owner.once:
            raise NotMapped(f"`{op.kind.function.name}`", op.span)
        self._define(op, self._b.apply(op.kind, self._values(op.operands)).results)

    def _branch(self, op: Op) -> None:
        selector = op.operands[0]
        if selector in self._spread:
            self._both(op, self._new[selector])
            return
        flags = self._flags(op.results)
        regions = []
        for old in op.regions:
            made = Region()
            with self._b.region(made):
                self._ops(old)
                made.results = tuple([self._full(v, f) for v, f in zip(old.results, flags)])
            regions.append(made)
        self._define(op, self._b.apply(op.kind, (self._new[selector],), regions).results)

    def _both(self, op: Op, selector: Value) -> None:
        """Every arm for the lanes that take it, and a selection."""
        self._in_vain = True
        found: list[Value] | None = None
        for arm, taken in reversed(list(enumerate(self._taken(op, selector)))):
            results = self._arm(op.regions[arm], taken)
            if found is None:
                found = results
            else:
                found = [self._selected(taken, x, y) for x, y in zip(results, found, strict=True)]
        self._define(op, found or [])

    def _taken(self, op: Op, selector: Value) -> list[Value]:
        """For each arm which lanes take it; an index outside takes the last."""
        b, c = self._b, self._c
        if isinstance(op.kind, If):
            return [selector, b.op(Not(), selector)]
        count = len(op.regions)
        equal = [c.compare("EQ", selector, c.filled(selector.type, n)) for n in range(count - 1)]
        rest = equal[0] if equal else None
        for flags in equal[1:]:
            assert rest is not None
            rest = b.op(Or(), rest, flags)
        last = b.op(Not(), rest) if rest is not None else c.compare("EQ", selector, selector)
        return [*equal, last]

    def _arm(self, region: Region, taken: Value) -> list[Value]:
        """What one arm gives, in its lanes; where it holds loops it runs only if there are any."""
        outer = self._active
        active = taken if outer is None else self._b.op(And(), outer, taken)
        self._active = active
        try:
            if not _holds_loops(region):
                self._ops(region)
                return [self._full(v) for v in region.results]
            run, skip = Region(), Region()
            with self._b.region(run):
                self._ops(region)
                run.results = tuple([self._full(v) for v in region.results])
            with self._b.region(skip):
                skip.results = tuple([self._c.zeros(r.type) for r in run.results])
            return list(self._b.apply(If(), (self._any(active),), (run, skip)).results)
        finally:
            self._active = outer

    def _loop(self, op: Op) -> None:
        condition, body = op.regions
        if condition.results[0] in self._spread:
            self._uneven(op)
            return
        assert isinstance(op.kind, While)
        flags = self._flags(op.results)
        operands = [self._full(v, f) for v, f in zip(op.operands, flags)]
        types = tuple([v.type for v in operands])
        tests, steps = Region(types), Region(types)
        outer = self._active
        self._new.update(zip(condition.params, tests.params))
        with self._b.region(tests):
            self._ops(condition)
            (going,) = self._values(condition.results)
            if outer is not None and op.kind.trip_count is None:
                going = self._b.op(And(), going, self._any(outer))
            tests.results = (going,)
        self._new.update(zip(body.params, steps.params))
        with self._b.region(steps):
            self._ops(body)
            steps.results = tuple([self._full(v, f) for v, f in zip(body.results, flags)])
        self._define(op, self._b.apply(op.kind, operands, (tests, steps)).results)

    def _uneven(self, op: Op) -> None:
        """A loop that lanes leave at different trips: which are going on is carried with the rest."""
        condition, body = op.regions
        self._in_vain, outer = True, self._active
        operands = [self._full(v) for v in op.operands]

        def going(state: Sequence[Value], before: Value | None) -> Value:
            self._new.update(zip(condition.params, state))
            self._ops(condition)
            flags = self._full(condition.results[0])
            return flags if before is None else self._b.op(And(), before, flags)

        first = going(operands, outer)
        types = (first.type, *[v.type for v in operands])
        tests, steps = Region(types), Region(types)
        with self._b.region(tests):
            tests.results = (self._any(tests.params[0]),)
        with self._b.region(steps):
            running, *state = steps.params
            self._active = running
            try:
                self._new.update(zip(body.params, state))
                self._ops(body)
                after = [
                    self._selected(running, self._full(v), old)
                    for v, old in zip(body.results, state, strict=True)
                ]
                steps.results = (going(after, running), *after)
            finally:
                self._active = outer
        self._define(op, self._b.apply(While(), (first, *operands), (tests, steps)).results[1:])


def _any_op(region: Region, holds: Callable[[Op], bool]) -> bool:
    """True if it holds for an operation of a region, or of a function that is called in it."""
    return any(
        holds(op) or (isinstance(op.kind, Call) and _any_op(op.kind.function.body, holds))
        for op in region.walk()
    )


def _holds_loops(region: Region) -> bool:
    return _any_op(region, lambda op: isinstance(op.kind, While))


def _may_run_on(region: Region) -> bool:
    """True if a region holds a loop that might not end for lanes that do not need it."""
    return _any_op(region, lambda op: isinstance(op.kind, While) and op.kind.trip_count is None)
