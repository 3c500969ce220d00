"""Calls of functions that XLA or a library has registered by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.ir import Op
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, ArrayType, ShapeError

REFERENCES: Mapping[str, Callable[..., Any]] = MappingProxyType({"Sharding": np.copy})
"""What targets compute, for the reference interpreter; others have none there."""
TYPED_FFI = 4
"""The version of the calling convention that takes its configuration as a dictionary."""


@dataclass(frozen=True)
class CustomCall(HloOp):
    """Calls the function `target` that is registered with XLA on the device. StableHLO: custom_call.

    `results` are the types of what it returns, which XLA takes on trust. `backend_config` is text; with
    `api_version` 4 (XLA's typed FFI) it is MLIR text of a dictionary, as `{n = 3 : i64}`. A call with
    `has_side_effect` runs once and in order, even if its results are unused.
    """

    opcode = "custom_call"

    target: str
    results: tuple[ArrayType, ...]
    backend_config: str = ""
    has_side_effect: bool = False
    api_version: int = 2

    @property
    def pure(self) -> bool:  # type: ignore[override]
        """False if the call has a side effect."""
        return not self.has_side_effect

    def infer(self, *operands: ArrayType) -> tuple[ArrayType, ...]:
        """The types that were declared."""
        if not self.target:
            raise ShapeError("custom call: no target is named")
        if not 1 <= self.api_version <= TYPED_FFI:
            raise ShapeError(f"custom call of {self.target}: there is no API version {self.api_version}")
        return self.results

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.custom_call`."""
        version = mlir_ir.IntegerAttr.get(mlir_ir.IntegerType.get_signless(32), self.api_version)
        attributes: dict[str, mlir_ir.Attribute] = {
            "call_target_name": mlir_ir.StringAttr.get(self.target),
            "has_side_effect": mlir_ir.BoolAttr.get(self.has_side_effect),
            "api_version": version,
        }
        if self.api_version == TYPED_FFI:
            attributes["backend_config"] = e.parse(self.backend_config or "{}")
        elif self.backend_config:
            attributes["backend_config"] = mlir_ir.StringAttr.get(self.backend_config)
        return e.create(self.opcode, op.results, operands, attributes)

    def reference(self, *operands: np.ndarray) -> Any:
        """What `REFERENCES` says of the target."""
        known = REFERENCES.get(self.target)
        if known is None:
            raise NotImplementedError(f"custom call of {self.target}: only the device knows what it computes")
        return known(*operands)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """The annotation that every backend knows, which gives back its operand."""
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        return (Sample(cls("Sharding", (ArrayType(FLOAT32, (2, 3)),)), (x,)),)

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Calls of nothing, and by a convention that does not exist."""
        return (
            ErrorSample(cls("", ()), (), "no target"),
            ErrorSample(cls("f", (), api_version=5), (), "no API version 5"),
        )
