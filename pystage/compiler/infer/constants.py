"""Values that must be known while compiling: evaluated from the program, or demanded of the arguments.

`known` is asked for a shape, an axis, an index into a list. A value whose operations lead back to
constants alone is evaluated now. One that leads back to numbers among the arguments or in the world demands
these: the call is specialised on them. One that leads back to a loop's counter asks for that loop to be
unrolled. Everything else is PS401.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..diagnostics.codes_constant import NotKnown, TooManyToUnroll
from ..diagnostics.diagnostic import DiagnosticError, Note
from ..diagnostics.span import Span
from ..hlo.interpret import run_op
from ..hlo.ir import Op, Region, Value
from ..ops import Call, Constant
from ..stage import ir as stage
from ..values.boundary import Form, Path
from ..values.demand import NeedsConstant
from ..values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Const,
    DictCell,
    ListCell,
    Ref,
    SetCell,
    Slice,
    Text,
    Tuple,
    Unknown,
)
from ..values.state import State
from .frame import Restart

UNROLL_LIMIT = 4096
"""The most trips that a loop is unrolled to."""


@dataclass(slots=True)
class Origins:
    """Where the parameters of regions come from, noted while inferring.

    `names` says what the caller calls a parameter of the program. `places` maps one that is a Python or NumPy
    scalar to its argument leaf, or to its path in the world, `world` the latter to their values; `operands` a
    parameter of a callee to the value it was called with; `loops` a loop's region to its instruction and its
    trip count, where it could be unrolled; `exact` a loop's region to the number of its trips, unless it raises,
    `lengths` to that number where it is computed, `whiles` to the instruction of a `while`.
    `crossings` counts how often an evaluation went from a callee to its caller. `ask` gives the values of
    arguments, `given` holds those that were asked for, `demands` says why.
    """

    names: dict[Value, Path] = field(default_factory=dict)
    places: dict[Value, int | Path] = field(default_factory=dict)
    world: dict[Value, Any] = field(default_factory=dict)
    operands: dict[Value, Value] = field(default_factory=dict)
    loops: dict[Region, tuple[stage.Instr, int]] = field(default_factory=dict)
    exact: dict[Region, int] = field(default_factory=dict)
    lengths: dict[Region, Abstract] = field(default_factory=dict)
    whiles: dict[Region, stage.While] = field(default_factory=dict)
    crossings: int = 0
    ask: Callable[[int], Any] | None = None
    given: dict[Value, np.ndarray] = field(default_factory=dict)
    demands: dict[Value, NeedsConstant] = field(default_factory=dict)

    def demand(self, parameter: Value, span: Span | None, reason: str) -> None:
        """Asks for the value of a parameter in `places`; `NeedsConstant` where it cannot be had at once."""
        place = self.places[parameter]
        need = NeedsConstant(place, span, reason)
        if isinstance(place, Path):
            value = self.world[parameter]
        else:
            value = self.ask(place) if self.ask is not None else None
        if value is None:
            raise need
        self.demands.setdefault(parameter, need)
        self.given[parameter] = np.asarray(value)


def evaluate(origins: Origins, value: Value) -> tuple[np.ndarray | None, list[Value]]:
    """The value, if its operations lead to constants alone; else None and the parameters they lead to."""
    memo: dict[Value, np.ndarray | None] = {}
    blockers: dict[Value, None] = {}
    stack = [value]
    while stack:
        top = stack[-1]
        if top in memo:
            stack.pop()
            continue
        owner = top.owner
        if isinstance(owner, Region):
            source = origins.operands.get(top)
            if top in origins.given:
                memo[top] = origins.given[top]
                origins.crossings += 1
            elif source is None:
                blockers[top] = None
                memo[top] = None
            elif source in memo:
                memo[top] = memo[source]
            else:
                origins.crossings += 1
                stack.append(source)
            continue
        missing = [v for v in owner.operands if v not in memo]
        if missing:
            stack.extend(missing)
            continue
        memo[top] = _apply(owner, top.index, memo, blockers)
    return memo[value], list(blockers)


def _apply(
    op: Op, index: int, memo: dict[Value, np.ndarray | None], blockers: dict[Value, None]
) -> np.ndarray | None:
    operands = [memo[v] for v in op.operands]
    if not _at_once(op):
        blockers[op.results[index]] = None
        return None
    if any(x is None for x in operands):
        return None
    if isinstance(op.kind, Constant):
        return np.asarray(op.kind.data)
    if op.results[index].type.size > 1 << 16:
        blockers[op.results[index]] = None
        return None
    return np.asarray(run_op(op, operands)[index])  # type: ignore[arg-type]


def _at_once(op: Op) -> bool:
    """Whether an operation is computed while compiling: none that may loop, or that has effects."""
    if isinstance(op.kind, Call):
        return all(map(_at_once, op.kind.function.body.ops))
    return not op.regions and op.kind.pure


def python_value(array: np.ndarray, form: Form) -> Any:
    """An evaluated value as the Python object of its form."""
    if form is Form.PYTHON:
        return array.item()
    if form is Form.SCALAR:
        return array[()]
    return array


def known(state: State, origins: Origins, value: Any, what: str, span: Span | None) -> Any:
    """See `Context.known`."""

    def go(x: Any) -> Any:
        return x.value if type(x) is Const else known(state, origins, x, what, span)

    match value:
        case Const(v):
            return v
        case Array():
            return _known_array(origins, value, what, span)
        case Tuple(items, cls):
            parts = [go(i) for i in items]
            return tuple(parts) if cls is tuple else cls(*parts)
        case Slice(start, stop, step):
            return slice(go(start), go(stop), go(step))
        case Text(function, args):
            return function(*[go(a) for a in args])
        case Ref(cell, path):
            match state.get(cell):
                case ListCell(items):
                    return [go(i) for i in items]
                case DictCell(entries):
                    return {k: go(v) for k, v in entries.items()}
                case SetCell(members):
                    return set(members)
                case ArrayCell(inner) if not path:
                    return _known_array(origins, Array(inner, Form.NDARRAY), what, span)
            raise DiagnosticError(NotKnown(span=span, what=what))
        case Unknown(reason):
            raise DiagnosticError(reason)
        case Abstract():
            raise DiagnosticError(NotKnown(span=span, what=what))
        case _:
            return value


def _known_array(origins: Origins, value: Array, what: str, span: Span | None) -> Any:
    array, blockers = evaluate(origins, value.value)
    if array is not None:
        return python_value(array, value.form)
    if blockers and all(b in origins.places for b in blockers):
        for blocker in blockers:
            origins.demand(blocker, span, what)
        return _known_array(origins, value, what, span)
    for blocker in blockers:
        loop = origins.loops.get(blocker.owner) if isinstance(blocker.owner, Region) else None
        loop = loop or _loop_result(origins, blocker)
        if loop is not None:
            if loop[1] > UNROLL_LIMIT:
                raise DiagnosticError(TooManyToUnroll(span=loop[0].span, trips=loop[1], limit=UNROLL_LIMIT))
            raise Restart(loop[0])
    raise DiagnosticError(NotKnown(span=span, what=what, notes=_reasons(origins, value.value, blockers)))


def _reasons(origins: Origins, value: Value, blockers: list[Value]) -> tuple[Note, ...]:
    """Where a value that is not known comes from: the expression that gives it, and what that depends on."""
    crossed = value
    while isinstance(crossed.owner, Region) and crossed in origins.operands:
        crossed = origins.operands[crossed]
    notes: dict[Span | None, Note] = {}
    for each in (crossed, *blockers):
        if isinstance(each.owner, Op):
            text = "the value comes from this" if each is crossed else "it depends on this"
            notes.setdefault(each.owner.span, Note(f"{text}, which is computed at run time", each.owner.span))
        elif each in origins.names:
            notes.setdefault(None, Note(f"it depends on the values of `{origins.names[each]}`"))
    return tuple(notes.values())


def _loop_result(origins: Origins, value: Value) -> tuple[stage.Instr, int] | None:
    if isinstance(value.owner, Region):
        return None
    for region in value.owner.regions:
        if region in origins.loops:
            return origins.loops[region]
    return None


def demandable(origins: Origins, value: Array) -> bool:
    """True if numbers of the call or of the world alone decide `value`: it is known once they are demanded."""
    array, blockers = evaluate(origins, value.value)
    return array is not None or (bool(blockers) and all(b in origins.places for b in blockers))


def decided(origins: Origins, value: Array, what: str, span: Span | None) -> Abstract:
    """`value`, as a constant where nothing but numbers of the world decides it: these are demanded."""
    array, blockers = evaluate(origins, value.value)
    if array is None and not (blockers and all(b in origins.world for b in blockers)):
        return value
    return Const(_known_array(origins, value, what, span))
