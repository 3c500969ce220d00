"""Constants, and operations that change shape and layout: broadcast, reshape, transpose, pad, concatenate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.builder import Builder
from ...hlo.calculus import Calculus, Contribution, Cotangents, NotBatched
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT32,
    ArrayType,
    DType,
    Shape,
    ShapeError,
    is_complex,
    is_integer,
)
from ..batching import all_broadcast_to_batch, shifted
from ..operands import (
    ALL,
    listing,
    require,
    require_axes,
    require_dtype,
    require_per_axis,
    require_same_dtype,
    require_scalar,
)
from ..sampling import extremes, grid


@dataclass(frozen=True, eq=False)
class Constant(HloOp):
    """An array that is known while compiling. StableHLO: constant.

    `data` is copied and cannot be written to; constants are equal if dtype, shape and every bit are.

    XLA takes 0, 1, 2, … for an iota, also where the zero is -0.0: such a one is emitted as a choice between the two.
    """

    data: np.ndarray

    opcode = "constant"

    def __post_init__(self) -> None:
        # The array is a view of a `bytes` object, which is immutable and remembers its own hash.
        data = np.asarray(self.data)
        frozen: np.ndarray = np.ndarray(data.shape, data.dtype, data.tobytes())
        object.__setattr__(self, "data", frozen)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.data.dtype, self.data.shape, self.data.base

    def infer(self, *operands: ArrayType) -> ArrayType:
        type = ArrayType(self.data.dtype, self.data.shape)
        require_dtype("constant", type, ALL)
        return type

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        return [_emit_signed_iota(e, self.data) if is_signed_iota(self.data) else e.constant(self.data)]

    def reference(self, *operands: np.ndarray) -> Any:
        return self.data

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        arrays = []
        for dtype in sorted(ALL, key=str):
            arrays += [grid(dtype, (3, 7)), np.full((2, 3), 1, dtype), grid(dtype, (0, 2)), extremes(dtype)]
            arrays += [np.array(0, dtype), np.array(1, dtype), np.array([1], dtype), np.zeros((2, 2), dtype)]
        arrays += [
            np.array([0.0, -0.0]),
            np.array([-0.0, -0.0]),
            np.array([np.nan, np.nan]),
            np.array(np.inf),
            np.array([[-0.0, 1.0], [2.0, 3.0]]),
            np.array([complex(0.0, -0.0), 1.0, complex(2.0, -0.0)]),
            np.array([complex(-0.0, 0.0), 1.0]),
        ]
        arrays += [np.array([True, False] * 9), np.arange(6).reshape(2, 3).T]
        return [Sample(cls(a), ()) for a in arrays]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [ErrorSample(cls(np.array(["text"])), (), "constant takes")]


def is_signed_iota(data: np.ndarray) -> bool:
    """True for the numbers 0, 1, 2, … in whatever shape, with a zero that is -0.0."""
    if data.size < 2 or data.flat[0] != 0 or data.flat[1] != 1 or is_integer(data.dtype):
        return False
    signed = np.signbit(data.real).any() or np.signbit(data.imag).any()
    return bool(signed) and np.array_equal(data.reshape(-1), np.arange(data.size))


def _emit_signed_iota(e: Emitter, data: np.ndarray) -> mlir_ir.Value:
    """The constant as what XLA does not fold: where an iota is zero, the constant's own zero is chosen."""
    flat = data.reshape(-1)
    type = ArrayType(flat.real.dtype, flat.shape)
    iota = e.create("iota", [type], [], {"iota_dimension": e.i64(0)}).results[0]
    is_zero = e.equal(type, iota, e.filled(np.zeros((), type.dtype), type))
    zero = e.filled(np.array(flat.real[0]), type)
    made = e.create("select", [type], [is_zero, zero, iota]).results[0]
    if is_complex(data.dtype):
        made = e.create("complex", [type.with_dtype(data.dtype)], [made, e.constant(flat.imag)]).results[0]
    return e.create("reshape", [ArrayType(data.dtype, data.shape)], [made]).results[0]


