"""Rewrites that `explain` proposes stage, and those that do not help are not shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pystage
from explain import programs

X = np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("function", "added"),
    [
        (programs.timed, ["def timed(x, time_):", "    start = time_"]),
        (programs.noisy, ["def noisy(x, k=3, *, random_):", "    return x + random_ * k"]),
    ],
)
def test_rewrites(function: Any, added: list[str]) -> None:
    (rewrite,) = pystage.compile(function).explain(X).rewrites
    assert rewrite is not None and rewrite.complete
    assert [line for edit in rewrite.edits for line in edit.new] == added
    assert f"+ {added[0]}" in str(pystage.compile(function).explain(X))


def test_a_function_that_is_called() -> None:
    """A call whose result nothing needs is left out; one that stands inside another expression is not."""
    explanation = pystage.compile(programs.calls_what_logs).explain(X)
    (rewrite,) = explanation.rewrites
    assert rewrite is not None and rewrite.complete
    (edit,) = rewrite.edits
    assert edit.old == ('        LOG.info("w is %s", w)',) and edit.new == ()
    assert edit.line == programs.fitted.__code__.co_firstlineno + 4
    (rewrite,) = pystage.compile(programs.keeps_what_a_clock_says).explain(X).rewrites
    assert rewrite is not None and rewrite.arguments


def test_a_call_that_is_left_out_may_change_something() -> None:
    (rewrite,) = pystage.compile(programs.logs_what_changes).explain(X).rewrites
    assert rewrite is not None and rewrite.text.endswith(
        "does not need it, unless `kept.pop()` changes something"
    )
    (rewrite,) = pystage.compile(programs.calls_what_logs).explain(X).rewrites
    assert rewrite is not None and rewrite.text.endswith("does not need it")


def test_two_readings_of_a_clock_are_not_one_number() -> None:
    start, log, took = pystage.compile(programs.times_and_logs).explain(X).rewrites
    assert start is None
    assert log is not None and log.edits[0].old == ('    LOG.info("began")',)
    assert took is not None and took.edits[0].old == ('    LOG.info("took %.3f s", time.time() - start)',)


@pytest.mark.parametrize(
    "function",
    [
        programs.appends,
        programs.asks_often,
        programs.logs_beside_a_statement,
        programs.reads_a_clock_in_a_loop,
    ],
)
def test_what_does_not_help_is_not_shown(function: Any) -> None:
    argument = np.ones(10)
    explanation = pystage.compile(function).explain(argument)
    assert explanation.problems and not any(explanation.rewrites)
    assert "checked:" not in str(explanation)


def test_one_of_two_problems() -> None:
    first, second = pystage.compile(programs.twice).explain(np.ones(10)).rewrites
    assert first is not None and not first.complete
    assert second is None


def test_a_method_keeps_its_own_source() -> None:
    """What cannot be taken out of its class by itself is left alone."""

    class Clock:
        @pystage.compile
        def now(self, x: Any) -> Any:
            return x + programs.time.time()

    (rewrite,) = Clock().now.explain(X).rewrites
    assert rewrite is None or rewrite.complete
