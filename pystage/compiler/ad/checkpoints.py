"""Checkpointed pullback of a loop with an unknown or large trip count: bounded memory, with recomputation.

In the primal pass the loop saves its state every `stride` trips in one of `limits.SAVED_STATES` slots; when all are taken,
the stride doubles and every other slot becomes free. The pullback visits the trips from the last to the first. To get the
state before a trip, it runs the latest checkpoint forward over half of the remaining distance and saves the state there,
until it arrives; then it recomputes that one trip and pulls back through it. The checkpoints on the way to one trip take at
most a logarithm of the stride in further slots (`limits.RECOMPUTED_STATES`).

After A. Griewank, A. Walther, "Revolve: an implementation of checkpointing for the reverse or adjoint mode of computational
differentiation" (2000), and P. Stumm, A. Walther, "New algorithms for optimal online checkpointing" (2010), in the form that
fits static shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from .. import limits
from ..hlo.builder import Builder
from ..hlo.ir import Region, Value
from ..hlo.types import INT64, ArrayType
from ..ops import And, Compare, Divide, Maximum, Minimum, Or, Reduce, Remainder, While, constant
from .calculus import CalculusBuilder
from .preheader import Preheader
from .residuals import extend
from .tape import PrimalPass, Tape, TapeEntry

CotangentMap = dict[Value, Value]
"""By value of the copied program: its cotangent so far."""


class Pull(Protocol):
    """The interface of `reverse.Pullback` used here."""

    b: Builder
    c: CalculusBuilder

    def send(self, cotangents: CotangentMap, value: Value, contribution: object) -> None: ...

    def tape(self, tape: Tape, cotangents: CotangentMap) -> None: ...

    def before(self, captured: Iterable[Value], cotangents: CotangentMap) -> CotangentMap: ...

    def after(self, captured: Iterable[Value], found: Sequence[Value], cotangents: CotangentMap) -> None: ...

    def carried(self, entry: TapeEntry, given: Sequence[bool]) -> tuple[list[int], dict[Value, None]]: ...


class _Slots:
    """Checkpoints in slots: `counts` holds the number of trips before each (-1: free), `stores` the states."""

    def __init__(self, b: Builder, steps: Value, stores: Sequence[Value]) -> None:
        self._b = b
        self._c = CalculusBuilder(b)
        self.counts = steps
        self.stores = list(stores)

    def first(self, flags: Value) -> Value:
        """The first slot for which a flag holds; any if there is none."""
        count = flags.type.shape[0]
        places = self._c.iota(INT64, (count,), 0)
        last = self._c.filled(places.type, count - 1)
        chosen = self._c.select(flags, places, last)
        return self._b.op(Reduce(Minimum(), (0,)), chosen, integer(self._b, count - 1))

    def latest(self) -> tuple[Value, Value]:
        """The slot of the latest state, and how many trips came before it."""
        trips = self._b.op(Reduce(Maximum(), (0,)), self.counts, integer(self._b, -1))
        return self.first(
            self._c.compare("EQ", self.counts, self._c.broadcast(trips, self.counts.type.shape, ()))
        ), trips

    def free(self) -> Value:
        """A free slot."""
        return self.first(self._c.compare("LT", self.counts, self._c.zeros(self.counts.type)))

    def take(self, slot: Value) -> list[Value]:
        """The state in a slot."""
        found = []
        zero = integer(self._b, 0)
        for store in self.stores:
            shape = store.type.shape[1:]
            row = self._c.dynamic_slice(store, [slot, *[zero] * len(shape)], (1, *shape))
            found.append(self._c.reshape(row, shape))
        return found

    def put(self, slot: Value, trips: Value, state: Sequence[Value]) -> None:
        """Saves a state."""
        self.mark(slot, trips)
        zero = integer(self._b, 0)
        for i, (store, value) in enumerate(zip(self.stores, state, strict=True)):
            shape = value.type.shape
            row = self._c.reshape(value, (1, *shape))
            self.stores[i] = self._c.update(store, row, [slot, *[zero] * len(shape)])

    def mark(self, slot: Value, trips: Value) -> None:
        """Sets the number of trips before the state in a slot."""
        self.counts = self._c.update(self.counts, self._c.reshape(trips, (1,)), [slot])


def integer(b: Builder, number: int) -> Value:
    """A constant int64."""
    return constant(b, number, INT64)


def while_loop(
    b: Builder,
    start: Sequence[Value],
    condition: Callable[[Sequence[Value]], Value],
    body: Callable[[Sequence[Value]], Sequence[Value]],
) -> tuple[Value, ...]:
    """A loop built from two functions of its carried values."""
    types = tuple([v.type for v in start])
    tests, steps = Region(types), Region(types)
    with b.region(tests):
        tests.results = (condition(tests.params),)
    with b.region(steps):
        steps.results = tuple(body(steps.params))
    return b.apply(While(), start, (tests, steps)).results


def _run(
    b: Builder, source: PrimalPass, entry: TapeEntry, state: Sequence[Value], now: Value, end: Value
) -> tuple[Value, ...]:
    """The loop's own trips from `state`, as long as its condition holds and `now` is less than `end`."""
    test, body = entry.old.regions

    def condition(carried: Sequence[Value]) -> Value:
        going = b.op(Compare("LT"), carried[-1], end)
        return b.op(And(), going, _copied(b, source, test, carried[:-1])[0])

    def trip(carried: Sequence[Value]) -> list[Value]:
        return [*_copied(b, source, body, carried[:-1]), CalculusBuilder(b).add(carried[-1], integer(b, 1))]

    return while_loop(b, [*state, now], condition, trip)


