"""Reductions with a standard combiner, and with a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.builder import Builder
from ...hlo.calculus import Calculus, Contribution, Cotangents, NotBatched, NotDifferentiable, Tangents
from ...hlo.ir import Op, Region, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, ResultTypes, RunRegion, Sample
from ...hlo.types import BOOL, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, INT32, ArrayType, ShapeError, is_floating
from ..batching import shifted
from ..elementwise.base import Binary, combining
from ..elementwise.binary import Add, And, Maximum, Minimum, Multiply, Or, Xor
from ..elementwise.compare import Compare, Select
from ..operands import FLOATS, SIGNED, listing, require, require_axes, require_same_dtype, require_scalar
from ..sampling import grid

STANDARD: tuple[type[Binary], ...] = (Add, Multiply, Maximum, Minimum, And, Or, Xor)
"""What `Reduce` combines elements with: associative, commutative, elementwise."""


def remaining_shape(name: str, operand: ArrayType, axes: tuple[int, ...]) -> ArrayType:
    """The operand's type without the reduced axes."""
    require_axes(name, axes, operand.rank)
    return operand.with_shape(tuple([e for axis, e in enumerate(operand.shape) if axis not in axes]))


@dataclass(frozen=True)
class Reduce(HloOp):
    """All elements along `axes` combined with `combine`, from the scalar second operand on.

    `combine` is one of `STANDARD`; the order in which elements are combined is XLA's. StableHLO: reduce.
    """

    combine: HloOp
    axes: tuple[int, ...]

    opcode = "reduce"

    def infer(self, *operands: ArrayType) -> ArrayType:
        operand, start = operands
        if not isinstance(self.combine, STANDARD):
            raise ShapeError(f"reduce cannot combine elements with {self.combine}")
        require_same_dtype("reduce", operands)
        require_scalar("reduce", "the value to begin with", start)
        self.combine.infer(start, start)
        return remaining_shape("reduce", operand, self.axes)

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        made = e.create(self.opcode, op.results, operands, {"dimensions": e.i64s(self.axes)}, regions=1)
        e.emit_region(combining(self.combine, op.operands[1].type), made.regions[0])
        return made

    def reference(self, *operands: np.ndarray) -> Any:
        x, start = operands
        assert isinstance(self.combine, Binary)
        wide = x.astype(FLOAT64) if is_floating(x.dtype) and x.dtype != FLOAT64 else x
        result = self.combine.numpy.reduce(
            wide, axis=self.axes, initial=start.astype(wide.dtype)[()], dtype=wide.dtype
        )
        return np.asarray(result).astype(x.dtype)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        array, start = operands
        if batched[1]:
            raise NotBatched("a batched initial value")
        return (c.op(Reduce(self.combine, shifted(self.axes)), array, start),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = []
        for combine in STANDARD:
            for dtype in sorted(combine.dtypes, key=str):
                made.append(Sample(cls(combine(), (1,)), (grid(dtype, (2, 3), -2, 2), grid(dtype, (), 1, 1))))
        add = Add()
        one = np.array(1, FLOAT32)
        return [
            *made,
            Sample(cls(add, (0, 2)), (grid(FLOAT32, (2, 3, 4)), one)),
            Sample(cls(add, (0, 1)), (grid(FLOAT32, (2, 3)), one)),
            Sample(cls(add, ()), (grid(FLOAT32, (2, 3)), np.array(0, FLOAT32))),
            Sample(cls(add, (0,)), (grid(FLOAT32, (0, 3)), one)),
            Sample(cls(add, (1,)), (grid(FLOAT32, (0, 3)), one)),
            Sample(cls(Maximum(), (0,)), (np.array([1, np.nan, 2], FLOAT32), one)),
            Sample(cls(Minimum(), (0,)), (np.array([-np.inf, np.inf], FLOAT64), np.array(0.0))),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        matrix, one = ArrayType(FLOAT32, (2, 3)), ArrayType(FLOAT32)
        return [
            ErrorSample(cls(Add(), (2,)), (matrix, one), "there is no axis 2 in an array with 2 axes"),
            ErrorSample(cls(Add(), (1, 1)), (matrix, one), "axis 1 is named twice"),
            ErrorSample(cls(Add(), (1,)), (matrix, ArrayType(FLOAT64)), "one element type"),
            ErrorSample(cls(Add(), (1,)), (matrix, matrix), "takes a scalar as the value to begin with"),
            ErrorSample(cls(And(), (1,)), (matrix, one), "and takes booleans or integers"),
            ErrorSample(cls(Compare("LT"), (1,)), (matrix, one), "cannot combine elements with Compare"),
        ]

    def _spread(self, c: Calculus, reduced: Value, like: Value) -> Value:
        """A reduced array repeated along the axes that were reduced."""
        kept = [a for a in range(like.type.rank) if a not in self.axes]
        return c.broadcast(reduced, like.type.shape, kept)

    def _weights(self, c: Calculus, op: Op) -> tuple[Value, Value]:
        """The partial derivatives of the result by each element, and by the value to begin with.

        A maximum is shared equally by the elements that it is; the value to begin with has it where none is. If it is
        NaN, so are they, as JAX has it.
        """
        x, start = op.operands
        match self.combine:
            case Maximum() | Minimum():
                here = c.compare("EQ", x, self._spread(c, op.results[0], x))
                flags = c.select(here, c.filled(x.type, 1), c.zeros(x.type))
                count = c.sum(flags, self.axes)
                nowhere = c.compare("EQ", count, c.zeros(count.type))
                none = c.both(nowhere, c.compare("EQ", op.results[0], op.results[0]))
                one = c.filled(count.type, 1)
                share = c.div(flags, self._spread(c, c.select(none, one, count), x))
                return share, c.select(none, one, c.zeros(count.type))
            case Multiply():
                zero = c.compare("EQ", x, c.zeros(x.type))
                one = c.filled(x.type, 1)
                count = self._spread(c, c.sum(c.select(zero, one, c.zeros(x.type)), self.axes), x)
                others = self._spread(c, c.op(self, c.select(zero, one, x), start), x)
                quotient = c.div(others, c.select(zero, one, x))
                none = c.compare("EQ", count, c.zeros(x.type))
                only = c.both(zero, c.compare("EQ", count, one))
                by_x = c.select(none, quotient, c.select(only, quotient, c.zeros(x.type)))
                return by_x, c.op(self, x, c.filled(start.type, 1))
        raise NotDifferentiable(f"a reduction with `{self.combine.opcode}`")

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        x, _ = op.operands
        everywhere = range(ct.type.rank)
        if isinstance(self.combine, Add):
            return self._spread(c, ct, x), c.sum(ct, everywhere)
        by_x, by_start = self._weights(c, op)
        return c.mul(self._spread(c, ct, x), by_x), c.sum(c.mul(ct, by_start), everywhere)

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        x, start = op.operands
        of_x, of_start = tangents
        if isinstance(self.combine, Add):
            moved = c.zeros(x.type) if of_x is None else of_x
            return (c.op(self, moved, c.zeros(start.type) if of_start is None else of_start),)
        by_x, by_start = self._weights(c, op)
        found = None if of_x is None else c.sum(c.mul(of_x, by_x), self.axes)
        if of_start is not None:
            term = c.mul(c.broadcast(of_start, by_start.type.shape, ()), by_start)
            found = term if found is None else c.add(found, term)
        return (found,)


@dataclass(frozen=True)
class ReduceWith(HloOp):
    """Several arrays of one shape reduced together along `axes` by a region. StableHLO: reduce.

    Operands are the arrays and then as many scalars to begin with; the region takes the accumulated
    scalars and one element of each array, and gives the new scalars. It must be associative and
    commutative: the order is XLA's.
    """

    axes: tuple[int, ...]

    opcode = "reduce"
    regions = 1

    def infer_regions(self, operands: Sequence[ArrayType], regions: Sequence[Region]) -> ResultTypes:
        count = len(operands) // 2
        arrays, starts = operands[:count], operands[count:]
        require(
            count > 0 and len(operands) == 2 * count, "reduce takes as many scalars to begin with as arrays"
        )
        scalars = [a.with_shape(()) for a in arrays]
        for array in arrays:
            if array.shape != arrays[0].shape:
                raise ShapeError(f"reduce takes arrays of one shape, not {listing(arrays)}")
        for start, scalar in zip(starts, scalars, strict=True):
            if start != scalar:
                raise ShapeError(f"reduce begins with {start} where a scalar {scalar} is needed")
        (region,) = regions
        params = [p.type for p in region.params]
        if params != scalars * 2:
            raise ShapeError(
                f"the function of reduce takes {listing(scalars * 2)}, not {_types(region.params)}"
            )
        given = [r.type for r in region.results]
        if given != scalars:
            raise ShapeError(f"the function of reduce gives {_types(region.results)}, not {listing(scalars)}")
        return tuple([remaining_shape("reduce", a, self.axes) for a in arrays])

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        made = e.create(self.opcode, op.results, operands, {"dimensions": e.i64s(self.axes)}, regions=1)
        e.emit_region(op.regions[0], made.regions[0])
        return made

    def reference_regions(
        self, run: RunRegion, operands: Sequence[np.ndarray], regions: Sequence[Region]
    ) -> Any:
        count = len(operands) // 2
        arrays, starts = operands[:count], operands[count:]
        kept = [a for a in range(arrays[0].ndim) if a not in self.axes]
        ordered = [np.transpose(a, [*kept, *self.axes]) for a in arrays]
        outer = ordered[0].shape[: len(kept)]
        results = [np.empty(outer, a.dtype) for a in arrays]
        for place in np.ndindex(outer):
            state = tuple(starts)
            for elements in zip(*[a[place].flat for a in ordered], strict=True):
                state = run(regions[0], [*state, *map(np.asarray, elements)])
            for result, value in zip(results, state, strict=True):
                result[place] = value
        return tuple(results)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = []
        for dtype in sorted(FLOATS | SIGNED, key=str):
            pair = (
                grid(dtype, (2, 5)),
                grid(INT32, (2, 5), 0, 9),
                np.array(-100, dtype),
                np.array(99, INT32),
            )
            made.append(Sample(cls((1,)), pair, _arg_max))
        pair = (grid(FLOAT32, (3, 0)), grid(INT32, (3, 0)), np.array(-9, FLOAT32), np.array(9, INT32))
        product = (grid(COMPLEX64, (2, 3)), np.array(2, COMPLEX64))
        flags = (grid(BOOL, (4, 2, 3)), np.array(True))
        return [
            *made,
            Sample(cls((1,)), pair, _arg_max),
            Sample(cls((0, 1)), product, _one(Multiply())),
            Sample(cls((0, 2)), flags, _one(And())),
            Sample(cls(()), (grid(FLOAT16, ()), np.array(0, FLOAT16)), _one(Add())),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        matrix, one = ArrayType(FLOAT32, (2, 3)), ArrayType(FLOAT32)
        index, zero = ArrayType(INT32, (2, 3)), ArrayType(INT32)
        add = _one(Add())
        return [
            ErrorSample(cls((2,)), (matrix, one), "there is no axis 2", add),
            ErrorSample(cls((0,)), (matrix, index, one), "as many scalars to begin with as arrays", add),
            ErrorSample(cls((0,)), (matrix, zero), "a scalar f32[] is needed", add),
            ErrorSample(cls((0,)), (matrix, ArrayType(INT32, (3, 2)), one, zero), "arrays of one shape", add),
            ErrorSample(
                cls((0,)), (matrix, index, one, zero), "takes f32[], s32[], f32[] and s32[], not", add
            ),
            ErrorSample(cls((0,)), (matrix, one), "gives pred[], not f32[]", _one(Compare("LT"))),
        ]


def _types(values: Sequence[Value]) -> str:
    """The types of values in words."""
    return listing([v.type for v in values]) if values else "nothing"


def _one(combine: HloOp) -> Any:
    """A region that applies one operation to scalars of the first operand's type."""

    def build(b: Builder, operands: Sequence[Value]) -> list[Region]:
        return [combining(combine, operands[0].type.with_shape(()))]

    return build


def _arg_max(b: Builder, operands: Sequence[Value]) -> list[Region]:
    """A region that keeps the greatest value and its index, the lowest index among equals."""
    value, index = operands[0].type.with_shape(()), operands[1].type.with_shape(())
    region = Region((value, index, value, index))
    with b.region(region):
        best, best_at, new, new_at = region.params
        greater = b.op(Compare("GT"), new, best)
        equal = b.op(Compare("EQ"), new, best)
        earlier = b.op(And(), equal, b.op(Compare("LT"), new_at, best_at))
        better = b.op(Or(), greater, earlier)
        region.results = (b.op(Select(), better, new, best), b.op(Select(), better, new_at, best_at))
    return [region]
