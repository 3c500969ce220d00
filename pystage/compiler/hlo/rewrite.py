"""`Rewriter`, the base of passes: copies a function and replaces single operations.

In: a function of HLO IR. Out: a new one; the input is left as it is. A pass overrides `op` for the operations that it
rewrites and lets `copy` take the others. Operations are visited in order, inner regions when the operation that holds
them is copied.
"""

from __future__ import annotations

from collections.abc import Sequence

from .builder import Builder
from .ir import Function, Op, Region, Value
from .op import HloOp
from .types import ArrayType
from .walk import with_functions


class Rewriter:
    """Copies functions, each once; `values` gives the copy of every value met so far."""

    def __init__(self) -> None:
        self.values: dict[Value, Value] = {}
        self.b = Builder(Region())
        self._functions: dict[Function, Function] = {}

    def function(self, old: Function) -> Function:
        """The rewritten `old`."""
        found = self._functions.get(old)
        if found is None:
            found = self._functions[old] = self.rewritten(old)
        return found

    def rewritten(self, old: Function) -> Function:
        """A new rewritten form of `old`."""
        made = Region(tuple([p.type for p in old.body.params]))
        with self.b.isolated(made):
            self.fill(old.body, made)
        return old.rewritten(made)

    def region(self, old: Region) -> Region:
        """The rewritten form of a region, with the results in the same order."""
        made = Region(tuple([p.type for p in old.params]))
        with self.b.region(made):
            self.fill(old, made)
        return made

    def fill(self, old: Region, made: Region) -> None:
        """Copies the operations of `old` into the open region `made`, and gives it the results of `old`."""
        for param, copy in zip(old.params, made.params, strict=True):
            self.values[param] = copy
        self.ops(old)
        made.results = self.new_all(old.results)

    def ops(self, old: Region) -> None:
        """Copies the operations of `old` to the builder's insertion point."""
        for op in old.ops:
            self.b.span = op.span
            self.op(op)

    def op(self, op: Op) -> None:
        """Rewrites one operation; it must map each of its results to a value of the copy."""
        self.copy(op)

    def new(self, old: Value) -> Value:
        """The copy of a value."""
        return self.values[old]

    def new_all(self, old: Sequence[Value]) -> tuple[Value, ...]:
        """The copies of values."""
        return tuple([self.new(v) for v in old])

    def copy(self, op: Op) -> None:
        """The same operation on the copies of its operands, with rewritten regions and callees."""
        operands = self.new_all(op.operands)
        regions = tuple([self.region(r) for r in op.regions])
        self.define(op, self.append(op, self.with_functions(op.kind), operands, regions))

    def append(
        self, like: Op, kind: HloOp, operands: tuple[Value, ...], regions: tuple[Region, ...] = ()
    ) -> Op:
        """Adds an operation that has the result types of `like`; they are not inferred again."""
        made = Op(kind, operands, tuple([r.type for r in like.results]), regions, like.span)
        self.b.current.ops.append(made)
        return made

    def define(self, op: Op, made: Op) -> None:
        """The results of `made` are the copies of those of `op`."""
        self.values.update(zip(op.results, made.results, strict=True))

    def with_functions(self, kind: HloOp) -> HloOp:
        """The same operation, with the rewritten forms of the functions among its static operands."""
        return with_functions(kind, self.function)


class Copier(Rewriter):
    """Copies of regions, whose callees stay as they are."""

    def with_functions(self, kind: HloOp) -> HloOp:
        return kind


def with_params(function: Function, types: Sequence[ArrayType]) -> Function:
    """A function that takes further parameters, which it does not read."""
    old, made = function.body, Region((*function.param_types, *types))
    copier = Copier()
    copier.values.update(zip(old.params, made.params, strict=False))
    with copier.b.isolated(made):
        copier.ops(old)
    made.results = copier.new_all(old.results)
    return function.rewritten(made)
