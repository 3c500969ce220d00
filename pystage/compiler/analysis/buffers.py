"""Must-alias analysis of arrays: which values should share one buffer.

A store defines a new value of the array that it stores into; so do a loop that carries an array and stores into it, and a
call that does. XLA keeps these values in one buffer if no older one is read after a newer one is defined. The passes that
ensure this ask here which values belong together.
"""

from __future__ import annotations

from ..hlo.ir import Op, Region, Value
from ..ops import Call, Case, DynamicUpdateSlice, If, Reshape, Reverse, Scatter, Transpose, While

VIEWS = (Reshape, Transpose, Reverse)
"""Operations that give the same elements in another order or shape."""


class Buffers:
    """Follows arrays back through stores and views, and through what carries or gives the stored-to array."""

    def __init__(self) -> None:
        self._befores: dict[Value, Value | None] = {}
        self._buffers: dict[Value, Value] = {}
        self._held: dict[Region, set[Op]] = {}

    def __call__(self, value: Value) -> Value:
        """The value that the chain of stores to `value` begins with: a parameter, or the definition of the array."""
        met = []
        while (found := self._buffers.get(value)) is None and (before := self.before(value)) is not None:
            met.append(value)
            value = before
        origin = value if found is None else found
        for later in met:
            self._buffers[later] = origin
        return origin

    def entry(self, region: Region, value: Value) -> Value:
        """The value from outside of `region` that `value` is a later state of; one inside it if there is none."""
        while self.is_inside(region, value) and (before := self.before(value)) is not None:
            value = before
        return value

    def is_inside(self, region: Region, value: Value) -> bool:
        """True for a value that an operation of `region` defines."""
        ops = self._held.get(region)
        if ops is None:
            ops = self._held[region] = set(region.ops)
        return value.owner in ops

    def before(self, value: Value) -> Value | None:
        """The array before the operation that defines `value`; None if that allocates a new one."""
        if value in self._befores:
            return self._befores[value]
        before = self._befores[value] = self._find(value)
        return before

    def _find(self, value: Value) -> Value | None:
        op = value.owner
        if not isinstance(op, Op) or not value.type.shape:
            return None
        kind, index = op.kind, value.index
        if isinstance(kind, (DynamicUpdateSlice, Scatter, *VIEWS)):
            return op.operands[0]
        if isinstance(kind, While):
            body = op.regions[1]
            return op.operands[index] if self(body.results[index]) is body.params[index] else None
        if isinstance(kind, Call):
            body = kind.function.body
            origin = self(body.results[index])
            return op.operands[origin.index] if origin.owner is body else None
        if isinstance(kind, If | Case) and len(op.regions) > 1:
            # What two arms have in common comes from outside of both.
            entries = {self.entry(region, region.results[index]) for region in op.regions}
            return entries.pop() if len(entries) == 1 else None
        return None
