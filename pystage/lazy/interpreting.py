"""Segments that are cold: run call by call by the reference interpreter, in NumPy, without XLA.

XLA takes tens of milliseconds for a new program, which a program that runs once, or a few times, on small arrays never earns
back. So a segment is interpreted until that has cost about as much as compiling it would. The measure is an estimate from
the operations and their types, the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compiler.hlo.interpret import interpret
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
from .segment import Key, Segment

LARGEST = 1 << 20
"""Bytes of an array from which on a segment that computes it is compiled: XLA does not keep what it can fuse."""
COMPILING, COMPILING_CALL = 40_000.0, 4_000.0
"""Microseconds that XLA takes for a program, and for each of its calls."""
_OPERATION, _BYTE = 12.0, 0.0005
"""Microseconds of an operation, and of a byte that it makes."""
_PLACE: dict[type[HloOp], float] = {Gather: 4.0, Scatter: 5.0, Sort: 1.5, SelectAndScatter: 20.0}
"""Microseconds of each element, for what the interpreter goes through in Python."""
_PRODUCT = 0.001
"""Microseconds of a multiplication in a product of matrices."""
_COMPILED = (While, JaxCall, CustomCall, Print, RngBitGenerator)
"""What is not interpreted: it may go on for long, does something to the host, or is known to the device alone."""


def interpreting_cost(function: Function) -> float:
    """About how many microseconds it takes to interpret a function; infinite for what is not interpreted."""
    return _of_region(function.body)


def _of_region(region: Region) -> float:
    return sum([_of_op(op) for op in region.ops])


def _of_op(op: Op) -> float:
    kind = op.kind
    made = sum([v.type.size * v.type.dtype.itemsize for v in op.results])
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
            contracted = math.prod([op.operands[0].type.static_shape[axis] for axis in kind.lhs_contract])
            cost += _PRODUCT * size * contracted
        case Convolution() | ReduceWindow():
            window = op.operands[1].type.size if isinstance(kind, Convolution) else math.prod(kind.window)
            cost += _PLACE[SelectAndScatter] * size * window
        case _:
            cost += _PLACE.get(type(kind), 0.0) * max(v.type.size for v in op.results)
    return cost


def interpreted(segment: Segment) -> list[np.ndarray[Any, Any]]:
    """The arrays of the outputs of a segment, in row-major order and not to be stored into."""
    last: dict[int, int] = {}
    for place, call in enumerate(segment.calls):
        for node in call.operands:
            if (before := segment.call_of(node)) is not None:
                last[id(before)] = place
    for node in segment.outputs:
        last[id(segment.call_of(node))] = len(segment.calls)
    results: dict[int, Sequence[np.ndarray[Any, Any]]] = {}
    for place, call in enumerate(segment.calls):
        operands = []
        for node in call.operands:
            before = segment.call_of(node)
            operands.append(np.asarray(node.array) if before is None else results[id(before)][node.index])
        results[id(call)] = interpret(call.recipe.function, operands)
        for node in call.operands:
            before = segment.call_of(node)
            if before is not None and last[id(before)] == place:
                results.pop(id(before), None)
    return [_own(results[id(segment.call_of(node))][node.index]) for node in segment.outputs]


def _own(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy: an array may lie in the memory of another, or of an input."""
    own = np.array(array, order="C")
    own.flags.writeable = False
    return own


class Heat:
    """What interpreting segments has cost so far, by their structure."""

    def __init__(self) -> None:
        self._spent: dict[Key, float] = {}

    def is_cold(self, segment: Segment) -> bool:
        """True if a segment is to be interpreted once more; the cost of that is noted."""
        budget = COMPILING + COMPILING_CALL * len(segment.calls)
        spent = self._spent.get(segment.key, 0.0) + sum([call.recipe.cost for call in segment.calls])
        if spent > budget or segment.outputs[0].device.platform != "cpu":
            return False
        if len(self._spent) >= _SEGMENTS:
            self._spent.clear()
        self._spent[segment.key] = spent
        return True


_SEGMENTS = 4096
"""Of so many the cost is kept."""
