"""Where a variable or an attribute is not assigned: the notes of PS303.

In: the instruction after which it may have no value, and its name. Out: notes that point at each arm, loop or
handler of the source that does not assign it. They are found when the diagnostic is reported, so that inference pays
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..diagnostics.diagnostic import Note
from ..diagnostics.span import Span
from ..stage import ir as stage
from .assigned import blocks_of, walk

if TYPE_CHECKING:
    from .engine import Engine

Assigns = Callable[[stage.Instr], bool]
"""True for an instruction that assigns what is looked for."""

MOST = 4
"""So many places are named."""


def notes_of(engine: Engine, at: Span | None, name: str, attribute: bool) -> tuple[Note, ...]:
    """Where the paths through the instruction at `at` do not assign a variable, or an attribute.

    Where the source does not say, as for what another function assigns, the note points at the instruction.
    """
    kinds = (stage.SetAttr, stage.DelAttr) if attribute else (stage.Store, stage.Delete)

    def named(i: stage.Instr) -> bool:
        return isinstance(i, kinds) and (i.attr if isinstance(i, _ATTRIBUTES) else i.name) == name

    def assigns(i: stage.Instr) -> bool:
        return named(i) and isinstance(i, stage.Store | stage.SetAttr)

    found = None if at is None else _instruction(engine, at)
    notes = [] if found is None else list(_gaps(found, assigns))
    if found is not None:
        deleted = [i.span for i in walk([found]) if named(i) and not assigns(i)]
        notes = [_note("it is deleted here", span) for span in deleted] or notes
    if found is None or not any(named(i) for i in walk([found])) or not notes:
        return (_note("only some of the paths through this assign it", at),)
    return tuple(notes[:MOST])


_ATTRIBUTES = (stage.SetAttr, stage.DelAttr)


def _note(text: str, span: Span | None) -> Note:
    return Note(text, span, text)


def _instruction(engine: Engine, at: Span) -> stage.Instr | None:
    """The instruction with blocks at a place; of a place in a `try` that statement."""
    for function in _functions(engine):
        if function.span.file != at.file:
            continue
        tries: list[stage.Instr] = []
        for i in walk(function.body):
            if i.span == at and blocks_of(i):
                return i
            if isinstance(i, stage.Try) and any(inner.span == at for inner in walk(i.body)):
                tries.append(i)
        if tries:
            return tries[-1]
    return None


def _functions(engine: Engine) -> Iterator[stage.Function]:
    """The functions that are being called, innermost first, and all others that were."""
    frame = engine.frame
    while frame is not None:
        yield frame.function
        frame = frame.caller
    for callee, _ in engine.python_callees.values():
        yield callee.function


def _gaps(i: stage.Instr, assigns: Assigns) -> Iterator[Note]:
    """The places in an instruction from which a path leads behind it without an assignment."""
    match i:
        case stage.If(then=then, orelse=orelse):
            for block, when in ((then, "true"), (orelse, "false")):
                if not block:
                    yield _note(f"where this is {when}, nothing assigns it", i.span)
                elif not _surely(block, assigns):
                    yield from _in_block(block, assigns)
        case stage.For(body=body) | stage.While(body=body):
            if _surely(body, assigns):
                yield _note("this loop may run zero times", i.span)
            else:
                yield from _in_block(body, assigns)
        case stage.Try():
            arms = [handler.body for handler in i.handlers]
            for handler, body in zip(i.handlers, arms):
                if not _surely(body, assigns):
                    place = _first_line(handler.test) if handler.test else handler.span
                    yield _note("this handler does not assign it", place)
            if not _surely([*i.body, *i.orelse], assigns):
                yield from _in_block([*i.body, *i.orelse], assigns)
        case _:
            for block in blocks_of(i):
                if not _surely(block, assigns):
                    yield from _in_block(block, assigns)


def _in_block(block: stage.Block, assigns: Assigns) -> Iterator[Note]:
    """The places in a block that does not assign on every path: inside of what may assign, else the block itself."""
    inner = [i for i in block if blocks_of(i) and any(map(assigns, walk([i])))]
    for i in inner:
        yield from _gaps(i, assigns)
    if not inner and block:
        yield _note("this path does not assign it", _first_line(block))


def _surely(block: stage.Block, assigns: Assigns) -> bool:
    """True if every path through a block assigns, or does not lead behind it."""
    for i in block:
        if assigns(i) or isinstance(i, stage.Raise) or (isinstance(i, stage.Store) and i.name == ".return"):
            return True
        match i:
            case stage.If(then=then, orelse=orelse) if _surely(then, assigns) and _surely(orelse, assigns):
                return True
            case stage.With(body=body) if _surely(body, assigns):
                return True
            case stage.Try():
                done = _surely([*i.body, *i.orelse], assigns)
                if _surely(i.final, assigns) or (done and all(_surely(h.body, assigns) for h in i.handlers)):
                    return True
    return False


def _first_line(block: stage.Block) -> Span:
    """The first statement of a block, as far as its first line goes."""
    first = min(block, key=lambda i: (i.span.line, i.span.column)).span
    line = [i.span for i in block if i.span.line == i.span.end_line == first.line]
    end = max([first.end_column if first.line == first.end_line else 0, *[s.end_column for s in line]])
    return replace(first, end_line=first.line, end_column=end)
