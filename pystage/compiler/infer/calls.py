"""Calls of user functions: arguments bound as Python binds them, bodies inferred once, calls replayed.

A callee is inferred on a fork of the state in which every program value that its arguments reach is a
parameter. What it did (its result, the cells it changed or made) is remembered under a canonical form of
the function and of the heap that its arguments and captures reach; a later call with the same form becomes
one more `Call` of the same HLO function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import jax

from ..diagnostics.codes_calls import EndlessRecursion
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.ir import Function as HloFunction
from ..hlo.ir import Region, Value
from ..hlo.types import ArrayType
from ..ops import Call
from ..stage import ir as stage
from ..values.lattice import (
    Abstract,
    Array,
    Cell,
    Const,
    DictCell,
    Ref,
    Tuple,
    Undef,
    VariableCell,
)
from ..values.state import Content, Slot
from ..values.traverse import cells_of, rebuild, values_of
from .frame import Frame
from .merged import is_stale, note_stale, seal

if TYPE_CHECKING:
    from .engine import Engine

RECURSION_LIMIT = 120
"""How deep staged calls nest."""


@dataclass(slots=True)
class Callee:
    """A function to call: stage IR, its module, and what it closes over.

    `bound` are the values of its parameters; `cells` the heap cells of its free variables.
    """

    function: stage.Function
    namespace: dict[str, Any]
    module: str
    cells: dict[str, int]
    identity: object


@dataclass(slots=True, eq=False)
class Replay:
    """What a callee did, in terms of its own parameters: enough to do it again at another call.

    `effects` are the contents of the canonical cells (by position), of outer cells (by number) and of the
    cells it made; `depends` the outer cells it may have read, with what they held.
    """

    function: HloFunction
    free: tuple[Value, ...]
    result: Abstract
    reached: dict[int, Cell]
    outer: dict[Slot, Content]
    made: dict[int, Cell]
    parameters: dict[int, int]
    depends: tuple[tuple[int, Content], ...]


class Canonical:
    """The canonical form of abstract values and of the heap they reach."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.cells: dict[int, int] = {}
        self.values: dict[Value, int] = {}
        self._at = 0  # the cell whose contents are being described

    def key(self, x: Abstract) -> object:
        """A hashable form: equal for values that no callee can tell apart, but for the numbers inside."""
        cells = self.cells
        fresh: list[int] = []

        def cell(c: int) -> int:
            if c not in cells:
                cells[c] = len(cells)
                fresh.append(c)
            return cells[c]

        parts: list[object] = [self._shape(x, cell)]
        while fresh:
            self._at = fresh.pop(0)
            content = self._engine.state.slots.get(self._at)
            parts.append(None if content is None else self._shape(content, cell))
        return tuple(parts)

    def _shape(self, x: object, cell: Any) -> object:
        match x:
            case Array():
                return ("A", self._value(x.value), x.form, x.weak, x.lower, x.upper, x.kinds, x.key_impl)
            case Const(v):
                return self._constant(v)
            case Value():
                return self._value(x)
            case Abstract() | Cell():
                return (type(x), *[self._field(n, getattr(x, n), cell) for n in type(x).__dataclass_fields__])  # type: ignore[union-attr]
            case tuple():
                return tuple([self._shape(i, cell) for i in x])
            case dict():
                return tuple([(k, self._shape(v, cell)) for k, v in x.items()])
            case _ if hasattr(x, "__dataclass_fields__") and not isinstance(x, type):
                names = type(x).__dataclass_fields__
                return (type(x), *[self._shape(getattr(x, n), cell) for n in names])
            case _:
                return self._constant(x)

    def _field(self, name: str, value: object, cell: Any) -> object:
        if name == "cell":
            return cell(value)
        if name == "cells":
            return tuple([(n, cell(c)) for n, c in cast("tuple[tuple[str, int], ...]", value)])
        if name == "sources":
            sources = cast("tuple[tuple[int, Cell], ...]", value)
            held = self._engine.held_elsewhere
            return tuple(
                [(cell(c), is_stale(self._engine.state, c, k), held(c, self._at)) for c, k in sources]
            )
        return self._shape(value, cell)

    def _value(self, value: Value) -> object:
        return (self.values.setdefault(value, len(self.values)), value.type)

    def _constant(self, value: object) -> object:
        if isinstance(value, float):
            return (float, value.hex())
        if isinstance(value, complex):
            return (complex, value.real.hex(), value.imag.hex())
        if value is None or isinstance(value, bool | int | str | bytes | ArrayType):
            return (type(value), value)
        self._engine.keep.append(value)
        return (type(value), id(value))


