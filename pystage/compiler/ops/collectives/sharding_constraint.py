"""How an array is laid out over the devices of a mesh, as XLA's partitioner is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.interpreters.mlir import ir as mlir_ir
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, FLOAT64, ArrayType, ShapeError
from ..foreign.jax_call import emit_by_jax
from ..sampling import grid


@dataclass(frozen=True)
class ShardingConstraint(HloOp):
    """The operand, laid out as `sharding` says; so is its cotangent. JAX: sharding_constraint."""

    sharding: NamedSharding

    opcode = "sharding_constraint"
    lowered_by_jax = True
    linear = (0,)

    @property
    def mesh(self) -> Any:
        """The devices over which it is laid out."""
        return self.sharding.mesh

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        if len(self.sharding.spec) > operand.rank:
            raise ShapeError(f"sharding_constraint lays out {len(self.sharding.spec)} axes of {operand}")
        return operand

    def __call__(self, *operands: Any) -> list[Any]:
        """The result in a trace of JAX's."""
        return [jax.lax.with_sharding_constraint(operands[0], self.sharding)]

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        return emit_by_jax(e, op, self, operands)

    def reference(self, *operands: np.ndarray) -> Any:
        return operands[0]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.op(self, ct),)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        """The batch may be laid out in any way."""
        spec = PartitionSpec(PartitionSpec.UNCONSTRAINED, *self.sharding.spec)
        return (c.op(ShardingConstraint(NamedSharding(self.sharding.mesh, spec)), *operands),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [Sample(cls(_on_one(*spec)), (grid(FLOAT64, (2, 3)),)) for spec in ((), ("i",), (None, "i"))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [
            ErrorSample(cls(_on_one(None, "i")), (ArrayType(FLOAT32, (2,)),), "lays out 2 axes of f32[2]")
        ]


def _on_one(*spec: str | None) -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()[:1]), ("i",)), PartitionSpec(*spec))
