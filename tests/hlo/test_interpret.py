"""The reference interpreter runs whole programs and checks what it is given."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.interpret import InterpretError, interpret

from .programs import branch, loop, square

X = np.array([1, 2, 3, -4], np.float32)


def integer(value: int) -> np.ndarray:
    return np.array(value, np.int32)


def test_calls_and_branches() -> None:
    assert interpret(branch(), [X, integer(2)])[0].tolist() == [-1, -4, -9, -16]
    assert interpret(branch(), [X, integer(3)])[0].tolist() == X.tolist()


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_loops(trips: int) -> None:
    (found,) = interpret(loop(), [X, integer(trips)])
    assert found.tolist() == (X * 2**trips).tolist()
    assert found.dtype == np.float32


def test_no_warning_for_what_ieee_754_defines() -> None:
    (found,) = interpret(square(), [np.array([1e38, 0, 1, 2], np.float32)])
    assert found[0] == np.inf


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([X], "1 arguments for 2 parameters"),
        ([X, np.array(1)], "an argument is s64\\[\\], not s32\\[\\]"),
        ([X[:2], integer(1)], "an argument is f32\\[2\\], not f32\\[4\\]"),
    ],
)
def test_arguments_are_checked(arguments: list[np.ndarray], text: str) -> None:
    with pytest.raises(InterpretError, match=text):
        interpret(branch(), arguments)
