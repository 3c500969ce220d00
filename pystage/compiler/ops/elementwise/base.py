"""The base classes of elementwise operations: unary and binary, by family of element types.

A concrete class names its StableHLO opcode, its NumPy reference, and the element types that it takes where its family
does not say so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ... import limits
from ...hlo.builder import Builder
from ...hlo.calculus import (
    Calculus,
    Contribution,
    Cotangents,
    NotDifferentiable,
    Partial,
    Reciprocal,
    Tangents,
)
from ...hlo.ir import Op, Region, Value
from ...hlo.mlir import Emitter, is_constant
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import BOOL, FLOAT32, INT32, ArrayType, DType, is_complex
from ..batching import elementwise
from ..operands import ALL, COMPLEXES, FLOATS, INTEGERS, require_dtype, require_same_type
from ..sampling import extremes, grid
from .parts import Pair, emit_parts


class Elementwise(HloOp):
    """An operation that computes each element of its result from the elements at the same place."""

    dtypes: ClassVar[frozenset[DType]] = frozenset()
    """The element types that the operands may have."""
    numpy: ClassVar[Any] = None
    """The NumPy function that computes the same."""
    domain: ClassVar[tuple[float, float]] = (-3.0, 3.0)
    """The range of the sample operands."""

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        """The partial derivatives of the result by each operand, element by element.

        `NotDifferentiable` where the operation has none.
        """
        raise NotDifferentiable(f"`{self.name()}`")

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return [_product(c, ct, partial) for partial in self.partials(c, op)]

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        found: Value | None = None
        for tangent, partial in zip(tangents, self.partials(c, op), strict=True):
            term = None if tangent is None else _product(c, tangent, partial)
            if term is not None:
                found = term if found is None else c.add(found, term)
        return (found,)

    batch = elementwise

    @classmethod
    def name(cls) -> str:
        """The operation's name in error texts: its opcode without the dialect."""
        return cls.opcode.rpartition(".")[2]

    @classmethod
    def refused(cls) -> ArrayType | None:
        """The type of an operand that the operation does not take, if there is one."""
        rest = sorted(ALL - cls.dtypes, key=str)
        return ArrayType(rest[0], (2, 3)) if rest else None


_MOVING = frozenset({"broadcast_in_dim", "concatenate", "reshape", "reverse", "slice", "transpose"})
_SEEN_THROUGH = _MOVING | {"abs", "clamp", "maximum", "minimum", "negate", "select"}
"""What XLA may remove, or move past another operation: `log(abs(exp(x)))` is `x` to it."""


def makers(value: Value) -> Iterator[Op]:
    """The operations that XLA may see a value to be made by; products with constants are seen through as well."""
    pending, seen = [value], {value}
    while pending and len(seen) < limits.SEEN_THROUGH_VALUES:
        owner = pending.pop().owner
        if not isinstance(owner, Op):
            continue
        yield owner
        opcode, operands = owner.kind.opcode, owner.operands
        if opcode in _SEEN_THROUGH or (opcode in ("multiply", "divide") and any(map(is_constant, operands))):
            new = [v for v in operands if v not in seen and v.type.dtype != BOOL]
            seen.update(new)
            pending += new


def made_by(op: Op, *opcodes: str) -> list[int]:
    """The operands of floats that XLA may see to be results of operations with these opcodes."""
    return [
        i
        for i, operand in enumerate(op.operands)
        if operand.type.dtype in FLOATS and any(maker.kind.opcode in opcodes for maker in makers(operand))
    ]


class Unary(Elementwise):
    """One operand, and a result of the same type."""

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        require_dtype(self.name(), operand, self.dtypes)
        return operand

    def reference(self, *operands: np.ndarray) -> Any:
        (operand,) = operands
        return np.asarray(self.numpy(operand)).astype(operand.dtype, copy=False)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        low, high = cls.domain
        made = [Sample(cls(), (grid(d, (2, 3), low, high),)) for d in sorted(cls.dtypes, key=str)]
        exact = cls.formula is not None if issubclass(cls, OfComplex) else False
        edges = [d for d in sorted(cls.dtypes, key=str) if exact or not is_complex(d)]
        made += [Sample(cls(), (extremes(d),)) for d in edges]
        any_dtype = min(cls.dtypes, key=str)
        made.append(Sample(cls(), (grid(any_dtype, (), low, high),)))
        made.append(Sample(cls(), (grid(any_dtype, (0, 3)),)))
        return made

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        refused = cls.refused()
        return [ErrorSample(cls(), (refused,), f"{cls.name()} takes")] if refused else []


