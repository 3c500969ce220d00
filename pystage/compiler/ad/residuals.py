"""What the way back uses of the way forward: found in what was built, given as further results, put in place.

A region of the way back is built with the values of the region that it goes back through, wherever those are.
`residuals` finds them, and makes again what is cheaper to make than to keep; `extend` gives an operation further
results, and `substitute` puts these in place of the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..analysis.def_use import used_in
from ..hlo.ir import Op, Region, Value
from ..hlo.types import ArrayType
from ..ops import Broadcast, Constant, Convert, Iota, Reshape


class Scope:
    """The values that one region defines itself: its parameters, and the results of its operations."""

    def __init__(self, region: Region) -> None:
        self._values = set(region.params)
        for op in region.ops:
            self._values.update(op.results)

    def __contains__(self, value: Value) -> bool:
        return value in self._values


def extend(op: Op, types: Sequence[ArrayType]) -> tuple[Value, ...]:
    """Gives an operation further results, which its regions or its function have been given already."""
    first = len(op.results)
    made = tuple([Value(type, op, first + i) for i, type in enumerate(types)])
    op.results = (*op.results, *made)
    return made


def substitute(region: Region, by: Mapping[Value, Value]) -> None:
    """Puts other values in place of some, in the operations of a region and in its results."""
    if not by:
        return
    for op in region.walk():
        op.operands = tuple([by.get(v, v) for v in op.operands])
        for inner in op.regions:
            inner.results = tuple([by.get(v, v) for v in inner.results])
    region.results = tuple([by.get(v, v) for v in region.results])


def residuals(back: Region, scope: Scope) -> list[Value]:
    """The values of `scope` that `back` uses, except those that are made again at its beginning."""
    needed = [v for v in dict.fromkeys(used_in(back)) if v in scope]
    again = [v for v in needed if _is_cheap(v)]
    if again:
        made = _Again(scope)
        substitute(back, {v: made.value(v) for v in again})
        back.ops[:0] = made.ops
    return [v for v in needed if v not in set(again)]


def _is_cheap(value: Value) -> bool:
    """True for what takes no more than a constant to make."""
    owner = value.owner
    if not isinstance(owner, Op):
        return False
    if isinstance(owner.kind, Constant | Iota):
        return True
    return isinstance(owner.kind, Broadcast | Reshape | Convert) and all(map(_is_cheap, owner.operands))


class _Again:
    """Operations made again, each once."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._made: dict[Value, Value] = {}
        self.ops: list[Op] = []

    def value(self, value: Value) -> Value:
        """The value made again; one from outside of the scope as it is."""
        if value not in self._scope:
            return value
        if value not in self._made:
            owner = value.owner
            assert isinstance(owner, Op)
            op = Op(
                owner.kind,
                self.values(owner.operands),
                tuple([r.type for r in owner.results]),
                (),
                owner.span,
            )
            self.ops.append(op)
            self._made.update(zip(owner.results, op.results, strict=True))
        return self._made[value]

    def values(self, values: Iterable[Value]) -> tuple[Value, ...]:
        """Several values made again."""
        return tuple([self.value(v) for v in values])
