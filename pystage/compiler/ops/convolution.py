"""Convolution: a window slides over the spatial axes and mixes features."""

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
from ..hlo.types import FLOAT32, INT32, ArrayType, DType, Extent, ShapeError, Symbol, known_equal
from .dot import accumulator, check_precision, precision_config
from .fitting import check_axes, check_length, check_same_dtype
from .window import WindowAxis, window_sources

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
    result, that of the operands if None.
    """

    opcode: ClassVar[str] = "convolution"

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
        what = f"convolution of {lhs} with {rhs}"
        check_same_dtype(what, lhs, rhs)
        check_precision(what, self.precision)
        if lhs.rank != rhs.rank or lhs.rank < 2:
            raise ShapeError(
                f"{what}: both need the same number of axes, at least a batch and a feature axis"
            )
        for spec in (self.lhs_spec, self.rhs_spec, self.out_spec):
            check_length(what, "dimension numbers", spec, lhs.rank)
            check_axes(what, spec, lhs.rank)
        axes = self._axes(what, rhs.shape)
        features = self._features(what, lhs, rhs)
        result: list[Extent] = [0] * lhs.rank
        result[self.out_spec[0]] = self._batch(what, lhs.shape[self.lhs_spec[0]])
        result[self.out_spec[1]] = features
        for axis, source, target in zip(axes, self.lhs_spec[2:], self.out_spec[2:], strict=True):
            result[target] = axis.positions(what, lhs.shape[source])
        return ArrayType(self.preferred or lhs.dtype, tuple(result))

    def _axes(self, what: str, rhs_shape: Sequence[Extent]) -> list[WindowAxis]:
        spatial = len(self.rhs_spec) - 2
        lhs_dilation, rhs_dilation = self.lhs_dilation or (1,) * spatial, self.rhs_dilation or (1,) * spatial
        for name, values in (
            ("window_strides", self.window_strides),
            ("padding", self.padding),
            ("lhs_dilation", lhs_dilation),
            ("rhs_dilation", rhs_dilation),
            ("window_reversal", self.window_reversal or (False,) * spatial),
        ):
            check_length(what, name, values, spatial)
        axes = []
        for i, axis in enumerate(self.rhs_spec[2:]):
            size = rhs_shape[axis]
            if not isinstance(size, int):
                raise ShapeError(f"{what}: the extent {size} of the kernel is not known while compiling")
            low, high = self.padding[i]
            axes.append(WindowAxis(size, self.window_strides[i], low, high, lhs_dilation[i], rhs_dilation[i]))
        return axes

    def _features(self, what: str, lhs: ArrayType, rhs: ArrayType) -> Extent:
        """Output features; checks that groups and input features fit."""
        groups, batches = self.feature_group_count, self.batch_group_count
        if groups < 1 or batches < 1 or (groups > 1 and batches > 1):
            raise ShapeError(f"{what}: group counts {groups} and {batches}: one of them must be 1")
        given, wanted = lhs.shape[self.lhs_spec[1]], rhs.shape[self.rhs_spec[1]]
        fits = (
            given == wanted * groups
            if isinstance(wanted, int)
            else known_equal(given, wanted) and groups == 1
        )
        if not fits:
            times = f"{groups} × " if groups > 1 else ""
            raise ShapeError(f"{what}: the input has {given} features, the kernel takes {times}{wanted}")
        features = rhs.shape[self.rhs_spec[0]]
        count = max(groups, batches)
        if count > 1 and not (isinstance(features, int) and features % count == 0):
            raise ShapeError(f"{what}: {features} output features do not divide into {count} groups")
        return features

    def _batch(self, what: str, batch: Extent) -> Extent:
        if self.batch_group_count == 1:
            return batch
        if not isinstance(batch, int) or batch % self.batch_group_count:
            raise ShapeError(
                f"{what}: a batch of {batch} does not divide into {self.batch_group_count} groups"
            )
        return batch // self.batch_group_count

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        """One `stablehlo.convolution`."""
        (n, f, *spatial), (o, i, *kernel), (on, of, *out) = self.lhs_spec, self.rhs_spec, self.out_spec
        attributes = {
            "dimension_numbers": stablehlo.ConvDimensionNumbers.get(n, f, spatial, i, o, kernel, on, of, out),
            "window_strides": e.i64s(self.window_strides),
            "padding": e.matrix(self.padding),
            "feature_group_count": e.i64(self.feature_group_count),
            "batch_group_count": e.i64(self.batch_group_count),
            **precision_config(self.precision),
        }
        if self.lhs_dilation:
            attributes["lhs_dilation"] = e.i64s(self.lhs_dilation)
        if self.rhs_dilation:
            attributes["rhs_dilation"] = e.i64s(self.rhs_dilation)
        if self.window_reversal:
            attributes["window_reversal"] = mlir_ir.DenseBoolArrayAttr.get(list(self.window_reversal))
        return e.create(self.opcode, op.results, operands, attributes)

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """For each place of the window and each of its elements, one product of matrices."""
        lhs, rhs = operands
        dtype = np.dtype(self.preferred or lhs.dtype)
        x = lhs.transpose(self.lhs_spec).astype(accumulator(dtype))
        kernel = rhs.transpose(self.rhs_spec).astype(x.dtype)
        for i, reverse in enumerate(self.window_reversal):
            kernel = np.flip(kernel, 2 + i) if reverse else kernel
        axes = self._axes("convolution", rhs.shape)
        spatial = x.shape[2:]
        places = [a.positions("convolution", n) for a, n in zip(axes, spatial, strict=True)]
        groups = self.batch_group_count * self.feature_group_count
        outputs = np.split(kernel, groups)
        inputs = np.split(x, groups, axis=0 if self.batch_group_count > 1 else 1)
        result = np.zeros((len(inputs[0]), len(kernel), *places), x.dtype)
        for place in np.ndindex(*places):
            for offset, index in window_sources(axes, place, spatial):
                parts = [
                    part[(..., *index)] @ weight[(..., *offset)].T
                    for part, weight in zip(inputs, outputs, strict=True)
                ]
                result[(..., *place)] += np.concatenate(parts, axis=1)
        return result.transpose(np.argsort(self.out_spec)).astype(dtype)

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
            ErrorSample(plain, (x, k.with_dtype(INT32)), "element types differ"),
            ErrorSample(plain, (x, k.with_shape((3, 3))), "same number of axes"),
            ErrorSample(
                cls((1,), none, (), (), NHWC, HWIO, NHWC), (x, k), "window_strides has 1 entries for 2"
            ),
            ErrorSample(cls(one, none, (), (), (0, 1, 1, 2), HWIO, NHWC), (x, k), "name an axis twice"),
            ErrorSample(plain, (x, k.with_shape((Symbol("h"), 3, 3, 4))), "extent h of the kernel"),
        )
