"""Sorting along an axis, by one array or by several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.builder import Builder
from ...hlo.calculus import Calculus, Contribution, Cotangents, Tangents
from ...hlo.ir import Op, Region, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, OnHost, Sample
from ...hlo.types import FLOAT32, INT32, ArrayType, DType, ShapeError, is_complex, is_floating
from ..batching import all_broadcast_to_batch
from ..elementwise.binary import Add, And, Or
from ..elementwise.compare import Compare
from ..elementwise.unary import Imag, Not, Real
from ..operands import listing, require, require_axes
from .gather import Gather
from .scatter import Scatter
from .shapes import Iota


@dataclass(frozen=True)
class Sort(HloOp):
    """Reorders all operands alike along `axis`, so that the first `keys` of them ascend. StableHLO: sort.

    Keys are compared lexicographically, the first one first. NaN comes last, -0.0 equals 0.0, and complex
    numbers are ordered as NumPy orders them: by real part, then imaginary part, those with a NaN part
    after all others (NaN in the imaginary part only, before NaN in the real part). `stable` keeps equal
    elements in their order.

    What the program leaves open, NumPy may use where it sorts on the host: with `any_order` how equal elements
    follow each other, with `kth` all but which elements stand at these places, before them and after them. Such a
    sort has one operand, or places (integers) beside it.
    """

    opcode = "sort"

    axis: int
    stable: bool = True
    keys: int = 1
    any_order: bool = False
    kth: tuple[int, ...] = ()

    def infer(self, *operands: ArrayType) -> tuple[ArrayType, ...]:
        """The types of the operands; `ShapeError` where their shapes differ."""
        if not 1 <= self.keys <= len(operands):
            raise ShapeError(f"sort: {self.keys} keys of {len(operands)} arrays")
        require_axes("sort", (self.axis,), operands[0].rank)
        if self.any_order or self.kth:
            alone = len(operands) == 1 or (len(operands) == 2 and operands[1].dtype.kind in "iu")
            require(alone, "sort: an order that is left open is one of single elements, or of places")
        for operand in operands[1:]:
            if operand.shape != operands[0].shape:
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

    def on_host(self, op: Op, used: Sequence[bool]) -> OnHost | None:
        """NumPy's sort, where it is faster by more than the call; the places along the axis are not handed over."""
        types = [v.type for v in op.operands]
        count = types[0].shape[self.axis]
        rows = types[0].size // max(count, 1)
        simple = len(types) == 1 and types[0].dtype.kind in "biu"
        if rows * count * count.bit_length() < (SIMPLE_COMPARISONS if simple else COMPARISONS):
            return None
        if not any(used) or any(t.dtype.kind not in "biufc" for t in types):  # ml_dtypes has its own
            return None
        counted = tuple([_counts(v, self.axis) for v in op.operands])
        if any(counted[: self.keys]):
            return None
        places = tuple([i for i, flag in enumerate(used) if flag])
        kept = [i for i, flag in enumerate(counted) if not flag and (i < self.keys or used[i])]
        taken = tuple([None if counted[i] else kept.index(i) for i in places])
        indices = tuple([types[i].dtype for i in places])
        return OnHost(SortOnHost(self, taken, indices), tuple([op.operands[i] for i in kept]), places)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        kind = replace(self, axis=self.axis + 1)
        return c.apply(kind, all_broadcast_to_batch(c, op, operands, batched, batch_size)).results

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
            Sample(cls(1, any_order=True), (x,)),
            Sample(cls(1, kth=(1, -1)), (x,)),
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
            ErrorSample(cls(0, any_order=True), (x, x), "left open"),
            ErrorSample(cls(0, kth=(1,)), (x, x.with_dtype(INT32), x), "left open"),
        )

    def _order(self, c: Calculus, op: Op) -> tuple[Value, Value | None]:
        """Places along the axis, int32: those of the operands, in ascending order, and of the results, None if in order.

        Equal elements count as they come: where NumPy is free to exchange them they are one number.
        """
        places = c.iota(INT32, op.operands[0].type.shape, self.axis)
        entire = Sort(self.axis, self.stable, self.keys)
        before = c.apply(entire, [*op.operands, places]).results[-1]
        return before, c.apply(entire, [*op.results, places]).results[-1] if self.kth else None

    def _take(self, c: Calculus, x: Value, places: Value) -> Value:
        """The elements of `x` at `places` along the axis."""
        if not x.type.size:
            return x
        rank = x.type.rank
        others = tuple([a for a in range(rank) if a != self.axis])
        gather = Gather((), (self.axis,), (self.axis,), rank, (1,) * rank, others, others)
        return c.op(gather, x, places)

    def _put(self, c: Calculus, x: Value, places: Value) -> Value:
        """The elements of `x` moved to `places` along the axis, each to one of its own."""
        if not x.type.size:
            return x
        others = tuple([a for a in range(x.type.rank) if a != self.axis])
        at = (self.axis,)
        scatter = Scatter(Add(), (), at, at, x.type.rank, others, others, unique_indices=True)
        return c.op(scatter, c.zeros(x.type), places, x)

    def _moved(self, c: Calculus, x: Value, taken: Value | None, put: Value | None) -> Value:
        x = x if taken is None else self._take(c, x, taken)
        return x if put is None else self._put(c, x, put)

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Each element's cotangent goes back to where the element was."""
        before, after = self._order(c, op)
        return [None if ct is None else self._moved(c, ct, after, before) for ct in cotangents]

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        before, after = self._order(c, op)
        return [None if t is None else self._moved(c, t, before, after) for t in tangents]


COMPARISONS = 1_500
"""From how many comparisons on a call of the host is faster than XLA:CPU, which calls a function for each, of 14 ns."""

SIMPLE_COMPARISONS = 10_000
"""The same for whole numbers without others beside them, which XLA:CPU compares without a call, in 2 ns."""


@dataclass(frozen=True)
class SortOnHost:
    """`sort` of the operands that are not places along the axis.

    Its results are of these operands (by number) or, None, the places that the elements come from, in the type that
    stands at the same place of `indices`.
    """

    sort: Sort
    taken: tuple[int | None, ...]
    indices: tuple[DType, ...]

    def __call__(self, *operands: np.ndarray) -> list[np.ndarray]:
        """The results."""
        axis, keys = self.sort.axis, operands[: self.sort.keys]
        if self.taken == (0,) and len(operands) == 1:
            return [self._sorted(operands[0], axis)]
        order = np.lexsort(keys[::-1], axis) if len(keys) > 1 else self._places(keys[0], axis)
        return [
            order.astype(dtype, copy=False) if i is None else np.take_along_axis(operands[i], order, axis)
            for i, dtype in zip(self.taken, self.indices, strict=True)
        ]

    def _sorted(self, x: np.ndarray, axis: int) -> np.ndarray:
        if self.sort.kth:
            return np.partition(x, self.sort.kth, axis)
        return np.sort(x, axis, None if self.sort.any_order else "stable")

    def _places(self, x: np.ndarray, axis: int) -> np.ndarray:
        if self.sort.kth:
            return np.argpartition(x, self.sort.kth, axis)
        return np.argsort(x, axis, None if self.sort.any_order else "stable")


def _counts(value: Value, axis: int) -> bool:
    """True for what holds at each place its number along the axis."""
    return (
        isinstance(value.owner, Op) and isinstance(value.owner.kind, Iota) and value.owner.kind.axis == axis
    )


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