def constant(b: Builder, value: object, dtype: DType | type | None = None) -> Value:
    """A constant of the program; of the element type that NumPy gives `value` where no other is asked for."""
    return b.op(Constant(np.asarray(value, dtype)))


@dataclass(frozen=True)
class Iota(HloOp):
    """The index along `axis` of each element, in an array of `type`. StableHLO: iota."""

    type: ArrayType
    axis: int

    opcode = "iota"

    def infer(self, *operands: ArrayType) -> ArrayType:
        require_dtype("iota", self.type, ALL - {BOOL})
        require_axes("iota", (self.axis,), self.type.rank)
        return self.type

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        return e.create(self.opcode, op.results, operands, {"iota_dimension": e.i64(self.axis)})

    def reference(self, *operands: np.ndarray) -> Any:
        shape = self.type.shape
        column = np.arange(shape[self.axis]).reshape([-1 if a == self.axis else 1 for a in range(len(shape))])
        return np.broadcast_to(column, shape).astype(self.type.dtype)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = [Sample(cls(ArrayType(d, (3, 4)), 1), ()) for d in sorted(ALL - {BOOL}, key=str)]
        made += [Sample(cls(ArrayType(INT32, (2, 3, 4)), axis), ()) for axis in range(3)]
        return [*made, Sample(cls(ArrayType(INT32, (0, 2)), 0), ())]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [
            ErrorSample(cls(ArrayType(BOOL, (3,)), 0), (), "iota takes"),
            ErrorSample(cls(ArrayType(INT32, (3,)), 1), (), "there is no axis 1 in an array with 1 axis"),
            ErrorSample(cls(ArrayType(INT32), 0), (), "there is no axis 0 in an array with no axes"),
        ]


