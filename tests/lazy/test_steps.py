"""`lazy.step`: later calls do what the function would do, on other tensors, without recording."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pystage import lazy


def update(w: Any, x: Any, rate: float) -> Any:
    g = (w - x) * 2
    w -= rate * g
    return (g**2).sum(), {"g": g}


def test_replays_are_what_the_function_does() -> None:
    plain, tensor = np.ones((40, 40)), lazy.asarray(np.ones((40, 40)))
    calls = []

    def counted(w: Any, x: Any, rate: float) -> Any:
        calls.append(rate)
        return update(w, x, rate)

    step = lazy.step(counted)
    for k in range(4):
        x = np.full((40, 40), 0.25 * k)
        for rate in (0.1, 0.2):
            loss, found = step(tensor, lazy.asarray(x), rate)
            expected, wanted = update(plain, x, rate)
            np.testing.assert_allclose(float(loss), expected, rtol=1e-12)
            np.testing.assert_allclose(np.array(found["g"]), wanted["g"], rtol=1e-12)
            np.testing.assert_allclose(np.array(tensor), plain, rtol=1e-12)
    assert calls == [0.1, 0.2]


def test_a_block_is_one_program() -> None:
    x = lazy.asarray(np.ones(3))
    with lazy.step():
        y = x + 1
    assert y._node.array is not None


WEIGHTS = lazy.asarray(np.ones(3))


class Model:
    def __init__(self) -> None:
        self.w = lazy.asarray(np.ones(3))


def looks(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def draws(x: Any) -> Any:
    return x + lazy.random.default_rng(0).normal(size=3)


def captures(x: Any) -> Any:
    return x + WEIGHTS


def returns_a_view(x: Any) -> Any:
    return x[1:]


@pytest.mark.parametrize("function", [looks, draws, captures, returns_a_view])
def test_what_does_not_repeat_is_refused(function: Any) -> None:
    with pytest.raises(lazy.StepError):
        lazy.step(function)(lazy.asarray(np.ones(3)))


def test_tensors_of_an_object_are_no_arguments() -> None:
    model = Model()

    def train(model: Model, x: Any) -> None:
        model.w -= 0.1 * x

    with pytest.raises(lazy.StepError, match="a lazy tensor that is no argument"):
        lazy.step(train)(model, lazy.asarray(np.ones(3)))


def test_a_checked_step_compares() -> None:
    rng = np.random.default_rng(0)
    numbers = iter([1.5, 1.5, 2.5])

    def other_draws(x: Any) -> Any:
        return x + rng.normal(size=3)

    def other_numbers(x: Any) -> Any:
        return x * next(numbers)

    x = lazy.asarray(np.ones(3))
    checked = lazy.step(check=True)
    for step, right in ((checked(other_draws), 1), (checked(other_numbers), 2)):
        for _ in range(right):
            step(x)
        with pytest.raises(lazy.StepError, match="what it did the first time"):
            step(x)


def test_a_replay_takes_what_is_recorded_and_not_computed() -> None:
    step = lazy.step(lambda t: t * 2)
    x = lazy.asarray(np.arange(3.0))
    np.testing.assert_array_equal(step(x), [0, 2, 4])
    np.testing.assert_array_equal(step(x + 1), [2, 4, 6])


def test_a_step_of_a_view_runs_as_it_is_written() -> None:
    step = lazy.step(lambda t, u: t + u.sum())
    x = lazy.asarray(np.arange(6.0))
    np.testing.assert_array_equal(step(x, x), np.arange(6.0) + 15)
    np.testing.assert_array_equal(step(x, x[:3]), np.arange(6.0) + 3)
