"""How loops are inferred is found out by the first program of a function: others of its kind begin with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pystage
from pystage.compiler.infer.entry import _Entry


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


def halves(x):
    total = 0.0
    for i in range(x.shape[0]):
        part = x[i]
        if x.ndim > 1:
            part = part.reshape(i + 1, -1).sum(axis=1)[i]  # its shape differs from trip to trip
        total += part / 2
    return total


def test_other_sizes_begin_with_the_loops_unrolled(inferences: list[None]) -> None:
    compiled = pystage.compile(halves, tier="compiled")
    counts = []
    for columns in (6, 12, 18):
        x = np.arange(3.0 * columns).reshape(3, columns)
        assert compiled(x) == halves(x)
        counts.append(len(inferences))
    assert counts == [1, 2, 3]


def test_what_that_would_refuse_is_inferred_without_it(inferences: list[None]) -> None:
    compiled = pystage.compile(halves, tier="compiled", fallback="error")
    for x in (np.ones((3, 6)), np.arange(30_000.0), np.arange(40_000.0), np.ones((3, 12))):
        assert compiled(x) == halves(x)
    assert len(inferences) == 1 + 2 + 1 + 1
