"""Operations on sliding windows, pooling above all; and the window arithmetic that convolution shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jax.extend.mlir import ir as mlir_ir
from jax.extend.mlir.dialects import stablehlo

from ..hlo.extents import add, ceil_divide, scale
from ..hlo.ir import Op
from ..hlo.mlir import Emitter
from ..hlo.op import ErrorSample, HloOp, Sample
from ..hlo.types import (
    FLOAT32,
    INT32,
    ArrayType,
    Extent,
    ShapeError,
    Symbol,
    is_complex,
    is_unsigned,
    known_equal,
)
from .binary import Add, Maximum, Minimum
from .fitting import check_combiner, check_length, check_same_dtype

Pairs = tuple[tuple[int, int], ...]
Ints = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WindowAxis:
    """How a window slides along one axis; the array is dilated first, then padded (negative: cropped)."""

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1

    @property
    def reach(self) -> int:
        """How many elements the window spans, holes included."""
        return (self.size - 1) * self.window_dilation + 1

    def positions(self, what: str, extent: Extent) -> Extent:
        """At how many places the window fits on an axis of `extent` elements."""
        if self.size < 1:
            raise ShapeError(f"{what}: a window of {self.size} elements")
        if min(self.stride, self.base_dilation, self.window_dilation) < 1:
            raise ShapeError(f"{what}: strides and dilations must be at least 1")
        if isinstance(extent, Symbol):  # taken to be long enough for one window
            padded = add(scale(extent, self.base_dilation), 1 - self.base_dilation, self.low, self.high)
            return ceil_divide(add(padded, 1 - self.reach), self.stride)
        dilated = (extent - 1) * self.base_dilation + 1 if extent else 0
        padded = dilated + self.low + self.high
        if padded < 0:
            raise ShapeError(f"{what}: padding {(self.low, self.high)} removes more than {dilated} elements")
        return (padded - self.reach) // self.stride + 1 if padded >= self.reach else 0

    def source(self, position: int, offset: int, extent: int) -> int | None:
        """The element under the window's `offset`th element at `position`; None in padding and holes."""
        at = position * self.stride + offset * self.window_dilation - self.low
        index, hole = divmod(at, self.base_dilation)
        return None if hole or not 0 <= index < extent else index


