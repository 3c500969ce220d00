"""The elementwise functions of the CHLO dialect, which JAX and XLA expand to StableHLO.

NumPy has no error or gamma function; the references use Python's `math`, and for the digamma function
and the inverse error function the textbook formulas, in float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.calculus import Calculus, Partial, Reciprocal
from ...hlo.ir import Op
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, Sample
from ...hlo.types import FLOAT64, INT32, ArrayType
from ..sampling import grid
from . import complex_functions as f
from .base import FloatUnary, RealUnary
from .unary import Exponential, Rsqrt


class WideUnary(RealUnary):
    """A real function whose reference is computed number by number in float64."""

    @staticmethod
    def scalar(x: float) -> float:
        """The function of one number."""
        raise NotImplementedError

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        results = [self.scalar(float(v)) for v in x.flat]
        return np.array(results, np.float64).reshape(x.shape).astype(x.dtype)


class Erf(WideUnary):
    """The error function. CHLO: erf."""

    opcode = "chlo.erf"

    @staticmethod
    def scalar(x: float) -> float:
        return math.erf(x)

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,) = op.operands
        return (c.times(c.op(Exponential(), c.neg(c.mul(x, x))), 2 / math.sqrt(math.pi)),)


class Erfc(WideUnary):
    """`1 - erf(x)`, exact for large `x`. CHLO: erfc."""

    opcode = "chlo.erfc"

    @staticmethod
    def scalar(x: float) -> float:
        return math.erfc(x)

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,) = op.operands
        return (c.times(c.op(Exponential(), c.neg(c.mul(x, x))), -2 / math.sqrt(math.pi)),)


class ErfInv(WideUnary):
    """The inverse of the error function, on [-1, 1]; NaN outside. CHLO: erf_inv."""

    opcode = "chlo.erf_inv"
    domain = (-0.95, 0.95)

    @staticmethod
    def scalar(x: float) -> float:
        if not abs(x) < 1:
            return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
        low, high = -6.0, 6.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if math.erf(middle) < x else (low, middle)
        return (low + high) / 2 if x else x

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (y,) = op.results
        return (c.times(c.op(Exponential(), c.mul(y, y)), math.sqrt(math.pi) / 2),)


class Lgamma(WideUnary):
    """The logarithm of the absolute value of the gamma function. CHLO: lgamma."""

    opcode = "chlo.lgamma"

    @staticmethod
    def scalar(x: float) -> float:
        if x <= 0 and (math.isinf(x) or x == math.floor(x)):
            return math.inf
        return math.lgamma(x)

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (c.op(Digamma(), op.operands[0]),)


class Digamma(WideUnary):
    """The derivative of `lgamma`; NaN at zero and the negative integers. CHLO: digamma."""

    opcode = "chlo.digamma"

    @staticmethod
    def scalar(x: float) -> float:
        if not x > -math.inf or x == math.inf:
            return x if x > 0 else math.nan
        if x <= 0 and x == math.floor(x):
            return math.nan
        if x < 0:
            return Digamma.scalar(1 - x) - math.pi / math.tan(math.pi * x)
        shift = 0.0
        while x < 10:
            shift -= 1 / x
            x += 1
        square = 1 / (x * x)
        series = square * (
            1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132)))
        )
        return shift + math.log(x) - 0.5 / x - series

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (c.op(Polygamma(1), op.operands[0]),)


@dataclass(frozen=True)
class Polygamma(RealUnary):
    """The derivative of `digamma` of an order of at least 1, as XLA computes it. CHLO: polygamma."""

    order: int

    opcode = "chlo.polygamma"

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        (result,) = op.results
        order = e.filled(np.asarray(self.order, result.type.dtype), result.type)
        return e.create(self.opcode, op.results, [order, *operands])

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        results = [_polygamma(self.order, float(v)) for v in x.flat]
        return np.array(results, np.float64).reshape(x.shape).astype(x.dtype)

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (c.op(Polygamma(self.order + 1), op.operands[0]),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = [Sample(cls(1), (grid(d, (2, 3), 0.2, 6.0),)) for d in sorted(cls.dtypes, key=str)]
        return [*made, Sample(cls(3), (grid(FLOAT64, (5,), 0.5, 20.0),)), Sample(cls(2), (np.array(1.5),))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [ErrorSample(cls(1), (ArrayType(INT32, (2,)),), f"{cls.name()} takes")]


def _polygamma(order: int, x: float) -> float:
    """By the recurrence up to an argument of 20, and the asymptotic series there (DLMF 5.15.8)."""
    if not math.isfinite(x):
        return 0.0 if x > 0 else math.nan
    if x <= 0 and x == math.floor(x):
        return math.inf if order % 2 else math.nan
    factorial, total = math.factorial(order), 0.0
    while x < 20:
        total += factorial / x ** (order + 1)
        x += 1
    total += factorial / (order * x**order) + factorial / (2 * x ** (order + 1))
    for k, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730), 1):
        rising = math.factorial(2 * k + order - 1) / math.factorial(2 * k)
        total += bernoulli * rising / x ** (2 * k + order)
    return total if order % 2 else -total


class Asin(FloatUnary):
    """The arc sine, in radians. CHLO: asin."""

    opcode = "chlo.asin"
    domain = (-1.0, 1.0)
    numpy = np.arcsin
    formula = f.arc_sine

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,) = op.operands
        return (c.op(Rsqrt(), c.sub(c.filled(x.type, 1), c.mul(x, x))),)


class Acos(FloatUnary):
    """The arc cosine, in radians. CHLO: acos."""

    opcode = "chlo.acos"
    domain = (-1.0, 1.0)
    numpy = np.arccos
    formula = f.arc_cosine

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,) = op.operands
        return (c.neg(c.op(Rsqrt(), c.sub(c.filled(x.type, 1), c.mul(x, x)))),)


class Atan(FloatUnary):
    """The arc tangent, in radians. CHLO: atan."""

    opcode = "chlo.atan"
    numpy = np.arctan
    formula = f.arc_tangent

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,) = op.operands
        return (Reciprocal(c.add(c.filled(x.type, 1), c.mul(x, x))),)


class Sinh(FloatUnary):
    """The hyperbolic sine. CHLO: sinh."""

    opcode = "chlo.sinh"
    numpy = np.sinh
    formula = f.sinh

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (c.op(Cosh(self.by_xla), op.operands[0]),)


class Cosh(FloatUnary):
    """The hyperbolic cosine. CHLO: cosh."""

    opcode = "chlo.cosh"
    numpy = np.cosh
    formula = f.cosh

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return (c.op(Sinh(self.by_xla), op.operands[0]),)


class Asinh(FloatUnary):
    """The inverse hyperbolic sine. CHLO: asinh."""

    opcode = "chlo.asinh"
    numpy = np.arcsinh
    formula = f.arc_sinh

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,) = op.operands
        return (c.op(Rsqrt(), c.add(c.mul(x, x), c.filled(x.type, 1))),)


class Acosh(FloatUnary):
    """The inverse hyperbolic cosine; NaN of real numbers below 1. CHLO: acosh."""

    opcode = "chlo.acosh"
    domain = (1.0, 4.0)
    numpy = np.arccosh
    formula = f.arc_cosh

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,) = op.operands
        one = c.filled(x.type, 1)
        return (c.op(Rsqrt(), c.mul(c.sub(x, one), c.add(x, one))),)


class Atanh(FloatUnary):
    """The inverse hyperbolic tangent. CHLO: atanh."""

    opcode = "chlo.atanh"
    domain = (-0.9, 0.9)
    numpy = np.arctanh
    formula = f.arc_tanh

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (x,) = op.operands
        one = c.filled(x.type, 1)
        return (Reciprocal(c.mul(c.sub(one, x), c.add(one, x))),)
