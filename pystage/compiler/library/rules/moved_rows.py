"""Rows moved by one position, as `del l[i]` and `l.insert(i, x)` move the elements behind, or copied, as by `l.extend(m)`.

An operation on all rows would compute those anew that stay. So a loop goes over those that move, block by block: it reads
a window of one row more than a block has, and stores the block one row before or behind. Those of another list are copied
one by one: it may have few elements and memory for many, and XLA:CPU compiles such a loop into one machine function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ... import limits
from ...hlo.builder import Builder
from ...hlo.ir import Region, Value
from ...hlo.types import INT64, ArrayType
from ...ops import (
    Add,
    And,
    Broadcast,
    Compare,
    Constant,
    Iota,
    Maximum,
    Minimum,
    Select,
    Slice,
    Subtract,
    While,
)
from ...values.lattice import Abstract
from ...values.walk import rebuild, values_of
from .rows import first_rows, rows_from, updated, with_rows_from

_Step = Callable[[Value, Sequence[Value]], tuple[Value, list[Value]]]
"""Moves the rows of one block: from the position that is reached, and the columns, to the next position and the columns."""


def copied_behind(b: Builder, element: Abstract, end: Value, other: Abstract, count: int | Value) -> Abstract:
    """The rows, of which those from `end` on are the first `count` rows of another list; those behind mean nothing."""
    if isinstance(count, int):
        return updated(b, element, end, first_rows(b, other, count)) if count else element
    others, one = values_of(other), _number(b, 1)

    def step(at: Value, columns: Sequence[Value]) -> tuple[Value, list[Value]]:
        row, pairs = b.op(Add(), end, at), zip(columns, others, strict=True)
        return b.op(Add(), at, one), [
            with_rows_from(b, rows, row, rows_from(b, new, at, 1)) for rows, new in pairs
        ]

    most = max([rows.type.shape[0] for rows in others], default=0)
    return _in_steps(b, element, most, _number(b, 0), lambda at: b.op(Compare("LT"), at, count), step)


def moved_to_front(b: Builder, element: Abstract, first: Value, last: Value) -> Abstract:
    """The rows, of which each from `first` to before `last` is what the row behind it was; those behind mean nothing."""
    size, capacity = _block(element)
    most = _number(b, capacity - 1 - size)

    def step(at: Value, columns: Sequence[Value]) -> tuple[Value, list[Value]]:
        start = b.op(Minimum(), at, most)
        moves = _compared(b, "GE", _places(b, start, size), at)
        windows = [_window(b, rows, start, size) for rows in columns]
        moved = [with_rows_from(b, rows, start, _chosen(b, moves, *w)) for rows, w in zip(columns, windows)]
        return b.op(Add(), start, _number(b, size)), moved

    return _moved(b, element, first, lambda at: b.op(Compare("LT"), at, last), step)


def moved_to_end(b: Builder, element: Abstract, first: Value, last: Value) -> Abstract:
    """The rows, of which each from behind `first` to `last` is what the row before it was."""
    size, _ = _block(element)
    zero, one = _number(b, 0), _number(b, 1)

    def step(at: Value, columns: Sequence[Value]) -> tuple[Value, list[Value]]:
        start = b.op(Maximum(), b.op(Subtract(), at, _number(b, size)), zero)
        behind = b.op(Add(), start, one)
        places = _places(b, behind, size)
        moves = b.op(And(), _compared(b, "GT", places, first), _compared(b, "LE", places, at))
        windows = [_window(b, rows, start, size)[::-1] for rows in columns]
        moved = [with_rows_from(b, rows, behind, _chosen(b, moves, *w)) for rows, w in zip(columns, windows)]
        return start, moved

    return _moved(b, element, last, lambda at: b.op(Compare("GT"), at, first), step)


def _block(element: Abstract) -> tuple[int, int]:
    """The number of rows that are moved at once, and that of all rows; none of rows without numbers."""
    capacity = max([rows.type.shape[0] for rows in values_of(element)], default=1)
    return min(limits.MOVED_ROWS, capacity - 1), capacity


def _moved(
    b: Builder, element: Abstract, start: Value, goes_on: Callable[[Value], Value], step: _Step
) -> Abstract:
    """The rows after a loop of steps; after one step, without a loop, if that moves all."""
    size, capacity = _block(element)
    if size == 0:
        return element
    if size == capacity - 1:
        moved = iter(step(start, values_of(element))[1])
        return rebuild(element, lambda v: next(moved))
    return _in_steps(b, element, -(-capacity // size), start, goes_on, step)


def _in_steps(
    b: Builder, element: Abstract, most: int, start: Value, goes_on: Callable[[Value], Value], step: _Step
) -> Abstract:
    """The rows after a loop of at most so many steps."""
    columns = values_of(element)
    initial = (start, *columns)
    types = tuple([value.type for value in initial])
    test, body = Region(types), Region(types)
    with b.region(test):
        test.results = (goes_on(test.params[0]),)
    with b.region(body):
        at, inner = step(body.params[0], body.params[1:])
        body.results = (at, *inner)
    results = b.apply(While(most), initial, (test, body)).results
    moved = iter(results[1:])
    return rebuild(element, lambda v: next(moved))


def _window(b: Builder, rows: Value, start: Value, size: int) -> tuple[Value, Value]:
    """The rows behind those of a block that begins at `start`, and the block."""
    window = rows_from(b, rows, start, size + 1)
    rest = window.type.shape[1:]
    steps, none = (1,) * (1 + len(rest)), (0,) * len(rest)
    behind = b.op(Slice((1, *none), (size + 1, *rest), steps), window)
    return behind, b.op(Slice((0, *none), (size, *rest), steps), window)


def _chosen(b: Builder, moves: Value, new: Value, old: Value) -> Value:
    """The rows that move, and those that stay."""
    return b.op(Select(), b.op(Broadcast(old.type.shape, (0,)), moves), new, old)


def _places(b: Builder, start: Value, size: int) -> Value:
    """The positions of rows from `start` on."""
    each = b.op(Iota(ArrayType(INT64, (size,)), 0))
    return b.op(Add(), each, b.op(Broadcast((size,), ()), start))


def _compared(b: Builder, direction: str, places: Value, bound: Value) -> Value:
    return b.op(Compare(direction), places, b.op(Broadcast(places.type.shape, ()), bound))


def _number(b: Builder, number: int) -> Value:
    return b.op(Constant(np.asarray(number, np.int64)))
