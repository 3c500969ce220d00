"""StableHLO's elementwise operations of one operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..hlo.op import ErrorSample, Sample
from ..hlo.types import BOOL, COMPLEX128, FLOAT32, FLOAT64, ArrayType, is_complex, is_integer
from .elementwise import FloatUnary, IntegerUnary, RealUnary, Unary
from .operands import COMPLEXES, FLOATS, INTEGERS, SIGNED, require_dtype
from .sampling import grid


def real_part_type(type: ArrayType) -> ArrayType:
    """The type of the real and imaginary parts, and of the absolute value; real types stay."""
    if is_complex(type.dtype):
        return type.with_dtype(FLOAT64 if type.dtype == COMPLEX128 else FLOAT32)
    return type


class Abs(Unary):
    """The absolute value; of a complex number its modulus, a real number. StableHLO: abs."""

    opcode = "abs"
    dtypes = SIGNED | FLOATS | COMPLEXES

    def infer(self, *operands: ArrayType) -> ArrayType:
        return real_part_type(super().infer(*operands))

    def reference(self, *operands: np.ndarray) -> Any:
        return np.abs(operands[0])


class Negate(Unary):
    """`-x`; integers wrap around. StableHLO: negate."""

    opcode = "negate"
    dtypes = INTEGERS | FLOATS | COMPLEXES
    numpy = np.negative


class Sign(Unary):
    """-1, 0 or 1, NaN of NaN, zeros keep their sign; of complex numbers `x / |x|`. StableHLO: sign."""

    opcode = "sign"
    dtypes = SIGNED | FLOATS | COMPLEXES

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        sign = np.sign(x)
        return sign if is_integer(x.dtype) or is_complex(x.dtype) else np.copysign(sign, x)


class Exponential(FloatUnary):
    """e to the power x. StableHLO: exponential."""

    opcode = "exponential"
    numpy = np.exp


class ExponentialMinusOne(FloatUnary):
    """`exp(x) - 1`, exact near 0. StableHLO: exponential_minus_one."""

    opcode = "exponential_minus_one"
    numpy = np.expm1


class Log(FloatUnary):
    """The natural logarithm; NaN of negative real numbers. StableHLO: log."""

    opcode = "log"
    numpy = np.log


class LogPlusOne(FloatUnary):
    """`log(1 + x)`, exact near 0. StableHLO: log_plus_one."""

    opcode = "log_plus_one"
    numpy = np.log1p


class Sqrt(FloatUnary):
    """The square root; NaN of negative real numbers. StableHLO: sqrt."""

    opcode = "sqrt"
    numpy = np.sqrt


class Rsqrt(FloatUnary):
    """`1 / sqrt(x)`. StableHLO: rsqrt."""

    opcode = "rsqrt"

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        return (x.dtype.type(1) / np.sqrt(x)).astype(x.dtype)


class Cbrt(RealUnary):
    """The real cube root. StableHLO: cbrt."""

    opcode = "cbrt"
    numpy = np.cbrt


class Sine(FloatUnary):
    """The sine of an angle in radians. StableHLO: sine."""

    opcode = "sine"
    numpy = np.sin


class Cosine(FloatUnary):
    """The cosine of an angle in radians. StableHLO: cosine."""

    opcode = "cosine"
    numpy = np.cos


class Tan(FloatUnary):
    """The tangent of an angle in radians. StableHLO: tan."""

    opcode = "tan"
    numpy = np.tan


class Tanh(FloatUnary):
    """The hyperbolic tangent. StableHLO: tanh."""

    opcode = "tanh"
    numpy = np.tanh


class Logistic(FloatUnary):
    """`1 / (1 + exp(-x))`. StableHLO: logistic."""

    opcode = "logistic"

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        one = x.dtype.type(1)
        return (one / (one + np.exp(-x))).astype(x.dtype)


class Ceil(RealUnary):
    """The least integer that is not less. StableHLO: ceil."""

    opcode = "ceil"
    numpy = np.ceil


class Floor(RealUnary):
    """The greatest integer that is not more. StableHLO: floor."""

    opcode = "floor"
    numpy = np.floor


class RoundNearestEven(RealUnary):
    """The nearest integer, halves to the even one, as `np.rint`. StableHLO: round_nearest_even."""

    opcode = "round_nearest_even"
    domain = (-2.5, 2.5)
    numpy = np.rint


class RoundNearestAfz(RealUnary):
    """The nearest integer, halves away from zero. StableHLO: round_nearest_afz."""

    opcode = "round_nearest_afz"
    domain = (-2.5, 2.5)

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        whole = np.trunc(x)
        away = whole + np.copysign(np.ones_like(x), x)
        return np.where(np.abs(x - whole) >= x.dtype.type(0.5), away, whole).astype(x.dtype)


class IsFinite(RealUnary):
    """Whether each element is neither infinite nor NaN. StableHLO: is_finite."""

    opcode = "is_finite"

    def infer(self, *operands: ArrayType) -> ArrayType:
        return super().infer(*operands).with_dtype(BOOL)

    def reference(self, *operands: np.ndarray) -> Any:
        return np.isfinite(operands[0])


class Not(Unary):
    """Each bit inverted, or each boolean. StableHLO: not."""

    opcode = "not"
    dtypes = INTEGERS | {BOOL}
    numpy = np.invert


class PopulationCount(IntegerUnary):
    """How many bits are set in the two's complement. StableHLO: popcnt."""

    opcode = "popcnt"

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        return np.bitwise_count(x.view(f"u{x.itemsize}")).astype(x.dtype)


class CountLeadingZeros(IntegerUnary):
    """How many of the highest bits are zero. StableHLO: count_leading_zeros."""

    opcode = "count_leading_zeros"

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        bits = x.itemsize * 8
        unsigned = x.view(f"u{x.itemsize}")
        below = [unsigned < np.uint64(1 << power) for power in range(bits)]
        return np.sum(below, axis=0).astype(x.dtype)


class ComplexPart(Unary):
    """A real number taken out of a complex one."""

    dtypes = COMPLEXES

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        require_dtype(self.name(), operand, self.dtypes)
        return real_part_type(operand)

    def reference(self, *operands: np.ndarray) -> Any:
        return np.array(self.numpy(operands[0]))

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        shapes = ((2, 3), (), (0, 2))
        return [Sample(cls(), (grid(d, s),)) for d in sorted(cls.dtypes, key=str) for s in shapes]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [ErrorSample(cls(), (ArrayType(FLOAT32, (2,)),), "takes complex numbers, not f32[2]")]


class Real(ComplexPart):
    """The real part of complex numbers. StableHLO: real."""

    opcode = "real"
    numpy = staticmethod(np.real)


class Imag(ComplexPart):
    """The imaginary part of complex numbers. StableHLO: imag."""

    opcode = "imag"
    numpy = staticmethod(np.imag)
