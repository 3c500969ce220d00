"""Reverse mode: a function that also computes the cotangents of its parameters.

In: a function, which of its parameters have cotangents, and which results have them. Out: a function of its
parameters and then the results' cotangents, whose results are followed by those of the parameters.

The primal pass copies the program and records the operations that vary on a tape (`PrimalPass`, `Tape`). The pullback
visits the tape from the end and applies the VJP rule of each operation. The residuals of a branch, a loop or a callee
are further results of it (`residuals.py`): a branch returns those of the arm that ran, a loop with a known trip count
stacks them. A loop with an unknown trip count is recomputed from checkpoints (`checkpoints.py`).

A function that catches continues after a raise (and a batched function computes both arms of a branch) with values that
are meaningless, possibly infinite, and unused, so that their cotangents are zero. There a zero cotangent must stay zero
and not become NaN (`strict`), in such functions and in all their callees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ...config import config
from ...records import dataclass
from .. import ops
from ..analysis.dependence import Mask
from ..analysis.induction import exact_trips
from ..diagnostics.codes_differentiation import NoRuleFor, OutsideOfRule
from ..diagnostics.diagnostic import Diagnostic, DiagnosticError
from ..hlo.builder import Builder
from ..hlo.ir import Function, Region, Value
from ..hlo.types import INT64, ArrayType
from ..ops.collectives.shard_map import named_in
from .activity import Activity
from .calculus import CalculusBuilder, accumulated, differentiable
from .checkpoints import CotangentMap, checkpointed
from .loop_unrolling import unroll_short_loops
from .preheader import Preheader
from .residuals import RegionValues, extend, residuals, substitute
from .resolve_varying import resolve_varying
from .rules import contributions, stopped_at_zero, unless_all_zero
from .strip_io import IoStripper
from .tape import PrimalPass, Tape, TapeEntry


class ReverseMode:
    """Reverse mode of functions; the pullbacks of callees are memoised by the parameters and results that vary.

    `checked`: values are known to vary over named axes or not, and so are cotangents (`MatchVarying`).
    """

    def __init__(self, checked: bool = False) -> None:
        self.checked = checked
        self.activity = Activity()
        self.io_stripper = IoStripper()
        self._callees: dict[tuple[Function, Mask, Mask, bool], FunctionPullback] = {}

    def pullback(
        self, function: Function, params: Mask, results: Mask, strict: bool = False
    ) -> FunctionPullback:
        """The pullback of a callee, from these of its results to these of its parameters; memoised."""
        key = function, params, results, strict or function.catches
        if key not in self._callees:
            self._callees[key] = self._pullback(*key)
        return self._callees[key]

    def _pullback(self, old: Function, params: Mask, results: Mask, strict: bool) -> FunctionPullback:
        vary = tuple([p and differentiable(t) for p, t in zip(params, old.param_types, strict=True)])
        primal = PrimalPass(self.activity, self.io_stripper, old, vary)
        body = Region()
        pull = Pullback(self, Builder(body), primal.varied, strict)
        cotangents: CotangentMap = {}
        given = [v for v, r in zip(primal.body.results, results, strict=True) if r]
        seeds = [body.add_param(v.type) for v in given]
        for value, seed in zip(given, seeds, strict=True):
            pull.send(cotangents, value, seed)
        pull.tape(primal.tape, cotangents)
        wanted = [v for v, p in zip(primal.body.params, params, strict=True) if p]
        body.results = tuple([cotangents[v] if v in cotangents else pull.c.zeros(v.type) for v in wanted])
        needed = residuals(body, RegionValues(primal.body))
        substitute(body, {v: body.add_param(v.type) for v in needed})
        computed = [v for v in needed if v.owner is not primal.body]
        count = len(old.body.results)
        places = [v.index if v.owner is primal.body else count + computed.index(v) for v in needed]
        primal.body.results = (*primal.body.results, *computed)
        return FunctionPullback(
            old.rewritten(primal.body, "_forward") if computed else old,
            old.rewritten(body, "_backward"),
            [Residual(v.owner is primal.body, place) for v, place in zip(needed, places, strict=True)],
        )

    def function(self, old: Function, params: Mask, results: Mask, strict: bool = False) -> Function:
        """`old` with the cotangents of these parameters, as a function of those of these results too."""
        old = unroll_short_loops(old)
        whole = PrimalPass(self.activity, self.io_stripper, old, params)
        body = whole.body
        seeds = [body.add_param(t) for t, r in zip(old.result_types, results, strict=True) if r]
        cotangents: CotangentMap = {}
        pull = Pullback(self, whole.b, whole.varied, strict or old.catches)
        for result, seed in zip([v for v, r in zip(body.results, results) if r], seeds, strict=True):
            pull.send(cotangents, result, seed)
        pull.tape(whole.tape, cotangents)
        wanted = [v for v, p in zip(body.params, params) if p]
        found = [pull.c.zeros(v.type) if v not in cotangents else cotangents[v] for v in wanted]
        body.results = (*body.results, *found)
        return old.rewritten(body, "_vjp")


@dataclass(frozen=True, slots=True)
class Residual:
    """A value of a callee that its pullback uses: a parameter, or a result of the forward function, by its index."""

    is_param: bool
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class FunctionPullback:
    """The pullback of a callee as a function, and the forward function that replaces the callee.

    `forward` is the callee, with the residuals that it computes as further results. `backward` takes the cotangents of
    the results, and then the `residuals`.
    """

    forward: Function
    backward: Function
    residuals: Sequence[Residual]

    def residuals_of(self, operands: Sequence[Value], results: Sequence[Value]) -> list[Value]:
        """The residuals at a call of `forward`."""
        return [(operands if r.is_param else results)[r.index] for r in self.residuals]


class Pullback:
    """Builds the pullback at the builder's insertion point; `strict`: a zero cotangent contributes zero."""

    def __init__(self, owner: ReverseMode, b: Builder, varied: set[Value], strict: bool) -> None:
        self._owner = owner
        self.b = b
        self.c = CalculusBuilder(b)
        self.varied = varied
        self._strict = strict

    def send(self, cotangents: CotangentMap, value: Value, contribution: object) -> None:
        """Adds to the cotangent of a value that varies."""
        if value in self.varied and contribution is not None:
            if self._owner.checked:
                own = accumulated(self.c, None, contribution, value.type)
                contribution = None if own is None else self.c.op(ops.MatchVarying(), own, value)
            made = accumulated(self.c, cotangents.get(value), contribution, value.type)
            assert made is not None
            cotangents[value] = made

    def tape(self, tape: Tape, cotangents: CotangentMap) -> None:
        """Pulls back through a tape; `cotangents` holds those of the region's results, and then of all other values."""
        for entry in reversed(tape.entries):
            given = [cotangents.pop(r, None) for r in entry.op.results]
            if any(ct is not None for ct in given):
                self.b.span = entry.op.span
                self._entry(entry, given, cotangents)

    def _entry(self, entry: TapeEntry, given: Sequence[Value | None], cotangents: CotangentMap) -> None:
        match entry.op.kind:
            case ops.If() | ops.Case():
                self._branch(entry, given, cotangents)
            case ops.While():
                self._loop(entry, given, cotangents)
            case ops.Call() if isinstance(kind := entry.old.kind, ops.Call) and kind.rule is not None:
                self._call_with_rule(entry, kind.rule, given, cotangents)
            case ops.Call(recompute=True):
                self._recompute(entry, given, cotangents)
            case ops.Call(function=function):
                self._call(entry, function, given, cotangents)
            case ops.ShardMap():
                self._shard_map(entry, entry.op.kind, given, cotangents)
            case _:
                found = contributions(self.c, entry.op, given)
                if self._strict:
                    found = stopped_at_zero(self.c, entry.op.kind, given, found)
                for operand, contribution in zip(entry.op.operands, found, strict=True):
                    self.send(cotangents, operand, contribution)

    # -- which values outside of a region its pullback reaches

    def _reached(self, tape: Tape, seeds: Iterable[Value]) -> dict[Value, None]:
        """The values that get a cotangent when these results of a region have one, in a fixed order."""
        found = {v: None for v in seeds if v in self.varied}
        for entry in reversed(tape.entries):
            flags = [r in found for r in entry.op.results]
            if not any(flags):
                continue
            match entry.op.kind:
                case ops.If() | ops.Case():
                    reached = self._captured(entry, flags)
                case ops.While():
                    carried, reached = self.carried(entry, flags)
                    reached.update((entry.op.operands[i], None) for i in carried)
                case _:
                    reached = dict.fromkeys(entry.op.operands)
            found.update((v, None) for v in reached if v in self.varied)
        return found

    def _captured(self, entry: TapeEntry, given: Sequence[bool]) -> dict[Value, None]:
        """The values outside of a branch that get cotangents when these of its results have one."""
        found: dict[Value, None] = {}
        for inner in entry.inner:
            own = RegionValues(inner.region)
            seeds = [v for v, flag in zip(inner.region.results, given) if flag]
            found.update((v, None) for v in self._reached(inner, seeds) if v not in own)
        return found

    def carried(self, entry: TapeEntry, given: Sequence[bool]) -> tuple[list[int], dict[Value, None]]:
        """Which carried values of a loop have cotangents at some trip, and the outer values that get some."""
        body = entry.inner[1]
        params = body.region.params
        flags = [g and p in self.varied for g, p in zip(given, params)]
        while True:
            seeds = [r for r, f in zip(body.region.results, flags) if f]
            found = self._reached(body, seeds)
            after = [f or p in found for f, p in zip(flags, params)]
            if after == flags:
                own = RegionValues(body.region)
                carried = [i for i, f in enumerate(flags) if f]
                return carried, {v: None for v in found if v not in own}
            flags = after

    # -- control flow

    def _branch(self, entry: TapeEntry, given: Sequence[Value | None], cotangents: CotangentMap) -> None:
        """A branch of the same condition; each arm adds to the cotangents of what it uses."""
        captured = self._captured(entry, [ct is not None for ct in given])
        if not captured:
            return
        regions = []
        for inner in entry.inner:
            region = Region()
            local = self.before(captured, cotangents)
            with self.b.region(region):
                for value, ct in zip(inner.region.results, given, strict=True):
                    if ct is not None:
                        self.send(local, value, ct)
                self.tape(inner, local)
                region.results = tuple([local[v] if v in local else self.c.zeros(v.type) for v in captured])
            regions.append(region)
        self._give_residuals_of_arms(entry, regions)
        made = self.b.apply(entry.op.kind, entry.op.operands, regions)
        self.after(captured, made.results, cotangents)

    def before(self, captured: Iterable[Value], cotangents: CotangentMap) -> CotangentMap:
        """The cotangents that values outside of a branch or a loop begin with inside: those found so far.

        Where they are `checked`, none: inside participants may go different ways, and what each finds is summed afterwards.
        """
        return {} if self._owner.checked else {v: cotangents[v] for v in captured if v in cotangents}

    def after(self, captured: Iterable[Value], found: Sequence[Value], cotangents: CotangentMap) -> None:
        """Takes the cotangents of values outside of a branch or a loop, which began with those of `before`."""
        if not self._owner.checked:
            cotangents.update(zip(captured, found, strict=True))
            return
        for value, ct in zip(captured, found, strict=True):
            self.send(cotangents, value, ct)

    def _give_residuals_of_arms(self, entry: TapeEntry, regions: Sequence[Region]) -> None:
        """Makes the residuals of each arm further results of the branch; the other arms return zeros."""
        for arm, (inner, region) in enumerate(zip(entry.inner, regions, strict=True)):
            for value in residuals(region, RegionValues(inner.region)):
                for other, tape in enumerate(entry.inner):
                    if other == arm:
                        tape.region.results = (*tape.region.results, value)
                    else:
                        zero = CalculusBuilder(Builder(tape.region)).zeros(value.type)
                        tape.region.results = (*tape.region.results, zero)
                (result,) = extend(entry.op, [value.type])
                substitute(region, {value: result})

    def _loop(self, entry: TapeEntry, given: Sequence[Value | None], cotangents: CotangentMap) -> None:
        kind = entry.op.kind
        assert isinstance(kind, ops.While)
        if kind.trip_count is None:
            checkpointed(self, entry, given, cotangents)
            return
        carried, captured = self.carried(entry, [ct is not None for ct in given])
        body = entry.inner[1]
        index = ArrayType(INT64)
        starts = [given[i] for i in carried]
        before = self.before(captured, cotangents)
        operands = [
            *[self.c.zeros(entry.op.results[i].type) if ct is None else ct for i, ct in zip(carried, starts)],
            *[before[v] if v in before else self.c.zeros(v.type) for v in captured],
        ]
        types = (index, *[v.type for v in operands])
        tests, steps = Region(types), Region(types)
        with self.b.region(tests):
            zero = ops.constant(self.b, 0, INT64)
            tests.results = (self.b.op(ops.Compare("GE"), tests.params[0], zero),)
        with self.b.region(steps):
            trip, *rest = steps.params
            local: CotangentMap = dict(zip(captured, rest[len(carried) :], strict=True))
            for i, ct in zip(carried, rest):
                self.send(local, body.region.results[i], ct)
            self.tape(body, local)
            one = ops.constant(self.b, 1, INT64)
            ends = [body.region.params[i] for i in carried]
            steps.results = (
                self.b.op(ops.Subtract(), trip, one),
                *[local[v] if v in local else self.c.zeros(v.type) for v in (*ends, *captured)],
            )
        needed = residuals(steps, RegionValues(body.region))
        size = sum(v.type.nbytes for v in needed)
        if size * kind.trip_count > config.residual_bytes:
            checkpointed(self, entry, given, cotangents)
            return
        trips = exact_trips(entry.op)
        last: Value | None = None if trips is None else ops.constant(self.b, trips - 1, INT64)
        if needed or last is None:
            counter, count = self._counted(entry)
            self._stack_residuals(entry, steps, kind.trip_count, needed, counter)
            last = last or self.b.op(ops.Subtract(), count, ops.constant(self.b, 1, INT64))
        made = self.b.apply(ops.While(kind.trip_count), [last, *operands], (tests, steps))
        found = made.results[1:]
        self.after(captured, found[len(carried) :], cotangents)
        for i, ct in zip(carried, found):
            self.send(cotangents, entry.op.operands[i], ct)

    def _counted(self, entry: TapeEntry) -> tuple[Value, Value]:
        """Makes a loop count its trips: how many there were before one, in its body, and how many in the end."""
        condition, body = [tape.region for tape in entry.inner]
        preheader = Preheader(entry)
        counter = preheader.carry(condition, body, preheader.constant(np.asarray(0, INT64)))
        inside = Builder(body)
        one = ops.constant(inside, 1, INT64)
        body.results = (*body.results, inside.op(ops.Add(), counter, one))
        (count,) = extend(entry.op, [counter.type])
        return counter, count

    def _stack_residuals(
        self, entry: TapeEntry, back: Region, trips: int, needed: Sequence[Value], counter: Value
    ) -> None:
        """Stacks the residuals of each trip in the loop; the pullback reads the row of its trip."""
        condition, body = [tape.region for tape in entry.inner]
        preheader, inside = Preheader(entry), Builder(body)
        reading = Region()
        b = Builder(reading)
        found: dict[Value, Value] = {}
        for value in needed:
            shape = value.type.shape
            stack = preheader.carry(condition, body, preheader.zeros(value.type.with_shape((trips, *shape))))
            c = CalculusBuilder(inside)
            zero = ops.constant(inside, 0, INT64)
            part = c.reshape(value, (1, *shape))
            body.results = (*body.results, c.update(stack, part, [counter, *[zero] * len(shape)]))
            (whole,) = extend(entry.op, [stack.type])
            none = ops.constant(b, 0, INT64)
            row = CalculusBuilder(b).dynamic_slice(whole, [back.params[0], *[none] * len(shape)], (1, *shape))
            found[value] = b.op(ops.Reshape(shape), row)
        substitute(back, found)
        back.ops[:0] = reading.ops

    def _recompute(self, entry: TapeEntry, given: Sequence[Value | None], cotangents: CotangentMap) -> None:
        """A callee without residuals (`checkpoint`): recomputed from its operands, then pulled back."""
        assert isinstance(entry.op.kind, ops.Call)
        function, operands = self._owner.io_stripper.function(entry.op.kind.function), entry.op.operands
        params = tuple([v in self.varied for v in operands])
        flags = tuple([ct is not None for ct in given])
        made = self._owner.function(function, params, flags, self._strict)
        # The barrier keeps XLA's CSE from merging it with the primal pass.
        apart = self.b.apply(ops.OptimizationBarrier(), operands).results
        seeds = [ct for ct in given if ct is not None]
        found = self.b.apply(ops.Call(made), (*apart, *seeds)).results[len(given) :]
        for operand, ct in zip([v for v, p in zip(operands, params) if p], found, strict=True):
            self.send(cotangents, operand, ct)

    def _call_with_rule(
        self, entry: TapeEntry, rule: ops.VjpRule, given: Sequence[Value | None], cotangents: CotangentMap
    ) -> None:
        """A callee with a custom VJP rule: its backward function, on the residuals of its forward function."""
        op, vjp = entry.op, rule.vjp
        if isinstance(vjp, Diagnostic):
            raise DiagnosticError(vjp)
        assert vjp is not None
        if any(op.operands[i] in self.varied for i in vjp.others):
            raise DiagnosticError(OutsideOfRule(span=op.span, name=rule.name))
        if any(ct is not None and i not in vjp.seeds for i, ct in enumerate(given)):
            what = "it gives a number that it does not give on all paths"
            raise DiagnosticError(NoRuleFor(span=op.span, name=rule.name, what=what))
        count = len(entry.old.results)
        seeds = [self.c.zeros(op.results[i].type) if (ct := given[i]) is None else ct for i in vjp.seeds]
        made = self.b.apply(ops.Call(vjp.backward), (*op.operands, *op.results[count:], *seeds))
        sent = unless_all_zero(self.c, seeds, made.results) if self._strict else made.results
        for i, contribution in zip(vjp.wrt, sent, strict=True):
            self.send(cotangents, op.operands[i], contribution)

    def _call(
        self, entry: TapeEntry, function: Function, given: Sequence[Value | None], cotangents: CotangentMap
    ) -> None:
        op = entry.op
        params = tuple([v in self.varied for v in op.operands])
        pullback = self._owner.pullback(
            function, params, tuple([ct is not None for ct in given]), self._strict
        )
        if pullback.forward is not function:
            op.kind = ops.Call(pullback.forward)
            extend(op, pullback.forward.result_types[len(op.results) :])
        seeds = [ct for ct in given if ct is not None]
        kept = pullback.residuals_of(op.operands, op.results)
        made = self.b.apply(ops.Call(pullback.backward), (*seeds, *kept))
        for operand, ct in zip([v for v, p in zip(op.operands, params) if p], made.results, strict=True):
            self.send(cotangents, operand, ct)

    def _shard_map(
        self, entry: TapeEntry, kind: ops.ShardMap, given: Sequence[Value | None], cotangents: CotangentMap
    ) -> None:
        """The pullback on every device, which recomputes the function."""
        operands = entry.op.operands
        params = tuple([v in self.varied for v in operands])
        flags = tuple([ct is not None for ct in given])
        made = sharded_pullback(kind, params, flags, self._strict)
        found = self.b.apply(made, (*operands, *[ct for ct in given if ct is not None])).results
        for operand, ct in zip([v for v, p in zip(operands, params) if p], found, strict=True):
            self.send(cotangents, operand, ct)


