"""Convolution, with all of HLO's strides, dilations, paddings and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir
from jaxlib.mlir.dialects import stablehlo

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, NotBatched, Tangents
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, INT32, ArrayType, DType, ShapeError
from ..batching import broadcast_to_batch
from ..operands import require_axes, require_per_axis, require_same_dtype
from ..reductions.window import WindowAxis, covered
from ..structure.shapes import Reverse
from .dot import accumulator, emit_rounded, precision_config, require_precision, rounded, tangent_of_product

Ints = tuple[int, ...]
NHWC = (0, 3, 1, 2)
HWIO = (3, 2, 0, 1)
NCHW = OIHW = (0, 1, 2, 3)


@dataclass(frozen=True)
class Convolution(HloOp):
    """Correlates `lhs` with the kernel `rhs`, as neural networks' convolution. StableHLO: convolution.

    `lhs_spec` says which axes of `lhs` are (batch, feature, spatial…), `rhs_spec` which of `rhs` are
    (output feature, input feature, spatial…), `out_spec` which of the result are (batch, feature,
    spatial…), as `jax.lax.ConvDimensionNumbers`. Strides, padding, dilations and reversal have one entry
    per spatial axis; an empty dilation or reversal means none. `preferred` is the element type of the
    result, that of the operands if None. `precision` is as in `DotGeneral`.
    """

    opcode = "convolution"

    window_strides: Ints
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: Ints
    rhs_dilation: Ints
    lhs_spec: Ints
    rhs_spec: Ints
    out_spec: Ints
    feature_group_count: int = 1
    batch_group_count: int = 1
    precision: str | None = None
    preferred: DType | None = None
    window_reversal: tuple[bool, ...] = ()

    def infer(self, *operands: ArrayType) -> ArrayType:
        """Batch, output features and one extent per spatial axis, placed as `out_spec` says."""
        lhs, rhs = operands
        require_same_dtype("convolution", operands)
        require_precision("convolution", self.precision, operands)
        if lhs.rank != rhs.rank or lhs.rank < 2:
            raise ShapeError(
                f"convolution of {lhs} with {rhs}: both need batch, feature and the same other axes"
            )
        for spec in (self.lhs_spec, self.rhs_spec, self.out_spec):
            require_per_axis("convolution", "dimension numbers", spec, lhs.rank)
            require_axes("convolution", spec, lhs.rank)
        axes = self._axes(rhs.shape)
        result: list[int] = [0] * lhs.rank
        result[self.out_spec[0]] = self._batch(lhs.shape[self.lhs_spec[0]])
        result[self.out_spec[1]] = self._features(lhs, rhs)
        for axis, source, target in zip(axes, self.lhs_spec[2:], self.out_spec[2:], strict=True):
            result[target] = axis.places("convolution", lhs.shape[source])
        return ArrayType(self.preferred or lhs.dtype, tuple(result))

    def _axes(self, kernel: Sequence[int]) -> list[WindowAxis]:
        """How the window slides along each spatial axis, for a kernel of this shape."""
        spatial = len(self.rhs_spec) - 2
        lhs_dilation, rhs_dilation = self.lhs_dilation or (1,) * spatial, self.rhs_dilation or (1,) * spatial
        for what, values in (
            ("window_strides", self.window_strides),
            ("padding", self.padding),
            ("lhs_dilation", lhs_dilation),
            ("rhs_dilation", rhs_dilation),
            ("window_reversal", self.window_reversal or (False,) * spatial),
        ):
            if len(values) != spatial:
                raise ShapeError(f"convolution: {what} is {values}, for {spatial} spatial axes")
        axes = []
        for i, axis in enumerate(self.rhs_spec[2:]):
            size = kernel[axis]
            low, high = self.padding[i]
            axes.append(WindowAxis(size, self.window_strides[i], low, high, lhs_dilation[i], rhs_dilation[i]))
        return axes

    def _features(self, lhs: ArrayType, rhs: ArrayType) -> int:
        """Output features; checks that groups and input features fit."""
        groups, batches = self.feature_group_count, self.batch_group_count
        if min(groups, batches) != 1:
            raise ShapeError(f"convolution: group counts {groups} and {batches}: one of them must be 1")
        given, wanted = lhs.shape[self.lhs_spec[1]], rhs.shape[self.rhs_spec[1]]
        if given != wanted * groups:
            times = f"{groups} × " if groups > 1 else ""
            raise ShapeError(
                f"convolution of {lhs} with {rhs}: the input has {given} features, "
                f"the kernel takes {times}{wanted}"
            )
        features, count = rhs.shape[self.rhs_spec[0]], max(groups, batches)
        if features % count:
            raise ShapeError(f"convolution: {features} output features do not divide into {count} groups")
        return features

    def _batch(self, batch: int) -> int:
        """The batch extent of the result."""
        groups = self.batch_group_count
        if groups == 1:
            return batch
        if batch % groups:
            raise ShapeError(f"convolution: a batch of {batch} does not divide into {groups} groups")
        return batch // groups

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.convolution`, of operands that are converted first where the precision asks for it."""
        operands = tuple(emit_rounded(e, self.precision, op, operands))
        return e.create(self.opcode, op.results, operands, e.attributes(self, self._attributes))

    def _attributes(self, e: Emitter) -> dict[str, mlir_ir.Attribute]:
        (n, f, *spatial), (o, i, *kernel), (on, of, *out) = self.lhs_spec, self.rhs_spec, self.out_spec
        attributes = {
            "dimension_numbers": stablehlo.ConvDimensionNumbers.get(n, f, spatial, i, o, kernel, on, of, out),
            "window_strides": e.i64s(self.window_strides),
            "feature_group_count": e.i64(self.feature_group_count),
            "batch_group_count": e.i64(self.batch_group_count),
            **precision_config(self.precision),
        }
        if self.padding:
            attributes["padding"] = e.matrix(self.padding)
        if self.lhs_dilation:
            attributes["lhs_dilation"] = e.i64s(self.lhs_dilation)
        if self.rhs_dilation:
            attributes["rhs_dilation"] = e.i64s(self.rhs_dilation)
        if self.window_reversal:
            attributes["window_reversal"] = mlir_ir.DenseBoolArrayAttr.get(list(self.window_reversal))
        return attributes

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """For each element of the window, products of matrices at all its places."""
        lhs, rhs = operands
        type = self.infer(ArrayType(lhs.dtype, lhs.shape), ArrayType(rhs.dtype, rhs.shape))
        wide = accumulator(type.dtype)
        lhs, rhs = rounded(lhs, self.precision), rounded(rhs, self.precision)
        x: np.ndarray = lhs.transpose(_spatial_first(self.lhs_spec)).astype(wide)
        kernel: np.ndarray = rhs.transpose(_spatial_first(self.rhs_spec)).astype(wide)
        for i, reverse in enumerate(self.window_reversal):
            kernel = np.flip(kernel, i) if reverse else kernel
        axes = self._axes(rhs.shape)
        order = _spatial_first(self.out_spec)
        result: np.ndarray = np.zeros([type.shape[axis] for axis in order], wide)
        groups = self.batch_group_count * self.feature_group_count
        kernels = np.split(kernel, groups, axis=-2)
        inputs = np.split(x, groups, axis=-2 if self.batch_group_count > 1 else -1)
        for offset in np.ndindex(*kernel.shape[:-2]):
            places, elements = covered(axes, offset, result.shape[:-2], x.shape[:-2])
            parts = [
                part[elements] @ weights[offset].T for part, weights in zip(inputs, kernels, strict=True)
            ]
            result[places] += np.concatenate(parts, axis=-1)
        return result.transpose(np.argsort(order)).astype(type.dtype)

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        """Merges the batch of the images into their batch dimension, that of the kernels into the feature groups."""
        lhs, rhs = operands
        if self.batch_group_count != 1:
            raise NotBatched("a convolution by groups of the batch")
        if not batched[1]:
            array = _merge_batch(c, lhs, self.lhs_spec[0])
            return (_split_batch(c, c.op(self, array, rhs), self.out_spec[0], batch_size),)
        lhs = broadcast_to_batch(c, lhs, batched[0], batch_size, op.operands[0].type.shape)
        array, kernel = _merge_batch(c, lhs, self.lhs_spec[1]), _merge_batch(c, rhs, self.rhs_spec[0])
        kind = replace(self, feature_group_count=self.feature_group_count * batch_size)
        return (_split_batch(c, c.op(kind, array, kernel), self.out_spec[1], batch_size),)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Layouts, strides, padding of both signs, dilations, groups, reversal, integers, one axis."""
        rng = np.random.default_rng(0)

        def f32(*shape: int) -> np.ndarray:
            return rng.standard_normal(shape, np.float32)

        same, none, one = ((1, 1), (1, 1)), ((0, 0), (0, 0)), (1, 1)
        image, kernel = f32(2, 6, 5, 3), f32(3, 3, 3, 4)
        ints = rng.integers(-5, 5, (1, 2, 7)).astype(np.int32)
        return (
            Sample(cls(one, same, one, one, NHWC, HWIO, NHWC), (image, kernel)),
            Sample(cls((2, 1), none, (), (), NHWC, HWIO, NCHW, precision="HIGHEST"), (image, kernel)),
            Sample(cls((2, 1), same, (), (), NHWC, HWIO, NHWC, precision="bfloat16"), (image, kernel)),
            Sample(cls(one, ((2, -1), (-1, 3)), (2, 1), (1, 2), NHWC, HWIO, NHWC), (image, kernel)),
            Sample(
                cls(one, none, (), (), NCHW, OIHW, NCHW, window_reversal=(True, False)),
                (f32(1, 2, 4, 5), f32(3, 2, 2, 3)),
            ),
            Sample(
                cls(one, same, (), (), NCHW, OIHW, NCHW, feature_group_count=2),
                (f32(1, 4, 4, 4), f32(6, 2, 3, 3)),
            ),
            Sample(
                cls(one, none, (), (), NCHW, OIHW, NCHW, batch_group_count=2),
                (f32(4, 3, 4, 4), f32(6, 3, 2, 2)),
            ),
            Sample(
                cls((1,), ((0, 0),), (), (), (0, 1, 2), (0, 1, 2), (2, 0, 1)),
                (ints, ints.repeat(3, 0)[:, :, :3]),
            ),
            Sample(cls((), (), (), (), (0, 1), (0, 1), (0, 1)), (f32(2, 3), f32(4, 3))),
            Sample(cls(one, none, (), (), NHWC, HWIO, NHWC), (f32(1, 2, 2, 3), kernel)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Features, groups, axes and extents that do not fit."""
        x, k = ArrayType(FLOAT32, (2, 6, 5, 3)), ArrayType(FLOAT32, (3, 3, 3, 4))
        none, one = ((0, 0), (0, 0)), (1, 1)
        plain = cls(one, none, (), (), NHWC, HWIO, NHWC)
        grouped = cls(one, none, (), (), NHWC, HWIO, NHWC, 3)
        batched = cls(one, none, (), (), NHWC, HWIO, NHWC, 1, 4)
        return (
            ErrorSample(
                plain, (x, k.with_shape((3, 3, 8, 4))), "the input has 3 features, the kernel takes 8"
            ),
            ErrorSample(grouped, (x, k), "the kernel takes 3 × 3"),
            ErrorSample(grouped, (x, k.with_shape((3, 3, 1, 4))), "4 output features do not divide into 3"),
            ErrorSample(batched, (x, k), "a batch of 2 does not divide into 4"),
            ErrorSample(cls(one, none, (), (), NHWC, HWIO, NHWC, 2, 2), (x, k), "one of them must be 1"),
            ErrorSample(plain, (x, k.with_dtype(INT32)), "one element type"),
            ErrorSample(plain, (x, k.with_shape((3, 3))), "the same other axes"),
            ErrorSample(
                cls((1,), none, (), (), NHWC, HWIO, NHWC),
                (x, k),
                "window_strides is (1,), for 2 spatial axes",
            ),
            ErrorSample(cls(one, none, (), (), (0, 1, 1, 2), HWIO, NHWC), (x, k), "axis 1 is named twice"),
        )

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Each by a convolution of the cotangent with the other: strides become dilations."""
        (ct,) = cotangents
        assert ct is not None
        lhs, rhs = op.operands
        if 0 in (lhs.type.size, rhs.type.size, ct.type.size):
            return c.zeros(lhs.type), c.zeros(rhs.type)
        lengths = self._lengths(lhs.type, rhs.type, ct.type)
        ct = c.convert(ct, lhs.type.dtype)
        turned = tuple([axis for axis, turn in zip(self.rhs_spec[2:], self.window_reversal) if turn])
        for_lhs = self._for_lhs(c, ct, c.op(Reverse(turned), rhs) if turned else rhs, lengths)
        for_rhs = self._for_rhs(c, ct, lhs, lengths)
        return for_lhs, c.op(Reverse(turned), for_rhs) if turned else for_rhs

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        return tangent_of_product(c, op, tangents)

    def _lengths(self, lhs: ArrayType, rhs: ArrayType, out: ArrayType) -> list[tuple[int, int, int]]:
        """Along each spatial axis: the dilated extents of the input, the kernel and the result."""
        spatial = len(self.rhs_spec) - 2
        dilations = (
            self.lhs_dilation or (1,) * spatial,
            self.rhs_dilation or (1,) * spatial,
            self.window_strides,
        )
        specs, types = (self.lhs_spec, self.rhs_spec, self.out_spec), (lhs, rhs, out)
        found = []
        for k in range(spatial):
            extents = [t.shape[spec[2 + k]] for spec, t in zip(specs, types, strict=True)]
            made = [(n - 1) * d[k] + 1 if n else 0 for n, d in zip(extents, dilations, strict=True)]
            found.append((made[0], made[1], made[2]))
        return found

    def _for_lhs(self, c: Calculus, ct: Value, rhs: Value, lengths: Sequence[tuple[int, int, int]]) -> Value:
        groups = max(self.feature_group_count, self.batch_group_count)
        if groups > 1:  # the groups of output features become groups of input features
            rhs = _moved_into(c, _split(c, rhs, self.rhs_spec[0], groups), self.rhs_spec[0], self.rhs_spec[1])
        padding = []
        for (low, _), (inner, kernel, outer) in zip(self.padding, lengths, strict=True):
            before = kernel - low - 1
            padding.append((before, inner + kernel - 1 - outer - before))
        out_feature, in_feature, *spatial = self.rhs_spec
        kind = Convolution(
            self.lhs_dilation or (1,) * len(spatial),
            tuple(padding),
            self.window_strides,
            self.rhs_dilation,
            self.out_spec,
            (in_feature, out_feature, *spatial),
            self.lhs_spec,
            feature_group_count=groups,
            precision=self.precision,
        )
        made = c.op(kind, ct, c.op(Reverse(tuple(spatial)), rhs) if spatial else rhs)
        if self.batch_group_count > 1:
            split = _split(c, made, self.lhs_spec[1], self.batch_group_count)
            made = _moved_into(c, split, self.lhs_spec[1], self.lhs_spec[0])
        return made

    def _for_rhs(self, c: Calculus, ct: Value, lhs: Value, lengths: Sequence[tuple[int, int, int]]) -> Value:
        padding = [
            (low, outer + kernel - inner - 1 - low)
            for (low, _), (inner, kernel, outer) in zip(self.padding, lengths, strict=True)
        ]
        ours, theirs, result = [
            (spec[1], spec[0], *spec[2:]) for spec in (self.lhs_spec, self.out_spec, self.rhs_spec)
        ]
        kind = Convolution(
            self.rhs_dilation or (1,) * len(lengths),
            tuple(padding),
            self.lhs_dilation,
            self.window_strides,
            ours,
            theirs,
            result,
            feature_group_count=self.batch_group_count,
            batch_group_count=self.feature_group_count,
            precision=self.precision,
        )
        return c.op(kind, lhs, ct)


def _spatial_first(spec: Ints) -> Ints:
    """The axes of a specification with those of a matrix (batch and feature, or two features) last."""
    return spec[2:] + spec[:2]


def _split(c: Calculus, x: Value, axis: int, count: int) -> Value:
    """`x` with one axis split into `count` parts: the parts, then what each holds."""
    shape = x.type.shape
    return c.reshape(x, (*shape[:axis], count, shape[axis] // count, *shape[axis + 1 :]))


def _moved_into(c: Calculus, x: Value, source: int, target: int) -> Value:
    """`x` without the axis `source`, which becomes the outer part of the axis `target` of what remains."""
    shape = x.type.shape
    order = [a for a in range(len(shape)) if a != source]
    merged = [shape[a] for a in order]
    merged[target] *= shape[source]
    order.insert(target, source)
    return c.reshape(c.transpose(x, order), merged)


def _merge_batch(c: Calculus, x: Value, axis: int) -> Value:
    """Merges the batch dimension, axis 0, into the element's axis `axis`, with the batch as its major part."""
    batch_size, *shape = x.type.shape
    moved = c.transpose(x, [*range(1, axis + 1), 0, *range(axis + 1, len(shape) + 1)])
    shape[axis] *= batch_size
    return c.reshape(moved, shape)


def _split_batch(c: Calculus, x: Value, axis: int, batch_size: int) -> Value:
    """Splits the batch dimension off such an axis and moves it to the front."""
    shape = list(x.type.shape)
    shape[axis : axis + 1] = [batch_size, shape[axis] // batch_size]
    apart = c.reshape(x, shape)
    return c.transpose(apart, [axis, *[a for a in range(len(shape)) if a != axis]])
