"""Comparison, selection and clamping: elementwise operations whose operands have different types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, Tangents
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import (
    BOOL,
    COMPLEX64,
    FLOAT32,
    FLOAT64,
    INT32,
    ArrayType,
    DType,
    ShapeError,
    is_complex,
    is_floating,
    is_integer,
    is_unsigned,
)
from ..batching import elementwise
from ..operands import ALL, COMPLEXES, listing, require_dtype, require_same_type
from ..sampling import extremes, grid
from .base import makers

_COMPARISONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}
_REVERSED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
_STRICT = {"LE": "LT", "GE": "GT"}


@dataclass(frozen=True)
class Compare(HloOp):
    """Whether `x direction y` holds, element by element. StableHLO: compare.

    `direction` is EQ, NE, LT, LE, GT or GE. Floating-point numbers compare as IEEE 754 says (NaN is unequal
    to all, 0.0 equals -0.0): the total order that StableHLO also has is not used. Complex numbers have
    no order here; NumPy's lexicographic one is made of comparisons of their parts.

    XLA takes `abs(x) >= 0` for true, which it is not of NaN and of the least integer: of floats two comparisons are made,
    of integers the complements are compared.
    """

    direction: str

    opcode = "compare"

    def __post_init__(self) -> None:
        if self.direction not in _COMPARISONS:
            raise ValueError(f"no direction of comparison: {self.direction!r}")

    def infer(self, *operands: ArrayType) -> ArrayType:
        left, right = operands
        if left != right:
            require_same_type("compare", operands)
        if is_complex(left.dtype) and self.direction not in ("EQ", "NE"):
            raise ShapeError(f"complex numbers have no order: {self.direction} of {left}")
        return ArrayType(BOOL, left.shape)

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        type, direction = op.operands[0].type, self.direction
        greater = op.operands[0 if direction in ("LT", "GE") else 1]
        if direction in ("EQ", "NE") or not _is_never_negative(greater):
            return self._compared(e, op, direction, operands)
        if is_integer(type.dtype):
            complements = [e.create("not", [type], [v]).results[0] for v in operands]
            return self._compared(e, op, _REVERSED[direction], complements)
        if direction in ("LT", "GT"):
            return self._compared(e, op, direction, operands)
        parts = [self._compared(e, op, each, operands).results[0] for each in (_STRICT[direction], "EQ")]
        return e.create("or", op.results, parts)

    def _compared(
        self, e: Emitter, op: Op, direction: str, operands: Sequence[mlir_ir.Value]
    ) -> mlir_ir.Operation:
        attributes = {
            "comparison_direction": e.parse(f"#stablehlo<comparison_direction {direction}>"),
            "compare_type": e.parse(
                f"#stablehlo<comparison_type {_comparison_type(op.operands[0].type.dtype)}>"
            ),
        }
        return e.create(self.opcode, op.results, operands, attributes)

    def reference(self, *operands: np.ndarray) -> Any:
        return np.asarray(_COMPARISONS[self.direction](*operands))

    batch = elementwise

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = []
        for dtype in sorted(ALL, key=str):
            left = grid(dtype, (2, 6))
            right = np.ascontiguousarray(left[:, ::-1])
            right[0, :3] = left[0, :3]
            for direction in ("EQ", "NE") if is_complex(dtype) else _COMPARISONS:
                made.append(Sample(cls(direction), (left, right)))
        for direction in _COMPARISONS:
            edge = extremes(FLOAT32)
            made.append(Sample(cls(direction), (np.repeat(edge, edge.size), np.tile(edge, edge.size))))
        made.append(Sample(cls("LE"), (grid(INT32, ()), grid(INT32, ()))))
        made.append(Sample(cls("LE"), (grid(INT32, (0, 2)), grid(INT32, (0, 2)))))
        return made

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        three = ArrayType(FLOAT32, (3,))
        pair = ArrayType(COMPLEX64, (2,))
        return [
            ErrorSample(cls("LT"), (three, ArrayType(FLOAT32, (4,))), "one shape"),
            ErrorSample(cls("EQ"), (three, ArrayType(INT32, (3,))), "one element type"),
            ErrorSample(cls("LT"), (pair, pair), "complex numbers have no order"),
        ]

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        """Booleans have no tangents."""
        return (None,)


class Select(HloOp):
    """The second operand's element where the first operand is true, else the third's. StableHLO: select.

    The condition is a boolean scalar, or has the shape of the two values.
    """

    opcode = "select"
    linear = (1, 2)

    def emit(
        self, e: Emitter, op: Op, *operands: mlir_ir.Value
    ) -> mlir_ir.Operation | Sequence[mlir_ir.Value]:
        _, on_true, on_false = operands
        return (on_true,) if on_true == on_false else e.create(self.opcode, op.results, operands)

    def infer(self, *operands: ArrayType) -> ArrayType:
        condition, on_true, on_false = operands
        if condition.dtype != BOOL:
            raise ShapeError(f"select takes booleans as its condition, not {condition}")
        if on_true != on_false:
            require_same_type("select", (on_true, on_false))
        if condition.shape and condition.shape != on_true.shape:
            raise ShapeError(
                f"select: the condition {condition} has neither no axes nor the shape of {on_true}"
            )
        return on_true

    def reference(self, *operands: np.ndarray) -> Any:
        condition, on_true, on_false = operands
        return np.where(condition, on_true, on_false).astype(on_true.dtype, copy=False)

    batch = elementwise

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = []
        for dtype in sorted(ALL, key=str):
            left = grid(dtype, (2, 3))
            right = np.ascontiguousarray(left[::-1])
            made.append(Sample(cls(), (grid(BOOL, (2, 3)), left, right)))
        for flag in (True, False):
            made.append(Sample(cls(), (np.array(flag), grid(FLOAT32, (3,)), grid(FLOAT32, (3,), 0, 9))))
        made.append(Sample(cls(), (np.array(True), np.array(1.5), np.array(np.nan))))
        made.append(Sample(cls(), (grid(BOOL, (0,)), grid(INT32, (0,)), grid(INT32, (0,)))))
        return made

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        three, flags = ArrayType(FLOAT32, (3,)), ArrayType(BOOL, (3,))
        return [
            ErrorSample(cls(), (three, three, three), "takes booleans as its condition"),
            ErrorSample(cls(), (flags, three, ArrayType(FLOAT32, (4,))), "one shape"),
            ErrorSample(cls(), (flags, three, ArrayType(FLOAT64, (3,))), "one element type"),
            ErrorSample(cls(), (ArrayType(BOOL, (1,)), three, three), "neither no axes nor the shape"),
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        condition, on_true, _ = op.operands
        zero = c.zeros(on_true.type)
        return None, c.select(condition, ct, zero), c.select(condition, zero, ct)


class Clamp(HloOp):
    """`min(max(x, low), high)` of the operands (low, x, high). StableHLO: clamp.

    Both limits are scalars, or each has the shape of `x`; NaN in any of the three gives NaN.
    """

    opcode = "clamp"

    def infer(self, *operands: ArrayType) -> ArrayType:
        low, x, high = operands
        require_dtype("clamp", x, ALL - COMPLEXES - {BOOL})
        for limit in (low, high):
            if limit.dtype != x.dtype:
                raise ShapeError(f"clamp takes operands of one element type, not {listing(operands)}")
            if limit.shape and limit.shape != x.shape:
                raise ShapeError(f"clamp: the limit {limit} has neither no axes nor the shape of {x}")
        return x

    def reference(self, *operands: np.ndarray) -> Any:
        low, x, high = operands
        return np.minimum(np.maximum(x, low), high).astype(x.dtype, copy=False)

    batch = elementwise

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = []
        for dtype in sorted(ALL - COMPLEXES - {BOOL}, key=str):
            low, high = dtype.type(1), dtype.type(2)
            made.append(Sample(cls(), (np.asarray(low), grid(dtype, (2, 3)), np.asarray(high))))
            made.append(
                Sample(cls(), (np.full(extremes(dtype).shape, low), extremes(dtype), np.asarray(high)))
            )
        return [*made, Sample(cls(), (np.array(0.0), grid(FLOAT64, (0,)), np.array(1.0)))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        three, one = ArrayType(FLOAT32, (3,)), ArrayType(FLOAT32)
        return [
            ErrorSample(cls(), (one, ArrayType(BOOL, (3,)), one), "clamp takes"),
            ErrorSample(cls(), (one, three, ArrayType(INT32)), "one element type"),
            ErrorSample(cls(), (ArrayType(FLOAT32, (1,)), three, one), "neither no axes nor the shape"),
        ]

    def _shares(self, c: Calculus, op: Op) -> list[tuple[Value, Value]]:
        """For each operand, itself in the shape of the result, and where the result follows it."""
        low, x, high = [
            v if v.type.shape else c.broadcast(v, op.results[0].type.shape, ()) for v in op.operands
        ]
        below, above = c.compare("GT", low, x), c.compare("LT", high, x)
        inside = c.both(c.compare("LT", low, x), c.compare("GT", high, x))
        return [(low, below), (x, inside), (high, above)]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        parts = [c.select(where, ct, c.zeros(ct.type)) for _, where in self._shares(c, op)]
        axes = range(ct.type.rank)
        return [p if v.type.shape else c.sum(p, axes) for v, p in zip(op.operands, parts, strict=True)]

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        type = op.results[0].type
        found = c.zeros(type)
        for tangent, (_, where) in zip(tangents, self._shares(c, op), strict=True):
            if tangent is not None:
                whole = tangent if tangent.type.shape else c.broadcast(tangent, type.shape, ())
                found = c.select(where, whole, found)
        return (found,)


def _is_never_negative(value: Value) -> bool:
    """True for what XLA may see to be at least 0: integers that wrap around are not, and NaN is not comparable."""
    opcodes = {"abs"} if is_integer(value.type.dtype) else {"abs", "exponential", "maximum"}
    return value.type.dtype != BOOL and any(
        maker.kind.opcode in opcodes or (maker.kind.opcode == "multiply" and len(set(maker.operands)) == 1)
        for maker in makers(value)
    )


def _comparison_type(dtype: DType) -> str:
    """StableHLO's name of the comparison that an element type has."""
    if is_floating(dtype) or is_complex(dtype):
        return "FLOAT"
    return "SIGNED" if is_integer(dtype) and not is_unsigned(dtype) else "UNSIGNED"