def call_function(engine: Engine, callee: Callee, bound: Mapping[str, Abstract]) -> Abstract:
    """Calls a user function with its parameters bound, through the table of what was inferred before."""
    canonical = Canonical(engine)
    captured = [Ref(c) for c in callee.cells.values()]
    key = (
        callee.identity,
        (engine.x64, jax.config.jax_default_matmul_precision),
        tuple([canonical.key(v) for v in bound.values()]),
        tuple([canonical.key(c) for c in captured]),
        tuple([canonical.key(cast(Abstract, engine.state.slots[s])) for s in engine.written_globals()]),
    )
    for replay in engine.replays.get(key, ()):
        if all(engine.state.slots.get(c) is content for c, content in replay.depends):
            return _apply(engine, replay, canonical)
    if engine.depth >= RECURSION_LIMIT or key in engine.in_progress:
        raise DiagnosticError(
            EndlessRecursion(span=engine.b.span, name=callee.function.name, limit=RECURSION_LIMIT)
        )
    engine.in_progress.add(key)
    try:
        replay, memoise = _infer_callee(engine, callee, bound, canonical)
    finally:
        engine.in_progress.discard(key)
    if memoise:
        engine.replays.setdefault(key, []).append(replay)
    return _apply(engine, replay, canonical)


def _infer_callee(
    engine: Engine, callee: Callee, bound: Mapping[str, Abstract], canonical: Canonical
) -> tuple[Replay, bool]:
    body = Region()
    params = {value: body.add_param(value.type) for value in canonical.values}
    for value, inner in params.items():
        engine.origins.operands[inner] = value
    state = engine.state
    outer_cells = dict(engine.externals.initial)
    depends = [(c, state.slots[c]) for c in outer_cells if c not in canonical.cells and c in state.slots]
    errors = engine.mark_errors()
    span = engine.b.span

    def param(value: Value) -> Value:
        return params.get(value, value)

    with state.fork() as changes, engine.b.isolated(body), engine.inside_callee(body) as scope:
        note_stale(state, canonical.cells)
        for cell in canonical.cells:
            if cell in state.slots:
                state.set(cell, rebuild(cast(Cell, state.slots[cell]), param))
        for variable in engine.written_globals():
            state.set(variable, rebuild(cast(Abstract, state.slots[variable]), param))
        seal(state, canonical.cells)
        entry = {cell: state.slots.get(cell) for cell in canonical.cells}
        arguments = {name: rebuild(v, param) for name, v in bound.items()}
        result = run_body(engine, callee, arguments)
        note_stale(state, state.merged)
    # What is wrong with the result of the whole program is told at its `return`.
    engine.b.span = span if engine.frame is not None else callee.function.body[-1].span
    reached = {
        n: cast(Cell, changes[c])
        for c, n in canonical.cells.items()
        if c in changes and changes[c] is not entry[c]
    }
    outer: dict[Slot, Content] = {}
    for slot, content in changes.items():
        if isinstance(slot, int):
            if slot in engine.externals.initial and slot not in canonical.cells:
                outer[slot] = content
        elif slot[0] < 0:
            outer[slot] = content
    made = _made(changes, [result, *reached.values(), *outer.values()], canonical)
    free = _close(body, [result, *reached.values(), *outer.values(), *made.values()], set(params.values()))
    function = HloFunction(engine.fresh_name(callee.function.name), body, callee.function.span)
    new = [c for c in engine.externals.initial if c not in outer_cells and c not in outer]
    depends += [(c, state.slots[c]) for c in new if c in state.slots]
    parameters = dict(canonical.cells)
    replay = Replay(function, free, result, reached, outer, made, parameters, tuple(depends))
    _note_results(replay, canonical, params)
    return replay, engine.mark_errors() == errors and not scope.crossed


def _made(changes: Mapping[Slot, Content], roots: Sequence[Content], canonical: Canonical) -> dict[int, Cell]:
    """The cells that the callee made and that can still be reached."""
    found: dict[int, Cell] = {}
    pending = list(roots)
    for content in pending:
        for cell in (*cells_of(content), *[c for c, _ in getattr(content, "sources", ())]):
            if cell in canonical.cells or cell in found or cell not in changes:
                continue
            found[cell] = cast(Cell, changes[cell])
            pending.append(changes[cell])
    return found


def _close(body: Region, contents: Sequence[Content], params: set[Value]) -> tuple[Value, ...]:
    """Turns the outer values that `body` or `contents` use into parameters; returns them."""
    defined: set[Value] = set(body.params)
    for op in body.walk():
        defined.update(op.results)
        for region in op.regions:
            defined.update(region.params)
    free: dict[Value, Value] = {}
    for op in body.walk():
        if any(v not in defined for v in op.operands):
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


