"""Fences between a store and a stored value that was loaded from the same array, for XLA:CPU.

In: a function of HLO IR. Out: the same function, in which such a value goes through a call that XLA does not inline
before it is stored, if the array is reshaped somewhere. XLA:CPU fuses the load, the computation and the store into one
in-place operation where it is sure that no element is read after it was written. It does not see through a reshape (a
bitcast to XLA) that the load reads what the store writes: after `y[i:i + 2] = y[j:j + 2][::-1]`,
`y.reshape(3, 3, 2)` of shape (3, 3, 2, 1) has wrong elements (jaxlib 0.10; by `jax.jit` too).
"""

from __future__ import annotations

from ..analysis.buffers import Buffers
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions, kinds
from ..ops import Call, DynamicSlice, DynamicUpdateSlice, Gather, Reshape, Slice, Transpose

_RESHAPES = {Reshape, Transpose}
_LOADS = {DynamicSlice, Slice, Gather}


def fence_stores(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    found = kinds(function)
    if DynamicUpdateSlice not in found or not found & _RESHAPES or not found & _LOADS:
        return function
    buffers = Buffers()
    reshaped = {
        buffers(op.operands[0])
        for each in functions(function)
        for op in each.body.walk()
        if type(op.kind) in _RESHAPES and op.operands[0].type.size > 1
    }
    stores = {
        op
        for each in functions(function)
        for op in each.body.walk()
        if isinstance(op.kind, DynamicUpdateSlice) and _reads_its_array(op, buffers, reshaped)
    }
    return _StoreFencing(stores).function(function) if stores else function


def _reads_its_array(store: Op, buffers: Buffers, reshaped: set[Value]) -> bool:
    """True if several elements are stored that XLA may compute from the array while it stores them."""
    array, stored, *_ = store.operands
    home = buffers(array)
    if stored.type.size <= 1 or home not in reshaped:
        return False
    pending, seen = [stored], {stored}
    while pending:
        op = pending.pop().owner
        if not isinstance(op, Op) or op.regions or isinstance(op.kind, Call):
            continue
        for value in op.operands:
            if type(op.kind) in _LOADS and buffers(value) is home:
                return True
            if value not in seen:
                seen.add(value)
                pending.append(value)
    return False


class _StoreFencing(Rewriter):
    def __init__(self, stores: set[Op]) -> None:
        super().__init__()
        self._stores = stores
        self._fences: dict[object, Function] = {}

    def op(self, op: Op) -> None:
        if op not in self._stores:
            self.copy(op)
            return
        array, stored, *starts = self.new_all(op.operands)
        fence = self._fences.get(stored.type)
        if fence is None:
            body = Region((stored.type,))
            body.results = (body.params[0],)
            fence = self._fences[stored.type] = Function("stored", body, fence=True)
        self.define(op, self.append(op, op.kind, (array, self.b.op(Call(fence), stored), *starts)))
