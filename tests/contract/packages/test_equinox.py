"""Modules of Equinox in staged source: the real package, plain and staged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pystage
import pytest
from checking import check

X = jnp.asarray(np.random.default_rng(0).standard_normal((5, 3)), jnp.float32)
Y = jnp.asarray(np.random.default_rng(1).standard_normal((5, 1)), jnp.float32)
ROW = X[0]
OPTIMISER = optax.adam(0.05)
SCALE = 2.0


class Network(eqx.Module):
    """Layers of the library in a list, an array of its own, and a number that is no leaf."""

    layers: list[Any]
    bias: Any
    power: int = eqx.field(static=True)

    def __init__(self, key: Any) -> None:
        first, second = jax.random.split(key)
        self.layers = [eqx.nn.Linear(3, 4, key=first), eqx.nn.Linear(4, 1, key=second)]
        self.bias = jnp.ones(1)
        self.power = 2

    def hidden(self, x: Any) -> Any:
        for layer in self.layers[:-1]:
            x = jnp.tanh(layer(x))
        return x

    def __call__(self, x: Any) -> Any:
        return self.layers[-1](self.hidden(x)) ** self.power + self.bias


class Scaled(eqx.Module):
    """A dataclass with a converter."""

    inner: Any
    factor: Any = eqx.field(converter=jnp.asarray)

    def __call__(self, x: Any) -> Any:
        return self.inner(x) * self.factor


with jax.enable_x64(False):
    NETWORK = Network(jax.random.key(0))
    STATE = OPTIMISER.init(eqx.filter(NETWORK, eqx.is_array))


def loss(network: Any, x: Any, y: Any) -> Any:
    return jnp.mean((jax.vmap(network)(x) - y) ** 2)


def world_loss(network: Any, x: Any) -> Any:
    return jnp.sum(jax.vmap(network)(x)) * SCALE


SLOPE = eqx.filter_value_and_grad(loss)
JITTED = eqx.filter_jit(loss)


def called(network: Any, x: Any, y: Any) -> Any:
    return network(x[0]), network.hidden(x[1]), network.layers[0].weight @ x[0], NETWORK(x[0]), network.power


def lost(network: Any, x: Any, y: Any) -> Any:
    return loss(network, x, y), JITTED(network, x, y), eqx.filter_jit(lambda n: n(x[0]))(network)


def gradients(network: Any, x: Any, y: Any) -> Any:
    return jax.grad(loss)(network, x, y), eqx.filter_grad(loss)(network, x, y), SLOPE(network, x, y)


def trained(network: Any, x: Any, y: Any) -> Any:
    state, losses = STATE, []
    for _ in range(3):
        value, slope = eqx.filter_value_and_grad(loss)(network, x, y)
        updates, state = OPTIMISER.update(slope, state, network)
        network = eqx.apply_updates(network, updates)
        losses.append(value)
    return network, losses


def filtered(network: Any, x: Any, y: Any) -> Any:
    arrays, rest = eqx.partition(network, eqx.is_array)
    halved = jax.tree.map(lambda a: a / 2, arrays)
    return eqx.combine(halved, rest)(x[0]), eqx.filter_vmap(network)(x), len(jax.tree.leaves(arrays))


def made(network: Any, x: Any, y: Any) -> Any:
    fresh = Scaled(Network(jax.random.key(1)), 3.0)
    return fresh(x[0]), fresh


def with_aux(network: Any, x: Any, y: Any) -> Any:
    def own(network: Any) -> Any:
        return jnp.mean((jax.vmap(network)(x) - y) ** 2), {"first": network(x[0])}

    (value, aux), slope = eqx.filter_value_and_grad(own, has_aux=True)(network)
    return value, aux, slope, jax.eval_shape(own, network)[1]["first"].shape


def replaced(network: Any, x: Any, y: Any) -> Any:
    frozen = eqx.tree_at(lambda n: n.layers[-1].weight, jax.tree.map(lambda _: False, network), replace=True)
    moving, rest = eqx.partition(network, frozen)
    slope = eqx.filter_grad(lambda moving: loss(eqx.combine(moving, rest), x, y))(moving)
    several = eqx.tree_at(lambda n: (n.layers[0].bias, n.bias), network, replace_fn=lambda a: a * 2)
    turned = eqx.tree_at(lambda n: n.layers, network, network.layers[::-1])
    tree = {"a": (x, (y, 2.0)), "b": None}
    whole = eqx.tree_at(lambda t: t["a"][1], tree, {"c": 1})
    none = eqx.tree_at(lambda t: (t["a"][1][1], t["b"]), tree, (x[0], 3), is_leaf=lambda t: t is None)
    return slope.layers[-1].weight, several(x[0]), turned.layers[1].weight, whole, none


PROGRAMS = [called, lost, gradients, trained, filtered, made, with_aux, replaced]


@pytest.fixture(autouse=True)
def narrow() -> Any:
    with jax.enable_x64(False):
        yield


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_network(program: Callable[..., Any]) -> None:
    check(program, NETWORK, X, Y, tolerance=1e-5, interpreted=False)


LAYERS: list[tuple[Any, Any]] = [
    (lambda key: eqx.nn.MLP(3, 2, 4, 2, key=key), ROW),
    (lambda key: eqx.nn.Sequential([eqx.nn.Linear(3, 3, key=key), eqx.nn.Lambda(jax.nn.relu)]), ROW),
    (lambda key: eqx.nn.Sequential([eqx.nn.Lambda(Network(key)), eqx.nn.Lambda(lambda x: x * SCALE)]), ROW),
    (lambda key: eqx.nn.LayerNorm(3), ROW),
    (lambda key: eqx.nn.Conv1d(1, 2, 3, key=key), X[:, :1].T),
    (lambda key: eqx.nn.GRUCell(3, 2, key=key), None),
]


@pytest.mark.parametrize(("make", "x"), LAYERS)
def test_layers(make: Callable[[Any], Any], x: Any) -> None:
    layer = make(jax.random.key(2))
    if x is None:
        check(lambda layer, x: layer(x, jnp.zeros(2)), layer, ROW, tolerance=1e-5, interpreted=False)
    else:
        check(lambda layer, x: layer(x), layer, x, tolerance=1e-5, interpreted=False)


def test_pystage_grad() -> None:
    ours, theirs = pystage.grad(loss)(NETWORK, X, Y), eqx.filter_grad(loss)(NETWORK, X, Y)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_what_jax_would_trace_sees_the_world_change(monkeypatch: Any) -> None:
    slope = eqx.filter_grad(world_loss)
    program = pystage.compile(lambda network, x: slope(network, x).bias)
    assert program(NETWORK, X)[0] == 2.0 * len(X)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert program(NETWORK, X)[0] == 3.0 * len(X)


@pytest.mark.parametrize(
    ("where", "replace"),
    [(lambda n: 3, 1), (lambda n: (n.bias, 3), (1, 2)), (lambda n: (n.bias,), (1, 2))],
)
def test_tree_at_refuses_what_equinox_refuses(where: Any, replace: Any) -> None:
    def program(network: Any) -> Any:
        return eqx.tree_at(where, network, replace)

    with pytest.raises((ValueError, TypeError)) as error:
        program(NETWORK)
    with pytest.raises(error.type):
        pystage.compile(program)(NETWORK)


def test_what_asks_for_the_tracers_of_jax_is_refused() -> None:
    with pytest.raises(pystage.StagingError, match="PS606.*filter_jvp"):
        pystage.compile(lambda n, x: eqx.filter_jvp(n, (x,), (x,)))(NETWORK, X[0])
    with pytest.raises(pystage.StagingError, match="PS606.*where"):
        pystage.compile(lambda n: eqx.tree_at(lambda n: n.bias if n.bias else n.power, n, 1))(NETWORK)


def test_a_module_takes_no_attributes_once_it_is_made() -> None:
    def program(network: Any) -> None:
        network.bias = network.bias * 2

    with pytest.raises(AttributeError, match="cannot assign to field"):
        program(NETWORK)
    with pytest.raises(AttributeError, match="cannot assign to field"):
        pystage.compile(program)(NETWORK)


class Watched:
    """A class whose attributes are all looked up by its own function."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.names = 0

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        return found * 2 if name == "value" else found

    def __getattr__(self, name: str) -> Any:
        return self.value + len(name)


def test_a_class_with_its_own_getattribute() -> None:
    def program(x: Any) -> Any:
        watched = Watched(x)
        watched.value = watched.value + 1
        return watched.value, watched.names, watched.missing

    check(program, np.arange(3.0))
