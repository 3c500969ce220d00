"""Which values of a program vary with some of its inputs: those have tangents.

In: a function and which of its parameters vary. Out: the values that do, those inside regions included. A value
varies if it is a number with derivatives and anything that it is computed from varies. Control flow decides
which computation a value comes from, never how it varies.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..hlo.ir import Function, Op, Region, Value
from ..ops import Call, Case, If, StopGradient, VjpRule, While
from .calculus import differentiable

Mask = tuple[bool, ...]
"""One flag for each parameter, operand or result."""


class Activity:
    """The values that vary in one function, and in the functions that it calls, by what varies of their parameters."""

    def __init__(self) -> None:
        self._results: dict[tuple[Function, Mask], Mask] = {}

    def of(self, region: Region, varied: Iterable[Value]) -> set[Value]:
        """`varied` and all values of `region` that vary with them."""
        found = set(varied)
        self.extend(region, found)
        return found

    def results(self, function: Function, params: Mask) -> Mask:
        """Which results of a function vary, if these of its parameters do."""
        params = tuple([p and differentiable(t) for p, t in zip(params, function.param_types, strict=True)])
        key = function, params
        if key not in self._results:
            varied = self.of(function.body, [v for v, p in zip(function.body.params, params) if p])
            self._results[key] = tuple([r in varied for r in function.body.results])
        return self._results[key]

    def extend(self, region: Region, varied: set[Value]) -> None:
        """Adds the values of `region` that vary with what does."""
        for op in region.ops:
            self._op(op, varied)

    def _op(self, op: Op, varied: set[Value]) -> None:
        match op.kind:
            case While():
                self._loop(op, varied)
            case If() | Case():
                for region in op.regions:
                    self.extend(region, varied)
                    varied.update(r for r, v in zip(op.results, region.results) if v in varied)
            case Call(rule=VjpRule()):
                if any(v in varied and differentiable(v.type) for v in op.operands):
                    varied.update(r for r in op.results if differentiable(r.type))
            case Call(function):
                flags = self.results(function, tuple([v in varied for v in op.operands]))
                varied.update(r for r, flag in zip(op.results, flags) if flag)
            case StopGradient():
                return
            case _:
                inner = [v for region in op.regions for o in region.walk() for v in o.operands]
                if any(v in varied for v in (*op.operands, *inner)):
                    varied.update(r for r in op.results if differentiable(r.type))

    def _loop(self, op: Op, varied: set[Value]) -> None:
        body = op.regions[1]
        carried = [v in varied for v in op.operands]
        while True:
            varied.update(p for p, c in zip(body.params, carried) if c)
            self.extend(body, varied)
            after = [c or v in varied for c, v in zip(carried, body.results)]
            if after == carried:
                break
            carried = after
        varied.update(r for r, c in zip(op.results, carried) if c)
