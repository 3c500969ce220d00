"""What functions capture, changed by them and by their caller: the same plain and staged at each call."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import captured
from .calling import Call, check_calls


@pytest.mark.parametrize("name", captured.STEPS)
def test_captured(name: str) -> None:
    calls, changes = [], []
    for step in captured.STEPS[name]:
        if isinstance(step, str):
            changes.append(step)
        else:
            calls.append(Call(name, step, tuple(changes)))
            changes = []
    check_calls(Path(captured.__file__), calls)
