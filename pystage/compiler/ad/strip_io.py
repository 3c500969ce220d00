"""Strips I/O effects: a function that a derivative recomputes must not print again.

In: a function of HLO IR. Out: the same function without its `Print`s.
"""

from __future__ import annotations

from dataclasses import replace

from ..hlo.ir import Function, Op
from ..hlo.op import HloOp
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions
from ..ops import Call, Print, VjpFunctions, VjpRule


def strip_io(function: Function) -> Function:
    """`function` without I/O effects, its callees included."""
    return IoStripper().function(function)


class IoStripper(Rewriter):
    """Strips functions of I/O effects, each once; functions without any are kept."""

    def __init__(self) -> None:
        super().__init__()
        self._rules: dict[VjpRule, VjpRule] = {}
        self._has: dict[Function, bool] = {}

    def function(self, old: Function) -> Function:
        prints = self._has.get(old)
        if prints is None:
            found = (op.kind for f in functions(old) for op in f.body.walk())
            prints = self._has[old] = any(isinstance(kind, Print) for kind in found)
        return super().function(old) if prints else old

    def op(self, op: Op) -> None:
        if isinstance(op.kind, Print):
            self.values[op.results[0]] = self.new(op.operands[0])
        else:
            self.copy(op)

    def with_functions(self, kind: HloOp) -> HloOp:
        if isinstance(kind, Call) and kind.rule is not None:
            kind = replace(kind, rule=self._rule(kind.rule))
        return super().with_functions(kind)

    def _rule(self, old: VjpRule) -> VjpRule:
        found = self._rules.get(old)
        if found is None:
            found, vjp = VjpRule(old.name), old.vjp
            self._rules[old] = found
            found.vjp = (
                replace(vjp, forward=self.function(vjp.forward)) if isinstance(vjp, VjpFunctions) else vjp
            )
        return found
