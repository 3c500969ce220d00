"""Estimates the cost of a program by source line.

In: a function of HLO IR as it goes to XLA, which itself reports only totals. Out: for each location the arithmetic and the
bytes read and written, as if every operation were computed by itself; fusion in XLA moves less. A loop counts with its
largest trip count where that is known, else once, and its lines are marked; of a branch, both arms count.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

from ..compiler.hlo.ir import Function, Op, Region
from ..compiler.hlo.walk import callees
from ..compiler.ops import (
    BitcastConvert,
    Broadcast,
    Call,
    Case,
    Cholesky,
    Concatenate,
    Constant,
    Convert,
    Convolution,
    CustomCall,
    DotGeneral,
    DynamicSlice,
    DynamicUpdateSlice,
    Fft,
    Gather,
    HostCall,
    If,
    Iota,
    JaxCall,
    Pad,
    Print,
    Reduce,
    ReduceWindow,
    ReduceWith,
    Reshape,
    Reverse,
    Scatter,
    Select,
    Slice,
    Transpose,
    TriangularSolve,
    While,
)
from ..records import dataclass
from ..runtime.reports.hlo_text import SourceLocation
from .programs import location_of

_NO_COST = (Constant, Iota, Reshape, BitcastConvert, Call, If, Case, While)
"""What gives other operations their values, or counts as what it holds."""
_NO_ARITHMETIC = (
    CustomCall,
    HostCall,
    JaxCall,
    Print,
    Broadcast,
    Concatenate,
    Convert,
    Gather,
    Pad,
    Reverse,
    Slice,
    DynamicSlice,
    Transpose,
    Select,
)
"""What only moves elements, or computes what pystage does not know."""
_PARTS = (DynamicSlice, Gather, Slice, Broadcast)
"""What reads no more than it gives."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Arithmetic operations, bytes read and written, and whether it stands for one of an unknown number of trips."""

    flops: float = 0.0
    bytes: float = 0.0
    each_trip: bool = False

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.flops + other.flops, self.bytes + other.bytes, self.each_trip or other.each_trip)

    def repeated(self, trips: int | None) -> Cost:
        """The cost of so many trips."""
        if trips is None:
            return Cost(self.flops, self.bytes, True)
        return Cost(self.flops * trips, self.bytes * trips, self.each_trip)


Costs = dict[SourceLocation | None, Cost]


def costs_of(function: Function) -> Costs:
    """The cost of a function and its callees, by source location; None for operations without one."""
    return _Costs().function(function)


class _Costs:
    """Costs of functions, each found once."""

    def __init__(self) -> None:
        self._known: dict[Function, Costs] = {}

    def function(self, function: Function) -> Costs:
        known = self._known.get(function)
        if known is None:
            known = self._known[function] = _sum(self._region(function.body))
        return known

    def _region(self, region: Region) -> Iterator[tuple[SourceLocation | None, Cost]]:
        for op in region.ops:
            yield location_of(op.span), cost_of(op)
            if isinstance(op.kind, While):
                inside = _sum(item for inner in op.regions for item in self._region(inner))
                yield from [(place, cost.repeated(op.kind.trip_count)) for place, cost in inside.items()]
            elif isinstance(op.kind, If | Case):
                for inner in op.regions:
                    yield from self._region(inner)
            elif isinstance(op.kind, Call):
                for callee in callees(op):
                    yield from self.function(callee).items()


def _sum(costs: Iterable[tuple[SourceLocation | None, Cost]]) -> Costs:
    total: Costs = defaultdict(Cost)
    for place, cost in costs:
        total[place] += cost
    return dict(total)


def cost_of(op: Op) -> Cost:
    """What an operation costs by itself, without what it holds or calls."""
    if isinstance(op.kind, _NO_COST):
        return Cost()
    return Cost(_flops(op), _bytes(op))


def _flops(op: Op) -> float:
    given = [o.type for o in op.operands]
    out = sum([r.type.size for r in op.results])
    match op.kind:
        case DotGeneral(lhs_contract=axes):
            return 2.0 * out * math.prod([given[0].shape[axis] for axis in axes])
        case Convolution(rhs_spec=spec):
            kernel = given[1].shape
            return 2.0 * out * math.prod(kernel) / max(1, kernel[spec[0]])
        case Reduce() | ReduceWith():
            return float(sum([type.size for type in given[: len(op.results)]]))
        case ReduceWindow(window=window):
            return float(out * math.prod(window))
        case Fft():
            return 5.0 * out * math.log2(max(2, out))
        case Cholesky():
            return out * given[0].shape[-1] / 3
        case TriangularSolve():
            return float(out * given[0].shape[-1])
        case DynamicUpdateSlice():
            return 0.0
        case Scatter():
            return float(given[-1].size)
        case kind if isinstance(kind, _NO_ARITHMETIC):
            return 0.0
        case _:
            return float(out)


def _bytes(op: Op) -> float:
    out = sum([r.type.nbytes for r in op.results])
    match op.kind:
        case kind if isinstance(kind, _PARTS):
            return 2.0 * out
        case DynamicUpdateSlice():
            return 2.0 * op.operands[1].type.nbytes
        case Scatter():
            return 3.0 * op.operands[-1].type.nbytes
    return float(out + sum([o.type.nbytes for o in op.operands]))
