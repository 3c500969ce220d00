"""Training programs as people write them with JAX, Flax, Equinox and Optax: the real packages, plain and staged."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pystage
import pytest
from checking import Cases, check
from flax import nnx
from flax.training.train_state import TrainState

cases = Cases()

X = jnp.asarray(np.random.default_rng(0).standard_normal((16, 3)), jnp.float32)
Y = X @ jnp.array([1.0, -2.0, 0.5]) + 0.25
ADAM = optax.adam(0.1)
WEIGHTS = {"w": jnp.zeros(3), "b": jnp.zeros(())}  # JAX has the keys of a dict in another order
TOLERANCE = 1e-4


@pytest.fixture(autouse=True)
def float32():
    with jax.enable_x64(False):
        yield


def loss(weights, x, y):
    return jnp.mean((x @ weights["w"] + weights["b"] - y) ** 2)


# ---------------------------------------------------------------- JAX and Optax


@cases(WEIGHTS, X, Y, 20, 1.0)
@cases(WEIGHTS, X, Y, 20, 0.0)
@cases(WEIGHTS, X, Y, 3, 0.0)
def stopped_early(weights, x, y, steps, tolerance):
    losses = []
    for _ in range(steps):
        value, slopes = jax.value_and_grad(loss)(weights, x, y)
        weights = jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)
        losses.append(value)
        if value < tolerance:
            break
    return weights, jnp.stack(losses), jnp.array(losses).mean()


@cases(WEIGHTS, X, Y, 0.5)
def until_it_is_good(weights, x, y, tolerance):
    steps = 0
    while loss(weights, x, y) > tolerance:
        slopes = jax.grad(loss)(weights, x, y)
        weights = jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)
        steps += 1
    return weights, steps


LAYERS = {"second": {"w": jnp.ones(3), "b": jnp.ones(())}, "first": {"w": jnp.ones(3), "b": jnp.ones(())}}
MOMENTUM = optax.sgd(0.1, momentum=0.9)


@cases.each((LAYERS, X, Y, 3), (LAYERS, X, Y, 30))
def layers_in_another_order(layers, x, y, steps):
    state = MOMENTUM.init(layers)
    for _ in range(steps):
        slopes = jax.grad(lambda layers: sum(loss(each, x, y) for each in layers.values()))(layers)
        updates, state = MOMENTUM.update(slopes, state, layers)
        layers = optax.apply_updates(layers, updates)
    return layers


@cases(WEIGHTS, X, Y)
def logged(weights, x, y):
    state = ADAM.init(weights)
    logs = []
    best, best_weights = float("inf"), None
    for step in range(10):
        value, slopes = jax.value_and_grad(loss)(weights, x, y)
        updates, state = ADAM.update(slopes, state, weights)
        weights = optax.apply_updates(weights, updates)
        logs.append({"step": step, "loss": value, "norm": optax.tree.norm(slopes)})
        if value < best:
            best, best_weights = value, weights
    return weights, best, best_weights, logs


def saved(step):
    return {"params": WEIGHTS, "opt": ADAM.init(WEIGHTS), "step": step}


@cases.each((saved(0), X, Y, 5), (saved(3), X, Y, 5), (saved(5), X, Y, 5))
def resumed(checkpoint, x, y, steps):
    weights, state = checkpoint["params"], checkpoint["opt"]
    for _ in range(checkpoint["step"], steps):
        updates, state = ADAM.update(jax.grad(loss)(weights, x, y), state, weights)
        weights = optax.apply_updates(weights, updates)
    checkpoint["params"], checkpoint["opt"], checkpoint["step"] = weights, state, steps
    return loss(weights, x, y)


@cases.each((X[:, 0], X[:, 1], 0.99, 0.95), (X[:5, 0], X[:5, 1], 0.99, 0.95))
def advantages(rewards, values, gamma, decay):
    n = rewards.shape[0]
    found = [0.0] * n
    last = 0.0
    for t in reversed(range(n)):
        following = values[t + 1] if t + 1 < n else 0.0
        last = rewards[t] + gamma * following - values[t] + gamma * decay * last
        found[t] = last
    return jnp.array(found)


# ---------------------------------------------------------------- Equinox

ATTENTION = eqx.nn.MultiheadAttention(num_heads=2, query_size=8, key=jax.random.key(0))
ENSEMBLE = eqx.filter_vmap(lambda key: eqx.nn.MLP(3, 1, 4, 1, key=key))(
    jax.random.split(jax.random.key(0), 4)
)


@cases(ATTENTION, jnp.outer(jnp.arange(5.0), jnp.ones(8)))
def attention(layer, x):
    def distance(layer):
        return jnp.mean((layer(x, x, x) - 1.0) ** 2)

    for _ in range(2):
        value, slopes = eqx.filter_value_and_grad(distance)(layer)
        layer = eqx.apply_updates(layer, jax.tree.map(lambda g: -0.1 * g, slopes))
    return layer, value


@cases(ENSEMBLE, X)
def ensemble(models, x):
    return eqx.filter_vmap(lambda model, x: jax.vmap(model)(x), in_axes=(eqx.if_array(0), None))(models, x)


@cases(ENSEMBLE, X)
def ensemble_by_axes(models, x):
    arrays, rest = eqx.partition(models, eqx.is_array)
    axes = jax.tree.map(lambda a: 0, arrays)
    return jax.vmap(lambda a, x: jax.vmap(eqx.combine(a, rest))(x), in_axes=(axes, None))(arrays, x)


@cases({"w": jnp.ones((4, 3)), "b": jnp.ones(2)}, X)
def some_mapped(weights, x):
    def one(weights, x):
        return x @ weights["w"] + weights["b"].sum()

    return jax.vmap(one, in_axes=({"w": 0, "b": None}, None))(weights, x)


@cases(X, raises=TypeError)
def axes_of_no_tuple(x):
    return jax.vmap(lambda x: x, in_axes={"x": 0})(x)


# ---------------------------------------------------------------- Flax


class Network(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(4)(x)))


NETWORK = Network()


def trained(state, x, y):
    def distance(params):
        return jnp.mean((state.apply_fn({"params": params}, x)[:, 0] - y) ** 2)

    for _ in range(2):
        value, slopes = jax.value_and_grad(distance)(state.params)
        state = state.apply_gradients(grads=slopes)
    return state, value


def test_a_train_state_is_handed_back() -> None:
    params = NETWORK.init(jax.random.key(0), X)["params"]
    given = TrainState.create(apply_fn=NETWORK.apply, params=params, tx=ADAM)
    staged = pystage.compile(trained, fallback="error")
    ours, theirs = staged(given, X, Y), trained(given, X, Y)
    assert ours[0].apply_fn is given.apply_fn and ours[0].tx.update is given.tx.update
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=TOLERANCE), ours, theirs)
    assert jax.tree.structure(staged(ours[0], X, Y)) == jax.tree.structure(theirs)


class Stack(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.List([nnx.Linear(3, 3, rngs=rngs) for _ in range(3)])

    def __call__(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i < len(self.layers) - 1:
                x = jax.nn.relu(x)
        for layer in self.layers:
            x = x + layer(x)
        return x + self.layers[-1](x)


def steps(model, optimizer, x, steps):
    losses = []
    for _ in range(steps):
        value, slopes = nnx.value_and_grad(lambda m: jnp.mean((m(x) - 1.0) ** 2))(model)
        optimizer.update(model, slopes)
        losses.append(value)
    return jnp.stack(losses)


def test_a_list_of_layers_and_a_new_model_for_the_same_program() -> None:
    staged = pystage.compile(steps, fallback="error")
    for seed in (0, 1):
        pair = []
        for run in (staged, steps):
            model = Stack(nnx.Rngs(seed))
            optimizer = nnx.Optimizer(model, ADAM, wrt=nnx.Param)
            pair.append((run(model, optimizer, X, 3), jax.tree.leaves(nnx.state(model, nnx.Param))))
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5), *pair)
    assert len(staged.signatures()) == 1


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function: Any, args: Any, options: Any) -> None:
    check(function, *args, tolerance=TOLERANCE, interpreted=False, **options)
