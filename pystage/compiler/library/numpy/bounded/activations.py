"""`jax.nn`'s functions of arrays of bounded extent."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ...jax.functions import nn  # noqa: F401  (declares the meaning of what is served here)
from .size_rules import by_element, composed_for_bounded

by_element(
    (
        jax.nn.relu,
        jax.nn.relu6,
        jax.nn.sigmoid,
        jax.nn.softplus,
        jax.nn.squareplus,
        jax.nn.soft_sign,
        jax.nn.silu,
        jax.nn.mish,
        jax.nn.log_sigmoid,
        jax.nn.elu,
        jax.nn.selu,
        jax.nn.celu,
        jax.nn.leaky_relu,
        jax.nn.hard_tanh,
        jax.nn.hard_sigmoid,
        jax.nn.hard_silu,
        jax.nn.gelu,
    ),
    "x",
)


@composed_for_bounded(jax.nn.softmax)
def softmax(x: Any, axis: Any = -1) -> Any:
    """Exponentials that add up to one along an axis."""
    powers = jnp.exp(x - jnp.max(x, axis=axis, keepdims=True))
    return powers / jnp.sum(powers, axis=axis, keepdims=True)


@composed_for_bounded(jax.nn.log_softmax)
def log_softmax(x: Any, axis: Any = -1) -> Any:
    """The logarithms of `softmax`."""
    shifted = x - jnp.max(x, axis=axis, keepdims=True)
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=axis, keepdims=True))


@composed_for_bounded(jax.nn.one_hot)
def one_hot(x: Any, num_classes: Any, *, dtype: Any = float) -> Any:
    """Ones at the classes, along a new last axis."""
    return (x[..., None] == jnp.arange(num_classes)).astype(dtype)
