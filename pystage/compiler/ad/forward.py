"""Forward mode: a function that also computes the tangents of its results.

In: a function, and which of its parameters have tangents. Out: a function of its parameters and then those
tangents, whose results are followed by the tangents of those that vary. Branches and loops compute tangents beside
primals; a callee becomes one such function for each set of parameters that vary. A custom VJP rule that is the
transpose of a JVP rule is transposed back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..analysis.dependence import Mask
from ..diagnostics.codes_differentiation import NoForwardRule, OutsideOfRule
from ..diagnostics.diagnostic import Diagnostic, DiagnosticError
from ..diagnostics.span import Span
from ..hlo.builder import Builder
from ..hlo.calculus import NotDifferentiable
from ..hlo.ir import Function, Op, Region, Value
from ..ops import Call, Case, If, ShardMap, VjpFunctions, VjpRule, While
from .activity import Activity
from .calculus import CalculusBuilder, differentiable
from .reverse import ReverseMode
from .rules import tangents


class ForwardMode:
    """Forward mode of functions, memoised by function and set of parameters with tangents; `checked` as in reverse mode."""

    def __init__(self, checked: bool = False) -> None:
        self._checked = checked
        self._activity = Activity()
        self._made: dict[tuple[Function, Mask], Function] = {}
        self._pushed: dict[Function, Function] = {}

    def results(self, function: Function, params: Mask) -> Mask:
        """Which results have tangents."""
        return self._activity.results(function, params)

    def function(self, old: Function, params: Mask) -> Function:
        """`old` with the tangents of its results that vary, as a function of those of these parameters too."""
        params = tuple([p and differentiable(t) for p, t in zip(params, old.param_types, strict=True)])
        key = old, params
        if key not in self._made:
            self._made[key] = _JvpFunction(self, self._activity, old, params).made
        return self._made[key]

    def pushed(self, vjp: VjpFunctions) -> Function:
        """The transpose of a rule's backward function: its last results are the tangents of the call's results."""
        back, count = vjp.backward, len(vjp.seeds)
        if back not in self._pushed:
            own = len(back.body.params) - count
            mask = (*[False] * own, *[True] * count)
            self._pushed[back] = ReverseMode(self._checked).function(back, mask, (True,) * len(vjp.wrt))
        return self._pushed[back]


class _JvpFunction:
    """One function in forward mode: the copies of its values, and their tangents."""

    def __init__(self, owner: ForwardMode, activity: Activity, old: Function, params: Mask) -> None:
        self._owner = owner
        self._activity = activity
        inputs = old.body.params
        self._varied = activity.of(old.body, [v for v, p in zip(inputs, params) if p])
        self._primal: dict[Value, Value] = {}
        self._tangent: dict[Value, Value] = {}
        self._refused: dict[Value, tuple[NotDifferentiable, Span | None]] = {}
        """Values that have no tangent, and why: an error only if the tangent is needed."""
        body = Region((*old.param_types, *[t for t, p in zip(old.param_types, params) if p]))
        self._b = Builder(body)
        self._c = CalculusBuilder(self._b)
        following = iter(body.params[len(inputs) :])
        for value, copy, varies in zip(inputs, body.params, params):
            self._primal[value] = copy
            if varies:
                self._tangent[value] = next(following)
        self._ops(old.body)
        results = old.body.results
        body.results = (*self._primals(results), *self._tangents([r for r in results if r in self._varied]))
        self.made = old.rewritten(body, "_jvp")

    def _primals(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple([self._primal[v] for v in values])

    def _tangents(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple([self._tangent_of(v) for v in values])

    def _tangent_of(self, value: Value) -> Value:
        if value in self._refused:
            error, self._b.span = self._refused[value]
            raise error
        found = self._tangent.get(value)
        return self._c.zeros(value.type) if found is None else found

    def _ops(self, region: Region) -> None:
        for op in region.ops:
            self._b.span = op.span
            self._op(op)

    def _op(self, op: Op) -> None:
        match op.kind:
            case While():
                self._loop(op)
            case If() | Case():
                self._branch(op)
            case Call(function):
                self._call(op, function)
            case ShardMap():
                self._shard_map(op, op.kind)
            case _:
                self._plain(op)

    def _plain(self, op: Op) -> None:
        operands = self._primals(op.operands)
        made = self._b.apply(op.kind, operands, [self._copy(r) for r in op.regions])
        self._primal.update(zip(op.results, made.results, strict=True))
        if not any(r in self._varied for r in op.results):
            return
        refused = [self._refused[v] for v in op.operands if v in self._refused]
        try:
            given = [self._tangent.get(v) for v in op.operands]
            found = tangents(self._c, made, given) if not refused else ()
        except NotDifferentiable as error:
            refused = [(error, op.span)]
        if refused:
            self._refused.update((r, refused[0]) for r in op.results if differentiable(r.type))
            return
        for old, tangent in zip(op.results, found, strict=True):
            if tangent is not None:
                self._tangent[old] = tangent

    def _copy(self, region: Region) -> Region:
        """A copy of a region without tangents, for operations that take a function."""
        made = Region(tuple([p.type for p in region.params]))
        self._primal.update(zip(region.params, made.params, strict=True))
        with self._b.region(made):
            for op in region.ops:
                copy = self._b.apply(op.kind, self._primals(op.operands), [self._copy(r) for r in op.regions])
                self._primal.update(zip(op.results, copy.results, strict=True))
            made.results = self._primals(region.results)
        return made

    def _branch(self, op: Op) -> None:
        varied = [i for i, r in enumerate(op.results) if r in self._varied]
        regions = []
        for old in op.regions:
            made = Region()
            with self._b.region(made):
                self._ops(old)
                made.results = (
                    *self._primals(old.results),
                    *self._tangents([old.results[i] for i in varied]),
                )
            regions.append(made)
        self._define(op, self._b.apply(op.kind, self._primals(op.operands), regions), varied)

    def _define(self, op: Op, made: Op, varied: Sequence[int]) -> None:
        """The results of `made` are the copies of those of `op`, and then the tangents of those that vary."""
        count = len(op.results)
        self._primal.update(zip(op.results, made.results[:count], strict=True))
        for i, tangent in zip(varied, made.results[count:], strict=True):
            self._tangent[op.results[i]] = tangent

    def _loop(self, op: Op) -> None:
        condition, body = op.regions
        varied = [i for i, p in enumerate(body.params) if p in self._varied]
        operands = (*self._primals(op.operands), *self._tangents([op.operands[i] for i in varied]))
        types = tuple([v.type for v in operands])
        count = len(op.operands)
        tests, steps = Region(types), Region(types)
        self._primal.update(zip(condition.params, tests.params[:count], strict=True))
        with self._b.region(tests):
            for inner in condition.ops:
                copy = self._b.apply(
                    inner.kind, self._primals(inner.operands), [self._copy(r) for r in inner.regions]
                )
                self._primal.update(zip(inner.results, copy.results, strict=True))
            tests.results = self._primals(condition.results)
        self._primal.update(zip(body.params, steps.params[:count], strict=True))
        for i, tangent in zip(varied, steps.params[count:], strict=True):
            self._tangent[body.params[i]] = tangent
        with self._b.region(steps):
            self._ops(body)
            steps.results = (
                *self._primals(body.results),
                *self._tangents([body.results[i] for i in varied]),
            )
        self._define(op, self._b.apply(op.kind, operands, (tests, steps)), varied)

    def _call(self, op: Op, function: Function) -> None:
        params = tuple([v in self._varied for v in op.operands])
        if not any(params):
            self._plain(op)
            return
        assert isinstance(op.kind, Call)
        if op.kind.rule is not None:
            self._call_with_rule(op, op.kind.rule)
            return
        results = self._owner.results(function, params)
        made = self._owner.function(function, params)
        given = self._tangents([v for v, p in zip(op.operands, params) if p])
        call = self._b.apply(replace(op.kind, function=made), (*self._primals(op.operands), *given))
        self._define(op, call, [i for i, r in enumerate(results) if r])

    def _shard_map(self, op: Op, kind: ShardMap) -> None:
        """The function with tangents on every device; a tangent is split as what it is of."""
        params = tuple([v in self._varied for v in op.operands])
        if not any(params):
            self._plain(op)
            return
        results = self._owner.results(kind.function, params)
        made = self._owner.function(kind.function, params)
        ins, outs = [
            (*specs, *[spec for spec, flag in zip(specs, flags, strict=True) if flag])
            for specs, flags in ((kind.in_specs, params), (kind.out_specs, results))
        ]
        given = self._tangents([v for v, p in zip(op.operands, params) if p])
        whole = replace(kind, function=made, in_specs=ins, out_specs=outs)
        call = self._b.apply(whole, (*self._primals(op.operands), *given))
        self._define(op, call, [i for i, r in enumerate(results) if r])

    def _call_with_rule(self, op: Op, rule: VjpRule) -> None:
        vjp = rule.vjp
        if isinstance(vjp, Diagnostic):
            raise DiagnosticError(vjp)
        if vjp is None or not vjp.is_transpose:
            raise DiagnosticError(NoForwardRule(span=op.span, name=rule.name))
        if any(op.operands[i] in self._varied for i in vjp.others):
            raise DiagnosticError(OutsideOfRule(span=op.span, name=rule.name))
        operands, count = self._primals(op.operands), len(op.results)
        there = self._b.apply(Call(vjp.forward), operands).results
        self._primal.update(zip(op.results, there[:count], strict=True))
        seeds = [self._c.zeros(op.results[i].type) for i in vjp.seeds]
        given = self._tangents([op.operands[i] for i in vjp.wrt])
        back = self._owner.pushed(vjp)
        found = self._b.apply(Call(back), (*operands, *there[count:], *seeds, *given)).results
        for i, tangent in zip(vjp.seeds, found[len(vjp.wrt) :], strict=True):
            self._tangent[op.results[i]] = tangent
        error = NotDifferentiable(f"`{rule.name}` (it gives a number that it does not give on all paths)")
        without = [r for i, r in enumerate(op.results) if i not in vjp.seeds and differentiable(r.type)]
        self._refused.update((r, (error, op.span)) for r in without)
