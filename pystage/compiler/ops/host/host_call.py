"""`HostCall`: a call of NumPy on the host, which runs some operations many times faster than XLA:CPU.

No library function emits one: `passes/host_calls.py` inserts them where an operation says that they pay. The host reads
XLA's buffers as NumPy arrays and must not write to them; a call takes some 10 µs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax.interpreters import mlir as jax_mlir
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.ir import Op
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, FLOAT64, ArrayType
from .float_environment import with_ordinary_floats


@dataclass(frozen=True)
class HostCall(HloOp):
    """`function(*operands)` on the host: arrays of NumPy in, a sequence of arrays of these `types` out.

    The function is pure, and compares equal to what computes the same. StableHLO: custom_call.
    """

    opcode = "custom_call"
    lowered_by_jax = True

    function: Callable[..., Sequence[np.ndarray]]
    types: tuple[ArrayType, ...]

    def infer(self, *operands: ArrayType) -> tuple[ArrayType, ...]:
        """The types of the results, which are static operands."""
        return self.types

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        """A callback of JAX's."""
        return call_host(e, op, self._called, operands)

    def _called(self, *operands: Any) -> tuple[np.ndarray, ...]:
        return _Wide(self.reference(*[np.asarray(x) for x in operands]))

    def reference(self, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        """What the function gives."""
        return tuple(self.function(*operands))

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """One result and two."""
        x = np.array([[3, 1, 2], [0, np.nan, -1]], np.float32)
        one, two = ArrayType(FLOAT32, (2, 3)), ArrayType(FLOAT64, (3,))
        return (
            Sample(cls(_negative, (one,)), (x,)),
            Sample(cls(_negative, (one, two)), (x, np.arange(3.0))),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """A result of more bytes than there can be."""
        return (ErrorSample(cls(_negative, (ArrayType(FLOAT32, (1 << 60,)),)), (), "an array of the shape"),)


class _Wide(tuple[np.ndarray, ...]):
    """Results that JAX takes with 64-bit types enabled, whichever of XLA's threads it runs in: else it narrows them."""

    def __iter__(self) -> Iterator[np.ndarray]:
        with jax.enable_x64(True):
            yield from super().__iter__()


def call_host(
    e: Emitter, op: Op, function: Callable[..., Any], operands: Sequence[mlir_ir.Value], effect: bool = False
) -> Sequence[mlir_ir.Value]:
    """Emits `function(*operands)` as a callback of JAX's, which gives a tuple of arrays: the results of `op`."""
    taken, given = [
        [jax.core.ShapedArray(v.type.shape, v.type.dtype) for v in values]
        for values in (op.operands, op.results)
    ]
    context = e.lowering.replace(primitive=None, avals_in=taken, avals_out=given, tokens_out=None)
    made, _, _ = jax_mlir.emit_python_callback(
        context,
        with_ordinary_floats(function),
        None,
        operands,
        taken,
        given,
        has_side_effect=effect,
        returns_token=False,
    )
    return list(made)


def _negative(*operands: np.ndarray) -> list[np.ndarray]:
    """For samples."""
    return [-x for x in operands]
