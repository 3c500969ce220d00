"""StableHLO's elementwise operations of one operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...hlo.calculus import (
    Calculus,
    Contribution,
    Cotangents,
    NotDifferentiable,
    Partial,
    Reciprocal,
    Tangents,
)
from ...hlo.ir import Op, Value
from ...hlo.op import ErrorSample, Sample
from ...hlo.types import BOOL, COMPLEX128, FLOAT32, FLOAT64, ArrayType, is_complex, is_integer
from ..operands import COMPLEXES, FLOATS, INTEGERS, SIGNED, require_dtype
from ..sampling import grid
from . import complex_functions as f
from .base import FloatUnary, IntegerUnary, OfComplex, RealUnary, Unary, made_by, makers
from .complex_arithmetic import reciprocal, sign


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

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        """1 at 0, as JAX has it."""
        (x,) = op.operands
        ahead = c.compare("GE", x, c.zeros(x.type))
        return (c.select(ahead, c.filled(x.type, 1), c.filled(x.type, -1)),)

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Of the modulus: by the direction of `x`, conjugated; 0 at 0."""
        (ct,) = cotangents
        assert ct is not None
        if ct.type == op.operands[0].type:
            return super().vjp(c, op, cotangents)
        return (c.mul(c.complex(ct, c.zeros(ct.type)), _direction(c, op)),)

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        (t,) = tangents
        assert t is not None
        if not is_complex(t.type.dtype):
            return super().jvp(c, op, tangents)
        return (c.real(c.mul(t, _direction(c, op))),)


class Negate(Unary):
    """`-x`; integers wrap around. StableHLO: negate."""

    opcode = "negate"
    dtypes = INTEGERS | FLOATS | COMPLEXES
    numpy = np.negative

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (-1,)


class Sign(OfComplex, Unary):
    """-1, 0 or 1, NaN of NaN, zeros keep their sign; of complex numbers `x / |x|`. StableHLO: sign."""

    opcode = "sign"
    dtypes = SIGNED | FLOATS | COMPLEXES
    formula = sign

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        sign = np.sign(x)
        return sign if is_integer(x.dtype) or is_complex(x.dtype) else np.copysign(sign, x)

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        if is_complex(op.operands[0].type.dtype):
            raise NotDifferentiable("the sign of complex numbers")
        return (None,)


class Exponential(FloatUnary):
    """e to the power x. StableHLO: exponential."""

    opcode = "exponential"
    numpy = np.exp
    formula = f.exponential

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return op.results


class ExponentialMinusOne(FloatUnary):
    """`exp(x) - 1`, exact near 0. StableHLO: exponential_minus_one."""

    opcode = "exponential_minus_one"
    numpy = np.expm1
    formula = f.exponential_minus_one

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (y,) = op.results
        return (c.add(y, c.filled(y.type, 1)),)


class Log(FloatUnary):
    """The natural logarithm; NaN of negative real numbers. StableHLO: log."""

    opcode = "log"
    numpy = np.log
    formula = f.logarithm

    def apart(self, op: Op) -> Sequence[int]:
        return made_by(op, "exponential", "power", "sqrt")

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (Reciprocal(op.operands[0]),)


class LogPlusOne(FloatUnary):
    """`log(1 + x)`, exact near 0. StableHLO: log_plus_one."""

    opcode = "log_plus_one"
    numpy = np.log1p
    formula = f.logarithm_plus_one

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,) = op.operands
        return (Reciprocal(c.add(x, c.filled(x.type, 1))),)


class Sqrt(FloatUnary):
    """The square root; NaN of negative real numbers. StableHLO: sqrt."""

    opcode = "sqrt"
    numpy = np.sqrt
    formula = f.square_root

    def apart(self, op: Op) -> Sequence[int]:
        squares = [
            m for m in makers(op.operands[0]) if m.kind.opcode == "multiply" and len(set(m.operands)) == 1
        ]
        return made_by(op, "multiply") if squares else ()

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (y,) = op.results
        return (c.div(c.filled(y.type, 0.5), y),)


