"""Sorting along an axis, by one array or by several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from jax.extend.mlir import ir as mlir_ir

from ..hlo.builder import Builder
from ..hlo.calculus import Calculus, Contribution, Cotangents, Tangents
from ..hlo.ir import Op, Region, Value
from ..hlo.mlir import Emitter
from ..hlo.op import ErrorSample, HloOp, Sample
from ..hlo.types import FLOAT32, INT32, ArrayType, DType, ShapeError, is_complex, is_floating
from .binary import And, Or
from .compare import Compare
from .gather import Gather
from .lanes import repeated
from .operands import listing, require, require_axes, same_shape
from .unary import Imag, Not, Real


@dataclass(frozen=True)
class Sort(HloOp):
    """Reorders all operands alike along `axis`, so that the first `keys` of them ascend. StableHLO: sort.

    Keys are compared lexicographically, the first one first. NaN comes last, -0.0 equals 0.0, and complex
    numbers are ordered as NumPy orders them: by real part, then imaginary part, those with a NaN part
    after all others (NaN in the imaginary part only, before NaN in the real part). `stable` keeps equal
    elements in their order.
    """

    opcode = "sort"

    axis: int
    stable: bool = True
    keys: int = 1

    def infer(self, *operands: ArrayType) -> tuple[ArrayType, ...]:
        """The types of the operands; `ShapeError` where their shapes differ."""
        require(1 <= self.keys <= len(operands), f"sort: {self.keys} keys of {len(operands)} arrays")
        require_axes("sort", (self.axis,), operands[0].rank)
        for operand in operands[1:]:
            if not same_shape(operand.shape, operands[0].shape):
                raise ShapeError(f"sort takes arrays of one shape, not {listing(operands)}")
        return operands

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.sort` with its comparator."""
        attributes = {"dimension": e.i64(self.axis), "is_stable": mlir_ir.BoolAttr.get(self.stable)}
        made = e.create(self.opcode, op.results, operands, attributes, regions=1)
        e.emit_region(_comparator(tuple([v.type.dtype for v in op.operands]), self.keys), made.regions[0])
        return made

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

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], has_lanes: Sequence[bool], lanes: int
    ) -> Sequence[Value]:
        kind = replace(self, axis=self.axis + 1)
        return c.apply(kind, repeated(c, op, operands, has_lanes, lanes)).results

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Both axes, several keys, stability, booleans, and what floating point and complex numbers have."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal((4, 6)).astype(np.float32)
        hard = np.array([3, -0.0, np.nan, np.inf, 0.0, -np.inf, -np.nan, -1e-30, 1], np.float32)
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
            ErrorSample(cls(2), (x,), "there is no axis 2"),
            ErrorSample(cls(0), (x, y), "arrays of one shape, not f32[4,6] and s32[4,5]"),
            ErrorSample(cls(0, keys=2), (x,), "2 keys of 1 arrays"),
            ErrorSample(cls(0, keys=0), (x,), "0 keys of 1 arrays"),
        )

    def _order(self, c: Calculus, op: Op) -> Value:
        """For each place of the results, the place along the axis where it was; int32."""
        shape = op.operands[0].type.static_shape
        places = c.iota(INT32, shape, self.axis)
        return c.apply(self, [*op.operands, places]).results[-1]

    def _take(self, c: Calculus, x: Value, places: Value) -> Value:
        """The elements of `x` at `places` along the axis."""
        if not x.type.size:
            return x
        rank = x.type.rank
        others = tuple([a for a in range(rank) if a != self.axis])
        gather = Gather((), (self.axis,), (self.axis,), rank, (1,) * rank, others, others)
        return c.op(gather, x, places)

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Each element's cotangent goes back to where the element was."""
        order = self._order(c, op)
        places = c.iota(INT32, order.type.static_shape, self.axis)
        back = c.apply(Sort(self.axis), [order, places]).results[1]
        return [None if ct is None else self._take(c, ct, back) for ct in cotangents]

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        order = self._order(c, op)
        return [None if t is None else self._take(c, t, order) for t in tangents]


@lru_cache(maxsize=256)
def _comparator(dtypes: tuple[DType, ...], keys: int) -> Region:
    """The function of two elements of each array that says whether the first ones come before the second."""
    region = Region(tuple([ArrayType(dtype) for dtype in dtypes for _ in range(2)]))
    b = Builder(region)
    pairs = [p for i in range(keys) for p in _total_order(b, *region.params[2 * i : 2 * i + 2])]
    left, right = pairs.pop()
    before = b.op(Compare("LT"), left, right)
    for left, right in reversed(pairs):  # two NaNs must count as equal, so "not after" instead of "equal"
        not_after = b.op(Not(), b.op(Compare("GT"), left, right))
        before = b.op(Or(), b.op(Compare("LT"), left, right), b.op(And(), not_after, before))
    region.results = (before,)
    return region


def _total_order(b: Builder, left: Value, right: Value) -> list[tuple[Value, Value]]:
    """What to compare, the first first, so that IEEE's comparisons put two scalars into the total order."""
    if is_floating(left.type.dtype):
        is_nan = Compare("NE")
        return [(b.op(is_nan, left, left), b.op(is_nan, right, right)), (left, right)]
    if not is_complex(left.type.dtype):
        return [(left, right)]
    real_nan, real = _total_order(b, b.op(Real(), left), b.op(Real(), right))
    imag_nan, imag = _total_order(b, b.op(Imag(), left), b.op(Imag(), right))
    return [real_nan, imag_nan, real, imag]


def _order(x: Any) -> tuple[Any, ...]:
    """A Python value that sorts as the NumPy scalar `x` should: NaN replaced by a flag in front."""
    if np.iscomplexobj(x):
        (real_nan, real), (imag_nan, imag) = _order(x.real), _order(x.imag)
        return real_nan, imag_nan, real, imag
    return (True, 0) if x != x else (False, x.item())
