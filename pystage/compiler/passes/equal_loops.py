"""Loops that compute the same, of which the program needs one.

In: a function of HLO IR as inference leaves it. Out: the same function, in which a loop is left out where a visible one has
equal operands, reads the same values from outside and has the same operations. So the look-ups of `d[k] += 1` and
`if k in d: … d[k]` are one. `simplify` shares operations without regions; it also takes out of loops what is unused, so
that two look-ups are no longer equal: this pass stands before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.walk import is_pure, kinds
from ..ops import Call, Constant, While

_LoopKey = tuple[object, ...]


def share_loops(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _Sharing().function(function) if While in kinds(function) else function


class _Sharing(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._visible: list[dict[_LoopKey, list[Op]]] = [{}]
        """The loops of the regions around, by what tells most of them apart."""

    def rewritten(self, old: Function) -> Function:
        outer, self._visible = self._visible, [{}]
        try:
            return super().rewritten(old)
        finally:
            self._visible = outer

    def region(self, old: Region) -> Region:
        self._visible.append({})
        try:
            return super().region(old)
        finally:
            self._visible.pop()

    def op(self, op: Op) -> None:
        if not isinstance(op.kind, While) or not is_pure(op):
            self.copy(op)
            return
        sizes = tuple([len(_computing(region)) for region in op.regions])
        key = (op.kind, self.new_all(op.operands), sizes)
        for loops in self._visible:
            for known in loops.get(key, ()):
                if self._are_equal(known.regions, op.regions, {}):
                    self.values.update(zip(op.results, self.new_all(known.results), strict=True))
                    return
        self._visible[-1].setdefault(key, []).append(op)
        self.copy(op)

    def _are_equal(self, these: Sequence[Region], those: Sequence[Region], known: dict[Value, Value]) -> bool:
        """True for regions with the same operations; `known` are pairs of values inside that are equal."""
        return all(self._is_equal(a, b, known) for a, b in zip(these, those, strict=True))

    def _is_equal(self, a: Region, b: Region, known: dict[Value, Value]) -> bool:
        ops, others = _computing(a), _computing(b)
        if len(ops) != len(others) or [p.type for p in a.params] != [p.type for p in b.params]:
            return False
        known.update(zip(a.params, b.params, strict=True))
        for one, other in zip(ops, others, strict=True):
            if one.kind != other.kind or isinstance(one.kind, Call):
                return False
            if not self._are_same(one.operands, other.operands, known):
                return False
            if len(one.regions) != len(other.regions) or not self._are_equal(
                one.regions, other.regions, known
            ):
                return False
            known.update(zip(one.results, other.results, strict=True))
        return self._are_same(a.results, b.results, known)

    def _are_same(self, these: Sequence[Value], those: Sequence[Value], known: dict[Value, Value]) -> bool:
        if len(these) != len(those):
            return False
        for a, b in zip(these, those, strict=True):
            inside, constant = known.get(a), _constant(a)
            if constant is not None:
                if constant != _constant(b):
                    return False
            elif inside is not None:
                if inside is not b:
                    return False
            elif self.values.get(a) is None or self.values.get(a) is not self.values.get(b):
                return False
        return True


def _computing(region: Region) -> list[Op]:
    """The operations of a region but for constants, which stand in it or around it."""
    return [op for op in region.ops if not isinstance(op.kind, Constant)]


def _constant(value: Value) -> Constant | None:
    """The constant that a value is."""
    kind = value.owner.kind if isinstance(value.owner, Op) else None
    return kind if isinstance(kind, Constant) else None
