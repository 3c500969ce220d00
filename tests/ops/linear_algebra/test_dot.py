"""`DotGeneral` beyond its samples: random axes against XLA, what is emitted."""

from __future__ import annotations

import numpy as np

from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.op import Sample
from pystage.compiler.hlo.types import FLOAT32, ArrayType
from pystage.compiler.ops import DotGeneral

from ..running import application, batch, run_xla, stablehlo
from ..test_generic import assert_same


def random_sample(rng: np.random.Generator) -> Sample:
    """A product with up to two batch, two contracted and two free axes, in random order."""
    extents = {
        kind: list(rng.integers(1, 4, rng.integers(0, 3))) for kind in ("batch", "contract", "left", "right")
    }
    axes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    arrays = []
    for free in ("left", "right"):
        shape = extents["batch"] + extents["contract"] + extents[free]
        order = [int(i) for i in rng.permutation(len(shape))]
        arrays.append(rng.integers(-9, 9, [shape[i] for i in order]).astype(np.float32))
        places = [order.index(i) for i in range(len(shape))]
        batches = len(extents["batch"])
        axes[free] = tuple(places[:batches]), tuple(places[batches : batches + len(extents["contract"])])
    (left_batch, left), (right_batch, right) = axes["left"], axes["right"]
    return Sample(DotGeneral(left_batch, right_batch, left, right), tuple(arrays))


def test_random_axes_agree_with_xla() -> None:
    rng = np.random.default_rng(1)
    made = batch([random_sample(rng) for _ in range(40)])
    found, wanted = run_xla(made.function, made.arguments), interpret(made.function, made.arguments)
    for sample, part in made.parts:
        assert_same(found[part][0], wanted[part][0], sample, zero_signs=False)


def test_result_axes_stand_as_in_einsum() -> None:
    rng = np.random.default_rng(1)
    lhs, rhs = rng.standard_normal((2, 3, 4, 5)), rng.standard_normal((4, 6, 2))
    (found,) = run_xla(
        application(
            DotGeneral((0,), (2,), (2,), (0,)),
            ArrayType(lhs.dtype, lhs.shape),
            ArrayType(rhs.dtype, rhs.shape),
        ),
        (lhs, rhs),
    )
    assert_same(found, np.einsum("bikj,knb->bijn", lhs, rhs), "einsum")


def test_precision_is_emitted_only_if_asked_for() -> None:
    type = ArrayType(FLOAT32, (3, 3))
    plain = stablehlo(application(DotGeneral((), (), (1,), (0,)), type, type))
    precise = stablehlo(application(DotGeneral((), (), (1,), (0,), "HIGHEST"), type, type))
    assert "HIGHEST" not in plain and precise.count("HIGHEST") == 2
