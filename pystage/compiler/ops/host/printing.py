"""`Print`: a host callback that writes while the program runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...diagnostics.codes_runtime import PrintElsewhere
from ...diagnostics.errors import StagingError
from ...hlo.ir import Op
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, INT32, ArrayType
from ..operands import require
from ..sampling import grid
from .host_call import call_host

TOKEN = ArrayType(INT32)
"""The type of what says that all has been printed that comes before."""


@dataclass(frozen=True)
class Print(HloOp):
    """`write(*operands)` on the host, once what gave the first operand, the token, has printed.

    The host gets NumPy arrays, of all operands but the token. The result is the next token; that every token is
    used once keeps the order. Tokens count: at one below zero, nothing is written, as an earlier run of the same call has
    written it. StableHLO: custom_call.
    """

    opcode = "custom_call"
    pure = False
    lowered_by_jax = True

    write: Callable[..., None]

    def infer(self, *operands: ArrayType) -> ArrayType:
        require(operands[:1] == (TOKEN,), "print takes a token first")
        return TOKEN

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        """A callback of JAX's; `StagingError` (PS813) where the program does not run in this process."""
        _require_host(e.lowering.module_context, op)
        return call_host(e, op, self._called_back, operands, effect=True)

    def _called_back(self, token: Any, *values: Any) -> tuple[np.ndarray]:
        number = int(token)
        if number >= 0:
            self.write(*[np.asarray(v) for v in values])
        return (np.array(number + 1, INT32),)

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """The token, once the host has written."""
        return self._called_back(*operands)[0]

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        token = np.array(3, INT32)
        return [Sample(cls(_ignore), (token,)), Sample(cls(_ignore), (token, grid(FLOAT32, (2, 3))))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [
            ErrorSample(cls(_ignore), (), "a token first"),
            ErrorSample(cls(_ignore), (ArrayType(FLOAT32), TOKEN), "a token first"),
        ]


def _ignore(*_: np.ndarray) -> None:
    """For samples."""


def _require_host(context: Any, op: Op) -> None:
    """`StagingError` (PS813) for a module that runs in another process, or on more than one device."""
    where = ""
    if context.lowering_parameters.for_export:
        where = "an exported program runs without it"
    elif getattr(context.axis_context, "num_devices", 1) != 1:
        where = "this one runs on several devices"
    if where:
        raise StagingError((PrintElsewhere(span=op.span, where=where),))
