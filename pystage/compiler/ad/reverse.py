"""Reverse mode: a function that also computes the cotangents of its parameters.

In: a function, which of its parameters have cotangents, and which results have them. Out: a function of its
parameters and then the results' cotangents, whose results are followed by those of the parameters.

The program is copied, and a tape notes what was copied and varies (`Tape`). Pulling back goes through the tape
from the end and builds, for each operation, what its rule says. What the way back needs of a branch, a loop or
a callee leaves it as a further result (`residuals.py`): a branch gives it from the arm that ran, a loop of known
length stacks it. A loop of unknown length is run again from checkpoints (`checkpoints.py`).

A function that catches goes on after a raise (and one of many lanes in those that took another branch) with values that
mean nothing, infinities among them: nobody uses these, so that their cotangents are zero, and a cotangent of zero must
come to nothing, not to NaN. So it is (`strict`) in such functions and in all that they call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...config import config
from ..analysis.induction import exact_trips
from ..diagnostics.codes_differentiation import NoRuleFor, OutsideOfRule
from ..diagnostics.diagnostic import Diagnostic, DiagnosticError
from ..hlo.builder import Builder
from ..hlo.ir import Function, Region, Value
from ..hlo.types import INT64, ArrayType
from ..ops import (
    Add,
    Call,
    Case,
    Compare,
    Constant,
    If,
    OptimizationBarrier,
    Reshape,
    Rule,
    Subtract,
    While,
)
from .activity import Activity, Mask
from .before import Before
from .calculus import Calculus, accumulated, differentiable
from .checkpoints import Cotangent, checkpointed
from .residuals import Scope, extend, residuals, substitute
from .rules import contributions, stopped_at_zero, unless_all_zero
from .silent import Silencing
from .tape import Linear, Step, Tape


class Reverse:
    """Reverse mode of functions; each callee is copied once for each set of parameters that vary."""

    def __init__(self) -> None:
        self.activity = Activity()
        self.silencing = Silencing()
        self._callees: dict[tuple[Function, Mask, Mask, bool], FunctionPullback] = {}

    def pullback(
        self, function: Function, params: Mask, results: Mask, strict: bool = False
    ) -> FunctionPullback:
        """The pullback of a callee, from these of its results to these of its parameters; made once."""
        key = function, params, results, strict or function.catches
        if key not in self._callees:
            self._callees[key] = self._pullback(*key)
        return self._callees[key]

    def _pullback(self, old: Function, params: Mask, results: Mask, strict: bool) -> FunctionPullback:
        vary = tuple([p and differentiable(t) for p, t in zip(params, old.param_types, strict=True)])
        linear = Linear(self.activity, self.silencing, old, vary)
        body = Region()
        pull = Pullback(self, Builder(body), linear.varied, strict)
        cotangents: Cotangent = {}
        given = [v for v, r in zip(linear.body.results, results, strict=True) if r]
        seeds = [body.add_param(v.type) for v in given]
        for value, seed in zip(given, seeds, strict=True):
            pull.send(cotangents, value, seed)
        pull.tape(linear.tape, cotangents)
        wanted = [v for v, p in zip(linear.body.params, params, strict=True) if p]
        body.results = tuple([cotangents[v] if v in cotangents else pull.c.zeros(v.type) for v in wanted])
        needed = residuals(body, Scope(linear.body))
        substitute(body, {v: body.add_param(v.type) for v in needed})
        computed = [v for v in needed if v.owner is not linear.body]
        count = len(old.body.results)
        places = [v.index if v.owner is linear.body else count + computed.index(v) for v in needed]
        linear.body.results = (*linear.body.results, *computed)
        return FunctionPullback(
            old.rewritten(linear.body, "_forward") if computed else old,
            old.rewritten(body, "_backward"),
            [Residual(v.owner is linear.body, place) for v, place in zip(needed, places, strict=True)],
        )

    def function(self, old: Function, params: Mask, results: Mask, strict: bool = False) -> Function:
        """`old` with the cotangents of these parameters, as a function of those of these results too."""
        whole = Linear(self.activity, self.silencing, old, params)
        body = whole.body
        seeds = [body.add_param(t) for t, r in zip(old.result_types, results, strict=True) if r]
        cotangents: Cotangent = {}
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
    """The pullback of a callee as a function, and what is called forward in the callee's place.

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
    """Builds the way back at the place where the builder stands; `strict`: zero cotangents come to nothing."""

    def __init__(self, owner: Reverse, b: Builder, varied: set[Value], strict: bool) -> None:
        self._owner = owner
        self.b = b
        self.c = Calculus(b)
        self.varied = varied
        self._strict = strict

    def send(self, cotangents: Cotangent, value: Value, contribution: object) -> None:
        """Adds to the cotangent of a value that varies."""
        if value in self.varied and contribution is not None:
            made = accumulated(self.c, cotangents.get(value), contribution, value.type)
            assert made is not None
            cotangents[value] = made

    def tape(self, tape: Tape, cotangents: Cotangent) -> None:
        """Goes through a tape from the end; `cotangents` are those of the region's results, and then of all else."""
        for step in reversed(tape.steps):
            given = [cotangents.pop(r, None) for r in step.op.results]
            if any(ct is not None for ct in given):
                self.b.span = step.op.span
                self._step(step, given, cotangents)

    def _step(self, step: Step, given: Sequence[Value | None], cotangents: Cotangent) -> None:
        match step.op.kind:
            case If() | Case():
                self._branch(step, given, cotangents)
            case While():
                self._loop(step, given, cotangents)
            case Call() if isinstance(kind := step.old.kind, Call) and kind.rule is not None:
                self._ruled(step, kind.rule, given, cotangents)
            case Call(recompute=True):
                self._again(step, given, cotangents)
            case Call(function=function):
                self._call(step, function, given, cotangents)
            case _:
                found = contributions(self.c, step.op, given)
                if self._strict:
                    found = stopped_at_zero(self.c, step.op.kind, given, found)
                for operand, contribution in zip(step.op.operands, found, strict=True):
                    self.send(cotangents, operand, contribution)

    # -- which values outside of a region its way back reaches

    def _reached(self, tape: Tape, seeds: Iterable[Value]) -> dict[Value, None]:
        """The values that get a cotangent when these results of a region have one, in a fixed order."""
        found = {v: None for v in seeds if v in self.varied}
        for step in reversed(tape.steps):
            flags = [r in found for r in step.op.results]
            if not any(flags):
                continue
            match step.op.kind:
                case If() | Case():
                    reached = self._captured(step, flags)
                case While():
                    carried, reached = self.carried(step, flags)
                    reached.update((step.op.operands[i], None) for i in carried)
                case _:
                    reached = dict.fromkeys(step.op.operands)
            found.update((v, None) for v in reached if v in self.varied)
        return found

    def _captured(self, step: Step, given: Sequence[bool]) -> dict[Value, None]:
        """The values outside of a branch that get cotangents when these of its results have one."""
        found: dict[Value, None] = {}
        for inner in step.inner:
            own = Scope(inner.region)
            seeds = [v for v, flag in zip(inner.region.results, given) if flag]
            found.update((v, None) for v in self._reached(inner, seeds) if v not in own)
        return found

    def carried(self, step: Step, given: Sequence[bool]) -> tuple[list[int], dict[Value, None]]:
        """Which carried values of a loop have cotangents at some trip, and the outer values that get some."""
        body = step.inner[1]
        params = body.region.params
        flags = [g and p in self.varied for g, p in zip(given, params)]
        while True:
            seeds = [r for r, f in zip(body.region.results, flags) if f]
            found = self._reached(body, seeds)
            after = [f or p in found for f, p in zip(flags, params)]
            if after == flags:
                own = Scope(body.region)
                carried = [i for i, f in enumerate(flags) if f]
                return carried, {v: None for v in found if v not in own}
            flags = after

    # -- control flow

    def _branch(self, step: Step, given: Sequence[Value | None], cotangents: Cotangent) -> None:
        """A branch of the same condition; each arm adds to the cotangents of what it uses."""
        captured = self._captured(step, [ct is not None for ct in given])
        if not captured:
            return
        regions = []
        for inner in step.inner:
            region = Region()
            local = {v: cotangents[v] for v in captured if v in cotangents}
            with self.b.region(region):
                for value, ct in zip(inner.region.results, given, strict=True):
                    if ct is not None:
                        self.send(local, value, ct)
                self.tape(inner, local)
                region.results = tuple([local[v] if v in local else self.c.zeros(v.type) for v in captured])
            regions.append(region)
        self._give_residuals_of_arms(step, regions)
        made = self.b.apply(step.op.kind, step.op.operands, regions)
        cotangents.update(zip(captured, made.results, strict=True))

    def _give_residuals_of_arms(self, step: Step, regions: Sequence[Region]) -> None:
        """What the way back needs of an arm is a further result of the branch; other arms give zeros."""
        for arm, (inner, region) in enumerate(zip(step.inner, regions, strict=True)):
            for value in residuals(region, Scope(inner.region)):
                for other, tape in enumerate(step.inner):
                    if other == arm:
                        tape.region.results = (*tape.region.results, value)
                    else:
                        zero = Calculus(Builder(tape.region)).zeros(value.type)
                        tape.region.results = (*tape.region.results, zero)
                (result,) = extend(step.op, [value.type])
                substitute(region, {value: result})

    def _loop(self, step: Step, given: Sequence[Value | None], cotangents: Cotangent) -> None:
        kind = step.op.kind
        assert isinstance(kind, While)
        if kind.trip_count is None:
            checkpointed(self, step, given, cotangents)
            return
        carried, captured = self.carried(step, [ct is not None for ct in given])
        body = step.inner[1]
        index = ArrayType(INT64)
        starts = [given[i] for i in carried]
        operands = [
            *[self.c.zeros(step.op.results[i].type) if ct is None else ct for i, ct in zip(carried, starts)],
            *[cotangents[v] if v in cotangents else self.c.zeros(v.type) for v in captured],
        ]
        types = (index, *[v.type for v in operands])
        tests, steps = Region(types), Region(types)
        with self.b.region(tests):
            zero = self.b.op(Constant(np.asarray(0, INT64)))
            tests.results = (self.b.op(Compare("GE"), tests.params[0], zero),)
        with self.b.region(steps):
            trip, *rest = steps.params
            local: Cotangent = dict(zip(captured, rest[len(carried) :], strict=True))
            for i, ct in zip(carried, rest):
                self.send(local, body.region.results[i], ct)
            self.tape(body, local)
            one = self.b.op(Constant(np.asarray(1, INT64)))
            ends = [body.region.params[i] for i in carried]
            steps.results = (
                self.b.op(Subtract(), trip, one),
                *[local[v] if v in local else self.c.zeros(v.type) for v in (*ends, *captured)],
            )
        needed = residuals(steps, Scope(body.region))
        size = sum(v.type.size * v.type.dtype.itemsize for v in needed)
        if size * kind.trip_count > config.residual_bytes:
            checkpointed(self, step, given, cotangents)
            return
        trips = exact_trips(step.op)
        last: Value | None = None if trips is None else self.b.op(Constant(np.asarray(trips - 1, INT64)))
        if needed or last is None:
            counter, count = self._counted(step)
            self._stack_residuals(step, steps, kind.trip_count, needed, counter)
            last = last or self.b.op(Subtract(), count, self.b.op(Constant(np.asarray(1, INT64))))
        made = self.b.apply(While(kind.trip_count), [last, *operands], (tests, steps))
        found = made.results[1:]
        cotangents.update(zip(captured, found[len(carried) :], strict=True))
        for i, ct in zip(carried, found):
            self.send(cotangents, step.op.operands[i], ct)

    def _counted(self, step: Step) -> tuple[Value, Value]:
        """Makes a loop count its trips: how many there were before one, in its body, and how many in the end."""
        condition, body = [tape.region for tape in step.inner]
        before = Before(step)
        counter = before.carry(condition, body, before.constant(np.asarray(0, INT64)))
        inside = Builder(body)
        one = inside.op(Constant(np.asarray(1, INT64)))
        body.results = (*body.results, inside.op(Add(), counter, one))
        (count,) = extend(step.op, [counter.type])
        return counter, count

    def _stack_residuals(
        self, step: Step, back: Region, trips: int, needed: Sequence[Value], counter: Value
    ) -> None:
        """What the way back needs of each trip is stacked by the loop, and taken at the trip's place."""
        condition, body = [tape.region for tape in step.inner]
        before, inside = Before(step), Builder(body)
        reading = Region()
        b = Builder(reading)
        found: dict[Value, Value] = {}
        for value in needed:
            shape = value.type.static_shape
            stack = before.carry(condition, body, before.zeros(value.type.with_shape((trips, *shape))))
            c = Calculus(inside)
            zero = inside.op(Constant(np.asarray(0, INT64)))
            part = c.reshape(value, (1, *shape))
            body.results = (*body.results, c.update(stack, part, [counter, *[zero] * len(shape)]))
            (whole,) = extend(step.op, [stack.type])
            none = b.op(Constant(np.asarray(0, INT64)))
            row = Calculus(b).dynamic_slice(whole, [back.params[0], *[none] * len(shape)], (1, *shape))
            found[value] = b.op(Reshape(shape), row)
        substitute(back, found)
        back.ops[:0] = reading.ops

    def _again(self, step: Step, given: Sequence[Value | None], cotangents: Cotangent) -> None:
        """A callee that keeps nothing: it is run once more from its operands, and pulled back."""
        assert isinstance(step.op.kind, Call)
        function, operands = self._owner.silencing.function(step.op.kind.function), step.op.operands
        params = tuple([v in self.varied for v in operands])
        flags = tuple([ct is not None for ct in given])
        made = self._owner.function(function, params, flags, self._strict)
        # The barrier keeps XLA from merging it with the way forward.
        apart = self.b.apply(OptimizationBarrier(), operands).results
        seeds = [ct for ct in given if ct is not None]
        found = self.b.apply(Call(made), (*apart, *seeds)).results[len(given) :]
        for operand, ct in zip([v for v, p in zip(operands, params) if p], found, strict=True):
            self.send(cotangents, operand, ct)

    def _ruled(self, step: Step, rule: Rule, given: Sequence[Value | None], cotangents: Cotangent) -> None:
        """A callee with a rule of its own, from the residuals that its way forward has kept."""
        op, ways = step.op, rule.ways
        if isinstance(ways, Diagnostic):
            raise DiagnosticError(ways)
        assert ways is not None
        if any(op.operands[i] in self.varied for i in ways.others):
            raise DiagnosticError(OutsideOfRule(span=op.span, name=rule.name))
        if any(ct is not None and i not in ways.seeds for i, ct in enumerate(given)):
            what = "it gives a number that it does not give on all paths"
            raise DiagnosticError(NoRuleFor(span=op.span, name=rule.name, what=what))
        count = len(step.old.results)
        seeds = [self.c.zeros(op.results[i].type) if (ct := given[i]) is None else ct for i in ways.seeds]
        made = self.b.apply(Call(ways.backward), (*op.operands, *op.results[count:], *seeds))
        sent = unless_all_zero(self.c, seeds, made.results) if self._strict else made.results
        for i, contribution in zip(ways.wrt, sent, strict=True):
            self.send(cotangents, op.operands[i], contribution)

    def _call(
        self, step: Step, function: Function, given: Sequence[Value | None], cotangents: Cotangent
    ) -> None:
        op = step.op
        params = tuple([v in self.varied for v in op.operands])
        pullback = self._owner.pullback(
            function, params, tuple([ct is not None for ct in given]), self._strict
        )
        if pullback.forward is not function:
            op.kind = Call(pullback.forward)
            extend(op, pullback.forward.result_types[len(op.results) :])
        seeds = [ct for ct in given if ct is not None]
        kept = pullback.residuals_of(op.operands, op.results)
        made = self.b.apply(Call(pullback.backward), (*seeds, *kept))
        for operand, ct in zip([v for v, p in zip(op.operands, params) if p], made.results, strict=True):
            self.send(cotangents, operand, ct)
