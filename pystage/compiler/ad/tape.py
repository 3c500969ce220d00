"""The way forward: a function copied, with a tape of what matters on the way back.

In: a function, and which of its parameters vary. Out: the body of a copy, which gets further results and carried values
for what the pullback uses of it before it becomes a function, and for each of its regions the operations that vary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

    `inner` are the tapes of its regions. `quiet`: it has run before.
    """

    op: Op
    old: Op
    source: Linear
    holder: Region
    inner: list[Tape] = field(default_factory=list)
    quiet: bool = False


class Linear:
    """One function copied with its tape; `body` is the copy, which is still to be made a function.

    `values` gives the latest copy of every value, and `varied` holds the copies that vary.
    """

    def __init__(
        self,
        activity: Activity,
        silencing: Silencing,
        old: Function,
        params: Mask,
    ) -> None:
        self._silencing = silencing
        self._quiet = False
        self._old_varied = activity.of(old.body, [v for v, p in zip(old.body.params, params) if p])
        self.old = old
        self.varied: set[Value] = set()
        self.values: dict[Value, Value] = {}
        self.body = Region(old.param_types)
        self.b = Builder(self.body)
        self.define(old.body.params, self.body.params)
        self.tape = self.copy_ops(self.b, old.body, self.body)
        self.body.results = self.new(old.body.results)

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
        kind = op.kind
        if self._quiet and isinstance(kind, Call):
            kind = self._silencing.with_functions(kind)
        if isinstance(kind, Call) and not kind.recompute:
            ways = None if kind.rule is None else kind.rule.ways
            if isinstance(ways, Ways) and not self._old_varied.isdisjoint(op.operands):
                kind = Call(ways.forward)
        inner = [self.copy_region(b, r) for r in op.regions]
        types = [r.type for r in op.results] if not isinstance(kind, Call) else kind.function.result_types
        # Not by the builder, which would share what stands outside: the tape is of this region alone.
        made = Op(kind, self.new(op.operands), tuple(types), tuple([tape.region for tape in inner]), op.span)
        b.current.ops.append(made)
        self.define(op.results, made.results[: len(op.results)])
        return Step(made, op, self, b.current, inner, self._quiet)
