"""`pystage dump --html`: what the page holds, and what it does in a browser."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pystage.cli.callgraph import Calls
from pystage.cli.colors import program_line, source_lines
from pystage.cli.excerpts import excerpts
from pystage.cli.explorer import MAX_COLUMNS, MAX_LINES, Contents, contents, html_of, page
from pystage.cli.programs import Line, Stage, StageListing
from pystage.cli.quantities import amount, bytes_text
from pystage.cli.targets import NamedTarget

from . import commands
from .browser import chromium, outcome
from .commands import HERE, main, target

LINES = Path(HERE).read_text().splitlines()


def line_of(text: str, nth: int = 0) -> int:
    """The number of a line of the functions, by its text."""
    return [i for i, line in enumerate(LINES, 1) if line.strip() == text][nth]


LOOP = line_of("for _i in range(n):")
CALL = line_of("x = step(x, w)")
PRODUCT = line_of("return np.tanh(x @ w)")
TEN = line_of("for _i in range(10):")


def call_of(name: str, *args: object) -> NamedTarget:
    """A call of one of the functions."""
    return NamedTarget(target(name), getattr(commands, name), args, {})


@pytest.fixture(scope="module")
def fit() -> Contents:
    """What the page of `fit` shows."""
    ones = commands.np.ones
    return contents(call_of("fit", ones((4, 8)), ones((8, 8)), 3))


def test_each_line_leads_to_operations_in_every_pane(fit: Contents) -> None:
    for listing in fit.listings:
        places = {line.place for line in listing.lines}
        assert (HERE, LOOP) in places
        assert ((HERE, PRODUCT) in places) == (listing.stage is not Stage.LOWERED)


def test_places_are_lines_of_the_user(fit: Contents) -> None:
    assert {file for file, _ in fit.places()} == {HERE}


def test_sizes_count_operations(fit: Contents) -> None:
    for listing in fit.listings:
        assert 10 < listing.operations < len(listing.lines)


def test_calls_are_a_tree_with_the_lines_of_the_calls(fit: Contents) -> None:
    step = Calls("step", (HERE, line_of("def step(x, w):")), ((HERE, CALL),), ())
    top = (HERE, line_of('def fit(x: "f64[4, 8]", w: "f64[8, 8]", n: int):'))
    assert fit.calls == Calls("fit", top, (), (step,))


def test_calls_of_methods_lambdas_and_recursion() -> None:
    calls = contents(call_of("pick", commands.np.ones(4))).calls
    assert calls is not None
    assert {"pick", "Scale.apply", "power"} <= {call.name for call in calls.walk()}
    assert max(Counter(c.name for c in calls.walk() if not c.again).values()) == 1


def test_a_derivative_shows_what_the_user_wrote() -> None:
    shown = contents(call_of("slope", commands.np.ones((4, 8))))
    assert {file for file, _ in shown.places()} == {HERE}
    assert shown.calls is not None
    assert [call.name for call in shown.calls.walk()] == ["slope", "total", "ten"]


def test_costs_count_trips_where_they_are_known(fit: Contents) -> None:
    product = fit.costs[HERE, PRODUCT]
    assert (product.flops, product.each_trip) == (2 * 4 * 8 * 8 + 4 * 8, True)
    ten = contents(call_of("ten", commands.np.ones((4, 8)))).costs[HERE, TEN + 1]
    counter = 1, 3 * 8  # the loop's own, which is counted at the end of its body
    assert (ten.flops, ten.bytes) == (10 * (32 + counter[0]), 10 * (2 * 32 * 8 + counter[1]))
    assert not ten.each_trip


def test_totals_are_those_of_xla(fit: Contents) -> None:
    assert {"arithmetic operations (flops)", "bytes read and written"} <= dict(fit.totals).keys()


def test_the_page_needs_nothing_else(fit: Contents) -> None:
    text = html_of(fit)
    assert not re.search(r"https?:|//cdn|@import|url\(|src=|<link", text)
    assert "prefers-color-scheme: dark" in text
    assert "connect-src" not in text and "default-src 'none'" in text


def test_a_large_program_is_abridged_and_says_so(fit: Contents) -> None:
    lines = [Line("x" * 10_000, (HERE, LOOP), True), *[Line("y", None, True)] * (MAX_LINES + 6)]
    text = html_of(replace(fit, listings=(StageListing(Stage.OPTIMIZED, tuple(lines)),)))
    assert "7 more lines are left out" in text
    assert "long lines are cut" in text
    assert "pystage dump --stage optimized" in text
    assert "x" * MAX_COLUMNS in text and "x" * (MAX_COLUMNS + 1) not in text
    assert f"{len(lines)} operations" in text


def test_problems_stand_under_their_lines_and_the_status_is_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["dump", target("refused"), "--html"]) == 1
    told = capsys.readouterr()
    assert told.out == "refused.html\n"
    assert "PS601" in told.err
    text = (tmp_path / "refused.html").read_text()
    after = text.partition("&lt;&amp;&gt;")[2]
    assert 0 < after.index('<div class="told">') < after.index("return")
    assert re.findall(r'id="pane-(\w+)"', text) == ["source", "lowered"]


def test_what_the_front_end_refuses_shows_the_source_alone() -> None:
    made = page(call_of("unreadable", commands.np.ones(4)))
    assert made.error is not None
    assert re.findall(r'id="pane-(\w+)"', made.html) == ["source"]
    assert "PS112" in made.html


def test_excerpts_are_whole_functions() -> None:
    (found,) = excerpts([(HERE, PRODUCT), (HERE, line_of("return x * self.by"))])
    shown = [row.number for row in found.rows]
    assert shown[:3] == [PRODUCT - 2, PRODUCT - 1, PRODUCT]
    assert shown[3] == line_of("class Scale:")
    assert [row.gap for row in found.rows] == [True, False, False, True, True, False, False]
    assert excerpts([("/no/such/file.py", 3)])[0].rows == ()


def test_colours_change_no_text() -> None:
    for text in ("  %1: f64[2,3] = dot_general(lhs=(1,)) %0, %<undefined>", "%a = f32[]{} add(%b), x=<&>"):
        plain = re.sub(r"<[^>]*>", "", program_line(text))
        assert plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == text
    source = ["\n", 's = """\n', "  <b>\n", '"""\n', "\n"]
    assert len(source_lines(source)) >= len(source)
    assert "&lt;b&gt;" in source_lines(source)[2]


def test_quantities() -> None:
    assert [amount(n) for n in (0, 950, 1234, 35_400_000)] == ["0", "950", "1.2 k", "35 M"]
    assert [bytes_text(n) for n in (12, 3500, 2**31)] == ["12 B", "3.4 KiB", "2.0 GiB"]


IN_THE_PAGE = """
const source = (n) => [...document.querySelectorAll("#pane-source .l")].find(
  (l) => l.querySelector(".n").textContent == n);
