"""`Span`: a range of the user's source."""

from __future__ import annotations

from ...records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A range of source text: lines count from 1, columns from 0; `end_column` is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"
