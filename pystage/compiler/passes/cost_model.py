"""Cost model of XLA's compilation: estimates its time from the operations of a program.

In: a function of HLO IR, before the passes that depend on the platform. Out: seconds. XLA fuses elementwise code into its
users, so that most of its time goes into everything else: a store, a reduction, a loop or a branch becomes a machine
function, and each of them contains all unfused code that flows into it once more. A callee is compiled again at every call.
The weights are fitted to measured times; docs/performance.md says how well. They enter with counts alone, so that a
program is refused on every machine or on none.
"""

from __future__ import annotations

import itertools
from collections import Counter

from ...config import config
from .. import limits, ops
from ..diagnostics.errors import StagingError
from ..diagnostics.span import Span
from ..hlo.ir import Function, Op, Region, Value, type_of
from ..hlo.op import HloOp
from ..hlo.types import is_integer
from ..hlo.walk import callees, structured
from ..values.program_growth import Multiplied, too_large
from .outlining import plan_of

_FREE = (ops.Constant, ops.Reshape, ops.Broadcast, ops.Iota, ops.Call, ops.BitcastConvert, ops.Convert)
_KERNELS: dict[type[HloOp], float] = {
    **dict.fromkeys(
        (ops.DynamicUpdateSlice, ops.DynamicSlice, ops.Concatenate, ops.RngBitGenerator, ops.Print), 2.0
    ),
    ops.DotGeneral: 0.5,
    **dict.fromkeys((ops.Gather, ops.Fft, ops.CustomCall, ops.ReduceWindow), 4.0),
    **dict.fromkeys((ops.While, ops.Convolution), 8.0),
    **dict.fromkeys((ops.If, ops.Case, ops.Sort, ops.JaxCall), 22.0),
    **dict.fromkeys((ops.Scatter, ops.SelectAndScatter, ops.Cholesky, ops.TriangularSolve), 40.0),
}
"""Milliseconds for what is not computed where it is used."""
_FUSED: dict[type[HloOp], float] = {
    **dict.fromkeys(_FREE, 0.05),
    **dict.fromkeys((ops.Slice, ops.Reverse, ops.Transpose), 0.5),
    ops.Pad: 1.5,
}
"""Milliseconds for what is computed where it is used, and no arithmetic."""
_NUMBER, _ARRAY = 0.3, 0.5
"""Milliseconds for arithmetic on a number, and on an array."""
_TO_NUMBER, _AGAIN, _TO_ARRAY = 25.0, 2.0, 35.0
"""Milliseconds for a reduction to a number, for one more of the same kind, and for one to an array."""
_CHAINED, _SMALL_CHAINED, _SMALL = 27.0, 4.0, 64
"""Milliseconds for a store into what the store before it gave: in general, and in an array of so few elements."""
_CROWD = 0.02
"""Milliseconds for the arithmetic on arrays in one region, to the power of three halves of its operations."""
_CONE = 0.6
"""Milliseconds for an operation that is computed once more."""
_BY_SERIES = (
    ops.Sine,
    ops.Cosine,
    ops.Tan,
    ops.Exponential,
    ops.ExponentialMinusOne,
    ops.Log,
    ops.LogPlusOne,
    ops.Logistic,
    ops.Power,
    ops.Atan2,
)
_STORED = (*_BY_SERIES, ops.Divide)
"""Operations that XLA computes once for several users."""
_REDUCTIONS, _DIVISIONS = (ops.Reduce, ops.ReduceWith), (ops.Divide, ops.Remainder)
_SERIES, _DIVISION = 3, 15
"""How many additions a function that is computed by a series is worth, and a division of integers."""
_FEW = 10
"""Operations up to which XLA makes two reductions with the same flowing into them one function."""


def check_size(function: Function, multiplied: tuple[Multiplied, ...]) -> None:
    """Raises `StagingError` (PS404) for what XLA would take longer for than `pystage.config.program_limit`."""
    limit = config.program_limit
    if limit is None:
        return
    if _seconds(_Bound().function(function)) <= limit:
        return
    seconds = estimate(function)
    if seconds > limit:
        lines = _Lines()
        lines.function(function)
        size = f"about {seconds:,.0f} s of XLA's time"
        raise StagingError((too_large(size, limit, multiplied, *lines.worst(seconds)),))


def estimate(function: Function) -> float:
    """Seconds of the processor that XLA:CPU will take for a program."""
    return _seconds(_Estimate().function(function))


def _seconds(milliseconds: float) -> float:
    """The time of a program whose operations take so long."""
    return 0.1 + milliseconds / 1e3


