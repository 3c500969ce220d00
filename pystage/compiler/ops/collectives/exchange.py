"""Collectives that move parts between participants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax import lax

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents
from ...hlo.ir import Op, Value
from ...hlo.op import ErrorSample, Sample
from ...hlo.types import FLOAT32, FLOAT64, ArrayType, ShapeError
from ..batching import as_one
from ..elementwise.binary import Add
from ..foreign.named_axes import NamedAxis
from ..sampling import grid
from .base import ONE, Collective


def require_axis(kind: Collective, operand: ArrayType, axis: int) -> int:
    """The extent of an axis. `ShapeError` if the operand has none of that number."""
    if not 0 <= axis < operand.rank:
        raise ShapeError(f"{kind.opcode} has no axis {axis} in {operand}")
    return operand.shape[axis]


def divided(kind: Collective, operand: ArrayType, axis: int) -> ArrayType:
    """The type of one participant's part along an axis."""
    extent, count = require_axis(kind, operand, axis), kind.participants
    if extent % count:
        raise ShapeError(f"{kind.opcode} cannot split {extent} into {count} parts")
    shape = operand.shape
    return operand.with_shape((*shape[:axis], extent // count, *shape[axis + 1 :]))


def multiplied(kind: Collective, operand: ArrayType, axis: int) -> ArrayType:
    """The type of the parts of all participants along an axis."""
    extent, shape = require_axis(kind, operand, axis), operand.shape
    return operand.with_shape((*shape[:axis], extent * kind.participants, *shape[axis + 1 :]))


def split_to_front(c: Calculus, x: Value, axis: int, parts: int) -> Value:
    """The parts of an array along an axis, stacked in front."""
    shape = x.type.shape
    apart = c.reshape(x, (*shape[:axis], parts, shape[axis] // parts, *shape[axis + 1 :]))
    others = [i for i in range(apart.type.rank) if i != axis]
    return c.transpose(apart, [axis, *others])


@dataclass(frozen=True)
class AllGather(Collective):
    """The operands of all participants, one after the other along `axis`. StableHLO: all_gather."""

    axis: int
    axes: tuple[NamedAxis, ...]

    opcode = "all_gather"
    linear = (0,)
    replicated = True

    def infer(self, *operands: ArrayType) -> ArrayType:
        return multiplied(self, operands[0], self.axis)

    def applied(self, *operands: Any) -> Any:
        return lax.all_gather(operands[0], self.names, axis=self.axis, tiled=True)

    def along(self, operands: np.ndarray) -> np.ndarray:
        whole = np.concatenate(list(operands), self.axis)
        return np.stack([whole] * len(operands))

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.op(ReduceScatter(self.axis, self.axes), ct),)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (c.op(AllGather(self.axis + 1, self.axes), *operands),)

    def collected(self, c: Calculus, operand: Value) -> Value:
        shape = operand.type.shape
        order = list(range(1, len(shape)))
        order.insert(self.axis, 0)
        together = c.transpose(operand, order)
        element = shape[1:]
        extent = shape[0] * element[self.axis]
        return c.reshape(together, (*element[: self.axis], extent, *element[self.axis + 1 :]))

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [Sample(cls(axis, ONE), (grid(FLOAT64, (2, 3)),)) for axis in (0, 1)]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [ErrorSample(cls(0, ONE), (ArrayType(FLOAT32),), "all_gather has no axis 0 in f32[]")]


@dataclass(frozen=True)
class ReduceScatter(Collective):
    """The sum of the operands of all participants, of which each gets its part along `axis`. StableHLO: reduce_scatter."""

    axis: int
    axes: tuple[NamedAxis, ...]

    opcode = "reduce_scatter"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        Add().infer(operand, operand)
        return divided(self, operand, self.axis)

    def applied(self, *operands: Any) -> Any:
        return lax.psum_scatter(operands[0], self.names, scatter_dimension=self.axis, tiled=True)

    def along(self, operands: np.ndarray) -> np.ndarray:
        return np.stack(np.split(operands.sum(0, dtype=operands.dtype), self.participants, self.axis))

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.op(AllGather(self.axis, self.axes), ct),)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (c.op(ReduceScatter(self.axis + 1, self.axes), *operands),)

    def collected(self, c: Calculus, operand: Value) -> Value:
        return split_to_front(c, c.sum(operand, (0,)), self.axis, self.participants)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [Sample(cls(axis, ONE), (grid(FLOAT64, (16, 8)),)) for axis in (0, 1)]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        three = (NamedAxis("i", 3),)
        return [
            ErrorSample(cls(0, three), (ArrayType(FLOAT32, (4,)),), "reduce_scatter cannot split 4 into 3"),
            ErrorSample(cls(1, three), (ArrayType(FLOAT32, (3,)),), "reduce_scatter has no axis 1"),
        ]


@dataclass(frozen=True)
class AllToAll(Collective):
    """Each participant sends its parts along `split_axis`, one to each, and puts what it gets one after the other along
    `concat_axis`. StableHLO: all_to_all."""

    split_axis: int
    concat_axis: int
    axes: tuple[NamedAxis, ...]

    opcode = "all_to_all"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        return multiplied(self, divided(self, operands[0], self.split_axis), self.concat_axis)

    def applied(self, *operands: Any) -> Any:
        return lax.all_to_all(operands[0], self.names, self.split_axis, self.concat_axis, tiled=True)

    def along(self, operands: np.ndarray) -> np.ndarray:
        sent = [np.split(x, self.participants, self.split_axis) for x in operands]
        return np.stack([np.concatenate(got, self.concat_axis) for got in zip(*sent, strict=True)])

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.op(AllToAll(self.concat_axis, self.split_axis, self.axes), ct),)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        return (c.op(AllToAll(self.split_axis + 1, self.concat_axis + 1, self.axes), *operands),)

    def collected(self, c: Calculus, operand: Value) -> Value:
        # By receiver, sender, and the axes of one part.
        parts = split_to_front(c, operand, self.split_axis + 1, self.participants)
        shape = parts.type.shape
        order = [0, *range(2, len(shape))]
        order.insert(self.concat_axis + 1, 1)
        together = c.transpose(parts, order)
        part = shape[2:]
        extent = shape[1] * part[self.concat_axis]
        rest = part[self.concat_axis + 1 :]
        return c.reshape(together, (shape[0], *part[: self.concat_axis], extent, *rest))

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        places = ((0, 0), (0, 1), (1, 0), (2, 0), (0, 2))
        return [Sample(cls(*at, ONE), (grid(FLOAT64, (8, 8, 8)),)) for at in places]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        three = (NamedAxis("i", 3),)
        return [
            ErrorSample(cls(0, 0, three), (ArrayType(FLOAT32, (4,)),), "all_to_all cannot split 4 into 3")
        ]


@dataclass(frozen=True)
class CollectivePermute(Collective):
    """The operand of another participant: of each pair the second gets that of the first, and zeros who is in none.

    StableHLO: collective_permute.
    """

    pairs: tuple[tuple[int, int], ...]
    axes: tuple[NamedAxis, ...]

    opcode = "collective_permute"
    linear = (0,)

    def infer(self, *operands: ArrayType) -> ArrayType:
        for ends in zip(*self.pairs, strict=True):
            if len(set(ends)) < len(ends):
                raise ShapeError(f"collective_permute names a participant twice in {self.pairs}")
            if not all(0 <= end < self.participants for end in ends):
                raise ShapeError(
                    f"collective_permute has no {max(ends)} among {self.participants} participants"
                )
        return operands[0]

    def applied(self, *operands: Any) -> Any:
        return lax.ppermute(operands[0], self.names, self.pairs)

    def along(self, operands: np.ndarray) -> np.ndarray:
        found = np.zeros_like(operands)
        for source, target in self.pairs:
            found[target] = operands[source]
        return found

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return (c.op(CollectivePermute(tuple([(b, a) for a, b in self.pairs]), self.axes), ct),)

    def collected(self, c: Calculus, operand: Value) -> Value:
        count, *shape = operand.type.shape
        source = {b: a for a, b in self.pairs}
        parts: list[Value] = []
        first = 0
        while first < count:
            last = first + 1
            at = source.get(first)
            while last < count and source.get(last) == (None if at is None else at + last - first):
                last += 1
            if at is None:
                parts.append(c.zeros(operand.type.with_shape((last - first, *shape))))
            else:
                starts, limits = [at, *[0] * len(shape)], [at + last - first, *shape]
                parts.append(c.slice(operand, starts, limits))
            first = last
        return c.concatenate(parts, 0)

    batch = as_one

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [Sample(cls(pairs, ONE), (grid(FLOAT64, (2, 3)),)) for pairs in (((0, 0),), ())]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        operand = (ArrayType(FLOAT32),)
        return [
            ErrorSample(cls(((0, 0), (0, 0)), ONE), operand, "names a participant twice"),
            ErrorSample(cls(((0, 1),), ONE), operand, "no 1 among 1 participants"),
        ]
