"""Diagnostics as text, in the manner of rustc: headline, place, the source line underlined, why, help.

The text of the source is read here and nowhere before: a diagnostic that nobody prints costs nothing.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from .diagnostic import Diagnostic, Note
from .span import Span

_Piece = tuple[str, str]
"""Text and its style: a key of `_STYLES`, or empty."""

_STYLES = {
    "error": "bold red",
    "title": "bold",
    "place": "bold blue",
    "note": "bold cyan",
    "help": "bold green",
}

MAX_LINES = 6
"""A longer span shows its first lines only."""


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """One diagnostic as text; `color` adds terminal colours. No newline at the end."""
    lines = _diagnostic(diagnostic)
    if not color:
        return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
    return _colored(lines)


def render_all(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """Several diagnostics, separated by blank lines, and their number if there are more than one."""
    texts = [render(diagnostic, color=color) for diagnostic in diagnostics]
    if len(texts) > 1:
        texts.append(f"{len(texts)} errors")
    return "\n\n".join(texts)


def _diagnostic(diagnostic: Diagnostic) -> Iterator[list[_Piece]]:
    yield [(f"error[{diagnostic.code}]", "error"), (f": {diagnostic.headline}", "title")]
    margin = _margin(diagnostic)
    span = diagnostic.span
    if span is not None and span.line:
        yield from _excerpt(span, diagnostic.caret_label, margin, "error", "^")
    for note in diagnostic.notes:
        yield from _note(note, margin)
    if diagnostic.advice:
        yield [("help", "help"), (f": {diagnostic.advice}", "")]


def _note(note: Note, margin: int) -> Iterator[list[_Piece]]:
    yield [("why", "note"), (f": {note.text}", "")]
    if note.span is not None and note.span.line:
        yield from _excerpt(note.span, "", margin, "note", "-")


def _margin(diagnostic: Diagnostic) -> int:
    """The width of the largest line number that is shown."""
    spans = [diagnostic.span, *(note.span for note in diagnostic.notes)]
    return max((len(str(span.end_line)) for span in spans if span is not None), default=1)


def _excerpt(span: Span, label: str, margin: int, style: str, mark: str) -> Iterator[list[_Piece]]:
    """The place of a span, and its lines with what it covers underlined."""
    function = f", in {span.function}" if span.function else ""
    yield [(" " * margin + "--> ", "place"), (f"{span}{function}", "")]
    bar = " " * margin + " |"
    source = linecache.getlines(span.file)
    numbers = range(span.line, max(span.line, span.end_line) + 1)
    if not all(0 < number <= len(source) for number in numbers):
        return
    yield [(bar, "place")]
    for number in numbers[:MAX_LINES]:
        text = source[number - 1].rstrip("\n").replace("\t", " ")
        yield [(f"{number:>{margin}} | ", "place"), (text, "")]
        last = number == numbers[-1]
        indent = len(text) - len(text.lstrip())
        start = span.column if number == span.line else indent
        end = span.end_column if last else len(text)
        underline = " " * start + mark * max(1, end - start)
        yield [(bar + " ", "place"), (underline + (f" {label}" if label and last else ""), style)]
    if len(numbers) > MAX_LINES:
        yield [(" " * margin + " : ", "place"), (label, style)]


def _colored(lines: Iterable[list[_Piece]]) -> str:
    console = Console(force_terminal=True, color_system="standard", width=10_000, highlight=False)
    texts = [Text.assemble(*((text, _STYLES.get(style, "")) for text, style in line)) for line in lines]
    with console.capture() as capture:
        for text in texts:
            console.print(text)
    return capture.get().rstrip("\n")
