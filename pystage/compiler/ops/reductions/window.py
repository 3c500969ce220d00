"""Reductions over sliding windows, as in pooling; and the window arithmetic that convolution shares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.builder import Builder
from ...hlo.calculus import Calculus, Contribution, Cotangents, NotBatched, NotDifferentiable, Tangents
from ...hlo.immutable import immutable_value
from ...hlo.ir import Op, Region, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, INT32, ArrayType, ShapeError, is_complex
from ..batching import broadcast_to_batch
from ..elementwise.base import combining
from ..elementwise.binary import Add, Maximum, Minimum, Multiply, Power
from ..elementwise.compare import Compare
from ..operands import require, require_per_axis, require_same_dtype, require_scalar
from ..structure.shapes import Pad
from . import cumulative
from .reduce import STANDARD

Pairs = tuple[tuple[int, int], ...]
Ints = tuple[int, ...]


@immutable_value
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

    def places(self, name: str, extent: int) -> int:
        """At how many places the window fits on an axis of `extent` elements."""
        if self.size < 1:
            raise ShapeError(f"{name}: a window of {self.size} elements")
        if min(self.stride, self.base_dilation, self.window_dilation) < 1:
            raise ShapeError(f"{name}: strides and dilations must be at least 1")
        if max(self.stride, self.base_dilation, self.window_dilation) >= 1 << 63:
            raise ShapeError(f"{name}: strides and dilations have 64 bits")
        dilated = (extent - 1) * self.base_dilation + 1 if extent else 0
        padded = dilated + self.low + self.high
        if padded < 0:
            raise ShapeError(f"{name}: padding {(self.low, self.high)} removes more than {dilated} elements")
        return (padded - self.reach) // self.stride + 1 if padded >= self.reach else 0

    def source(self, place: int, offset: int, extent: int) -> int | None:
        """The element under the window's `offset`th element at `place`; None in padding and holes."""
        at = place * self.stride + offset * self.window_dilation - self.low
        index, hole = divmod(at, self.base_dilation)
        return None if hole or not 0 <= index < extent else index


def window_sources(
    axes: Sequence[WindowAxis], place: Sequence[int], shape: Sequence[int]
) -> Iterator[tuple[Ints, Ints]]:
    """What lies under the window at `place`: pairs (offset in the window, index of the element)."""
    for offset in np.ndindex(*[a.size for a in axes]):
        found = [a.source(p, o, n) for a, p, o, n in zip(axes, place, offset, shape, strict=True)]
        index = tuple([i for i in found if i is not None])
        if len(index) == len(axes):
            yield offset, index


