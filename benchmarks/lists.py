"""Lists that enter and leave a program: the first call, and later ones, beside plain Python.

Processor time, which counts all threads. Of later calls the least of many, on copies made before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pystage

from .measuring import Table

SIZES = (10, 1_000, 10_000)
SECONDS = 0.1  # of later calls


def total(xs):
    found = 0
    for x in xs:
        found += x
    return found


def append(xs):
    xs.append(1)


def doubled(xs):
    return [x * 2 for x in xs]


def products(pairs):
    found = 0.0
    for a, b in pairs:
        found += a * b
    return found


def kept(pairs):
    out = []
    for a, b in pairs:
        if b > 5.0:
            out.append((a, b))
    return out


def sort(pairs):
    pairs.sort(key=lambda pair: -pair[1])


def cells(rows):
    found = 0
    for row in rows:
        for cell in row:
            found += cell
    return found


class Case(NamedTuple):
    """A program, and its list of so many elements."""

    name: str
    function: Callable[[list[Any]], Any]
    element: Callable[[int], Any]


CASES = (
    Case("sum of ints", total, int),
    Case("append to ints", append, int),
    Case("a list of floats from another", doubled, float),
    Case("sum over tuples", products, lambda i: (i, float(i))),
    Case("tuples that are kept", kept, lambda i: (i, float(i))),
    Case("sort tuples in place", sort, lambda i: (i, float(i))),
    Case("sum over lists of three ints", cells, lambda i: [i, i + 1, i + 2]),
)


def measure() -> list[Table]:
    """The table of all programs and sizes."""
    table = Table(
        "Lists",
        "Processor time of all threads; of later calls the least of many. Programs that go over a list once, so that most "
        "of a call is reading and making lists. A list of lists is left out at 10,000, which takes a minute to compile.",
        ("", *[f"{column}, {n:,}" for n in SIZES for column in ("first, s", "later, µs", "plain, µs")]),
    )
    for case in CASES:
        row: list[str] = []
        for n in SIZES:
            given = [case.element(i) for i in range(n)]
            if n == SIZES[-1] and isinstance(given[0], list):
                row += ["", "", ""]
                continue
            compiled = pystage.compile(case.function)
            first = _seconds(compiled, [*given])
            later, plain = [_least(function, given) * 1e6 for function in (compiled, case.function)]
            row += [f"{first:.2f}", f"{later:,.0f}", f"{plain:,.0f}"]
        table.rows.append((case.name, *row))
    return [table]


def _seconds(function: Callable[[Any], Any], given: Any) -> float:
    start = time.process_time()
    function(given)
    return time.process_time() - start


def _least(function: Callable[[Any], Any], given: Any) -> float:
    times: list[float] = []
    while sum(times) < SECONDS and len(times) < 200:
        times.append(_seconds(function, [*given]))
    return min(times)
