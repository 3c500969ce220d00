"""What inference has found wrong: each diagnostic once, with its place and the calls that led there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..diagnostics.codes_calls import InternalError
from ..diagnostics.diagnostic import Diagnostic, Note
from ..values.lattice import Unknown
from .blame import is_library, outside

if TYPE_CHECKING:
    from .engine import Engine


@dataclass(slots=True, eq=False)
class Errors:
    """The diagnostics found so far, each once; `reasons` are what they were before they were told where."""

    found: list[Diagnostic] = field(default_factory=list)
    reasons: list[Diagnostic] = field(default_factory=list)

    def add(self, diagnostic: Diagnostic, reason: Diagnostic | None = None) -> None:
        """Records a diagnostic."""
        if not any(d.code == diagnostic.code and d.span == diagnostic.span for d in self.found):
            self.found.append(diagnostic)
            self.reasons.append(diagnostic if reason is None else reason)

    def forget(self, mark: int) -> None:
        """Drops all but the first `mark`."""
        del self.found[mark:], self.reasons[mark:]

    def recorded(self, reason: Diagnostic) -> bool:
        """True if this was reported before."""
        return any(d is reason for d in (*self.found, *self.reasons))


def report(engine: Engine, diagnostic: Diagnostic) -> Unknown:
    """Records a diagnostic with its place and the calls that led to it."""
    reason = diagnostic
    if diagnostic.span is None:
        diagnostic = replace(diagnostic, span=engine.b.span)
    diagnostic = diagnostic.used(engine.b.span)
    inside, diagnostic = diagnostic, outside(diagnostic, engine.frame, engine.b.span)
    if inside is not diagnostic and any(d.span == diagnostic.span for d in engine.errors.found):
        return Unknown(engine.errors.found[-1])  # what follows from the first error in a library's program
    notes = [n for n in _calls(engine) if n not in diagnostic.notes]
    diagnostic = replace(diagnostic, notes=(*diagnostic.notes, *notes))
    engine.errors.add(diagnostic, reason)
    return Unknown(diagnostic)


def _calls(engine: Engine) -> list[Note]:
    """The calls that led here, innermost first; those inside the library's programs are left out."""
    frame = engine.frame
    notes: list[Note] = []
    name = ""  # of a function of the program that the library's calls
    while frame is not None and frame.caller is not None and len(notes) < 12:
        if not is_library(frame.function.span):
            name = frame.function.name
        if name and not is_library(frame.call):
            notes.append(Note(f"{name} is called here", frame.call))
            name = ""
        frame = frame.caller
    return notes


def shape_diagnostic(engine: Engine, text: str) -> Diagnostic:
    """What a transfer function refused: a mistake of the library layer, since it checks before."""
    return InternalError(span=engine.b.span, text=text)
