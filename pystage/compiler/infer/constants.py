"""Values that must be known while compiling: evaluated from the program, or demanded of the arguments.

`known` is asked for a shape, an axis, an index into a list. A value whose operations lead back to
constants alone is evaluated now. One that leads back to an integer or float argument demands that
argument: the call is specialised on it. One that leads back to a loop's counter asks for that loop to be
unrolled. Everything else is PS401.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ..diagnostics.codes_constant import NotKnown, TooManyToUnroll
from ..diagnostics.diagnostic import DiagnosticError, Note
from ..diagnostics.span import Span
from ..hlo.ir import Op, Region, Value
from ..ops import Constant
from ..stage import ir as stage
from ..values.boundary import Form
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

    `leaves` maps a parameter of the program to the index of its argument leaf, where that is a Python or
    NumPy scalar; `operands` a parameter of a callee to the value it was called with; `loops` a loop's
    region to its instruction and its trip count, where it could be unrolled. `crossings` counts how often an
    evaluation went from a callee to its caller. `ask` gives the values of arguments, `given` holds those that
    were asked for, `demands` says why.
    """

    leaves: dict[Value, int] = field(default_factory=dict)
    operands: dict[Value, Value] = field(default_factory=dict)
    loops: dict[Region, tuple[stage.Instr, int]] = field(default_factory=dict)
    crossings: int = 0
    ask: Callable[[int], Any] | None = None
    given: dict[Value, np.ndarray] = field(default_factory=dict)
    demands: dict[int, NeedsConstant] = field(default_factory=dict)

    def demand(self, parameter: Value, need: NeedsConstant) -> None:
        """Asks for the value of an argument; raises `need` where it cannot be had at once."""
        value = self.ask(need.leaf) if self.ask is not None else None
        if value is None:
            raise need
        self.demands.setdefault(need.leaf, need)
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
    if op.regions or not op.kind.pure:
        blockers[op.results[index]] = None
        return None
    if any(x is None for x in operands):
        return None
    if isinstance(op.kind, Constant):
        return np.asarray(op.kind.data)
    if op.results[index].type.size > 1 << 16:
        blockers[op.results[index]] = None
        return None
    result = op.kind.reference(*operands)  # type: ignore[arg-type]
    return np.asarray(result[index] if isinstance(result, tuple) else result)


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
        return known(state, origins, x, what, span)

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
    leaves = [origins.leaves.get(b) for b in blockers]
    if blockers and all(leaf is not None for leaf in leaves):
        for blocker, leaf in zip(blockers, leaves):
            origins.demand(blocker, NeedsConstant(cast(int, leaf), span, what))
        return _known_array(origins, value, what, span)
    for blocker in blockers:
        loop = origins.loops.get(blocker.owner) if isinstance(blocker.owner, Region) else None
        loop = loop or _loop_result(origins, blocker)
        if loop is not None:
            if loop[1] > UNROLL_LIMIT:
                raise DiagnosticError(TooManyToUnroll(span=loop[0].span, trips=loop[1], limit=UNROLL_LIMIT))
            raise Restart(loop[0])
    notes = []
    for blocker in blockers:
        if isinstance(blocker.owner, Op):
            notes.append(Note("it depends on this, which is computed at run time", blocker.owner.span))
    raise DiagnosticError(NotKnown(span=span, what=what, notes=tuple(notes)))


def _loop_result(origins: Origins, value: Value) -> tuple[stage.Instr, int] | None:
    if isinstance(value.owner, Region):
        return None
    for region in value.owner.regions:
        if region in origins.loops:
            return origins.loops[region]
    return None


def demanded(static: Mapping[int, Any], leaf: int) -> Any:
    """The demanded value of an argument leaf, or `...` if it is dynamic."""
    return static.get(leaf, ...)
