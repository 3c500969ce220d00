"""Excerpts of the user's files with the lines of a program highlighted: whole functions, in the order of the file.

In: spans. Out: for each file the lines of the functions that contain them.
"""

from __future__ import annotations

import ast
import linecache
from collections import defaultdict
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from ..records import dataclass
from ..runtime.reports.hlo_text import SourceLocation
from .colors import source_lines


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a file, as HTML; `gap`: lines before it are left out."""

    number: int
    html: Markup
    gap: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The shown lines of a file; none where the file cannot be read."""

    file: str
    rows: tuple[Row, ...]


def excerpts(places: Iterable[SourceLocation]) -> list[Excerpt]:
    """The functions that contain the locations, by file in the order of the locations."""
    by_file: dict[str, set[int]] = defaultdict(set)
    for file, line in places:
        by_file[file].add(line)
    return [_excerpt(file, lines) for file, lines in by_file.items()]


def _excerpt(file: str, lines: set[int]) -> Excerpt:
    source = linecache.getlines(file)
    numbers = sorted(_enclosing_lines(source, lines))
    if not numbers:
        return Excerpt(file, ())
    colored = source_lines(source)
    before = [0, *numbers]
    return Excerpt(file, tuple([Row(n, colored[n - 1], n != last + 1) for last, n in zip(before, numbers)]))


def _enclosing_lines(source: Sequence[str], lines: set[int]) -> set[int]:
    """The lines of the innermost functions, or else statements of the module, in which `lines` stand."""
    shown = {line for line in lines if 0 < line <= len(source)}
    try:
        tree = ast.parse("".join(source))
    except (SyntaxError, ValueError):
        return shown
    ranges = sorted(_ranges(tree), key=lambda r: len(r), reverse=True)
    innermost = {line: r for r in ranges for line in lines if line in r}
    for found in innermost.values():
        shown.update(found)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and shown & set(range(node.lineno, _end(node))):
            shown.add(node.lineno)
    return shown


def _ranges(tree: ast.Module) -> list[range]:
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    starts = [min([d.lineno for d in n.decorator_list], default=n.lineno) for n in functions]
    statements = [s for s in tree.body if not isinstance(s, ast.ClassDef | ast.FunctionDef)]
    return [
        *[range(start, _end(n)) for start, n in zip(starts, functions)],
        *[range(s.lineno, _end(s)) for s in statements],
    ]


def _end(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) + 1