def covered(
    axes: Sequence[WindowAxis], offset: Sequence[int], places: Sequence[int], shape: Sequence[int]
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The places of the window at which its element `offset` lies on one of the array, and on which, as open meshes."""
    meshes: tuple[list[np.ndarray], list[np.ndarray]] = [], []
    for a, o, count, extent in zip(axes, offset, places, shape, strict=True):
        at = np.arange(count) * a.stride + (o * a.window_dilation - a.low)
        index, hole = np.divmod(at, a.base_dilation)
        found = np.flatnonzero((hole == 0) & (index >= 0) & (index < extent))
        meshes[0].append(found)
        meshes[1].append(index[found])
    return np.ix_(*meshes[0]), np.ix_(*meshes[1])


@dataclass(frozen=True)
class ReduceWindow(HloOp):
    """Each window of the first operand reduced with `combine`, from the scalar second operand on.

    `combine` is one of `reduce.STANDARD`, and the scalar its neutral element: what lies in the padding and
    in the holes of a dilation counts as that. StableHLO: reduce_window.
    """

    opcode = "reduce_window"

    combine: HloOp
    window: Ints
    strides: Ints
    padding: Pairs
    base_dilation: Ints = ()
    window_dilation: Ints = ()

    def _axes(self, rank: int) -> list[WindowAxis]:
        base, dilation = self.base_dilation or (1,) * rank, self.window_dilation or (1,) * rank
        for what, values in (
            ("window extents", self.window),
            ("strides", self.strides),
            ("paddings", self.padding),
            ("base dilations", base),
            ("window dilations", dilation),
        ):
            require_per_axis("reduce_window", what, values, rank)
        return [
            WindowAxis(size, stride, low, high, b, w)
            for size, stride, (low, high), b, w in zip(
                self.window, self.strides, self.padding, base, dilation, strict=True
            )
        ]

    def infer(self, *operands: ArrayType) -> ArrayType:
        """The number of places of the window along each axis; `ShapeError` where the window is malformed."""
        x, _ = operands
        _require_combiner("reduce_window", self.combine, operands)
        axes = self._axes(x.rank)
        return x.with_shape(tuple([a.places("reduce_window", n) for a, n in zip(axes, x.shape, strict=True)]))

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.reduce_window`."""
        made = e.create(self.opcode, op.results, operands, e.attributes(self, self._attributes), regions=1)
        e.emit_region(combining(self.combine, ArrayType(op.results[0].type.dtype)), made.regions[0])
        return made

    def _attributes(self, e: Emitter) -> dict[str, mlir_ir.Attribute]:
        attributes = _window_attributes(e, self.window, self.strides, self.padding)
        if self.base_dilation:
            attributes["base_dilations"] = e.i64s(self.base_dilation)
        if self.window_dilation:
            attributes["window_dilations"] = e.i64s(self.window_dilation)
        return attributes

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """Goes through the window, element by element, at all places at once."""
        x, start = operands
        axes = self._axes(x.ndim)
        result = np.full(self.infer(ArrayType(x.dtype, x.shape), ArrayType(x.dtype)).shape, start, x.dtype)
        for offset in np.ndindex(*self.window):
            places, elements = covered(axes, offset, result.shape, x.shape)
            result[places] = self.combine.reference(result[places], x[elements])
        return result

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        array, start = operands
        if batched[1]:
            raise NotBatched("a batched initial value")
        kind = ReduceWindow(
            self.combine,
            (1, *self.window),
            (1, *self.strides),
            ((0, 0), *self.padding),
            (1, *self.base_dilation) if self.base_dilation else (),
            (1, *self.window_dilation) if self.window_dilation else (),
        )
        return (c.op(kind, array, start),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Pooling, strides, padding of both signs, both dilations, windows that never fit, rank 0; running
        products, with zeros among the factors, and running extrema, from both ends."""
        x = np.random.default_rng(0).standard_normal((1, 6, 5, 2)).astype(np.float32)
        ints = np.arange(10, dtype=np.int32)
        zero, one, low = np.float32(0), np.float32(1), np.float32(-np.inf)
        no, step = ((0, 0),), (1,)
        grid = np.asarray([[2, -1, 3], [0, 4, 0.5], [1.5, 0, -2], [3, 2, 0]], np.float32)
        return (
            Sample(cls(Maximum(), (1, 2, 2, 1), (1, 2, 2, 1), no * 4), (x, np.asarray(low))),
            Sample(
                cls(Add(), (1, 3, 2, 1), step * 4, ((0, 0), (1, 1), (0, 1), (0, 0))), (x, np.asarray(zero))
            ),
            Sample(cls(Add(), (3,), (2,), ((2, 1),), (2,), (3,)), (ints, np.asarray(np.int32(0)))),
            Sample(cls(Minimum(), (3,), (1,), ((-2, -1),)), (ints, np.asarray(np.int32(99)))),
            Sample(cls(Add(), (10,), (1,), ((9, 0),)), (ints, np.asarray(np.int32(0)))),
            Sample(cls(Multiply(), (4, 1), (1, 1), ((3, 0), (0, 0))), (grid, np.asarray(one))),
            Sample(
                cls(Multiply(), (4, 1), (1, 1), ((0, 3), (0, 0)), (1, 1), (1, 1)), (grid, np.asarray(one))
            ),
            Sample(cls(Maximum(), (1, 3), (1, 1), ((0, 0), (2, 0))), (grid, np.asarray(low))),
            Sample(cls(Minimum(), (1, 3), (1, 1), ((0, 0), (0, 2))), (grid, np.asarray(-low))),
            Sample(cls(Add(), (11,), (1,), no), (ints, np.asarray(np.int32(0)))),
            Sample(cls(Add(), (2,), (1,), ((1, 1),)), (ints[:0], np.asarray(np.int32(0)))),
            Sample(cls(Add(), (), (), ()), (np.asarray(np.float32(3)), np.asarray(zero))),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Windows that do not match the array, and extents that are not known."""
        x, init = ArrayType(FLOAT32, (6, 5)), ArrayType(FLOAT32)
        no = ((0, 0), (0, 0))
        return (
            ErrorSample(cls(Compare("LT"), (2, 2), (1, 1), no), (x, init), "cannot combine elements with"),
            ErrorSample(cls(Add(), (2,), (1, 1), no), (x, init), "1 window extents for an array with 2 axes"),
            ErrorSample(cls(Add(), (2, 2), (1, 1), no), (x, x), "takes a scalar as the value to begin with"),
            ErrorSample(cls(Add(), (2, 2), (1, 1), no), (x, ArrayType(INT32)), "one element type"),
            ErrorSample(cls(Add(), (2, 0), (1, 1), no), (x, init), "a window of 0 elements"),
            ErrorSample(cls(Add(), (2, 2), (1, 0), no), (x, init), "at least 1"),
            ErrorSample(cls(Add(), (2, 2), (1, 1 << 63), no), (x, init), "have 64 bits"),
            ErrorSample(cls(Add(), (1, 1), (1, 1), ((-3, -4), (0, 0))), (x, init), "removes more than 6"),
        )

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Of a sum: the sum over the windows that an element lies in. Of a maximum: `SelectAndScatter`, or
        where it runs along an axis a scatter. Of a running product: a recurrence the other way."""
        (ct,) = cotangents
        assert ct is not None
        x, start = op.operands
        if isinstance(self.combine, Add):
            return self._sum_of_windows(c, ct, x), None
        way = self._direction(x)
        if way is not None and isinstance(self.combine, Multiply):
            return cumulative.product_cotangent(c, way, x, op.results[0], ct), None
        if way is not None and isinstance(self.combine, Maximum | Minimum):
            return self._chosen(c, way, op).cotangent(c, ct), None
        return c.op(self._scatter(), x, ct, c.zeros(start.type)), None

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        x, start = op.operands
        t, of_start = tangents
        if t is None or of_start is not None:
            raise NotDifferentiable("the value that a reduction over windows begins with")
        if isinstance(self.combine, Add):
            return (c.op(self, t, c.zeros(start.type)),)
        way = self._direction(x)
        if way is not None and isinstance(self.combine, Multiply):
            return (cumulative.product_tangent(c, way, x, op.results[0], t),)
        if way is not None and isinstance(self.combine, Maximum | Minimum):
            return (self._chosen(c, way, op).tangent(c, t),)
        return (self._scatter().selected(c, x, t),)

    @property
    def _dilated(self) -> bool:
        return any(n != 1 for n in (*self.base_dilation, *self.window_dilation))

    def _direction(self, x: Value) -> cumulative.Direction | None:
        """How a running reduction runs; None for other windows."""
        if self._dilated:
            return None
        return cumulative.direction_of(x.type.shape, self.window, self.strides, self.padding)

    def _chosen(self, c: Calculus, way: cumulative.Direction, op: Op) -> cumulative.ExtremumIndices:
        better = "GT" if isinstance(self.combine, Maximum) else "LT"
        latest = replace(self, combine=Maximum())
        return cumulative.chosen(c, way, op.operands[0], op.results[0], better, latest)

    def _scatter(self) -> SelectAndScatter:
        """What sends something to the element that each window keeps."""
        if not isinstance(self.combine, Maximum | Minimum) or self._dilated:
            raise NotDifferentiable(f"a reduction over windows with `{self.combine.opcode}`")
        select = "GE" if isinstance(self.combine, Maximum) else "LE"
        return SelectAndScatter(select, Add(), self.window, self.strides, self.padding)

    def _sum_of_windows(self, c: Calculus, ct: Value, x: Value) -> Value:
        axes = self._axes(x.type.rank)
        shape = x.type.shape
        rank = len(shape)
        reach = [a.reach for a in axes]
        lengths = [(n - 1) * a.stride + 1 if n else 0 for a, n in zip(axes, ct.type.shape)]
        spread = [(n - 1) * a.base_dilation + 1 if n else 0 for a, n in zip(axes, shape)]
        padded = [n + a.low + a.high for a, n in zip(axes, spread)]
        ct = c.pad(
            ct, [r - 1 for r in reach], [p - n for p, n in zip(padded, lengths)], [a.stride - 1 for a in axes]
        )
        ones = (1,) * rank
        window = ReduceWindow(
            Add(), self.window, ones, ((0, 0),) * rank, window_dilation=self.window_dilation
        )
        sums = c.op(window, ct, c.zeros(ct.type.with_shape(())))
        inside = c.pad(sums, [-a.low for a in axes], [-a.high for a in axes])
        return c.slice(inside, [0] * rank, spread, [a.base_dilation for a in axes])


@dataclass(frozen=True)
class SelectAndScatter(HloOp):
    """Each element of the second operand stored where its window over the first operand selects an element.

    The gradient of max-pooling. Operands are the array, the source with one element per window, and the
    scalar that the result holds elsewhere. A window keeps its first element until `select` ("GE" or "LE")
    between it and a later one is false; what lies in the padding is never selected. What several windows
    send to one place is joined with `combine`, one of `reduce.STANDARD`, and with the scalar.
    StableHLO: select_and_scatter.
    """

    opcode = "select_and_scatter"
    linear = (1, 2)

    select: str
    combine: HloOp
    window: Ints
    strides: Ints
    padding: Pairs

    def _axes(self, rank: int) -> list[WindowAxis]:
        for what, values in (
            ("window extents", self.window),
            ("strides", self.strides),
            ("paddings", self.padding),
        ):
            require_per_axis("select_and_scatter", what, values, rank)
        return [
            WindowAxis(size, stride, low, high)
            for size, stride, (low, high) in zip(self.window, self.strides, self.padding, strict=True)
        ]

    def infer(self, *operands: ArrayType) -> ArrayType:
        """The type of the array; `ShapeError` where the source has not one element per window."""
        array, source, _ = operands
        _require_combiner("select_and_scatter", self.combine, operands)
        if self.select not in ("GE", "LE"):
            raise ShapeError(f"select_and_scatter: selects by 'GE' or 'LE', not by {self.select!r}")
        require(not is_complex(array.dtype), "select_and_scatter: complex numbers have no order")
        axes = self._axes(array.rank)
        places = tuple([a.places("select_and_scatter", n) for a, n in zip(axes, array.shape, strict=True)])
        if places != source.shape:
            raise ShapeError(f"select_and_scatter: windows at {places} places, but a source {source}")
        return array

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.select_and_scatter`."""
        attributes = _window_attributes(e, self.window, self.strides, self.padding)
        made = e.create(self.opcode, op.results, operands, attributes, regions=2)
        scalar = op.operands[2].type
        selector = Region((scalar, scalar))
        selector.results = (Builder(selector).op(Compare(self.select), *selector.params),)
        e.emit_region(selector, made.regions[0])
        e.emit_region(combining(self.combine, scalar), made.regions[1])
        return made

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """Goes through every window, element by element."""
        array, source, start = operands
        axes = self._axes(array.ndim)
        keeps = Compare(self.select).reference
        result = np.full(array.shape, start, array.dtype)
        for place in np.ndindex(*source.shape):
            chosen: Ints | None = None
            for _, index in window_sources(axes, place, array.shape):
                if chosen is None or not keeps(array[chosen], array[index]):
                    chosen = index
            if chosen is not None:
                result[chosen] = self.combine.reference(result[chosen], source[place])
        return result

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        *parts, start = operands
        if batched[2]:
            raise NotBatched("a batched initial value")
        arrays = [
            broadcast_to_batch(c, x, f, batch_size, old.type.shape)
            for x, f, old in zip(parts, batched, op.operands)
        ]
        kind = SelectAndScatter(
            self.select, self.combine, (1, *self.window), (1, *self.strides), ((0, 0), *self.padding)
        )
        return (c.op(kind, *arrays, start),)

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
            ErrorSample(pool, (x, x, init), "windows at (3, 2) places, but a source f32[6,4]"),
            ErrorSample(pool, (x, ArrayType(FLOAT32, (3,)), init), "but a source f32[3]"),
            ErrorSample(pool, (x, source, source), "takes a scalar"),
            ErrorSample(pool, (x, source.with_dtype(INT32), init), "one element type"),
            ErrorSample(
                cls("EQ", Add(), (2, 2), (2, 2), none), (x, source, init), "by 'GE' or 'LE', not by 'EQ'"
            ),
            ErrorSample(
                cls("GE", Power(), (2, 2), (2, 2), none), (x, source, init), "cannot combine elements with"
            ),
            ErrorSample(cls("GE", Add(), (2,), (2, 2), none), (x, source, init), "1 window extents"),
        )

    LIMIT: ClassVar[int] = 64
    """The largest window whose elements are looked at one by one."""

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Of the source: what stands at the elements that the windows select."""
        (ct,) = cotangents
        assert ct is not None
        if not isinstance(self.combine, Add):
            raise NotDifferentiable(f"scattering with `{self.combine.opcode}`")
        return None, self.selected(c, op.operands[0], ct), c.sum(ct, range(ct.type.rank))

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        """Linear in what is scattered; which elements are selected does not vary."""
        _, source, start = tangents
        if not isinstance(self.combine, Add):
            raise NotDifferentiable(f"scattering with `{self.combine.opcode}`")
        if source is None and start is None:
            return (None,)
        given = [c.zeros(v.type) if t is None else t for v, t in zip(op.operands[1:], (source, start))]
        return (c.op(self, op.operands[0], *given),)

    def selected(self, c: Calculus, array: Value, values: Value) -> Value:
        """For each window over `array`, the element of `values` at the place that it selects."""
        if math.prod(self.window) > self.LIMIT:
            raise NotDifferentiable(
                f"a selection from windows of {math.prod(self.window)} elements, a second time,"
            )
        axes = self._axes(array.type.rank)
        places = [a.places("select_and_scatter", n) for a, n in zip(axes, array.type.shape, strict=True)]
        worst = -math.inf if self.select == "GE" else math.inf
        best: Value | None = None
        found: Value | None = None
        for offset in np.ndindex(*self.window):
            seen = self._under(c, array, c.filled(array.type.with_shape(()), worst), offset, places)
            value = self._under(c, values, c.zeros(values.type.with_shape(())), offset, places)
            if best is None or found is None:
                best, found = seen, value
                continue
            keeps = c.compare(self.select, best, seen)
            best, found = c.select(keeps, best, seen), c.select(keeps, found, value)
        assert found is not None
        return found

    def _under(
        self, c: Calculus, x: Value, outside: Value, offset: Sequence[int], places: Sequence[Any]
    ) -> Value:
        """What lies under the window's element `offset`, for each place of the window."""
        low, high = [p[0] for p in self.padding], [p[1] for p in self.padding]
        padded = c.op(Pad(tuple(low), tuple(high), (0,) * len(low)), x, outside)
        ends = [o + (n - 1) * s + 1 for o, n, s in zip(offset, places, self.strides, strict=True)]
        return c.slice(padded, offset, ends, self.strides)


def _require_combiner(name: str, combine: HloOp, operands: Sequence[ArrayType]) -> None:
    """`combine` is standard and takes the element type that all operands have; the last one is a scalar."""
    if not isinstance(combine, STANDARD):
        raise ShapeError(f"{name} cannot combine elements with {combine}")
    require_same_dtype(name, operands)
    require_scalar(name, "the value to begin with", operands[-1])
    combine.infer(operands[-1], operands[-1])


def _window_attributes(
    e: Emitter, window: Ints, strides: Ints, padding: Pairs
) -> dict[str, mlir_ir.Attribute]:
    attributes = {"window_dimensions": e.i64s(window), "window_strides": e.i64s(strides)}
    if padding:
        attributes["padding"] = e.matrix(padding)
    return attributes
