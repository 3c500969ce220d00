"""Loops over the places of arrays, compiled and interpreted, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

X = np.random.default_rng(0).standard_normal((3, 4))
cases = Cases()


@cases.each((X,), (np.arange(6).reshape(2, 3),), (X[:0],))
def enumerated(x: Any) -> Any:
    total = 0.0
    for (i, j), value in np.ndenumerate(x):
        total += i * value + j
    return total


@cases(X)
def stored_meanwhile(x: Any) -> Any:
    for place, value in np.ndenumerate(x):
        if value > 0:
            x[place] = -value
    return [place for place, _ in np.ndenumerate(x[:1, :2])]


@cases(X)
def indices(x: Any) -> Any:
    total = 0.0
    for i in np.ndindex(3, 4):
        total += x[i]
    for i, j in np.ndindex(x.shape):
        total += x[i, j] * j
    return total, list(np.ndindex(2, 2))


@pytest.mark.parametrize("function, args, options", cases.params)
def test_places(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
