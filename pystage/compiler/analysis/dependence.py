"""Which values of a program depend on some of its inputs, through the functions that it calls.

In: a function and the parameters in question. Out: the values computed from them, those inside regions included. A
subclass says of which values it is asked, and whether what decides a branch or a loop counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..hlo.ir import Function, Op, Region, Value
from ..hlo.types import ArrayType
from ..ops import Call, Case, If, ShardMap, VjpRule, While

Mask = tuple[bool, ...]
"""One flag for each parameter, operand or result."""


class Dependence:
    """The dependent values of a function, and the dependent results of its callees by their parameters."""

    through_conditions = True
    """True if all results of a branch or a loop depend on what its condition depends on."""

    def __init__(self) -> None:
        self._results: dict[tuple[Function, Mask], Mask] = {}

    def of(self, region: Region, given: Iterable[Value]) -> set[Value]:
        """`given` and all values of `region` that depend on them."""
        found = set(given)
        self._region(region, found)
        return found

    def results(self, function: Function, params: Mask) -> Mask:
        """Which results of a function depend on these of its parameters."""
        params = tuple([p and self.concerns(t) for p, t in zip(params, function.param_types, strict=True)])
        key = function, params
        if key not in self._results:
            found = self.of(function.body, [v for v, p in zip(function.body.params, params) if p])
            self._results[key] = tuple([r in found for r in function.body.results])
        return self._results[key]

    def concerns(self, type: ArrayType) -> bool:
        """True for types of which values can depend on others in this way."""
        return True

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
                if self.through_conditions and op.operands[0] in found:
                    found.update(op.results)
            case Call(rule=VjpRule()):
                if any(v in found and self.concerns(v.type) for v in op.operands):
                    self._add_results(op, found)
            case Call(function) | ShardMap(function):
                flags = self.results(function, tuple([v in found for v in op.operands]))
                found.update(r for r, flag in zip(op.results, flags) if flag)
            case _:
                inner = [v for region in op.regions for o in region.walk() for v in o.operands]
                if any(v in found for v in (*op.operands, *inner)):
                    self._add_results(op, found)

    def _add_results(self, op: Op, found: set[Value]) -> None:
        found.update(r for r in op.results if self.concerns(r.type))

    def _loop(self, op: Op, found: set[Value]) -> None:
        condition, body = op.regions
        carried = [v in found for v in op.operands]
        while True:
            for region in (condition, body) if self.through_conditions else (body,):
                found.update(p for p, c in zip(region.params, carried) if c)
                self._region(region, found)
            if self.through_conditions and condition.results[0] in found:
                after = [True] * len(carried)
            else:
                after = [c or v in found for c, v in zip(carried, body.results)]
            if after == carried:
                break
            carried = after
        found.update(r for r, c in zip(op.results, carried) if c)
