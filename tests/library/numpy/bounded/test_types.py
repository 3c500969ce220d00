"""Functions of NumPy on what a mask selects, for element types with their extremes, NaN and values that overflow.

Each expression of `types.txt` in `a`, what a mask selects of `x`, gives what it gives plain or raises what it raises, of
some elements, one, none and all; or it is refused. Where NumPy leaves the order open, what it says is compared.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Comparison, compare_runs, run_of

import pystage

TEXTS = (Path(__file__).parent / "types.txt").read_text().splitlines()
ARRAYS = {
    "int8": np.array([100, 120, -3, 127, 5, 100], np.int8),
    "uint8": np.array([200, 250, 3, 0, 255, 9], np.uint8),
    "bool": np.array([True, True, False, True, True, False]),
    "float64": np.array([1.5, -2, 3, 1.7e308, 0.25, 1.7e308]),
    "float32": np.array([1.5, -2, np.nan, 3e38, 0.25, 1], np.float32),
    "float16": np.array([1.5, -2, 60000, 60000, 0.25, 1], np.float16),
    "int64": np.array([3, 1, 2, 2**62, 2**62, 0]),
    "complex128": np.array([1 + 2j, 3 - 1j, 0, 2j, 1 + 1j, 5]),
    "jax": jnp.array([1.5, -2, 3, 0, 0.25, 1]),
    "uint64": np.array([3, 1, 2, 2**63, 2**64 - 1, 0], np.uint64),
}
ALLOWED = {
    ("jax", "np.tile(a, 2)"): "of nothing it is read-only in the plain run",
    ("jax", "np.nanmax(a)"): "the text for nothing names another ufunc",
    ("jax", "a[np.argpartition(a, 1)[1]]"): "the exception has a context in the plain run",
}
"""What may differ, and why."""
MASKS = [np.array(mask, bool) for mask in ([1, 1, 0, 1, 0, 1], [1, 0, 0, 0, 0, 0], [0] * 6, [1] * 6)]


def program(text: str) -> Callable[..., Any]:
    """A function that returns the value of an expression."""
    source = f"def program(x, m):\n    a = x[m]\n    return {text}\n"
    file = f"<types {TEXTS.index(text)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    made: Callable[..., Any] = namespace["program"]
    return made


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("array", ARRAYS)
def test_types(array: str, text: str) -> None:
    if (array, text) in ALLOWED:
        pytest.skip(ALLOWED[array, text])
    plain = program(text)
    staged = pystage.compile(plain, fallback="error")
    for mask in MASKS:
        expected = run_of(plain, (ARRAYS[array], mask), {})
        with suppress(pystage.StagingError):
            run = run_of(staged, (ARRAYS[array], mask), {})
            compare_runs(expected, run, Comparison(None, weak_types=False), f"{array}, {mask}", "")