class _Estimate:
    """Milliseconds of functions and regions."""

    def __init__(self) -> None:
        self._functions: dict[Function, float] = {}
        self._reductions: set[object] = set()
        self._computations = _Computations()

    def function(self, function: Function) -> float:
        """A function, each time that it is called."""
        found = self._functions.get(function)
        if found is None:
            found = self._functions[function] = self.region(function.body)
        return found

    def region(self, region: Region) -> float:
        """A region and what it holds."""
        cones: dict[Value, float] = {}
        uses = Counter([v for op in region.ops for v in op.operands])
        total, arithmetic = 0.0, 0
        kept, holding = plan_of(region), set(structured(region.ops))
        for place, op in enumerate(region.ops):
            cls = type(op.kind)
            cone = sum(map(cones.get, op.operands, itertools.repeat(0.0)))
            cost = self.inside(op) if op in holding else 0.0
            kernel = self._kernel(op, uses, cone)
            if kernel is not None:
                cost += kernel + _CONE * min(cone, limits.RECOMPUTED_OPERATIONS)
            elif cls in _FUSED:
                cost += _FUSED[cls]
                if cls is not ops.Broadcast:
                    cones[op.results[0]] = min(cone, limits.RECOMPUTED_OPERATIONS)
            else:
                is_array = op.results[0].type.size > 1
                steps = _steps(op)
                cost += steps * (_ARRAY if is_array else _NUMBER)
                arithmetic += steps * is_array
                shared = isinstance(op.kind, _STORED) and uses[op.results[0]] > 1
                cones[op.results[0]] = 0.0 if shared else min(cone + 1, limits.RECOMPUTED_OPERATIONS)
            if kernel is None:
                self._computations.add(op)
            self.note(op, cost)
            total += cost
            cones.update(dict.fromkeys(kept.get(place, ()), 0.0))
        crowd: float = arithmetic**1.5
        return total + _CROWD * crowd

    def inside(self, op: Op) -> float:
        """The cost of an operation's callee and regions."""
        return sum([self.function(f) for f in callees(op)]) + sum([self.region(r) for r in op.regions])

    def note(self, op: Op, cost: float) -> None:
        """Told of what each operation costs, with all that it holds."""

    def _kernel(self, op: Op, uses: Counter[Value], cone: float) -> float | None:
        """The cost of an operation that is computed once for all its users; None for any other."""
        kind = op.kind
        if isinstance(kind, ops.DynamicUpdateSlice):
            before = op.operands[0].owner
            if isinstance(before, Op) and isinstance(before.kind, ops.DynamicUpdateSlice):
                return _CHAINED if op.results[0].type.size > _SMALL else _SMALL_CHAINED
        if isinstance(kind, _REDUCTIONS):
            key = self._computations.key(op)
            if isinstance(kind, ops.Reduce) and cone < _FEW and key in self._reductions:
                return _AGAIN
            self._reductions.add(key)
            return _TO_ARRAY if op.results[0].type.size > 1 else _TO_NUMBER
        return _KERNELS.get(type(kind))


_MOST = (
    max(*_KERNELS.values(), _TO_ARRAY, _CHAINED, _DIVISION * _ARRAY) + _CONE * limits.RECOMPUTED_OPERATIONS
)
"""Milliseconds for one operation without what it holds, at most."""


class _Bound:
    """More milliseconds than `_Estimate` gives, from the number of operations alone: enough for most programs."""

    def __init__(self) -> None:
        self._functions: dict[Function, float] = {}

    def function(self, function: Function) -> float:
        """A function, each time that it is called."""
        found = self._functions.get(function)
        if found is None:
            found = self._functions[function] = self._region(function.body)
        return found

    def _region(self, region: Region) -> float:
        count = len(region.ops)
        crowd: float = (_DIVISION * count) ** 1.5
        total = _MOST * count + _CROWD * crowd
        for op in structured(region.ops):
            total += sum([self.function(f) for f in callees(op)]) + sum([self._region(r) for r in op.regions])
        return total


class _Computations:
    """Numbers for what is computed where it is used: equal for equal operations on equal types.

    Numbers that are constants count, as do the places of slices. An array that is a constant is an input of XLA's function.
    """

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._of: dict[Value, int] = {}

    def key(self, op: Op) -> tuple[object, ...]:
        """The operation on what flows into it."""
        return op.kind, *map(self._of.get, op.operands, map(type_of, op.operands))

    def add(self, op: Op) -> None:
        """Takes in an operation with one result that is computed where it is used."""
        if isinstance(op.kind, ops.Constant) and op.results[0].type.size > 1:
            return
        self._of[op.results[0]] = self._numbers.setdefault(self.key(op), len(self._numbers))


def _steps(op: Op) -> int:
    """How many additions an operation of arithmetic is worth to XLA."""
    if isinstance(op.kind, _DIVISIONS):
        return _DIVISION if is_integer(op.results[0].type.dtype) else 1
    return _SERIES if isinstance(op.kind, _BY_SERIES) else 1


class _Lines(_Estimate):
    """The estimated milliseconds by source line; a callee's count at each call site."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[tuple[str, int], float] = {}
        self.spans: dict[tuple[str, int], Span] = {}

    def note(self, op: Op, cost: float) -> None:
        if op.span is not None and not op.regions:
            place = op.span.file, op.span.line
            self.spans.setdefault(place, op.span)
            self.found[place] = self.found.get(place, 0.0) + cost

    def worst(self, seconds: float) -> tuple[Span | None, float]:
        """The line that the most of them are for, and which share of the program that is."""
        place, most = max(self.found.items(), key=lambda item: item[1], default=(None, 0.0))
        return (None, 0.0) if place is None else (self.spans[place], min(most / seconds / 1e3, 1.0))
