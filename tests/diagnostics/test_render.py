"""Rendering: places, carets, notes, several lines, wide characters, narrow terminals, what has no source, colours."""

from __future__ import annotations

import io
import linecache
from dataclasses import dataclass

import pytest

from pystage.compiler.diagnostics.diagnostic import REGISTRY, Diagnostic, Note
from pystage.compiler.diagnostics.errors import StagingError
from pystage.compiler.diagnostics.excerpt import MAX_LINES
from pystage.compiler.diagnostics.render import render, render_all
from pystage.compiler.diagnostics.span import Span
from pystage.compiler.diagnostics.terminal import NARROWEST, columns_of, takes_color

FILE, OTHER = "<rendered>", "<wide>"
TEXT = ["def f(x, y):\n", "    a = x + 1\n", "    return a @ (\n", "        y\n", "    )\n", "\tb = é\n"] + [
    "x = 1\n"
] * 9
LONG = "    total = " + " + ".join(f"number_{i}" for i in range(40)) + "\n"
WIDE = ["名前 = f('温度', x)\n", "e\u0301 = g(e\u0301)\n", LONG, "\tif x:\ty = é\n"]


@dataclass(frozen=True, kw_only=True)
class Mismatch(Diagnostic):
    """For these tests only."""

    code = "PS990"
    title = "`{left}` does not fit"
    ever = True
    label = "has shape {left}"
    help = "transpose `{left}`"

    left: str


@dataclass(frozen=True, kw_only=True)
class Bare(Diagnostic):
    """Without label and help."""

    code = "PS991"
    title = "bare"
    ever = False


@pytest.fixture(autouse=True)
def source():
    linecache.cache[FILE] = (1, None, TEXT, FILE)
    linecache.cache[OTHER] = (1, None, WIDE, OTHER)
    yield
    del linecache.cache[FILE], linecache.cache[OTHER]


@pytest.fixture(autouse=True, scope="module")
def forget_codes():
    yield
    del REGISTRY["PS990"], REGISTRY["PS991"]


MORE = "more: pystage explain PS990 (pystage does not stage this yet)"
MORE_BARE = "more: pystage explain PS991 (not possible in a compiled program)"


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
        f"help: transpose `a`\n{MORE}"
    )


def test_notes_with_labels_stand_in_one_excerpt():
    notes = (
        Note("it is made", Span(FILE, 1, 6, 1, 7), "made here"),
        Note("y", Span(FILE, 3, 15, 3, 16), "opened"),
        Note("elsewhere", Span(OTHER, 2, 0, 2, 1), "there"),
        Note("far", Span(FILE, 10, 0, 10, 1), "far"),
    )
    assert render(Mismatch(left="a", span=Span(FILE, 3, 11, 3, 12), notes=notes), page=False) == (
        "error[PS990]: `a` does not fit\n"
        "  --> <rendered>:3:12\n"
        "   |\n"
        " 1 | def f(x, y):\n"
        "   |       - made here\n"
        " 2 |     a = x + 1\n"
        " 3 |     return a @ (\n"
        "   |                - opened\n"
        "   |            ^ has shape a\n"
        "   :\n"
        "10 | x = 1\n"
        "   | - far\n"
        "why: elsewhere\n"
        "  --> <wide>:2:1\n"
        "   |\n"
        " 2 | e\u0301 = g(e\u0301)\n"
        "   | - there\n"
        "help: transpose `a`"
    )


