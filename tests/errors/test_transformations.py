"""Programs that raise inside JAX's own transformations: the host raises, or the program is refused."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage


@pystage.compile
def root(x, n):
    if x.min() < 0:
        raise ValueError(f"{n} times the root of {x.min()}")
    return jnp.sqrt(x) * n


@jax.jit
def around(x):
    return root(x, 3) + 1.0


def test_under_jit_the_host_raises():
    np.testing.assert_array_equal(around(jnp.array([1.0, 4.0])), [4.0, 7.0])
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"ValueError: 3 times the root of -4.0"):
        around(jnp.array([1.0, -4.0])).block_until_ready()


def test_what_certainly_raises_raises_under_jit():
    @pystage.compile
    def never(x):
        raise KeyError("never")

    with pytest.raises(KeyError, match="never"):
        jax.block_until_ready(jax.jit(lambda x: (never(x), x + 1))(jnp.ones(2)))


def total(x):
    return root(x, 2).sum()


def scanned(x):
    return jax.lax.scan(lambda carry, row: (carry + total(row), None), 0.0, jnp.stack([x, x]))[0]


TRANSFORMATIONS = {
    "grad": jax.grad(total),
    "jit of grad": jax.jit(jax.grad(total)),
    "value_and_grad": jax.value_and_grad(total),
    "jvp": lambda x: jax.jvp(total, (x,), (x,)),
    "vjp": lambda x: jax.vjp(total, x)[1](1.0),
    "vmap": lambda x: jax.vmap(total)(jnp.stack([jnp.abs(x), x])),
    "vmap of grad": lambda x: jax.vmap(jax.grad(total))(jnp.stack([jnp.abs(x), x])),
    "checkpoint": jax.grad(jax.checkpoint(total)),
    "scan": scanned,
    "grad of scan": jax.grad(scanned),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_no_transformation_drops_it(name):
    transformed = TRANSFORMATIONS[name]
    jax.block_until_ready(transformed(jnp.array([1.0, 4.0])))
    with pytest.raises(Exception, match=r"2 times the root of -4\.0"):
        jax.block_until_ready(transformed(jnp.array([1.0, -4.0])))