def _note_results(replay: Replay, canonical: Canonical, params: dict[Value, Value]) -> None:
    """Makes every value of the callee that what it leaves behind mentions a result of its function."""
    body = replay.function.body
    contents: list[Content] = [
        replay.result,
        *replay.reached.values(),
        *replay.outer.values(),
        *replay.made.values(),
    ]
    own = {v for op in body.ops for v in op.results}
    results = dict.fromkeys([v for c in contents for v in values_of(c) if v in own])
    body.results = tuple(results)


def _apply(engine: Engine, replay: Replay, canonical: Canonical) -> Abstract:
    """Does what a callee did, on the values and cells of this call."""
    state = engine.state
    body = replay.function.body
    actual = [*canonical.values, *replay.free]
    mapping: dict[Value, Value] = dict(zip(body.params, actual, strict=True))
    if body.results or any(not op.kind.pure or op.regions for op in body.ops):
        op = engine.b.apply(Call(replay.function), actual)
        mapping.update(zip(body.results, op.results, strict=True))
    cells = dict(zip(replay.parameters, canonical.cells, strict=True))
    for cell in replay.made:
        cells[cell] = state.cell_number()

    def value(v: Value) -> Value:
        return mapping.get(v, v)

    def cell_of(c: int) -> int:
        return cells.get(c, c)

    positions = list(canonical.cells)
    for position, content in replay.reached.items():
        state.set(positions[position], rebuild(content, value, cell_of))
    for slot, outer in replay.outer.items():
        state.set(slot, rebuild(outer, value, cell_of))
    for cell, content in replay.made.items():
        state.set(cells[cell], rebuild(content, value, cell_of))
    seal(state, [*[cells[c] for c in replay.made], *[positions[p] for p in replay.reached]])
    return rebuild(replay.result, value, cell_of)


def run_body(engine: Engine, callee: Callee, arguments: Mapping[str, Abstract]) -> Abstract:
    """Runs a function's body in a new frame and returns its result."""
    function = callee.function
    frame = Frame(
        engine.state.new_frame(),
        function,
        callee.namespace,
        callee.module,
        dict(callee.cells),
        engine.b.span,
        engine.frame,
    )
    for name in function.cells:
        frame.cells[name] = engine.state.new_cell(VariableCell(arguments.get(name, Undef())))
    for name, value in arguments.items():
        if name not in function.cells:
            engine.state.set((frame.id, name), value)
    return engine.run_frame(frame)


def bind(
    params: stage.Parameters,
    name: str,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
    defaults: Mapping[str, Abstract],
    engine: Engine,
) -> dict[str, Abstract]:
    """Binds arguments to parameters as Python does; its TypeErrors are raised by the program."""
    ordered = [*params.positional_only, *params.positional]
    bound: dict[str, Abstract] = dict(zip(ordered, args))
    extra = args[len(ordered) :]
    if extra and params.star is None:
        given = f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
        takes = len(ordered)
        raise_type_error(
            engine, f"{name}() takes {takes} positional argument{'s' * (takes != 1)} but {given}"
        )
    rest: dict[str, Abstract] = {}
    for key, value in kwargs.items():
        if key in params.positional or key in params.keyword_only:
            if key in bound:
                raise_type_error(engine, f"{name}() got multiple values for argument '{key}'")
            bound[key] = value
        elif params.double_star is not None:
            rest[key] = value
        else:
            raise_type_error(engine, f"{name}() got an unexpected keyword argument '{key}'")
    missing = []
    for each in [*ordered, *params.keyword_only]:
        if each not in bound:
            if each in defaults:
                bound[each] = defaults[each]
            else:
                missing.append(each)
    if missing:
        kind = "positional" if missing[0] in ordered else "keyword-only"
        names = [f"'{m}'" for m in missing]
        listed = (
            names[0]
            if len(names) == 1
            else ", ".join(names[:-1]) + (f", and {names[-1]}" if len(names) > 2 else f" and {names[-1]}")
        )
        raise_type_error(
            engine,
            f"{name}() missing {len(missing)} required {kind} argument{'s' * (len(missing) != 1)}: {listed}",
        )
    if params.star is not None:
        bound[params.star] = Tuple(tuple(extra))
    if params.double_star is not None:
        bound[params.double_star] = Ref(engine.state.new_cell(DictCell(rest)))
    return bound


def raise_type_error(engine: Engine, text: str) -> None:
    """The program raises this TypeError."""
    engine.raise_(TypeError(text))
