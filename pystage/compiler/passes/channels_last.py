"""Convolutions inside loops with their axes in the order that XLA:CPU computes quickly.

In: a program for CPUs. Out: the same program, in which convolutions of loops take images with the channels last,
and transpose what lies otherwise. XLA:CPU hands a convolution to a fast kernel only if its axes are in that order;
it brings them there itself (`ConvCanonicalization`), but only in the entry computation, so that the convolutions of
a loop, above all those of a gradient, run many times slower (jax-ml/jax#12868).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..hlo.ir import Function, Op, Value
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions, kinds
from ..ops import Call, Convolution, Reverse, Transpose, While


def channels_last(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    found = kinds(function)
    if not {Convolution, While} <= found:
        return function
    return _ChannelsLast(_of_loops(function)).function(function)


def _of_loops(function: Function) -> set[Op]:
    """The convolutions that may run in a loop: those in one, and those of functions that are called in one."""
    found: set[Op] = set()
    seen: set[Function] = set()

    def whole(callee: Function) -> None:
        if callee not in seen:
            seen.add(callee)
            inside(list(callee.body.walk()))

    def inside(ops: Sequence[Op]) -> None:
        for op in ops:
            if isinstance(op.kind, Convolution):
                found.add(op)
            elif isinstance(op.kind, Call):
                whole(op.kind.function)

    for each in functions(function):
        for op in each.body.walk():
            if isinstance(op.kind, While):
                inside(list(op.regions[1].walk()))
    return found


class _ChannelsLast(Rewriter):
    def __init__(self, chosen: set[Op]) -> None:
        super().__init__()
        self._chosen = chosen

    def op(self, op: Op) -> None:
        if op not in self._chosen or not isinstance(op.kind, Convolution):
            self.copy(op)
            return
        kind = op.kind
        lhs, rhs = self.new_all(op.operands)
        spatial = tuple(range(len(kind.lhs_spec) - 2))
        if any(kind.window_reversal):
            axes = tuple([kind.rhs_spec[i + 2] for i in spatial if kind.window_reversal[i]])
            rhs = self.b.op(Reverse(axes), rhs)
        images = self._ordered(lhs, (kind.lhs_spec[0], *kind.lhs_spec[2:], kind.lhs_spec[1]))
        kernel = self._ordered(rhs, (*kind.rhs_spec[2:], kind.rhs_spec[1], kind.rhs_spec[0]))
        last = len(spatial) + 1
        places = tuple([i + 1 for i in spatial])
        made = self.b.op(
            replace(
                kind,
                lhs_spec=(0, last, *places),
                rhs_spec=(last, last - 1, *spatial),
                out_spec=(0, last, *places),
                window_reversal=(),
            ),
            images,
            kernel,
        )
        wanted = (kind.out_spec[0], *kind.out_spec[2:], kind.out_spec[1])
        back = [wanted.index(a) for a in range(len(wanted))]
        self.values[op.results[0]] = self._ordered(made, back)

    def _ordered(self, value: Value, axes: Sequence[int]) -> Value:
        same = tuple(axes) == tuple(range(len(axes)))
        return value if same else self.b.op(Transpose(tuple(axes)), value)
