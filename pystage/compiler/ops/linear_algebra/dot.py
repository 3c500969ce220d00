"""`DotGeneral`, to which `@`, `dot`, `tensordot` and `einsum` lower."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir
from jaxlib.mlir.dialects import stablehlo

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, Tangents
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    INT8,
    INT32,
    ArrayType,
    DType,
    Shape,
    ShapeError,
)
from ..operands import require_axes, require_same_dtype

Axes = tuple[int, ...]
PRECISIONS = ("DEFAULT", "HIGH", "HIGHEST")
ROUNDED: Mapping[str, DType] = {"bfloat16": BFLOAT16, "float16": FLOAT16}
"""Precisions that are element types: float32 operands are rounded to them, and sums are float32."""


def require_precision(name: str, precision: str | None, operands: Sequence[ArrayType]) -> None:
    """`precision` is one of StableHLO's or of `ROUNDED`, or None for the backend's choice."""
    if precision is not None and precision not in (*PRECISIONS, *ROUNDED):
        raise ShapeError(f"{name}: precision {precision!r} is none of {', '.join((*PRECISIONS, *ROUNDED))}")
    if precision in ROUNDED and operands[0].dtype != FLOAT32:
        raise ShapeError(
            f"{name}: operands of {operands[0].dtype} are not rounded to {precision}, only float32"
        )


def precision_config(precision: str | None) -> dict[str, mlir_ir.Attribute]:
    """The attribute `precision_config` for both operands; empty where the backend may choose."""
    if precision is None or precision in ROUNDED:
        return {}
    return {"precision_config": mlir_ir.ArrayAttr.get([stablehlo.PrecisionAttr.get(precision)] * 2)}


def emit_rounded(
    e: Emitter, precision: str | None, op: Op, operands: Sequence[mlir_ir.Value]
) -> Sequence[mlir_ir.Value]:
    """The operands as the product takes them: converted, where the precision is an element type."""
    dtype = ROUNDED.get(precision or "")
    if dtype is None:
        return operands
    return [
        e.create("convert", [value.type.with_dtype(dtype)], [operand]).results[0]
        for value, operand in zip(op.operands, operands, strict=True)
    ]


def rounded(x: np.ndarray, precision: str | None) -> np.ndarray:
    """The same for the reference: an operand, rounded where the precision is an element type."""
    return x.astype(ROUNDED.get(precision or "", x.dtype))


def tangent_of_product(c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
    """The tangent of an operation that is linear in each of its two operands."""
    lhs, rhs = op.operands
    by_lhs, by_rhs = tangents
    left = None if by_lhs is None else c.op(op.kind, by_lhs, rhs)
    right = None if by_rhs is None else c.op(op.kind, lhs, by_rhs)
    if left is None or right is None:
        return (left if right is None else right,)
    return (c.add(left, right),)


@dataclass(frozen=True)
class DotGeneral(HloOp):
    """Sums products over the contracted axes, once per index of the batch axes. StableHLO: dot_general.

    The result has the batch axes, then the free axes of `lhs`, then those of `rhs`, each in the order in
    which they stand; `preferred` is its element type, that of the operands if None. Products of booleans
    are sums in the sense of "or". `precision` is StableHLO's, or one of `ROUNDED`.
    """

    opcode = "dot_general"

    lhs_batch: Axes
    rhs_batch: Axes
    lhs_contract: Axes
    rhs_contract: Axes
    precision: str | None = None
    preferred: DType | None = None

    def infer(self, *operands: ArrayType) -> ArrayType:
        """`(batch…, lhs free…, rhs free…)`; `ShapeError` where paired axes differ in length."""
        lhs, rhs = operands
        require_same_dtype("a product", operands)
        require_precision("product", self.precision, operands)
        require_axes("product", self.lhs_batch + self.lhs_contract, lhs.rank)
        require_axes("product", self.rhs_batch + self.rhs_contract, rhs.rank)
        for kind, ours, theirs in (
            ("contracted", self.lhs_contract, self.rhs_contract),
            ("batch", self.lhs_batch, self.rhs_batch),
        ):
            if len(ours) != len(theirs):
                raise ShapeError(f"product: {len(ours)} {kind} axes pair with {len(theirs)}")
            for i, j in zip(ours, theirs, strict=True):
                if lhs.shape[i] != rhs.shape[j]:
                    raise ShapeError(
                        f"product of {lhs} and {rhs}: {kind} axis {i} of the first has {lhs.shape[i]} "
                        f"elements, axis {j} of the second has {rhs.shape[j]}"
                    )
        batch: Shape = tuple([lhs.shape[i] for i in self.lhs_batch])
        left: Shape = tuple([lhs.shape[i] for i in _free(lhs.rank, self.lhs_batch, self.lhs_contract)])
        right: Shape = tuple([rhs.shape[i] for i in _free(rhs.rank, self.rhs_batch, self.rhs_contract)])
        return ArrayType(self.preferred or lhs.dtype, batch + left + right)

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.dot_general`, of operands that are converted first where the precision asks for it."""
        operands = tuple(emit_rounded(e, self.precision, op, operands))
        numbers = stablehlo.DotDimensionNumbers.get(
            self.lhs_batch, self.rhs_batch, self.lhs_contract, self.rhs_contract
        )
        attributes = {"dot_dimension_numbers": numbers, **precision_config(self.precision)}
        return e.create(self.opcode, op.results, operands, attributes)

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """Brings both to (batch, free, contracted) and sums the products in a wide element type."""
        lhs, rhs = operands
        result = self.infer(ArrayType(lhs.dtype, lhs.shape), ArrayType(rhs.dtype, rhs.shape))
        wide = accumulator(result.dtype)
        lhs, rhs = rounded(lhs, self.precision), rounded(rhs, self.precision)
        left: np.ndarray = _matrix(lhs, self.lhs_batch, self.lhs_contract).astype(wide)
        right: np.ndarray = _matrix(rhs, self.rhs_batch, self.rhs_contract).astype(wide)
        product: np.ndarray = np.einsum("bik,bjk->bij", left, right)
        return product.reshape(result.shape).astype(result.dtype)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        """The batch of both operands is one more batching dimension; that of one is a free dimension, moved to the front."""
        lhs, rhs = operands
        left, right = batched
        both = left and right
        kind = replace(
            self,
            lhs_batch=(*((0,) if both else ()), *[a + left for a in self.lhs_batch]),
            rhs_batch=(*((0,) if both else ()), *[a + right for a in self.rhs_batch]),
            lhs_contract=tuple([a + left for a in self.lhs_contract]),
            rhs_contract=tuple([a + right for a in self.rhs_contract]),
        )
        made = c.op(kind, lhs, rhs)
        if both:
            return (made,)
        place = len(self.lhs_batch)
        if right:
            place += op.operands[0].type.rank - len(self.lhs_batch) - len(self.lhs_contract)
        others = [a for a in range(made.type.rank) if a != place]
        return (c.transpose(made, [place, *others]),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Matrices, batches, several contracted axes, outer products, integers, booleans, empty axes."""
        rng = np.random.default_rng(0)

        def f32(*shape: int) -> np.ndarray:
            return rng.standard_normal(shape, np.float32)

        def ints(dtype: type, *shape: int) -> np.ndarray:
            return rng.integers(-5, 5, shape).astype(dtype)

        matmul = cls((), (), (1,), (0,))
        return (
            Sample(matmul, (f32(3, 4), f32(4, 5))),
            Sample(cls((), (), (1,), (0,), "HIGHEST"), (f32(3, 4), f32(4, 5))),
            Sample(cls((), (), (1,), (0,), "bfloat16"), (f32(3, 4), f32(4, 5))),
            Sample(cls((0,), (0,), (2,), (1,), "float16"), (f32(2, 3, 4), f32(2, 4, 5))),
            Sample(cls((), (), (0,), (0,)), (f32(7), f32(7))),
            Sample(cls((), (), (), ()), (f32(2), f32(3, 2))),
            Sample(cls((0,), (2,), (1,), (0,)), (f32(2, 3, 4), f32(3, 5, 2))),
            Sample(cls((2, 0), (0, 1), (1,), (3,)), (f32(2, 3, 4), f32(4, 2, 5, 3))),
            Sample(cls((), (), (0, 2), (1, 0)), (f32(2, 3, 4), f32(4, 2, 5))),
            Sample(matmul, (f32(3, 0), f32(0, 2))),
            Sample(matmul, (ints(np.int32, 3, 4), ints(np.int32, 4, 2))),
            Sample(cls((), (), (1,), (0,), None, INT32), (ints(np.int8, 3, 9), ints(np.int8, 9, 2))),
            Sample(matmul, (f32(3, 4).astype(np.float64), f32(4, 2).astype(np.float64))),
            Sample(matmul, (f32(2, 3) + 1j * f32(2, 3), f32(3, 2) + 1j * f32(3, 2))),
            Sample(matmul, (f32(3, 4) > 0.5, f32(4, 5) > 0.5)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Lengths, axes, numbers of axes, element types and extents that do not fit."""
        a, b = ArrayType(FLOAT32, (3, 4)), ArrayType(FLOAT32, (5, 6))
        matmul = cls((), (), (1,), (0,))
        return (
            ErrorSample(
                matmul, (a, b), "contracted axis 1 of the first has 4 elements, axis 0 of the second has 5"
            ),
            ErrorSample(cls((0,), (0,), (1,), (1,)), (a, b), "axis 1 of the first has 4"),
            ErrorSample(cls((0,), (0,), (), ()), (a, b), "batch axis 0 of the first has 3 elements"),
            ErrorSample(cls((), (), (2,), (0,)), (a, b), "there is no axis 2"),
            ErrorSample(cls((), (), (1, 0), (0,)), (a, b), "2 contracted axes pair with 1"),
            ErrorSample(cls((0,), (0,), (0,), (0,)), (a, a), "axis 0 is named twice"),
            ErrorSample(matmul, (a, ArrayType(INT8, (4, 2))), "one element type"),
            ErrorSample(cls((), (), (1,), (1,), "LOW"), (a, a), "precision 'LOW'"),
            ErrorSample(
                cls((), (), (1,), (1,), "bfloat16"),
                (a.with_dtype(INT32), a.with_dtype(INT32)),
                "operands of int32 are not rounded to bfloat16",
            ),
        )

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Each by a product of the cotangent with the other."""
        (ct,) = cotangents
        assert ct is not None
        lhs, rhs = op.operands
        return self._for_lhs(c, ct, lhs, rhs), self._for_rhs(c, ct, lhs, rhs)

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        return tangent_of_product(c, op, tangents)

    def transposed(self, lhs: ArrayType, rhs: ArrayType) -> tuple[DotGeneral, Axes]:
        """The product with its operands exchanged, and the permutation that makes of this one's result that one's."""
        batch = len(self.lhs_batch)
        rank = self.infer(lhs, rhs).rank
        ours = batch + len(_free(lhs.rank, self.lhs_batch, self.lhs_contract))
        product = replace(
            self,
            lhs_batch=self.rhs_batch,
            rhs_batch=self.lhs_batch,
            lhs_contract=self.rhs_contract,
            rhs_contract=self.lhs_contract,
        )
        return product, (*range(batch), *range(ours, rank), *range(batch, ours))

    def _for_lhs(self, c: Calculus, ct: Value, lhs: Value, rhs: Value) -> Value:
        """The cotangent of `lhs`: contracted with the free axes of `rhs`, axes put back in order."""
        batch = len(self.lhs_batch)
        ours = _free(lhs.type.rank, self.lhs_batch, self.lhs_contract)
        theirs = _free(rhs.type.rank, self.rhs_batch, self.rhs_contract)
        free = tuple(range(batch + len(ours), batch + len(ours) + len(theirs)))
        product = DotGeneral(tuple(range(batch)), self.rhs_batch, free, theirs, self.precision)
        made = c.op(product, c.convert(ct, rhs.type.dtype), rhs)
        # axes of the product: batch, our free ones, the contracted ones in the order in which rhs has them
        contracted = [self.lhs_contract[self.rhs_contract.index(a)] for a in sorted(self.rhs_contract)]
        axes = [*self.lhs_batch, *ours, *contracted]
        return c.transpose(made, [axes.index(a) for a in range(lhs.type.rank)])

    def _for_rhs(self, c: Calculus, ct: Value, lhs: Value, rhs: Value) -> Value:
        """The cotangent of `rhs`: contracted with the free axes of `lhs`, axes put back in order."""
        batch = len(self.lhs_batch)
        ours = _free(lhs.type.rank, self.lhs_batch, self.lhs_contract)
        theirs = _free(rhs.type.rank, self.rhs_batch, self.rhs_contract)
        free = tuple(range(batch, batch + len(ours)))
        product = DotGeneral(tuple(range(batch)), self.lhs_batch, free, ours, self.precision)
        made = c.op(product, c.convert(ct, lhs.type.dtype), lhs)
        contracted = [self.rhs_contract[self.lhs_contract.index(a)] for a in sorted(self.lhs_contract)]
        axes = [*self.rhs_batch, *theirs, *contracted]
        return c.transpose(made, [axes.index(a) for a in range(rhs.type.rank)])


def accumulator(dtype: DType) -> DType:
    """The widest element type in which the reference sums what is rounded to `dtype` at the end."""
    if dtype == BOOL or dtype.kind in "iu":
        return dtype
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def _free(rank: int, batch: Axes, contract: Axes) -> Axes:
    return tuple([i for i in range(rank) if i not in batch and i not in contract])


def _matrix(x: np.ndarray, batch: Axes, contract: Axes) -> np.ndarray:
    """The array as a stack of matrices: (batch, free, contracted)."""
    free = _free(x.ndim, batch, contract)
    extents = [int(np.prod([x.shape[i] for i in axes], dtype=int)) for axes in (batch, free, contract)]
    return x.transpose(batch + free + contract).reshape(extents)
