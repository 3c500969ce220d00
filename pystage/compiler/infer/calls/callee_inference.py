"""Inference of the body of a callee: once, as a function of its own, on a fork of the state.

In: a call in canonical form. Out: the function's summary. Every program value that the arguments reach is a parameter of
the function, and so are the values of the program around it that its body uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields
from typing import cast

from ....records import dataclass
from ...diagnostics.span import Span
from ...hlo.ir import Function as HloFunction
from ...hlo.ir import Region, Value, type_of
from ...values.lattice import NONE, Abstract, Cell, ErrorCell, OutputCell
from ...values.slots import Slot
from ...values.state import ERROR, OUTPUT, Content
from ...values.walk import cells_of, rebuild, values_of
from ..core.engine import Engine
from ..core.induction_ranges import assume_ranges
from ..exceptions.raising import attempt, chain_of, error_of
from ..state.frame import CalleeScope, PythonRaise
from ..state.merged import assume_alias, note_out_of_date, stamp_versions
from ..state.summaries import CalleeEffects, Summary
from .canonical import Canonical, is_zero
from .printing import output_of

_EFFECTS = tuple([each.name for each in fields(CalleeEffects)])


@dataclass(slots=True, eq=False)
class Activation:
    """A body to infer as a function of its own; it runs on values given by name."""

    name: str
    span: Span | None
    run: Callable[[Mapping[str, Abstract]], Abstract]


@dataclass(frozen=True, slots=True, eq=False)
class _InferredRun:
    """The outcome of one run of a body: the contents before it, the changes to the state, and how it ended."""

    changes: Mapping[Slot, Content]
    entry: Mapping[int, Content | None]
    """Of the canonical cells."""
    error: ErrorCell
    """The error cell on entry."""
    output: OutputCell
    """The output cell on entry."""
    scope: CalleeScope
    result: Abstract
    raises: PythonRaise | None


class CalleeInference:
    """One inference of a body: the parameters of its function, and the environment that it may read."""

    def __init__(self, engine: Engine, canonical: Canonical) -> None:
        self._engine = engine
        self._canonical = canonical
        self._body = Region(tuple(map(type_of, canonical.values)))
        self._params = dict(zip(canonical.values, self._body.params, strict=True))
        engine.origins.operands.update(zip(self._body.params, canonical.values, strict=True))
        state, captured = engine.state, engine.externals.captured
        held = [state.slots[c] for c in captured if c not in canonical.cells and c in state.slots]
        # What callers stored into what they captured is part of the environment, too.
        self._environment = dict.fromkeys([*captured, *state.reachable(held)])
        self._depends = [
            (c, state.slots[c]) for c in self._environment if c not in canonical.cells and c in state.slots
        ]
        self._captured_before = len(captured)

    def infer(self, activation: Activation, bound: Mapping[str, Abstract]) -> tuple[Summary, bool]:
        """The effects of the body for these values, and whether a summary of them may serve other calls."""
        engine, state, body = self._engine, self._engine.state, self._body
        errors, splits, span = self._errors(), engine.splits, engine.b.span
        stored = len(engine.elements.stored)
        first_site, first_cell = engine.raises.sites.next, state.next_cell
        run = self._run(activation, bound)
        engine.b.span = span
        effects = self._effects(run, state.next_cell > first_cell)
        free = _close(body)
        body.results = _results(body, effects.contents())
        name = engine.callees.fresh_name(activation.name)
        function = HloFunction(name, body, activation.span, catches=body in engine.raises.catching)
        captured = engine.externals.captured[self._captured_before :]
        cells = self._canonical.cells
        observed, laid_out = run.scope.observed, state.laid_out
        summary = Summary(
            **{name: getattr(effects, name) for name in _EFFECTS},
            function=function,
            free=free,
            parameters=dict(cells),
            objects=dict(self._canonical.objects),
            computed=tuple([i for i, p in enumerate(body.params) if run.scope.computed.get(p)]),
            depends=(*self._depends, *[(c, state.slots[c]) for c in captured if c in state.slots]),
            sites=(first_site, engine.raises.sites.next, len(chain_of(engine)) + 1),
            raises=run.raises,
            observed={n: observed[c] for c, n in cells.items() if c in observed},
            pure=not engine.effects.are_in(body),
            laid_out={n: laid_out[c] for c, n in cells.items() if c in laid_out},
            splits=engine.splits != splits,
            elements=tuple(dict.fromkeys(engine.elements.stored[stored:])),
        )
        if not summary.pure:
            engine.effects.functions.add(function)
        return summary, self._errors() == errors and not run.scope.crossed

    def _errors(self) -> tuple[int, int]:
        return len(self._engine.errors.found), self._engine.errors.repeated

    def _run(self, activation: Activation, bound: Mapping[str, Abstract]) -> _InferredRun:
        """Runs the body on a fork of the state, in which its parameters stand for the values given."""
        engine, state = self._engine, self._engine.state
        found: list[Abstract] = []
        code = error_of(engine).code
        reached = self._canonical.cells.keys() | self._environment.keys()
        with (
            state.fork() as changes,
            engine.b.isolated(self._body),
            engine.intervals.knowing({}),
            engine.callees.enter(self._body, len(engine.raises.bodies), state.next_cell, reached) as scope,
        ):
            for value in filter(is_zero, self._params):
                self._params[value] = engine.constant(0, value.type.dtype)
            token = output_of(engine).token
            output = OutputCell(self._param(token) if isinstance(token, Value) else token)
            error = ErrorCell(self._param(code) if isinstance(code, Value) else code)
            state.set(OUTPUT, output)
            state.set(ERROR, error)
            self._enter()
            entry = {cell: state.slots.get(cell) for cell in self._canonical.cells}
            arguments = {name: rebuild(v, self._param) for name, v in bound.items()}
            for argument in arguments.values():
                assume_ranges(engine, argument)
            raises = attempt(engine, lambda: found.append(activation.run(arguments)))
            note_out_of_date(state, state.merged_cells())
        if raises is not None and raises.before is not error.code and raises.before != error.code:
            raises.exception = None  # or what was raised before it
        result = found[0] if found else raises.exception if raises and raises.exception else NONE
        return _InferredRun(changes, entry, error, output, scope, result, raises)

    def _param(self, value: Value) -> Value:
        return self._params.get(value, value)

    def _enter(self) -> None:
        """Puts the parameters into the contents that the arguments reach, and into variables of modules."""
        state, cells = self._engine.state, self._canonical.cells
        note_out_of_date(state, cells)
        for cell in cells:
            content = state.slots.get(cell)
            if content is not None:
                entered = rebuild(cast(Cell, content), self._param)
                state.set(cell, entered)
                assume_alias(self._engine.intervals, content, entered)
        for variable in self._engine.namespaces.written(state):
            state.set(variable, rebuild(cast(Abstract, state.slots[variable]), self._param))
        stamp_versions(state, cells)

    def _effects(self, run: _InferredRun, makes_cells: bool) -> CalleeEffects:
        """The effects that the body has left in the state."""
        cells, changes = self._canonical.cells, run.changes
        error, output = cast(ErrorCell, changes[ERROR]), cast(OutputCell, changes[OUTPUT])
        reached = {
            n: cast(Cell, changes[c])
            for c, n in cells.items()
            if c in changes and changes[c] is not run.entry[c]
        }
        outer = self._outer(changes)
        kept: list[Content] = [run.result, *reached.values(), *outer.values()]
        kept += [version.content for version in error.versions]
        return CalleeEffects(
            run.result,
            reached,
            outer,
            _allocated(changes, kept, {*cells, *outer}) if makes_cells else {},
            error if error is not run.error else None,
            output if output is not run.output else None,
        )

    def _outer(self, changes: Mapping[Slot, Content]) -> dict[Slot, Content]:
        """The changes of the body to the environment that its arguments do not reach, globals included."""
        found: dict[Slot, Content] = {}
        initial = self._engine.externals.initial
        for slot, content in changes.items():
            if type(slot) is tuple:
                if slot[0] < 0:
                    found[slot] = content
            elif slot not in self._canonical.cells and (slot in self._environment or slot in initial):
                found[slot] = content
        return found


def _allocated(
    changes: Mapping[Slot, Content], roots: Sequence[Content], outside: Set[Slot]
) -> dict[int, Cell]:
    """The cells that the callee allocated and that can still be reached; those `outside` existed before."""
    found: dict[int, Cell] = {}
    pending = list(roots)
    for content in pending:
        for cell in (*cells_of(content), *[s.cell for s in getattr(content, "aliases", ())]):
            if cell in outside or cell in found or cell not in changes:
                continue
            found[cell] = cast(Cell, changes[cell])
            pending.append(changes[cell])
    return found


def _close(body: Region) -> tuple[Value, ...]:
    """Turns the outer values that `body` uses into parameters; returns them."""
    ops = list(body.walk())
    defined = {*body.params, *[v for op in ops for v in op.results]}
    defined.update([v for op in ops for region in op.regions for v in region.params])
    free: dict[Value, Value] = {}
    for op in ops:
        if not defined.issuperset(op.operands):
            op.operands = tuple([_lift(v, defined, free, body) for v in op.operands])
        for region in op.regions:
            region.results = tuple([_lift(v, defined, free, body) for v in region.results])
    return tuple(free)


def _lift(value: Value, defined: set[Value], free: dict[Value, Value], body: Region) -> Value:
    if value in defined:
        return value
    if value not in free:
        free[value] = body.add_param(value.type)
    return free[value]


def _results(body: Region, left: Sequence[Content]) -> tuple[Value, ...]:
    """The results of a callee's function: every value that it computes and that its effects mention."""
    own = {v for op in body.ops for v in op.results}
    return tuple(dict.fromkeys([v for content in left for v in values_of(content) if v in own]))
