"""Activity analysis: which values of a program vary with some of its inputs, and so have tangents.

A value varies if it is a number with derivatives and anything that it is computed from varies. Control flow decides
which computation a value comes from, never how it varies.
"""

from __future__ import annotations

from ..analysis.dependence import Dependence
from ..hlo.ir import Op, Value
from ..hlo.types import ArrayType
from ..ops import StopGradient
from .calculus import differentiable


class Activity(Dependence):
    """The values that vary in one function, and in the functions that it calls."""

    through_conditions = False

    def concerns(self, type: ArrayType) -> bool:
        """True for numbers with derivatives."""
        return differentiable(type)

    def _op(self, op: Op, found: set[Value]) -> None:
        if not isinstance(op.kind, StopGradient):
            super()._op(op, found)