class ComplexReciprocal(OfComplex, Unary):
    """`1 / x` of complex numbers, with the signs of zeros that `np.reciprocal` gives. StableHLO: complex."""

    opcode = "complex"
    dtypes = COMPLEXES
    numpy = np.reciprocal
    formula = reciprocal

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (y,) = op.results
        return (c.neg(c.mul(y, y)),)


class Rsqrt(FloatUnary):
    """`1 / sqrt(x)`. StableHLO: rsqrt."""

    opcode = "rsqrt"

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        return (x.dtype.type(1) / np.sqrt(x)).astype(x.dtype)

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,), (y,) = op.operands, op.results
        return (c.times(c.div(y, x), -0.5),)


class Cbrt(RealUnary):
    """The real cube root. StableHLO: cbrt."""

    opcode = "cbrt"
    numpy = np.cbrt

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (y,) = op.results
        return (c.div(c.filled(y.type, 1 / 3), c.mul(y, y)),)


class Sine(FloatUnary):
    """The sine of an angle in radians. StableHLO: sine."""

    opcode = "sine"
    numpy = np.sin
    formula = f.sine

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (c.op(Cosine(self.by_xla), op.operands[0]),)


class Cosine(FloatUnary):
    """The cosine of an angle in radians. StableHLO: cosine."""

    opcode = "cosine"
    numpy = np.cos
    formula = f.cosine

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (c.neg(c.op(Sine(self.by_xla), op.operands[0])),)


class Tan(FloatUnary):
    """The tangent of an angle in radians. StableHLO: tan."""

    opcode = "tan"
    numpy = np.tan
    formula = f.tangent

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (y,) = op.results
        return (c.add(c.filled(y.type, 1), c.mul(y, y)),)


class Tanh(FloatUnary):
    """The hyperbolic tangent. StableHLO: tanh."""

    opcode = "tanh"
    numpy = np.tanh
    formula = f.tanh

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (y,) = op.results
        return (c.sub(c.filled(y.type, 1), c.mul(y, y)),)


class Logistic(FloatUnary):
    """`1 / (1 + exp(-x))`. StableHLO: logistic."""

    opcode = "logistic"

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        one = x.dtype.type(1)
        return (one / (one + np.exp(-x))).astype(x.dtype)

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (y,) = op.results
        return (c.mul(y, c.sub(c.filled(y.type, 1), y)),)


class StepFunction(RealUnary):
    """A function of a real number that is constant between its steps."""

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (None,)


class Ceil(StepFunction):
    """The least integer that is not less. StableHLO: ceil."""

    opcode = "ceil"
    numpy = np.ceil


class Floor(StepFunction):
    """The greatest integer that is not more. StableHLO: floor."""

    opcode = "floor"
    numpy = np.floor


class RoundNearestEven(StepFunction):
    """The nearest integer, halves to the even one, as `np.rint`. StableHLO: round_nearest_even."""

    opcode = "round_nearest_even"
    domain = (-2.5, 2.5)
    numpy = np.rint


class RoundNearestAfz(StepFunction):
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
    linear = (0,)
    numpy = staticmethod(np.real)

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.complex(ct, c.zeros(ct.type)),)


class Imag(ComplexPart):
    """The imaginary part of complex numbers. StableHLO: imag."""

    opcode = "imag"
    linear = (0,)
    numpy = staticmethod(np.imag)

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.complex(c.zeros(ct.type), c.neg(ct)),)


def _direction(c: Calculus, op: Op) -> Value:
    """`conj(x) / |x|` of a complex `x`, and 0 where it is 0."""
    (x,), (y,) = op.operands, op.results
    length = c.select(c.compare("EQ", y, c.zeros(y.type)), c.filled(y.type, 1), y)
    return c.div(c.conj(x), c.complex(length, c.zeros(y.type)))