def test_several_lines():
    assert render(Bare(span=Span(FILE, 3, 11, 5, 5)), page=False) == (
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


def test_long_spans_show_their_beginning_and_their_end():
    text = render(Mismatch(left="a", span=Span(FILE, 1, 0, 15, 5)))
    assert text.count("^\n") == MAX_LINES - 2
    assert "\n   :\n15 | x = 1\n   | ^^^^^ has shape a\n" in text


def test_tabs_and_margins():
    assert "6 |     b = é\n  |         ^" in render(Bare(span=Span(FILE, 6, 5, 6, 6)))
    assert "\n10 | x = 1\n   | ^" in render(Bare(span=Span(FILE, 10, 0, 10, 1)))
    assert "4 |     if x:   y = é\n  |             ^^^^^" in render(Bare(span=Span(OTHER, 4, 7, 4, 12)))


def test_wide_and_combining_characters():
    assert "| 名前 = f('温度', x)\n  |          ^^^^^^" in render(Bare(span=Span(OTHER, 1, 7, 1, 11)))
    assert "| e\u0301 = g(e\u0301)\n  |     ^^^^" in render(Bare(span=Span(OTHER, 2, 5, 2, 10)))


@pytest.mark.parametrize("width", [None, 60])
@pytest.mark.parametrize("name", ["number_0", "number_20", "number_39"])
def test_long_lines_are_cut_around_the_caret(name, width):
    start = LONG.index(name + " ") if name != "number_39" else LONG.index(name)
    text = render(Bare(span=Span(OTHER, 3, start, 3, start + len(name))), width=width, page=False)
    *_, line, marks = text.split("\n")
    assert all(len(each) <= (width or 125) for each in (line, marks))
    assert line[marks.index("^") : marks.rindex("^") + 1] == name
    assert line.startswith("3 | …") is (name != "number_0")
    assert line.endswith("…") is (name != "number_39")


def test_a_span_that_is_wider_than_the_terminal():
    text = render(Bare(span=Span(OTHER, 3, 4, 3, len(LONG) - 1)), width=50, page=False)
    assert all(len(line) <= 50 for line in text.split("\n"))


def test_prose_is_wrapped_where_a_width_is_given():
    found = Mismatch(left="a " * 60, notes=(Note("because " * 20),))
    text = render(found, width=60)
    assert all(len(line) <= 60 for line in text.split("\n"))
    assert " ".join(text.split()) == " ".join(render(found).split())
    assert "\x1b[1m" in render(found, width=60, color=True)


def test_without_source_or_place():
    assert render(Bare()) == f"error[PS991]: bare\n{MORE_BARE}"
    gone = Bare(span=Span("<gone>", 3, 0, 3, 1))
    assert render(gone, page=False) == "error[PS991]: bare\n --> <gone>:3:1"
    beyond = Bare(span=Span(FILE, 99, 0, 99, 1))
    assert render(beyond, page=False) == "error[PS991]: bare\n  --> <rendered>:99:1"


def test_several_diagnostics_and_the_exception():
    both = (Bare(), Mismatch(left="b"))
    text = render_all(both)
    assert text == (
        f"error[PS991]: bare\n{MORE_BARE}\n\nerror[PS990]: `b` does not fit\nhelp: transpose `b`\n{MORE}\n\n2 errors"
    )
    error = StagingError(both)
    assert str(error) == text and error.diagnostics == both
    assert render_all([]) == ""


def test_a_page_is_named_once():
    assert render_all((Bare(), Bare(), Bare())).count(MORE_BARE) == 1


def test_short():
    found = Mismatch(left="a", span=Span(FILE, 3, 11, 3, 12))
    assert render(found, short=True) == "<rendered>:3:12: PS990 `a` does not fit"
    assert render_all((found, Bare()), short=True) == "<rendered>:3:12: PS990 `a` does not fit\nPS991 bare"


def test_colour():
    text = render(Mismatch(left="[bold]", span=Span(FILE, 1, 0, 1, 3)), color=True)
    assert "\x1b[1;31merror[PS990]\x1b[0m" in text and "[bold]" in text
    assert not text.endswith("\n")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "set_", "expected"),
    [
        (Terminal(), {}, True),
        (io.StringIO(), {}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (None, {}, False),
    ],
)
def test_which_streams_take_colour(stream, set_, expected, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in set_.items():
        monkeypatch.setenv(name, value)
    assert takes_color(stream) is expected


def test_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "72")
    assert columns_of(Terminal()) == 72 and columns_of(io.StringIO()) is None
    monkeypatch.setenv("COLUMNS", "2")
    assert columns_of(Terminal()) == NARROWEST


def test_in_a_notebook(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    error = StagingError((Mismatch(left="<b>", span=Span(FILE, 1, 0, 1, 3)),))
    html = error._repr_html_()
    assert html.startswith("<pre") and "&lt;b&gt;" in html and "<b>" not in html
    try:
        raise error
    except StagingError as raised:
        lines = raised._render_traceback_()
    assert lines[0] == "StagingError" and __file__ in lines[1]
    assert "\x1b[1;31merror[PS990]" in lines[-1]
