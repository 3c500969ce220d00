"""The primal pass of reverse mode: copies a function and records the operations that vary on a tape.

In: a function, and which of its parameters vary. Out: the body of the copy, which gets the residuals of the pullback as
further results and carried values before it becomes a function, and a tape for each of its regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field

from ...records import dataclass
from ..analysis.dependence import Mask
from ..hlo.builder import Builder
from ..hlo.ir import Function, Op, Region, Value
from ..ops import Call, Print, VjpFunctions
from .activity import Activity
from .strip_io import IoStripper


@dataclass(slots=True, eq=False)
class Tape:
    """The copied operations of one region that vary, in order: those that the pullback visits."""

    region: Region
    entries: list[TapeEntry] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class TapeEntry:
    """One copied operation, in the region `holder`; `old` is what it is a copy of, in `source`.

    `inner` are the tapes of its regions. `recomputed`: it runs a second time, without I/O effects.
    """

    op: Op
    old: Op
    source: PrimalPass
    holder: Region
    inner: list[Tape] = field(default_factory=list)
    recomputed: bool = False


class PrimalPass:
    """One function copied with its tape; `body` is the copy, not yet a function.

    `values` gives the latest copy of every value, and `varied` holds the copies that vary.
    """

    def __init__(
        self,
        activity: Activity,
        io_stripper: IoStripper,
        old: Function,
        params: Mask,
    ) -> None:
        self._io_stripper = io_stripper
        self._recomputed = False
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
    def recomputing(self, recomputed: bool = True) -> Iterator[None]:
        """Strips I/O effects from what is copied meanwhile, since it is a recomputation; a no-op if not `recomputed`."""
        outer, self._recomputed = self._recomputed, recomputed or self._recomputed
        try:
            yield
        finally:
            self._recomputed = outer

    def define(self, old: Iterable[Value], made: Iterable[Value]) -> None:
        """Records the copies of values."""
        for value, copy in zip(old, made, strict=True):
            self.values[value] = copy
            if value in self._old_varied:
                self.varied.add(copy)

    def copy_ops(self, b: Builder, old: Region, made: Region) -> Tape:
        """Copies the operations of a region to where `b` stands, which is `made`."""
        tape = Tape(made)
        for op in old.ops:
            b.span = op.span
            if self._recomputed and isinstance(op.kind, Print):
                self.define(op.results, self.new(op.operands[:1]))
                continue
            entry = self._copy_op(b, op)
            if any(r in self.varied for r in entry.op.results):
                tape.entries.append(entry)
        return tape

    def copy_region(self, b: Builder, old: Region) -> Tape:
        """A copy of a region of its own."""
        made = Region(tuple([p.type for p in old.params]))
        self.define(old.params, made.params)
        with b.region(made):
            tape = self.copy_ops(b, old, made)
            made.results = self.new(old.results)
        return tape

    def _copy_op(self, b: Builder, op: Op) -> TapeEntry:
        kind = op.kind
        if self._recomputed and isinstance(kind, Call):
            kind = self._io_stripper.with_functions(kind)
        if isinstance(kind, Call) and not kind.recompute:
            vjp = None if kind.rule is None else kind.rule.vjp
            if isinstance(vjp, VjpFunctions) and not self._old_varied.isdisjoint(op.operands):
                kind = Call(vjp.forward)
        inner = [self.copy_region(b, r) for r in op.regions]
        types = [r.type for r in op.results] if not isinstance(kind, Call) else kind.function.result_types
        # Not by the builder, which would share what stands outside: the tape is of this region alone.
        made = Op(kind, self.new(op.operands), tuple(types), tuple([tape.region for tape in inner]), op.span)
        b.current.ops.append(made)
        self.define(op.results, made.results[: len(op.results)])
        return TapeEntry(made, op, self, b.current, inner, self._recomputed)