def sharded_pullback(kind: ops.ShardMap, params: Mask, results: Mask, strict: bool) -> ops.ShardMap:
    """The pullback of a function that runs on every device, from these of its results to these of its parameters.

    The cotangent of what is the same on all devices is one number for all. Where JAX does not check what varies, each
    device has its share of that of a result, and those of a parameter are summed.
    """
    old = kind.function
    ins = tuple([s for s, p in zip(kind.in_specs, params, strict=True) if p])
    outs = tuple([s for s, r in zip(kind.out_specs, results, strict=True) if r])
    made = ReverseMode(kind.checked).function(old, params, results, strict)
    if kind.checked:
        made, _ = resolve_varying(made, [named_in(s) for s in (*kind.in_specs, *outs)], kind.axes)
    body = Region(made.param_types)
    c = CalculusBuilder(Builder(body))
    operands, seeds = body.params[: len(params)], body.params[len(params) :]
    if not kind.checked:
        shares = [math.prod([axis.size for axis in kind.others(s)]) for s in outs]
        seeds = [c.times(ct, 1 / n) if n > 1 else ct for ct, n in zip(seeds, shares, strict=True)]
    found = c.apply(ops.Call(made), [*operands, *seeds]).results[len(results) :]
    if not kind.checked:
        alike = [kind.others(s) for s in ins]
        found = tuple(
            [c.op(ops.AllReduce(ops.Add(), a), ct) if a else ct for ct, a in zip(found, alike, strict=True)]
        )
    body.results = tuple(found)
    return replace(
        kind, function=old.rewritten(body, "_vjp"), in_specs=(*kind.in_specs, *outs), out_specs=ins
    )