def _copied(b: Builder, source: PrimalPass, region: Region, params: Sequence[Value]) -> tuple[Value, ...]:
    """The results of a copy of a region with these parameters."""
    source.define(region.params, params)
    source.copy_ops(b, region, b.current)
    return source.new(region.results)


def _keep_states(entry: TapeEntry) -> tuple[Value, _Kept]:
    """Rebuilds a copied loop so that it saves checkpoints; gives its trip count and the checkpoints."""
    op, source = entry.op, entry.source
    preheader = Preheader(entry)
    count = len(op.operands)
    states = [v.type for v in op.operands]
    starts = [
        preheader.constant(np.asarray(0, INT64)),
        preheader.constant(np.asarray(1, INT64)),
        preheader.constant(np.full(limits.SAVED_STATES, -1, INT64)),
        *[preheader.zeros(t.with_shape((limits.SAVED_STATES, *t.shape))) for t in states],
    ]
    types = (*states, *[v.type for v in starts])
    tests, trips = Region(types), Region(types)
    b = Builder(tests)
    tests.results = _copied(b, source, entry.old.regions[0], tests.params[:count])
    b = Builder(trips)
    now, stride, steps, *stores = trips.params[count:]
    after, rest = _keep_and_run(b, entry, trips.params[:count], now, stride, _Slots(b, steps, stores))
    trips.results = (*after, *rest)
    op.kind = While()  # its trips are those between two states that are kept
    op.operands = (*op.operands, *starts)
    op.regions = (tests, trips)
    now, _, steps, *stores = extend(op, [v.type for v in starts])
    return now, (steps, stores)


_Kept = tuple[Value, list[Value]]


def _keep_and_run(
    b: Builder, entry: TapeEntry, state: Sequence[Value], now: Value, stride: Value, slots: _Slots
) -> tuple[Sequence[Value], Sequence[Value]]:
    """Saves the state and runs on to the next checkpoint."""
    c = CalculusBuilder(b)
    shape = slots.counts.type.shape

    def usable(stride: Value) -> Value:
        none = c.compare("LT", slots.counts, c.zeros(slots.counts.type))
        rest = b.op(Remainder(), slots.counts, c.broadcast(stride, shape, ()))
        return b.op(Or(), none, c.compare("NE", rest, c.zeros(rest.type)))

    false = constant(b, False)
    some = b.op(Reduce(Or(), (0,)), usable(stride), false)
    stride = c.select(some, stride, c.add(stride, stride))
    due = c.compare("EQ", b.op(Remainder(), now, stride), integer(b, 0))
    slot = slots.first(usable(stride))
    kept = [c.select(due, new, old) for new, old in zip(state, slots.take(slot), strict=True)]
    mark = c.reshape(c.dynamic_slice(slots.counts, [slot], (1,)), ())
    slots.put(slot, c.select(due, now, mark), kept)
    end = c.add(now, c.sub(stride, b.op(Remainder(), now, stride)))
    *state, now = _run(b, entry.source, entry, state, now, end)
    return state, [now, stride, slots.counts, *slots.stores]


