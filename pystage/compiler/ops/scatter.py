"""Scatter: slices of an array replaced, or combined with others, at computed places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jax.extend.mlir import ir as mlir_ir
from jax.extend.mlir.dialects import stablehlo

from ..hlo.ir import Op
from ..hlo.mlir import Emitter
from ..hlo.op import ErrorSample, HloOp, Sample
from ..hlo.types import FLOAT32, INT32, ArrayType, Extent, ShapeError, Symbol, known_equal
from .binary import Add, Maximum, Multiply
from .fitting import check_axes, check_combiner, check_length, check_same_dtype
from .gather import Axes, IndexVectors


@dataclass(frozen=True)
class Scatter(HloOp):
    """`operand` with one slice of `updates` per index vector written into it. StableHLO: scatter.

    `combine` joins what stood there with the update (`Add` to accumulate); None replaces, and of several
    updates of one place the last stands on a CPU, any on other devices. `update_window_dims` are the axes
    of `updates` that lie along the slices; slices are one element long, and lack the axis, along
    `inserted_window_dims` and `input_batching_dims`. A slice that would reach outside is skipped, whole.
    """

    opcode: ClassVar[str] = "scatter"

    combine: HloOp | None
    update_window_dims: Axes
    inserted_window_dims: Axes
    scatter_dims_to_operand_dims: Axes
    index_vector_dim: int
    input_batching_dims: Axes = ()
    scatter_indices_batching_dims: Axes = ()
    indices_are_sorted: bool = False
    unique_indices: bool = False

    @property
    def _vectors(self) -> IndexVectors:
        return IndexVectors(
            self.scatter_dims_to_operand_dims,
            self.index_vector_dim,
            self.input_batching_dims,
            self.scatter_indices_batching_dims,
        )

    @property
    def _dropped(self) -> Axes:
        return self.inserted_window_dims + self.input_batching_dims

    def infer(self, *operands: ArrayType) -> ArrayType:
        """The type of `operand`; `ShapeError` where updates do not match the indices and the operand."""
        operand, indices, updates = operands
        what = f"storing {updates} into {operand} at {indices}"
        check_same_dtype(what, operand, updates)
        if self.combine is not None:
            check_combiner(what, self.combine, operand)
        self._vectors.check(what, operand, indices)
        check_axes(what, self._dropped, operand.rank)
        check_axes(what, self.inserted_window_dims, operand.rank, ascending=True)
        check_axes(what, self.update_window_dims, updates.rank, ascending=True)
        check_length(what, "update_window_dims", self.update_window_dims, operand.rank - len(self._dropped))
        batch = self._vectors.batch_shape(indices.shape)
        given = [n for axis, n in enumerate(updates.shape) if axis not in self.update_window_dims]
        if len(given) != len(batch) or not all(map(known_equal, given, batch)):
            raise ShapeError(f"{what}: updates for {tuple(given)} places, but the indices give {batch}")
        kept = [axis for axis in range(operand.rank) if axis not in self._dropped]
        for axis, source in zip(kept, self.update_window_dims, strict=True):
            _check_fits(what, axis, updates.shape[source], operand.shape[axis])
        return operand

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.scatter`."""
        numbers = stablehlo.ScatterDimensionNumbers.get(
            self.update_window_dims,
            self.inserted_window_dims,
            self.input_batching_dims,
            self.scatter_indices_batching_dims,
            self.scatter_dims_to_operand_dims,
            self.index_vector_dim,
        )
        attributes = {
            "scatter_dimension_numbers": numbers,
            "indices_are_sorted": mlir_ir.BoolAttr.get(self.indices_are_sorted),
            "unique_indices": mlir_ir.BoolAttr.get(self.unique_indices),
        }
        made = e.create(self.opcode, op.results, operands, attributes, regions=1)
        scalar = ArrayType(op.results[0].type.dtype)
        if self.combine is not None:
            e.emit_reducer(self.combine.opcode, [scalar], made.regions[0])
        else:
            block = made.regions[0].blocks.append(e.type(scalar), e.type(scalar), arg_locs=None)
            with mlir_ir.InsertionPoint(block):
                mlir_ir.Operation.create("stablehlo.return", [], [block.arguments[1]], loc=e.location)
        return made

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """Writes slice after slice."""
        operand, indices, updates = operands
        vectors = self._vectors
        indices = vectors.with_vectors(indices)
        windows = range(updates.ndim - len(self.update_window_dims), updates.ndim)
        updates = np.moveaxis(updates, self.update_window_dims, windows)
        out = operand.copy()
        for batch in np.ndindex(*updates.shape[: windows.start]):
            update = np.expand_dims(updates[batch], self._dropped)
            starts = vectors.starts(indices, batch, operand.ndim)
            ends = [start + size for start, size in zip(starts, update.shape, strict=True)]
            if min(starts, default=0) < 0 or any(e > n for e, n in zip(ends, out.shape, strict=True)):
                continue
            window = tuple([slice(start, end) for start, end in zip(starts, ends, strict=True)])
            out[window] = update if self.combine is None else self.combine.reference(out[window], update)
        return out

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Rows, elements and windows; repeated and outside places; every kind of axis."""
        rng = np.random.default_rng(0)
        x = np.arange(4 * 5, dtype=np.float32).reshape(4, 5)
        cube = np.arange(2 * 4 * 5, dtype=np.int32).reshape(2, 4, 5)
        pairs = np.array([[0, 4], [3, 2], [9, -9], [0, 4]], np.int64)
        corners = np.array([[0, 3], [2, 2], [3, 0], [1, -1]], np.int32)
        rows = np.array([3, 0, 3, 7, -1], np.int32)

        def f32(*shape: int) -> np.ndarray:
            return rng.integers(-9, 9, shape).astype(np.float32)

        return (
            Sample(cls(Add(), (1,), (0,), (0,), 1), (x, rows, f32(5, 5))),
            Sample(cls(Multiply(), (0,), (0,), (0,), 1), (x, rows, f32(5, 5))),
            Sample(cls(Maximum(), (1,), (0,), (0,), 1), (x, rows, f32(5, 3))),
            Sample(
                cls(None, (1,), (0,), (0,), 1, indices_are_sorted=True, unique_indices=True),
                (x, np.array([1, 3], np.uint8), f32(2, 5)),
            ),
            Sample(cls(None, (), (0, 1), (0, 1), 1), (x, pairs, f32(4))),
            Sample(cls(Add(), (), (0, 1), (1, 0), 0), (x, pairs.T.copy(), f32(4))),
            Sample(cls(Add(), (0, 2), (), (0, 1), 1), (x, corners, f32(2, 4, 3))),
            Sample(
                cls(Add(), (2,), (1,), (1,), 2, (0,), (0,)),
                (cube, corners[:2], np.arange(20, dtype=np.int32).reshape(2, 2, 5)),
            ),
            Sample(cls(Add(), (1,), (0,), (0,), 1), (x, rows[:0], f32(0, 5))),
            Sample(cls(None, (0, 1), (), (), 0), (x, rows[:0], f32(4, 5))),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Updates that fit neither the places nor the slices, and malformed axes."""
        x, i, u = ArrayType(FLOAT32, (4, 5)), ArrayType(INT32, (3,)), ArrayType(FLOAT32, (3, 5))
        rows = cls(Add(), (1,), (0,), (0,), 1)
        return (
            ErrorSample(
                rows, (x, i, u.with_shape((2, 5))), r"updates for \(2,\) places, but the indices give \(3,\)"
            ),
            ErrorSample(rows, (x, i, u.with_shape((3, 6))), "6 elements long along axis 1, which has 5"),
            ErrorSample(rows, (x, i, u.with_shape((3, Symbol("n")))), "n elements long along axis 1"),
            ErrorSample(rows, (x, i, u.with_dtype(INT32)), "element types differ"),
            ErrorSample(rows, (x, i.with_dtype(FLOAT32), u), "must be integers"),
            ErrorSample(
                cls(Add(), (0, 1), (0,), (0,), 1), (x, i, u), "update_window_dims has 2 entries for 1"
            ),
            ErrorSample(cls(Add(), (1,), (2,), (0,), 1), (x, i, u), "axis 2 is out of bounds"),
            ErrorSample(cls(Add(), (1,), (0,), (0,), 0), (x, i, u), "vectors of 3 components for 1 axes"),
        )


def _check_fits(what: str, axis: int, length: Extent, extent: Extent) -> None:
    """A slice of `length` elements has room on an axis of `extent` elements (an unknown axis has one)."""
    if isinstance(length, int) and length <= (extent if isinstance(extent, int) else 1):
        return
    if not known_equal(length, extent):
        raise ShapeError(f"{what}: slices are {length} elements long along axis {axis}, which has {extent}")
