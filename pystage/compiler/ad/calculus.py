"""The builder that derivative and batching rules are applied with: implements `hlo.calculus.Calculus`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import ops
from ..hlo.builder import Builder
from ..hlo.ir import Op, Value
from ..hlo.op import HloOp
from ..hlo.types import BOOL, ArrayType, DType, is_complex, is_floating


def differentiable(type: ArrayType) -> bool:
    """True for the types of numbers that have derivatives: real and complex floating-point numbers."""
    return is_floating(type.dtype) or is_complex(type.dtype)


class CalculusBuilder:
    """Implements `hlo.calculus.Calculus` on the builder `b`."""

    def __init__(self, b: Builder) -> None:
        self.b = b

    def op(self, kind: HloOp, *operands: Value) -> Value:
        return self.b.op(kind, *operands)

    def apply(self, kind: HloOp, operands: Sequence[Value]) -> Op:
        return self.b.apply(kind, operands)

    def filled(self, type: ArrayType, value: complex) -> Value:
        if not is_complex(type.dtype):
            value = float(np.real(value))
        scalar = ops.constant(self.b, np.asarray(value).astype(type.dtype))
        return self.b.op(ops.Broadcast(type.shape, ()), scalar) if type.shape else scalar

    def zeros(self, type: ArrayType) -> Value:
        return self.filled(type, 0)

    def iota(self, dtype: DType, shape: Sequence[int], axis: int) -> Value:
        return self.b.op(ops.Iota(ArrayType(dtype, tuple(shape)), axis))

    def add(self, x: Value, y: Value) -> Value:
        return self.b.op(ops.Add(), x, y)

    def sub(self, x: Value, y: Value) -> Value:
        return self.b.op(ops.Subtract(), x, y)

    def mul(self, x: Value, y: Value) -> Value:
        return self.b.op(ops.Multiply(), x, y)

    def div(self, x: Value, y: Value) -> Value:
        return self.b.op(ops.Divide(), x, y)

    def neg(self, x: Value) -> Value:
        return self.b.op(ops.Negate(), x)

    def times(self, x: Value, number: float) -> Value:
        return self.mul(x, self.filled(x.type, number))

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        return self.b.op(ops.Compare(direction), x, y)

    def both(self, x: Value, y: Value) -> Value:
        return self.b.op(ops.And(), x, y)

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        return self.b.op(ops.Select(), condition, x, y)

    def convert(self, x: Value, dtype: DType) -> Value:
        return x if x.type.dtype == dtype else self.b.op(ops.Convert(dtype, x.type.dtype == BOOL), x)

    def real(self, x: Value) -> Value:
        return self.b.op(ops.Real(), x)

    def imag(self, x: Value) -> Value:
        return self.b.op(ops.Imag(), x)

    def complex(self, real: Value, imag: Value) -> Value:
        return self.b.op(ops.Complex(), real, imag)

    def conj(self, x: Value) -> Value:
        return self.complex(self.real(x), self.neg(self.imag(x))) if is_complex(x.type.dtype) else x

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        return x if x.type.shape == tuple(shape) else self.b.op(ops.Reshape(tuple(shape)), x)

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        same = list(permutation) == list(range(x.type.rank))
        return x if same else self.b.op(ops.Transpose(tuple(permutation)), x)

    def broadcast(self, x: Value, shape: Sequence[int], axes: Sequence[int]) -> Value:
        return x if x.type.shape == tuple(shape) else self.b.op(ops.Broadcast(tuple(shape), tuple(axes)), x)

    def sum(self, x: Value, axes: Sequence[int]) -> Value:
        if not axes:
            return x
        return self.b.op(ops.Reduce(ops.Add(), tuple(sorted(axes))), x, self.zeros(x.type.with_shape(())))

    def slice(
        self, x: Value, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None = None
    ) -> Value:
        steps = tuple(strides) if strides is not None else (1,) * len(starts)
        if not any(starts) and tuple(limits) == x.type.shape and set(steps) <= {1}:
            return x
        return self.b.op(ops.Slice(tuple(starts), tuple(limits), steps), x)

    def pad(
        self, x: Value, low: Sequence[int], high: Sequence[int], interior: Sequence[int] | None = None
    ) -> Value:
        gaps = tuple(interior) if interior is not None else (0,) * len(low)
        if not any((*low, *high, *gaps)):
            return x
        return self.b.op(ops.Pad(tuple(low), tuple(high), gaps), x, self.zeros(x.type.with_shape(())))

    def concatenate(self, parts: Sequence[Value], axis: int) -> Value:
        return parts[0] if len(parts) == 1 else self.b.op(ops.Concatenate(axis), *parts)

    def dynamic_slice(self, x: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Value:
        return self.b.op(ops.DynamicSlice(tuple(sizes)), x, *starts)

    def update(self, x: Value, part: Value, starts: Sequence[Value]) -> Value:
        return self.b.op(ops.DynamicUpdateSlice(), x, part, *starts)

    def scatter_add(self, gather: HloOp, whole: Value, indices: Value, updates: Value) -> Value:
        assert isinstance(gather, ops.Gather)
        scatter = ops.Scatter(
            ops.Add(),
            gather.offset_dims,
            gather.collapsed_slice_dims,
            gather.start_index_map,
            gather.index_vector_dim,
            gather.operand_batching_dims,
            gather.start_indices_batching_dims,
            gather.indices_are_sorted,
        )
        return self.b.op(scatter, whole, indices, updates)


def accumulated(c: CalculusBuilder, old: Value | None, contribution: object, type: ArrayType) -> Value | None:
    """A cotangent with one more contribution of a rule."""
    match contribution:
        case None:
            return old
        case Value():
            return contribution if old is None else c.add(old, contribution)
        case _:
            return contribution.add(c.zeros(type) if old is None else old)  # type: ignore[attr-defined, no-any-return]
