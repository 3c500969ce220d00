"""Hoisting of draws out of a finished program: the host performs them before the program runs.

In: the root region of a program with `Draw`s in it, also in loops and callees. Out: the steps that the host takes,
in the program's order, and a program without `Draw`s that takes their results as parameters. A draw in a loop of
a known number of trips becomes a stack with one element for each trip; a callee gets what it draws as further
parameters, so that each of its calls has draws of its own. Where only the run time decides whether a draw happens,
it is refused (PS606).
"""

from __future__ import annotations

import functools
from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from ....records import dataclass
from ... import limits
from ...analysis.induction import exact_trips
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError, Note
from ...diagnostics.errors import StagingError
from ...diagnostics.span import Span
from ...hlo.builder import Builder
from ...hlo.ir import Function, Op, Region, Value
from ...hlo.op import HloOp
from ...hlo.rewrite import Copier
from ...hlo.types import INT32, ArrayType
from ...hlo.walk import callees, operation_count
from ...ops import Add, Call, Constant, Convert, DynamicSlice, Reshape, While
from ...ops.host.draw import HANDLE, Action, Draw
from ...stage import ir as stage
from ...values.boundary import Draws, GeneratorSlot, Perform, Repeat, Taken
from ...values.generators import IN_PROGRAM, INEXACT
from ...values.lattice import Abstract
from ..state.constants import ParameterOrigins, SourceLoop
from ..state.generators import CallersGenerators
from ..state.retry import GeneratorKey, Retry, StatesInProgram, WriteOut

INSTEAD = (
    "draw before the branch or loop, or from a `rng = np.random.default_rng()` that the caller passes, or use jax.random "
    "with a key"
)
_COUNT = ArrayType(INT32)


@dataclass(frozen=True, slots=True, eq=False)
class _Perform:
    """An action, in terms of the values of one function; `result` is its parameter that gets the result."""

    action: Action
    operands: tuple[Value, ...]
    result: Value | None
    draw: Op

    @property
    def span(self) -> Span | None:
        """Where it is drawn."""
        return self.draw.span


@dataclass(frozen=True, slots=True, eq=False)
class _Repeat:
    trips: int
    steps: list[_Step]


_Step = _Perform | _Repeat


@dataclass(slots=True, eq=False)
class _Level:
    """A function or loop body whose draws are being hoisted.

    `ops` are its operations so far, `clock` counts the actions up to there. `need` makes a value the result of
    a draw: it gives the function's parameter that stands for it.
    """

    need: Callable[[Value], Value]
    ops: list[Op] = field(default_factory=list)
    clock: Value | None = None

    def build(self, kind: HloOp, *operands: Value) -> Value:
        """One more operation here."""
        region = Region()
        made = Builder(region).op(kind, *operands)
        self.ops += region.ops
        return made


@dataclass(slots=True, eq=False)
class _Template:
    """A function without its draws: the steps, in terms of `params`, and the number of parameters added for them."""

    function: Function
    steps: list[_Step]
    params: Sequence[Value]
    drawn: int


class _LoopCopier(Copier):
    """Copies functions whose draws are being hoisted, with what is known of their loops."""

    def __init__(self, loops: dict[Region, SourceLoop]) -> None:
        super().__init__()
        self._loops = loops

    def region(self, old: Region) -> Region:
        made = super().region(old)
        if old in self._loops:
            self._loops[made] = self._loops[old]
        return made


