"""Loads of what was just stored, and stores that the next store hides.

In: a function of HLO IR in which equal operations on equal operands are one (as `simplify` leaves it). Out: a
function where a load from the place just stored to is the value stored, and a store to the place just stored
to begins from the array before it, if nothing else reads the array between them. Both hold for any index: equal
starts are moved into the array equally. Stores to other places, as far as all are known, do not come between. A
view that turns back another one is what that was a view of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..hlo.ir import Function, Op, Value
from ..hlo.rewrite import Rewriter
from ..ops import Constant, DynamicSlice, DynamicUpdateSlice, Slice
from .arrays import VIEWS
from .views import undone

REACH = 64
"""How many stores to other places a load looks past."""

Start = Value | int
"""Where along an axis a part begins: a value of the program, or a place that is known."""


def forward(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _Forwarding().function(function)


class _Forwarding(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._uses: Counter[Value] = Counter()

    def rewritten(self, old: Function) -> Function:
        for op in old.body.walk():
            self._uses.update(op.operands)
            for region in op.regions:
                self._uses.update(region.results)
        self._uses.update(old.body.results)
        return super().rewritten(old)

    def op(self, op: Op) -> None:
        if isinstance(op.kind, VIEWS):
            whole = undone(op.kind, self.new(op.operands[0]))
            if whole is not None:
                self.values[op.results[0]] = whole
                return
        elif isinstance(op.kind, DynamicSlice | Slice):
            array, *starts = self.new_all(op.operands)
            sizes = op.results[0].type.static_shape
            stored = _stored(array, _part(op.kind, array, starts, sizes), sizes)
            if stored is not None:
                self._uses[op.operands[0]] -= 1
                self.values[op.results[0]] = stored
                return
        elif isinstance(op.kind, DynamicUpdateSlice) and self._uses[op.operands[0]] == 1:
            array, update, *starts = self.new_all(op.operands)
            store = _store_at(array, starts)
            if store is not None and store.operands[1].type == update.type:
                self.define(op, self.append(op, op.kind, (store.operands[0], update, *starts)))
                return
        self.copy(op)


def _store_at(array: Value, starts: list[Value]) -> Op | None:
    """The store that `array` is the result of, if it begins at `starts`."""
    op = array.owner
    if isinstance(op, Op) and isinstance(op.kind, DynamicUpdateSlice) and list(op.operands[2:]) == starts:
        return op
    return None


def _stored(array: Value, starts: Sequence[Start] | None, sizes: tuple[int, ...]) -> Value | None:
    """What the last store into the part of `array` gave it, where it was one store to just this part."""
    for _ in range(REACH):
        op = array.owner
        if starts is None or not isinstance(op, Op) or not isinstance(op.kind, DynamicUpdateSlice):
            return None
        array, update, *places = op.operands
        stored = [
            _start(v, n, e) for v, n, e in zip(places, update.type.static_shape, array.type.static_shape)
        ]
        if update.type.static_shape == sizes and stored == starts:
            return update
        if not _apart(starts, sizes, stored, update.type.static_shape):
            return None
    return None


def _part(
    kind: DynamicSlice | Slice, array: Value, starts: Sequence[Value], sizes: Sequence[int]
) -> list[Start] | None:
    """Where the part begins that a load reads; None if it is no block."""
    if isinstance(kind, DynamicSlice):
        return [_start(v, n, e) for v, n, e in zip(starts, sizes, array.type.static_shape)]
    return list(kind.starts) if set(kind.strides) <= {1} else None


def _start(value: Value, size: int, extent: int) -> Start:
    """A start, moved into the array, where it is known."""
    owner = value.owner
    if isinstance(owner, Op) and isinstance(owner.kind, Constant):
        return min(max(int(owner.kind.data), 0), extent - size)
    return value


def _apart(
    starts: Sequence[Start], sizes: Sequence[int], others: Sequence[Start], other_sizes: Sequence[int]
) -> bool:
    """True if two blocks certainly have no element in common."""
    return any(
        isinstance(a, int) and isinstance(b, int) and (a + m <= b or b + n <= a)
        for a, m, b, n in zip(starts, sizes, others, other_sizes)
    )
