"""Fences between a store and a stored value that was loaded from the same array, for XLA:CPU.

In: a function of HLO IR. Out: the same function, in which such a value goes through a call that XLA does not inline
before it is stored, if the array is reshaped somewhere, or computed by other operations than those that fill one. XLA:CPU
fuses the load, the computation and the store into one in-place operation where it is sure that no element is read after it
was written. It does not see through a reshape (a bitcast to XLA) that the load reads what the store writes: after
`y[i:i + 2] = y[j:j + 2][::-1]`, `y.reshape(3, 3, 2)` of shape (3, 3, 2, 1) has wrong elements. Gathers and running sums end
in such reshapes of its own: after `w = x[k]`, `w[1:] = w[:-1]` is `w[0]` everywhere (jaxlib 0.10; by `jax.jit` too).
"""

from __future__ import annotations

from collections import defaultdict

from .. import ops
from ..analysis.buffers import Buffers
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions, kinds

_RESHAPES = {ops.Reshape, ops.Transpose}
_LOADS = {ops.DynamicSlice, ops.Slice, ops.Gather}
_FILLING = {ops.Broadcast, ops.Constant, ops.Iota}


def fence_stores(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    found = kinds(function)
    if ops.DynamicUpdateSlice not in found or not found & _LOADS:
        return function
    unsafe = _UnsafeStores(function)
    stores = {op for op in unsafe.ops if isinstance(op.kind, ops.DynamicUpdateSlice) and unsafe.holds(op)}
    return _StoreFencing(stores).function(function) if stores else function


class _UnsafeStores:
    """Which stores XLA may fuse with loads of what they write."""

    def __init__(self, function: Function) -> None:
        self.ops = [op for each in functions(function) for op in each.body.walk()]
        self._buffers = Buffers()
        self._reshaped = {
            self._buffers(op.operands[0])
            for op in self.ops
            if type(op.kind) in _RESHAPES and op.operands[0].type.size > 1
        }
        self._sites: defaultdict[Region, list[Op]] = defaultdict(list)
        """The operations that run a region."""
        for op in self.ops:
            for region in (op.kind.function.body,) if isinstance(op.kind, ops.Call) else op.regions:
                self._sites[region].append(op)

    def holds(self, store: Op) -> bool:
        """True if several elements are stored that XLA may compute from the array while it stores them."""
        array, stored, *_ = store.operands
        home = self._buffers(array)
        if stored.type.size <= 1 or not self._is_loaded(stored, home):
            return False
        return home in self._reshaped or self._is_computed(home)

    def _is_loaded(self, stored: Value, home: Value) -> bool:
        """True if a stored value is computed of elements of the array."""
        pending, seen = [stored], {stored}
        while pending:
            op = pending.pop().owner
            if not isinstance(op, Op) or op.regions or isinstance(op.kind, ops.Call):
                continue
            for value in op.operands:
                if type(op.kind) in _LOADS and self._buffers(value) is home:
                    return True
                if value not in seen:
                    seen.add(value)
                    pending.append(value)
        return False

    def _is_computed(self, home: Value) -> bool:
        """True for an array that is no parameter of the program, and not filled with a number or a constant.

        XLA inlines calls, and loops of one trip: the parameter of a region is what is given for it.
        """
        pending, seen = [home], {home}
        while pending:
            value = pending.pop()
            owner = value.owner
            if isinstance(owner, Op):
                if type(owner.kind) not in _FILLING:
                    return True
                continue
            for site in self._sites[owner]:
                given = site.operands[value.index + len(site.operands) - len(owner.params)]
                before = self._buffers(given)
                if before not in seen:
                    seen.add(before)
                    pending.append(before)
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
        self.define(op, self.append(op, op.kind, (array, self.b.op(ops.Call(fence), stored), *starts)))
