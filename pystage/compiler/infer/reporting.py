"""Reporting of diagnostics: each with its place and the call chain that led there."""

from __future__ import annotations

from dataclasses import replace

from ..diagnostics.codes_calls import InternalError
from ..diagnostics.diagnostic import Diagnostic, Note
from ..diagnostics.span import Span
from ..values.lattice import Unknown
from .core.engine import Engine
from .diagnostics.describe import describe
from .diagnostics.foreign import at_users_call, is_foreign
from .diagnostics.provenance import is_library, outside
from .state.frame import Frame

MAX_ARGUMENTS = 4
"""The greatest number of arguments of a call that are described."""


def report(engine: Engine, diagnostic: Diagnostic) -> Unknown:
    """Records a diagnostic with its place and the calls that led to it, unless it was recorded before."""
    if engine.errors.recorded(diagnostic):
        return Unknown(diagnostic)
    reason = diagnostic
    if diagnostic.span is None:
        diagnostic = replace(diagnostic, span=engine.b.span)
    if not _is_hidden(engine.b.span, engine.frame):
        diagnostic = diagnostic.used(engine.b.span)
    inside, diagnostic = diagnostic, outside(diagnostic, engine.frame, engine.b.span)
    diagnostic = at_users_call(diagnostic, engine.frame, engine.b.span)
    if inside is not diagnostic and any(d.span == diagnostic.span for d in engine.errors.found):
        return Unknown(engine.errors.found[-1])  # what follows from the first error in a library's program
    if is_library(
        diagnostic.span
    ):  # a transform that is called outside of staged source: there is no line of the user's
        diagnostic = replace(diagnostic, span=None)
    notes = [n for n in _calls(engine, diagnostic.span) if n not in diagnostic.notes]
    diagnostic = replace(diagnostic, notes=(*diagnostic.notes, *notes))
    return Unknown(engine.errors.add(diagnostic, reason))


def _calls(engine: Engine, told: Span | None) -> list[Note]:
    """The calls that led here, innermost first; those inside the library's programs are left out.

    A place is named once, and not at all where it is what is `told` itself, as in a function that calls itself.
    """
    frame = engine.frame
    notes: list[Note] = []
    places = {told}
    name, callee = "", frame  # a function of the program that the library's calls
    while frame is not None and frame.caller is not None and len(notes) < 12:
        if not _is_hidden(frame.function.span, engine.frame):
            name, callee = frame.function.name, frame
        if name and not _is_hidden(frame.call, engine.frame):
            if frame.call not in places:
                notes.append(_call(engine, name, callee, frame.call))
                places.add(frame.call)
            name = ""
        frame = frame.caller
    return notes


def _call(engine: Engine, name: str, callee: Frame | None, place: Span | None) -> Note:
    """The note of one call, with its arguments."""
    text = f"{name} is called here"
    given = {} if callee is None else callee.arguments
    shown = [f"`{n}` is {describe(v, engine.state)}" for n, v in given.items() if n.isidentifier()]
    more = f" and {len(shown) - MAX_ARGUMENTS} more" if len(shown) > MAX_ARGUMENTS else ""
    return Note(text, place, f"{text}: {', '.join(shown[:MAX_ARGUMENTS])}{more}" if shown else text)


def _is_hidden(span: Span | None, frame: Frame | None) -> bool:
    """True for a location that no report shows: in pystage's own programs, or in a library's source."""
    return is_library(span) or is_foreign(span, frame)


def shape_diagnostic(engine: Engine, text: str) -> Diagnostic:
    """The diagnostic for an error of a transfer function: a mistake of the library layer, which checks before."""
    return InternalError(span=engine.b.span, text=text)
