"""Concatenations of many values that a loop does not change, hoisted out of it.

In: a function of HLO IR. Out: the same function, in which they stand before the outermost loop that leaves their operands as
they are. A read of a list at a computed place is a read of the concatenation of its elements, where it stands: in a loop it
would be made again in each trip.
"""

from __future__ import annotations

from ..hlo.ir import Function, Op, Value
from ..hlo.rewrite import Rewriter
from ..ops import Concatenate, Reshape, While

MANY = 8
"""A concatenation of fewer operands stays: XLA fuses it into what reads it."""


def hoist_concatenations(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _ConcatenationHoisting().function(function)


class _ConcatenationHoisting(Rewriter):
    def op(self, op: Op) -> None:
        if isinstance(op.kind, While):
            for each in _invariant(op):
                self.b.span = each.span
                self._once(each)
            self.b.span = op.span
        self._once(op)

    def _once(self, op: Op) -> None:
        """Copies an operation that does not stand before a loop already."""
        if not op.results or op.results[0] not in self.values:
            self.copy(op)


def _invariant(loop: Op) -> list[Op]:
    """The concatenations in a loop that are of values from outside, and the reshapes that they are of."""
    inside: set[Value] = set()
    found: dict[Value, Op] = {}
    for region in loop.regions:
        inside.update(region.params)
        for op in region.walk():
            if isinstance(op.kind, Concatenate | Reshape) and not any(
                v in inside and v not in found for v in op.operands
            ):
                found[op.results[0]] = op
            inside.update(op.results)
            for inner in op.regions:
                inside.update(inner.params)
    wanted: set[Value] = set()
    for value, op in reversed(found.items()):
        if value in wanted or (isinstance(op.kind, Concatenate) and len(op.operands) >= MANY):
            wanted.add(value)
            wanted.update(v for v in op.operands if v in found)
    return [op for value, op in found.items() if value in wanted]
