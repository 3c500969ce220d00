"""`Span`: a range of the user's source."""

from __future__ import annotations

import os
import sys
from typing import Any

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
        return f"{self.at}:{self.column + 1}"

    @property
    def at(self) -> str:
        """The file, or the cell of a notebook, and the line."""
        return place(self.file, self.line)


def place(file: str, line: int) -> str:
    """A file, or the cell of a notebook, and a line."""
    return f"{cell_of(file) or file}:{line}"


def cell_of(file: str) -> str | None:
    """The cell of a notebook that is compiled under this file name, `Cell In[3]`; None for other files."""
    if "IPython" not in sys.modules:
        return None
    shell: Any = sys.modules["IPython"].get_ipython()
    format_name = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if format_name is None else format_name(file)
    return " ".join(found) if found and found[0] == "Cell" else None


def shown_file(file: str, start: str | os.PathLike[str] = os.curdir) -> str:
    """A file as a reader finds it: a cell by its number, another from the folder `start`."""
    return cell_of(file) or os.path.relpath(file, start)
