"""Optimisers of Optax in staged source: the real package, plain and staged."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pystage
import pytest
from checking import check

X = jnp.asarray(np.random.default_rng(0).standard_normal((8, 3)), jnp.float32)
Y = X @ jnp.array([1.0, -2.0, 0.5]) + 0.25

ADAM = optax.adam(0.1)
CLIPPED = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9))
DECAYED = optax.adamw(optax.exponential_decay(0.1, 5, 0.5))


def loss(weights: Any, x: Any, y: Any) -> Any:
    return jnp.mean((x @ weights["w"] + weights["b"] - y) ** 2)


@pytest.mark.parametrize("optimiser", [ADAM, CLIPPED, DECAYED], ids=["adam", "clipped", "decayed"])
def test_a_training_loop(optimiser: Any) -> None:
    def train(weights: Any, x: Any, y: Any, steps: Any) -> Any:
        state = optimiser.init(weights)
        for _ in range(steps):
            slopes = pystage.grad(loss)(weights, x, y)
            updates, state = optimiser.update(slopes, state, weights)
            weights = optax.apply_updates(weights, updates)
        return weights, loss(weights, x, y)

    weights = {"b": jnp.zeros(()), "w": jnp.zeros(3)}  # in the order that JAX gives the keys of a dict
    with jax.enable_x64(False):
        check(train, weights, X, Y, 4, tolerance=1e-5, interpreted=False)


def test_an_optimiser_made_of_numbers_of_the_program() -> None:
    def train(weights: Any, x: Any, y: Any, rate: Any) -> Any:
        optimiser = optax.chain(optax.clip(1.0), optax.sgd(rate, momentum=0.5))
        state = optimiser.init(weights)
        for _ in range(3):
            updates, state = optimiser.update(jax.grad(loss)(weights, x, y), state, weights)
            weights = optax.apply_updates(weights, updates)
        return weights

    with jax.enable_x64(False):
        check(train, {"b": jnp.zeros(()), "w": jnp.zeros(3)}, X, Y, 0.1, tolerance=1e-5, interpreted=False)
