"""The first example of the README: its call as plain Python and as a program, and its gradient."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pystage

from .measuring import Table, no_collection

README = Path(__file__).parents[1] / "README.md"


def measure() -> list[Table]:
    """Milliseconds of a call, the least of several."""
    table = Table(
        "First example", "The call in the README, ms, the least of several.", ("plain", "program", "gradient")
    )
    table.rows.append(tuple(f"{ms:.3g}" for ms in milliseconds()))
    return [table]


def milliseconds() -> tuple[float, float, float]:
    """Of the plain call, of the program, and of the gradient of the sum of its result."""
    found = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert found is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "example.py")
        path.write_text(found[1], encoding="utf-8")
        spec = importlib.util.spec_from_file_location("example", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with contextlib.redirect_stdout(io.StringIO()):
            spec.loader.exec_module(module)
        with pystage.plain():
            plain = _least(module.smooth, 5)
        gradient = pystage.grad(lambda x, rounds: module.smooth(x, rounds).sum())
        return plain, _least(module.smooth, 50), _least(gradient, 5)


def _least(function: Callable[..., Any], times: int) -> float:
    x = np.sin(np.arange(2000.0))
    taken = []
    with no_collection():
        for _ in range(times):
            began = time.perf_counter()
            function(x, 100)
            taken.append(time.perf_counter() - began)
    return 1e3 * min(taken)
