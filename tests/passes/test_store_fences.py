"""A store over the part of an array that it was made from, where the array is reshaped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()
ENDS = [(0, 0), (0, 1), (1, 0), (1, 1)]
X = np.arange(18.0).reshape(3, 3, 2, 1)


@cases.each(*[(X, i, j) for i, j in ENDS])
def reversed_and_reshaped(x: Any, i: int, j: int) -> Any:
    y = x * 2.0
    y[i : i + 2] = y[j : j + 2][::-1]
    return y.reshape(3, 3, 2).copy()


@cases.each(*[(X, i, j) for i, j in ENDS])
def moved_and_reshaped(x: Any, i: int, j: int) -> Any:
    y = x * 2.0
    y[i : i + 2] = y[j : j + 2]
    return np.squeeze(y).copy()


@cases.each(*[(X, i, j) for i, j in ENDS])
def moved_and_turned(x: Any, i: int, j: int) -> Any:
    y = x[:, 0] * 2.0
    y[i : i + 2] = y[j : j + 2][::-1] + 1
    return y.transpose(0, 2, 1).copy()


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_stores(function: Any, args: Any, options: Any) -> None:
    check(function, *args, **options)
