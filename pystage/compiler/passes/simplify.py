"""Dead-code elimination, CSE and inlining.

In: a function of HLO IR. Out: a new function, and which parameters it still takes. It removes operations without uses or
effects, carried values that are invariant or unused, unused results of branches, operations that a visible one already
computes, calls of functions with a single call site (inlined), and unused parameters. The input program is left as it is.
Everything is linear in the size of the program.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import dataclass
from ..analysis.liveness import Aliases, CallGraph, Liveness
from ..hlo.ir import Function, Op, Region, Value, type_of
from ..hlo.op import HloOp
from ..hlo.walk import is_pure, with_functions
from ..ops import Call, Case, If, While

_Key = tuple[HloOp, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Simplified:
    """The rewritten function; `kept` are the indices of the parameters that it still has."""

    function: Function
    kept: tuple[int, ...]


def simplify(function: Function, wanted: slice = slice(None)) -> Simplified:
    """Rewrites `function` and all that it calls; the result has those of its results that are `wanted`."""
    calls = CallGraph(function)
    aliases = Aliases(calls)
    live = Liveness(calls, aliases, function.body.results[wanted])
    kept = tuple([i for i, p in enumerate(function.body.params) if p in live.values])
    return Simplified(_Rewriter(calls, aliases, live).entry(wanted), kept)


def simplify_again(before: Simplified, function: Function, wanted: slice = slice(None)) -> Simplified:
    """A rewritten function simplified, with the parameters that it still has of the first one."""
    if function is before.function and wanted == slice(None):
        return before
    after = simplify(function, wanted)
    return Simplified(after.function, tuple([before.kept[i] for i in after.kept]))


class _Rewriter:
    """Copies the live operations, and shares equal ones where they are visible."""

    def __init__(self, calls: CallGraph, aliases: Aliases, live: Liveness) -> None:
        self._calls = calls
        self._aliases = aliases
        self._live = live
        self._functions: dict[Function, Function] = {}
        self._values: dict[Value, Value] = {}
        self._known: dict[_Key, list[Op]] = {}
        self._journal: list[list[Op]] = []
        """The keys of `_known` in order of entry: leaving a region removes those of its operations."""
        self._pure: dict[Function, bool] = {}
        self._opaque = calls.opaque - {calls.entry}

    def entry(self, wanted: slice) -> Function:
        """The rewritten program, with these of its results."""
        entry = self._calls.entry
        params = [p for p in entry.body.params if p in self._live.values]
        return entry.rewritten(self._region(entry.body, params, entry.body.results[wanted]))

    def function(self, old: Function) -> Function:
        """The rewritten form of a callee, memoised."""
        found = self._functions.get(old)
        if found is not None:
            return found
        known, journal, self._known, self._journal = self._known, self._journal, {}, []
        opaque = old in self._opaque
        params = [p for p in old.body.params if opaque or p in self._live.values]
        results = [r for r in old.body.results if self._used(r)]
        made = old.rewritten(self._region(old.body, params, results))
        self._known, self._journal = known, journal
        self._functions[old] = made
        return made

    def _used(self, value: Value) -> bool:
        return self._aliases.of.get(value, value) in self._live.values

    def _new(self, old: Sequence[Value]) -> tuple[Value, ...]:
        of, values = self._aliases.of, self._values
        return tuple(map(values.__getitem__, map(of.get, old, old)))

    def _region(self, old: Region, params: Sequence[Value], results: Sequence[Value]) -> Region:
        """A copy of `old` with only these of its parameters and results."""
        made = Region(tuple(map(type_of, params)))
        for param, copy in zip(params, made.params, strict=True):
            self._values[param] = copy
        mark = len(self._journal)
        self._ops(old, made)
        made.results = self._new(results)
        for place in self._journal[mark:]:
            place.clear()
        del self._journal[mark:]
        return made

    def _ops(self, old: Region, into: Region) -> None:
        live, structured = self._live.ops, self._calls.structured
        for op in old.ops:
            if op not in structured:
                if op in live:
                    self._add(op, op.kind, op.operands, op.results, (), into)
            elif isinstance(op.kind, Call) and op.kind.function in self._calls.inlined:
                self._ops(op.kind.function.body, into)
            elif op in live:
                self._op(op, into)

    def _op(self, op: Op, into: Region) -> None:
        kind = op.kind
        if isinstance(kind, While):
            self._loop(op, into)
        elif isinstance(kind, If | Case):
            kept = [i for i, r in enumerate(op.results) if r in self._live.values]
            regions = [self._region(r, (), [r.results[i] for i in kept]) for r in op.regions]
            self._add(op, kind, op.operands, [op.results[i] for i in kept], regions, into)
        elif isinstance(kind, Call):
            self._call(op, kind, into)
        else:
            regions = [self._region(r, r.params, r.results) for r in op.regions]
            self._add(op, with_functions(kind, self.function), op.operands, op.results, regions, into)

    def _loop(self, op: Op, into: Region) -> None:
        kept = self._live.carried(op)
        condition, body = op.regions
        regions = [
            self._region(condition, [condition.params[i] for i in kept], condition.results),
            self._region(body, [body.params[i] for i in kept], [body.results[i] for i in kept]),
        ]
        operands, results = [op.operands[i] for i in kept], [op.results[i] for i in kept]
        self._add(op, op.kind, operands, results, regions, into)

    def _call(self, op: Op, kind: Call, into: Region) -> None:
        callee = kind.function
        made = self.function(callee)
        whole = callee in self._opaque
        operands = [v for p, v in zip(callee.body.params, op.operands) if whole or p in self._live.values]
        results = [mine for mine, r in zip(op.results, callee.body.results) if self._used(r)]
        self._add(op, Call(made, kind.recompute, kind.rule), operands, results, (), into)

    def _is_shareable(self, op: Op, kind: HloOp) -> bool:
        if not kind.shareable:
            return False
        if not isinstance(kind, Call):
            return True
        found = self._pure.get(kind.function)
        if found is None:
            found = self._pure[kind.function] = is_pure(op)
        return found

    def _add(
        self,
        op: Op,
        kind: HloOp,
        operands: Sequence[Value],
        results: Sequence[Value],
        regions: Sequence[Region],
        into: Region,
    ) -> None:
        """Adds `op` in its new form, of whose results these remain."""
        new = self._new(operands)
        place = (
            self._known.setdefault((kind, new), []) if not regions and self._is_shareable(op, kind) else []
        )
        if not place:
            types = tuple(map(type_of, results))
            place.append(Op(kind, new, types, tuple(regions), op.span))
            into.ops.append(place[0])
            self._journal.append(place)
        self._values.update(zip(results, place[0].results, strict=True))