const lit = (name) => Object.fromEntries([...document.querySelectorAll(".pane")].map(
  (pane) => [pane.id, pane.querySelectorAll("." + name).length]));
const point = (line) => line.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
const found = {};
found.atFirst = lit("lit");
point(source(LOOP).querySelector("code"));
found.loop = lit("lit");
const product = [...document.querySelectorAll("#pane-typed .l")].find((l) => l.textContent.includes("dot_general"));
point(product);
found.back = [...document.querySelectorAll("#pane-source .lit .n")].map((n) => Number(n.textContent));
product.click();
point(source(LOOP));
found.held = [...document.querySelectorAll("#pane-source .held .n")].map((n) => Number(n.textContent));
found.litWhileHeld = [...document.querySelectorAll("#pane-source .lit .n")].map((n) => Number(n.textContent));
found.hash = location.hash;
const optimized = document.querySelector("#pane-optimized .held").getBoundingClientRect();
found.inView = optimized.top > 0 && optimized.bottom <= innerHeight;
document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
found.released = lit("held");
source(LOOP).focus();
found.focused = lit("lit")["pane-stablehlo"];
const box = document.querySelector("[data-pane=lowered]");
found.lowered = [document.getElementById("pane-lowered").hidden];
box.click();
found.lowered.push(document.getElementById("pane-lowered").hidden);
document.querySelector("#calls ul ul a").click();
found.jumped = [...document.querySelectorAll("#pane-source .held code")].map((c) => c.textContent);
found.wide = document.documentElement.scrollWidth <= innerWidth;
found.panes = [...document.querySelectorAll(".pane:not([hidden]) h2")].map((h) => h.textContent);
return found;
"""


def test_lines_light_up_together_in_a_browser(fit: Contents, tmp_path: Path) -> None:
    browser = chromium()
    if browser is None:
        pytest.skip("there is no Chromium on this machine")
    found = outcome(browser, html_of(fit), IN_THE_PAGE.replace("LOOP", str(LOOP)), tmp_path)
    panes = ["pane-source", "pane-lowered", "pane-typed", "pane-stablehlo", "pane-optimized"]
    assert found["atFirst"] == dict.fromkeys(panes, 0)
    assert list(found["loop"]) == panes
    assert all(count > 0 for count in found["loop"].values())
    assert found["loop"]["pane-source"] == 1
    assert found["back"] == found["held"] == found["litWhileHeld"] == [PRODUCT]
    assert re.fullmatch(r"#p\d+", found["hash"])
    assert found["inView"]
    assert found["released"] == dict.fromkeys(panes, 0)
    assert found["focused"] > 0
    assert found["lowered"] == [True, False]
    assert found["jumped"] == ["def step(x, w):"]
    assert found["wide"]
    assert found["panes"] == ["Source", "Lowered", "Typed program", "StableHLO", "Optimised HLO"]