class Hoist:
    """Hoists the draws of one program; `generators` are the handles of the caller's generators.

    `places` are the parameters of the program that the host has at hand, `timed` whether it may raise,
    `unrolled` the loops that are unrolled already; `known` asks for a value as a constant.
    """

    def __init__(
        self,
        origins: ParameterOrigins,
        generators: CallersGenerators,
        places: dict[Value, Taken],
        timed: bool,
        unrolled: Collection[stage.Instr],
        known: Callable[[Abstract, str], Any],
    ) -> None:
        self._origins = origins
        self._unrolled = unrolled
        self._known = known
        self._generators = generators.handles
        self._callers = generators
        self._refused: list[tuple[Op, NotServed]] = []
        self._places = places
        self._timed = timed
        self._templates: dict[Function, _Template] = {}
        self._drawn: dict[Function, list[Op]] = {}
        self._loops: dict[Region, Op] = {}
        self._slots: dict[Value, int] = {value: i for i, (_, value) in enumerate(generators.handles)}
        self._originals: dict[Value, Value] = {}
        """By the parameters of callees without their draws: those that they were copied from."""
        self._problems: list[Diagnostic] = []

    def program(self, body: Region) -> tuple[Draws | None, list[Value]]:
        """The steps, None if there are none, and the parameters for their results.

        `StagingError` for draws that cannot be taken out.
        """
        params: list[Value] = []
        level = _Level(functools.partial(_adopt, params))
        for number, (_, handle) in enumerate(self._generators):
            level.ops.append(_constant(handle, number))
        level.clock = level.build(Constant(np.zeros((), INT32))) if self._timed else None
        steps = self._region(body, level)
        body.ops = level.ops
        self._check()
        if not steps:
            return None, []
        makers = [s.result for s in _performed(steps) if s.action.makes and s.result is not None]
        for maker in makers:
            self._slots[maker] = len(self._slots)
        body.ops[:0] = [_constant(maker, self._slots[maker]) for maker in makers]
        kept = [p for p in params if p not in self._slots]
        draws = {param: i for i, param in enumerate(kept)}
        done = tuple([self._finished(step, draws) for step in steps])
        self._check()
        clock = None
        if level.clock is not None:
            clock = len(body.results)
            body.results = (*body.results, level.clock)
        paths = tuple([path for path, _ in self._generators])
        return Draws(paths, done, tuple([p.type for p in kept]), (), clock), kept

    def _check(self) -> None:
        """Raises `StatesInProgram` if the program itself can do what is refused here, else `StagingError`."""
        if self._problems:
            self._draw_in_program()
            by_place = {
                (p.headline, p.span): p for p in reversed(self._problems)
            }  # of all trips of a loop, the first
            raise StagingError(tuple(reversed(by_place.values())))

    def _draw_in_program(self) -> None:
        """Restarts inference with the states of the generators of the refused draws in the program."""
        found: dict[GeneratorKey, str] = {}
        for draw, problem in self._refused:
            keys = self._keys(draw)
            if not keys:
                return
            found |= dict.fromkeys(keys, problem.why)
        new = self._callers.new(found)
        if len(new) == len(found):
            raise Retry(StatesInProgram(new))

    def _keys(self, draw: Op) -> tuple[GeneratorKey, ...]:
        """The bit generator of a draw that the program can do itself."""
        assert isinstance(draw.kind, Draw)
        action, handles = draw.kind.action, [v for v in draw.operands if v.type == HANDLE]
        operands = ChainMap(self._originals, self._origins.operands)
        if action.makes:
            return self._callers.key_of(draw.results[0], operands) or ()
        if action.name not in IN_PROGRAM or not handles:
            return ()
        return self._callers.key_of(handles[0], operands) or ()

    # -- where draws are

    def _draws(self, op: Op) -> bool:
        """True if an operation draws, itself or in what it holds or calls."""
        return isinstance(op.kind, Draw) or bool(self._found(op))

    def _found(self, op: Op) -> list[Op]:
        """The draws of an operation, those of the functions that it calls included."""
        found = [op] if isinstance(op.kind, Draw) else []
        for region in op.regions:
            for inner in region.ops:
                found += self._found(inner)
        for function in callees(op):
            if function not in self._drawn:
                self._drawn[function] = [d for inner in function.body.ops for d in self._found(inner)]
            found += self._drawn[function]
        return found

    def _refuse(self, op: Op, why: str, note: Note | None = None) -> None:
        """Refuses every draw of `op`."""
        for draw in self._found(op):
            assert isinstance(draw.kind, Draw)
            notes = () if note is None else (note,)
            name = draw.kind.action.name
            problem = NotServed(span=draw.span, name=name, why=why, instead=INSTEAD, notes=notes)
            self._problems.append(problem)
            self._refused.append((draw, problem))

    # -- regions

    def _region(self, region: Region, level: _Level) -> list[_Step]:
        steps: list[_Step] = []
        for op in region.ops:
            if isinstance(op.kind, Draw):
                steps.append(self._draw(op, op.kind, level))
            elif not self._draws(op):
                level.ops.append(op)
            elif isinstance(op.kind, Call):
                steps += self._call(op, op.kind, level)
            elif isinstance(op.kind, While):
                steps += self._loop(op, level)
            else:
                text = "whether it happens is decided here, at run time"
                note = Note(text, op.span, text)
                self._refuse(
                    op, "whether it draws at all depends on values that are known only at run time", note
                )
        return steps

    def _draw(self, op: Op, kind: Draw, level: _Level) -> _Step:
        result = level.need(op.results[0]) if op.results else None
        if level.clock is not None:
            one = level.build(Constant(np.ones((), INT32)))
            if kind.watched:
                one = level.build(Convert(INT32), op.operands[-1])
            level.clock = level.build(Add(), level.clock, one)
        return _Perform(kind.action, op.operands[: kind.operands], result, op)

    def _call(self, op: Op, kind: Call, level: _Level) -> list[_Step]:
        """Hoists a call of a function that draws: it gets the results of the draws of this call."""
        function = kind.function
        template = self._templates.get(function)
        if template is None:
            template = self._templates[function] = self._template(function)
        count = len(op.operands)
        inner = dict(zip(template.params, op.operands, strict=False))
        for param in template.params[count : count + template.drawn]:
            value = Value(param.type, template.function.body, 0)
            inner[param] = level.need(value)
            op.operands = (*op.operands, value)
        op.kind = replace(kind, function=template.function)
        if level.clock is not None:
            op.operands = (*op.operands, level.clock)
            level.clock = Value(_COUNT, op, len(op.results))
            op.results = (*op.results, level.clock)
        level.ops.append(op)
        return [_substituted(step, inner) for step in template.steps]

    def _template(self, function: Function) -> _Template:
        body, copier = Region(function.param_types), _LoopCopier(self._origins.loops)
        with copier.b.isolated(body):
            copier.fill(function.body, body)
        self._originals |= zip(body.params, function.body.params, strict=True)
        drawn: list[Value] = []
        level = _Level(functools.partial(_adopt, drawn))
        start = level.clock = Value(_COUNT, body, 0) if self._timed else None
        steps = self._region(body, level)
        body.ops = level.ops
        for param in (*drawn, *([start] if start is not None else [])):
            _own(param, body)
        if level.clock is not None:
            body.results = (*body.results, level.clock)
        return _Template(function.rewritten(body), steps, body.params, len(drawn))

    # -- loops

    def _loop(self, op: Op, level: _Level) -> list[_Step]:
        cond, body = op.regions
        source = self._origins.loops.get(body)
        trips = (source.exact if source is not None else None) or exact_trips(
            op
        )  # a derivative's copies are read
        if trips is None and source is not None and self._may_be_known(op, source):
            return []
        if trips is None or any(self._draws(inner) for inner in cond.ops):
            text = "how often this runs is decided at run time"
            note = Note(text, op.span, text)
            self._refuse(op, "it draws in a loop whose number of trips only the run time knows", note)
            return []
        if self._makes_generators(op, body):
            return []
        self._loops[body] = op
        counter = _carry(op, level.build(Constant(np.zeros((), INT32))))
        inner = _Level(_adopt_nothing)
        inner.need = functools.partial(_row, level, inner, trips, counter)
        if level.clock is not None:
            inner.clock = _carry(op, level.clock)
        steps = self._region(body, inner)
        count = inner.build(Add(), counter, inner.build(Constant(np.ones((), INT32))))
        body.ops = inner.ops
        ends = [count] if inner.clock is None else [count, inner.clock]
        body.results = (*body.results, *ends)
        if level.clock is not None:
            level.clock = op.results[-1]
        level.ops.append(op)
        return [_Repeat(trips, steps)]

    def _may_be_known(self, op: Op, loop: SourceLoop) -> bool:
        """True if inference restarts because the trip count of a loop can be demanded."""
        may_unroll = isinstance(loop.instruction, stage.While) and loop.instruction not in self._unrolled
        if may_unroll and not all(map(self._keys, self._found(op))):
            raise Retry(WriteOut(loop.instruction, Note("how often a loop that draws goes on must be known")))
        if loop.length is None:
            return False
        try:
            self._known(loop.length, "the number of trips of a loop that draws")
        except DiagnosticError:
            return False
        return True

    def _makes_generators(self, op: Op, body: Region) -> bool:
        """True, with a problem, for a loop whose trips make generators; `Retry` if it can be written out. Where that is
        large, the program draws itself, if it does so exactly.

        Each generator needs a number of its own.
        """
        draws = self._found(op)
        if not any(d.kind.action.makes for d in draws if isinstance(d.kind, Draw)):
            return False
        source = self._origins.loops.get(body)
        trips = None if source is None else source.trips
        if source is not None and trips is not None and trips <= limits.UNROLLED_TRIPS:
            is_large = trips * operation_count(body.ops) > limits.WRITTEN_OUT_OPERATIONS
            if not (is_large and all(map(self._is_exact_in_program, draws))):
                raise Retry(WriteOut(source.instruction, Note("each trip of it makes a generator")))
        self._refuse(op, "each trip of a loop makes a generator")
        return True

    def _is_exact_in_program(self, draw: Op) -> bool:
        """True if the program can perform a draw itself, with the bits that NumPy gives."""
        assert isinstance(draw.kind, Draw)
        return bool(self._keys(draw)) and draw.kind.action.name not in INEXACT

    # -- what operands are

    def _finished(self, step: _Step, draws: dict[Value, int]) -> Perform | Repeat:
        if isinstance(step, _Repeat):
            return Repeat(step.trips, tuple([self._finished(s, draws) for s in step.steps]))
        operands = tuple([self._operand(v, step) for v in step.operands])
        into = None
        if step.result is not None:
            into = self._slots[step.result] if step.action.makes else draws[step.result]
        return Perform(step.action, operands, into, step.span)

    def _operand(self, value: Value, step: _Perform) -> GeneratorSlot | Taken:
        found = self._resolved(value)
        if found in self._slots:
            return GeneratorSlot(self._slots[found])
        if found in self._places:
            return self._places[found]
        why = "which generator it draws from is decided at run time"
        if value.type != HANDLE:
            why = "it takes a value that the program computes"
        name = step.action.name
        problem = NotServed(span=step.span, name=name, why=why, instead=INSTEAD)
        self._problems.append(problem)
        self._refused.append((step.draw, problem))
        return GeneratorSlot(0)

    def _resolved(self, value: Value) -> Value:
        """The value that `value` always equals, through calls that return it and loops that carry it unchanged."""
        while True:
            owner = value.owner
            if isinstance(owner, Region):
                loop = self._loops.get(owner)
                if loop is None or owner.results[value.index] is not value:
                    return value
                value = loop.operands[value.index]
            elif isinstance(owner.kind, While):
                inner = owner.regions[1].params[value.index]
                if owner.regions[1].results[value.index] is not inner:
                    return value
                value = owner.operands[value.index]
            elif isinstance(owner.kind, Call):
                body = owner.kind.function.body
                result = body.results[value.index]
                if result.owner is not body:
                    return value
                value = owner.operands[result.index]
            else:
                return value


