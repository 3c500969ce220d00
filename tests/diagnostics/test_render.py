"""Rendering: places, carets, notes, several lines, what has no source, colours."""

from __future__ import annotations

import linecache
from dataclasses import dataclass

import pytest

from pystage.compiler.diagnostics.diagnostic import REGISTRY, Diagnostic, Note
from pystage.compiler.diagnostics.errors import StagingError
from pystage.compiler.diagnostics.render import MAX_LINES, render, render_all
from pystage.compiler.diagnostics.span import Span

FILE = "<rendered>"
TEXT = ["def f(x, y):\n", "    a = x + 1\n", "    return a @ (\n", "        y\n", "    )\n", "\tb = é\n"] + [
    "x = 1\n"
] * 9


@dataclass(frozen=True, kw_only=True)
class Mismatch(Diagnostic):
    """For these tests only."""

    code = "PS990"
    title = "`{left}` does not fit"
    label = "has shape {left}"
    help = "transpose `{left}`"

    left: str


@dataclass(frozen=True, kw_only=True)
class Bare(Diagnostic):
    """Without label and help."""

    code = "PS991"
    title = "bare"


@pytest.fixture(autouse=True)
def source():
    linecache.cache[FILE] = (1, None, TEXT, FILE)
    yield
    del linecache.cache[FILE]


@pytest.fixture(autouse=True, scope="module")
def forget_codes():
    yield
    del REGISTRY["PS990"], REGISTRY["PS991"]


def test_everything_at_once():
    found = Mismatch(
        left="a",
        span=Span(FILE, 3, 11, 3, 12, "f"),
        notes=(Note("`a` is made here", Span(FILE, 2, 4, 2, 13, "f")), Note("x comes from the caller")),
    )
    assert render(found) == (
        "error[PS990]: `a` does not fit\n"
        " --> <rendered>:3:12, in f\n"
        "  |\n"
        "3 |     return a @ (\n"
        "  |            ^ has shape a\n"
        "why: `a` is made here\n"
        " --> <rendered>:2:5, in f\n"
        "  |\n"
        "2 |     a = x + 1\n"
        "  |     ---------\n"
        "why: x comes from the caller\n"
        "help: transpose `a`"
    )


def test_several_lines():
    assert render(Bare(span=Span(FILE, 3, 11, 5, 5))) == (
        "error[PS991]: bare\n"
        " --> <rendered>:3:12\n"
        "  |\n"
        "3 |     return a @ (\n"
        "  |            ^^^^^\n"
        "4 |         y\n"
        "  |         ^\n"
        "5 |     )\n"
        "  |     ^"
    )


def test_long_spans_are_cut():
    text = render(Mismatch(left="a", span=Span(FILE, 1, 0, 15, 5)))
    assert text.count("^\n") == MAX_LINES
    assert " : has shape a" in text


def test_tabs_and_margins():
    assert "6 |  b = é\n  |      ^" in render(Bare(span=Span(FILE, 6, 5, 6, 6)))
    assert "\n10 | x = 1\n   | ^" in render(Bare(span=Span(FILE, 10, 0, 10, 1)))


def test_without_source_or_place():
    assert render(Bare()) == "error[PS991]: bare"
    assert render(Bare(span=Span("<gone>", 3, 0, 3, 1))) == "error[PS991]: bare\n --> <gone>:3:1"
    assert render(Bare(span=Span(FILE, 99, 0, 99, 1))) == "error[PS991]: bare\n  --> <rendered>:99:1"


def test_several_diagnostics_and_the_exception():
    both = (Bare(), Mismatch(left="b"))
    text = render_all(both)
    assert text == "error[PS991]: bare\n\nerror[PS990]: `b` does not fit\nhelp: transpose `b`\n\n2 errors"
    error = StagingError(both)
    assert str(error) == text and error.diagnostics == both
    assert render_all([]) == ""


def test_colour():
    text = render(Mismatch(left="[bold]", span=Span(FILE, 1, 0, 1, 3)), color=True)
    assert "\x1b[1;31merror[PS990]\x1b[0m" in text and "[bold]" in text
    assert not text.endswith("\n")
