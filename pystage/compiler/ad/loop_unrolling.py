"""Unrolling of loops of few trips, before a function is differentiated.

In: a function of HLO IR. Out: the same function, in which a loop that runs a few times, exactly, and whose body is small
and has no effects is that body as often as it runs. The pullback of a loop stacks the residuals of its trips, and a loop
around it copies each stack into one of its own; of the unrolled trips residuals are values like any other.
"""

from __future__ import annotations

from .. import limits
from ..analysis.induction import exact_trips
from ..hlo.ir import Function, Op
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions, is_pure, operation_count
from ..ops import While


def unroll_short_loops(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _Unrolling().function(function)


def _is_short(op: Op) -> bool:
    if not isinstance(op.kind, While):
        return False
    trips = exact_trips(op)
    return (
        trips is not None
        and trips <= limits.DIFFERENTIATED_TRIPS
        and trips * operation_count(op.regions[1].ops) <= limits.DIFFERENTIATED_OPERATIONS
        and is_pure(op)
    )


class _Unrolling(Rewriter):
    def function(self, old: Function) -> Function:
        """A function without such loops stays the same object."""
        if not any(_is_short(op) for each in functions(old) for op in each.body.walk()):
            return old
        return super().function(old)

    def op(self, op: Op) -> None:
        if not _is_short(op):
            self.copy(op)
            return
        body = op.regions[1]
        carried = self.new_all(op.operands)
        for _ in range(exact_trips(op) or 0):
            self.values.update(zip(body.params, carried, strict=True))
            self.ops(body)
            carried = self.new_all(body.results)
        self.values.update(zip(op.results, carried, strict=True))
