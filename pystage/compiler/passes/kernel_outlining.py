"""Outlining of loops that XLA:CPU compiles into one machine function.

In: a program for CPUs. Out: the same program, in which the outermost loops whose operations are all small are calls
of kernels. XLA:CPU runs a program operation by operation, each a function that its runtime looks up and calls; it
compiles a loop into one function only if a trip touches less than 1,024 bytes, the loops in it counted once. A loop
around such a loop, or one over short rows, then spends more time between its operations than in them. A kernel is
called with the frontend attribute by which XLA marks the loops that it chose itself.

What XLA divides among threads, and what is no code of its own (library calls, sorts, scatters), is in no kernel. A
kernel has one parameter, a tuple, and returns some of it: XLA has no buffer for a parameter of such a function that
has no uses, and would end the process.
"""

from __future__ import annotations

from .. import limits, ops
from ..analysis.def_use import captured
from ..hlo.ir import Function, Op, Region
from ..hlo.rewrite import Rewriter
from ..ops.elementwise.base import Elementwise

_HOLDERS = (ops.Call, ops.Case, ops.If, ops.While)
_PARTS = (ops.DynamicSlice, ops.Gather, ops.Slice)
_CODE = (
    *_HOLDERS,
    *_PARTS,
    ops.BitcastConvert,
    ops.Broadcast,
    ops.Clamp,
    ops.Compare,
    ops.Concatenate,
    ops.Constant,
    ops.Convert,
    ops.DotGeneral,
    ops.DynamicUpdateSlice,
    Elementwise,
    ops.Iota,
    ops.OptimizationBarrier,
    ops.Pad,
    ops.Reduce,
    ops.ReduceWith,
    ops.Reshape,
    ops.Reverse,
    ops.Select,
    ops.StopGradient,
    ops.Transpose,
)
"""Operations that XLA:CPU compiles to machine code, whatever the operands."""


def outline_kernels(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _Kernels().function(function)


class _Kernels(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._bytes: dict[Function, int | None] = {}
        self._inside = False

    def rewritten(self, old: Function) -> Function:
        outer, self._inside = self._inside, False
        try:
            return super().rewritten(old)
        finally:
            self._inside = outer

    def op(self, op: Op) -> None:
        if self._inside or not isinstance(op.kind, ops.While) or not self._chosen(op):
            self.copy(op)
            return
        self._inside = True
        try:
            self._outline(op)
        finally:
            self._inside = False

    def _chosen(self, op: Op) -> bool:
        condition, body = op.regions
        touched = self._touched([*condition.ops, *body.ops])
        return touched is not None and touched >= limits.KERNEL_TRIP_BYTES

    def _touched(self, code: list[Op]) -> int | None:
        """Bytes that operations touch, those of inner loops once; None if one of them is for no kernel."""
        total = 0
        for op in code:
            if not isinstance(op.kind, _CODE) or _is_library_call(op):
                return None
            inner: list[int | None] = [self._touched(region.ops) for region in op.regions]
            if isinstance(op.kind, ops.Call):
                inner.append(self._of_function(op.kind.function))
            elif not op.regions:
                inner.append(_bytes(op))
            for each in inner:
                if each is None:
                    return None
                total += each
        return total

    def _of_function(self, function: Function) -> int | None:
        if function not in self._bytes:
            self._bytes[function] = self._touched(function.body.ops)
        return self._bytes[function]

    def _outline(self, op: Op) -> None:
        """The loop as a call of a kernel, which takes what the loop carries and what it uses from outside."""
        used = captured(*op.regions)
        constants = [v for v in used if isinstance(v.owner, Op) and isinstance(v.owner.kind, ops.Constant)]
        outside = [v for v in used if v not in constants]
        operands = self.new_all([*op.operands, *outside])
        count = len(op.operands)
        kept = next((i for i, v in enumerate(operands) if i >= count or not v.type.shape), None)
        if kept is None:  # nothing to give back but arrays, which the loop may change in place
            self.copy(op)
            return
        body = Region(tuple([v.type for v in operands]))
        outer, self.values = self.values, dict(zip(outside, body.params[count:], strict=True))
        with self.b.isolated(body):
            for value in constants:
                self.values[value] = self.b.op(value.owner.kind)  # type: ignore[union-attr]
            regions = tuple([self.region(r) for r in op.regions])
            made = self.append(op, op.kind, tuple(body.params[:count]), regions)
        self.values = outer
        body.results = (*made.results, body.params[kept])
        results = self.b.ops(ops.Call(Function("loop", body, op.span, fence=True, kernel=True)), *operands)
        self.values.update(zip(op.results, results, strict=False))


def _is_library_call(op: Op) -> bool:
    """True for what XLA:CPU may give to a library: large reductions, and products but inner ones of 64-bit numbers."""
    if isinstance(op.kind, ops.Reduce | ops.ReduceWith):
        return op.operands[0].type.size >= limits.LIBRARY_REDUCTION
    return isinstance(op.kind, ops.DotGeneral) and any(
        len(v.type.shape) > 1 or v.type.dtype.itemsize < 8 for v in op.operands
    )


def _bytes(op: Op) -> int | None:
    """Bytes that an operation reads and writes; None if XLA may divide it among threads."""
    if isinstance(op.kind, _PARTS):
        touched = [*op.results, *op.results, *op.operands[1:]]
    elif isinstance(op.kind, ops.DynamicUpdateSlice):
        touched = [*op.operands[1:], op.operands[1]]
    elif isinstance(op.kind, ops.Reshape | ops.Constant):
        touched = []
    else:
        touched = [*op.results, *op.operands]
    total = sum(v.type.nbytes for v in touched)
    return total if total <= limits.KERNEL_BYTES else None
