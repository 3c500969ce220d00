"""Over which named axes values vary: the place along an axis, and changes of how a value counts.

JAX's `shard_map` knows of each value over which axes of the mesh it varies from device to device. One that does not vary
is one number with one cotangent, the sum over all devices; wherever it meets one that varies, it counts as one of these
(`pvary`), and the transpose of that is a sum over the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax import lax
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, Tangents
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, FLOAT64, INT32, ArrayType, ShapeError
from ..batching import broadcast_to_batch
from ..foreign.named_axes import NamedAxis
from ..sampling import grid
from .base import ONE, Collective


@dataclass(frozen=True)
class AxisIndex(Collective):
    """The place of this participant along its only axis, as an int32. JAX: axis_index."""

    axes: tuple[NamedAxis, ...]

    opcode = "axis_index"

    def infer(self, *operands: ArrayType) -> ArrayType:
        if len(self.axes) != 1:
            raise ShapeError(f"axis_index takes one axis, not {len(self.axes)}")
        return ArrayType(INT32)

    def applied(self, *operands: Any) -> Any:
        return lax.axis_index(self.axes[0].name)

    def reference(self, *operands: np.ndarray) -> Any:
        return np.array(0, INT32)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [Sample(cls(ONE), ())]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [ErrorSample(cls(()), (), "axis_index takes one axis, not 0")]


@dataclass(frozen=True)
class Vary(Collective):
    """The operand, as one that varies over the axes: its cotangent is each participant's own. JAX: pvary."""

    axes: tuple[NamedAxis, ...]

    opcode = "pvary"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        if not self.axes:
            raise ShapeError("pvary takes one axis or more")
        return operands[0]

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        """Nothing: it is about derivatives."""
        return operands

    def applied(self, *operands: Any) -> Any:
        return operands[0]

    def along(self, operands: np.ndarray) -> np.ndarray:
        return operands

    def collected(self, c: Calculus, operand: Value) -> Value:
        return operand

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        return cotangents

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return operands

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [Sample(cls(ONE), (grid(FLOAT64, (2, 3)),))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [ErrorSample(cls(()), (ArrayType(FLOAT32),), "pvary takes one axis or more")]


class MatchVarying(HloOp):
    """The first operand as one that varies over the axes over which the second does: summed over all others.

    Cotangents are made so where they meet the value that they are of. `resolve_varying` replaces it, once it is known what
    varies over which axes.
    """

    opcode = "match_varying"

    def infer(self, *operands: ArrayType) -> ArrayType:
        operand, like = operands
        if operand != like:
            raise ShapeError(f"match_varying takes two operands of one type, not {operand} and {like}")
        return operand

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        """The operand: where the operation is left, nothing varies."""
        return operands[:1]

    def reference(self, *operands: np.ndarray) -> Any:
        return operands[0]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        return (cotangents[0], None)

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        return (None if tangents[0] is None else c.op(self, tangents[0], op.operands[1]),)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        shape = op.results[0].type.shape
        both = [
            broadcast_to_batch(c, x, f, batch_size, shape) for x, f in zip(operands, batched, strict=True)
        ]
        return (c.op(self, *both),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [Sample(cls(), (grid(FLOAT64, (2, 3)), grid(FLOAT64, (2, 3))))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [
            ErrorSample(cls(), (ArrayType(FLOAT32), ArrayType(INT32)), "of one type, not f32[] and s32[]")
        ]
