"""Functions of NumPy and JAX that work elementwise, beside ufuncs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ...jax.functions import nn  # noqa: F401  (declares the meanings of the rules here)
from .size_rules import by_element

by_element((np.clip, jnp.clip), "a", "arr", "a_min", "a_max", "min", "max")
by_element((np.round, np.around, jnp.round), "a")
by_element((np.angle,), "z")
by_element((jnp.real, jnp.imag), "val")
by_element((np.nan_to_num, np.sinc, np.isreal, np.iscomplex, np.isposinf, np.isneginf, np.i0), "x")
by_element((np.power, np.float_power), "x1", "x2")
by_element((np.isclose, jnp.isclose), "a", "b")
by_element((np.zeros_like, np.ones_like, np.full_like, np.copy), "a")
by_element((jnp.zeros_like, jnp.ones_like, jnp.full_like, jnp.copy), "a")
by_element((np.empty_like, jnp.empty_like), "prototype")
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
