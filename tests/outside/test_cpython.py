"""A few of CPython's own tests with their calls staged: none differs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from .cpython import Verdict, is_installed, table
from .cpython_staging import Ran, Slow, Stager, difference, limited, same


@pytest.mark.skipif(not is_installed(), reason="CPython's `test` package is not installed")
def test_no_call_in_a_sample_of_the_tests_of_heapq_differs() -> None:
    command = [sys.executable, "-m", "outside.cpython", "--only", "heapq", "--each", "12"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, env=environment)
    found = [Verdict(**json.loads(line)) for line in done.stdout.splitlines()]
    assert found and not [t for t in found if t.what == "different"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ([1], (1,)),
        (1.0, 1.0 + 1e-9),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ("a", "b"),
    ],
)
def test_what_differs_is_told(a: object, b: object) -> None:
    assert same(a, a) and not same(a, b)
    assert difference(Ran(a, None, ()), Ran(b, None, ())) is not None
    assert difference(Ran(None, None, [a]), Ran(None, None, [b])) is not None


def test_what_holds_itself_is_compared() -> None:
    a: list[object] = [1]
    b: list[object] = [1]
    a.append(a)
    b.append(b)
    assert same(a, b) and not same(a, [1, [1, [1, [2]]]])


def test_a_time_limit_that_is_caught_is_raised_after_the_block() -> None:
    caught = False
    with pytest.raises(Slow), limited(0.02):
        try:
            while True:
                pass
        except Slow:
            caught = True
    assert caught


def test_calls_that_cannot_be_compared() -> None:
    """One that gives something else the second time, and one of numbers that XLA takes for zero."""
    numbers: list[float] = []
    stager = Stager(__file__, identity=False)

    def counted(x: float) -> int:
        numbers.append(x)
        return len(numbers)

    def halved(x: float) -> float:
        return x * 0.5

    assert stager.call(counted, 1.0) == 1
    assert 1.4e-308 < stager.call(halved, 3e-308) < 1.6e-308
    assert not stager.record.different


def test_exceptions_are_compared_with_their_texts() -> None:
    given = (Ran(None, ValueError(text), ()) for text in ("one", "two"))
    assert difference(*given) is not None
    assert difference(Ran(None, ValueError("x"), ()), Ran(None, ValueError("x"), ())) is None


def test_the_table_counts_by_module() -> None:
    found = {
        "math": [Verdict("a", "same", calls=3), Verdict("b", "refused", "PS604", 2)],
        "heapq": [Verdict("c", "slow")],
    }
    assert table(found).splitlines()[2:] == [
        "| math | 2 | 1 | 1 (PS604 1) | 0 | 0 | 0 | 0 | 5 |",
        "| heapq | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0 |",
        "| all | 3 | 1 | 1 (PS604 1) | 0 | 0 | 0 | 1 | 5 |",
    ]
