"""Terminal columns of a source line, and the window of a long one.

A span counts characters; a terminal counts cells. A tab advances to the next stop, a wide character of East Asian
scripts occupies two cells, a combining one none.
"""

from __future__ import annotations

import unicodedata

from ...records import dataclass

TAB = 4
"""The distance of tab stops."""
ELLIPSIS = "…"
"""Stands for what is cut off."""


def width_of(char: str) -> int:
    """How many cells a character takes; a tab is not one."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """A source line as it is shown: `text` without tabs, `cells[i]` the first cell of the character `i` of the source."""

    text: str
    cells: tuple[int, ...]

    def cell(self, column: int) -> int:
        """The cell of a column of the source; the end of the line for what is beyond it."""
        return self.cells[min(column, len(self.cells) - 1)]

    @property
    def width(self) -> int:
        return self.cells[-1]

    @property
    def indent(self) -> int:
        """The first cell that is not blank."""
        return len(self.text) - len(self.text.lstrip(" "))

    def window(self, start: int, end: int) -> str:
        """The text in the cells from `start` up to `end`, with marks where the line continues."""
        before, after = start > 0, end < self.width
        kept: list[str] = []
        position = 0
        for char in self.text:
            width = width_of(char)
            if position >= start + before and position + width <= end - after:
                kept.append(char)
            position += width
        return (ELLIPSIS if before else "") + "".join(kept) + (ELLIPSIS if after else "")


def line_of(source: str) -> DisplayLine:
    """A source line, without its end, as it is shown."""
    shown: list[str] = []
    cells = [0]
    for char in source:
        if char == "\t":
            width = TAB - cells[-1] % TAB
            shown.append(" " * width)
        else:
            width = width_of(char)
            shown.append(char)
        cells.append(cells[-1] + width)
    return DisplayLine("".join(shown), tuple(cells))


def window_around(line: DisplayLine, first: int, last: int, width: int) -> tuple[int, int]:
    """The cells of a line that are shown where only `width` fit: those around the cells from `first` up to `last`."""
    if line.width <= width:
        return 0, line.width
    room = max(0, width - (last - first))
    start = max(0, min(first - room // 2, line.width - width))
    return start, start + width