@dataclass(frozen=True)
class Broadcast(HloOp):
    """The operand repeated to `shape`: its axis `i` becomes axis `axes[i]`. StableHLO: broadcast_in_dim.

    An axis of one element is repeated; every other has the extent of the axis that it becomes.
    """

    shape: Shape
    axes: tuple[int, ...]

    opcode = "broadcast_in_dim"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        target = operand.with_shape(self.shape)
        require_per_axis("broadcast", "axes are named", self.axes, operand.rank)
        require_axes("broadcast", self.axes, target.rank)
        for extent, axis in zip(operand.shape, self.axes, strict=True):
            if extent not in (1, self.shape[axis]):
                raise ShapeError(
                    f"{operand} cannot be broadcast to {target}: "
                    f"axis {axis} would need {self.shape[axis]} elements, not {extent}"
                )
        return target

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        return e.create(self.opcode, op.results, operands, {"broadcast_dimensions": e.i64s(self.axes)})

    def reference(self, *operands: np.ndarray) -> Any:
        (x,) = operands
        order = np.argsort(self.axes)
        x = np.transpose(x, order)
        placed = dict(zip(sorted(self.axes), x.shape, strict=True))
        spread = x.reshape([placed.get(axis, 1) for axis in range(len(self.shape))])
        return np.broadcast_to(spread, self.shape)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (c.op(Broadcast((batch_size, *self.shape), (0, *shifted(self.axes))), *operands),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = [Sample(cls((2, 3), ()), (grid(d, ()),)) for d in sorted(ALL, key=str)]
        return [
            *made,
            Sample(cls((2, 3), (1,)), (grid(FLOAT32, (3,)),)),
            Sample(cls((2, 3), (0,)), (grid(BOOL, (2,)),)),
            Sample(cls((4, 2, 3), (0, 2)), (grid(FLOAT64, (1, 3)),)),
            Sample(cls((3, 2), (1, 0)), (grid(INT32, (2, 3)),)),
            Sample(cls((), ()), (grid(FLOAT32, ()),)),
            Sample(cls((0, 3), (1,)), (grid(FLOAT32, (3,)),)),
            Sample(cls((0, 3), (0, 1)), (grid(FLOAT32, (1, 3)),)),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        three = ArrayType(FLOAT32, (3,))
        return [
            ErrorSample(
                cls((2, 4), (1,)), (three,), "cannot be broadcast to f32[2,4]: axis 1 would need 4 elements"
            ),
            ErrorSample(cls((2, 3), ()), (three,), "0 axes are named for an array with 1 axis"),
            ErrorSample(cls((2, 3), (2,)), (three,), "there is no axis 2"),
            ErrorSample(cls((3, 3), (0, 0)), (ArrayType(FLOAT32, (3, 3)),), "axis 0 is named twice"),
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """The sum over the axes that it was repeated along."""
        (ct,) = cotangents
        assert ct is not None
        (x,) = op.operands
        shape = x.type.shape
        kept = [a for a, n in zip(self.axes, shape, strict=True) if n == ct.type.shape[a]]
        ct = c.sum(ct, [a for a in range(ct.type.rank) if a not in kept])
        order = sorted(kept)
        return (c.reshape(c.transpose(ct, [order.index(a) for a in kept]), shape),)


@dataclass(frozen=True)
class Reshape(HloOp):
    """The same elements in the same row-major order, with another shape. StableHLO: reshape."""

    shape: Shape

    opcode = "reshape"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        target = operand.with_shape(self.shape)
        if operand.size != target.size:
            raise ShapeError(f"{operand} cannot be reshaped to {target}: the numbers of elements differ")
        return target

    def reference(self, *operands: np.ndarray) -> Any:
        return operands[0].reshape(self.shape)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (c.op(Reshape((batch_size, *self.shape)), *operands),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = [Sample(cls((3, 2)), (grid(d, (2, 3)),)) for d in sorted(ALL, key=str)]
        return [
            *made,
            Sample(cls((6,)), (grid(INT32, (2, 3)),)),
            Sample(cls(()), (grid(INT32, (1, 1)),)),
            Sample(cls((1, 1)), (grid(INT32, ()),)),
            Sample(cls((3, 0)), (grid(INT32, (0, 2)),)),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        six = ArrayType(FLOAT32, (2, 3))
        return [ErrorSample(cls((4, 2)), (six,), "f32[2,3] cannot be reshaped to f32[4,2]")]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.reshape(ct, op.operands[0].type.shape),)


@dataclass(frozen=True)
class Transpose(HloOp):
    """The operand with its axes in another order: axis `i` is the operand's `permutation[i]`.

    StableHLO: transpose.
    """

    permutation: tuple[int, ...]

    opcode = "transpose"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        require_per_axis("transpose", "axes are named", self.permutation, operand.rank)
        require_axes("transpose", self.permutation, operand.rank)
        return operand.with_shape(tuple([operand.shape[a] for a in self.permutation]))

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        return e.create(self.opcode, op.results, operands, {"permutation": e.i64s(self.permutation)})

    def reference(self, *operands: np.ndarray) -> Any:
        return np.transpose(operands[0], self.permutation)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (c.op(Transpose((0, *shifted(self.permutation))), *operands),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = [Sample(cls((1, 0)), (grid(d, (2, 3)),)) for d in sorted(ALL, key=str)]
        return [
            *made,
            Sample(cls((2, 0, 1)), (grid(FLOAT32, (2, 3, 4)),)),
            Sample(cls(()), (grid(FLOAT32, ()),)),
            Sample(cls((1, 0)), (grid(FLOAT32, (0, 2)),)),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        matrix = ArrayType(FLOAT32, (2, 3))
        return [
            ErrorSample(cls((0,)), (matrix,), "1 axes are named for an array with 2 axes"),
            ErrorSample(cls((0, 0)), (matrix,), "axis 0 is named twice"),
            ErrorSample(cls((0, 2)), (matrix,), "there is no axis 2"),
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.transpose(ct, [self.permutation.index(axis) for axis in range(len(self.permutation))]),)


@dataclass(frozen=True)
class Reverse(HloOp):
    """The operand with the order of the elements along `axes` turned round. StableHLO: reverse."""

    axes: tuple[int, ...]

    opcode = "reverse"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        require_axes("reverse", self.axes, operand.rank)
        return operand

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        return e.create(self.opcode, op.results, operands, {"dimensions": e.i64s(self.axes)})

    def reference(self, *operands: np.ndarray) -> Any:
        return np.flip(operands[0], self.axes)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (c.op(Reverse(shifted(self.axes)), *operands),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = [Sample(cls((1,)), (grid(d, (2, 3)),)) for d in sorted(ALL, key=str)]
        return [
            *made,
            Sample(cls((0, 2)), (grid(FLOAT32, (2, 3, 4)),)),
            Sample(cls(()), (grid(FLOAT32, (3,)),)),
            Sample(cls((0,)), (grid(FLOAT32, (0,)),)),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        vector = ArrayType(FLOAT32, (2,))
        return [
            ErrorSample(cls((1,)), (vector,), "there is no axis 1"),
            ErrorSample(cls((0, 0)), (vector,), "axis 0 is named twice"),
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.op(self, ct),)


@dataclass(frozen=True)
class Concatenate(HloOp):
    """The operands one after another along `axis`. StableHLO: concatenate."""

    axis: int

    opcode = "concatenate"
    linear = range(1 << 20)  # all of them

    def infer(self, *operands: ArrayType) -> ArrayType:
        require(bool(operands), "there is nothing to concatenate")
        first = operands[0]
        require_same_dtype("concatenate", operands)
        require_axes("concatenate", (self.axis,), first.rank)
        before, after = first.shape[: self.axis], first.shape[self.axis + 1 :]
        for other in operands[1:]:
            shape = other.shape
            if other.rank != first.rank or shape[: self.axis] != before or shape[self.axis + 1 :] != after:
                raise ShapeError(
                    f"{listing(operands)} cannot be joined along axis {self.axis}: other axes differ"
                )
        return first.with_shape((*before, sum([t.shape[self.axis] for t in operands]), *after))

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        return e.create(self.opcode, op.results, operands, {"dimension": e.i64(self.axis)})

    def reference(self, *operands: np.ndarray) -> Any:
        return np.concatenate(operands, self.axis)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (
            c.op(Concatenate(self.axis + 1), *all_broadcast_to_batch(c, op, operands, batched, batch_size)),
        )

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = [Sample(cls(1), (grid(d, (2, 3)), grid(d, (2, 1)))) for d in sorted(ALL, key=str)]
        return [
            *made,
            Sample(cls(0), (grid(INT32, (3,)), grid(INT32, (0,)), grid(INT32, (1,)))),
            Sample(cls(0), (grid(INT32, (3,)),)),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        matrix = ArrayType(FLOAT32, (2, 3))
        return [
            ErrorSample(cls(0), (), "nothing to concatenate"),
            ErrorSample(cls(0), (matrix, ArrayType(FLOAT32, (2, 4))), "cannot be joined along axis 0"),
            ErrorSample(cls(0), (matrix, ArrayType(FLOAT32, (2,))), "cannot be joined along axis 0"),
            ErrorSample(cls(0), (matrix, ArrayType(INT32, (2, 3))), "one element type"),
            ErrorSample(cls(0), (ArrayType(FLOAT32),), "no axis 0 in an array with no axes"),
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        parts: list[Contribution] = []
        start = 0
        for operand in op.operands:
            shape = operand.type.shape
            starts = [start if a == self.axis else 0 for a in range(len(shape))]
            parts.append(c.slice(ct, starts, [s + n for s, n in zip(starts, shape)]))
            start += shape[self.axis]
        return parts


@dataclass(frozen=True)
class Pad(HloOp):
    """The operand with copies of a scalar around it and between its elements. StableHLO: pad.

    For each axis, `low` and `high` count the copies before and after (elements are cut off where they are
    negative), `interior` those between two neighbours. `loose`: what is added means nothing, and may be anything.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    interior: tuple[int, ...]
    loose: bool = False

    opcode = "pad"
    linear = (0, 1)

    @property
    def shareable(self) -> bool:
        return not self.loose

    def infer(self, *operands: ArrayType) -> ArrayType:
        operand, value = operands
        require_same_dtype("pad", operands)
        require_scalar("pad", "the value to pad with", value)
        for widths in (self.low, self.high, self.interior):
            require_per_axis("pad", "widths", widths, operand.rank)
        shape = []
        for axis, extent in enumerate(operand.shape):
            low, high, interior = self.low[axis], self.high[axis], self.interior[axis]
            if interior < 0:
                raise ShapeError(f"pad: the interior width of axis {axis} is negative: {interior}")
            padded = low + extent + max(extent - 1, 0) * interior + high
            if padded < 0:
                raise ShapeError(f"pad: more elements are cut off axis {axis} of {operand} than it has")
            shape.append(padded)
        return operand.with_shape(tuple(shape))

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        attributes = {
            "edge_padding_low": e.i64s(self.low),
            "edge_padding_high": e.i64s(self.high),
            "interior_padding": e.i64s(self.interior),
        }
        return e.create(self.opcode, op.results, operands, attributes)

    def reference(self, *operands: np.ndarray) -> Any:
        x, value = operands
        dilated = [n + max(n - 1, 0) * gap for n, gap in zip(x.shape, self.interior, strict=True)]
        spread = np.full(dilated, value, x.dtype)
        spread[tuple([slice(None, None, gap + 1) for gap in self.interior])] = x
        outside = [(max(a, 0), max(b, 0)) for a, b in zip(self.low, self.high, strict=True)]
        padded = np.pad(spread, outside, constant_values=value) if outside else spread
        kept = [
            slice(max(-a, 0), n - max(-b, 0))
            for n, a, b in zip(padded.shape, self.low, self.high, strict=True)
        ]
        return padded[tuple(kept)]

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        array, filling = operands
        if batched[1]:
            raise NotBatched("a batched fill value")
        kind = Pad((0, *self.low), (0, *self.high), (0, *self.interior), self.loose)
        return (c.op(kind, array, filling),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = [
            Sample(cls((1, 0), (0, 2), (0, 1)), (grid(d, (2, 3)), grid(d, ()))) for d in sorted(ALL, key=str)
        ]
        seven, zero = grid(FLOAT32, (7,)), np.array(0, FLOAT32)
        return [
            *made,
            Sample(cls((-2,), (-1,), (0,)), (seven, zero)),
            Sample(cls((-1,), (2,), (2,)), (seven, zero)),
            Sample(cls((-4,), (-3,), (0,)), (seven, zero)),
            Sample(cls((2,), (1,), (3,)), (grid(FLOAT32, (0,)), zero)),
            Sample(cls((), (), ()), (zero, zero)),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        three, zero = ArrayType(FLOAT32, (3,)), ArrayType(FLOAT32)
        return [
            ErrorSample(cls((0,), (0,), (0,)), (three, ArrayType(INT32)), "one element type"),
            ErrorSample(cls((0,), (0,), (0,)), (three, three), "takes a scalar as the value to pad with"),
            ErrorSample(cls((0, 0), (0,), (0,)), (three, zero), "2 widths for an array with 1 axis"),
            ErrorSample(cls((0,), (0,), (-1,)), (three, zero), "the interior width of axis 0 is negative"),
            ErrorSample(cls((-2,), (-2,), (0,)), (three, zero), "more elements are cut off axis 0"),
        ]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """The part that the operand became; of the scalar, all that it filled."""
        (ct,) = cotangents
        assert ct is not None
        x, _ = op.operands
        shape = x.type.shape
        none = [0] * len(shape)
        inside = c.pad(ct, [-n for n in self.low], [-n for n in self.high])
        spread = [(n - 1) * (gap + 1) + 1 if n else 0 for n, gap in zip(shape, self.interior)]
        part = c.slice(inside, none, spread, [gap + 1 for gap in self.interior])
        axes = range(len(shape))
        return part, c.sub(c.sum(ct, axes), c.sum(part, axes))
