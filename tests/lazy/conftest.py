"""Tests of lazy tensors record all calls, and compile their programs at once.

Those about computing small calls at once, or about interpreting programs first, do as all do outside of these tests.
"""

from __future__ import annotations

import pytest

from pystage.lazy import in_numpy, interpreting
from pystage.lazy.arena import arenas


@pytest.fixture
def interpreted() -> None:
    """Programs of lazy tensors are interpreted while that is cheaper than compiling them, as outside of these tests."""


@pytest.fixture
def at_once() -> None:
    """Calls on small arrays are computed at once, as outside of these tests where no other came before."""
    for arena in arenas():
        arena.begin()
        arena.small_calls = in_numpy.SMALL_CALLS


@pytest.fixture(autouse=True)
def _recorded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "at_once" not in request.fixturenames:
        monkeypatch.setattr(in_numpy, "SMALL", 0)


@pytest.fixture(autouse=True)
def _compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "interpreted" not in request.fixturenames:
        monkeypatch.setattr(interpreting, "COMPILING", float("-inf"))
