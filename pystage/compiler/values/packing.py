"""Packing of many values into one array, which reuses adjacent rows of existing arrays."""

from __future__ import annotations

from collections.abc import Sequence

from ...records import dataclass
from ..hlo.builder import Builder
from ..hlo.ir import Op, Value
from ..ops import Concatenate, Reshape, Slice


def stacked(b: Builder, values: Sequence[Value]) -> Value:
    """At least one value, all of one type, along a new first axis."""
    pieces = [run.whole(b) for run in _runs(values)]
    return b.op(Concatenate(0), *pieces) if len(pieces) > 1 else pieces[0]


def count_pieces(values: Sequence[Value]) -> int:
    """The number of arrays that `stacked` concatenates."""
    return len(_runs(values))


def _runs(values: Sequence[Value]) -> list[_Run]:
    runs: list[_Run] = []
    for value in values:
        array, at = _row(value)
        last = runs[-1] if runs else None
        if last is not None and array is not None and last.array is array and last.stop == at:
            last.stop += 1
        else:
            runs.append(_Run(value, array, at, at + 1))
    return runs


def row(b: Builder, array: Value, at: int) -> Value:
    """One row of an array."""
    shape = array.type.shape[1:]
    rest = [0] * len(shape)
    one = b.op(Slice((at, *rest), (at + 1, *shape), (1,) * (len(shape) + 1)), array)
    return b.op(Reshape(shape), one)


@dataclass(slots=True)
class _Run:
    """Adjacent values: one alone, or the rows of `array` from `start` up to `stop`."""

    value: Value
    array: Value | None
    start: int
    stop: int

    def whole(self, b: Builder) -> Value:
        """The values as an array with one more axis in front."""
        shape = self.value.type.shape
        if self.array is None or self.stop - self.start == 1:
            return b.op(Reshape((1, *shape)), self.value)
        if (self.start, self.stop) == (0, self.array.type.shape[0]):
            return self.array
        rest = [0] * len(shape)
        return b.op(Slice((self.start, *rest), (self.stop, *shape), (1,) * (len(shape) + 1)), self.array)


def _row(value: Value) -> tuple[Value | None, int]:
    """The array of which `value` is a row as `row` takes it, and which row; None for other values."""
    reshape = value.owner
    if not isinstance(reshape, Op) or not isinstance(reshape.kind, Reshape):
        return None, 0
    op = reshape.operands[0].owner
    if not isinstance(op, Op) or not isinstance(op.kind, Slice):
        return None, 0
    (array,), kind = op.operands, op.kind
    shape = array.type.shape
    rest = value.type.shape
    at = kind.starts[0] if kind.starts else 0
    is_row = shape[1:] == rest and kind.starts[1:] == (0,) * len(rest) and kind.limits == (at + 1, *rest)
    return (array, at) if is_row else (None, 0)
