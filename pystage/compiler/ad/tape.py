"""The way forward: a function copied, with a tape of what matters on the way back.

In: a function, and which of its parameters vary. Out: a copy (`Linear.made`) whose values the way back may use, and
for each of its regions the operations that vary, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..hlo.builder import Builder
from ..hlo.ir import Function, Op, Region, Value
from ..ops import Call, Print, Ways
from .activity import Activity, Mask
from .silent import Silencing


@dataclass(slots=True, eq=False)
class Tape:
    """What was copied into one region, and matters on the way back."""

    region: Region
    steps: list[Step] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Step:
    """One copied operation, in the region `holder`; `old` is what it is a copy of, in `source`.

    `inner` are the tapes of its regions, `callee` the function that it calls. `quiet`: it has run before.
    """

    op: Op
    old: Op
    source: Linear
    holder: Region
    inner: list[Tape] = field(default_factory=list)
    callee: Linear | None = None
    quiet: bool = False


class Linear:
    """One function copied with its tape; `made` is the copy, and `calls` are the calls of it.

    `values` gives the latest copy of every value, and `varied` holds the copies that vary.
    """

    def __init__(
        self,
        callee: Callable[[Function, Mask], Linear],
        activity: Activity,
        silencing: Silencing,
        old: Function,
        params: Mask,
    ) -> None:
        self._callee = callee
        self._silencing = silencing
        self._quiet = False
        self._old_varied = activity.of(old.body, [v for v, p in zip(old.body.params, params) if p])
        self.old = old
        self.varied: set[Value] = set()
        self.values: dict[Value, Value] = {}
        self.calls: list[Op] = []
        self.body = Region(old.param_types)
        self.b = Builder(self.body)
        self.define(old.body.params, self.body.params)
        self.tape = self.copy_ops(self.b, old.body, self.body)
        self.body.results = self.new(old.body.results)
        self.made = old.rewritten(self.body, "_forward")

    def new(self, values: Iterable[Value]) -> tuple[Value, ...]:
        """The copies of values."""
        return tuple([self.values[v] for v in values])

    @contextmanager
    def quietly(self, quiet: bool = True) -> Iterator[None]:
        """What is copied meanwhile has run before, and prints nothing; `quiet`: False if that is not so."""
        outer, self._quiet = self._quiet, quiet or self._quiet
        try:
            yield
        finally:
            self._quiet = outer

    def define(self, old: Iterable[Value], made: Iterable[Value]) -> None:
        """Says what the copies of values are."""
        for value, copy in zip(old, made, strict=True):
            self.values[value] = copy
            if value in self._old_varied:
                self.varied.add(copy)

    def copy_ops(self, b: Builder, old: Region, made: Region) -> Tape:
        """Copies the operations of a region to where `b` stands, which is `made`."""
        tape = Tape(made)
        for op in old.ops:
            b.span = op.span
            if self._quiet and isinstance(op.kind, Print):
                self.define(op.results, self.new(op.operands[:1]))
                continue
            step = self._copy_op(b, op)
            if any(r in self.varied for r in step.op.results):
                tape.steps.append(step)
        return tape

    def copy_region(self, b: Builder, old: Region) -> Tape:
        """A copy of a region of its own."""
        made = Region(tuple([p.type for p in old.params]))
        self.define(old.params, made.params)
        with b.region(made):
            tape = self.copy_ops(b, old, made)
            made.results = self.new(old.results)
        return tape

    def _copy_op(self, b: Builder, op: Op) -> Step:
        kind, callee = op.kind, None
        if self._quiet and isinstance(kind, Call):
            kind = self._silencing.with_functions(kind)
        if isinstance(kind, Call) and not kind.recompute:
            params = tuple([v in self._old_varied for v in op.operands])
            if any(params) and kind.rule is not None:
                kind = Call(kind.rule.ways.forward) if isinstance(kind.rule.ways, Ways) else kind
            elif any(params):
                callee = self._callee(kind.function, params)
                kind = Call(callee.made)
        inner = [self.copy_region(b, r) for r in op.regions]
        types = [r.type for r in op.results] if not isinstance(kind, Call) else kind.function.result_types
        # Not by the builder, which would share what stands outside: the tape is of this region alone.
        made = Op(kind, self.new(op.operands), tuple(types), tuple([tape.region for tape in inner]), op.span)
        b.current.ops.append(made)
        if callee is not None:
            callee.calls.append(made)
        self.define(op.results, made.results[: len(op.results)])
        return Step(made, op, self, b.current, inner, callee, self._quiet)
