"""`Convolution` beyond its samples: random settings against XLA, JAX's meaning of them."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.op import Sample
from pystage.compiler.ops import Convolution

from ..running import batch, run_xla, type_of
from ..test_generic import assert_same


def random_sample(rng: np.random.Generator) -> Sample:
    """A convolution of small integers, with one or two spatial axes and everything else random."""
    spatial = int(rng.integers(1, 3))

    def ints(low: int, high: int) -> tuple[int, ...]:
        return tuple([int(i) for i in rng.integers(low, high, spatial)])

    def spec() -> tuple[int, ...]:
        return tuple([int(i) for i in rng.permutation(spatial + 2)])

    groups = [(1, 1), (2, 1), (1, 2)][rng.integers(0, 3)]
    features, batches = 2 * groups[0], 2 * groups[1]
    op = Convolution(
        ints(1, 4),
        tuple([(int(a), int(b)) for a, b in rng.integers(-1, 4, (spatial, 2))]),
        ints(1, 3),
        ints(1, 3),
        spec(),
        spec(),
        spec(),
        *groups,
        window_reversal=tuple([bool(i) for i in rng.integers(0, 2, spatial)]),
    )
    lhs = (batches, features, *ints(3, 7))
    rhs = (4, 2, *ints(1, 4))
    operands = [
        rng.integers(-9, 9, [shape[s.index(i)] for i in range(spatial + 2)]).astype(np.float32)
        for shape, s in ((lhs, op.lhs_spec), (rhs, op.rhs_spec))
    ]
    return Sample(op, tuple(operands))


def test_random_settings_agree_with_xla() -> None:
    rng = np.random.default_rng(1)
    made = batch([random_sample(rng) for _ in range(24)])
    found, wanted = run_xla(made.function, made.arguments), interpret(made.function, made.arguments)
    for sample, part in made.parts:
        assert_same(found[part][0], wanted[part][0], sample, zero_signs=False)


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_specifications_mean_what_jax_means(layout: str) -> None:
    rng = np.random.default_rng(1)
    shape = {"NHWC": (2, 6, 5, 3), "NCHW": (2, 3, 6, 5)}[layout]
    image = rng.standard_normal(shape).astype(np.float32)
    kernel = rng.standard_normal((3, 2, 3, 4)).astype(np.float32)
    numbers = jax.lax.conv_dimension_numbers(image.shape, kernel.shape, (layout, "HWIO", "NHWC"))
    op = Convolution((2, 1), ((1, 1), (0, 2)), (1, 1), (1, 2), *numbers)
    wanted = jax.lax.conv_general_dilated(
        image,
        kernel,
        op.window_strides,
        op.padding,
        rhs_dilation=op.rhs_dilation,
        dimension_numbers=numbers,
        precision="highest",
    )
    assert op.infer(type_of(image), type_of(kernel)).shape == wanted.shape
    np.testing.assert_allclose(op.reference(image, kernel), wanted, rtol=1e-5, atol=1e-5)
