"""Chooses the XLA options of a program.

XLA has one option for a whole program, so the gain of each in some operations is weighed against its loss in others;
`docs/performance.md` has the measurements.

- **The library.** XLA:CPU gives products, sums and convolutions to a library (YNNPACK), which packs the right operand of a
  product at every call. For weights of many megabytes packing takes longer than the product: such programs are compiled
  without the library.
- **The emitters.** XLA:CPU emits its kernels through MLIR. With its older emitters a program takes three quarters of the
  time to compile, but loops over vectors run slower. Programs that do little work on vectors are compiled by these.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from ...compiler.hlo.ir import Function, Op, Region, Value
from ...compiler.hlo.types import ArrayType
from ...compiler.hlo.walk import callees
from ...compiler.ops import (
    Broadcast,
    Call,
    Cbrt,
    Clamp,
    Compare,
    Constant,
    Convert,
    Convolution,
    Divide,
    DotGeneral,
    Exponential,
    ExponentialMinusOne,
    Gather,
    Iota,
    Log,
    Logistic,
    LogPlusOne,
    Reduce,
    ReduceWindow,
    Reshape,
    Rsqrt,
    Scatter,
    Select,
    Sort,
    Sqrt,
    Tanh,
    Transpose,
    While,
)
from ...compiler.ops.elementwise.base import Elementwise
from ...compiler.ops.foreign.jax_call import JaxCall
from ...compiler.passes.cost_model import estimate
from ...config import config
from ...records import dataclass
from ..processor_speed import slowness

Options = Mapping[str, bool | int | float | str]

_LIBRARY = "xla_cpu_experimental_ynn_fusion_type"
_EMITTERS = "xla_cpu_use_fusion_emitters"

WITHOUT_LIBRARY: Options = {_LIBRARY: ""}
"""Nothing for the library. Without products alone it would take them, and all between, into reductions: slower yet."""

LARGE = 32 << 20
"""From so many bytes on the right operand of a product, which no cache holds, is packed for longer than it is used."""
# Nanoseconds: a byte of the right operand, by how the product is; a byte of both operands; an element.
_PACKED = 0.05
_TRANSPOSED = 0.5
_WIDE = 0.05
_BATCHED = 1.0
_SUMMED = 1.0
_MARGIN = 2.0
"""How many times the loss the gain must be."""


OLDER_EMITTERS: Options = {_EMITTERS: False}
"""The emitters from before MLIR."""
_HAS_OLDER_EMITTERS = jax.__version_info__ < (0, 11)

RUNS = 10_000
"""Runs of a program after which what the older emitters save while it is compiled may be lost."""
_SAVED = 0.25
"""The share of XLA's time that they save."""
_AS_ESTIMATED = 0.5
"""What XLA takes, as a share of what the cost model gives, where `slowness` is 1: the median of `examples/scripts`."""
_SLOWER = 0.09
"""The share of the time of a run that they may lose, in any case."""
_TRIPS = 100
"""Trips that a loop is taken to make where only the run knows."""
_NARROW = 16
"""Elements: on so few, their loops take no longer."""
# Nanoseconds: an operation; a multiplication in a product; an element that is reduced, or sorted; one that is scattered, and
# by how much longer that takes.
_OPERATION = 50.0
_MULTIPLIED = 0.02
_COMBINED, _SORTED = 0.3, 30.0
_WRITTEN, _SCATTERED = 1.0, 3.0


class _Element(NamedTuple):
    """Nanoseconds for an element of a vector; by how many the older emitters take longer, and for a vector that a loop
    carries, whose elements they compute one by one.
    """

    time: float
    longer: float
    carried: float


_VECTOR, _DIVISION, _SERIES = _Element(0.1, 0.05, 0.3), _Element(0.3, 0.1, 1.3), _Element(1.5, 0.6, 5.0)
_DIVISIONS = (Divide, Sqrt, Rsqrt)
_BY_SERIES = (Exponential, ExponentialMinusOne, Log, LogPlusOne, Logistic, Tanh, JaxCall)
_VECTOR_WORK = (Elementwise, Compare, Select, Clamp, Convert, Gather, JaxCall)
_FREE = (Constant, Reshape, Broadcast, Iota, Call)


@dataclass(frozen=True, slots=True)
class Weight:
    """The estimated time of a program, and the gain and the loss by an option, in nanoseconds; `opaque`: it has parts that
    are not estimated.
    """

    time: float = 0.0
    gain: float = 0.0
    loss: float = 0.0
    opaque: bool = False

    def __add__(self, other: Weight) -> Weight:
        return Weight(
            self.time + other.time,
            self.gain + other.gain,
            self.loss + other.loss,
            self.opaque or other.opaque,
        )

    def times(self, count: int) -> Weight:
        """The same, `count` times."""
        return Weight(self.time * count, self.gain * count, self.loss * count, self.opaque)


def options_for(function: Function) -> Options:
    """The options for a program on the default backend: the user's, or what was measured to be the best."""
    if config.compiler_options is not None:
        return config.compiler_options
    if jax.default_backend() != "cpu":
        return {}
    return {
        option: value
        for option, value in best(function).items()
        if not _set_by_user(option) and (option == _EMITTERS or known())
    }


def best(function: Function) -> Options:
    """The best options of XLA:CPU for a program; none where its defaults are."""
    products = _Weights(_of_product, 1).function(function)
    chosen = {} if products.opaque or products.gain <= _MARGIN * products.loss else dict(WITHOUT_LIBRARY)
    if _HAS_OLDER_EMITTERS:
        vectors = _Weights(_of_vector, _TRIPS).function(function)
        saved = _SAVED * estimate(function) * 1e9 / RUNS
        if not vectors.opaque and vectors.loss < max(saved, _SLOWER * vectors.time):
            chosen.update(OLDER_EMITTERS)
    return chosen


