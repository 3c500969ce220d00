"""Differentiated functions that put their arguments into what they capture: the world holds the caller's own objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pystage

HELD = [np.zeros(3), np.ones(3)]
LAST = np.zeros(3)


def into_a_list(x):
    HELD[0] = x
    return (HELD[0] * 2).sum()


def into_a_variable(x):
    global LAST
    LAST = x
    return (LAST * 3).sum()


def swapped(d):
    HELD[0], d["x"] = d["x"], HELD[0]
    return (HELD[0] * 2).sum() + d["x"].sum()


def stored_into_first(x):
    x[0] = 5.0
    HELD[1] = x
    return (x * x).sum()


@pytest.mark.parametrize(
    ("function", "slope", "held"),
    [
        (into_a_list, [2.0, 2.0, 2.0], lambda: HELD[0]),
        (into_a_variable, [3.0, 3.0, 3.0], lambda: LAST),
        (swapped, [2.0, 2.0, 2.0], lambda: HELD[0]),
        (stored_into_first, [0.0, 4.0, 6.0], lambda: HELD[1]),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_the_world_holds_the_argument(
    function: Any, slope: Any, held: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "HELD", [np.zeros(3), np.ones(3)])
    monkeypatch.setitem(globals(), "LAST", np.zeros(3))
    x = np.array([1.0, 2.0, 3.0])
    argument = {"x": x} if function is swapped else x
    before = HELD[0]
    value, found = pystage.value_and_grad(function)(argument)
    np.testing.assert_allclose(found["x"] if function is swapped else found, slope)
    assert held() is x
    if function is swapped:
        assert argument["x"] is before and value == 12.0


def test_stores_into_a_view_that_is_differentiated_by_are_refused() -> None:
    def doubled(x):
        x[0] = x[0] * 2
        return (x**2).sum()

    def program(x):
        return pystage.grad(doubled)(x[1:])

    x = np.arange(1.0, 6.0)
    with pytest.raises(pystage.StagingError, match="PS501"):
        pystage.compile(program, fallback="error")(x)
    assert np.array_equal(x, np.arange(1.0, 6.0))
