"""Tests of lazy tensors compile their programs at once; those that are about interpreting them first do not."""

from __future__ import annotations

import pytest

from pystage.lazy import interpreting


@pytest.fixture
def interpreted() -> None:
    """Programs of lazy tensors are interpreted while that is cheaper than compiling them, as outside of these tests."""


@pytest.fixture(autouse=True)
def _compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "interpreted" not in request.fixturenames:
        monkeypatch.setattr(interpreting, "COMPILING", float("-inf"))
