"""Residuals: the values of the primal pass that the pullback uses.

A region of the pullback is first built on the values of the primal region, which are not visible there. `residuals`
finds these and rematerialises the cheap ones; `extend` adds further results to an operation of the primal pass, and
`substitute` replaces the values by those results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..analysis.def_use import used_in
from ..hlo.ir import Op, Region, Value
from ..hlo.types import ArrayType
from ..ops import Broadcast, Constant, Convert, Iota, Reshape


class RegionValues:
    """The values that one region defines itself: its parameters, and the results of its operations."""

    def __init__(self, region: Region) -> None:
        self._values = set(region.params)
        for op in region.ops:
            self._values.update(op.results)

    def __contains__(self, value: Value) -> bool:
        return value in self._values


def extend(op: Op, types: Sequence[ArrayType]) -> tuple[Value, ...]:
    """Adds further results to an operation whose regions or function already return them."""
    first = len(op.results)
    made = tuple([Value(type, op, first + i) for i, type in enumerate(types)])
    op.results = (*op.results, *made)
    return made


def substitute(region: Region, by: Mapping[Value, Value]) -> None:
    """Replaces values in the operands and results of a region, inner regions included."""
    if not by:
        return
    for op in region.walk():
        op.operands = tuple([by.get(v, v) for v in op.operands])
        for inner in op.regions:
            inner.results = tuple([by.get(v, v) for v in inner.results])
    region.results = tuple([by.get(v, v) for v in region.results])


def residuals(back: Region, defined: RegionValues) -> list[Value]:
    """The values in `defined` that `back` uses, except those that it rematerialises at its beginning."""
    needed = [v for v in dict.fromkeys(used_in(back)) if v in defined]
    again = [v for v in needed if _is_cheap(v)]
    if again:
        made = _Rematerialised(defined)
        substitute(back, {v: made.value(v) for v in again})
        back.ops[:0] = made.ops
    return [v for v in needed if v not in set(again)]


def _is_cheap(value: Value) -> bool:
    """True for a value that is computed from constants alone by operations that only move or convert."""
    owner = value.owner
    if not isinstance(owner, Op):
        return False
    if isinstance(owner.kind, Constant | Iota):
        return True
    return isinstance(owner.kind, Broadcast | Reshape | Convert) and all(map(_is_cheap, owner.operands))


class _Rematerialised:
    """Copies of cheap operations, one of each."""

    def __init__(self, defined: RegionValues) -> None:
        self._defined = defined
        self._made: dict[Value, Value] = {}
        self.ops: list[Op] = []

    def value(self, value: Value) -> Value:
        """The copy of the value; a value from outside of the region itself."""
        if value not in self._defined:
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
        """The copies of several values."""
        return tuple([self.value(v) for v in values])
