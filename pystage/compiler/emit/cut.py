"""Long straight-line code in segments, for XLA:CPU.

In: a function of HLO IR. Out: the same function for CPUs, where code that stores, sums or branches many times calls,
every few times, a function that XLA does not inline; it gives back what it takes: the numbers that the code before
it leaves for the code after it. XLA:CPU makes one operation of each store (sum, branch, result) and of all that
leads to its operands, as long as that is elementwise: numbers that go from one store to the next are computed again
for every one of them, so that the program, and the time to compile it, would grow with the square of the number of
stores.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.types import ArrayType
from ..hlo.walk import functions
from ..ops import Broadcast, Call, Case, Constant, DynamicUpdateSlice, If, Iota, Reduce, ReduceWith, Scatter

MANY = 16
"""Code with fewer operations that end a fusion stays whole."""

SEGMENT = 8
"""How many of them a segment has."""

SMALL = 64
"""Larger arrays are not kept: to compute them as part of what uses them may be worth the while."""

ENDS = (Case, DynamicUpdateSlice, If, Reduce, ReduceWith, Scatter)
"""What XLA fuses its operands into, and what no other operation is fused into twice."""

CHEAP = (*ENDS, Broadcast, Call, Constant, Iota)
"""What is kept anyway, or costs less to make again than to keep."""


def cut(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    if all(len(_ends(region)) < MANY for f in functions(function) for region in _regions(f.body)):
        return function
    return _Cutting().function(function)


def _regions(region: Region) -> Iterator[Region]:
    yield region
    for op in region.ops:
        for inner in op.regions:
            yield from _regions(inner)


def _ends(region: Region) -> list[int]:
    """The places of the operations that end a fusion: those of `ENDS`, and those that give a result."""
    results = set(region.results)
    return [
        i
        for i, op in enumerate(region.ops)
        if isinstance(op.kind, ENDS) or any(r in results for r in op.results)
    ]


class _Cutting(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._fences: dict[tuple[ArrayType, ...], Function] = {}

    def ops(self, old: Region) -> None:
        """The operations, with a cut after every few that end a fusion."""
        ends = _ends(old)
        if len(ends) < MANY:
            super().ops(old)
            return
        cuts = set(ends[SEGMENT - 1 : -1 : SEGMENT])
        last = _last_uses(old)
        segment: list[Value] = []
        for i, op in enumerate(old.ops):
            self.b.span = op.span
            self.op(op)
            if not isinstance(op.kind, CHEAP):
                segment.extend([r for r in op.results if r.type.size <= SMALL])
            if i in cuts:
                self._cut([v for v in segment if last.get(v, -1) > i])
                segment = []

    def _cut(self, live: list[Value]) -> None:
        """What comes after here uses the results of a call in place of the values in `live`."""
        values = tuple(dict.fromkeys(self.new_all(live)))
        if not values:
            return
        types = tuple([v.type for v in values])
        fence = self._fences.get(types)
        if fence is None:
            body = Region(types)
            body.results = tuple(body.params)
            fence = self._fences[types] = Function("cut", body, fence=True)
        after = dict(zip(values, self.b.ops(Call(fence), *values), strict=True))
        for value in live:
            self.values[value] = after[self.values[value]]


def _last_uses(region: Region) -> dict[Value, int]:
    """The place of the last operation that uses a value, inside its regions too; results are used at the end."""
    last: dict[Value, int] = {}
    for i, op in enumerate(region.ops):
        for value in _used(op):
            last[value] = i
    last.update(dict.fromkeys(region.results, len(region.ops)))
    return last


def _used(op: Op) -> Iterator[Value]:
    """What an operation uses, inside its regions too."""
    yield from op.operands
    for region in op.regions:
        yield from region.results
        for inner in region.ops:
            yield from _used(inner)
