"""Store-to-load forwarding, and elimination of stores that the next store overwrites.

In: a function of HLO IR after CSE (as `simplify` leaves it). Out: a function in which a load from the place of the
last store is the value stored, and a store to the place of the last store starts from the array before it, if nothing
else reads the array between them. Both hold for any index: XLA clamps equal starts equally. Stores to other places, as
far as all are known, do not come between. A view that undoes another one is the value before both.

A large part of an array, a slab, is loaded again, unless nothing else reads the store: XLA would compute its
elements twice, once for the store and once where they are used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .. import limits
from ..analysis.buffers import VIEWS
from ..analysis.def_use import DefUse
from ..hlo.ir import Function, Op, Value
from ..hlo.op import HloOp
from ..hlo.rewrite import Rewriter
from ..ops import Constant, DynamicSlice, DynamicUpdateSlice, Slice
from .view_hoisting import undone

Start = Value | int
"""The start of a slice along an axis: a value of the program, or a constant."""


def forward_stores(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _Forwarding().function(function)


class _Forwarding(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._uses = DefUse()
        self._hidden: Counter[Value] = Counter()
        """How many of the uses of a stored-to array need nothing but the value that was stored, or not even that."""
        self._forwarded: Counter[Value] = Counter()

    def rewritten(self, old: Function) -> Function:
        self._uses.add(old.body)
        for op in old.body.walk():
            if isinstance(op.kind, DynamicSlice | Slice | DynamicUpdateSlice) and _is_hidden_from(op):
                self._hidden[op.operands[0]] += 1
        return super().rewritten(old)

    def op(self, op: Op) -> None:
        if isinstance(op.kind, VIEWS):
            whole = undone(op.kind, self.new(op.operands[0]))
            if whole is not None:
                self.values[op.results[0]] = whole
                return
        elif isinstance(op.kind, DynamicSlice | Slice):
            array, *starts = self.new_all(op.operands)
            sizes = op.results[0].type.shape
            stored = _stored(array, _part(op.kind, array, starts, sizes), sizes)
            if stored is not None and self._pays(op):
                self._forwarded[op.operands[0]] += 1
                self.values[op.results[0]] = stored
                return
        elif isinstance(op.kind, DynamicUpdateSlice) and self._only_use(op.operands[0]):
            array, update, *starts = self.new_all(op.operands)
            store = _store_at(array, starts)
            if store is not None and store.operands[1].type == update.type:
                self.define(op, self.append(op, op.kind, (store.operands[0], update, *starts)))
                return
        self.copy(op)

    def _only_use(self, array: Value) -> bool:
        """True if `array` is used once, now that loads from it are values that were stored."""
        return self._uses.count(array) - self._forwarded[array] == 1

    def _pays(self, load: Op) -> bool:
        """False for a slab, if its store has other uses."""
        array, size = load.operands[0], load.results[0].type.size
        is_slab = size > limits.FORWARDED_ELEMENTS and size * limits.LOAD_FACTOR > array.type.size
        return not is_slab or self._hidden[array] == self._uses.count(array)


def _is_hidden_from(op: Op) -> bool:
    """True if `op` uses of the array that it loads from or stores into only what was just stored, or nothing of that."""
    array, *rest = op.operands
    store = array.owner
    if not isinstance(store, Op) or not isinstance(store.kind, DynamicUpdateSlice):
        return False
    if isinstance(op.kind, DynamicUpdateSlice):
        return rest[0].type == store.operands[1].type and rest[1:] == list(store.operands[2:])
    sizes = op.results[0].type.shape
    return (_part(op.kind, array, rest, sizes), sizes) == _stored_part(store)


def _store_at(array: Value, starts: list[Value]) -> Op | None:
    """The store that `array` is the result of, if it begins at `starts`."""
    op = array.owner
    if isinstance(op, Op) and isinstance(op.kind, DynamicUpdateSlice) and list(op.operands[2:]) == starts:
        return op
    return None


def _stored(array: Value, starts: Sequence[Start] | None, sizes: tuple[int, ...]) -> Value | None:
    """The value of the last store into this slice of `array`, if it was one store to exactly this slice."""
    for _ in range(limits.FORWARDED_STORES):
        op = array.owner
        if starts is None or not isinstance(op, Op) or not isinstance(op.kind, DynamicUpdateSlice):
            return None
        stored = _stored_part(op)
        if stored == (starts, sizes):
            return op.operands[1]
        if not _apart(starts, sizes, *stored):
            return None
        array = op.operands[0]
    return None


def _stored_part(store: Op) -> tuple[list[Start], tuple[int, ...]]:
    """The start of the slice that a store replaces, and its shape."""
    array, update, *starts = store.operands
    sizes = update.type.shape
    return [_start(v, n, e) for v, n, e in zip(starts, sizes, array.type.shape)], sizes


def _part(kind: HloOp, array: Value, starts: Sequence[Value], sizes: Sequence[int]) -> list[Start] | None:
    """The start of the slice that a load reads; None if it is no block."""
    if isinstance(kind, DynamicSlice):
        return [_start(v, n, e) for v, n, e in zip(starts, sizes, array.type.shape)]
    return list(kind.starts) if isinstance(kind, Slice) and set(kind.strides) <= {1} else None


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
