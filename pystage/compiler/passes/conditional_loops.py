"""Loops whose results a branch takes or leaves, as loops that make no trip where it leaves them.

In: a function of HLO IR. Out: the same function, in which no arm of an `If` gives what a loop before it has made of a value
where the other arm gives that value itself, as after a conditional raise the list without an element and the list before
`l.pop(i)`. The value would be needed after the loop, so XLA would copy it, in each trip of a loop around.
"""

from __future__ import annotations

from ..analysis.def_use import DefUse
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.walk import is_pure
from ..ops import And, If, Not, While


def conditional_loops(function: Function) -> Function:
    """Rewrites `function` and all that it calls; the loops as they were stay, without users."""
    return _Conditional().function(function)


class _Conditional(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._uses = DefUse()
        self._current = Region()
        """The region whose operations are visited."""

    def rewritten(self, old: Function) -> Function:
        outer, self._uses = self._uses, DefUse(old.body)
        made = super().rewritten(old)
        self._uses = outer
        return made

    def ops(self, old: Region) -> None:
        outer, self._current = self._current, old
        super().ops(old)
        self._current = outer

    def op(self, op: Op) -> None:
        found = self._loops(op) if isinstance(op.kind, If) else {}
        for loop, side in found.items():
            self._run_where(loop, self.new(op.operands[0]), side == 0)
        self.copy(op)
        for result, first, second in zip(op.results, *[arm.results for arm in op.regions]) if found else ():
            if first.owner in found and _is_entry(first, second):
                self.values[result] = self.new(first)
            elif second.owner in found and _is_entry(second, first):
                self.values[result] = self.new(second)

    def _loops(self, op: Op) -> dict[Op | Region, int]:
        """The loops before a branch that serve one arm alone, and which."""
        found: dict[Op | Region, int] = {}
        for side, arm in enumerate(op.regions):
            for value, other in zip(arm.results, op.regions[1 - side].results, strict=True):
                if _is_entry(value, other) and self._serves(value.owner, arm):
                    found[value.owner] = side
        return found

    def _serves(self, loop: Op | Region, arm: Region) -> bool:
        """True if nothing but an arm uses the results of a loop, and no other loop goes round between it and the branch."""
        assert isinstance(loop, Op)
        users = [user for value in loop.results for user in self._uses.users(value)]
        return all(user is arm for user in users) and loop in self._current.ops and is_pure(loop)

    def _run_where(self, loop: Op | Region, predicate: Value, holds: bool) -> None:
        """The loop, which goes round only where the predicate holds, or where it does not."""
        assert isinstance(loop, Op)
        runs = predicate if holds else self.b.op(Not(), predicate)
        operands, (test, body) = self.new_all(loop.operands), [self.region(region) for region in loop.regions]
        with self.b.region(test):
            test.results = (self.b.op(And(), runs, test.results[0]),)
        self.define(loop, self.append(loop, loop.kind, operands, (test, body)))


def _is_entry(value: Value, other: Value) -> bool:
    """True if a loop has made `value` of `other`."""
    loop = value.owner
    return isinstance(loop, Op) and isinstance(loop.kind, While) and loop.operands[value.index] is other
