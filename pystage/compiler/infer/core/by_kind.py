"""An instruction on what is one thing on some paths and another on others: `ByPath`, `OneOf`, `Optional`.

Where what it does depends on which it is, it is done once for each, under the condition that it is that one. What it
gives is joined like the results of any branch.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ...diagnostics.diagnostic import DiagnosticError
from ...library.rules.by_path import KindByPath
from ...stage import ir as stage
from ...values.by_path import undecided
from ...values.lattice import OneOf, Optional, Unknown
from ...values.walk import values_of
from .branches import infer_if
from .instructions import HANDLERS
from .speculate import commit_unless

if TYPE_CHECKING:
    from .engine import Engine

_WITH_BODIES = frozenset([stage.If, stage.While, stage.For, stage.Try, stage.With])
"""Instructions that have others inside, each of which is looked at by itself."""


MOST_TAGS = 6
"""An instruction is inferred for so many decisions between two kinds, and so up to 64 times."""


def run_by_kind(engine: Engine, instr: stage.Instr, depth: int = 0) -> None:
    """Infers an instruction, once for each of what a value may be if it must know which of them that is."""
    handler = HANDLERS[type(instr)]
    asked = _asked(engine, instr) if type(instr) in _WITH_BODIES else _tried(engine, instr)
    if asked is not None:
        _for_each_kind(engine, instr, asked, depth)
    elif type(instr) in _WITH_BODIES:
        handler(engine, instr)


def _asked(engine: Engine, instr: stage.Instr) -> KindByPath | None:
    """Of which value a loop must know what it is to go over it."""
    if not isinstance(instr, stage.For):
        return None
    iterable = engine.narrowed(engine.peek(instr.iterable))
    return KindByPath(iterable.reason, iterable) if isinstance(iterable, OneOf | Optional) else None


def _tried(engine: Engine, instr: stage.Instr) -> KindByPath | None:
    """Infers an instruction; if it asks what a value is, takes back what it has done, and gives that."""
    try:
        with commit_unless(engine, KindByPath):
            HANDLERS[type(instr)](engine, instr)
    except KindByPath as asked:
        return asked
    return None


def _for_each_kind(engine: Engine, instr: stage.Instr, asked: KindByPath, depth: int) -> None:
    if depth >= MOST_TAGS:
        raise DiagnosticError(asked.diagnostic)
    tag = undecided(engine.intervals, asked.value)
    held = reversed(engine.state.slots.values())  # mostly by a temporary, so the last ones first
    if tag is None or not any(tag in values_of(content) for content in held):
        raise DiagnosticError(asked.diagnostic)  # the instruction itself has made the number
    engine.tell_kind()
    frame = engine.current.id
    again = functools.partial(run_by_kind, engine, instr, depth + 1)
    infer_if(engine, tag, frame, again, again)
    slots = engine.state.slots
    for dst in getattr(instr, "dsts", None) or [getattr(instr, "dst", "")]:
        if isinstance(slots.get((frame, dst)), Unknown):
            engine.state.set((frame, dst), Unknown(asked.diagnostic))
