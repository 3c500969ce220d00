"""Modules of Flax NNX in staged source: the real package, plain and staged."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import check
from flax import nnx

X = jnp.asarray(np.random.default_rng(0).standard_normal((5, 3)), jnp.float32)
Y = jnp.asarray(np.random.default_rng(1).standard_normal((5, 1)), jnp.float32)


class Network(nnx.Module):
    """Two layers of the library."""

    def __init__(self, rngs: Any) -> None:
        self.first = nnx.Linear(3, 4, rngs=rngs)
        self.second = nnx.Linear(4, 1, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.second(jnp.tanh(self.first(x)))


with jax.enable_x64(False):
    NETWORK = Network(nnx.Rngs(0))


def loss(network: Any, x: Any, y: Any) -> Any:
    return jnp.mean((network(x) - y) ** 2)


@pytest.fixture(autouse=True)
def narrow() -> Any:
    with jax.enable_x64(False):
        yield


def test_a_network_of_the_world() -> None:
    check(lambda x, y: (NETWORK(x), loss(NETWORK, x, y)), X, Y, tolerance=1e-5, interpreted=False)


def test_a_network_that_is_given() -> None:
    program = pystage.compile(loss)
    np.testing.assert_allclose(program(NETWORK, X, Y), loss(NETWORK, X, Y), rtol=1e-5)


def test_what_changes_in_it_is_seen() -> None:
    network = Network(nnx.Rngs(1))
    program = pystage.compile(lambda x: network.first(x))
    np.testing.assert_allclose(program(X), network.first(X), rtol=1e-5, atol=1e-6)
    network.first.kernel[...] = network.first.kernel[...] * 2
    np.testing.assert_allclose(program(X), network.first(X), rtol=1e-5, atol=1e-6)


def test_its_gradient() -> None:
    ours, theirs = pystage.grad(loss)(NETWORK, X, Y), nnx.grad(loss)(NETWORK, X, Y)
    for layer in ("first", "second"):
        for name in ("kernel", "bias"):
            found = getattr(getattr(ours, layer), name)[...]
            np.testing.assert_allclose(found, theirs[layer][name][...], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "program",
    [lambda n, x, y: nnx.grad(loss)(n, x, y), lambda n, x, y: nnx.merge(*nnx.split(n))(x)],
    ids=["grad", "split"],
)
def test_what_flax_does_in_its_own_way_is_refused(program: Any) -> None:
    with pytest.raises(pystage.StagingError, match="PS"):
        pystage.compile(program)(NETWORK, X, Y)
