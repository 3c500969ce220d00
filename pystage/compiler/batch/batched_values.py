"""Batch dependence: which values of a program are batched, since they are computed from batched parameters.

In: a function and which of its parameters are batched. Out: the values that are, those inside regions included.
A branch or a loop whose condition is batched has batched results only.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..hlo.ir import Function, Op, Region, Value
from ..ops import Call, Case, If, VjpRule, While

Mask = tuple[bool, ...]
"""One flag for each parameter, operand or result."""


class BatchedValues:
    """The batched values of a function, and the batched results of its callees by their batched parameters."""

    def __init__(self) -> None:
        self._results: dict[tuple[Function, Mask], Mask] = {}

    def of(self, region: Region, given: Iterable[Value]) -> set[Value]:
        """`given` and all values of `region` that depend on them."""
        found = set(given)
        self._region(region, found)
        return found

    def results(self, function: Function, params: Mask) -> Mask:
        """Which results of a function are batched, if these of its parameters are."""
        key = function, params
        if key not in self._results:
            found = self.of(function.body, [v for v, p in zip(function.body.params, params) if p])
            self._results[key] = tuple([r in found for r in function.body.results])
        return self._results[key]

    def _region(self, region: Region, found: set[Value]) -> None:
        for op in region.ops:
            self._op(op, found)

    def _op(self, op: Op, found: set[Value]) -> None:
        match op.kind:
            case While():
                self._loop(op, found)
            case If() | Case():
                for region in op.regions:
                    self._region(region, found)
                    found.update(r for r, v in zip(op.results, region.results) if v in found)
                if op.operands[0] in found:
                    found.update(op.results)
            case Call(rule=VjpRule()):
                if any(v in found for v in op.operands):
                    found.update(op.results)
            case Call(function):
                flags = self.results(function, tuple([v in found for v in op.operands]))
                found.update(r for r, flag in zip(op.results, flags) if flag)
            case _:
                inner = [v for region in op.regions for o in region.walk() for v in o.operands]
                if any(v in found for v in (*op.operands, *inner)):
                    found.update(op.results)

    def _loop(self, op: Op, found: set[Value]) -> None:
        condition, body = op.regions
        carried = [v in found for v in op.operands]
        while True:
            for region in (condition, body):
                found.update(p for p, c in zip(region.params, carried) if c)
                self._region(region, found)
            if condition.results[0] in found:
                after = [True] * len(carried)
            else:
                after = [c or v in found for c, v in zip(carried, body.results)]
            if after == carried:
                break
            carried = after
        found.update(r for r, c in zip(op.results, carried) if c)
