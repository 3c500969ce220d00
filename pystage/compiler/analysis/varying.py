"""Over which named axes the values of a program vary from participant to participant.

In: a function, over which axes its parameters vary, and over which axes participants go different ways around it. Out: of
every value the axes over which it varies. What is computed where participants go different ways counts as varying
over the axes that decide so. A collective there would wait for participants that never come: `Divergent`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics.codes_calls import NotServed
from ..diagnostics.span import Span
from ..hlo.ir import Function, Op, Region, Value
from ..ops import AxisIndex, Call, Case, If, MatchVarying, OptimizationBarrier, Vary, While
from ..ops.collectives.base import Collective, Varying

ALIKE: Varying = frozenset()
"""Of a value that is the same for all participants."""
Ways = dict[Value, Varying]
"""By value, the axes over which it varies."""
Key = tuple[Function, tuple[Varying, ...], Varying]


class Divergent(Exception):
    """Raised for a collective where its participants may go different ways; says which, and where."""

    def __init__(self, name: str, axes: Varying, span: Span | None) -> None:
        super().__init__(name)
        self.name = name
        self.axes = axes
        self.span = span

    def diagnostic(self, span: Span | None) -> NotServed:
        """PS606, at the collective, or at `span`."""
        why = f"not all participants of {', '.join(sorted(map(repr, self.axes)))} may come to it"
        instead = "call it on all paths, or let a value decide that is the same for all, as the result of jax.lax.psum"
        return NotServed(span=self.span or span, name=self.name, why=why, instead=instead)


class VaryingAxes:
    """The varying axes of the values of functions, memoised by those of their parameters."""

    def __init__(self) -> None:
        self._known: dict[Key, Ways] = {}

    def of(self, function: Function, params: Sequence[Varying], ways: Varying = ALIKE) -> Ways:
        """By value of a function, the axes over which it varies; `ways`: those over which not all run it."""
        key = function, tuple(params), ways
        if key not in self._known:
            found: Ways = {p: v | ways for p, v in zip(function.body.params, params, strict=True)}
            self._region(function.body, found, ways)
            self._known[key] = found
        return self._known[key]

    def results(self, function: Function, params: Sequence[Varying], ways: Varying = ALIKE) -> list[Varying]:
        """The axes over which the results of a function vary."""
        found = self.of(function, params, ways)
        return [found[r] for r in function.body.results]

    def _region(self, region: Region, found: Ways, ways: Varying) -> None:
        for op in region.ops:
            self._op(op, found, ways)

    def _op(self, op: Op, found: Ways, ways: Varying) -> None:
        kind = op.kind
        given = [found[v] for v in op.operands]
        if isinstance(kind, If | Case):
            self._branch(op, found, ways)
        elif isinstance(kind, While):
            self._loop(op, found, ways)
        elif isinstance(kind, Call):
            found.update(zip(op.results, self.results(kind.function, given, ways), strict=True))
        elif isinstance(kind, Collective):
            if not (isinstance(kind, Vary | AxisIndex) or ways.isdisjoint(kind.names)):
                raise Divergent(kind.opcode, ways.intersection(kind.names), op.span)
            found[op.results[0]] = kind.varying(ALIKE.union(*given)) | ways
        elif isinstance(kind, MatchVarying):
            found[op.results[0]] = given[1] | ways
        elif isinstance(kind, OptimizationBarrier):
            found.update(zip(op.results, [each | ways for each in given], strict=True))
        else:
            outer = [found[v] for r in op.regions for o in r.walk() for v in o.operands if v in found]
            found.update(dict.fromkeys(op.results, ways.union(*given, *outer)))

    def _branch(self, op: Op, found: Ways, ways: Varying) -> None:
        decides = found[op.operands[0]] | ways
        for region in op.regions:
            self._region(region, found, decides)
        for i, result in enumerate(op.results):
            found[result] = decides.union(*[found[region.results[i]] for region in op.regions])

    def _loop(self, op: Op, found: Ways, ways: Varying) -> None:
        condition, body = op.regions
        carried = [found[v] | ways for v in op.operands]
        while True:
            for region in op.regions:
                found.update(zip(region.params, carried, strict=True))
            self._region(condition, found, ways)
            decides = found[condition.results[0]] | ways
            self._region(body, found, decides)
            after = [v | found[r] | decides for v, r in zip(carried, body.results, strict=True)]
            if after == carried:
                break
            carried = after
        if decides != ways:
            self._region(condition, found, decides)
        found.update(zip(op.results, carried, strict=True))
