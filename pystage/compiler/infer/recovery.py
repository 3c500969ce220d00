"""Error recovery: inference continues after a refused instruction where all problems are wanted at once.

A branch whose condition cannot be staged still has two arms, a loop a body: what is wrong there is wrong whatever the
condition is. What they change is unknown from there on, and nothing of them becomes part of the program.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

from .. import limits
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.ir import Region
from ..hlo.types import BOOL, ArrayType
from ..stage import ir as stage
from ..stage.walk import blocks_of, walk
from ..values.boundary import Form
from ..values.lattice import (
    Array,
    DictCell,
    ListCell,
    Method,
    ObjectCell,
    Ref,
    RowsCell,
    SetCell,
    TableCell,
    Unknown,
    VariableCell,
)
from ..values.state import ERROR, OUTPUT, Content
from .core.engine import Engine
from .exceptions.raising import attempt
from .state.effort import Exhausted
from .state.retry import Retry
from .state.speculate import speculate


def recover(engine: Engine, instr: stage.Instr, unknown: Unknown) -> None:
    """Infers the blocks of a refused instruction: reports their problems, and makes `Unknown` what they change.

    What was inferred before the instruction was refused is inferred once more, for its changes, and for problems that were
    dropped with a pass over it.
    """
    _lose_stored(engine, instr, unknown)
    trail = engine.trail
    blocks = [block for block in blocks_of(instr) if block]
    if trail is None or not blocks:
        return
    inside = blocks
    if isinstance(instr, stage.While):
        blocks, inside = [[*instr.test, *instr.body]], [instr.body]
    seen = any(trail.was_run_in(instr, inner) for block in inside for inner in walk(block))
    engine.trail = None if seen else trail
    lost: dict[int, None] = {}
    try:
        for block in blocks:
            lost.update(dict.fromkeys(_changed(engine, instr, block, unknown)))
    finally:
        engine.trail = trail
    for cell in lost.keys() - {ERROR, OUTPUT}:
        variable = isinstance(engine.state.slots[cell], VariableCell)
        engine.state.set(cell, VariableCell(unknown) if variable else unknown)


def _changed(engine: Engine, instr: stage.Instr, block: stage.Block, unknown: Unknown) -> list[int]:
    """The cells that a block changes, run under an unknown condition."""
    frame = engine.current
    condition = Array(Region().add_param(ArrayType(BOOL, ())), Form.PYTHON)
    with frame.under([condition]), speculate(engine) as trial:
        if isinstance(instr, stage.For | stage.Yield | stage.With):
            bound = instr.entered if isinstance(instr, stage.With) else instr.target
            assert bound is not None
            engine.put(bound, unknown)
        try:
            with engine.effort.at_most(limits.STEPS_AFTER_A_REFUSAL):
                attempt(engine, functools.partial(engine.run_block, block))
        except (DiagnosticError, Exhausted, Retry):
            pass  # what follows is as unknown as before
        trial.keep_refused()
        return [slot for slot in engine.state.changed() if isinstance(slot, int)]


def _lose_stored(engine: Engine, instr: stage.Instr, unknown: Unknown) -> None:
    """Makes `Unknown` what a refused instruction would have stored into: an attribute, or a list, dict or set."""
    makers: dict[stage.Temp, stage.Load | stage.GetAttr] = {}
    for i in walk([instr]):
        match i:
            case stage.Load(dst=dst) | stage.GetAttr(dst=dst):
                makers[dst] = i
            case stage.SetAttr(obj=stored) | stage.SetItem(obj=stored) | stage.DelItem(obj=stored):
                _lose(engine, _held(engine, makers, stored), i, unknown)
            case stage.Inplace(left=stored) | stage.Append(target=stored):
                _lose(engine, _held(engine, makers, stored), i, unknown)
            case stage.Call(func=func) if isinstance(made := makers.get(func), stage.GetAttr):
                _lose(engine, _held(engine, makers, made.obj), i, unknown)
            case stage.Call(func=func) if isinstance(method := _held(engine, makers, func), Method):
                _lose(engine, method.receiver, i, unknown)


def _held(
    engine: Engine, makers: Mapping[stage.Temp, stage.Load | stage.GetAttr], temp: stage.Temp
) -> Content | None:
    """What a temporary holds; one that a refused instruction loads, what the variable or the attribute holds before it."""
    frame, slots = engine.current, engine.state.slots
    match makers.get(temp):
        case None:
            return slots.get((frame.id, temp))
        case stage.GetAttr(obj=obj, attr=attr):
            holder = _held(engine, makers, obj)
            content = slots.get(holder.cell) if isinstance(holder, Ref) else None
            return content.fields.get(attr) if isinstance(content, ObjectCell) else None
        case stage.Load(name=name, scope=stage.StorageClass.CELL):
            variable = slots.get(frame.cells[name])
            return variable.value if isinstance(variable, VariableCell) else None
        case stage.Load(name=name):
            return slots.get((frame.id, name))


def _lose(engine: Engine, stored: Content | None, instr: stage.Instr, unknown: Unknown) -> None:
    if not isinstance(stored, Ref):
        return
    cell = engine.state.slots.get(stored.cell)
    if isinstance(cell, ListCell | RowsCell | DictCell | SetCell | TableCell):
        engine.state.set(stored.cell, unknown)
    elif isinstance(cell, ObjectCell) and isinstance(instr, stage.SetAttr):
        engine.state.set(stored.cell, replace(cell, fields={**cell.fields, instr.attr: unknown}))
