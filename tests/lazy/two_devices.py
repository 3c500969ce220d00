"""What lazy tensors do where there are two devices: a script, as the number of devices is settled when JAX starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import pystage
from pystage import lazy
from pystage.lazy import in_numpy

FIRST, SECOND = jax.devices()
DATA = np.arange(6.0).reshape(2, 3)


def refused(call: Callable[[], Any]) -> str:
    """The text of the error that a call on tensors of two devices ends with."""
    try:
        call()
    except lazy.DeviceMismatch as error:
        return str(error)
    raise AssertionError("tensors of two devices met")


def tensors() -> tuple[Any, Any]:
    """The data on the one device and on the other."""
    return lazy.asarray(DATA), lazy.asarray(DATA, device=SECOND)


def where_results_are() -> None:
    x, y = tensors()
    assert (x.device, y.device) == (FIRST, SECOND)
    made = [
        y + 1,
        y.T,
        y[0],
        np.exp(y),
        y @ y.T,
        np.concatenate([y, y]),
        y.sum(),
        np.linalg.norm(y),
        np.sort(y),
    ]
    made += [
        lazy.zeros_like(y),
        lazy.zeros(3, device=SECOND),
        lazy.arange(3, device="cpu:1"),
        y[y > 1],
        2 - y,
    ]
    lazy.sync(*made)
    assert {tensor.device for tensor in made} == {SECOND}
    generator = lazy.random.default_rng(3, device=SECOND)
    assert generator.standard_normal(2).device == SECOND


def who_meets_is_told() -> None:
    calls: list[Callable[[Any, Any], Any]] = [
        lambda x, y: x + y,
        lambda x, y: np.add(x, y),
        lambda x, y: np.concatenate([x, y]),
        lambda x, y: np.where(x > 1, x, y),
        lambda x, y: x @ y.T,
        lambda x, y: x[y[0].astype(np.int64)],
        lambda x, y: np.add(x, 1, out=y),
        lambda x, y: x.__setitem__(0, y[0]),
        lambda x, y: x.__iadd__(y),
        lambda x, y: np.linalg.solve(x[:, :2], y[:, :2]),
        lambda x, y: np.interp(x, y[0], y[1]),
    ]
    for call in calls:
        x, y = tensors()
        text = refused(lambda call=call, x=x, y=y: call(x, y))
        assert "cpu:0" in text and "cpu:1" in text, text
        assert ".to(" in text
        assert np.array_equal(x, DATA) and np.array_equal(y, DATA)


def who_moves_may_meet() -> None:
    x, y = tensors()
    moved = y.to(FIRST)
    assert (moved.device, y.device) == (FIRST, SECOND)
    assert np.array_equal(x + moved, 2 * DATA)
    moved += 1
    assert np.array_equal(y, DATA)
    assert y.to_device("cpu:0").device == FIRST
    assert lazy.asarray(y, device=FIRST).device == FIRST


def barriers_are_of_one_device() -> None:
    x, y = tensors()
    lazy.sync()
    lazy.reset_metrics()
    a, b = x * 3, y * 3
    assert np.array_equal(a, 3 * DATA)
    assert lazy.metrics().barriers == 1
    assert np.array_equal(b, 3 * DATA)
    assert lazy.metrics().barriers == 2


def views_and_stores_stay() -> None:
    _, y = tensors()
    view = y[1]
    view[:2] = 7
    y.T[0] += 1
    expected = DATA.copy()
    expected[1, :2] = 7
    expected.T[0] += 1
    assert np.array_equal(y, expected) and np.array_equal(view, expected[1])
    assert view.device == SECOND


def gradients_and_steps_stay() -> None:
    _, y = tensors()

    def loss(w: Any) -> Any:
        return (np.tanh(w) ** 2).sum()

    _, slope = pystage.value_and_grad(loss)(y)
    assert slope.device == SECOND
    assert np.allclose(slope, 2 * np.tanh(DATA) / np.cosh(DATA) ** 2)
    step = lazy.step(lambda w: w - 0.5 * w)
    for _ in range(3):
        y = step(y)
    assert y.device == SECOND
    assert np.allclose(y, DATA / 8)


def the_default_device_counts() -> None:
    with jax.default_device(SECOND):
        assert lazy.asarray(DATA).device == SECOND
        assert lazy.ones(2).device == SECOND


if __name__ == "__main__":
    for size in (in_numpy.SMALL, 0):  # computed at once, and recorded
        in_numpy.SMALL = size
        where_results_are()
        who_meets_is_told()
        who_moves_may_meet()
        views_and_stores_stay()
        gradients_and_steps_stay()
        the_default_device_counts()
    barriers_are_of_one_device()