def window_sources(
    axes: Sequence[WindowAxis], position: Sequence[int], shape: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """What lies under the window at `position`: pairs (offset in the window, index of the element)."""
    for offset in np.ndindex(*[a.size for a in axes]):
        found = [a.source(p, o, n) for a, p, o, n in zip(axes, position, offset, shape, strict=True)]
        index = tuple([i for i in found if i is not None])
        if len(index) == len(axes):
            yield offset, index


@dataclass(frozen=True)
class ReduceWindow(HloOp):
    """Reduces each window of `x` with `combine`, beginning with the scalar `init`. StableHLO: reduce_window.

    Padding counts as `init`. `combine` is an elementwise binary operation, as `Add` or `Maximum`, of which
    `init` is the neutral element.
    """

    opcode: ClassVar[str] = "reduce_window"
    regions: ClassVar[int] = 0  # the combiner's region is made by emission

    combine: HloOp
    window: Ints
    strides: Ints
    padding: Pairs
    base_dilation: Ints = ()
    window_dilation: Ints = ()

    def _axes(self, what: str, rank: int) -> list[WindowAxis]:
        base, dilation = self.base_dilation or (1,) * rank, self.window_dilation or (1,) * rank
        for name, values in (
            ("window", self.window),
            ("strides", self.strides),
            ("padding", self.padding),
            ("base_dilation", base),
            ("window_dilation", dilation),
        ):
            check_length(what, name, values, rank)
        return [
            WindowAxis(size, stride, low, high, b, w)
            for size, stride, (low, high), b, w in zip(
                self.window, self.strides, self.padding, base, dilation, strict=True
            )
        ]

    def infer(self, *operands: ArrayType) -> ArrayType:
        """The number of places of the window along each axis; `ShapeError` where the window is malformed."""
        x, init = operands
        what = f"window {self.window} over {x}"
        check_same_dtype(what, x, init)
        check_combiner(what, self.combine, x)
        if init.rank:
            raise ShapeError(f"{what}: the initial value must be a scalar, not {init}")
        axes = self._axes(what, x.rank)
        return x.with_shape(tuple([a.positions(what, n) for a, n in zip(axes, x.shape, strict=True)]))

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.reduce_window`."""
        attributes = {
            "window_dimensions": e.i64s(self.window),
            "window_strides": e.i64s(self.strides),
            "padding": e.matrix(self.padding),
        }
        if self.base_dilation:
            attributes["base_dilations"] = e.i64s(self.base_dilation)
        if self.window_dilation:
            attributes["window_dilations"] = e.i64s(self.window_dilation)
        made = e.create(self.opcode, op.results, operands, attributes, regions=1)
        e.emit_reducer(self.combine.opcode, [ArrayType(op.results[0].type.dtype)], made.regions[0])
        return made

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """Goes through every window, element by element."""
        x, init = operands
        axes = self._axes("window", x.ndim)
        result = np.empty([a.positions("window", n) for a, n in zip(axes, x.shape, strict=True)], x.dtype)
        for position in np.ndindex(*result.shape):
            total = init
            for _, index in window_sources(axes, position, x.shape):
                total = self.combine.reference(total, x[index])
            result[position] = total
        return result

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Pooling, strides, padding of both signs, both dilations, windows that never fit, rank 0."""
        x = np.random.default_rng(0).standard_normal((1, 6, 5, 2)).astype(np.float32)
        ints = np.arange(10, dtype=np.int32)
        zero, low = np.float32(0), np.float32(-np.inf)
        no, step = ((0, 0),), (1,)
        return (
            Sample(cls(Maximum(), (1, 2, 2, 1), (1, 2, 2, 1), no * 4), (x, np.asarray(low))),
            Sample(
                cls(Add(), (1, 3, 2, 1), step * 4, ((0, 0), (1, 1), (0, 1), (0, 0))), (x, np.asarray(zero))
            ),
            Sample(cls(Add(), (3,), (2,), ((2, 1),), (2,), (3,)), (ints, np.asarray(np.int32(0)))),
            Sample(cls(Minimum(), (3,), (1,), ((-2, -1),)), (ints, np.asarray(np.int32(99)))),
            Sample(cls(Add(), (10,), (1,), ((9, 0),)), (ints, np.asarray(np.int32(0)))),
            Sample(cls(Add(), (11,), (1,), no), (ints, np.asarray(np.int32(0)))),
            Sample(cls(Add(), (2,), (1,), ((1, 1),)), (ints[:0], np.asarray(np.int32(7)))),
            Sample(cls(Add(), (), (), ()), (np.asarray(np.float32(3)), np.asarray(np.float32(4)))),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Windows that do not match the array, and extents that are not known."""
        x, init = ArrayType(FLOAT32, (6, 5)), ArrayType(FLOAT32)
        no = ((0, 0), (0, 0))
        return (
            ErrorSample(cls(Add(), (2,), (1, 1), no), (x, init), "window has 1 entries for 2 axes"),
            ErrorSample(cls(Add(), (2, 2), (1, 1), no), (x, x), "must be a scalar"),
            ErrorSample(cls(Add(), (2, 2), (1, 1), no), (x, ArrayType(INT32)), "element types differ"),
            ErrorSample(cls(Add(), (2, 0), (1, 1), no), (x, init), "a window of 0 elements"),
            ErrorSample(cls(Add(), (2, 2), (1, 0), no), (x, init), "at least 1"),
            ErrorSample(cls(Add(), (1, 1), (1, 1), ((-3, -4), (0, 0))), (x, init), "removes more than 6"),
        )


@dataclass(frozen=True)
class SelectAndScatter(HloOp):
    """Adds each element of `source` at the element of `operand` that its window selects.

    The gradient of max-pooling. The window keeps its first element until `direction` ("GE" or "LE")
    between it and a later one is false; elements in the padding are never selected. What several windows
    send to one place is joined with `combine`, beginning with the scalar `init`. StableHLO:
    select_and_scatter.
    """

    opcode: ClassVar[str] = "select_and_scatter"

    select: str
    combine: HloOp
    window: Ints
    strides: Ints
    padding: Pairs

    def _axes(self, what: str, rank: int) -> list[WindowAxis]:
        for name, values in (("window", self.window), ("strides", self.strides), ("padding", self.padding)):
            check_length(what, name, values, rank)
        return [
            WindowAxis(size, stride, low, high)
            for size, stride, (low, high) in zip(self.window, self.strides, self.padding, strict=True)
        ]

    def infer(self, *operands: ArrayType) -> ArrayType:
        """The type of `operand`; `ShapeError` where `source` has not one element per window."""
        operand, source, init = operands
        what = f"selection by window {self.window} in {operand}"
        check_same_dtype(what, operand, source, init)
        check_combiner(what, self.combine, operand)
        if self.select not in ("GE", "LE"):
            raise ShapeError(f"{what}: cannot select by {self.select!r}, only by 'GE' or 'LE'")
        if is_complex(operand.dtype):
            raise ShapeError(f"{what}: complex numbers have no order")
        if init.rank:
            raise ShapeError(f"{what}: the initial value must be a scalar, not {init}")
        if source.rank != operand.rank:
            raise ShapeError(f"{what}: the source {source} has {source.rank} axes")
        for axis, a in enumerate(self._axes(what, operand.rank)):
            places = a.positions(what, operand.shape[axis])
            if not known_equal(places, source.shape[axis]):
                raise ShapeError(
                    f"{what}: axis {axis} has {places} windows, but the source has {source.shape[axis]}"
                )
        return operand

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.select_and_scatter`."""
        attributes = {
            "window_dimensions": e.i64s(self.window),
            "window_strides": e.i64s(self.strides),
            "padding": e.matrix(self.padding),
        }
        made = e.create(self.opcode, op.results, operands, attributes, regions=2)
        scalar = ArrayType(op.results[0].type.dtype)
        self._emit_select(e, scalar, made.regions[0])
        e.emit_reducer(self.combine.opcode, [scalar], made.regions[1])
        return made

    def _emit_select(self, e: Emitter, scalar: ArrayType, into: mlir_ir.Region) -> None:
        block = into.blocks.append(e.type(scalar), e.type(scalar), arg_locs=None)
        with mlir_ir.InsertionPoint(block):
            chosen = emit_compare(e, self.select, scalar, block.arguments[0], block.arguments[1])
            mlir_ir.Operation.create("stablehlo.return", [], [chosen], loc=e.location)

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """Goes through every window, element by element."""
        operand, source, init = operands
        axes = self._axes("selection", operand.ndim)
        result = np.full(operand.shape, init, operand.dtype)
        for position in np.ndindex(*source.shape):
            chosen: tuple[int, ...] | None = None
            for _, index in window_sources(axes, position, operand.shape):
                if chosen is None or not self._keeps(operand[chosen], operand[index]):
                    chosen = index
            if chosen is not None:
                result[chosen] = self.combine.reference(result[chosen], source[position])
        return result

    def _keeps(self, chosen: np.generic, other: np.generic) -> bool:
        return bool(chosen >= other) if self.select == "GE" else bool(chosen <= other)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Disjoint and overlapping windows, ties, padding, integers."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal((6, 4)).astype(np.float32)
        ties = np.array([1, 1, 0, 1, 1, 3, 3], np.int32)
        ones = np.arange(1, 7, dtype=np.int32)
        zero, izero = np.asarray(np.float32(0)), np.asarray(np.int32(0))
        none = ((0, 0), (0, 0))
        return (
            Sample(
                cls("GE", Add(), (2, 2), (2, 2), none),
                (x, rng.standard_normal((3, 2)).astype(np.float32), zero),
            ),
            Sample(
                cls("LE", Add(), (3, 2), (1, 1), ((1, 1), (0, 1))),
                (x, rng.standard_normal((6, 4)).astype(np.float32), zero),
            ),
            Sample(cls("GE", Add(), (2,), (1,), ((0, 0),)), (ties, ones, izero)),
            Sample(cls("LE", Add(), (2,), (1,), ((0, 0),)), (ties, ones, izero)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Sources and windows that do not match the operand."""
        x, init = ArrayType(FLOAT32, (6, 4)), ArrayType(FLOAT32)
        source = ArrayType(FLOAT32, (3, 2))
        none = ((0, 0), (0, 0))
        pool = cls("GE", Add(), (2, 2), (2, 2), none)
        return (
            ErrorSample(pool, (x, x, init), "axis 0 has 3 windows, but the source has 6"),
            ErrorSample(pool, (x, ArrayType(FLOAT32, (3,)), init), "has 1 axes"),
            ErrorSample(pool, (x, source, source), "must be a scalar"),
            ErrorSample(pool, (x, source.with_dtype(INT32), init), "element types differ"),
            ErrorSample(cls("EQ", Add(), (2, 2), (2, 2), none), (x, source, init), "only by 'GE' or 'LE'"),
            ErrorSample(cls("GE", Add(), (2,), (2, 2), none), (x, source, init), "window has 1 entries"),
        )


def emit_compare(
    e: Emitter, direction: str, scalar: ArrayType, a: mlir_ir.Value, b: mlir_ir.Value
) -> mlir_ir.Value:
    """Compares two scalars inside a region that emission makes; floating point by IEEE's rules."""
    dtype = scalar.dtype
    if dtype.kind == "b" or is_unsigned(dtype):
        order = "UNSIGNED"
    else:
        order = "SIGNED" if dtype.kind == "i" else "FLOAT"
    attributes = {
        "comparison_direction": stablehlo.ComparisonDirectionAttr.get(direction),
        "compare_type": stablehlo.ComparisonTypeAttr.get(order),
    }
    return e.create("compare", [ArrayType(np.dtype(np.bool_))], (a, b), attributes).results[0]
