"""VGG19 for the benchmarks: as the example has it, and the same model as a function of its arrays for JAX."""

from __future__ import annotations

from typing import Any

import jax
import vgg19
from layers import with_arrays


def described() -> tuple[Any, list[jax.ShapeDtypeStruct]]:
    """The full-size model without its 144 million numbers: descriptions instead of arrays, and their list."""
    model = vgg19.make_vgg19(seed=None)
    return model, vgg19.weights(model)


def with_weights(model: Any, arrays: Any) -> Any:
    """The same layers with other arrays, in the order of `vgg19.weights`."""
    following = iter(arrays)
    return with_arrays(model, lambda _: next(following))


def for_jax(model: Any) -> Any:
    """The forward pass under `jax.jit`, as a function of the list of arrays and the images."""
    return jax.jit(lambda arrays, images: vgg19.forward(with_weights(model, arrays), images))


def images(batch: int) -> Any:
    """The description of a batch of images."""
    return vgg19.make_images(batch, seed=None)
