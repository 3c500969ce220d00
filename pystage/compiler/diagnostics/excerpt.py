"""Source excerpts: the lines of a file, with underlined spans and their labels.

In: the marked spans of one file. Out: lines of pieces, each text and style. Lines without marks are omitted, a long span
shows its first and last lines, and a long line the part around its marks.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence

from ...records import dataclass
from .columns import DisplayLine, line_of, window_around
from .span import Span

Piece = tuple[str, str]
"""Text and its style; an empty style is plain text."""

MAX_LINES = 6
"""A span of more lines shows the first ones and the last."""
WIDTH = 120
"""So many columns of a source line are shown where nobody says how wide the terminal is."""


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """A span that an excerpt underlines: `mark` underlines it, `style` is its colour."""

    span: Span
    label: str
    mark: str
    style: str


@dataclass(frozen=True, slots=True)
class _Mark:
    """The underlined columns of one source line; `end` is None at the end of the line."""

    place: MarkedSpan
    start: int | None
    end: int | None
    label: str


def has_source(span: Span) -> bool:
    """True if every line of the span can be read."""
    count = len(linecache.getlines(span.file))
    return span.line > 0 and max(span.line, span.end_line) <= count


def excerpt(places: Sequence[MarkedSpan], margin: int, width: int | None) -> Iterator[list[Piece]]:
    """The lines of the places, which are all of one file and have a source."""
    source = linecache.getlines(places[0].span.file)
    marks: dict[int, list[_Mark]] = {}
    for place in places:
        for number, mark in _marks(place):
            marks.setdefault(number, []).append(mark)
    room = max(20, (WIDTH if width is None else width) - margin - 3)
    bar = " " * margin + " |"
    yield [(bar, "place")]
    before = min(marks) - 1
    for number in sorted(marks):
        if number == before + 2 and source[before].strip():
            yield from _source(line_of(source[before].rstrip("\n")), [], before + 1, margin, room)
        elif number > before + 1:
            yield [(" " * margin + " :", "place")]
        yield from _source(line_of(source[number - 1].rstrip("\n")), marks[number], number, margin, room)
        before = number


def _marks(place: MarkedSpan) -> Iterator[tuple[int, _Mark]]:
    """The underlined columns of a span in each printed line of it; its label stands at the last."""
    span = place.span
    last = max(span.line, span.end_line)
    numbers = list(range(span.line, last + 1))
    if len(numbers) > MAX_LINES:
        numbers = [*numbers[: MAX_LINES - 2], last]
    for number in numbers:
        start = span.column if number == span.line else None
        end = span.end_column if number == last else None
        yield number, _Mark(place, start, end, place.label if number == last else "")


def _source(
    line: DisplayLine, marks: Sequence[_Mark], number: int, margin: int, room: int
) -> Iterator[list[Piece]]:
    """One line of the source, and a line for each mark under it, the rightmost first."""
    ranges = [_cells(line, mark) for mark in marks]
    first, last = ranges[0] if ranges else (0, 0)
    start, end = window_around(line, first, last, room)
    yield [(f"{number:>{margin}} | ", "place"), (line.window(start, end), "")]
    order = sorted(range(len(marks)), key=lambda i: (-ranges[i][0], i))
    for i in order:
        mark, (low, high) = marks[i], ranges[i]
        low, high = max(low, start), min(high, max(end, low + 1))
        text = " " * (low - start) + mark.place.mark * max(1, high - low)
        label = f" {mark.label}" if mark.label else ""
        yield [(" " * margin + " | ", "place"), (text + label, mark.place.style)]


def _cells(line: DisplayLine, mark: _Mark) -> tuple[int, int]:
    """The cells that a mark underlines in a line."""
    start = line.indent if mark.start is None else line.cell(mark.start)
    end = line.width if mark.end is None else line.cell(mark.end)
    return start, max(end, start + 1)
