"""What a step has besides its arguments, and what does not repeat."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pystage
from lazy.stepping import ONES, refused
from pystage import lazy

# ---------------------------------------------------------------- what the function has besides its arguments


class Config:
    def __init__(self) -> None:
        self.rate, self.table = 1.0, np.ones(3)


CONFIG, TABLE, SCALE = Config(), np.ones(3), 1.0


def helper(x: Any) -> Any:
    return x * SCALE + TABLE


def changes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Any]]:
    config, cell, numbers, table = Config(), 1.0, [1.0], {"a": np.ones(3)}

    def set_cell(k: int) -> None:
        nonlocal cell
        cell = k / 2

    yield lambda x: x * cell
    yield set_cell
    yield lambda x: x * config.rate + config.table
    yield lambda k: setattr(config, "rate", k / 2)
    yield lambda x: x * config.rate + config.table
    yield lambda k: config.table.fill(k / 2)
    yield lambda x, c: x * c.rate
    yield lambda k: setattr(CONFIG, "rate", k / 2)
    yield lambda x: x * numbers[0]
    yield lambda k: numbers.__setitem__(0, k / 2)
    yield lambda x: x * (table["a"] * 2)
    yield lambda k: table.__getitem__("a").fill(k / 2)
    yield helper
    yield lambda k: TABLE.fill(k / 2)
    yield lambda x: helper(x) + 1
    yield lambda k: monkeypatch.setitem(globals(), "SCALE", k / 2)


def test_what_is_captured_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = changes(monkeypatch)
    for function, change in zip(programs, programs, strict=True):
        args = (CONFIG,) if function.__code__.co_argcount == 2 else ()
        step, x = lazy.step(function), lazy.asarray(np.arange(3.0))
        for k in (2, 3, 3, 4, 2, 2, 5):
            change(k)
            np.testing.assert_allclose(np.array(step(x, *args)), function(np.arange(3.0), *args))


def test_settings_are_part_of_the_key() -> None:
    step = lazy.step(lambda a, b: a @ b)
    a = lazy.asarray(np.full((4, 4), 1.001, np.float32))
    full = np.array(step(a, a))
    with pystage.autocast("bfloat16"):
        low = np.array(step(a, a))
        np.testing.assert_array_equal(low, np.array(a @ a))
    assert (low != full).any()
    np.testing.assert_array_equal(np.array(step(a, a)), full)
    with np.errstate(divide="raise"), pytest.raises((FloatingPointError, lazy.StepError)):
        lazy.step(lambda x: 1 / x)(lazy.asarray(np.zeros(3)))


def test_other_threads_do_not_matter() -> None:
    other, x = lazy.asarray(np.zeros(3)), lazy.asarray(ONES)
    begun, go_on = threading.Event(), threading.Event()

    def work() -> None:
        nonlocal other
        begun.wait(60)
        other += 1
        assert float(other.sum()) == 3 and float(x.sum()) == 3
        go_on.set()

    def function(t: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return t * 2

    thread = threading.Thread(target=work)
    thread.start()
    step = lazy.step(function)
    for _ in range(3):
        np.testing.assert_array_equal(step(x), [2, 2, 2])
    thread.join()


# ---------------------------------------------------------------- what does not repeat

WEIGHTS = lazy.asarray(ONES)
KEPT: list[Any] = []
RNG, PYTHON_RNG, STATE = np.random.default_rng(0), random.Random(0), np.random.RandomState(0)


class Holder:
    def __init__(self) -> None:
        self.w = lazy.asarray(ONES)
        self.rng = np.random.default_rng(0)


HOLDER = Holder()


def sets_a_shape(x: Any) -> Any:
    HOLDER.w = x + 1


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x: x + np.random.random(3), "draws"),
        (lambda x: x + np.random.normal(), "draws"),
        (lambda x: x + RNG.random(3), "draws"),
        (lambda x: x + HOLDER.rng.random(3), "draws"),
        (lambda x: x + STATE.rand(3), "draws"),
        (lambda x: x + random.random(), "draws"),
        (lambda x: x + PYTHON_RNG.random(), "draws"),
        (lambda x: x if random.random() < 0.5 else -x, "draws"),
        (lambda x: x + lazy.random.default_rng(0).normal(size=3), "draws"),
        (lambda x: x + WEIGHTS, "no argument"),
        (lambda x: x * float(WEIGHTS[0]), "no argument"),
        (lambda x: WEIGHTS.__iadd__(x), "no argument"),
        (lambda x: HOLDER.w + x, "no argument"),
        (lambda x: KEPT.append(x), "keeps"),
        (lambda x: KEPT.append(x[1:]), "keeps"),
        (sets_a_shape, "keeps"),
        (lambda x: np.arange(3), "returns a ndarray"),
    ],
)
def test_what_does_not_repeat_is_refused(function: Any, match: str) -> None:
    refused(function, lazy.asarray(ONES), match=match)
    HOLDER.w = lazy.asarray(ONES)


def test_a_tensor_that_was_kept_has_no_value() -> None:
    for kept in KEPT:
        for use in (np.array, repr, lambda t: t + 1, lambda t: lazy.asarray(2.0) + t, lambda t: t[0].item()):
            with pytest.raises(lazy.StepError, match="has no value"):
                use(kept)
    lazy.sync()


def test_the_second_call_is_compared() -> None:
    numbers = itertools.count(2.5)
    for function in (
        lambda x: x + np.random.default_rng().random(3),
        lambda x: x * time.perf_counter(),
        lambda x: x * next(numbers),
        lambda x: (x, time.perf_counter()),
    ):
        step, x = lazy.step(function), lazy.asarray(ONES)
        step(x)
        with pytest.raises(lazy.StepError, match="what it did the first time"):
            step(x)


def test_what_the_step_changes_itself_is_changed_at_each_call() -> None:
    state, total, seen, table = {"t": 0}, 0, [], np.zeros(3)

    def dictionary(x: Any) -> Any:
        state["t"] += 1
        return x * (state["t"] + 1)

    def cell(x: Any) -> Any:
        nonlocal total
        total += 1
        return x + total

    def array(x: Any) -> Any:
        table[0] += 1
        return x * table

    def only_counts(x: Any) -> Any:
        seen.append(1)
        return x * 2

    x = lazy.asarray(ONES)
    steps = [lazy.step(each) for each in (dictionary, cell, array, only_counts)]
    for k in range(1, 6):
        found = [np.array(step(x)) for step in steps]
        np.testing.assert_array_equal(found, [ONES * (k + 1), ONES + k, [k, 0, 0], ONES * 2])
        assert (state["t"], total, len(seen), table[0]) == (k, k, k, k)


class Layer:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        return x * self.scale

    def __getitem__(self, x: Any) -> Any:
        return x + SCALE


def test_special_methods_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = Layer(2.0)
    step, x = lazy.step(lambda x: layer[layer(x)]), lazy.asarray(ONES)
    for k in range(2, 6):
        for _ in range(3):
            np.testing.assert_array_equal(step(x), ONES * layer.scale + SCALE)
        layer.scale = k / 2
        monkeypatch.setitem(globals(), "SCALE", k / 3)


def test_a_checked_step_compares() -> None:
    numbers = iter([1.5, 1.5, 1.5, 2.5])
    x = lazy.asarray(ONES)
    step = lazy.step(check=True)(lambda x: x * next(numbers))
    for _ in range(3):
        step(x)
    with pytest.raises(lazy.StepError, match="what it did the first time"):
        step(x)


def test_a_replay_takes_what_is_recorded_and_not_computed() -> None:
    step = lazy.step(lambda t: t * 2)
    x = lazy.asarray(np.arange(3.0))
    np.testing.assert_array_equal(step(x), [0, 2, 4])
    np.testing.assert_array_equal(step(x + 1), [2, 4, 6])
    np.testing.assert_array_equal(step(step(x + 1) - 1), [2, 6, 10])
