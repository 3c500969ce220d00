"""Outlining of long straight-line code, for XLA:CPU.

In: a function of HLO IR. Out: the same function for CPUs, in which code that stores, sums or branches many times calls
a fence every few times, a function that XLA does not inline and that returns its arguments: the values that are live
there. XLA:CPU makes one operation of each store (sum, branch, result) and of all the elementwise code that leads to its
operands: numbers that flow from one store to the next are computed again for every one of them, so that the program, and
the time to compile it, would grow with the square of the number of stores. Code without any of these is split too where
it is long, because XLA makes one piece of machine code of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from .. import limits, ops
from ..analysis.def_use import last_uses
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.types import ArrayType
from ..hlo.walk import functions

ENDS = (ops.Case, ops.DynamicUpdateSlice, ops.If, ops.Reduce, ops.ReduceWith, ops.Scatter)
"""Operations that XLA fuses their operands into, and that are never fused into two users."""

CHEAP = (*ENDS, ops.Broadcast, ops.Call, ops.Constant, ops.Iota)
"""Operations whose results are kept anyway, or cost less to rematerialise than to keep."""


def outline_segments(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    plans = {region: plan_of(region) for f in functions(function) for region in _regions(f.body)}
    return _Outlining(plans).function(function) if any(plans.values()) else function


def _regions(region: Region) -> Iterator[Region]:
    yield region
    for op in region.ops:
        for inner in op.regions:
            yield from _regions(inner)


def _ends(region: Region) -> list[int]:
    """The indices of the operations that end a fusion: those of `ENDS`, and those that define a result, or a part of one."""
    results = {*region.results, *itertools.chain(*map(_parts, region.results))}
    return [
        i
        for i, op in enumerate(region.ops)
        if isinstance(op.kind, ENDS) or not results.isdisjoint(op.results)
    ]


def _parts(value: Value) -> list[Value]:
    """The numbers that a vector is concatenated of."""
    op = value.owner
    if not isinstance(op, Op) or not isinstance(op.kind, ops.Concatenate):
        return []
    return [
        of.owner.operands[0]
        for of in op.operands
        if isinstance(of.owner, Op) and isinstance(of.owner.kind, ops.Reshape)
    ]


def _places(region: Region) -> list[int]:
    """After which operations a region may be cut: every few that end a fusion, and every `limits.SEGMENT_OPERATIONS`."""
    count = len(region.ops)
    ends = _ends(region) if count >= limits.OUTLINED_FUSIONS else []
    places = (
        ends[limits.SEGMENT_FUSIONS - 1 : -1 : limits.SEGMENT_FUSIONS]
        if len(ends) >= limits.OUTLINED_FUSIONS
        else []
    )
    bounds = [-1, *places, count - 1]
    long = [
        at
        for start, end in itertools.pairwise(bounds)
        for at in range(start + limits.SEGMENT_OPERATIONS, end, limits.SEGMENT_OPERATIONS)
    ]
    return sorted([*places, *long])


def plan_of(region: Region) -> dict[int, list[Value]]:
    """After which operations a region is cut, and the values that are kept there: none where there is none to keep."""
    places = _places(region)
    if not places:
        return {}
    plan: dict[int, list[Value]] = {}
    last = last_uses(region)
    start = 0
    for end in places:
        kept = [op for op in region.ops[start : end + 1] if not _is_cheap(op)]
        live = [
            r
            for op in kept
            for r in op.results
            if r.type.size <= limits.SEGMENT_ELEMENTS and last.get(r, -1) > end
        ]
        if live:
            plan[end] = live
        start = end + 1
    return plan


def _is_cheap(op: Op) -> bool:
    """True for what is not kept: also a parameter in another shape, which is no code."""
    if isinstance(op.kind, ops.Reshape):
        return not isinstance(op.operands[0].owner, Op)
    return isinstance(op.kind, CHEAP)


class _Outlining(Rewriter):
    """`plans`: of each region, after which operations it is cut, and the values that are kept there."""

    def __init__(self, plans: Mapping[Region, Mapping[int, list[Value]]]) -> None:
        super().__init__()
        self._plans = plans
        self._fences: dict[tuple[ArrayType, ...], Function] = {}

    def ops(self, old: Region) -> None:
        """The operations, with the cuts of the plan."""
        plan = self._plans[old]
        if not plan:
            super().ops(old)
            return
        for i, op in enumerate(old.ops):
            self.b.span = op.span
            self.op(op)
            if i in plan:
                self._cut(plan[i])

    def _cut(self, live: list[Value]) -> None:
        """Replaces the values in `live` by the results of a fence for all later uses."""
        values = tuple(dict.fromkeys(self.new_all(live)))
        types = tuple([v.type for v in values])
        fence = self._fences.get(types)
        if fence is None:
            body = Region(types)
            body.results = tuple(body.params)
            fence = self._fences[types] = Function("segment", body, fence=True)
        after = dict(zip(values, self.b.ops(ops.Call(fence), *values), strict=True))
        for value in live:
            self.values[value] = after[self.values[value]]
