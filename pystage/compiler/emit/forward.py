"""Loads of what was just stored, and stores that the next store hides.

In: a function of HLO IR in which equal operations on equal operands are one (as `simplify` leaves it). Out: a
function where a load from the place just stored to is the value stored, and a store to the place just stored
to begins from the array before it, if nothing else reads the array between them. Both hold for any index: equal
starts are moved into the array equally. A view that turns back another one is what that was a view of.
"""

from __future__ import annotations

from collections import Counter

from ..hlo.ir import Function, Op, Value
from ..ops import DynamicSlice, DynamicUpdateSlice
from .arrays import VIEWS
from .rewrite import Rewriter
from .views import undone


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
        elif isinstance(op.kind, DynamicSlice):
            array, *starts = self.new_all(op.operands)
            store = _store_at(array, starts)
            if store is not None and store.operands[1].type.shape == op.kind.sizes:
                self._uses[op.operands[0]] -= 1
                self.values[op.results[0]] = store.operands[1]
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
