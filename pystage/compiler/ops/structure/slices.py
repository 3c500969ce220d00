"""Rectangular slices of arrays: static and dynamic slices, and dynamic updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, Into
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT8, ArrayType, ShapeError
from ..batching import all_broadcast_to_batch, broadcast_to_batch, shifted
from ..elementwise.compare import Clamp
from ..operands import (
    ALL,
    INTEGERS,
    axes_of,
    require_dtype,
    require_per_axis,
    require_scalar,
)
from ..sampling import grid
from .gather import Gather
from .scatter import Scatter
from .shapes import Constant


@dataclass(frozen=True)
class Slice(HloOp):
    """Every `strides[i]`-th element from `starts[i]` to before `limits[i]`, along each axis.

    All counted from the front, with `0 <= start <= limit <= extent`. StableHLO: slice.
    """

    starts: tuple[int, ...]
    limits: tuple[int, ...]
    strides: tuple[int, ...]

    opcode = "slice"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        for values, what in ((self.starts, "starts"), (self.limits, "limits"), (self.strides, "strides")):
            require_per_axis("slice", what, values, operand.rank)
        shape = []
        for axis, extent in enumerate(operand.shape):
            start, limit, stride = self.starts[axis], self.limits[axis], self.strides[axis]
            if stride < 1:
                raise ShapeError(f"slice: the stride of axis {axis} is not positive: {stride}")
            if not 0 <= start <= limit <= extent:
                raise ShapeError(f"slice: {start}:{limit} is not a part of axis {axis} of {operand}")
            shape.append(-((start - limit) // stride))
        return operand.with_shape(tuple(shape))

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        attributes = {
            "start_indices": e.i64s(self.starts),
            "limit_indices": e.i64s(self.limits),
            "strides": e.i64s(self.strides),
        }
        return e.create(self.opcode, op.results, operands, attributes)

    def reference(self, *operands: np.ndarray) -> Any:
        parts = zip(self.starts, self.limits, self.strides, strict=True)
        return operands[0][tuple([slice(*part) for part in parts])]

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        kind = Slice((0, *self.starts), (batch_size, *self.limits), (1, *self.strides))
        return (c.op(kind, *operands),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = [Sample(cls((1, 0), (3, 5), (1, 2)), (grid(d, (3, 6)),)) for d in sorted(ALL, key=str)]
        return [
            *made,
            Sample(cls((2,), (2,), (1,)), (grid(FLOAT32, (4,)),)),
            Sample(cls((0,), (7,), (3,)), (grid(FLOAT32, (7,)),)),
            Sample(cls((), (), ()), (grid(FLOAT32, ()),)),
            Sample(cls((0, 0), (0, 2), (1, 1)), (grid(FLOAT32, (0, 2)),)),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        five = ArrayType(FLOAT32, (5,))
        return [
            ErrorSample(cls((0,), (6,), (1,)), (five,), "0:6 is not a part of axis 0 of f32[5]"),
            ErrorSample(cls((3,), (2,), (1,)), (five,), "3:2 is not a part"),
            ErrorSample(cls((-1,), (2,), (1,)), (five,), "-1:2 is not a part"),
            ErrorSample(cls((0,), (5,), (0,)), (five,), "the stride of axis 0 is not positive"),
            ErrorSample(cls((0, 0), (5,), (1,)), (five,), "2 starts for an array with 1 axis"),
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        shape = op.operands[0].type.shape
        high = [
            n - start - ((m - 1) * step + 1 if m else 0)
            for n, m, start, step in zip(shape, ct.type.shape, self.starts, self.strides, strict=True)
        ]
        gaps = [step - 1 for step in self.strides]
        return (Into(lambda whole: c.add(whole, c.pad(ct, self.starts, high, gaps))),)


@dataclass(frozen=True)
class DynamicSlice(HloOp):
    """The part of shape `sizes` that begins at scalar operands, one an axis. StableHLO: dynamic_slice.

    A start is moved so that the part lies inside the array: `clamp(0, start, extent - size)`.
    """

    sizes: tuple[int, ...]

    opcode = "dynamic_slice"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        operand, *starts = operands
        require_per_axis("dynamic_slice", "sizes", self.sizes, operand.rank)
        _require_starts("dynamic_slice", operand, starts)
        for axis, (size, extent) in enumerate(zip(self.sizes, operand.shape, strict=True)):
            if not 0 <= size <= extent:
                raise ShapeError(f"dynamic_slice: axis {axis} of {operand} has no part of {size} elements")
        return operand.with_shape(self.sizes)

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        sizes = op.results[0].type.shape
        return e.create(self.opcode, op.results, operands, {"slice_sizes": e.i64s(sizes)})

    def reference(self, *operands: np.ndarray) -> Any:
        operand, *starts = operands
        return operand[_window(operand, starts, self.sizes)]

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        """A dynamic slice if the starts are not batched, else a gather."""
        array, *starts = operands
        if not any(batched[1:]):
            zero = c.op(Constant(np.zeros((), starts[0].type.dtype if starts else INT32)))
            return (c.op(DynamicSlice((batch_size, *self.sizes)), array, zero, *starts),)
        places = _index_vectors(c, starts, batched[1:], batch_size)
        return (c.op(_slices(self.sizes, batched[0]), array, places),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        one, two = np.array(1, INT32), np.array(2, INT32)
        made = [Sample(cls((2, 3)), (grid(d, (3, 5)), one, two)) for d in sorted(ALL, key=str)]
        made += [Sample(cls((2,)), (grid(FLOAT32, (5,)), np.array(1, d))) for d in sorted(INTEGERS, key=str)]
        made += [Sample(cls((2,)), (grid(FLOAT32, (5,)), np.array(i, INT64))) for i in (-3, 4, 9, 3)]
        return [
            *made,
            Sample(cls((2,)), (grid(FLOAT32, (300,)), np.array(250, UINT8))),
            Sample(cls((0, 2)), (grid(FLOAT32, (0, 2)), one, one)),
            Sample(cls(()), (grid(FLOAT64, ()),)),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        five, index = ArrayType(FLOAT32, (5,)), ArrayType(INT32)
        return [
            ErrorSample(cls((6,)), (five, index), "axis 0 of f32[5] has no part of 6 elements"),
            ErrorSample(cls((2, 2)), (five, index), "2 sizes for an array with 1 axis"),
            ErrorSample(cls((2,)), (five, index, index), "2 starts for an array with 1 axis"),
            ErrorSample(cls((2,)), (five, five), "takes a scalar as a start"),
            ErrorSample(cls((2,)), (five, ArrayType(FLOAT32)), "takes integers"),
            ErrorSample(
                cls((1, 1)), (ArrayType(BOOL, (2, 2)), index, ArrayType(INT64)), "starts of one element type"
            ),
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        _, *starts = op.operands
        sizes = ct.type.shape

        def add(whole: Value) -> Value:
            return c.update(whole, c.add(c.dynamic_slice(whole, starts, sizes), ct), starts)

        return [Into(add), *[None] * len(starts)]


class DynamicUpdateSlice(HloOp):
    """The first operand with a part replaced by the second, from the starts that follow, one an axis.

    Starts are moved as in `DynamicSlice`. StableHLO: dynamic_update_slice.
    """

    opcode = "dynamic_update_slice"
    linear = (0, 1)

    def infer(self, *operands: ArrayType) -> ArrayType:
        operand, update, *starts = operands
        if operand.dtype != update.dtype:
            raise ShapeError(
                f"dynamic_update_slice: {update} cannot be stored in {operand}: the element types differ"
            )
        if operand.rank != update.rank:
            raise ShapeError(
                f"dynamic_update_slice: {update} is no part of {operand}, which has {axes_of(operand.rank)}"
            )
        _require_starts("dynamic_update_slice", operand, starts)
        for axis, (size, extent) in enumerate(zip(update.shape, operand.shape, strict=True)):
            if size > extent:
                raise ShapeError(f"dynamic_update_slice: {update} is too large for axis {axis} of {operand}")
        return operand

    def reference(self, *operands: np.ndarray) -> Any:
        operand, update, *starts = operands
        result = operand.copy()
        result[_window(operand, starts, update.shape)] = update
        return result

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        """A dynamic update if the starts are not batched, else a scatter at clamped starts."""
        array, update, *starts = operands
        array, update = all_broadcast_to_batch(c, op, operands, batched, batch_size)[:2]
        if not any(batched[2:]):
            zero = c.op(Constant(np.zeros((), starts[0].type.dtype if starts else INT32)))
            return (c.op(self, array, update, zero, *starts),)
        places = _index_vectors(c, starts, batched[2:], batch_size)
        old, part = op.operands[0].type.shape, op.operands[1].type.shape
        last = np.array([n - m for n, m in zip(old, part)]).astype(places.type.dtype)
        limit = c.broadcast(c.op(Constant(last)), places.type.shape, (1,))
        places = c.op(Clamp(), c.zeros(places.type), places, limit)
        axes = shifted(range(len(old)))
        scatter = Scatter(None, axes, (), axes, 1, (0,), (0,), unique_indices=True)
        return (c.op(scatter, array, places, update),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        one, two = np.array(1, INT32), np.array(2, INT32)
        made = [Sample(cls(), (grid(d, (3, 5)), grid(d, (2, 3)), one, two)) for d in sorted(ALL, key=str)]
        five, pair = grid(FLOAT32, (5,)), grid(FLOAT32, (2,), 7, 9)
        made += [Sample(cls(), (five, pair, np.array(i, INT64))) for i in (-3, 1, 3, 4, 9)]
        return [
            *made,
            Sample(cls(), (five, grid(FLOAT32, (0,)), one)),
            Sample(cls(), (grid(FLOAT32, ()), grid(FLOAT32, ()))),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        five, index = ArrayType(FLOAT32, (5,)), ArrayType(INT32)
        return [
            ErrorSample(
                cls(), (five, ArrayType(FLOAT32, (6,)), index), "f32[6] is too large for axis 0 of f32[5]"
            ),
            ErrorSample(cls(), (five, ArrayType(FLOAT64, (2,)), index), "the element types differ"),
            ErrorSample(cls(), (five, ArrayType(FLOAT32), index), "which has 1 axis"),
            ErrorSample(cls(), (five, five), "0 starts for an array with 1 axis"),
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        _, update, *starts = op.operands
        kept = c.update(ct, c.zeros(update.type), starts)
        return [kept, c.dynamic_slice(ct, starts, update.type.shape), *[None] * len(starts)]


def _require_starts(name: str, operand: ArrayType, starts: Sequence[ArrayType]) -> None:
    """There is one integer scalar for each axis, all of one element type."""
    require_per_axis(name, "starts", starts, operand.rank)
    for start in starts:
        require_scalar(name, "a start", start)
        require_dtype(name, start, INTEGERS)
        if start != starts[0]:
            raise ShapeError(f"{name} takes starts of one element type, not {start} and {starts[0]}")


def _window(operand: np.ndarray, starts: Sequence[np.ndarray], sizes: Sequence[int]) -> tuple[slice, ...]:
    """The place of a part, moved so that it lies inside the array."""
    places = []
    for start, size, extent in zip(starts, sizes, operand.shape, strict=True):
        begin = min(max(int(start), 0), extent - size)
        places.append(slice(begin, begin + size))
    return tuple(places)


def _index_vectors(c: Calculus, starts: Sequence[Value], batched: Sequence[bool], batch_size: int) -> Value:
    """Starts of slices as index vectors, one for each element of the batch."""
    columns = [
        c.reshape(broadcast_to_batch(c, start, f, batch_size, ()), (batch_size, 1))
        for start, f in zip(starts, batched, strict=True)
    ]
    return c.concatenate(columns, 1)


def _slices(sizes: Sequence[int], of_array: bool) -> Gather:
    """A slice of these sizes for each element of the batch, of its own array or of a shared one."""
    axes, known = tuple(range(len(sizes))), tuple(sizes)
    if not of_array:
        return Gather(shifted(axes), (), axes, 1, known)
    return Gather(shifted(axes), (), shifted(axes), 1, (1, *known), (0,), (0,))
