"""A program that prints nothing: what derivatives are made of, which run what has run before once more.

In: a function of HLO IR. Out: the same function without its `Print`s.
"""

from __future__ import annotations

from dataclasses import replace

from ..hlo.ir import Function, Op
from ..hlo.op import HloOp
from ..hlo.walk import functions
from ..ops import Call, Print, Rule, Ways
from .rewrite import Rewriter


def silent(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    if not any(isinstance(op.kind, Print) for f in functions(function) for op in f.body.walk()):
        return function
    return _Silencing().function(function)


class _Silencing(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._rules: dict[Rule, Rule] = {}

    def op(self, op: Op) -> None:
        if isinstance(op.kind, Print):
            self.values[op.results[0]] = self.new(op.operands[0])
        else:
            self.copy(op)

    def with_functions(self, kind: HloOp) -> HloOp:
        if isinstance(kind, Call) and isinstance(kind.rule, Rule):
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
