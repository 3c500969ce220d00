"""Batching: a function that computes another one for every element of a batch at once.

In: a function, which of its parameters are batched, and the batch size. Out: a function in which every batched value
has the batch dimension in front.

A branch with a batched condition is if-converted: all arms run, and selects choose between their results. A loop with a
batched condition runs while any element does, and keeps the values of elements that have left it. Inside of both an
active mask (`_active`) says which elements are meant: a loop with an unknown trip count stops when none of these needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from ...records import dataclass
from .. import ops
from ..ad.calculus import CalculusBuilder
from ..analysis.dependence import Dependence, Mask
from ..diagnostics.span import Span
from ..hlo.builder import Builder
from ..hlo.calculus import NotBatched
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.types import BOOL, INT32, INT64, ArrayType
from ..ops.batching import broadcast_to_batch, shifted
from ..ops.collectives.base import Collective
from .custom_rules import batched_call


class NotMapped(Exception):
    """Raised for an effect that cannot be batched; says which, and where."""

    def __init__(self, what: str, span: Span | None) -> None:
        super().__init__(what)
        self.span = span


@dataclass(frozen=True, slots=True)
class _Key:
    function: Function
    params: Mask
    masked: bool


class _Batched(Dependence):
    """The batched values, where the elements of the batch are the participants of the axis `name`."""

    def __init__(self, name: Hashable) -> None:
        super().__init__()
        self._name = name

    def _op(self, op: Op, found: set[Value]) -> None:
        kind = op.kind
        if not isinstance(kind, Collective) or self._name not in kind.names:
            super()._op(op, found)
        elif not kind.replicated:
            found.update(op.results)


class Batch:
    """Batched functions of one batch size, memoised by function and set of batched parameters.

    `once`: an effect whose operands are not batched happens once, and is not refused. `name`: that of the axis whose
    participants are the elements of the batch.
    """

    def __init__(self, batch_size: int, once: bool = False, name: Hashable = None) -> None:
        self.batch_size = batch_size
        self.once = once
        self.name = name
        self.batched_values = Dependence() if name is None else _Batched(name)
        self.rules: dict[tuple[ops.VjpRule, Mask, bool], ops.VjpRule] = {}
        """Batched VJP rules, by rule, batched operands and masking."""
        self._made: dict[_Key, Function] = {}

    def is_among(self, op: Op) -> bool:
        """True for a collective among the elements of the batch."""
        return self.name is not None and isinstance(op.kind, Collective) and self.name in op.kind.names

    def results(self, function: Function, params: Mask) -> Mask:
        """Which results are batched."""
        return self.batched_values.results(function, params)

    def function(self, old: Function, params: Mask, masked: bool = False) -> Function:
        """`old`, batched. `masked`: its last parameter is the active mask."""
        key = _Key(old, params, masked)
        if key not in self._made:
            self._made[key] = _BatchedFunction(self, old, params, masked).made
        return self._made[key]


class _BatchedFunction:
    """One batched function: the new value of each old one, and which of them are batched."""

    def __init__(self, owner: Batch, old: Function, params: Mask, masked: bool) -> None:
        self._owner = owner
        self._batch_size = owner.batch_size
        self._batched_values = owner.batched_values.of(
            old.body, [v for v, p in zip(old.body.params, params) if p]
        )
        self._new: dict[Value, Value] = {}
        self._has_inactive = False
        """Whether something is computed for inactive elements too."""
        types = [self._type(v, p) for v, p in zip(old.body.params, params)]
        body = Region((*types, *([ArrayType(BOOL, (self._batch_size,))] if masked else [])))
        self._active: Value | None = body.params[-1] if masked else None
        self._b = Builder(body)
        self._c = CalculusBuilder(self._b)
        self._new.update(zip(old.body.params, body.params))
        self._ops(old.body)
        body.results = self._values(old.body.results)
        self.made = old.rewritten(body, "_batched")
        self.made.catches |= self._has_inactive

    # -- values

    def _type(self, value: Value, batched: bool) -> ArrayType:
        return value.type.with_shape((self._batch_size, *value.type.shape)) if batched else value.type

    def _values(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple([self._new[v] for v in values])

    def _flags(self, values: Sequence[Value]) -> list[bool]:
        return [v in self._batched_values for v in values]

    def _full(self, value: Value, batched: bool = True) -> Value:
        """The new value of an old one, broadcast to the batch if `batched`."""
        made = self._new[value]
        if not batched or value in self._batched_values:
            return made
        return broadcast_to_batch(self._c, made, False, self._batch_size, value.type.shape)

    def _selected(self, condition: Value, on_true: Value, on_false: Value) -> Value:
        """Selects between two batched values, element by element of the batch."""
        return self._c.select(self._c.broadcast(condition, on_true.type.shape, (0,)), on_true, on_false)

    def _any(self, flags: Value) -> Value:
        start = ops.constant(self._b, False)
        return self._b.op(ops.Reduce(ops.Or(), (0,)), flags, start)

    # -- operations

    def _ops(self, region: Region) -> None:
        for op in region.ops:
            self._b.span = op.span
            self._op(op)

    def _op(self, op: Op) -> None:
        if not self._batch_size and op.results and all(self._flags(op.results)):
            self._new.update((r, self._c.zeros(self._type(r, True))) for r in op.results)
            return
        match op.kind:
            case ops.While():
                self._loop(op)
            case ops.If() | ops.Case():
                self._branch(op)
            case ops.Call(function):
                self._call(op, function)
            case ops.ShardMap():
                self._shard_map(op, op.kind)
            case Collective() if self._owner.is_among(op):
                self._collective(op, op.kind)
            case _:
                self._plain(op)

    def _collective(self, op: Op, kind: Collective) -> None:
        """A collective among the elements of the batch."""
        if self._active is not None:
            raise NotMapped(f"`{kind.opcode}` where elements of the batch go different ways", op.span)
        others = [axis for axis in kind.axes if axis.name != self._owner.name]
        if isinstance(kind, ops.AxisIndex):
            made = self._c.iota(INT32, (self._batch_size,), 0)
        elif others and not isinstance(kind, ops.AllReduce):
            raise NotMapped(f"`{kind.opcode}` over the axis of a map together with others", op.span)
        else:
            made = kind.over(set(kind.axes) - set(others)).collected(self._c, self._full(op.operands[0]))
            if others:
                made = self._c.op(kind.over(others), made)
        self._define(op, (made,))

    def _shard_map(self, op: Op, kind: ops.ShardMap) -> None:
        """The batched function on every device; the batch is not split."""
        if self._active is not None and _may_run_on(kind.function.body):
            raise NotMapped(
                "a loop inside `shard_map` where elements of the batch go different ways", op.span
            )
        params = tuple(self._flags(op.operands))
        flags = self._flags(op.results)
        ins, outs = [
            tuple([((), *spec) if flag else spec for spec, flag in zip(specs, batched, strict=True)])
            for specs, batched in ((kind.in_specs, params), (kind.out_specs, flags))
        ]
        made = replace(
            kind, function=self._owner.function(kind.function, params), in_specs=ins, out_specs=outs
        )
        self._define(op, self._b.apply(made, self._values(op.operands)).results)

    def _define(self, op: Op, results: Sequence[Value]) -> None:
        self._new.update(zip(op.results, results, strict=True))

    def _plain(self, op: Op) -> None:
        inner = [v for region in op.regions for o in region.walk() for v in o.operands]
        if not op.kind.pure and not isinstance(op.kind, ops.JaxCall) and not self._owner.once:
            raise NotMapped(f"`{op.kind.opcode}`", op.span)
        if not any(v in self._batched_values for v in (*op.operands, *inner)):
            made = self._b.apply(op.kind, self._values(op.operands), [self._copy(r, {}) for r in op.regions])
            self._define(op, made.results)
            return
        try:
            self._define(op, self._by_rule(op, any(v in self._batched_values for v in inner)))
        except NotBatched:
            self._define(
                op, self._one_by_one(op, [v for v in inner if v in self._batched_values and v in self._new])
            )

    def _by_rule(self, op: Op, inside: bool) -> Sequence[Value]:
        operands, flags = self._values(op.operands), self._flags(op.operands)
        if not op.regions:
            return op.kind.batch(self._c, op, operands, flags, self._batch_size)
        count = len(operands) // 2
        if not isinstance(op.kind, ops.ReduceWith) or inside or any(flags[count:]):
            raise NotBatched(f"`{op.kind.opcode}`")
        arrays = [self._full(v) for v in op.operands[:count]]
        kind = ops.ReduceWith(shifted(op.kind.axes))
        return self._b.apply(kind, (*arrays, *operands[count:]), [self._copy(op.regions[0], {})]).results

    def _copy(self, region: Region, by: dict[Value, Value]) -> Region:
        """A copy of a region that is not batched; `by`: the new values of some old ones."""
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
        """The operation in a loop over the elements of the batch."""
        b, c = self._b, self._c
        zero, limit = (ops.constant(b, n, INT64) for n in (0, self._batch_size))
        starts = [c.zeros(self._type(r, True)) for r in op.results]
        types = (ArrayType(INT64), *[s.type for s in starts])
        tests, steps = Region(types), Region(types)
        with b.region(tests):
            tests.results = (b.op(ops.Compare("LT"), tests.params[0], limit),)
        with b.region(steps):
            index, *buffers = steps.params

            def of_lane(value: Value) -> Value:
                whole = self._new[value]
                if value not in self._batched_values:
                    return whole
                shape = value.type.shape
                part = c.dynamic_slice(whole, [index, *[zero] * len(shape)], (1, *shape))
                return c.reshape(part, shape)

            by = {v: of_lane(v) for v in dict.fromkeys((*op.operands, *captured))}
            regions = [self._copy(r, by) for r in op.regions]
            made = b.apply(op.kind, [by[v] for v in op.operands], regions).results
            stored = [
                c.update(buffer, c.reshape(r, (1, *r.type.shape)), [index, *[zero] * r.type.rank])
                for buffer, r in zip(buffers, made, strict=True)
            ]
            steps.results = (b.op(ops.Add(), index, ops.constant(b, 1, INT64)), *stored)
        return b.apply(ops.While(self._batch_size), (zero, *starts), (tests, steps)).results[1:]

    # -- control flow

    def _call(self, op: Op, function: Function) -> None:
        params = tuple(self._flags(op.operands))
        assert isinstance(op.kind, ops.Call)
        has_rule = op.kind.rule is not None
        among = _any_op(function.body, self._owner.is_among)
        masked = self._active is not None and (among or _may_run_on(function.body))
        if among and has_rule:
            raise NotMapped(
                f"a collective in `{function.name}`, which has a derivative rule of its own,", op.span
            )
        if not any(params) and not among and (has_rule or not masked):
            self._plain_call(op)
            return
        operands = list(self._values(op.operands))
        if masked:
            assert self._active is not None
            operands.append(self._active)
        if has_rule:
            kind = batched_call(self._owner, op.kind, params, masked)
        else:
            kind = replace(op.kind, function=self._owner.function(function, params, masked))
        self._define(op, self._b.apply(kind, operands).results)

    def _plain_call(self, op: Op) -> None:
        assert isinstance(op.kind, ops.Call)
        effects = [
            o for o in op.kind.function.body.walk() if not o.kind.pure and not isinstance(o.kind, ops.JaxCall)
        ]
        if effects and not self._owner.once:
            raise NotMapped(f"`{op.kind.function.name}`", op.span)
        self._define(op, self._b.apply(op.kind, self._values(op.operands)).results)

    def _branch(self, op: Op) -> None:
        selector = op.operands[0]
        if selector in self._batched_values:
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
        """If-converts a branch with a batched condition: every arm under its active mask, then selects."""
        self._has_inactive = True
        found: list[Value] | None = None
        for arm, taken in reversed(list(enumerate(self._taken(op, selector)))):
            results = self._arm(op.regions[arm], taken)
            if found is None:
                found = results
            else:
                found = [self._selected(taken, x, y) for x, y in zip(results, found, strict=True)]
        self._define(op, found or [])

    def _taken(self, op: Op, selector: Value) -> list[Value]:
        """The mask of the elements that take each arm; an index out of range takes the last."""
        b, c = self._b, self._c
        if isinstance(op.kind, ops.If):
            return [selector, b.op(ops.Not(), selector)]
        count = len(op.regions)
        equal = [c.compare("EQ", selector, c.filled(selector.type, n)) for n in range(count - 1)]
        rest = equal[0] if equal else None
        for flags in equal[1:]:
            assert rest is not None
            rest = b.op(ops.Or(), rest, flags)
        last = b.op(ops.Not(), rest) if rest is not None else c.compare("EQ", selector, selector)
        return [*equal, last]

    def _arm(self, region: Region, taken: Value) -> list[Value]:
        """The results of one arm; an arm that holds loops runs only if an element is active."""
        outer = self._active
        active = taken if outer is None else self._b.op(ops.And(), outer, taken)
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
            return list(self._b.apply(ops.If(), (self._any(active),), (run, skip)).results)
        finally:
            self._active = outer

    def _loop(self, op: Op) -> None:
        condition, body = op.regions
        if condition.results[0] in self._batched_values:
            self._divergent_loop(op)
            return
        assert isinstance(op.kind, ops.While)
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
                going = self._b.op(ops.And(), going, self._any(outer))
            tests.results = (going,)
        self._new.update(zip(body.params, steps.params))
        with self._b.region(steps):
            self._ops(body)
            steps.results = tuple([self._full(v, f) for v, f in zip(body.results, flags)])
        self._define(op, self._b.apply(op.kind, operands, (tests, steps)).results)

    def _divergent_loop(self, op: Op) -> None:
        """A loop that elements leave at different trips: it carries the active mask."""
        condition, body = op.regions
        self._has_inactive, outer = True, self._active
        operands = [self._full(v) for v in op.operands]

        def going(state: Sequence[Value], before: Value | None) -> Value:
            self._new.update(zip(condition.params, state))
            self._ops(condition)
            flags = self._full(condition.results[0])
            return flags if before is None else self._b.op(ops.And(), before, flags)

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
        self._define(op, self._b.apply(ops.While(), (first, *operands), (tests, steps)).results[1:])


def _any_op(region: Region, holds: Callable[[Op], bool]) -> bool:
    """True if it holds for an operation of a region, or of a function that is called in it."""
    return any(
        holds(op) or (isinstance(op.kind, ops.Call) and _any_op(op.kind.function.body, holds))
        for op in region.walk()
    )


def _holds_loops(region: Region) -> bool:
    return _any_op(region, lambda op: isinstance(op.kind, ops.While))


def _may_run_on(region: Region) -> bool:
    """True if a region holds a loop that might not end for inactive elements."""
    return _any_op(region, lambda op: isinstance(op.kind, ops.While) and op.kind.trip_count is None)
