"""VGG19 for the benchmarks: as the example has it, and the same model as a function of its arrays for JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import vgg19


def spec(*shape: int) -> jax.ShapeDtypeStruct:
    """The description of a float32 array."""
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def described() -> tuple[Any, list[jax.ShapeDtypeStruct]]:
    """The full-size model without its 144 million numbers: descriptions instead of arrays, and their list."""
    small, _ = vgg19.small()
    arrays: list[jax.ShapeDtypeStruct] = []
    channels = 3
    for convolutions, factor in vgg19.STAGES:
        for _ in range(convolutions):
            arrays += [spec(3, 3, channels, 64 * factor), spec(64 * factor)]
            channels = 64 * factor
    features = channels * 7 * 7
    for out in (4096, 4096, 1000):
        arrays += [spec(features, out), spec(out)]
        features = out
    return vgg19.with_weights(small, arrays), arrays


def for_jax(model: Any) -> Any:
    """The forward pass under `jax.jit`, as a function of the list of arrays and the images."""
    return jax.jit(lambda arrays, images: vgg19.forward(vgg19.with_weights(model, arrays), images))


def images(batch: int) -> jax.ShapeDtypeStruct:
    """The description of a batch of images."""
    return spec(batch, 224, 224, 3)