@dataclass(frozen=True)
class OfComplex(Elementwise):
    """An operation that takes complex numbers too: these as C libraries, NumPy and CPython have them, by `formula`.

    `by_xla`: as XLA has them, and `jax.numpy`, which differs in signs of zeros and at infinities and NaN. Derivatives are
    those of the function, whatever the formula.
    """

    by_xla: bool = False

    formula: ClassVar[Callable[..., Pair] | None] = None
    """The parts of the result by those of the operands; None: XLA's own operation serves."""

    def emit(
        self, e: Emitter, op: Op, *operands: mlir_ir.Value
    ) -> mlir_ir.Operation | Sequence[mlir_ir.Value]:
        formula = type(self).formula
        if formula is None or self.by_xla or not is_complex(op.operands[0].type.dtype):
            return super().emit(e, op, *operands)
        return emit_parts(e, op, operands, formula)


class FloatUnary(OfComplex, Unary):
    """One operand of a real or complex floating-point type."""

    dtypes = FLOATS | COMPLEXES


class RealUnary(Unary):
    """One operand of a real floating-point type."""

    dtypes = FLOATS


class IntegerUnary(Unary):
    """One operand of an integer type."""

    dtypes = INTEGERS


class Binary(Elementwise):
    """Two operands of one type, and a result of that type."""

    def infer(self, *operands: ArrayType) -> ArrayType:
        left, right = operands
        if left.dtype not in self.dtypes or right.dtype not in self.dtypes:
            require_dtype(self.name(), left, self.dtypes)
            require_dtype(self.name(), right, self.dtypes)
        if left != right:
            require_same_type(self.name(), operands)
        return left

    def reference(self, *operands: np.ndarray) -> Any:
        left, right = operands
        return np.asarray(self.numpy(left, right)).astype(left.dtype, copy=False)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = []
        low, high = cls.domain
        for dtype in sorted(cls.dtypes, key=str):
            left = grid(dtype, (2, 6), low, high)
            made.append(Sample(cls(), (left, np.ascontiguousarray(left[::-1, ::-1]))))
            if not is_complex(dtype):
                edge = extremes(dtype)
                made.append(Sample(cls(), (np.repeat(edge, edge.size), np.tile(edge, edge.size))))
        any_dtype = min(cls.dtypes, key=str)
        for shape in ((), (0, 3)):
            operand = grid(any_dtype, shape)
            made.append(Sample(cls(), (operand, operand)))
        return made

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        dtype = INT32 if INT32 in cls.dtypes else FLOAT32
        other = max(cls.dtypes - {dtype}, key=str)
        three = ArrayType(dtype, (3,))
        made = [
            ErrorSample(cls(), (three, ArrayType(dtype, (4,))), "one shape"),
            ErrorSample(cls(), (three, ArrayType(dtype, ())), "one shape"),
            ErrorSample(cls(), (three, ArrayType(other, (3,))), "one element type"),
        ]
        refused = cls.refused()
        if refused:
            made.append(ErrorSample(cls(), (refused, refused), f"{cls.name()} takes"))
        return made


class IntegerBinary(Binary):
    """Two operands of one integer type."""

    dtypes = INTEGERS


class LogicalBinary(Binary):
    """Two operands of one integer type, taken bit by bit, or two booleans."""

    dtypes = INTEGERS | {BOOL}


def _product(c: Calculus, x: Value, partial: Partial) -> Value | None:
    """`x * partial`."""
    match partial:
        case None:
            return None
        case Reciprocal(of):
            return c.div(x, of)
        case Value():
            return c.mul(x, partial)
        case 1:
            return x
        case -1:
            return c.neg(x)
    raise TypeError(f"{partial!r} is not a partial derivative")


@functools.cache
def combining(combine: HloOp, type: ArrayType) -> Region:
    """A region that combines two scalars of a type with one operation, as reductions take it."""
    region = Region((type, type))
    region.results = (Builder(region).op(combine, *region.params),)
    return region
