"""What inference has found wrong: each diagnostic once, with its place and the calls that led there."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..diagnostics.codes_calls import InternalError
from ..diagnostics.diagnostic import Diagnostic, Note
from ..diagnostics.span import Span
from ..values.lattice import Unknown
from .blame import is_library, outside
from .describe import describe
from .foreign import at_users_call, is_foreign
from .frame import Frame

if TYPE_CHECKING:
    from .engine import Engine


@dataclass(slots=True, eq=False)
class Errors:
    """The diagnostics found so far, each once; `reasons` are what they were before they were told where.

    `others` are the places of further calls that lead to each of them, `repeated` how often one was found again.
    """

    found: list[Diagnostic] = field(default_factory=list)
    reasons: list[Diagnostic] = field(default_factory=list)
    others: list[dict[Span, None]] = field(default_factory=list)
    repeated: int = 0

    def add(self, diagnostic: Diagnostic, reason: Diagnostic | None = None) -> None:
        """Records a diagnostic, or one more call that leads to a place that is refused already."""
        for known, others in zip(self.found, self.others):
            if known.code == diagnostic.code and known.span == diagnostic.span:
                place = _first_other(_places(known), _places(diagnostic))
                if place is not None:
                    others[place] = None
                self.repeated += self.repeated < MAX_REPEATED
                return
        self.found.append(diagnostic)
        self.reasons.append(diagnostic if reason is None else reason)
        self.others.append({})

    def forget(self, mark: int) -> None:
        """Drops all but the first `mark`."""
        del self.found[mark:], self.reasons[mark:], self.others[mark:]

    def told(self) -> tuple[Diagnostic, ...]:
        """The diagnostics as the user gets them: each with the places of all calls that lead to it."""
        return tuple([_with_calls(d, list(others)) for d, others in zip(self.found, self.others)])

    def recorded(self, reason: Diagnostic) -> bool:
        """True if this was reported before."""
        return any(d is reason for d in (*self.found, *self.reasons))


MAX_ARGUMENTS = 4
"""So many arguments of a call are described."""
MAX_REPEATED = 32
"""So often inference looks again into functions in which something is refused, to find who calls them."""
MAX_CALLS = 3
"""So many further calls of a function in which something is refused are named; of the others their number is."""


def _places(diagnostic: Diagnostic) -> list[Span]:
    """Where the calls that led to a diagnostic stand, innermost first."""
    return [n.span for n in diagnostic.notes if n.span is not None and n.text.endswith("is called here")]


def _first_other(known: list[Span], other: list[Span]) -> Span | None:
    """The innermost call of the second chain that is not in the first."""
    return next((place for place in other if place not in known), None)


def _with_calls(diagnostic: Diagnostic, others: list[Span]) -> Diagnostic:
    if not others:
        return diagnostic
    places = list(dict.fromkeys([f"{os.path.basename(s.file)}:{s.line}" for s in others]))
    named = places[:MAX_CALLS]
    rest = len(places) - len(named)
    more = [] if not rest else ["one more place" if rest == 1 else f"{rest} more places"]
    *first, last = [*named, *more]
    text = f"{', '.join(first)} and {last}" if first else last
    return replace(diagnostic, notes=(*diagnostic.notes, Note(f"it is also reached from {text}")))


def report(engine: Engine, diagnostic: Diagnostic) -> Unknown:
    """Records a diagnostic with its place and the calls that led to it, unless it was recorded before."""
    if engine.errors.recorded(diagnostic):
        return Unknown(diagnostic)
    reason = diagnostic
    if diagnostic.span is None:
        diagnostic = replace(diagnostic, span=engine.b.span)
    diagnostic = diagnostic.used(engine.b.span)
    inside, diagnostic = diagnostic, outside(diagnostic, engine.frame, engine.b.span)
    diagnostic = at_users_call(diagnostic, engine.frame, engine.b.span)
    if inside is not diagnostic and any(d.span == diagnostic.span for d in engine.errors.found):
        return Unknown(engine.errors.found[-1])  # what follows from the first error in a library's program
    if is_library(
        diagnostic.span
    ):  # a transform that is called outside of staged source: there is no line of the user's
        diagnostic = replace(diagnostic, span=None)
    notes = [n for n in _calls(engine) if n not in diagnostic.notes]
    diagnostic = replace(diagnostic, notes=(*diagnostic.notes, *notes))
    engine.errors.add(diagnostic, reason)
    return Unknown(diagnostic)


def _calls(engine: Engine) -> list[Note]:
    """The calls that led here, innermost first; those inside the library's programs are left out."""
    frame = engine.frame
    notes: list[Note] = []
    name, callee = "", frame  # a function of the program that the library's calls
    while frame is not None and frame.caller is not None and len(notes) < 12:
        if not _is_hidden(frame.function.span, engine.frame):
            name, callee = frame.function.name, frame
        if name and not _is_hidden(frame.call, engine.frame):
            notes.append(_call(engine, name, callee, frame.call))
            name = ""
        frame = frame.caller
    return notes


def _call(engine: Engine, name: str, callee: Frame | None, place: Span | None) -> Note:
    """The note of one call, with what the function is given."""
    text = f"{name} is called here"
    given = {} if callee is None else callee.arguments
    shown = [f"`{n}` is {describe(v, engine.state)}" for n, v in given.items() if n.isidentifier()]
    more = f" and {len(shown) - MAX_ARGUMENTS} more" if len(shown) > MAX_ARGUMENTS else ""
    return Note(text, place, f"{text}: {', '.join(shown[:MAX_ARGUMENTS])}{more}" if shown else text)


def _is_hidden(span: Span | None, frame: Frame | None) -> bool:
    """True for a place that no report shows: in pystage's own programs, or in a library's source."""
    return is_library(span) or is_foreign(span, frame)


def shape_diagnostic(engine: Engine, text: str) -> Diagnostic:
    """What a transfer function refused: a mistake of the library layer, since it checks before."""
    return InternalError(span=engine.b.span, text=text)
