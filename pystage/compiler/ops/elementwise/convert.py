"""Conversion of element types, by value and by bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend.mlir import ir as mlir_ir

from ...hlo.calculus import Calculus, Contribution, Cotangents
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import (
    BOOL,
    COMPLEX64,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    ArrayType,
    DType,
    ShapeError,
    is_complex,
    is_floating,
    is_integer,
    known_equal,
)
from ..operands import ALL, COMPLEXES, FLOATS
from ..sampling import grid


@dataclass(frozen=True)
class Convert(HloOp):
    """The same values in another element type. StableHLO: convert.

    Integers wrap around; floating-point numbers lose their fraction on the way to integers, saturate
    where they do not fit, and NaN becomes 0 (StableHLO leaves these two open; NumPy's results differ);
    complex numbers lose their imaginary part; what is not zero is true.

    XLA takes a product with a converted boolean for a choice, in which inf * False is 0 and not NaN; so a boolean
    becomes 1.0 or 0.0 by a choice. `by_xla` is for what `jax.numpy` itself multiplies, and for derivatives: what does not
    depend on its operand has slope 0.
    """

    dtype: DType
    by_xla: bool = False

    opcode = "convert"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        if self.dtype not in ALL:
            raise ShapeError(f"convert: there are no HLO values of type {self.dtype}")
        return operand.with_dtype(self.dtype)

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        (given,) = op.operands
        if given.type.dtype == BOOL and self.dtype in FLOATS | COMPLEXES and not self.by_xla:
            ends = [e.filled(np.asarray(x, self.dtype), op.results[0].type) for x in (1, 0)]
            return e.create("select", op.results, [*operands, *ends])
        if not is_complex(given.type.dtype) or is_complex(self.dtype):
            return e.create(self.opcode, op.results, operands)
        if self.dtype != BOOL:
            # XLA ends the process where it folds a conversion of complex numbers to real ones.
            part = given.type.with_dtype(FLOAT32 if given.type.dtype == COMPLEX64 else FLOAT64)
            (real,) = e.create("real", [part], operands).results
            return e.create(self.opcode, op.results, [real])
        # To a boolean XLA would convert the real part only.
        zero = e.constant(np.zeros(given.type.static_shape, given.type.dtype))
        direction = {"comparison_direction": e.parse("#stablehlo<comparison_direction NE>")}
        return e.create("compare", op.results, [*operands, zero], direction)

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        if is_complex(x.dtype) and not is_complex(self.dtype) and self.dtype != BOOL:
            x = np.real(x)
        if is_floating(x.dtype) and is_integer(self.dtype):
            return _saturated(x, self.dtype)
        return x.astype(self.dtype)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (c.op(self, *operands),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        order = sorted(ALL, key=str)
        made = [
            Sample(cls(target), (grid(source, (7,), -2.75, 3.5),)) for source in order for target in order
        ]
        edge = np.array([np.nan, np.inf, -np.inf, 1e20, -1e20, 300.0, -300.0])
        made += [Sample(cls(target), (edge.astype(FLOAT32),)) for target in order if is_integer(target)]
        wide = np.array([2**40 + 7, -(2**40) - 7, 255, -129], INT64)
        made += [Sample(cls(target), (wide,)) for target in order if is_integer(target)]
        return [*made, Sample(cls(FLOAT32), (np.array(3),)), Sample(cls(INT32), (grid(FLOAT64, (0, 2)),))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [
            ErrorSample(cls(np.dtype(object)), (ArrayType(FLOAT32, (3,)),), "no HLO values of type object")
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Of types that have derivatives; complex numbers that were real have lost nothing."""
        (ct,) = cotangents
        assert ct is not None
        return (c.convert(ct, op.operands[0].type.dtype),)


@dataclass(frozen=True)
class BitcastConvert(HloOp):
    """The same bits, read as another element type. StableHLO: bitcast_convert.

    Elements of the same width keep the shape; a narrower type adds an axis that counts the parts of an
    element, lowest first, and a wider type takes that axis away.
    """

    dtype: DType

    opcode = "bitcast_convert"

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        for dtype in (operand.dtype, self.dtype):
            if dtype == BOOL or is_complex(dtype) or dtype not in ALL:
                raise ShapeError(f"the bits of {dtype} values cannot be read as those of another type")
        before, after = operand.dtype.itemsize, self.dtype.itemsize
        if before == after:
            return operand.with_dtype(self.dtype)
        if before > after:
            return ArrayType(self.dtype, (*operand.shape, before // after))
        if not operand.shape or not known_equal(operand.shape[-1], after // before):
            raise ShapeError(
                f"to read {operand} as {self.dtype} its last axis must have {after // before} elements"
            )
        return ArrayType(self.dtype, operand.shape[:-1])

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        before, after = x.dtype.itemsize, self.dtype.itemsize
        raw = np.ascontiguousarray(x)
        if before == after:
            return raw.view(self.dtype).reshape(x.shape)
        shape = (*x.shape, before // after) if before > after else x.shape[:-1]
        return np.ndarray(shape, self.dtype, raw.tobytes())

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (c.op(self, *operands),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        order = sorted(ALL - COMPLEXES - {BOOL}, key=str)
        made = [
            Sample(cls(target), (grid(source, (5,)),))
            for source in order
            for target in order
            if source.itemsize == target.itemsize
        ]
        made.append(Sample(cls(UINT8), (grid(FLOAT32, (2, 3)),)))
        made.append(Sample(cls(FLOAT64), (grid(INT32, (3, 2)),)))
        made.append(Sample(cls(INT32), (np.array(-0.0, FLOAT32),)))
        made.append(Sample(cls(INT32), (grid(FLOAT32, (0, 2)),)))
        return made

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [
            ErrorSample(cls(INT8), (ArrayType(BOOL, (2,)),), "the bits of bool values"),
            ErrorSample(cls(COMPLEX64), (ArrayType(FLOAT64, (2,)),), "the bits of complex64 values"),
            ErrorSample(cls(FLOAT64), (ArrayType(FLOAT32, (3,)),), "must have 2 elements"),
            ErrorSample(cls(INT32), (ArrayType(INT8),), "must have 4 elements"),
        ]


def _saturated(x: np.ndarray, dtype: DType) -> np.ndarray:
    """Real numbers as integers: truncated, limited to what the type holds, NaN as 0."""
    info: np.iinfo[Any] = np.iinfo(dtype)
    wide = np.trunc(x.astype(FLOAT64))
    inside = (wide > float(info.min)) & (wide < float(info.max))
    result = np.where(inside, wide, 0).astype(dtype)
    result = np.where(wide <= float(info.min), dtype.type(info.min), result)
    return np.where(wide >= float(info.max), dtype.type(info.max), result)
