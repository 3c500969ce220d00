"""Replaces operations by calls of NumPy on the host, which runs them many times faster than XLA:CPU.

In: a program for one CPU that runs in this process. Out: the same program, in which each operation whose class says so
(`HloOp.on_host`) is a host call. Elsewhere (GPUs, several devices, exported programs) XLA runs them all.
"""

from __future__ import annotations

from ..analysis.def_use import used_in
from ..hlo.ir import Function, Op, Value
from ..hlo.op import HloOp
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions, kinds
from ..ops import HostCall


def on_host(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    if all(kind.on_host is HloOp.on_host for kind in kinds(function)):
        return function
    used = {v for f in functions(function) for v in used_in(f.body)}
    return _OnHost(used).function(function)


class _OnHost(Rewriter):
    def __init__(self, used: set[Value]) -> None:
        super().__init__()
        self._used = used

    def op(self, op: Op) -> None:
        host = op.kind.on_host(op, [v in self._used for v in op.results])
        if host is None:
            self.copy(op)
            return
        results = [op.results[i] for i in host.places]
        call = HostCall(host.function, tuple([v.type for v in results]))
        made = self.b.ops(call, *self.new_all(host.operands))
        self.values.update(zip(results, made, strict=True))
