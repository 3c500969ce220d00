"""`jax.shard_map` as one operation: a function that runs on every device of a mesh, on its parts of the operands."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src.core import Primitive
from jax.interpreters.mlir import ir as mlir_ir
from jax.sharding import Mesh, PartitionSpec

from ....records import dataclass
from ...hlo.builder import Builder
from ...hlo.interpret import interpret
from ...hlo.ir import Function, Op, Region
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, FLOAT64, ArrayType, ShapeError
from ..elementwise.unary import Sine
from ..foreign.jax_call import emit_by_jax
from ..foreign.named_axes import NamedAxes, NamedAxis
from ..sampling import grid
from .base import ONE, Varying

Spec = tuple[tuple[Hashable, ...], ...]
"""By axis of an array, from the first, the named axes among whose participants it is split; none beyond the last."""

body_p = Primitive("pystage_shard_map_body")
"""Stands for the function in JAX's `shard_map`; `emit/stablehlo.py` lowers it."""
body_p.multiple_results = True


def _results(*_: Any, function: Function) -> list[Any]:
    return [jax.core.ShapedArray(t.shape, t.dtype) for t in function.result_types]


body_p.def_abstract_eval(_results)


def named_in(spec: Spec) -> Varying:
    """The named axes over which an array is split."""
    return frozenset([name for names in spec for name in names])


@dataclass(frozen=True)
class ShardMap(HloOp):
    """`function` on every device of `mesh`. JAX: shard_map.

    Its parameters are the parts of the operands that `in_specs` say, and the parts of the results are put together as
    `out_specs` say; what is not split is the same on all devices. `axes` are all that are bound in the function,
    `checked` as in `AllReduce`; nothing in the function is to be resolved any more.
    """

    function: Function
    mesh: Any
    axes: NamedAxes
    in_specs: tuple[Spec, ...]
    out_specs: tuple[Spec, ...]

    opcode = "shard_map"
    lowered_by_jax = True

    @property
    def checked(self) -> bool:
        """Whether JAX tracks over which axes values vary."""
        return bool(self.axes.checked)

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The names of the axes of the mesh."""
        return tuple(self.mesh.axis_names)

    def others(self, spec: Spec) -> tuple[NamedAxis, ...]:
        """The axes of the mesh over which an array is not split."""
        return tuple([a for a in self.axes.axes if a.name in self.names and a.name not in named_in(spec)])

    def parts(self, spec: Spec, rank: int) -> list[int]:
        """Into how many parts an array is split along each of its axes."""
        sizes = {axis.name: axis.size for axis in self.axes.axes}
        found = [math.prod([sizes[name] for name in names]) for names in spec]
        if len(found) > rank:
            raise ShapeError(f"shard_map splits {len(found)} axes of an array of rank {rank}")
        return [*found, *[1] * (rank - len(found))]

    def part(self, whole: ArrayType, spec: Spec) -> ArrayType:
        """The type of one device's part."""
        counts, shape = self.parts(spec, whole.rank), whole.shape
        if any(n % count for n, count in zip(shape, counts, strict=True)):
            raise ShapeError(f"shard_map cannot split {whole} into {counts} parts along its axes")
        return whole.with_shape(tuple([n // count for n, count in zip(shape, counts, strict=True)]))

    def whole(self, part: ArrayType, spec: Spec) -> ArrayType:
        """The type of the parts of all devices together."""
        counts = self.parts(spec, part.rank)
        return part.with_shape(tuple([n * c for n, c in zip(part.shape, counts, strict=True)]))

    def infer(self, *operands: ArrayType) -> tuple[ArrayType, ...]:
        parts = [self.part(t, spec) for t, spec in zip(operands, self.in_specs, strict=True)]
        if parts != list(self.function.param_types):
            raise ShapeError(f"the function of shard_map takes {self.function.param_types}, not {parts}")
        results = zip(self.function.result_types, self.out_specs, strict=True)
        return tuple([self.whole(t, spec) for t, spec in results])

    def __call__(self, *operands: Any) -> list[Any]:
        """The results in a trace of JAX's, where the function is one operation."""
        ins, outs = [tuple([PartitionSpec(*s) for s in specs]) for specs in (self.in_specs, self.out_specs)]

        def body(*parts: Any) -> tuple[Any, ...]:
            return tuple(body_p.bind(*parts, function=self.function))

        run = jax.shard_map(body, mesh=self.mesh, in_specs=ins, out_specs=outs, check_vma=False)
        return list(run(*operands))

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        return emit_by_jax(e, op, self, operands)

    def reference(self, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        """The results on the only device of a mesh."""
        return interpret(self.function, operands)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [Sample(_on_one(spec), (grid(FLOAT64, (2, 3)),)) for spec in ((), (("i",),), ((), ("i",)))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [
            ErrorSample(
                _on_one(((), (), ("i",))),
                (ArrayType(FLOAT64, (2, 3)),),
                "splits 3 axes of an array of rank 2",
            ),
            ErrorSample(_on_one(()), (ArrayType(FLOAT32, (2, 3)),), "the function of shard_map takes"),
        ]


def _on_one(spec: Spec) -> ShardMap:
    body = Region((ArrayType(FLOAT64, (2, 3)),))
    body.results = Builder(body).apply(Sine(), body.params).results
    mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
    return ShardMap(Function("body", body), mesh, NamedAxes(ONE, frozenset("i")), (spec,), (spec,))
