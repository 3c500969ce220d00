"""Stores of a block that differs from the stored-to array in a part of it, narrowed to that part.

In: a function of HLO IR after CSE (as `simplify` leaves it). Out: a function in which `array[i] = row`, where `row` is
`array[i]` with a store into a part of it, is a store of this part, and where a condition selects between the two it selects
between the parts. So the append to one list of many, of which each is a row of an array, does not copy the list. Both
clamp their starts equally: a block has either one element along an axis or all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..hlo.ir import Function, Op, Value
from ..hlo.rewrite import Rewriter
from ..hlo.types import ArrayType
from ..ops import Broadcast, DynamicSlice, DynamicUpdateSlice, Reshape, Select

_Store = tuple[Value, tuple[Value, ...]]
"""What a store writes, and its start along each axis of the array."""


def narrow_stores(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _Narrowing().function(function)


class _Narrowing(Rewriter):
    def op(self, op: Op) -> None:
        if isinstance(op.kind, DynamicUpdateSlice):
            array, update, *starts = self.new_all(op.operands)
            narrowed = self._narrowed(array, update, tuple(starts))
            if narrowed is not None:
                part, places = narrowed
                self.define(op, self.append(op, op.kind, (array, part, *places)))
                return
        self.copy(op)

    def _narrowed(self, array: Value, update: Value, starts: tuple[Value, ...]) -> _Store | None:
        """The store that writes less and has the same result."""
        written, update = update.type.shape, _without_views(update)
        op = update.owner
        if not isinstance(op, Op):
            return None
        if isinstance(op.kind, DynamicUpdateSlice):
            return self._part(array, op, starts, written)
        if isinstance(op.kind, Select):
            condition, new, old = op.operands
            inner = _without_views(new).owner
            holds = _scalar(condition)
            if holds is None or not _is_block(old, array, starts):
                return None
            if not isinstance(inner, Op) or not isinstance(inner.kind, DynamicUpdateSlice):
                return None
            stored = self._part(array, inner, starts, written)
            if stored is None:
                return None
            part, places = stored
            shape = part.type.shape
            before = self.b.op(DynamicSlice(shape), array, *places)
            return self.b.op(Select(), self.b.op(Broadcast(shape, ()), holds), part, before), places
        return None

    def _part(
        self, array: Value, inner: Op, starts: tuple[Value, ...], written: tuple[int, ...]
    ) -> _Store | None:
        """A store into the block of `array` at `starts`, of the shape that is written there, as a store into `array`."""
        row, part, *inner_starts = inner.operands
        block = _block_of(row)
        if block is None or block != written or not _is_block(row, array, starts):
            return None
        wide = [axis for axis, size in enumerate(block) if size > 1]
        own = [axis for axis, size in enumerate(row.type.shape) if size > 1]
        extents = array.type.shape
        if len(wide) != len(own) or any(extents[axis] != block[axis] for axis in wide):
            return None
        places, shape = list(starts), [1] * len(block)
        for axis, at in zip(wide, own):
            if inner_starts[at].type != starts[axis].type:
                return None
            places[axis], shape[axis] = inner_starts[at], part.type.shape[at]
        if shape == list(block):
            return None
        if part.type.shape != tuple(shape):
            part = self.b.op(Reshape(tuple(shape)), part)
        return part, tuple(places)


def _without_views(value: Value) -> Value:
    """A value before it was reshaped."""
    while isinstance(value.owner, Op) and isinstance(value.owner.kind, Reshape):
        value = value.owner.operands[0]
    return value


def _block_of(row: Value) -> tuple[int, ...] | None:
    """The shape of the block of an array that `row` is, which differs at most in axes of one element."""
    load = _without_views(row)
    if not isinstance(load.owner, Op) or not isinstance(load.owner.kind, DynamicSlice):
        return None
    block: tuple[int, ...] = load.type.shape
    return block if _wide(load.type) == _wide(row.type) else None


def _wide(type: ArrayType) -> Sequence[int]:
    return [size for size in type.shape if size > 1]


def _is_block(row: Value, array: Value, starts: tuple[Value, ...]) -> bool:
    """True if `row` is the block of `array` at `starts`."""
    load = _without_views(row).owner
    return (
        isinstance(load, Op)
        and isinstance(load.kind, DynamicSlice)
        and load.operands[0] is array
        and load.operands[1:] == starts
    )


def _scalar(condition: Value) -> Value | None:
    """The one truth that a condition has for all elements."""
    op = condition.owner
    if not condition.type.shape:
        return condition
    if isinstance(op, Op) and isinstance(op.kind, Broadcast) and not op.operands[0].type.shape:
        return op.operands[0]
    return None
