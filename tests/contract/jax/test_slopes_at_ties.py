"""Derivatives of `jax.nn`'s activations, and of logarithms of sums, where two branches of their definition meet."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import check

POINTS = jnp.asarray([-3.0, -1.0, 0.0, 1.0, -0.0, 3.0, 6.0, jnp.inf, -jnp.inf])
FINITE = POINTS[:-2]
NAMES = (
    "relu relu6 leaky_relu elu selu celu hard_tanh hard_sigmoid hard_silu gelu silu softplus squareplus soft_sign mish "
    "log_sigmoid sparse_plus sparse_sigmoid"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_activations(name):
    function = getattr(jax.nn, name)

    def slopes(x):
        def total(x):
            return jnp.sum(function(x))

        first, curvature = jax.grad(total)(x), jax.grad(lambda x: jnp.sum(jax.grad(total)(x)))(x)
        return function(x), first, curvature, jax.jvp(function, (x,), (jnp.ones_like(x),))[1]

    check(slopes, POINTS if name in ("relu", "relu6") else FINITE, tolerance=1e-5)


def test_relu_of_what_is_no_number():
    def slopes(x):
        return jax.nn.relu(x), jax.jvp(jax.nn.relu, (x,), (jnp.ones_like(x),))[1]

    check(slopes, jnp.asarray([jnp.nan, 1.0]))


def test_a_layer_of_zeros():
    def slopes(w, b, x):
        hidden = jax.nn.relu(x @ w + b)
        return jax.grad(lambda b: jnp.mean((jax.nn.relu(hidden @ w + b) - x) ** 2))(b)

    w = jnp.asarray(np.random.default_rng(0).standard_normal((3, 3)), jnp.float32)
    x = jnp.asarray(np.random.default_rng(1).standard_normal((16, 3)), jnp.float32)
    check(slopes, w, jnp.zeros(3), x)
    compiled = pystage.compile(lambda b: jnp.sum(jax.nn.relu(b)))
    assert not jax.grad(compiled)(jnp.zeros(3)).any()


def test_newtons_method_from_zero():
    def step(w, x, y):
        def loss(w):
            return jnp.mean(jnp.logaddexp(0.0, -y * (x @ w)))

        slopes, curvature = jax.grad(loss)(w), jax.hessian(loss)(w)
        return curvature, w - jnp.linalg.solve(curvature, slopes)

    x = jnp.asarray(np.random.default_rng(0).standard_normal((20, 2)), jnp.float32)
    y = jnp.where(x[:, 0] > 0.3, 1.0, -1.0)
    check(step, jnp.zeros(2), x, y, tolerance=1e-5)
