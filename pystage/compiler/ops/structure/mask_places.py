"""The places that a mask selects, in order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.builder import Builder
from ...hlo.ir import Op, Region
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import BOOL, FLOAT32, INT64, ArrayType
from ..batching import as_one
from ..elementwise.binary import Add, Multiply, Subtract
from ..elementwise.compare import Select
from ..elementwise.convert import Convert
from ..operands import require, require_dtype
from ..reductions.window import ReduceWindow
from .scatter import Scatter
from .shapes import Broadcast, Constant, Iota, Reshape


@dataclass(frozen=True)
class MaskPlaces(HloOp):
    """The places along the last axis at which a mask is true, in order, as int64; after the last, any places.

    It is emitted as running sums and a scatter, which devices with many threads compute; a CPU's loop
    (`passes/mask_loops.py`) passes over the mask once.
    """

    opcode = "mask_places"

    def infer(self, *operands: ArrayType) -> ArrayType:
        (mask,) = operands
        require(mask.rank > 0, "mask_places takes an array with an axis")
        require_dtype("mask_places", mask, frozenset((BOOL,)))
        return ArrayType(INT64, mask.shape)

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        """Running sums say where each place goes."""
        region = _in_parallel(op.operands[0].type.shape)
        e.values[region.params[0]] = operands[0]
        for inner in region.ops:
            e.emit_op(inner)
        return [e.values[v] for v in region.results]

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        (mask,) = operands
        found = np.zeros(mask.shape, np.int64)
        for line in np.ndindex(*mask.shape[:-1]):
            places = np.flatnonzero(mask[line])
            found[line][: len(places)] = places
        return found

    batch = as_one

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        rng = np.random.default_rng(0)
        shapes = ((7,), (1,), (0,), (3, 5), (2, 0), (2, 3, 4))
        made = [Sample(cls(), (rng.uniform(size=shape) < 0.5,)) for shape in shapes]
        return [*made, Sample(cls(), (np.zeros(4, np.bool_),)), Sample(cls(), (np.ones(4, np.bool_),))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [
            ErrorSample(cls(), (ArrayType(BOOL),), "an array with an axis"),
            ErrorSample(cls(), (ArrayType(FLOAT32, (3,)),), "mask_places takes"),
        ]


@lru_cache(maxsize=256)
def _in_parallel(shape: tuple[int, ...]) -> Region:
    """The operation as a function of a mask of this shape, of running sums and a scatter."""
    region = Region((ArrayType(BOOL, shape),))
    b = Builder(region)
    *outer, most = shape
    rows, size = int(np.prod(outer, dtype=np.int64)), int(np.prod(shape, dtype=np.int64))
    zero = b.op(Constant(np.zeros((), np.int64)))
    if not size:
        region.results = (b.op(Broadcast(shape, ()), zero),)
        return region
    mask = b.op(Reshape((rows, most)), region.params[0])
    counted = ReduceWindow(Add(), (1, most), (1, 1), ((0, 0), (most - 1, 0)), (1, 1), (1, 1))
    rank = b.op(counted, b.op(Convert(INT64), mask), zero)
    row = b.op(Iota(ArrayType(INT64, (rows, most)), 0))
    begin = b.op(
        Multiply(), row, b.op(Broadcast((rows, most), ()), b.op(Constant(np.full((), most, np.int64))))
    )
    one = b.op(Broadcast((rows, most), ()), b.op(Constant(np.ones((), np.int64))))
    target = b.op(Add(), begin, b.op(Subtract(), rank, one))
    outside = b.op(Broadcast((rows, most), ()), b.op(Constant(np.full((), size, np.int64))))
    target = b.op(Reshape((size, 1)), b.op(Select(), mask, target, outside))
    places = b.op(Reshape((size,)), b.op(Iota(ArrayType(INT64, (rows, most)), 1)))
    zeros = b.op(Broadcast((size,), ()), zero)
    made = b.op(Scatter(None, (), (0,), (0,), 1), zeros, target, places)
    region.results = (b.op(Reshape(shape), made),)
    return region