def _performed(steps: Sequence[_Step]) -> Iterator[_Perform]:
    """All actions in order; those of loops once."""
    for step in steps:
        if isinstance(step, _Repeat):
            yield from _performed(step.steps)
        else:
            yield step


def _adopt(params: list[Value], value: Value) -> Value:
    params.append(value)
    return value


def _adopt_nothing(value: Value) -> Value:
    raise AssertionError(value)


def _own(value: Value, body: Region) -> None:
    """Makes `value` the last parameter of `body`."""
    value.owner, value.index = body, len(body.params)
    body.params.append(value)


def _carry(loop: Op, initial: Value) -> Value:
    """Adds a carried value to a loop, with the initial value `initial`; gives the parameter of the body."""
    cond, body = loop.regions
    cond.add_param(initial.type)
    loop.operands = (*loop.operands, initial)
    loop.results = (*loop.results, Value(initial.type, loop, len(loop.results)))
    return body.add_param(initial.type)


def _row(outer: _Level, inner: _Level, trips: int, counter: Value, value: Value) -> Value:
    """Makes `value` the element, for the current trip, of a stack that the level around the loop provides."""
    shape = value.type.shape
    stack = Value(ArrayType(value.type.dtype, (trips, *shape)), value.owner, 0)
    found = outer.need(stack)
    zero = [inner.build(Constant(np.zeros((), INT32))) for _ in shape]
    row = inner.build(DynamicSlice((1, *shape)), stack, counter, *zero)
    inner.build(Reshape(shape), row)
    value.owner, value.index = inner.ops[-1], 0
    inner.ops[-1].results = (value,)
    return found


def _constant(value: Value, number: int) -> Op:
    """Makes `value` a constant of the program."""
    made = Op(Constant(np.asarray(number, INT32)), (), (value.type,), (), None)
    value.owner, value.index = made, 0
    made.results = (value,)
    return made


def _substituted(step: _Step, values: dict[Value, Value]) -> _Step:
    if isinstance(step, _Repeat):
        return _Repeat(step.trips, [_substituted(s, values) for s in step.steps])
    operands = tuple([values.get(v, v) for v in step.operands])
    result = None if step.result is None else values[step.result]
    return replace(step, operands=operands, result=result)
