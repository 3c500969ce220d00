"""Discrete Fourier transforms over the last one to three axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir
from jaxlib.mlir.dialects import stablehlo

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents
from ...hlo.ir import Op
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT32, ArrayType, ShapeError
from ..batching import as_one
from ..operands import require_dtype
from ..structure.shapes import Constant

KINDS = ("FFT", "IFFT", "RFFT", "IRFFT")
_COMPLEX = {FLOAT32: COMPLEX64, FLOAT64: COMPLEX128}
_REAL = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}


@dataclass(frozen=True)
class Fft(HloOp):
    """The transform `kind` over the last `len(lengths)` axes, of these lengths. StableHLO: fft.

    RFFT takes real numbers and gives the first `n // 2 + 1` coefficients along the last axis; IRFFT takes
    those and gives `n` real numbers. The inverse transforms divide by the number of elements.
    """

    opcode = "fft"
    linear = (0,)

    kind: str
    lengths: tuple[int, ...]

    def infer(self, *operands: ArrayType) -> ArrayType:
        """The type of `x` with the last axis and the element type as the kind wants it."""
        (x,) = operands
        if self.kind not in KINDS:
            raise ShapeError(f"fft: {self.kind!r} is none of {', '.join(KINDS)}")
        if not 1 <= len(self.lengths) <= min(3, x.rank):
            raise ShapeError(f"{self.kind} of {x}: cannot transform {len(self.lengths)} axes")
        require_dtype(self.kind, x, frozenset(_COMPLEX if self.kind == "RFFT" else _REAL))
        half = self.lengths[-1] // 2 + 1
        given = (*self.lengths[:-1], half) if self.kind == "IRFFT" else self.lengths
        if x.shape[-len(given) :] != given:
            raise ShapeError(f"{self.kind} of {x}: lengths {self.lengths} need last axes {given}")
        match self.kind:
            case "RFFT":
                return ArrayType(_COMPLEX[x.dtype], (*x.shape[:-1], half))
            case "IRFFT":
                return ArrayType(_REAL[x.dtype], (*x.shape[:-1], self.lengths[-1]))
            case _:
                return x

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.fft`."""
        attributes = {
            "fft_type": stablehlo.FftTypeAttr.get(self.kind),
            "fft_length": e.i64s(self.lengths),
        }
        return e.create(self.opcode, op.results, operands, attributes)

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """NumPy's transform."""
        (x,) = operands
        functions: dict[str, Callable[..., np.ndarray]] = {
            "FFT": np.fft.fftn,
            "IFFT": np.fft.ifftn,
            "RFFT": np.fft.rfftn,
            "IRFFT": np.fft.irfftn,
        }
        axes = range(-len(self.lengths), 0)
        result = functions[self.kind](x, self.lengths, axes)
        if self.kind == "RFFT":
            return result.astype(_COMPLEX[x.dtype])
        return result.astype(_REAL[x.dtype] if self.kind == "IRFFT" else x.dtype)

    batch = as_one

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Every kind, even and odd lengths, one to three axes, both precisions."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal((2, 3, 4, 6))
        z = (x + 1j * rng.standard_normal(x.shape)).astype(np.complex64)
        return (
            Sample(cls("FFT", (6,)), (z,)),
            Sample(cls("FFT", (3, 4, 6)), (z,)),
            Sample(cls("IFFT", (4, 6)), (z,)),
            Sample(cls("IFFT", (6,)), (x + 0j,)),
            Sample(cls("RFFT", (6,)), (x.astype(np.float32),)),
            Sample(cls("RFFT", (4, 6)), (x,)),
            Sample(cls("RFFT", (5,)), (x[..., :5],)),
            Sample(cls("IRFFT", (4, 10)), (z,)),
            Sample(cls("IRFFT", (11,)), (x + 0j,)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Kinds, lengths and element types that do not fit."""
        x, z = ArrayType(FLOAT32, (4, 6)), ArrayType(COMPLEX64, (4, 6))
        return (
            ErrorSample(cls("DCT", (6,)), (z,), "none of FFT"),
            ErrorSample(cls("FFT", (6,)), (x,), "takes complex numbers, not f32[4,6]"),
            ErrorSample(cls("RFFT", (6,)), (x.with_dtype(INT32),), "not s32[4,6]"),
            ErrorSample(cls("FFT", (5,)), (z,), "lengths (5,) need last axes (5,)"),
            ErrorSample(cls("IRFFT", (6,)), (z,), "lengths (6,) need last axes (4,)"),
            ErrorSample(cls("FFT", ()), (z,), "cannot transform 0 axes"),
            ErrorSample(cls("FFT", (1, 4, 6)), (z,), "cannot transform 3 axes"),
        )

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        if self.kind in ("FFT", "IFFT"):
            return (c.op(self, ct),)
        (x,) = op.operands
        if self.kind == "RFFT":
            # the transpose of "pad with zeros, transform, take the half": of the complex transform, the real part
            whole = [*ct.type.shape[:-1], self.lengths[-1]]
            high = [n - m for n, m in zip(whole, ct.type.shape)]
            return (c.real(c.op(Fft("FFT", self.lengths), c.pad(ct, [0] * len(high), high))),)
        # inner coefficients stand for two that are each other's conjugates
        half, n = x.type.shape[-1], self.lengths[-1]
        spectrum = c.op(Fft("RFFT", self.lengths), ct)
        weights = np.full(half, 2 / math.prod(self.lengths))
        weights[0] /= 2
        if n % 2 == 0:
            weights[-1] /= 2
        scale = c.op(Constant(weights.astype(x.type.dtype)))
        return (c.mul(c.conj(spectrum), c.broadcast(scale, x.type.shape, (x.type.rank - 1,))),)
