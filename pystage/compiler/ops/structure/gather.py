"""Gather: slices of an array at computed indices. Fancy indexing lowers to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir
from jaxlib.mlir.dialects import stablehlo

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, Into
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, INT32, ArrayType, ShapeError, is_integer
from ..batching import shifted
from ..elementwise.compare import Clamp
from ..operands import require_axes, require_per_axis
from .shapes import Constant

Axes = tuple[int, ...]


def require_ascending(name: str, axes: Axes) -> None:
    """The axes stand in ascending order, as StableHLO wants those that it adds or removes."""
    if list(axes) != sorted(axes):
        raise ShapeError(f"{name}: axes {axes} must be in ascending order")


@dataclass(frozen=True)
class IndexVectors:
    """How an array of indices says where slices lie: what `Gather` and `Scatter` share.

    Along its axis `vector_dim` (its rank: each element is a vector of one) `indices` holds index vectors,
    whose `k`th component is a place along axis `index_map[k]` of the indexed array. The other axes of
    `indices` are batch axes. Axis `operand_batching[k]` of the indexed array goes along with axis
    `indices_batching[k]` of `indices`: there the place is the position in the batch.
    """

    index_map: Axes
    vector_dim: int
    operand_batching: Axes = ()
    indices_batching: Axes = ()

    def check(self, name: str, operand: ArrayType, indices: ArrayType) -> None:
        """`ShapeError` if these indices cannot index that operand; `name` is the operation's."""
        if not is_integer(indices.dtype):
            raise ShapeError(f"{name}: indices must be integers, not {indices.dtype}")
        if not 0 <= self.vector_dim <= indices.rank:
            raise ShapeError(f"{name}: no axis {self.vector_dim} of {indices} can hold index vectors")
        length = indices.shape[self.vector_dim] if self.vector_dim < indices.rank else 1
        if length != len(self.index_map):
            raise ShapeError(f"{name}: index vectors of {length} components for {len(self.index_map)} axes")
        require_axes(name, self.index_map + self.operand_batching, operand.rank)
        require_ascending(name, self.operand_batching)
        require_axes(name, self.indices_batching, indices.rank)
        if len(self.operand_batching) != len(self.indices_batching):
            raise ShapeError(
                f"{name}: batch axes {self.operand_batching} and {self.indices_batching} do not pair"
            )
        if self.vector_dim in self.indices_batching:
            raise ShapeError(f"{name}: axis {self.vector_dim} holds index vectors and cannot be a batch axis")
        for i, j in zip(self.operand_batching, self.indices_batching, strict=True):
            if operand.shape[i] != indices.shape[j]:
                raise ShapeError(
                    f"{name}: batch axis {i} of the array has {operand.shape[i]} elements, "
                    f"axis {j} of the indices has {indices.shape[j]}"
                )

    def batch_axes(self, shape: Axes) -> Axes:
        """The extents of the batch axes of indices of this shape."""
        return shape[: self.vector_dim] + shape[self.vector_dim + 1 :]

    def starts(self, indices: np.ndarray, batch: tuple[int, ...], rank: int) -> list[int]:
        """Where the slice of one batch element starts, along every axis of the indexed array."""
        place: tuple[Any, ...] = (*batch[: self.vector_dim], slice(None), *batch[self.vector_dim :])
        vector = indices[place]
        starts = [0] * rank
        for axis, start in zip(self.index_map, vector, strict=True):
            starts[axis] = int(start)
        for axis, source in zip(self.operand_batching, self.indices_batching, strict=True):
            starts[axis] = batch[source - (source > self.vector_dim)]
        return starts

    def with_vectors(self, indices: np.ndarray) -> np.ndarray:
        """The indices with an axis for the index vectors, also where each is one element."""
        return indices[..., None] if self.vector_dim == indices.ndim else indices


