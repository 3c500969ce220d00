"""How the benchmarks measure, and the tables that they give.

Two programs are timed in pairs, one after the other, so that what else the machine does falls on both; a
ratio is the median of the pairs' ratios, with the spread between their quartiles.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import jax


@dataclass(frozen=True)
class Table:
    """One table of the report: a title, what was measured and how, and rows of texts."""

    title: str
    text: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [f"### {self.title}", "", self.text, ""]
        lines.append("| " + " | ".join(self.header) + " |")
        lines.append("|" + "|".join([" --- ", *[" ---: "] * (len(self.header) - 1)]) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Pairs:
    """Times of two programs, run in turn; seconds."""

    first: tuple[float, ...]
    second: tuple[float, ...]

    @property
    def medians(self) -> tuple[float, float]:
        """The median time of each."""
        return statistics.median(self.first), statistics.median(self.second)

    @property
    def ratio(self) -> float:
        """The median of first / second over the pairs."""
        return statistics.median(self._ratios())

    @property
    def spread(self) -> tuple[float, float]:
        """The quartiles of that ratio."""
        low, _, high = statistics.quantiles(self._ratios(), n=4)
        return low, high

    def _ratios(self) -> list[float]:
        return [a / b for a, b in zip(self.first, self.second, strict=True)]

    def ratio_text(self) -> str:
        """The ratio with its spread."""
        low, high = self.spread
        return f"{self.ratio:.2f} ({low:.2f} to {high:.2f})"


Clock = Callable[[], float]


def seconds(run: Callable[[], Any], clock: Clock = time.perf_counter) -> float:
    """The time of one run, its results waited for."""
    start = clock()
    jax.block_until_ready(run())
    return clock() - start


def in_pairs(
    first: Callable[[], Any],
    second: Callable[[], Any],
    count: int,
    warm: int = 1,
    clock: Clock = time.perf_counter,
    collect: bool = False,
) -> Pairs:
    """Times of the two, in turn and in changing order, after `warm` runs of each.

    `collect`: Python's garbage collector runs as it does in a user's process.
    """
    for _ in range(warm):
        jax.block_until_ready(first())
        jax.block_until_ready(second())
    times: tuple[list[float], list[float]] = ([], [])
    with nullcontext() if collect else no_collection():
        for i in range(count):
            for which in (i % 2, 1 - i % 2):
                times[which].append(seconds((first, second)[which], clock))
    return Pairs(tuple(times[0]), tuple(times[1]))


def in_turn(runs: Sequence[Callable[[], Any]], count: int) -> list[float]:
    """The median time of each of several programs, run one after the other `count` times, after one run of each."""
    return [statistics.median(times) for times in times_in_turn(runs, count)]


def times_in_turn(
    runs: Sequence[Callable[[], Any]], count: int, clock: Clock = time.perf_counter
) -> list[tuple[float, ...]]:
    """The times of each of several programs, run one after the other `count` times, after one run of each."""
    for run in runs:
        jax.block_until_ready(run())
    with no_collection():
        times = [[seconds(run, clock) for run in runs] for _ in range(count)]
    return list(zip(*times, strict=True))


@contextmanager
def no_collection() -> Iterator[None]:
    """Python's garbage collector waits for the time of the `with` block."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
