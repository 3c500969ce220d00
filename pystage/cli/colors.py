"""Highlights lines of source and of programs as HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

_PREFIX = "c-"
_FORMATTER = HtmlFormatter(nowrap=True, classprefix=_PREFIX)
STYLES = {
    scheme: str(HtmlFormatter(style=style, classprefix=_PREFIX).get_style_defs(".code"))
    for scheme, style in (("light", "default"), ("dark", "github-dark"))
}
"""CSS for the colours, by `prefers-color-scheme`."""

_TOKEN = re.compile(
    r"(?P<value>%[\w.#<>-]+)"
    r"|(?P<type>\b(?:pred|bf16|[sufc]\d+)\[[\w,]*\](?:\{[\d,]*\})?|\btensor<[^<>]*>)"
    r"|(?P<op>\bstablehlo\.\w+|\bchlo\.\w+|(?<== )[a-z_]+(?=[( ])(?! =)|(?<=[\])}>] )[a-z][a-z-]*(?=\())"
)


def source_lines(source: Sequence[str]) -> list[Markup]:
    """Each line of a Python file."""
    text = "".join([line.rstrip("\r\n") + "\n" for line in source])
    html = highlight(text, PythonLexer(stripnl=False, ensurenl=False), _FORMATTER)
    return [Markup(line) for line in str(html).split("\n")]


def program_line(text: str) -> Markup:
    """A line of a program: values, types and operations."""
    parts: list[Markup] = []
    end = 0
    for found in _TOKEN.finditer(text):
        parts += [
            escape(text[end : found.start()]),
            Markup('<span class="{}">{}</span>').format(found.lastgroup, found[0]),
        ]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])
