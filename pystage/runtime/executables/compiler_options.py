"""Chooses the XLA options of a program.

XLA:CPU gives products, sums and convolutions to a library (YNNPACK), which packs the right operand of a product at
every call. For weights of many megabytes packing takes longer than the product: such programs are compiled without the
library. For everything else it is faster; `docs/performance.md` has the measurements.

XLA has one option for a whole program, so its gain in one product is weighed against its loss in others.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping
from pathlib import Path

import jax
import numpy as np

from ...compiler.hlo.ir import Function, Op, Region, Value
from ...compiler.hlo.walk import callees
from ...compiler.ops import Convolution, DotGeneral, Reduce, ReduceWindow, Transpose, While
from ...compiler.ops.foreign.jax_call import JaxCall
from ...config import config
from ...records import dataclass

Options = Mapping[str, bool | int | float | str]

_LIBRARY = "xla_cpu_experimental_ynn_fusion_type"

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


@dataclass(frozen=True, slots=True)
class Weight:
    """The estimated gain and loss without the library, in nanoseconds; `opaque`: the program has parts that are not
    estimated.
    """

    gain: float = 0.0
    loss: float = 0.0
    opaque: bool = False

    def __add__(self, other: Weight) -> Weight:
        return Weight(
            self.gain + other.gain,
            self.loss + other.loss,
            self.opaque or other.opaque,
        )

    def times(self, count: int) -> Weight:
        """The same, `count` times."""
        return Weight(self.gain * count, self.loss * count, self.opaque)


def options_for(function: Function) -> Options:
    """The options for a program on the default backend: the user's, or what was measured to be the best."""
    if config.compiler_options is not None:
        return config.compiler_options
    if jax.default_backend() != "cpu":
        return {}
    chosen = best(function)
    return chosen if chosen and not _set_by_user(_LIBRARY) and known() else {}


def best(function: Function) -> Options:
    """The best options of XLA:CPU for a program; none where its defaults are."""
    weight = _of_region(function.body, {})
    pays = weight.gain > _MARGIN * weight.loss and not weight.opaque
    return WITHOUT_LIBRARY if pays else {}


def _of_region(region: Region, known: dict[Function, Weight]) -> Weight:
    return sum([_of_op(op, known) for op in region.ops], Weight())


def _of_function(function: Function, known: dict[Function, Weight]) -> Weight:
    if function not in known:
        known[function] = _of_region(function.body, known)
    return known[function]


def _of_op(op: Op, known: dict[Function, Weight]) -> Weight:
    match op.kind:
        case DotGeneral():
            return _of_product(op, op.kind)
        case Reduce() | ReduceWindow():
            return Weight(loss=_SUMMED * op.operands[0].type.size)
        case JaxCall() | Convolution():
            return Weight(opaque=True)
    inside = sum([_of_region(region, known) for region in op.regions], Weight())
    inside = sum([_of_function(callee, known) for callee in callees(op)], inside)
    trips = op.kind.trip_count if isinstance(op.kind, While) else 1
    return inside if trips is None else inside.times(trips)


def _of_product(op: Op, kind: DotGeneral) -> Weight:
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
