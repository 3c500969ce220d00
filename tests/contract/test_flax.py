"""Modules of Flax NNX in staged source: the real package, plain and staged."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
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


ADAM = optax.adam(0.1)

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


class Noisy(nnx.Module):
    """A network with a state: statistics, a stream of random numbers, a count."""

    def __init__(self, rngs: Any) -> None:
        self.first = nnx.Linear(3, 4, rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.noise = nnx.Dropout(0.5, rngs=rngs)
        self.count = nnx.Variable(jnp.zeros(()))

    def __call__(self, x: Any) -> Any:
        self.count[...] += 1
        return self.noise(self.norm(self.first(x)))


def test_what_a_call_changes_in_it() -> None:
    def program(network: Any, x: Any) -> Any:
        return network(x), network(x)

    with jax.enable_x64(False):
        ours, theirs = Noisy(nnx.Rngs(0)), Noisy(nnx.Rngs(0))
        found, wanted = pystage.compile(program)(ours, X), program(theirs, X)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-5), found, wanted)
    jax.tree.map(
        functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6), state(ours), state(theirs)
    )


def state(network: Any) -> list[Any]:
    """The numbers that a network holds, keys as such."""
    leaves = jax.tree.leaves(network)
    keys = [jnp.issubdtype(x.dtype, jax.dtypes.prng_key) for x in leaves]
    return [jax.random.key_data(x) if key else x for x, key in zip(leaves, keys, strict=True)]


def stored(network: Any, x: Any, y: Any) -> Any:
    for _ in range(3):
        slopes = pystage.grad(loss)(network, x, y)
        for layer, slope in ((network.first, slopes.first), (network.second, slopes.second)):
            layer.kernel[...] = layer.kernel[...] - 0.1 * slope.kernel[...]
            layer.bias[...] -= 0.1 * slope.bias[...]
    network.first.bias[0] = 2.0
    return loss(network, x, y)


def optimised(network: Any, x: Any, y: Any) -> Any:
    state = ADAM.init(network)
    for _ in range(3):
        slopes = jax.grad(loss)(network, x, y)
        updates, state = ADAM.update(slopes, state, network)
        network = optax.apply_updates(network, updates)
    return network, jax.tree.map(jnp.sum, slopes), loss(network, x, y)


@pytest.mark.parametrize("program", [stored, optimised])
def test_training(program: Any) -> None:
    ours, theirs = Network(nnx.Rngs(0)), Network(nnx.Rngs(0))
    found, wanted = pystage.compile(program)(ours, X, Y), program(theirs, X, Y)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6), found, wanted)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6), ours, theirs)


@pytest.mark.parametrize(
    "program",
    [
        lambda n, x, y: nnx.grad(loss)(n, x, y),
        lambda n, x, y: nnx.merge(*nnx.split(n))(x),
    ],
    ids=["grad", "split"],
)
def test_what_flax_does_in_its_own_way_is_refused(program: Any) -> None:
    with pytest.raises(pystage.StagingError, match="PS606.*flax"):
        pystage.compile(program)(NETWORK, X, Y)
