"""Merge provenance: where a variable that differs between paths got its values, for the notes of diagnostics.

In: the branch or the loop at which paths meet, and the name of a variable. Out: notes that point at the assignment on each
path. They are computed from the source when a diagnostic is reported, so that inference pays nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ....records import dataclass
from ...diagnostics.codes_constant import Growth
from ...diagnostics.codes_control import NeverSettles, NoCommonType
from ...diagnostics.diagnostic import Diagnostic, Note
from ...diagnostics.span import Span
from ...frontend.fusion import source_name
from ...policy import is_plumbing
from ...stage import ir as stage
from ...stage.walk import walk
from ...values.lattice import ObjectCell, Ref
from ...values.slots import Name, Slot, Variable, is_of_compiler, is_temporary
from ...values.state import Content
from ...values.walk import cells_of
from ..state.frame import Frame

_CHANGES = "its length changes here"
_LENGTHS = frozenset(
    ["append", "extend", "insert", "pop", "remove", "clear", "popitem", "setdefault", "update"]
)
"""The methods that may change the length of a list or a dict."""


@dataclass(frozen=True, slots=True)
class MergeProvenance:
    """An instruction of `function` at which paths part and meet again, and what each of the two runs.

    None stands for a path that runs nothing: it has what was there before the instruction, or, of a loop that is
    `peeled`, what the first trip left.
    """

    function: stage.Function
    instruction: stage.Instr
    first: stage.Block | None
    second: stage.Block | None
    peeled: bool = False

    def notes(self, slot: Slot | None, holder: Name | None, texts: tuple[str, str]) -> tuple[Note, ...]:
        """The notes that say where `slot` got what the texts describe, on the first and on the second path.

        `holder`: the variable that refers to it, if it is an object.
        """
        text = "which of them it is, is decided here"
        meet = Note(text, self.instruction.span, text)
        branch = isinstance(self.instruction, stage.If)
        if not isinstance(slot, tuple) or is_temporary(slot):
            return ((meet,) if branch else ()) + self._growth(holder)
        found: list[Note] = []
        for block, text in zip((self.first, self.second), texts):
            span = None if block is None else _last_store(block, slot[1])
            if span is None and not self.peeled:
                span = assigned_before(self.function, self.instruction, slot[1])
            if span is not None:
                found.append(Note(f"here it is {text}", span, f"here it is {text}"))
        if branch and not is_of_compiler(slot[1]):
            found.append(meet)
        return tuple(found)

    def _growth(self, holder: Name | None) -> tuple[Note, ...]:
        """The lines where the length of a list or a dict changes on one of the paths."""
        if holder is None:
            return ()
        blocks = [block for block in (self.first, self.second) if block is not None]
        spans = dict.fromkeys([span for block in blocks for span in changes_of_length(block, holder)])
        return tuple([Note(_CHANGES, span, _CHANGES) for span in spans])


def assigned_before(function: stage.Function, instruction: stage.Instr, name: Name) -> Span | None:
    """The last assignment that stands before an instruction of a function; for a parameter the function itself."""
    found = _header(function) if name in _parameters(function) else None
    for instr in walk(function.body):
        if instr is instruction:
            break
        if isinstance(instr, stage.Store) and instr.name == name:
            found = instr.span
    return found


def _last_store(block: stage.Block, name: Name) -> Span | None:
    spans = [i.span for i in walk(block) if isinstance(i, stage.Store) and i.name == name]
    return spans[-1] if spans else None


def unlike_note(reason: Diagnostic) -> Note:
    """The note for what changes its type or length in each trip of a loop, with the line that changes it."""
    if not isinstance(reason, NeverSettles | NoCommonType):
        return Note(f"every trip is code of its own: {reason.headline}", reason.span, reason.headline)
    if not reason.is_about_length:
        found = [note.span for note in reason.blame() if note.span is not None]
        text = f"{reason.headline}, so that every trip is code of its own"
        return Note(text, found[-1] if found else reason.span, text)
    spans = [note.span for note in reason.blame() if note.text == _CHANGES]
    depends = isinstance(reason, NoCommonType)
    changes = "may change its length here" if depends else "has another length after each trip"
    text = f"{reason.what} {changes}, so that every trip is code of its own"
    return Growth(text, spans[0] if spans else reason.span, text)


def changes_of_length(block: stage.Block, name: Name) -> Iterator[Span]:
    """The calls of methods that change the length of the list or dict in a variable or an attribute."""
    held: set[str] = set()
    for i in walk(block):
        match i:
            case stage.Load(dst=dst, name=loaded) | stage.GetAttr(dst=dst, attr=loaded) if loaded == name:
                held.add(dst)
            case stage.GetAttr(obj=obj, attr=attr) if obj in held and attr in _LENGTHS:
                yield i.span


def _header(function: stage.Function) -> Span:
    """The place of `def name`."""
    span, keyword = function.span, "lambda" if function.is_lambda else f"def {function.name}"
    return replace(span, end_line=span.line, end_column=span.column + len(keyword))


def _parameters(function: stage.Function) -> tuple[str, ...]:
    params = function.params
    return (*params.positional_only, *params.positional, *params.keyword_only)


def is_library(span: Span | None) -> bool:
    """True for a place in pystage's own programs (`kernels/python_implementations.py`), or in a package's plumbing."""
    return span is not None and is_plumbing(span.file)


def outside(diagnostic: Diagnostic, frame: Frame | None, current: Span | None) -> Diagnostic:
    """The diagnostic moved to the user's call of a function, where it is inside of one of pystage's own programs."""
    if not is_library(diagnostic.span):
        return diagnostic
    span = current
    while frame is not None and is_library(span):
        span, frame = frame.call, frame.caller
    if span is None:  # called from outside of staged source
        return diagnostic
    notes = tuple([note for note in diagnostic.notes if not is_library(note.span)])
    return replace(diagnostic, span=span, notes=notes)


def holder_of(slots: Mapping[Slot, Content], slot: Slot | None) -> Variable | None:
    """The slot of the variable that a slot belongs to: itself, or the variable that refers to an object."""
    if not isinstance(slot, int):
        return slot
    holders = [s for s, held in slots.items() if isinstance(held, Ref) and held.cell == slot]
    return next(
        (s for s in holders if isinstance(s, tuple) and isinstance(s[1], str) and s[1].isidentifier()), None
    )


def attribute_of(slots: Mapping[Slot, Content], cell: int) -> tuple[str, str] | None:
    """The class and the name of an attribute that refers to an object."""
    for content in slots.values():
        if isinstance(content, ObjectCell):
            for name, held in content.fields.items():
                if isinstance(held, Ref) and held.cell == cell:
                    return content.cls.__name__, name
    return None


def name_of(slots: Mapping[Slot, Content], slot: Slot | None) -> str:
    """The user's name for the contents of a slot: a variable, or something that a variable refers to."""
    holder = holder_of(slots, slot)
    if holder is None and isinstance(slot, int):
        held = attribute_of(slots, slot)
        if held is not None:
            return f"the attribute {held[1]!r} of {held[0]}"
        around = _holder_of_parts(slots, slot)
        return "a value" if around is None else f"what the variable {source_name(str(around[1]))!r} holds"
    slot = holder
    if slot is None or is_temporary(slot):
        return "a value"
    return "the result" if is_of_compiler(slot[1]) else f"the variable {source_name(str(slot[1]))!r}"


def _holder_of_parts(slots: Mapping[Slot, Content], cell: int) -> Variable | None:
    """The variable that refers to a cell through lists, dicts and objects; the one by the fewest of them."""
    inside = {cell}
    while True:
        referring = [
            slot
            for slot, content in slots.items()
            if slot not in inside and not is_temporary(slot) and not inside.isdisjoint(cells_of(content))
        ]
        for slot in referring:
            if isinstance(slot, tuple) and isinstance(slot[1], str) and slot[1].isidentifier():
                return slot
        around = {slot for slot in referring if isinstance(slot, int)}
        if not around:
            return None
        inside |= around