@dataclass(frozen=True)
class Gather(HloOp):
    """Slices of `operand` of shape `slice_sizes`, one per index vector in `indices`. StableHLO: gather.

    The result has the batch axes of `indices` and, at `offset_dims`, the axes of the slices without those
    in `collapsed_slice_dims` and `operand_batching_dims`, which are one element long. A slice that would
    reach outside the array is moved inside: starts are clamped.
    """

    opcode = "gather"
    linear = (0,)

    offset_dims: Axes
    collapsed_slice_dims: Axes
    start_index_map: Axes
    index_vector_dim: int
    slice_sizes: Axes
    operand_batching_dims: Axes = ()
    start_indices_batching_dims: Axes = ()
    indices_are_sorted: bool = False

    @property
    def _vectors(self) -> IndexVectors:
        return IndexVectors(
            self.start_index_map,
            self.index_vector_dim,
            self.operand_batching_dims,
            self.start_indices_batching_dims,
        )

    def infer(self, *operands: ArrayType) -> ArrayType:
        """Batch axes and slice axes; `ShapeError` where slices are larger than the array."""
        operand, indices = operands
        self._vectors.check("gather", operand, indices)
        dropped = self.collapsed_slice_dims + self.operand_batching_dims
        require_axes("gather", dropped, operand.rank)
        require_ascending("gather", self.collapsed_slice_dims)
        require_per_axis("gather", "slice sizes", self.slice_sizes, operand.rank)
        for axis, (size, extent) in enumerate(zip(self.slice_sizes, operand.shape, strict=True)):
            if axis in dropped and size > 1:
                raise ShapeError(f"gather: axis {axis} is dropped, but its slice has {size} elements")
            if not 0 <= size <= extent:
                raise ShapeError(f"gather from {operand}: a slice of {size} elements along axis {axis}")
        batch = list(self._vectors.batch_axes(indices.shape))
        kept = [size for axis, size in enumerate(self.slice_sizes) if axis not in dropped]
        require_axes("gather", self.offset_dims, len(batch) + len(kept))
        require_ascending("gather", self.offset_dims)
        if len(self.offset_dims) != len(kept):
            raise ShapeError(f"gather: {len(self.offset_dims)} offset axes for slices with {len(kept)} axes")
        shape: list[int] = [0] * (len(batch) + len(kept))
        for axis in range(len(shape)):
            shape[axis] = kept.pop(0) if axis in self.offset_dims else batch.pop(0)
        return operand.with_shape(tuple(shape))

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.gather`."""
        numbers = stablehlo.GatherDimensionNumbers.get(
            self.offset_dims,
            self.collapsed_slice_dims,
            self.operand_batching_dims,
            self.start_indices_batching_dims,
            self.start_index_map,
            self.index_vector_dim,
        )
        attributes = {
            "dimension_numbers": numbers,
            "slice_sizes": e.i64s(self.slice_sizes),
            "indices_are_sorted": mlir_ir.BoolAttr.get(self.indices_are_sorted),
        }
        return e.create(self.opcode, op.results, operands, attributes)

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """Copies slice after slice."""
        operand, indices = operands
        vectors = self._vectors
        indices = vectors.with_vectors(indices)
        batch_shape = vectors.batch_axes(indices.shape)
        dropped = self.collapsed_slice_dims + self.operand_batching_dims
        kept = [size for axis, size in enumerate(self.slice_sizes) if axis not in dropped]
        rank = len(batch_shape) + len(kept)
        out = np.empty([*batch_shape, *kept], operand.dtype)
        for batch in np.ndindex(*batch_shape):
            starts = vectors.starts(indices, batch, operand.ndim)
            clamped = [
                min(max(start, 0), extent - size)
                for start, extent, size in zip(starts, operand.shape, self.slice_sizes, strict=True)
            ]
            window = [slice(s, s + n) for s, n in zip(clamped, self.slice_sizes, strict=True)]
            out[batch] = operand[tuple(window)].reshape(kept)
        return np.moveaxis(out, range(rank - len(kept), rank), self.offset_dims)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        """The batch is a slice dimension of the array, a batch dimension of the indices, or a batching dimension of both."""
        array, indices = operands
        of_array, of_indices = batched
        by = 1 if of_array else 0
        together = of_array and of_indices
        kind = Gather(
            offset_dims=shifted(self.offset_dims) if of_indices else (0, *shifted(self.offset_dims)),
            collapsed_slice_dims=tuple([a + by for a in self.collapsed_slice_dims]),
            start_index_map=tuple([a + by for a in self.start_index_map]),
            index_vector_dim=self.index_vector_dim + of_indices,
            slice_sizes=(1 if together else batch_size, *self.slice_sizes) if of_array else self.slice_sizes,
            operand_batching_dims=(
                *((0,) if together else ()),
                *[a + by for a in self.operand_batching_dims],
            ),
            start_indices_batching_dims=(
                *((0,) if together else ()),
                *[a + of_indices for a in self.start_indices_batching_dims],
            ),
            indices_are_sorted=self.indices_are_sorted and not of_indices,
        )
        return (c.op(kind, array, indices),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Rows, elements, windows that are clamped, interleaved axes, batching, both index signs."""
        x = np.arange(4 * 5, dtype=np.float32).reshape(4, 5)
        cube = np.arange(2 * 4 * 5, dtype=np.int32).reshape(2, 4, 5)
        places = np.array([[0, 3, 1], [2, 2, -1]], np.int32)
        pairs = np.array([[0, 4], [3, 2], [9, -9]], np.int64)
        rows = cls((1,), (0,), (0,), 1, (1, 5))
        return (
            Sample(rows, (x, np.array([3, 0, 0, 7], np.int32))),
            Sample(
                cls((1,), (0,), (0,), 1, (1, 5), indices_are_sorted=True), (x, np.array([0, 1], np.uint8))
            ),
            Sample(cls((2,), (0,), (0,), 2, (1, 5)), (x, places)),
            Sample(cls((), (0, 1), (0, 1), 1, (1, 1)), (x, pairs)),
            Sample(cls((), (0, 1), (1, 0), 0, (1, 1)), (x, pairs.T.copy())),
            Sample(cls((0, 2), (), (0, 1), 1, (2, 3)), (x, pairs)),
            Sample(cls((0,), (1,), (1,), 2, (4, 1)), (x, places)),
            Sample(cls((2,), (1,), (1,), 2, (1, 1, 5), (0,), (0,)), (cube, places)),
            Sample(
                cls((), (1, 2), (2, 1), 0, (1, 1, 1), (0,), (2,)), (cube, pairs.T[:, :, None].repeat(2, 2))
            ),
            Sample(rows, (x, np.zeros((0,), np.int32))),
            Sample(cls((0, 1), (), (), 0, (2, 5)), (x, np.zeros((0,), np.int32))),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Slices larger than the array, indices that are no integers, axes that do not fit."""
        x, i = ArrayType(FLOAT32, (4, 5)), ArrayType(INT32, (3,))
        batched = cls((), (1,), (1,), 1, (1, 1), (0,), (0,))
        return (
            ErrorSample(
                cls((1,), (0,), (0,), 1, (1, 6)),
                (x, i),
                "gather from f32[4,5]: a slice of 6 elements along axis 1",
            ),
            ErrorSample(cls((1,), (0,), (0,), 1, (2, 5)), (x, i), "dropped, but its slice has 2"),
            ErrorSample(cls((1,), (0,), (0,), 1, (1, 5)), (x, i.with_dtype(FLOAT32)), "must be integers"),
            ErrorSample(cls((1,), (0,), (0,), 2, (1, 5)), (x, i), "no axis 2 of s32[3]"),
            ErrorSample(cls((1,), (0,), (0,), 0, (1, 5)), (x, i), "vectors of 3 components for 1 axes"),
            ErrorSample(cls((1,), (0,), (2,), 1, (1, 5)), (x, i), "there is no axis 2"),
            ErrorSample(cls((), (0,), (0,), 1, (1, 5)), (x, i), "0 offset axes for slices with 1 axes"),
            ErrorSample(cls((2,), (0,), (0,), 1, (1, 5)), (x, i), "there is no axis 2"),
            ErrorSample(cls((1, 0), (), (0,), 1, (1, 5)), (x, i), "ascending"),
            ErrorSample(
                batched, (x, i), "batch axis 0 of the array has 4 elements, axis 0 of the indices has 3"
            ),
        )

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Added where the slices were taken."""
        (ct,) = cotangents
        assert ct is not None
        source, indices = op.operands
        inside = self.clamped(c, source.type, indices)
        return Into(lambda whole: c.scatter_add(self, whole, inside, ct)), None

    def clamped(self, c: Calculus, operand: ArrayType, indices: Value) -> Value:
        """The indices, moved so that the slices lie inside the array."""
        type = indices.type
        sizes = [operand.shape[a] - self.slice_sizes[a] for a in self.start_index_map]
        dtype = type.dtype
        info = np.iinfo(dtype)  # type: ignore[type-var]
        limits = np.asarray([min(size, int(info.max)) for size in sizes], dtype)
        if self.index_vector_dim == type.rank:
            limit = c.op(Constant(limits[0]))
        else:
            limit = c.broadcast(c.op(Constant(limits)), type.shape, (self.index_vector_dim,))
        zero = c.zeros(limit.type)
        return c.op(Clamp(), zero, indices, limit)
