"""Listings: the functions of a program line by line, with what became of each line."""

from __future__ import annotations

import enum
import linecache
from collections.abc import Iterator, Mapping, Sequence

from ..compiler.diagnostics.diagnostic import Diagnostic
from ..compiler.diagnostics.span import Span
from ..compiler.infer.diagnostics.trail import FileLine, Trail
from ..compiler.policy import is_library_file
from ..compiler.stage import ir as stage
from ..compiler.stage.walk import walk
from ..records import dataclass


class Mark(enum.Enum):
    """What became of a line."""

    STAGED = "staged"  # it works on what only the run knows, in the program
    CONSTANT = "constant"  # it was done while compiling, once
    UNROLLED = "unrolled"  # a loop of which the program has every trip, or what is known in each of them
    JAX = "through JAX"  # it calls a function that JAX traces, as a part of the program
    REFUSED = "not staged"
    RAISES = "raises"  # whatever the values are
    SKIPPED = "not run"  # no path leads there for these arguments
    UNKNOWN = "not looked at"  # of a refused program: no path leads there as far as it was inferred
    NONE = ""


@dataclass(frozen=True)
class SourceLine:
    """A line of the source, what became of it, and what the names that it binds are bound to."""

    number: int
    text: str
    mark: Mark
    names: Mapping[str, Sequence[str]]
    trips: int | None = None
    """Of a loop that is written out: its trips."""


@dataclass(frozen=True)
class Listing:
    """A function of the program, line by line."""

    name: str
    span: Span
    lines: tuple[SourceLine, ...]

    @property
    def refused(self) -> bool:
        """True if a line of it is not staged."""
        return any(line.mark in (Mark.REFUSED, Mark.RAISES) for line in self.lines)


def listings(trail: Trail, problems: Sequence[Diagnostic], mark: Mark = Mark.REFUSED) -> tuple[Listing, ...]:
    """The outermost functions of the user's among those that were inferred; `mark` is that of lines with problems."""
    own = [f for f in trail.functions if not is_library_file(f.span.file)] or list(trail.functions)[:1]
    spans = {id(f): f.span for f in own}
    outer = [f for f in own if not any(_is_within(f.span, s) for i, s in spans.items() if i != id(f))]
    made = _Marks(trail, problems, mark)
    found: dict[Span, Listing] = {}
    for function in outer:
        found.setdefault(function.span, Listing(function.qualname, function.span, made.lines(function)))
    return tuple(found.values())


def _is_within(inner: Span, outer: Span) -> bool:
    return (
        inner.file == outer.file
        and outer.line <= inner.line
        and inner.end_line <= outer.end_line
        and ((inner.line, inner.column, inner.end_line) != (outer.line, outer.column, outer.end_line))
    )


def _instructions(function: stage.Function) -> Iterator[stage.Instr]:
    """Those of a function, and of the functions in it."""
    yield from walk(function.body)
    for nested in function.nested:
        yield from _instructions(nested)


class _Marks:
    """What became of the lines of a program."""

    def __init__(self, trail: Trail, problems: Sequence[Diagnostic], of_problems: Mark) -> None:
        self._trail = trail
        self._of_problems = of_problems
        self._names = trail.names()
        self._operations = trail.operations()
        places = {(p.span.file, p.span.line) for p in problems if p.span is not None}
        self._refused: set[FileLine] = (
            places | trail.refused if problems and of_problems is Mark.REFUSED else places
        )
        self._rolled = {s.place for s in trail.loops() if s.trips is None}
        written = [(s, s.trips) for s in trail.loops() if s.trips is not None]
        self._trips: dict[FileLine, int] = {s.place: trips for s, trips in written}
        self._written: set[FileLine] = {place for s, _ in written for place in s.inside}

    def lines(self, function: stage.Function) -> tuple[SourceLine, ...]:
        """The lines of a function."""
        span = function.span
        instructions = {(i.span.file, i.span.line) for i in _instructions(function)}
        found = []
        for number in range(span.line, span.end_line + 1):
            place = (span.file, number)
            text = linecache.getline(span.file, number).rstrip("\n")
            mark = self._mark(place, place in instructions, number == span.line)
            names = self._names.get(place, {})
            found.append(SourceLine(number, text, mark, names, self._trips.get(place)))
        return tuple(found)

    def _mark(self, place: FileLine, holds_instructions: bool, is_header: bool) -> Mark:
        if place in self._refused:
            return self._of_problems
        total, by_jax = self._operations.get(place, (0, 0))
        if place in self._trips:
            return Mark.UNROLLED
        if by_jax:
            return Mark.JAX
        if is_header and not total:
            return Mark.NONE
        if total or place in self._trail.computed or place in self._rolled:
            return Mark.STAGED
        if place in self._trail.reached:
            return Mark.UNROLLED if place in self._written else Mark.CONSTANT
        if not holds_instructions:
            return Mark.NONE
        return Mark.UNKNOWN if self._refused and self._of_problems is Mark.REFUSED else Mark.SKIPPED


def is_inside(place: FileLine, span: Span) -> bool:
    """True if a line is within the lines of a span."""
    return place[0] == span.file and span.line <= place[1] <= span.end_line
