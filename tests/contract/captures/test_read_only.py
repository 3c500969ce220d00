"""Arrays of the caller whose memory is read-only: a store raises where NumPy raises it, whenever the caller made them so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pystage
import pytest
from checking import Comparison

W = np.zeros(3)


def an_element(x):
    x[0] = 1
    return x


def in_place(x):
    x += 1
    return x


def a_view(x):
    x[1:] *= 2
    return x


def a_slice_of_computed_length(x):
    x[: int(x[0])] *= 2
    return x


def a_slice_of_computed_length_and_too_many(x):
    x[: int(x[0])] *= np.ones(2)
    return x


def itself_or_a_new_one(x):
    for limit in (0.5, 1.5):
        y = x if x[0] > limit else np.ones(3)
        y[1:] = limit
        W[0] += y[2]
    return y


def captured_or_a_new_one(x):
    y = W if x[0] > 0.5 else x
    bump(y)
    return y


def onto_itself(x):
    np.copyto(x, x)
    return x * 2


def a_mask(x):
    x[x > 0] = 2
    return x


def on_a_path(x):
    if x.sum() > 2:
        x[...] = 0
    return x * 1


def caught(x):
    done = 0
    try:
        done = 1
        x.fill(2)
        done = 2
    except ValueError as error:
        return str(error), done
    return done


def after_another_store(x):
    W[0] += 1
    x[0] = 1
    W[1] += 1


def bump(a):
    a[0] += 5


def through_one_function(x):
    bump(W)
    bump(x)


def a_captured_array(x):
    W[1] = x[0]
    return W


def only_read(x):
    return x * W


PROGRAMS = [
    an_element,
    in_place,
    a_view,
    onto_itself,
    itself_or_a_new_one,
    captured_or_a_new_one,
    a_slice_of_computed_length,
    a_slice_of_computed_length_and_too_many,
    a_mask,
    on_a_path,
    caught,
    after_another_store,
    through_one_function,
    a_captured_array,
    only_read,
]


def _called(program: Any, writable: tuple[bool, bool]) -> Any:
    """What a call gives or raises with an array, or the captured one, read-only; and what the two hold after it."""
    x = np.array([1.0, 2.0, 3.0])
    x.flags.writeable, W.flags.writeable = writable
    try:
        return program(x), x, W
    except ValueError as error:
        return str(error), x, W


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_read_only_memory(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = []
    for run in (program, pystage.compile(program, fallback="error")):
        monkeypatch.setitem(globals(), "W", np.zeros(3))
        calls = [(True, True), (False, True), (True, True), (True, False), (False, False), (True, True)]
        outcomes.append([_called(run, each) for each in calls])
    Comparison().same(*outcomes, "calls")


def test_two_programs_serve_the_two_kinds() -> None:
    staged = pystage.compile(on_a_path, fallback="error")
    for _ in range(3):
        for writable in (True, False):
            x = np.ones(2)
            x.flags.writeable = writable
            staged(x)
    assert len(staged.signatures()) == 2


def test_at_of_read_only_memory_is_refused() -> None:
    def added(x):
        np.add.at(x, [0, 0], 1.0)
        return x

    x = np.zeros(2)
    x.flags.writeable = False
    with pytest.raises(pystage.StagingError, match="NumPy changes it all the same"):
        pystage.compile(added, fallback="error")(x)