def checkpointed(
    pull: Pull, entry: TapeEntry, given: Sequence[Value | None], cotangents: CotangentMap
) -> None:
    """Pulls back through a loop whose residuals cannot all be stacked."""
    carried, captured = pull.carried(entry, [ct is not None for ct in given])
    with entry.source.recomputing(entry.recomputed):
        trips, (steps, stores) = _keep_states(entry)
    b, c = pull.b, pull.c
    states = [v.type for v in entry.old.operands]
    more = ArrayType(INT64, (limits.RECOMPUTED_STATES,))
    before = pull.before(captured, cotangents)
    starts = [
        c.sub(trips, integer(b, 1)),
        c.concatenate([steps, c.filled(more, -1)], 0),
        *[
            c.concatenate([s, c.zeros(t.with_shape((limits.RECOMPUTED_STATES, *t.shape)))], 0)
            for s, t in zip(stores, states)
        ],
        *[c.zeros(states[i]) if given[i] is None else given[i] for i in carried],
        *[before[v] if v in before else c.zeros(v.type) for v in captured],
    ]
    first, second = 2 + len(states), 2 + len(states) + len(carried)

    def wanted(values: Sequence[Value]) -> Value:
        return c.compare("GE", values[0], integer(b, 0))

    def back(values: Sequence[Value]) -> list[Value]:
        want = values[0]
        slots = _Slots(b, values[1], values[2:first])
        local: CotangentMap = dict(zip(captured, values[second:], strict=True))
        with entry.source.recomputing():
            slot = _advance(b, entry, slots, want)
            sent = _one_trip(pull, entry, slots.take(slot), dict(zip(carried, values[first:second])), local)
        slots.mark(slot, integer(b, -1))
        return [
            c.sub(want, integer(b, 1)),
            slots.counts,
            *slots.stores,
            *[sent[i] if i in sent else c.zeros(states[i]) for i in carried],
            *[local[v] for v in captured],
        ]

    found = while_loop(b, [v for v in starts if v is not None], wanted, back)
    pull.after(captured, found[second:], cotangents)
    for i, ct in zip(carried, found[first:second]):
        pull.send(cotangents, entry.op.operands[i], ct)


def _advance(b: Builder, entry: TapeEntry, slots: _Slots, want: Value) -> Value:
    """Runs checkpoints forward until the state before trip `want` is saved; gives its slot."""
    count = len(slots.stores)

    def missing(values: Sequence[Value]) -> Value:
        return b.op(Compare("NE"), _Slots(b, values[0], values[1:]).latest()[1], want)

    def halfway(values: Sequence[Value]) -> list[Value]:
        c = CalculusBuilder(b)
        inner = _Slots(b, values[0], values[1:])
        slot, now = inner.latest()
        way = c.add(c.sub(want, now), integer(b, 1))
        end = c.add(now, b.op(Divide(), way, integer(b, 2)))
        *state, now = _run(b, entry.source, entry, inner.take(slot), now, end)
        inner.put(inner.free(), now, state)
        return [inner.counts, *inner.stores]

    found = while_loop(b, [slots.counts, *slots.stores], missing, halfway)
    slots.counts, slots.stores = found[0], list(found[1 : 1 + count])
    return slots.latest()[0]


def _one_trip(
    pull: Pull, entry: TapeEntry, state: Sequence[Value], given: dict[int, Value], local: CotangentMap
) -> dict[int, Value]:
    """Recomputes one trip and pulls back through it: the cotangents of the state before it."""
    body, source = entry.old.regions[1], entry.source
    source.define(body.params, state)
    tape = source.copy_ops(pull.b, body, pull.b.current)
    results = source.new(body.results)
    for i, ct in given.items():
        pull.send(local, results[i], ct)
    pull.tape(tape, local)
    return {i: local.pop(value) for i, value in enumerate(state) if value in local}
