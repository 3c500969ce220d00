"""How long a run of a program takes at most: an estimate for one core of a CPU, high rather than low.

An operation takes the time of a step, and that of its elements. A store takes that of the part it writes, a product that
of its multiplications; the trips of a loop are the most that it can make.
"""

from __future__ import annotations

import functools
import math

from ..hlo.ir import Function, Op, Region
from ..hlo.walk import callees
from ..ops import (
    Abs,
    Add,
    And,
    BitcastConvert,
    Broadcast,
    Compare,
    Concatenate,
    Constant,
    Convert,
    Convolution,
    DotGeneral,
    DynamicSlice,
    DynamicUpdateSlice,
    Iota,
    Maximum,
    Minimum,
    Multiply,
    Negate,
    Not,
    Or,
    Pad,
    Reduce,
    ReduceWindow,
    ReduceWith,
    Reshape,
    Reverse,
    Select,
    Slice,
    Subtract,
    Transpose,
    While,
    Xor,
)
from .induction import most_trips

STEP = 5e-8
"""Seconds for an operation of XLA:CPU outside of kernels."""
_PRODUCT = 3e-10
"""Seconds for a multiplication and the addition of its result."""
_ELEMENT, _DEAR = 1e-9, 1e-8
"""Seconds for an element of an operation: of a fast one, of any other."""
_FAST = (
    *(Abs, Add, And, Compare, Maximum, Minimum, Multiply, Negate, Not, Or, Select, Subtract, Xor),
    *(BitcastConvert, Broadcast, Concatenate, Constant, Convert, DynamicSlice, Iota, Pad, Reshape, Reverse),
    *(Slice, Transpose, Reduce, ReduceWith),
)


def longest_run(function: Function) -> float:
    """Seconds that a run takes at most; infinity where the number of a loop's trips is not known."""

    @functools.cache
    def of(called: Function) -> float:
        return region(called.body)

    def region(body: Region) -> float:
        total = 0.0
        for op in body.ops:
            inside = 0.0 if isinstance(op.kind, _COMBINING) else sum(map(region, op.regions))
            inside += sum(map(of, callees(op)))
            if inside and isinstance(op.kind, While):
                trips = most_trips(op)
                inside = math.inf if trips is None else trips and inside * trips
            total += STEP + inside + _own(op)
        return total

    return of(function)


_COMBINING = (Reduce, ReduceWith, ReduceWindow)


def _own(op: Op) -> float:
    """The time of an operation without what its regions do."""
    kind, sizes = op.kind, [result.type.size for result in op.results]
    match kind:
        case While():
            return 0.0
        case DynamicUpdateSlice():
            return _ELEMENT * op.operands[1].type.size
        case DotGeneral():
            extents = op.operands[0].type.shape
            return _PRODUCT * sizes[0] * math.prod([extents[axis] for axis in kind.lhs_contract])
        case Convolution():
            return _PRODUCT * sizes[0] * op.operands[1].type.size
        case _:
            if isinstance(kind, _COMBINING):
                sizes += [operand.type.size for operand in op.operands]
            return (_ELEMENT if isinstance(kind, _FAST) else _DEAR) * sum(sizes)
