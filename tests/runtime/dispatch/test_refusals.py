"""A call that is refused is inferred once: what it depends on is remembered, as that of a program is."""

from __future__ import annotations

import os
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pystage
from pystage.compiler.infer.entry import _Entry
from pystage.runtime.dispatch import entries
from pystage.runtime.dispatch.refusals import MAX_REFUSALS

FLAG = 1
SCALE = 2.5
WEIGHTS: Any = np.ones(3)
TRIPS = 40


@pytest.fixture
def inferences(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One element for each inference of a program."""
    found: list[None] = []
    run: Callable[..., Any] = _Entry.run

    def counted(self: Any, *args: Any) -> Any:
        found.append(None)
        return run(self, *args)

    monkeypatch.setattr(_Entry, "run", counted)
    return found


def reads(x):
    y = x * SCALE + WEIGHTS.sum()
    return os.getpid() if FLAG == 1 else y + FLAG


def of_size(n, x):
    made = np.zeros(n)
    return os.getpid() if n == 3 else made + x


def of_an_item(row):
    made = np.zeros(row[2])
    return os.getpid() if row[1] == 1 else made.sum()


def many(x):
    parts = []
    for i in range(TRIPS):
        parts.append(np.sin(x[i : i + 3]).reshape((1,) * (i % 4) + (3,)))
    return [part.sum() for part in parts]


def grows(first, second):
    first.append(1.0)
    return os.getpid() if len(second) < 3 else len(first)


def strictly(function: Callable[..., Any]) -> Any:
    return pystage.compile(function, fallback="error")


def refusal(function: Any, *args: Any) -> pystage.StagingError:
    with pytest.raises(pystage.StagingError) as caught:
        function(*args)
    error = caught.value
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == ["refusal"]
    return error


def test_the_same_call_is_refused_at_once(inferences: list[None]) -> None:
    compiled, x = strictly(reads), np.ones(3)
    first = refusal(compiled, x)
    count = len(inferences)
    second = refusal(compiled, x + 1.0)
    assert len(inferences) == count
    assert second is not first and str(second) == str(first)
    refusal(compiled, np.ones(4))  # other types
    assert len(inferences) == 2 * count
    refusal(compiled, np.ones(4)), refusal(compiled, x)
    assert len(inferences) == 2 * count


@pytest.mark.parametrize(("name", "value"), [("FLAG", 3), ("WEIGHTS", np.ones(4)), ("SCALE", 2)])
def test_what_was_captured_is_guarded(
    inferences: list[None], monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    compiled, x = strictly(reads), np.ones(3)
    refusal(compiled, x)
    count = len(inferences)
    with monkeypatch.context() as patch:
        patch.setitem(globals(), name, value)
        if name == "FLAG":
            np.testing.assert_array_equal(compiled(x), reads(x))
        else:
            refusal(compiled, x)
        assert len(inferences) > count
    count = len(inferences)
    refusal(compiled, x)
    assert len(inferences) == count


def test_numbers_that_were_asked_for_are_compared(inferences: list[None]) -> None:
    compiled, x = strictly(of_size), 1.5
    refusal(compiled, 3, x)
    np.testing.assert_array_equal(compiled(4, x), of_size(4, x))
    count = len(inferences)
    refusal(compiled, 3, 2.5)
    np.testing.assert_array_equal(compiled(4, x), of_size(4, x))
    assert len(inferences) == count


@pytest.mark.parametrize("length", [50, 2000])
def test_items_of_long_lists_are_compared(inferences: list[None], length: int) -> None:
    compiled, row = strictly(of_an_item), [*range(length)]
    refusal(compiled, row)
    count = len(inferences)
    refusal(compiled, [*range(length)])
    assert len(inferences) == count
    row[1], row[length // 2] = 2, 7
    assert compiled(row) == 0.0
    row[1] = 1
    refusal(compiled, row)
    count = len(inferences)
    refusal(compiled, row)
    assert len(inferences) == count


def test_other_aliases_are_another_call(inferences: list[None]) -> None:
    compiled = strictly(grows)
    refusal(compiled, [0.0, 0.0], [0.0, 0.0])
    both = [0.0, 0.0]
    assert compiled(both, both) == 3 and both == [0.0, 0.0, 1.0]
    refusal(compiled, [0.0, 0.0], [0.0, 0.0])


def test_a_larger_limit_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def unrolled(x):
        parts = []
        for i in range(40):
            parts.append(np.sin(x[i : i + 3]).reshape((1,) * (i % 4) + (3,)))
        return [part.sum() for part in parts]

    compiled, x = strictly(unrolled), np.arange(50.0)
    monkeypatch.setattr(pystage.config, "program_limit", 0.01)
    refusal(compiled, x), refusal(compiled, x)
    monkeypatch.undo()
    assert compiled(x) == unrolled(x)


def test_what_makes_a_program_too_large_is_guarded(
    inferences: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, x = strictly(many), np.arange(50.0)
    monkeypatch.setattr(pystage.config, "program_limit", 0.5)
    refusal(compiled, x)
    count = len(inferences)
    refusal(compiled, x)
    assert len(inferences) == count
    monkeypatch.setitem(globals(), "TRIPS", 1)
    assert compiled(x) == many(x)


def test_threads_are_refused_by_one_inference(
    inferences: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, x = pystage.compile(reads, tier="compiled", fallback="python"), np.ones(3)
    together = threading.Barrier(MAX_REFUSALS + 2)

    def run() -> None:
        together.wait()
        compiled(x)

    threads = [threading.Thread(target=run) for _ in range(MAX_REFUSALS + 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pystage.FallbackWarning)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    alone = strictly(reads)
    count = len(inferences)
    refusal(alone, x)
    assert len(inferences) == 2 * count
    monkeypatch.setitem(globals(), "FLAG", 2)
    np.testing.assert_array_equal(compiled(x), reads(x))
    assert compiled.programs == 1


def test_a_refused_function_stages_once_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, x = pystage.compile(reads, tier="compiled", fallback="python"), np.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pystage.FallbackWarning)
        assert compiled(x) == os.getpid()
    monkeypatch.setitem(globals(), "FLAG", 2)
    np.testing.assert_array_equal(compiled(x), reads(x))
    assert compiled.programs == 1


def test_what_keeps_changing_is_refused_for_good(
    inferences: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, x = pystage.compile(reads, tier="compiled", fallback="python"), np.ones(3)
    counts = []
    for k in range(MAX_REFUSALS + 3):
        monkeypatch.setitem(globals(), "SCALE", float(k))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pystage.FallbackWarning)
            assert compiled(x) == os.getpid()
        counts.append(len(inferences))
    assert counts[MAX_REFUSALS - 1] < counts[MAX_REFUSALS] == counts[-1]


def test_the_oldest_kinds_of_refused_calls_are_forgotten(
    inferences: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MAX_REFUSED_KINDS", 2)
    compiled = strictly(lambda x: os.getpid() * x)
    for count in (2, 3, 4, 3, 4):
        refusal(compiled, np.ones(count))
    assert len(inferences) == 3
    refusal(compiled, np.ones(2))
    assert len(inferences) == 4
