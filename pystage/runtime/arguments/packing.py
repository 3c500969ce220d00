"""Packing of many Python numbers, such as the elements of a list, into arrays for XLA.

XLA compiles for seconds where a program has hundreds of parameters, and JAX takes microseconds for each in every call. The
program has the arrays as parameters (`passes/boundary_vectors.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ...records import dataclass
from .columns import packed_numbers

MANY = 32
"""Fewer adjacent numbers stay inputs of their own."""


@dataclass(frozen=True, slots=True)
class Pack:
    """The inputs from `start` to `end`; each row of so many `columns` has the elements of one tuple or list."""

    start: int
    end: int
    columns: int


@dataclass(frozen=True, slots=True)
class _AdjacentNumbers:
    """The numbers in one tuple or list, `holder`, and in those inside: rows of so many columns.

    Without a holder they are not to be packed.
    """

    holder: str
    start: int
    end: int
    columns: int

    @property
    def size(self) -> int:
        return self.end - self.start

    def outside(self) -> _AdjacentNumbers:
        """The same numbers as a part of what holds the holder."""
        return _AdjacentNumbers(self.holder.rpartition("[")[0], self.start, self.end, self.columns)


def groups_of(paths: Sequence[str]) -> list[Pack]:
    """The groups among inputs, by their paths in the arguments; those that are no Python numbers have none.

    Few numbers in a list are packed with those of its neighbours: all lists of as many numbers as one row each, else the
    rows in them.
    """

    def holder(i: int) -> str:
        return paths[i].rpartition("[")[0]

    runs: list[_AdjacentNumbers] = []
    for name, inputs in itertools.groupby(range(len(paths)), holder):
        start, *others = inputs
        count = 1 + len(others)
        runs.append(_AdjacentNumbers(name, start, start + count, count if count < MANY else 1))
    found: list[Pack] = []
    while any(run.holder for run in runs):
        many = [run for run in runs if run.holder and run.size >= MANY]
        found += [Pack(run.start, run.end, run.columns) for run in many]
        outer = [
            _AdjacentNumbers("", run.start, run.end, 1) if run in many else run.outside() for run in runs
        ]
        runs = []
        for (name, columns), alike in itertools.groupby(outer, lambda run: (run.holder, run.columns)):
            first, *rest = alike
            sizes = {run.size for run in (first, *rest)}
            runs.append(
                _AdjacentNumbers(
                    name, first.start, (first, *rest)[-1].end, first.size if len(sizes) == 1 else columns
                )
            )
    return sorted(found, key=lambda pack: pack.start)


class Packed:
    """A function under `jax.jit` that takes each group of its inputs as one: a list of columns.

    A column is an array, or a tuple of numbers that are not all of one type.
    """

    def __init__(self, jitted: Any, groups: Sequence[Pack]) -> None:
        self._jitted = jitted
        self._groups = groups
        self.clear_cache = jitted.clear_cache
        """As of `jax.jit`."""

    def __call__(self, *inputs: Any) -> Any:
        return self._jitted(*packed(inputs, self._groups))

    def lower(self, *inputs: Any) -> Any:
        """As of `jax.jit`."""
        return self._jitted.lower(*packed(inputs, self._groups))


def packed(inputs: Sequence[Any], groups: Sequence[Pack]) -> list[Any]:
    """The inputs, of which each group is one."""
    made: list[Any] = []
    done = 0
    for each in groups:
        numbers = inputs[each.start : each.end]
        made += [
            *inputs[done : each.start],
            [_column(numbers[i :: each.columns]) for i in range(each.columns)],
        ]
        done = each.end
    return [*made, *inputs[done:]]


def _column(numbers: Sequence[Any]) -> Any:
    kinds = {*map(type, numbers)}
    column = packed_numbers(numbers, kinds.pop()) if len(kinds) == 1 else None
    # An int of more than 64 bits is told of the number itself.
    return tuple(numbers) if column is None else column


def operands_of(inputs: Sequence[Any], groups: Sequence[Pack]) -> Iterator[tuple[Any, int | range]]:
    """The operands of the function under `jax.jit`, and the inputs that each holds: one, or several as a vector."""
    starts = {each.start: each for each in groups}
    done = 0
    for each in inputs:
        pack = starts.get(done)
        if pack is None:
            yield each, done
            done += 1
            continue
        for i, column in enumerate(each):
            places = range(pack.start + i, pack.end, pack.columns)
            if isinstance(column, tuple):
                yield from zip(column, places, strict=True)
            else:
                yield column, places
        done = pack.end
