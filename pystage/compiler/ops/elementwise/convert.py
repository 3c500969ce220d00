"""Conversion of element types, by value and by bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents
from ...hlo.ir import Op
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import (
    BOOL,
    COMPLEX64,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    ArrayType,
    DType,
    ShapeError,
    is_complex,
    is_floating,
    is_integer,
)
from ..batching import as_one
from ..operands import ALL, COMPLEXES, FLOATS
from ..sampling import grid
from .parts import Part


@dataclass(frozen=True)
class Convert(HloOp):
    """The same values in another element type. StableHLO: convert.

    Integers wrap around; floating-point numbers lose their fraction on the way to integers; complex numbers lose their
    imaginary part; what is not zero is true.

    What an integer type does not hold, and NaN, is what x86-64 processors make of it, as NumPy's casts are there: the least
    integer of int32, for it and narrower types, which take the lower bits, and of int64 for int64 and uint32. Of uint64
    the upper half is that of int64, moved. `by_xla`: numbers saturate and NaN becomes 0, as with JAX on CPUs.

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
            return self._emit_real(e, op, given.type, operands[0])
        if self.dtype != BOOL:
            # XLA ends the process where it folds a conversion of complex numbers to real ones.
            part = given.type.with_dtype(FLOAT32 if given.type.dtype == COMPLEX64 else FLOAT64)
            (real,) = e.create("real", [part], operands).results
            return self._emit_real(e, op, part, real)
        # To a boolean XLA would convert the real part only.
        zero = e.filled(np.zeros((), given.type.dtype), given.type)
        direction = {"comparison_direction": e.parse("#stablehlo<comparison_direction NE>")}
        return e.create("compare", op.results, [*operands, zero], direction)

    def of_nan(self) -> int:
        """The integer that NaN becomes."""
        return 0 if self.by_xla else int(_truncated(np.array(np.nan), self.dtype))

    def _emit_real(self, e: Emitter, op: Op, type: ArrayType, x: mlir_ir.Value) -> mlir_ir.Operation:
        """The conversion of real numbers."""
        if self.by_xla or not is_floating(type.dtype) or not is_integer(self.dtype):
            return e.create(self.opcode, op.results, [x])
        if type.dtype not in (FLOAT32, FLOAT64):
            type, x = (
                type.with_dtype(FLOAT32),
                e.create("convert", [type.with_dtype(FLOAT32)], [x]).results[0],
            )
        return emit_truncated(e, op, Part(e, type, x))

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        if is_complex(x.dtype) and not is_complex(self.dtype) and self.dtype != BOOL:
            x = np.real(x)
        if is_floating(x.dtype) and is_integer(self.dtype):
            return _saturated(x, self.dtype) if self.by_xla else _truncated(x, self.dtype)
        return x.astype(self.dtype)

    batch = as_one

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        order = sorted(ALL, key=str)
        made = [
            Sample(cls(target), (grid(source, (7,), -2.75, 3.5),)) for source in order for target in order
        ]
        edge = np.array([np.nan, np.inf, -np.inf, 1e20, -1e20, 300.0, -300.0])
        for target in order:
            if is_integer(target):
                made += [Sample(cls(target, flag), (edge.astype(FLOAT32),)) for flag in (True, False)]
                made += [Sample(cls(target), (wide_edges(source),)) for source in (FLOAT64, FLOAT16)]
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
        if not operand.shape or operand.shape[-1] != after // before:
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

    batch = as_one

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


def emit_truncated(e: Emitter, op: Op, x: Part) -> mlir_ir.Operation:
    """Floating-point numbers as integers; see `Convert`."""
    dtype = op.results[0].type.dtype
    if dtype != UINT64:
        through = x.type.with_dtype(_through(dtype))
        return e.create("convert", op.results, [_indefinite(e, x, through)])
    high, low = [_indefinite(e, part, x.type.with_dtype(INT64)) for part in (x - 2.0**63, x)]
    signed = x.type.with_dtype(INT64)
    least = e.filled(np.asarray(np.iinfo(np.int64).min), signed)
    upper = e.create("xor", [signed], [high, least]).results[0]
    made = e.create("select", [signed], [(x >= 2.0**63).value, upper, low]).results[0]
    return e.create("bitcast_convert", op.results, [made])


def _through(dtype: DType) -> DType:
    """The type by way of which NumPy casts floating-point numbers to an integer type."""
    return INT64 if dtype in (INT64, UINT32, UINT64) else INT32


def _indefinite(e: Emitter, x: Part, type: ArrayType) -> mlir_ir.Value:
    """`x` as int32 or int64, and their least number where it does not fit."""
    info: np.iinfo[Any] = np.iinfo(type.dtype)
    least = float(info.min)
    above = x > least - 1.0 if x.type.dtype == FLOAT64 and type.dtype == INT32 else x >= least
    made = e.create("convert", [type], [x.value]).results[0]
    smallest = e.filled(np.asarray(info.min, type.dtype), type)
    return e.create("select", [type], [(above & (x < -least)).value, made, smallest]).results[0]


def _truncated(x: np.ndarray, dtype: DType) -> np.ndarray:
    """Real numbers as integers by the rule of `Convert`, whatever this processor does."""
    through = _through(dtype)
    info: np.iinfo[Any] = np.iinfo(through)
    wide = np.trunc(x.astype(FLOAT64))
    upper = (wide >= 2.0**63) & (dtype == UINT64)
    wide = np.where(upper, wide - 2.0**63, wide)
    inside = (wide >= float(info.min)) & (wide < -float(info.min))
    made = np.where(inside, np.where(inside, wide, 0).astype(through), info.min)
    made = np.where(upper, made ^ np.int64(np.iinfo(np.int64).min), made) if dtype == UINT64 else made
    result: np.ndarray = made.astype(dtype)
    return result


def wide_edges(dtype: DType) -> np.ndarray:
    """Numbers around the limits of integer types, NaN and infinities."""
    ends = [sign * 2.0**power for power in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1)]
    with np.errstate(all="ignore"):
        return np.array([np.nan, np.inf, -np.inf, 1e20, 300.7, -1.5, *ends]).astype(dtype)


def _saturated(x: np.ndarray, dtype: DType) -> np.ndarray:
    """Real numbers as integers: truncated, limited to what the type holds, NaN as 0."""
    info: np.iinfo[Any] = np.iinfo(dtype)
    wide = np.trunc(x.astype(FLOAT64))
    inside = (wide > float(info.min)) & (wide < float(info.max))
    result = np.where(inside, wide, 0).astype(dtype)
    result = np.where(wide <= float(info.min), dtype.type(info.min), result)
    return np.where(wide >= float(info.max), dtype.type(info.max), result)
