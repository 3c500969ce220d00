"""Sorting along an axis, by one array or by several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jax.extend.mlir import ir as mlir_ir

from ..hlo.ir import Op
from ..hlo.mlir import Emitter
from ..hlo.op import ErrorSample, HloOp, Sample
from ..hlo.types import (
    BOOL,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT32,
    ArrayType,
    ShapeError,
    is_complex,
    is_floating,
    known_equal,
)
from .fitting import check_axes
from .window import emit_compare


@dataclass(frozen=True)
class Sort(HloOp):
    """Reorders all operands alike along `axis`, so that the first `keys` of them ascend. StableHLO: sort.

    Keys are compared lexicographically, the first one first. NaN comes last, -0.0 equals 0.0, and complex
    numbers are ordered as NumPy orders them: by real part, then imaginary part, those with a NaN part
    after all others (NaN in the imaginary part only, before NaN in the real part). `stable` keeps equal
    elements in their order.
    """

    opcode: ClassVar[str] = "sort"

    axis: int
    stable: bool = True
    keys: int = 1

    def infer(self, *operands: ArrayType) -> tuple[ArrayType, ...]:
        """The types of the operands; `ShapeError` where their shapes differ."""
        if not 1 <= self.keys <= len(operands):
            raise ShapeError(f"sort: {self.keys} keys of {len(operands)} arrays")
        what = f"sort of {', '.join(map(str, operands))}"
        shape = operands[0].shape
        check_axes(what, (self.axis,), len(shape))
        for operand in operands[1:]:
            if operand.rank != len(shape) or not all(map(known_equal, operand.shape, shape)):
                raise ShapeError(f"{what}: all need the same shape")
        return operands

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.sort` with its comparator."""
        attributes = {"dimension": e.i64(self.axis), "is_stable": mlir_ir.BoolAttr.get(self.stable)}
        made = e.create(self.opcode, op.results, operands, attributes, regions=1)
        scalars = [ArrayType(r.type.dtype) for r in op.results]
        types = [e.type(s) for s in scalars for _ in range(2)]
        block = made.regions[0].blocks.append(*types, arg_locs=None)
        with mlir_ir.InsertionPoint(block):
            less = self._emit_less(e, scalars[: self.keys], list(block.arguments))
            mlir_ir.Operation.create("stablehlo.return", [], [less], loc=e.location)
        return made

    def _emit_less(
        self, e: Emitter, scalars: list[ArrayType], arguments: list[mlir_ir.Value]
    ) -> mlir_ir.Value:
        """The comparator: `a` before `b`, built from the last key to the first."""
        less: mlir_ir.Value | None = None
        for i in reversed(range(len(scalars))):
            for scalar, a, b in reversed(_real_keys(e, scalars[i], arguments[2 * i], arguments[2 * i + 1])):
                before = emit_compare(e, "LT", scalar, a, b)
                if less is not None:  # two NaNs must count as equal, so "not after" and no "EQ"
                    not_after = _boolean(e, "not", emit_compare(e, "GT", scalar, a, b))
                    before = _boolean(e, "or", before, _boolean(e, "and", not_after, less))
                less = before
        assert less is not None
        return less

    def reference(self, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        """Sorts every line along the axis with Python's stable sort."""
        moved = [np.moveaxis(x, self.axis, -1) for x in operands]
        results = [x.copy() for x in moved]
        for place in np.ndindex(*moved[0].shape[:-1]):
            lines = [x[place] for x in moved]
            order = sorted(range(len(lines[0])), key=lambda i: [_order(k[i]) for k in lines[: self.keys]])
            for line, result in zip(lines, results, strict=True):
                result[place] = line[order]
        return tuple([np.moveaxis(x, -1, self.axis) for x in results])

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Both axes, several keys, stability, booleans, and what floating point and complex numbers have."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal((4, 6)).astype(np.float32)
        hard = np.array([3, -0.0, np.nan, np.inf, 0.0, -np.inf, -np.nan, -1e-45, 1], np.float32)
        places = np.arange(9, dtype=np.int32)
        few = rng.integers(0, 3, (3, 9)).astype(np.int32)
        parts = np.array([0.0, -0.0, 1, np.nan, -2], np.float64)
        pairs = (parts[:, None] + 0j).repeat(5, 1)
        pairs.imag = parts
        return (
            Sample(cls(1), (x,)),
            Sample(cls(0), (x,)),
            Sample(cls(0), (hard, places)),
            Sample(cls(0, keys=2), (few[0], hard, places)),
            Sample(
                cls(0, keys=2), (np.array([np.nan, 0, np.nan, np.nan], np.float32), places[3::-1], places[:4])
            ),
            Sample(cls(0, keys=3), (few[0], few[1].astype(np.uint8), few[2] > 1, places)),
            Sample(cls(1), (few, few.astype(np.float16))),
            Sample(cls(0), (pairs.reshape(-1), np.arange(25, dtype=np.int64))),
            Sample(cls(0, stable=False), (rng.permutation(9).astype(np.uint32),)),
            Sample(cls(0), (x[:0],)),
            Sample(cls(0), (hard.astype(np.float64), places)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Shapes, axes and numbers of keys that do not fit."""
        x, y = ArrayType(FLOAT32, (4, 6)), ArrayType(INT32, (4, 5))
        return (
            ErrorSample(cls(2), (x,), "axis 2 is out of bounds"),
            ErrorSample(cls(0), (x, y), "all need the same shape"),
            ErrorSample(cls(0, keys=2), (x,), "2 keys of 1 arrays"),
            ErrorSample(cls(0, keys=0), (x,), "0 keys of 1 arrays"),
        )


_Key = tuple[ArrayType, mlir_ir.Value, mlir_ir.Value]


def _real_keys(e: Emitter, scalar: ArrayType, a: mlir_ir.Value, b: mlir_ir.Value) -> list[_Key]:
    """What to compare, the first first, so that IEEE's comparisons order the two values totally."""
    if is_floating(scalar.dtype):
        nans = (scalar.with_dtype(BOOL), _is_nan(e, scalar, a), _is_nan(e, scalar, b))
        return [nans, (scalar, a, b)]
    if not is_complex(scalar.dtype):
        return [(scalar, a, b)]
    part = scalar.with_dtype(FLOAT64 if scalar.dtype == COMPLEX128 else FLOAT32)
    flags: list[_Key] = []
    values: list[_Key] = []
    for opcode in ("real", "imag"):
        x, y = (e.create(opcode, [part], [value]).results[0] for value in (a, b))
        flag, value = _real_keys(e, part, x, y)
        flags.append(flag)
        values.append(value)
    return flags + values


def _is_nan(e: Emitter, scalar: ArrayType, x: mlir_ir.Value) -> mlir_ir.Value:
    return emit_compare(e, "NE", scalar, x, x)


def _boolean(e: Emitter, opcode: str, *operands: mlir_ir.Value) -> mlir_ir.Value:
    return e.create(opcode, [ArrayType(BOOL)], operands).results[0]


def _order(x: np.generic) -> tuple[float, ...]:
    """A Python value that sorts as `x` should: NaN replaced by a flag in front."""
    if np.iscomplexobj(x):
        (no_real, real), (no_imag, imag) = _order(x.real), _order(x.imag)
        return no_real, no_imag, real, imag
    if x.dtype.kind in "iub":
        return 0, int(x)  # type: ignore[call-overload]
    return (1, 0) if x != x else (0, float(x))  # type: ignore[arg-type]
