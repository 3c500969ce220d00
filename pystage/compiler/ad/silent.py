"""A program that prints nothing: what is run once more for a derivative has printed before.

In: a function of HLO IR. Out: the same function without its `Print`s.
"""

from __future__ import annotations

from dataclasses import replace

from ..hlo.ir import Function, Op
from ..hlo.op import HloOp
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions
from ..ops import Call, Print, Rule, Ways


def silent(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return Silencing().function(function)


class Silencing(Rewriter):
    """Silent functions, each made once; those that print nothing are as they are."""

    def __init__(self) -> None:
        super().__init__()
        self._rules: dict[Rule, Rule] = {}
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

    def _rule(self, old: Rule) -> Rule:
        found = self._rules.get(old)
        if found is None:
            found, ways = Rule(old.name), old.ways
            self._rules[old] = found
            found.ways = (
                replace(ways, forward=self.function(ways.forward)) if isinstance(ways, Ways) else ways
            )
        return found
