"""Scatter: updates slices of an array at computed indices, by replacement or with a combiner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir
from jaxlib.mlir.dialects import stablehlo

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, NotDifferentiable, Tangents
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, INT32, ArrayType, ShapeError
from ..batching import broadcast_to_batch, shifted
from ..elementwise.base import combining
from ..elementwise.binary import Add, Maximum, Multiply
from ..operands import require_axes, require_same_dtype
from ..reductions.reduce import STANDARD
from .gather import Axes, Gather, IndexVectors, require_ascending


@dataclass(frozen=True)
class Scatter(HloOp):
    """`operand` with one slice of `updates` per index vector written into it. StableHLO: scatter.

    `combine` joins what stood there with the update (`Add` to accumulate); None replaces, and of several
    updates of one place the last stands on a CPU, any on other devices. `update_window_dims` are the axes
    of `updates` that lie along the slices; slices are one element long, and lack the axis, along
    `inserted_window_dims` and `input_batching_dims`. A slice that would reach outside is skipped, whole.
    """

    opcode = "scatter"

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
        require_same_dtype("scatter", (operand, updates))
        if self.combine is not None:
            if not isinstance(self.combine, STANDARD):
                raise ShapeError(f"scatter cannot combine elements with {self.combine}")
            self.combine.infer(ArrayType(operand.dtype), ArrayType(operand.dtype))
        self._vectors.check("scatter", operand, indices)
        require_axes("scatter", self._dropped, operand.rank)
        require_ascending("scatter", self.inserted_window_dims)
        require_axes("scatter", self.update_window_dims, updates.rank)
        require_ascending("scatter", self.update_window_dims)
        kept = [axis for axis in range(operand.rank) if axis not in self._dropped]
        if len(self.update_window_dims) != len(kept):
            raise ShapeError(
                f"scatter: {len(self.update_window_dims)} window axes for {len(kept)} axes of slices"
            )
        batch = self._vectors.batch_axes(indices.shape)
        given = tuple([n for axis, n in enumerate(updates.shape) if axis not in self.update_window_dims])
        if given != batch:
            raise ShapeError(f"scatter: updates {updates} for {given} places, but the indices give {batch}")
        for axis, source in zip(kept, self.update_window_dims, strict=True):
            length, extent = updates.shape[source], operand.shape[axis]
            if length > extent:
                raise ShapeError(f"scatter into {operand}: slices of {length} elements along axis {axis}")
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
            e.emit_region(combining(self.combine, scalar), made.regions[0])
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

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        """With batched indices the batch is a batching dimension of both, else one more window dimension."""
        array, indices, updates = operands
        of_indices = batched[1]
        array, updates = [
            broadcast_to_batch(c, x, f, batch_size, old.type.shape)
            for x, f, old in (
                (array, batched[0], op.operands[0]),
                (updates, batched[2], op.operands[2]),
            )
        ]
        kind = Scatter(
            self.combine,
            shifted(self.update_window_dims) if of_indices else (0, *shifted(self.update_window_dims)),
            shifted(self.inserted_window_dims),
            shifted(self.scatter_dims_to_operand_dims),
            self.index_vector_dim + of_indices,
            (*((0,) if of_indices else ()), *shifted(self.input_batching_dims)),
            (
                *((0,) if of_indices else ()),
                *[a + of_indices for a in self.scatter_indices_batching_dims],
            ),
            self.indices_are_sorted and not of_indices,
            self.unique_indices,
        )
        return (c.op(kind, array, indices, updates),)

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
                rows,
                (x, i, u.with_shape((2, 5))),
                "updates f32[2,5] for (2,) places, but the indices give (3,)",
            ),
            ErrorSample(
                rows, (x, i, u.with_shape((3, 6))), "scatter into f32[4,5]: slices of 6 elements along axis 1"
            ),
            ErrorSample(rows, (x, i, u.with_dtype(INT32)), "one element type"),
            ErrorSample(rows, (x, i.with_dtype(FLOAT32), u), "must be integers"),
            ErrorSample(cls(Add(), (0, 1), (0,), (0,), 1), (x, i, u), "2 window axes for 1 axes of slices"),
            ErrorSample(cls(Add(), (1,), (2,), (0,), 1), (x, i, u), "there is no axis 2"),
            ErrorSample(cls(Add(), (1,), (0,), (0,), 0), (x, i, u), "vectors of 3 components for 1 axes"),
        )

    def _gather(self, operand: ArrayType, updates: ArrayType) -> Gather:
        """The gather that reads the slices that this writes."""
        kept = [axis for axis in range(operand.rank) if axis not in self._dropped]
        sizes = [1] * operand.rank
        for axis, source in zip(kept, self.update_window_dims, strict=True):
            sizes[axis] = updates.shape[source]
        return Gather(
            self.update_window_dims,
            self.inserted_window_dims,
            self.scatter_dims_to_operand_dims,
            self.index_vector_dim,
            tuple(sizes),
            self.input_batching_dims,
            self.scatter_indices_batching_dims,
            self.indices_are_sorted,
        )

    def _written(self, c: Calculus, op: Op) -> Value:
        """Which updates stand in the result: not those outside, and of several for one place the last."""
        operand, indices, updates = op.operands
        count = math.prod(updates.type.shape)
        flat = c.iota(INT32, (count,), 0)
        numbers = c.add(c.reshape(flat, updates.type.shape), c.filled(updates.type.with_dtype(INT32), 1))
        marks = c.op(replace(self, combine=None), c.zeros(operand.type.with_dtype(INT32)), indices, numbers)
        return c.compare("EQ", c.op(self._gather(operand.type, updates.type), marks, indices), numbers)

    def _inside(self, c: Calculus, op: Op) -> Value:
        """Which updates lie inside the operand."""
        operand, indices, updates = op.operands
        gather = self._gather(operand.type, updates.type)
        same = c.compare("EQ", gather.clamped(c, operand.type, indices), indices)
        if self.index_vector_dim < indices.type.rank:
            flags = c.select(same, c.zeros(indices.type), c.filled(indices.type, 1))
            wrong = c.sum(flags, (self.index_vector_dim,))
            same = c.compare("EQ", wrong, c.zeros(wrong.type))
        batch = [axis for axis in range(updates.type.rank) if axis not in self.update_window_dims]
        return c.broadcast(same, updates.type.shape, batch)

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Of replacing and of adding."""
        (ct,) = cotangents
        assert ct is not None
        operand, indices, updates = op.operands
        taken = c.op(self._gather(operand.type, updates.type), ct, indices)
        match self.combine:
            case None:
                kept = c.op(self, ct, indices, c.zeros(updates.type))
                return kept, None, c.select(self._written(c, op), taken, c.zeros(updates.type))
            case Add():
                return ct, None, c.select(self._inside(c, op), taken, c.zeros(updates.type))
        raise NotDifferentiable(f"scattering with `{self.combine.opcode}`")

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        operand, indices, updates = op.operands
        if self.combine is not None and not isinstance(self.combine, Add):
            raise NotDifferentiable(f"scattering with `{self.combine.opcode}`")
        whole = c.zeros(operand.type) if tangents[0] is None else tangents[0]
        part = c.zeros(updates.type) if tangents[2] is None else tangents[2]
        return (c.op(self, whole, indices, part),)
