"""Diagnostics as text, in the manner of rustc: headline, location, the source line underlined, reasons, help.

Rendering reads the source text, so that a diagnostic that nobody prints costs nothing.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from .diagnostic import Diagnostic, Note
from .excerpt import MAX_LINES, MarkedSpan, Piece, excerpt, has_source
from .span import Span

_STYLES = {
    "error": "bold red",
    "title": "bold",
    "place": "bold blue",
    "note": "bold cyan",
    "help": "bold green",
    "more": "dim",
}
_CSS = {
    "error": "color:#c00;font-weight:bold",
    "title": "font-weight:bold",
    "place": "color:#369",
    "note": "color:#077;font-weight:bold",
    "help": "color:#070;font-weight:bold",
    "more": "color:#777",
}
_CAN = {
    True: " (pystage does not stage this yet)",
    False: " (not possible in a compiled program)",
    None: "",
}
"""What the last line says of whether what is refused could ever be staged."""

__all__ = ["MAX_LINES", "more", "render", "render_all", "render_html"]


def render(
    diagnostic: Diagnostic,
    *,
    color: bool = False,
    width: int | None = None,
    short: bool = False,
    page: bool = True,
) -> str:
    """One diagnostic as text. No newline at the end.

    `color` adds terminal colours; `width` columns are what the terminal has (`terminal.columns_of`), by default nothing
    is wrapped; `short` gives one line; `page` names the code's page at the end.
    """
    if short:
        return _short(diagnostic)
    lines = _wrapped(_diagnostic(diagnostic, width, page), width)
    if not color:
        return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
    return _colored(lines)


def more(diagnostic: Diagnostic) -> str:
    """The line that names the page of a diagnostic."""
    return f"more: pystage explain {diagnostic.code}{_CAN[diagnostic.ever]}"


def render_all(diagnostics: Iterable[Diagnostic], *, color: bool = False, short: bool = False) -> str:
    """Several diagnostics, separated by blank lines, and their number if there are more than one.

    The page of a code is named once. `color` adds terminal colours; `short` gives one line for each diagnostic.
    """
    given = list(diagnostics)
    if short:
        return "\n".join([_short(diagnostic) for diagnostic in given])
    last = {diagnostic.code: i for i, diagnostic in enumerate(given)}
    texts = [render(d, color=color, page=last[d.code] == i) for i, d in enumerate(given)]
    if len(texts) > 1:
        texts.append(f"{len(texts)} errors")
    return "\n\n".join(texts)


def render_html(diagnostics: Iterable[Diagnostic]) -> str:
    """Several diagnostics as a piece of HTML, as notebooks show it."""
    given = list(diagnostics)
    last = {diagnostic.code: i for i, diagnostic in enumerate(given)}
    texts = []
    for i, diagnostic in enumerate(given):
        lines = _diagnostic(diagnostic, None, last[diagnostic.code] == i)
        texts.append("\n".join(["".join([_span(text, style) for text, style in line]) for line in lines]))
    text = "\n\n".join(texts)
    return f'<pre style="line-height:1.2">{text}</pre>'


def _span(text: str, style: str) -> str:
    escaped = html.escape(text, quote=False)
    return f'<span style="{_CSS[style]}">{escaped}</span>' if style else escaped


def _short(diagnostic: Diagnostic) -> str:
    """`file:line:column: PS301 headline`."""
    place = f"{diagnostic.span}: " if diagnostic.span is not None and diagnostic.span.line else ""
    return f"{place}{diagnostic.code} {diagnostic.headline}"


def _diagnostic(diagnostic: Diagnostic, width: int | None, page: bool) -> Iterator[list[Piece]]:
    yield [(f"error[{diagnostic.code}]", "error"), (f": {diagnostic.headline}", "title")]
    margin = _margin(diagnostic)
    span = diagnostic.span
    beside = [note for note in diagnostic.notes if _stands_beside(note, span)]
    if span is not None and span.line:
        places = [MarkedSpan(span, diagnostic.caret_label, "^", "error")]
        places += [MarkedSpan(note.span, note.label, "-", "note") for note in beside if note.span is not None]
        yield from _excerpt(places, margin, width)
    for note in diagnostic.notes:
        if note not in beside:
            yield from _note(note, margin, width)
    if diagnostic.advice:
        yield [("help", "help"), (f": {diagnostic.advice}", "")]
    if page and diagnostic.code:
        yield [(more(diagnostic), "more")]


def _stands_beside(note: Note, span: Span | None) -> bool:
    """True for a note whose label says it all, in the excerpt of the diagnostic itself."""
    if span is None or note.span is None or not note.label or note.span.file != span.file:
        return False
    return has_source(span) and has_source(note.span)


def _note(note: Note, margin: int, width: int | None) -> Iterator[list[Piece]]:
    yield [("why", "note"), (f": {note.text}", "")]
    if note.span is not None and note.span.line:
        yield from _excerpt([MarkedSpan(note.span, note.label, "-", "note")], margin, width)


def _margin(diagnostic: Diagnostic) -> int:
    """The width of the largest line number that is shown."""
    spans = [diagnostic.span, *(note.span for note in diagnostic.notes)]
    return max((len(str(span.end_line)) for span in spans if span is not None), default=1)


def _excerpt(places: Sequence[MarkedSpan], margin: int, width: int | None) -> Iterator[list[Piece]]:
    """Where the first place is, and the lines of all of them."""
    span = places[0].span
    function = f", in {span.function}" if span.function else ""
    yield [(" " * margin + "--> ", "place"), (f"{span}{function}", "")]
    if has_source(span):
        yield from excerpt(places, margin, width)


def _wrapped(lines: Iterable[list[Piece]], width: int | None) -> Iterator[list[Piece]]:
    """Prose broken at blanks, where the terminal is narrower; lines of an excerpt are cut already."""
    for line in lines:
        head, *rest = line
        prose = head[1] in ("error", "note", "help", "more") and not head[0].startswith(" ")
        text = "".join(text for text, _ in line)
        if width is None or not prose or len(text) <= width:
            yield line
            continue
        first, *others = textwrap.wrap(text, width, subsequent_indent="      ", break_long_words=False)
        style = rest[0][1] if rest else head[1]
        yield [head, (first[len(head[0]) :], style)] if rest else [(first, style)]
        yield from ([(other, style)] for other in others)


def _colored(lines: Iterable[list[Piece]]) -> str:
    console = Console(
        force_terminal=True, force_jupyter=False, color_system="standard", width=10_000, highlight=False
    )
    texts = [Text.assemble(*((text, _STYLES.get(style, "")) for text, style in line)) for line in lines]
    with console.capture() as capture:
        for text in texts:
            console.print(text)
    return capture.get().rstrip("\n")
