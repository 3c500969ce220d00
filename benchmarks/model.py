"""VGG19 for the benchmarks: as the example has it, and the same model as a function of its arrays for JAX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import vgg19


def with_arrays(model: Any, arrays: Sequence[Any]) -> Any:
    """The same layers with other arrays, in the order of `vgg19.weights`."""
    following = iter(arrays)
    layers: list[Any] = []
    for layer in model.layers:
        match layer:
            case vgg19.Conv():
                layers.append(vgg19.Conv(next(following), next(following)))
            case vgg19.Dense():
                layers.append(vgg19.Dense(next(following), next(following), layer.relu))
            case _:
                layers.append(layer)
    return vgg19.VGG(layers)


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
    return with_arrays(small, arrays), arrays


def for_jax(model: Any) -> Any:
    """The forward pass under `jax.jit`, as a function of the list of arrays and the images."""
    return jax.jit(lambda arrays, images: vgg19.forward(with_arrays(model, arrays), images))


def images(batch: int) -> jax.ShapeDtypeStruct:
    """The description of a batch of images."""
    return spec(batch, 224, 224, 3)