def expected_seconds(function: Function, options: Options) -> float:
    """Seconds of the processor that XLA:CPU will take for a program with these options."""
    return estimate(function) * _AS_ESTIMATED * slowness() * (1 - _SAVED if _EMITTERS in options else 1)


class _Weights:
    """The weights of functions and regions: those of their operations by `of_op`, which is told of the types of what the
    loop around carries.

    `trips`: those of loops that have no known number.
    """

    def __init__(self, of_op: Callable[[Op, Carried], Weight], trips: int) -> None:
        self._of_op = of_op
        self._trips = trips
        self._known: dict[tuple[Function, Carried], Weight] = {}

    def function(self, function: Function, carried: Carried = frozenset()) -> Weight:
        """A function, at each call."""
        key = function, carried
        if key not in self._known:
            self._known[key] = self._region(function.body, carried)
        return self._known[key]

    def _region(self, region: Region, carried: Carried) -> Weight:
        return sum([self._op(op, carried) for op in region.ops], Weight())

    def _op(self, op: Op, carried: Carried) -> Weight:
        is_loop = isinstance(op.kind, While)
        around = frozenset([v.type for v in op.operands]) if is_loop else carried
        inside = sum([self._region(region, around) for region in op.regions], self._of_op(op, carried))
        inside = sum([self.function(callee, carried) for callee in callees(op)], inside)
        if not isinstance(op.kind, While):
            return inside
        trips = op.kind.trip_count
        return inside.times(self._trips if trips is None else trips)


Carried = frozenset[ArrayType]
"""The types of what a loop carries."""


def _of_vector(op: Op, carried: Carried) -> Weight:
    """The time of an operation, and what the older emitters lose by it."""
    kind = op.kind
    match kind:
        case Cbrt():  # which they compute six units in the last place less exactly
            return Weight(opaque=True)
        case DotGeneral():
            lhs = op.operands[0].type
            terms = math.prod([lhs.shape[axis] for axis in kind.lhs_contract])
            return Weight(_OPERATION + _MULTIPLIED * terms * op.results[0].type.size)
        case Scatter():
            count = op.operands[-1].type.size
            return Weight(_OPERATION + _WRITTEN * count, loss=_SCATTERED * count)
        case Sort() | Reduce() | ReduceWindow():
            each = _SORTED if isinstance(kind, Sort) else _COMBINED
            return Weight(_OPERATION + each * op.operands[0].type.size)
    if isinstance(kind, _FREE):
        return Weight()
    if not isinstance(kind, _VECTOR_WORK):
        return Weight(_OPERATION)
    type = op.results[0].type
    element = (
        _SERIES if isinstance(kind, _BY_SERIES) else _DIVISION if isinstance(kind, _DIVISIONS) else _VECTOR
    )
    longer = element.carried if type in carried else element.longer
    return Weight(
        _OPERATION + type.size * element.time, loss=type.size * longer if type.size > _NARROW else 0.0
    )


def _of_product(op: Op, carried: Carried) -> Weight:
    """What leaving out the library gains and loses by an operation."""
    kind = op.kind
    if isinstance(kind, Reduce | ReduceWindow):
        return Weight(loss=_SUMMED * op.operands[0].type.size)
    if not isinstance(kind, DotGeneral):
        return Weight(opaque=isinstance(kind, JaxCall | Convolution))
    lhs, rhs = op.operands
    if not np.issubdtype(op.results[0].type.dtype, np.inexact) or 1 in (
        _rows(lhs, kind),
        _columns(rhs, kind),
    ):
        return Weight()  # never the library's
    size = rhs.type.nbytes
    if kind.lhs_batch or len(rhs.type.shape) != 2:
        return Weight(loss=_BATCHED * (size + lhs.type.nbytes))
    if _source_axis(lhs, kind.lhs_contract[0]) != len(lhs.type.shape) - 1:
        return Weight()
    if rhs.type.dtype != np.float32:
        return Weight(loss=_WIDE * size)
    if _source_axis(rhs, kind.rhs_contract[0]) == 1:
        return Weight(loss=_TRANSPOSED * size)
    return Weight(gain=_PACKED * size if size >= LARGE else 0.0)


def _rows(value: Value, kind: DotGeneral) -> int:
    return _free(value, (*kind.lhs_batch, *kind.lhs_contract))


def _columns(value: Value, kind: DotGeneral) -> int:
    return _free(value, (*kind.rhs_batch, *kind.rhs_contract))


def _free(value: Value, axes: tuple[int, ...]) -> int:
    """The product of the extents of the other axes."""
    return math.prod(extent for axis, extent in enumerate(value.type.shape) if axis not in axes)


def _source_axis(value: Value, axis: int) -> int:
    """The axis in memory order: XLA fuses a transposition into the product."""
    maker = value.owner
    return (
        maker.kind.permutation[axis] if isinstance(maker, Op) and isinstance(maker.kind, Transpose) else axis
    )


def _set_by_user(option: str) -> bool:
    """True if `XLA_FLAGS` mentions an option: the flags, or the name of a file of flags."""
    flags = os.environ.get("XLA_FLAGS", "")
    if flags and not flags.lstrip().startswith("-"):
        try:
            flags = Path(flags.strip()).read_text()
        except OSError:
            return False
    return option in flags


@functools.cache
def known() -> bool:
    """True if this XLA has the option and accepts its values; found out once by compiling an empty program."""
    try:
        with jax.core.eval_context():
            jax.jit(lambda: 0, compiler_options=dict(WITHOUT_LIBRARY)).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
