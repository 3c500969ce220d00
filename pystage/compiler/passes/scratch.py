"""Memory of lists that each trip of a loop makes anew, kept from trip to trip.

In: a program for one CPU. Out: the same program, in which a loop carries the memory of the rows that its trips pad to a
capacity (`Pad.loose`), so that no trip fills it again: the first rows are stored into it, and what follows them, which
means nothing, is what the trip before has left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from .. import limits
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions, kinds
from ..ops import Broadcast, Constant, DynamicUpdateSlice, Pad, Scatter, While, constant

_Pads = dict[Op, list[Op]]
"""For a loop, the paddings in its trips, those of inner loops too."""


def keep_scratch(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    if not kinds(function) >= {Pad, While}:
        return function
    found: _Pads = defaultdict(list)
    for each in functions(function):
        _find(each.body, (), found)
    return _Keeping(found).function(function) if found else function


def _find(region: Region, loops: tuple[Op, ...], found: _Pads) -> None:
    """Adds the paddings of a region; `loops` are those around it, the first of which makes more than one trip."""
    for op in region.ops:
        loose = (
            isinstance(op.kind, Pad) and op.kind.loose and op.results[0].type.nbytes >= limits.SCRATCH_BYTES
        )
        if loose and loops and _last(op, region) not in region.results:
            for loop in loops:
                found[loop].append(op)
        for inner in op.regions:
            body = isinstance(op.kind, While) and inner is op.regions[1]
            _find(inner, (*loops, op) if body and (loops or not _is_branch(op)) else (), found)


def _is_branch(loop: Op) -> bool:
    """True for a loop that clears in its first trip the flag that it asks for (`single_trip_loops.py`)."""
    condition, body = loop.regions
    (flag,) = condition.results
    if flag not in condition.params:
        return False
    end = body.results[condition.params.index(flag)].owner
    return isinstance(end, Op) and isinstance(end.kind, Constant) and not end.kind.data


def _last(pad: Op, region: Region) -> Value:
    """The rows at the end of the region that pads them, after the loops and stores that they go through."""
    value = pad.results[0]
    for op in region.ops[region.ops.index(pad) :]:
        if isinstance(op.kind, While) and value in op.operands:
            value = op.results[op.operands.index(value)]
        elif isinstance(op.kind, DynamicUpdateSlice | Scatter) and op.operands[0] is value:
            value = op.results[0]
    return value


class _Keeping(Rewriter):
    def __init__(self, pads: _Pads) -> None:
        super().__init__()
        self._pads = pads
        self._memory: dict[Op, Value] = {}
        """The memory of a padding, as it is here."""

    def op(self, op: Op) -> None:
        if op in self._pads:
            self._loop(op, self._pads[op])
        elif op in self._memory:
            rows, memory = self.new(op.operands[0]), self._memory[op]
            if rows.type.size:
                zeros = [constant(self.b, 0, np.int64)] * rows.type.rank
                memory = self.b.op(DynamicUpdateSlice(), memory, rows, *zeros)
            self.values[op.results[0]] = memory
        else:
            self.copy(op)

    def _loop(self, op: Op, pads: Sequence[Op]) -> None:
        for pad in pads:
            if pad not in self._memory:
                type = pad.results[0].type
                zero = self.b.op(Constant(np.zeros((), type.dtype)))
                self._memory[pad] = self.b.op(Broadcast(type.shape, ()), zero)
        operands = [*self.new_all(op.operands), *[self._memory[pad] for pad in pads]]
        types, count = tuple([v.type for v in operands]), len(op.operands)
        regions = []
        for old in op.regions:
            made = Region(types)
            self.values.update(zip(old.params, made.params))
            self._memory.update(zip(pads, made.params[count:], strict=True))
            with self.b.region(made):
                self.ops(old)
                kept = [self.new(_last(pad, old)) if pad in old.ops else self._memory[pad] for pad in pads]
            made.results = self.new_all(old.results)
            if old is op.regions[1]:
                made.results += tuple(kept)
            regions.append(made)
        results = self.b.apply(op.kind, operands, regions).results
        self.values.update(zip(op.results, results))
        self._memory.update(zip(pads, results[count:], strict=True))
