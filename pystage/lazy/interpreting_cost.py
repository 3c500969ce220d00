"""Cost model of the reference interpreter: estimates its time from the operations of a program and their types."""

from __future__ import annotations

import math

from ..compiler.hlo.ir import Function, Op, Region
from ..compiler.hlo.op import HloOp
from ..compiler.ops import (
    Call,
    Case,
    Convolution,
    CustomCall,
    DotGeneral,
    Gather,
    If,
    JaxCall,
    Print,
    ReduceWindow,
    ReduceWith,
    RngBitGenerator,
    Scatter,
    SelectAndScatter,
    Sort,
    While,
)

LARGEST = 1 << 20
"""Bytes of an array from which on a segment that computes it is compiled: XLA does not keep what it can fuse."""
_OPERATION, _BYTE = 12.0, 0.0005
"""Microseconds of an operation, and of a byte that it makes."""
_PLACE: dict[type[HloOp], float] = {Gather: 4.0, Scatter: 5.0, Sort: 1.5, SelectAndScatter: 20.0}
"""Microseconds of each element, for what the interpreter goes through in Python."""
_PRODUCT = 0.001
"""Microseconds of a multiplication in a product of matrices."""
_COMPILED = (While, JaxCall, CustomCall, Print, RngBitGenerator)
"""What is not interpreted: it may go on for long, does something to the host, or is known to the device alone."""


def interpreting_cost(function: Function) -> float:
    """The estimated microseconds to interpret a function; infinite for one that cannot be interpreted."""
    return _of_region(function.body)


def _of_region(region: Region) -> float:
    return sum([_of_op(op) for op in region.ops])


def _of_op(op: Op) -> float:
    kind = op.kind
    made = sum([v.type.nbytes for v in op.results])
    if isinstance(kind, _COMPILED) or made > LARGEST:
        return math.inf
    cost = _OPERATION + _BYTE * made
    size = op.results[0].type.size
    match kind:
        case Call():
            cost += interpreting_cost(kind.function)
        case If() | Case():
            cost += max(map(_of_region, op.regions))
        case ReduceWith():
            cost += op.operands[0].type.size * _of_region(op.regions[0])
        case DotGeneral():
            contracted = math.prod([op.operands[0].type.shape[axis] for axis in kind.lhs_contract])
            cost += _PRODUCT * size * contracted
        case Convolution() | ReduceWindow():
            window = op.operands[1].type.size if isinstance(kind, Convolution) else math.prod(kind.window)
            cost += _PLACE[SelectAndScatter] * size * window
        case _:
            cost += _PLACE.get(type(kind), 0.0) * max(v.type.size for v in op.results)
    return cost
