"""The estimate of what XLA takes for a program, and the refusal of what is too large: both come from counts alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pystage
from pystage.compiler.passes.cost_model import estimate

DIGITS = "123"


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = pystage.config.program_limit
    yield
    pystage.config.program_limit = before


def unrolled(x):
    for i in range(100):
        x[i % 8] = x[i % 5] * float(DIGITS[: i % 3 + 1])
    return x.sum()


def nested(x):
    for i in range(3):
        for j in range(60):
            x[j % 8] = x[i % 5] * float(DIGITS[: j % 3 + 1])
    return x.sum()


def straight(x):
    x[1] = x[0] * 0.5
    x[2] = x[1] * 0.5
    x[3], x[4], x[5], x[6] = x[0] * 0.5, x[1] * 0.25, x[2] * 0.125, x[3] + 1.0
    return x


def counted(x):
    total = 0
    for i in range(1000):
        for j in range(1000):
            total += float(DIGITS[: (i + j) % 3 + 1]) > 1.0
    return x * total


def halved(x, y):
    if y > 0:
        x = x * 0.5
    return np.sin(x)


def once(x, y):
    return halved(x, y)


def twice(x, y):
    return halved(halved(x, y), y) + halved(x, y + 1.0)


def seconds(f: Callable[..., Any], *args: Any) -> float:
    pystage.config.program_limit = None
    return estimate(pystage.compile(f, fallback="error").lower(*args).staged.function)


def refusal(f: Callable[..., Any], limit: float, *args: Any) -> Any:
    pystage.config.program_limit = limit
    with pytest.raises(pystage.StagingError) as error:
        pystage.compile(f, fallback="error").lower(*args)
    (found,) = error.value.diagnostics
    assert found.code == "PS404"
    return found


def line(f: Callable[..., Any], offset: int) -> int:
    return f.__code__.co_firstlineno + offset


@pytest.mark.parametrize("f", [unrolled, nested, straight])
def test_the_limit_is_the_estimate(f: Callable[..., Any]) -> None:
    takes = seconds(f, np.ones(8))
    pystage.config.program_limit = takes + 0.001
    pystage.compile(f, fallback="error").lower(np.ones(8))
    refusal(f, takes - 0.001, np.ones(8))
    pystage.config.program_limit = None
    pystage.compile(f, fallback="error").lower(np.ones(8))


@pytest.mark.parametrize(("f", "offset", "times"), [(unrolled, 1, "100"), (nested, 2, "60")])
def test_the_loop_that_was_written_out_is_named(f: Callable[..., Any], offset: int, times: str) -> None:
    found = refusal(f, seconds(f, np.ones(8)) / 2, np.ones(8))
    assert found.span.line == line(f, offset)
    assert found.reason.startswith(f"each trip is written out; {times} of them make ")
    assert found.notes[0].text.endswith("must be known in every trip")


def test_without_a_loop_the_largest_line_is_named() -> None:
    found = refusal(straight, seconds(straight, np.ones(8)) - 0.001, np.ones(8))
    assert found.span.line == line(straight, 3)
    assert found.reason.endswith("% of the program")


def test_a_function_counts_at_each_call() -> None:
    args = np.ones(8), 1.0
    base = 0.1
    assert seconds(twice, *args) - base > 2.5 * (seconds(once, *args) - base)


def sums_of_one_kind(x, y):
    return (x[:3] * 2.0).sum() + (y[:3] * 2.0).sum()


def sums_of_other_places(x, y):
    return (x[:3] * 2.0).sum() + (y[5:] * 2.0).sum()


def sums_of_other_numbers(x, y):
    return (x[:3] * 2.0).sum() + (y[:3] * 3.0).sum()


def test_reductions_of_one_kind_are_one_function() -> None:
    args = np.ones(8), np.ones(8)
    one, *others = [
        seconds(f, *args) for f in (sums_of_one_kind, sums_of_other_places, sums_of_other_numbers)
    ]
    assert others == [pytest.approx(one + 0.023, abs=0.001)] * 2


def test_inference_ends_by_itself() -> None:
    """A loop over constants builds nothing, and takes as long as its instructions."""
    found = refusal(counted, 0.5, np.ones(8))
    assert "over 5,000 steps to find out its types" in found.headline
    assert found.span.line in (line(counted, 2), line(counted, 3))
    again = refusal(counted, 0.5, np.ones(8))
    assert again == found


def places(x, n):
    if n == 0:
        return x.sum()
    total = 0.0
    for k in (1, 2):
        total = total + places(x * k, n - 1)
    return total


def deep(x):
    return places(x, 6)


def test_a_loop_that_runs_inside_itself_counts_once() -> None:
    pystage.config.program_limit = None
    found = pystage.compile(deep, fallback="error").lower(np.ones(8)).staged.program.multiplied
    assert {each.function for each in found} == {None, "places"} and len(found) == 2
    assert all(0.5 < each.share <= 1 for each in found)


def test_a_refusal_is_taken_back_when_the_limit_is_raised() -> None:
    pystage.config.program_limit = 0.11
    f = pystage.compile(straight, fallback="python")
    with pytest.warns(pystage.FallbackWarning, match="PS404"):
        f(np.ones(8))
    assert f.signatures() == []
    pystage.config.program_limit = 20
    f(np.ones(8))
    assert len(f.signatures()) == 1


@pytest.mark.parametrize(
    ("value", "error"), [("1", TypeError), (True, TypeError), (0, ValueError), (-1.0, ValueError)]
)
def test_what_no_limit_can_be(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="program_limit"):
        pystage.config.program_limit = value
