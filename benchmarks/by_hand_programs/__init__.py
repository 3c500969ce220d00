"""Whole programs, each written twice: as plain Python, which pystage stages, and by hand for `jax.jit`.

A module of them has `PROGRAMS`. Both take the same arguments and give the same results, or arrays equal to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

MODULES = ("sequences", "learning", "numerics", "flax_models")


class Program(NamedTuple):
    """A program: as a user writes it, as one writes it for `jax.jit`, and what both are given.

    `for_jax` makes JAX's arguments of them where they are no pytrees.
    """

    name: str
    plain: Callable[..., Any]
    by_hand: Callable[..., Any]
    inputs: Callable[[], tuple[Any, ...]]
    for_jax: Callable[..., tuple[Any, ...]] = lambda *args: args


def normal(*shape: int, scale: float = 1.0, seed: int = 0) -> jax.Array:
    """Random float32 numbers, the same in each run."""
    numbers = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return jnp.asarray(numbers * scale, jnp.float32)


def uniform(*shape: int, seed: int = 0) -> jax.Array:
    """Random float32 numbers from 0 to 1, the same in each run."""
    return jnp.asarray(np.random.default_rng([seed, *shape]).random(shape), jnp.float32)


def integers(high: int, *shape: int, seed: int = 0) -> jax.Array:
    """Random int32 numbers from 0 to `high` - 1, the same in each run."""
    return jnp.asarray(np.random.default_rng([seed, *shape]).integers(0, high, shape), jnp.int32)
