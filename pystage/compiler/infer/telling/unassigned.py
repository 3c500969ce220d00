"""Where a variable or an attribute is not assigned: the notes of PS303.

In: the instruction after which it may have no value, and its name. Out: notes that point at each arm, loop or
handler of the source that does not assign it. They are found when the diagnostic is reported, so that inference pays
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ...diagnostics.diagnostic import Note
from ...diagnostics.span import Span
from ...stage import ir as stage
from ...stage.walk import blocks_of, walk

if TYPE_CHECKING:
    from ..core.engine import Engine

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

    function, found = (None, None) if at is None else _instruction(engine, at)
    only_some = _note("only some of the paths through this assign it", at)
    if function is None or found is None or not any(named(i) for i in walk([found])):
        return (only_some,)
    notes = [_note("it is deleted here", i.span) for i in walk([found]) if named(i) and not assigns(i)]
    notes = notes or list(_Gaps(function, assigns).of(found))
    return tuple(notes[:MOST]) or (only_some,)


_ATTRIBUTES = (stage.SetAttr, stage.DelAttr)


def _note(text: str, span: Span | None) -> Note:
    return Note(text, span, text)


def _instruction(engine: Engine, at: Span) -> tuple[stage.Function | None, stage.Instr | None]:
    """The instruction with blocks at a place, and its function; of a place in a `try` that statement."""
    for function in _functions(engine):
        if function.span.file != at.file:
            continue
        tries: list[stage.Instr] = []
        for i in walk(function.body):
            if i.span == at and blocks_of(i):
                return function, i
            if isinstance(i, stage.Try) and any(inner.span == at for inner in walk(i.body)):
                tries.append(i)
        if tries:
            return function, tries[-1]
    return None, None


def _functions(engine: Engine) -> Iterator[stage.Function]:
    """The functions that are being called, innermost first, and all others that were."""
    frame = engine.frame
    while frame is not None:
        yield frame.function
        frame = frame.caller
    for callee, _ in engine.callees.of_python.values():
        yield callee.function


class _Gaps:
    """The places of a function from which a path leads on without an assignment.

    A jump of the source is a flag, and what it jumps over an `If` that asks for it: there, the places are those that
    set the flag.
    """

    def __init__(self, function: stage.Function, assigns: Assigns) -> None:
        self._assigns = assigns
        self._flags: dict[str, str] = {}
        self._set: dict[str, dict[Span, None]] = {}
        loops = {i.span for i in walk(function.body) if isinstance(i, stage.For | stage.While)}
        for i in walk(function.body):
            if isinstance(i, stage.Load) and i.name.startswith("."):
                self._flags[i.dst] = i.name
            elif isinstance(i, stage.Store) and i.name.startswith(".") and i.span not in loops:
                self._set.setdefault(i.name, {})[i.span] = None

    def of(self, i: stage.Instr) -> Iterator[Note]:
        """Those in an instruction from which a path leads behind it."""
        match i:
            case stage.If(then=then, orelse=orelse):
                flag = self._flags.get(i.cond)
                for block, when in ((then, "true"), (orelse, "false")):
                    if not block and flag is not None:
                        yield from [_note(_PATH, span) for span in self._set.get(flag, ())]
                    elif not block:
                        yield _note(f"where this is {when}, nothing assigns it", i.span)
                    else:
                        yield from self._in_block(block)
            case stage.For(body=body) | stage.While(body=body):
                if _surely(body, self._assigns):
                    yield _note("this loop may run zero times", i.span)
                else:
                    yield from self._in_block(body)
            case stage.Try():
                for handler in i.handlers:
                    if not _surely(handler.body, self._assigns):
                        place = _first_line(handler.test) if handler.test else handler.span
                        yield _note("this handler does not assign it", place)
                yield from self._in_block([*i.body, *i.orelse])
            case _:
                for block in blocks_of(i):
                    yield from self._in_block(block)

    def _in_block(self, block: stage.Block) -> Iterator[Note]:
        """Those in a block: inside of what may assign, else the block itself; none where every path assigns."""
        if _surely(block, self._assigns):
            return
        inner = [i for i in block if blocks_of(i) and any(map(self._assigns, walk([i])))]
        for i in inner:
            yield from self.of(i)
        if not inner and block:
            yield _note(_PATH, _first_line(block))


_PATH = "this path does not assign it"


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
