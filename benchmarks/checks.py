"""What run-time checks cost: loops whose indices are checked in every iteration, against `check_bounds = False`.

The indices of the first programs are data, so that nothing proves them; those of the last are affine in the
counters of the loops, which interval analysis proves inside, so that both settings give one program. Integers of
Python that a loop adds up are checked for 64 bits, whatever the setting. Each pair runs in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import pystage

from .measuring import Pairs, Table, in_pairs

TRIPS = 1_000_000
COUNT = 15


def gathered(x: Any, index: Any) -> Any:
    """Elements at places that are data, added up."""
    total = 0.0
    for i in range(len(index)):
        total += x[index[i]]
    return total


def histogram(x: Any, index: Any) -> Any:
    """A load and a store at places that are data."""
    counts = np.zeros(len(x))
    for i in range(len(index)):
        counts[index[i]] += 1.0
    return counts


def exchanged(x: Any, index: Any) -> Any:
    """Elements that change places: two loads and two stores, of two indices."""
    for i in range(len(index) - 1):
        a, b = index[i], index[i + 1]
        x[a], x[b] = x[b], x[a]
    return x


def chased(x: Any, index: Any) -> Any:
    """Each index is the element at the one before."""
    j = 0
    total = 0.0
    for _ in range(len(index)):
        j = index[j]
        total += x[j]
    return total


def searched(x: Any, index: Any) -> Any:
    """Binary searches, whose middle is computed in the program."""
    found = 0
    for i in range(len(index) // 16):
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            if x[middle] < index[i]:
                low = middle + 1
            else:
                high = middle
        found += low
    return found


def smoothed(x: Any, index: Any) -> Any:
    """Neighbours: the indices are affine in the counter, and certainly inside."""
    for _ in range(len(index) // len(x)):
        for i in range(1, len(x) - 1):
            x[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1]
    return x


PROGRAMS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("gather: 1 index", gathered),
    ("histogram: 1 index, load and store", histogram),
    ("exchange: 2 indices, loads and stores", exchanged),
    ("pointer chasing: 2 indices", chased),
    ("binary searches: 1 index and integers", searched),
    ("stencil: affine indices", smoothed),
)


@contextmanager
def checking(on: bool) -> Iterator[None]:
    """`pystage.config.check_bounds` meanwhile."""
    before = pystage.config.check_bounds
    pystage.config.check_bounds = on
    try:
        yield
    finally:
        pystage.config.check_bounds = before


def arguments() -> tuple[np.ndarray, np.ndarray]:
    """A sorted array, and places in it: a permutation that is one cycle, again and again."""
    rng = np.random.default_rng(0)
    size = TRIPS // 1000
    order = rng.permutation(size)
    follows = np.empty(size, np.int64)
    follows[order] = np.roll(order, -1)
    return np.sort(rng.random(size)), np.tile(follows, 1000)


def both_ways(function: Callable[..., Any], count: int = COUNT) -> Pairs:
    """Times of calls with checks and without, in turn."""
    checked, unchecked = pystage.compile(function), pystage.compile(function)
    x, index = arguments()

    def call(staged: Callable[..., Any], on: bool) -> Any:
        with checking(on):
            return staged(x, index)

    return in_pairs(lambda: call(checked, True), lambda: call(unchecked, False), count)


def measure() -> list[Table]:
    """The table of times per iteration, with checks and without."""
    table = Table(
        "Checks at run time",
        f"Time of a call that loops {TRIPS:,} times (the searches a sixteenth of it), in ms; the ratio is that of "
        "the pairs, with its quartiles.",
        ("", "checked", "`check_bounds = False`", "ratio"),
    )
    for name, function in PROGRAMS:
        pairs = both_ways(function)
        checked, unchecked = pairs.medians
        table.rows.append((name, f"{checked * 1e3:.2f}", f"{unchecked * 1e3:.2f}", pairs.ratio_text()))
    return [table]
