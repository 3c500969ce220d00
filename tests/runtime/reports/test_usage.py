"""`f.usage()`: how calls ran, what each way has cost, and why."""

from __future__ import annotations

import time
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pystage

X = np.arange(3.0)


def doubled(x: Any) -> Any:
    return x * 2


def stamped(x: Any) -> Any:
    started = time.time()
    return x + started


def test_before_a_call() -> None:
    found = pystage.compile(doubled, tier="compiled").usage()
    assert (found.ways, found.signatures) == ((), ())
    assert str(found) == "doubled: calls run as programs, each compiled when it is first needed"


def test_programs() -> None:
    staged = pystage.compile(doubled, tier="compiled", fallback="error")
    for x in (X, X, X.astype(np.float32)):
        staged(x)
    found = staged.usage()
    (way,) = found.ways
    assert (way.name, way.calls) == ("programs", None)
    assert way.why.startswith("2 programs: inference ") and way.seconds > 0
    assert found.signatures == (
        "doubled(float64[3]) -> float64[3]",
        "doubled(float32[3]) -> float32[3]",
    )
    headline, columns, row, *signatures = str(found).splitlines()
    assert "not counted" in row
    assert headline == "doubled: calls run as programs, each compiled when it is first needed"
    assert columns.split() == ["calls", "seconds"] and row.split()[0] == "programs"
    assert signatures == [f"  {each}" for each in found.signatures]


def test_many_equal_types_are_counted() -> None:
    staged = pystage.compile(lambda xs, n: xs[0] + n, tier="compiled", fallback="error", name="first")
    staged([0.5] * 8, 1), staged([0.5] * 60, 1)
    assert [text.partition(" ->")[0] for text in staged.signatures()] == [
        f"first({'float, ' * 8}int)",
        "first(60 × float, int)",
    ]


def test_plain_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSTAGE_TIER", raising=False)
    staged = pystage.compile(doubled, tier="plain")
    staged(X)
    assert staged.usage().now == "plainly: the tier is `plain`"

    def halves(x: Any) -> float:
        total = 0.0
        for i in range(len(x)):
            total += x[i] / 2
        return total

    staged = pystage.compile(halves, tier="auto", fallback="lazy")
    staged(X)
    found = staged.usage()
    (way,) = found.ways
    assert (way.name, way.calls) == ("plain", 1)
    assert found.now.startswith("plainly")
    assert way.why


@pytest.mark.filterwarnings("ignore::pystage.FallbackWarning")
def test_a_refused_function() -> None:
    staged = pystage.compile(stamped, tier="compiled", fallback="python")
    for _ in range(2):
        staged(X)
    found = staged.usage()
    assert found.now == "as Python, beside the parts that are compiled"
    (way,) = found.ways
    assert (way.name, way.calls) == ("as Python", 2)
    assert way.why.startswith("PS601: ")


def test_in_a_notebook() -> None:
    staged = pystage.compile(lambda x: x * 2, tier="compiled", fallback="error")
    staged(X)
    page = ElementTree.fromstring(f"<div>{staged._repr_html_()}</div>")
    assert [each.text for each in page.iter("th")] == [None, "calls", "seconds", "why"]
    (signature,) = page.findall("./ul/li/code")
    assert signature.text == "<lambda>(float64[3]) -> float64[3]"
