"""Counters that a trip of a loop changes by a number other than 1 begin as values that XLA does not know.

In: a function of HLO IR. Out: the same function, in which such a counter begins behind a barrier. From the constants that a
counter begins with and is compared to, XLA derives the trip count, and divides wrongly where the step is not 1: it drops
the loop of `i = 0` and `while i < 1: i += 2`, whose count it takes to be 0, and runs loops once that do not run.
"""

from __future__ import annotations

import math

from ..analysis.induction import recurrence
from ..analysis.ranges import Interval
from ..hlo.ir import Function, Op, Value
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions
from ..ops import Constant, OptimizationBarrier, While


def hide_strided_counters(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    strided = any(_strided(op) for each in functions(function) for op in each.body.walk())
    return _Hiding().function(function) if strided else function


def _strided(op: Op) -> list[int]:
    """The indices of such counters among what a loop carries."""
    if not isinstance(op.kind, While):
        return []
    body = op.regions[1]
    carried = enumerate(zip(body.params, body.results, strict=True))
    return [index for index, (begin, end) in carried if _step(begin, end) not in (None, 0, 1, -1)]


def _step(begin: Value, end: Value) -> int | None:
    """What each trip adds to a counter; None for what is none."""
    if begin.type.dtype.kind not in "iu" or begin.type.shape:
        return None
    found = recurrence(end, begin, _of_constant)
    return None if found is None else found.step


def _of_constant(value: Value) -> Interval:
    kind = getattr(value.owner, "kind", None)
    if isinstance(kind, Constant) and kind.data.size == 1:
        return int(kind.data), int(kind.data)
    return -math.inf, math.inf


class _Hiding(Rewriter):
    def op(self, op: Op) -> None:
        begins = {op.operands[index]: self.new(op.operands[index]) for index in _strided(op)}
        for begin, known in begins.items():
            self.values[begin] = self.b.op(OptimizationBarrier(), known)
        self.copy(op)
        self.values.update(begins)
