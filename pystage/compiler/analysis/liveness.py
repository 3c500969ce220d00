"""Liveness: the operations and values that the results of a program need. `simplify` asks before it rewrites.

In: a function and its callees. Out: which functions have a single call site, which values are copies of another
(`Aliases`: what a loop carries unchanged, what both arms of a branch pass through), and which operations and values are
live: needed for a result or an effect (`Liveness`). Everything is linear in the size of the program.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..hlo.ir import Function, Op, Region, Value
from ..hlo.walk import callees, structured
from ..ops import Call, Case, If, While

_BRANCHES = (If, Case)


class CallGraph:
    """The call graph of a program, and the parents of its regions and operations."""

    def __init__(self, entry: Function) -> None:
        self.entry = entry
        self.functions = [entry]
        """`entry` and all that it calls, callers first."""
        self.parent: dict[Region, Op | Function] = {}
        """By region, the operation or the function that holds it."""
        self.region_of: dict[Op, Region] = {}
        """By operation, the region that holds it."""
        self.sites: dict[Function, list[Op]] = {entry: []}
        """By function, the calls of it."""
        self.opaque: set[Function] = {entry}
        """Functions whose parameters and results all stay: what is not called by a `Call`, or has a rule."""
        self.impure: list[Op] = []
        self.structured: set[Op] = set()
        """The operations that hold regions or functions: what all others need are their operands."""
        self.structure: dict[Region, list[Op]] = {}
        """The same, by the region in which they stand."""
        for function in self.functions:  # which grows
            self.parent[function.body] = function
            self._region(function.body)
        self.inlined = {
            f for f, sites in self.sites.items() if len(sites) == 1 and f not in self.opaque and not f.fence
        }

    def _region(self, region: Region) -> None:
        self.impure += [op for op in region.ops if not op.kind.pure]
        self.region_of.update(dict.fromkeys(region.ops, region))
        structure = self.structure[region] = structured(region.ops)
        self.structured.update(structure)
        for op in structure:
            found = callees(op)
            for callee in found:
                if callee not in self.sites:
                    self.sites[callee] = []
                    self.functions.append(callee)
            if isinstance(op.kind, Call):
                self.sites[op.kind.function].append(op)
            if not isinstance(op.kind, Call) or op.kind.rule is not None:
                self.opaque.update(found)
            for inner in op.regions:
                self.parent[inner] = op
                self._region(inner)


class Aliases:
    """Values that are certainly another value, which is visible wherever they are once calls are inlined."""

    def __init__(self, calls: CallGraph) -> None:
        self._of: dict[Value, Value] = {}
        # Callees first, as what they pass through may make a loop of the caller carry a value unchanged.
        for function in reversed(calls.functions):
            self._region(function.body, calls)
        self.of = {name: self(name) for name in self._of}
        """By name, the value that it is; that has no other name."""

    def __call__(self, value: Value) -> Value:
        """The value that `value` is another name of; itself if there is none."""
        found = self._of.get(value)
        while found is not None:
            value, found = found, self._of.get(found)
        return value

    def _region(self, region: Region, calls: CallGraph) -> None:
        for op in calls.structure[region]:
            for inner in op.regions:
                self._region(inner, calls)
            if isinstance(op.kind, While):
                self._loop(op)
            elif isinstance(op.kind, _BRANCHES):
                self._branch(op)
            elif isinstance(op.kind, Call) and op.kind.function in calls.inlined:
                self._call(op, op.kind.function)

    def _loop(self, op: Op) -> None:
        condition, body = op.regions
        for i, result in enumerate(body.results):
            if self(result) is body.params[i]:
                for name in (condition.params[i], body.params[i], op.results[i]):
                    self._of[name] = op.operands[i]

    def _branch(self, op: Op) -> None:
        for i, result in enumerate(op.results):
            given = {self(region.results[i]) for region in op.regions}
            # One value in all arms can only come from outside of them.
            if len(given) == 1 and len(op.regions) > 1:
                self._of[result] = given.pop()

    def _call(self, op: Op, function: Function) -> None:
        for param, operand in zip(function.body.params, op.operands, strict=True):
            self._of[param] = operand
        for result, value in zip(op.results, function.body.results, strict=True):
            self._of[result] = value


class Liveness:
    """The operations and values that the program needs for `results`; `ops` and `values` hold them."""

    def __init__(self, calls: CallGraph, aliases: Aliases, results: Iterable[Value]) -> None:
        self.ops: set[Op] = set()
        self.values: set[Value] = set()
        self._calls = calls
        self._aliases = aliases
        self._work: list[Value] = []
        self._mark_all(results)
        for function in calls.opaque - {calls.entry}:
            self._mark_all(function.body.results)
            self._mark_all(function.body.params)
        for op in calls.impure:
            self._must_run(op)
        while self._work:
            self._needed(self._work.pop())

    def carried(self, op: Op) -> list[int]:
        """Which of the values that a `While` carries are needed."""
        return [i for i, p in enumerate(op.regions[1].params) if p in self.values]

    def _mark(self, value: Value) -> None:
        self._mark_all((value,))

    def _mark_all(self, values: Iterable[Value]) -> None:
        of, known = self._aliases.of, self.values
        for value in values:
            value = of.get(value, value)
            if value not in known:
                known.add(value)
                self._work.append(value)

    def _must_run(self, op: Op) -> None:
        """Marks an impure operation, and all that must run for it to run."""
        outer: list[Op] = [op]
        while outer:
            op = outer.pop()
            if op in self.ops:
                continue
            self._op(op)
            holder = self._calls.parent[self._calls.region_of[op]]
            if isinstance(holder, Op):
                outer.append(holder)
            else:
                outer += self._calls.sites[holder]

    def _needed(self, value: Value) -> None:
        owner = value.owner
        if isinstance(owner, Op):
            self._op(owner)
            if owner in self._calls.structured:
                self._result(owner, value.index)
            return
        holder = self._calls.parent[owner]
        if isinstance(holder, Function):
            for site in self._calls.sites[holder]:
                if site in self.ops:
                    self._mark(site.operands[value.index])
        elif isinstance(holder.kind, While):
            self._op(holder)
            self._carried(holder, value.index)

    def _op(self, op: Op) -> None:
        """Marks what `op` needs whichever of its results is used."""
        if op in self.ops:
            return
        self.ops.add(op)
        kind = op.kind
        if op not in self._calls.structured:
            self._mark_all(op.operands)
        elif isinstance(kind, While):
            self._mark_all(op.regions[0].results)
        elif isinstance(kind, _BRANCHES):
            self._mark_all(op.operands)
        elif isinstance(kind, Call):
            for param, operand in zip(kind.function.body.params, op.operands, strict=True):
                if param in self.values:
                    self._mark(operand)
        else:
            self._mark_all(op.operands)
            for region in op.regions:
                self._mark_all(region.results)
                self._mark_all(region.params)

    def _result(self, op: Op, index: int) -> None:
        kind = op.kind
        if isinstance(kind, While):
            self._carried(op, index)
        elif isinstance(kind, _BRANCHES):
            for region in op.regions:
                self._mark(region.results[index])
        elif isinstance(kind, Call):
            self._mark(kind.function.body.results[index])

    def _carried(self, op: Op, index: int) -> None:
        condition, body = op.regions
        self._mark(op.operands[index])
        self._mark(body.results[index])
        self._mark(body.params[index])
        self._mark(condition.params[index])
        self._mark(op.results[index])
