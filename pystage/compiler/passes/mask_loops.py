"""Finds the places of masks in loops, which take a CPU 1 ns an element where running sums and a scatter take 13 to 30.

In: a program for one CPU. Out: the same program, in which each `MaskPlaces` of a vector is a loop that stores in place; how
many elements of the mask are true, where the program counts them beside, is what the loop has counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import ops
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.types import INT64, UINT8, UINT64
from ..hlo.walk import kinds


def mask_loops(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _Loops().function(function) if ops.MaskPlaces in kinds(function) else function


WORD = 8
"""How many elements a trip takes: a word of memory."""

_GATHER_BITS = np.full((), 0x0102040810204080, np.uint64)
"""Times a word of eight bytes that are 0 or 1, this has these as the bits of its highest byte, in order."""


def _places_of_bits() -> np.ndarray:
    """For each byte, the places of its bits that are set, and zeros."""
    made = np.zeros((1 << WORD, WORD), np.int8)
    for byte, row in enumerate(made):
        places = [place for place in range(WORD) if byte >> place & 1]
        row[: len(places)] = places
    return made


PLACES = _places_of_bits()


class _Loops(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._masks: set[Value] = set()
        self._found: dict[Value, tuple[Value, Value]] = {}

    def ops(self, old: Region) -> None:
        masks, found = self._masks, dict(self._found)
        self._masks = {op.operands[0] for op in old.ops if isinstance(op.kind, ops.MaskPlaces)}
        super().ops(old)
        self._masks, self._found = masks, found

    def op(self, op: Op) -> None:
        place, mask = self._of_mask(op)
        if mask is None or mask.type.rank > 1 or not mask.type.size:
            self.copy(op)
            return
        if mask not in self._found:
            self._found[mask] = self._loop(self.new(mask))
        self.values[op.results[0]] = self._found[mask][place]

    def _of_mask(self, op: Op) -> tuple[int, Value | None]:
        """The mask of which an operation is the places (0) or, in a region that also asks for these, the count (1)."""
        if isinstance(op.kind, ops.MaskPlaces):
            return 0, op.operands[0]
        maker = op.operands[0].owner if op.kind == ops.Reduce(ops.Add(), (0,)) else None
        if isinstance(maker, Op) and maker.kind == ops.Convert(INT64) and maker.operands[0] in self._masks:
            start = op.operands[1].owner
            if isinstance(start, Op) and isinstance(start.kind, ops.Constant) and not start.kind.data.any():
                return 1, maker.operands[0]
        return 0, None

    def _loop(self, mask: Value) -> tuple[Value, Value]:
        """The places and their number: a loop over the words of the mask, before which false ones fill up the first."""
        b, (most,) = self.b, mask.type.shape
        zero = self._number(0)
        carried: Sequence[Value] = (zero, zero, b.op(ops.Broadcast((most,), ()), zero))
        if most < WORD:
            for _ in range(most):
                carried = self._element(mask, carried)
            return carried[2], carried[1]
        words, before = -(-most // WORD), -most % WORD
        bytes = b.op(ops.Convert(UINT8), mask)
        if before:
            bytes = b.op(ops.Pad((before,), (0,), (0,)), bytes, b.op(ops.Constant(np.zeros((), np.uint8))))
        read = b.op(ops.BitcastConvert(UINT64), b.op(ops.Reshape((words, WORD)), bytes))
        types = tuple([v.type for v in carried])
        condition, body = Region(types), Region(types)
        with b.region(condition):
            condition.results = (b.op(ops.Compare("LT"), condition.params[0], self._number(words)),)
        with b.region(body):
            body.results = self._word(read, before, body.params)
        _, count, places = b.apply(ops.While(words), tuple(carried), (condition, body)).results
        return places, count

    def _word(self, words: Value, before: int, carried: Sequence[Value]) -> tuple[Value, ...]:
        """One more word: eight places are stored where the next true one goes, of which the first so many are true.

        There is room for them: the words so far have at most eight each, the first one `before` less.
        """
        b, (at, count, places) = self.b, carried
        word = b.op(ops.Reshape(()), b.op(ops.DynamicSlice((1,)), words, at))
        bits = b.op(ops.Multiply(), word, b.op(ops.Constant(_GATHER_BITS)))
        bits = b.op(ops.ShiftRightLogical(), bits, b.op(ops.Constant(np.full((), 64 - WORD, np.uint64))))
        row = b.op(
            ops.DynamicSlice((1, WORD)),
            b.op(ops.Constant(PLACES)),
            b.op(ops.Convert(INT64), bits),
            self._number(0),
        )
        begin = b.op(ops.Multiply(), at, self._number(WORD))
        if before:
            begin = b.op(ops.Subtract(), begin, self._number(before))
        found = b.op(
            ops.Add(),
            b.op(ops.Convert(INT64), b.op(ops.Reshape((WORD,)), row)),
            b.op(ops.Broadcast((WORD,), ()), begin),
        )
        if before:
            found = b.op(ops.Maximum(), found, b.op(ops.Broadcast((WORD,), ()), self._number(0)))
        places = b.op(ops.DynamicUpdateSlice(), places, found, count)
        count = b.op(ops.Add(), count, b.op(ops.Convert(INT64), b.op(ops.PopulationCount(), word)))
        return b.op(ops.Add(), at, self._number(1)), count, places

    def _element(self, mask: Value, carried: Sequence[Value]) -> tuple[Value, ...]:
        """One more element: its place is stored where the next true one goes, which is there also if it is not."""
        b, (at, count, places) = self.b, carried
        places = b.op(ops.DynamicUpdateSlice(), places, b.op(ops.Reshape((1,)), at), count)
        chosen = b.op(ops.Convert(INT64), b.op(ops.Reshape(()), b.op(ops.DynamicSlice((1,)), mask, at)))
        return b.op(ops.Add(), at, self._number(1)), b.op(ops.Add(), count, chosen), places

    def _number(self, number: int) -> Value:
        return self.b.op(ops.Constant(np.full((), number, np.int64)))
