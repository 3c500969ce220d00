"""Every function of NumPy that the library knows, with arrays whose sizes only the run knows.

Each call of `calls.txt` gives what NumPy gives, for no element, one, some and all. A call of `refused.txt` is refused. `y`
is what a mask selects, `z` a slice of as many elements, `i` and `j` are integers, `r` is rows of a matrix.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checking import Comparison, compare_runs, interpreting, run_of
from kinds.calls import WITHOUT_ARRAYS
from kinds.test_numpy import is_of_numpy, is_refused, name_of

import pystage
from library.numpy.bounded import stores
from pystage.compiler.library.registry import known_callables
from pystage.compiler.library.rules.refusals import reason_of

HERE = Path(__file__).parent
X = np.array([3.0, 1.0, -2.0, 5.0, 1.5, 0.5])
M = np.arange(18.0).reshape(6, 3) % 7
M[:, 0] = X
C = np.array([2, 0, 1, 3, 1, 0])
SIZES = {4: 0.7, 0: 9.0, 1: 4.0, 6: -9.0}
BEGINNING = """def program(x, m, c, t, k):
    k = int(k)
    y, z, j = x[x > t], x[:k], np.arange(6)[:k]
    i, r = np.flatnonzero(x > t), m[m[:, 0] > t]
"""
GROUP = 30

_numbers = itertools.count()


def read(file: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (HERE / file).read_text().splitlines():
        name, _, text = line.partition(": ")
        found.setdefault(name, []).append(text)
    return found


CALLS, REFUSED = read("calls.txt"), read("refused.txt")


def program(texts: list[str]) -> Callable[..., Any]:
    """A function that returns the values of expressions."""
    source = BEGINNING + "    return (" + "".join(f"\n        {text}," for text in texts) + "\n    )\n"
    file = f"<walk {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace: dict[str, Any] = {"np": np, **vars(stores)}
    exec(compile(source, file, "exec"), namespace)
    made: Callable[..., Any] = namespace["program"]
    return made


def arguments(size: int) -> tuple[Any, ...]:
    return X, M, C, np.array(SIZES[size]), np.array(size)


def groups() -> list[tuple[tuple[int, ...], list[str]]]:
    """Calls that NumPy makes without an exception for the same sizes, some at a time."""
    by_sizes: dict[tuple[int, ...], list[str]] = {}
    for text in [text for texts in CALLS.values() for text in texts]:
        call = program([text])
        sizes = tuple([n for n in SIZES if run_of(call, arguments(n), {}).error is None])
        by_sizes.setdefault(sizes, []).append(text)
    return [
        (sizes, texts[i : i + GROUP])
        for sizes, texts in by_sizes.items()
        for i in range(0, len(texts), GROUP)
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("sizes", "texts"), groups())
def test_calls(sizes: tuple[int, ...], texts: list[str]) -> None:
    assert sizes, f"NumPy makes none of these calls: {texts}"
    call = program(texts)
    staged = pystage.compile(call, fallback="error")
    with interpreting():
        for size in sizes:
            plain = run_of(call, arguments(size), {})
            compare_runs(
                plain, run_of(staged, arguments(size), {}), Comparison(None, weak_types=False), f"{size}", ""
            )


@pytest.mark.parametrize("text", [text for texts in REFUSED.values() for text in texts])
def test_refused(text: str) -> None:
    staged = pystage.compile(program([text]), fallback="error")
    with pytest.raises(pystage.StagingError):
        for size in SIZES:
            staged(*arguments(size))


def test_every_function_has_a_call() -> None:
    functions = [
        f for f in known_callables() if is_of_numpy(f) and not isinstance(f, type) and reason_of(f) is None
    ]
    public = [
        f for f in functions if not is_refused(f) and getattr(np, getattr(f, "__name__", ""), None) is f
    ]
    missing = [name_of(f) for f in public if name_of(f) not in {*CALLS, *REFUSED, *WITHOUT_ARRAYS}]
    assert len(public) > 250
    assert not missing
