"""Splitting: infers an instruction once for each alternative of a gated φ.

An instruction that must know which alternative a value is raises `NeedsSplit`. It is then inferred under the condition of
each alternative, as the arms of a branch, and the results are joined.
"""

from __future__ import annotations

from .. import limits
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.ir import Value
from ..library.rules.split import NeedsSplit, needs_split, split
from ..stage import ir as stage
from ..values.gated import Gated, undecided
from ..values.lattice import Unknown
from ..values.walk import values_of
from .control.branches import Arm, infer_if
from .core.engine import Engine
from .instructions import HANDLERS
from .iteration.iterators import narrowed_iterable
from .state.speculate import commit_unless

_WITH_BODIES = frozenset([stage.If, stage.While, stage.For, stage.Try, stage.With, stage.Yield])
"""Instructions with inner instructions, each of which may be split by itself."""


def run_split(engine: Engine, instr: stage.Instr) -> None:
    """Infers an instruction, split over the alternatives of a value if it must know which of them that is."""
    _run(engine, instr, _Count())


class _Count:
    """How often an instruction was inferred to its end."""

    done = 0


def _run(engine: Engine, instr: stage.Instr, count: _Count) -> None:
    asked = _asked(engine, instr) if type(instr) in _WITH_BODIES else _tried(engine, instr)
    if asked is not None:
        _split_instruction(engine, instr, asked, count)
        return
    count.done += 1
    if type(instr) in _WITH_BODIES:
        HANDLERS[type(instr)](engine, instr)


def _asked(engine: Engine, instr: stage.Instr) -> NeedsSplit | None:
    """The value that a loop must know to iterate over it."""
    if not isinstance(instr, stage.For):
        return None
    iterable = engine.narrowed(engine.peek(instr.iterable))
    if isinstance(iterable, Gated):
        return needs_split(iterable)
    try:
        narrowed_iterable(engine, iterable)
    except NeedsSplit as asked:
        return asked
    return None


def _tried(engine: Engine, instr: stage.Instr) -> NeedsSplit | None:
    """Infers an instruction; if it needs a split, rolls back its effects and gives the value to split over."""
    try:
        with commit_unless(engine, NeedsSplit):
            HANDLERS[type(instr)](engine, instr)
    except NeedsSplit as asked:
        return asked
    return None


def _split_instruction(engine: Engine, instr: stage.Instr, asked: NeedsSplit, count: _Count) -> None:
    tag = undecided(engine.intervals, asked.value)
    held = reversed(engine.state.slots.values())  # mostly by a temporary, so the last ones first
    if tag is None or not any(tag in values_of(content) for content in held):
        raise DiagnosticError(asked.diagnostic)  # the instruction itself has made the number
    if count.done >= limits.SPLIT_COMBINATIONS:
        raise DiagnosticError(asked.diagnostic)
    frame = engine.current.id

    def branch(tag: Value, then: Arm, orelse: Arm) -> None:
        infer_if(engine, tag, frame, then, orelse)

    split(engine, asked.value, lambda: _run(engine, instr, count), branch)
    slots = engine.state.slots
    for dst in getattr(instr, "dsts", None) or [getattr(instr, "dst", "")]:
        if isinstance(slots.get((frame, dst)), Unknown):
            engine.state.set((frame, dst), Unknown(asked.diagnostic))
