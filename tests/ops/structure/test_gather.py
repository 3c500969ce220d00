"""`Gather` and `Scatter` beyond their samples: random axes against XLA, and NumPy's fancy indexing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.op import HloOp, Sample
from pystage.compiler.hlo.types import FLOAT32, INT32, ArrayType
from pystage.compiler.ops import Add, Gather, Maximum, Scatter

from ..running import application, batch, run_xla, stablehlo, type_of
from ..test_generic import assert_same


@dataclass
class Axes:
    """Random dimension numbers, in Gather's words, and arrays that they fit."""

    offset: tuple[int, ...]
    collapsed: tuple[int, ...]
    index_map: tuple[int, ...]
    vector_dim: int
    sizes: tuple[int, ...]
    operand_batching: tuple[int, ...]
    indices_batching: tuple[int, ...]
    operand: np.ndarray
    indices: np.ndarray


def random_axes(rng: np.random.Generator) -> Axes:
    """Up to four axes, each a batch axis, dropped or sliced; indices lie inside and outside."""
    rank = int(rng.integers(1, 5))
    kinds = rng.integers(0, 3, rank)
    extents = [int(n) for n in rng.integers(2, 5, rank)]
    batching = tuple([i for i in range(rank) if kinds[i] == 0])[:2]
    collapsed = tuple([i for i in range(rank) if kinds[i] == 1])
    indexed = [i for i in range(rank) if i not in batching and (i in collapsed or rng.integers(0, 2))]
    index_map = tuple([int(i) for i in rng.permutation(indexed)])
    sizes = [1 if i in batching + collapsed else int(rng.integers(1, n + 1)) for i, n in enumerate(extents)]
    places = [extents[i] for i in batching] + [int(n) for n in rng.integers(1, 4, rng.integers(0, 2))]
    order = [int(i) for i in rng.permutation(len(places))]
    batch_shape = [places[i] for i in order]
    vector_dim = int(rng.integers(0, len(places) + 1))
    shape = [*batch_shape[:vector_dim], len(index_map), *batch_shape[vector_dim:]]
    sources = [order.index(i) for i in range(len(batching))]
    kept = rank - len(batching) - len(collapsed)
    offset = sorted(int(i) for i in rng.permutation(len(places) + kept)[:kept])
    return Axes(
        tuple(offset),
        collapsed,
        index_map,
        vector_dim,
        tuple(sizes),
        batching,
        tuple([i + (i >= vector_dim) for i in sources]),
        rng.integers(0, 99, extents).astype(np.int32),
        rng.integers(-1, 5, shape).astype(np.int32),
    )


def gather_of(axes: Axes) -> Gather:
    return Gather(
        axes.offset,
        axes.collapsed,
        axes.index_map,
        axes.vector_dim,
        axes.sizes,
        axes.operand_batching,
        axes.indices_batching,
    )


def scatter_of(axes: Axes, combine: HloOp | None) -> Scatter:
    return Scatter(
        combine,
        axes.offset,
        axes.collapsed,
        axes.index_map,
        axes.vector_dim,
        axes.operand_batching,
        axes.indices_batching,
    )


def check(samples: list[Sample]) -> None:
    """XLA and the reference agree on all samples."""
    made = batch(samples)
    found, wanted = run_xla(made.function, made.arguments), interpret(made.function, made.arguments)
    for sample, part in made.parts:
        assert_same(found[part][0], wanted[part][0], sample)


def test_random_gathers_agree_with_xla() -> None:
    rng = np.random.default_rng(1)
    made = [random_axes(rng) for _ in range(60)]
    assert {len(a.operand_batching) for a in made} == {0, 1, 2}
    check([Sample(gather_of(a), (a.operand, a.indices)) for a in made])


def test_random_scatters_agree_with_xla() -> None:
    rng = np.random.default_rng(2)
    samples = []
    for combine in (Add(), Maximum(), None):
        for _ in range(25):
            axes = random_axes(rng)
            slices = gather_of(axes).infer(type_of(axes.operand), type_of(axes.indices))
            updates = rng.integers(0, 99, slices.shape).astype(np.int32)
            samples.append(Sample(scatter_of(axes, combine), (axes.operand, axes.indices, updates)))
    check(samples)


def test_gather_is_fancy_indexing() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    i, j = np.array([[0, 2], [1, 1]]), np.array([3, 0])
    pairs = np.stack(np.broadcast_arrays(i, j), -1)
    op = Gather((0,), (1, 2), (1, 2), 2, (2, 1, 1))
    np.testing.assert_array_equal(op.reference(x, pairs), x[:, i, j])


def test_scatter_is_a_fancy_store() -> None:
    x = np.ones((3, 4))
    rows, values = np.array([2, 0, 2]), np.arange(12.0).reshape(3, 4)
    replaced, added = x.copy(), x.copy()
    replaced[rows] = values
    np.add.at(added, rows, values)
    np.testing.assert_array_equal(Scatter(None, (1,), (0,), (0,), 1).reference(x, rows, values), replaced)
    np.testing.assert_array_equal(Scatter(Add(), (1,), (0,), (0,), 1).reference(x, rows, values), added)


def test_promises_are_emitted() -> None:
    x, i, u = ArrayType(FLOAT32, (4, 5)), ArrayType(INT32, (3,)), ArrayType(FLOAT32, (3, 5))
    text = stablehlo(application(Scatter(None, (1,), (0,), (0,), 1, (), (), True, True), x, i, u))
    assert "indices_are_sorted = true" in text and "unique_indices = true" in text
    text = stablehlo(application(Scatter(None, (1,), (0,), (0,), 1), x, i, u))
    assert "indices_are_sorted = true" not in text and "unique_indices = true" not in text
