"""Convolutions of loops reach XLA:CPU with channels last, and compute what they computed."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage

RNG = np.random.default_rng(0)


def descent(images, kernel, steps, strides, dilation, groups, specs):
    """Gradient steps on a kernel and on images: convolutions whose axes lie in any order."""

    def energy(images, kernel):
        y = jax.lax.conv_general_dilated(
            images, kernel, strides, "SAME", None, dilation, specs, feature_group_count=groups
        )
        return jnp.sum(jnp.tanh(y))

    for _ in range(steps):
        by_images, by_kernel = pystage.grad(energy, (0, 1))(images, kernel)
        images = images - 0.01 * by_images
        kernel = kernel - 0.01 * by_kernel
    return images, kernel


def jax_descent(images, kernel, steps, strides, dilation, groups, specs):
    def energy(images, kernel):
        y = jax.lax.conv_general_dilated(
            images, kernel, strides, "SAME", None, dilation, specs, feature_group_count=groups
        )
        return jnp.sum(jnp.tanh(y))

    for _ in range(steps):
        by_images, by_kernel = jax.grad(energy, (0, 1))(images, kernel)
        images, kernel = images - 0.01 * by_images, kernel - 0.01 * by_kernel
    return images, kernel


@pytest.mark.parametrize(
    ("shape", "kernel", "strides", "dilation", "groups", "specs"),
    [
        ((2, 6, 5, 3), (3, 3, 3, 4), (1, 1), (1, 1), 1, ("NHWC", "HWIO", "NHWC")),
        ((2, 4, 6, 5), (6, 2, 3, 3), (2, 1), (1, 1), 2, ("NCHW", "OIHW", "NCHW")),
        ((6, 5, 2, 3), (4, 3, 2, 3), (1, 2), (2, 1), 1, ("HWNC", "OIHW", "NHWC")),
    ],
)
def test_gradients_in_a_loop(shape, kernel, strides, dilation, groups, specs):
    images = jnp.asarray(RNG.standard_normal(shape), jnp.float32)
    weights = jnp.asarray(RNG.standard_normal(kernel), jnp.float32)
    staged = pystage.compile(descent)
    arguments = (images, weights, 3, strides, dilation, groups, specs)
    for ours, theirs in zip(staged(*arguments), jax_descent(*arguments), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    if jax.default_backend() == "cpu":
        found = re.findall(r"dim_numbers = (\S+(?: \S+)*?), window", staged.lower(*arguments).as_text())
        assert len(found) == 3
        assert set(found) == {"[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"}
