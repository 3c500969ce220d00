"""Finds the places of masks in loops, which take a CPU 2 ns an element where running sums and a scatter take 13 to 30.

In: a program for one CPU. Out: the same program, in which each `MaskPlaces` of a vector is a loop that stores in place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.types import INT64
from ..hlo.walk import kinds
from ..ops import (
    Add,
    Broadcast,
    Compare,
    Constant,
    Convert,
    DynamicSlice,
    DynamicUpdateSlice,
    MaskPlaces,
    Reshape,
    While,
)


def mask_loops(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _Loops().function(function) if MaskPlaces in kinds(function) else function


EACH_TRIP = 2
"""How many elements a trip takes: 1.9 ns an element for two or more, where one by one takes 2.8."""


class _Loops(Rewriter):
    def op(self, op: Op) -> None:
        (mask,) = op.operands if isinstance(op.kind, MaskPlaces) else (None,)
        if mask is None or mask.type.rank > 1 or not mask.type.size:
            self.copy(op)
            return
        (new,) = self.new_all([mask])
        self.values[op.results[0]] = self._loop(new)

    def _loop(self, mask: Value) -> Value:
        """A loop over the elements, some in each trip; those that are left follow it."""
        b, (most,) = self.b, mask.type.static_shape
        zero = self._number(0)
        found = b.op(Broadcast((most,), ()), zero)
        end = most - most % EACH_TRIP
        if end:
            types = (zero.type, zero.type, found.type)
            condition, body = Region(types), Region(types)
            with b.region(condition):
                condition.results = (b.op(Compare("LT"), condition.params[0], self._number(end)),)
            with b.region(body):
                body.results = self._elements(mask, body.params, EACH_TRIP)
            carried = b.apply(While(end // EACH_TRIP), (zero, zero, found), (condition, body)).results
        else:
            carried = (zero, zero, found)
        return self._elements(mask, carried, most - end)[2]

    def _elements(self, mask: Value, carried: Sequence[Value], number: int) -> tuple[Value, ...]:
        """Some more elements: each place is stored where the next true one goes, which is there also if it is not."""
        b, (at, count, places) = self.b, carried
        for _ in range(number):
            places = b.op(DynamicUpdateSlice(), places, b.op(Reshape((1,)), at), count)
            chosen = b.op(Convert(INT64), b.op(Reshape(()), b.op(DynamicSlice((1,)), mask, at)))
            at = b.op(Add(), at, self._number(1))
            count = b.op(Add(), count, chosen)
        return at, count, places

    def _number(self, number: int) -> Value:
        return self.b.op(Constant(np.full((), number, np.int64)))
