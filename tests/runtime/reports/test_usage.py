"""`f.usage()`: how calls ran, what each way has cost, and why."""

from __future__ import annotations

import time
from typing import Any
from xml.etree import ElementTree

import jax.numpy as jnp
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


CONSTANTS = [[i + j for j in range(4)] for i in range(5)]


def test_signatures_name_the_users_lines_and_the_first_of_many_constants() -> None:
    def counted(x: Any) -> Any:
        total = 0.0
        for row in CONSTANTS:
            for each in row:
                total += each
        found = set()
        found.update(int(v) for v in x if v > 0)
        return np.histogram(x, 3)[0], found, total

    staged = pystage.compile(counted, tier="compiled", fallback="error")
    staged(X)
    (signature,) = staged.signatures()
    kept, _, given = signature.partition(" with ")[2].partition(" given ")
    line = counted.__code__.co_firstlineno + 6
    assert kept.startswith("capacity ") and kept.endswith(f" (a list, {__file__}:{line})")
    assert (
        given
        == "CONSTANTS[0][0] = 0, CONSTANTS[0][1] = 1, CONSTANTS[0][2] = 2, CONSTANTS[0][3] = 3 and 16 more"
    )


def test_calls_with_arrays_of_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSTAGE_TIER", raising=False)
    staged = pystage.compile(doubled, tier="auto", fallback="python")
    staged(jnp.ones(3))
    assert staged.usage().now == "as programs, as all with arrays of JAX do"
    staged(X)
    now = staged.usage().now
    assert now.startswith("plainly: ") and now.endswith("; those with arrays of JAX are programs")


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
