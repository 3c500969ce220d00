"""The diagnostics of one inference: each once, with the call chains that lead to it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import field, replace
from typing import ClassVar

from ....records import dataclass
from ...diagnostics.diagnostic import Diagnostic, Note
from ...diagnostics.span import Span
from ...speculation import Declarations, Grows, Journaled


@dataclass(slots=True, eq=False)
class Errors:
    """The diagnostics found so far, each once; `reasons` are the diagnostics before they had a location.

    `others` are the places of further calls that lead to each of them, `again` the places of the same line that say the
    same, `repeated` how often one was found again. The first `certain` of them were found where nothing can be taken back.
    """

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "found": Journaled("those stay that were found in a speculation which an exception left"),
            "reasons": Journaled(),
            "others": Journaled("calls of what was found before stay: at worst one too many is named"),
            "again": Journaled("places of what was found before stay: at worst one too many is named"),
            "repeated": Grows("it limits work"),
            "certain": Grows("it is set where nothing can be taken back"),
        }
    )

    found: list[Diagnostic] = field(default_factory=list)
    reasons: list[Diagnostic] = field(default_factory=list)
    others: list[dict[Span, None]] = field(default_factory=list)
    again: list[dict[Span, None]] = field(default_factory=list)
    repeated: int = 0
    certain: int = 0

    def add(self, diagnostic: Diagnostic, reason: Diagnostic | None = None) -> Diagnostic:
        """Records a diagnostic, or one more call or place for a line that is refused already for the same reason.

        Gives what is recorded of it.
        """
        for known, others, again in zip(self.found, self.others, self.again):
            if known.code == diagnostic.code and known.span == diagnostic.span:
                place = _first_other(places_of_calls(known), places_of_calls(diagnostic))
                if place is not None:
                    others[place] = None
                self.repeated += self.repeated < MAX_REPEATED
                return known
            if _is_the_same(known, diagnostic) and diagnostic.span is not None:
                again[diagnostic.span] = None
                return known
        self.found.append(diagnostic)
        self.reasons.append(diagnostic if reason is None else reason)
        self.others.append({})
        self.again.append({})
        return diagnostic

    def forget(self, mark: int) -> None:
        """Drops all but the first `mark`."""
        del self.found[mark:], self.reasons[mark:], self.others[mark:], self.again[mark:]

    def reported(self) -> tuple[Diagnostic, ...]:
        """The diagnostics as the user gets them: each with the places of all calls that lead to it."""
        return tuple(
            [
                _with_calls(_with_places(diagnostic, again), list(others))
                for diagnostic, others, again in zip(self.found, self.others, self.again)
            ]
        )

    def recorded(self, reason: Diagnostic) -> bool:
        """True if this was reported before."""
        return any(d is reason for d in (*self.found, *self.reasons))


MAX_REPEATED = 32
"""How often inference visits functions again that contain a refusal, to find their callers."""
MAX_CALLS = 3
"""The greatest number of further calls that are named for a refusal in a function; the others are counted."""


def _is_the_same(known: Diagnostic, other: Diagnostic) -> bool:
    """True for refusals at two places of one line for the same reason."""
    a, b = known.span, other.span
    if known.code != other.code or a is None or b is None or (a.file, a.line) != (b.file, b.line):
        return False
    return (known.headline, known.advice) == (other.headline, other.advice)


def _with_places(diagnostic: Diagnostic, again: Iterable[Span]) -> Diagnostic:
    """The diagnostic with the other places of its line."""
    shown = [note.span for note in diagnostic.notes]
    places = [Note("and here", span, "and here") for span in again if span not in shown]
    return replace(diagnostic, notes=(*places, *diagnostic.notes)) if places else diagnostic


def places_of_calls(diagnostic: Diagnostic) -> list[Span]:
    """Where the calls that led to a diagnostic stand, innermost first."""
    return [n.span for n in diagnostic.notes if n.span is not None and n.text.endswith("is called here")]


def _first_other(known: list[Span], other: list[Span]) -> Span | None:
    """The innermost call of the second chain that is not in the first."""
    return next((place for place in other if place not in known), None)


def _with_calls(diagnostic: Diagnostic, others: list[Span]) -> Diagnostic:
    if not others:
        return diagnostic
    told = [] if diagnostic.span is None else [_line(diagnostic.span)]
    places = [place for place in dict.fromkeys(map(_line, others)) if place not in told]
    if not places:
        return diagnostic
    named = places[:MAX_CALLS]
    rest = len(places) - len(named)
    more = [] if not rest else ["one more place" if rest == 1 else f"{rest} more places"]
    *first, last = [*named, *more]
    text = f"{', '.join(first)} and {last}" if first else last
    return replace(diagnostic, notes=(*diagnostic.notes, Note(f"it is also reached from {text}")))


def _line(span: Span) -> str:
    return f"{os.path.basename(span.file)}:{span.line}"
