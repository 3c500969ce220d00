"""Resolve `MatchVarying`: sums over the axes over which a cotangent varies and the value that it is of does not.

In: a function as inferred or differentiated, and over which axes its parameters vary. Out: the function with collectives
in place of `MatchVarying`, callees once for each way in which their parameters vary. It runs before all passes that put one
value in place of another: equal values may vary over different axes, and the sums depend on which is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..analysis.varying import ALIKE, Key, VaryingAxes, Ways
from ..hlo.ir import Function, Op
from ..hlo.rewrite import Rewriter
from ..hlo.walk import kinds
from ..ops import Add, AllReduce, Call, Case, If, MatchVarying, Vary, While
from ..ops.collectives.base import Varying
from ..ops.foreign.named_axes import NamedAxes, NamedAxis


def resolve_varying(
    function: Function, params: Sequence[Varying], axes: NamedAxes
) -> tuple[Function, list[Varying]]:
    """The function without `MatchVarying`, and over which axes its results vary. `Divergent` as the analysis raises it."""
    analysis = VaryingAxes()
    results = analysis.results(function, params)
    if MatchVarying not in kinds(function):
        return function, results
    return _Resolver(analysis, axes).specialised((function, tuple(params), ALIKE)), results


class _Resolver(Rewriter):
    """Copies functions, each for the ways in which its parameters vary."""

    def __init__(self, analysis: VaryingAxes, axes: NamedAxes) -> None:
        super().__init__()
        self._analysis = analysis
        self._axes = axes
        self._found: Ways = {}
        self._ways = ALIKE
        self._made: dict[Key, Function] = {}

    def specialised(self, key: Key) -> Function:
        """The function of the key, resolved."""
        made = self._made.get(key)
        if made is None:
            outer = self._found, self._ways
            self._found, self._ways = self._analysis.of(*key), key[2]
            made = self._made[key] = self.rewritten(key[0])
            self._found, self._ways = outer
        return made

    def op(self, op: Op) -> None:
        match op.kind:
            case MatchVarying():
                self._match(op)
            case If() | Case():
                self._structured(op, self._found[op.operands[0]])
            case While():
                self._structured(op, self._found[op.regions[0].results[0]])
            case Call(function):
                params = tuple([self._found[v] for v in op.operands])
                kind = replace(op.kind, function=self.specialised((function, params, self._ways)))
                self.define(op, self.append(op, kind, self.new_all(op.operands)))
            case _:
                self.copy(op)

    def _structured(self, op: Op, decides: Varying) -> None:
        """A branch or a loop, in which participants go the ways that a value decides."""
        outer, self._ways = self._ways, self._ways | decides
        self.copy(op)
        self._ways = outer

    def _match(self, op: Op) -> None:
        (result,), (operand, _) = op.results, op.operands
        found, wanted = self._found[operand], self._found[result]
        made = self.new(operand)
        if found - wanted:
            made = self.b.op(AllReduce(Add(), self._named(found - wanted), checked=True), made)
        if wanted - found:
            made = self.b.op(Vary(self._named(wanted - found)), made)
        self.values[result] = made

    def _named(self, names: Varying) -> tuple[NamedAxis, ...]:
        return tuple([axis for axis in self._axes.axes if axis.name in names])
