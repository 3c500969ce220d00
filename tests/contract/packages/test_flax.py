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
from flax.errors import TraceContextError
from test_no_trace import watching

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


def both_modes(network: Any, x: Any) -> Any:
    """Dropout and batch norm, as `train` and `eval` set them."""
    network.eval()
    calm = network(x)
    network.train()
    noisy = network(x)
    network.set_attributes(nnx.Dropout, deterministic=True)
    names = [(path, type(module).__name__) for path, module in nnx.iter_modules(network)]
    return calm, noisy, network(x), names, network.noise.deterministic


class Parts(nnx.Module):
    """Attributes of all kinds, which a call assigns."""

    def __init__(self, rngs: Any) -> None:
        self.heads = nnx.Dict(b=nnx.Linear(3, 2, rngs=rngs), a=nnx.Linear(3, 1, rngs=rngs))
        self.calls = 0
        self.last = nnx.data(jnp.zeros(3))

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        self.last = x[0] * self.calls
        self.mean = x.mean()
        return {name: head(x) for name, head in self.heads.items()}


def assigned(network: Any, x: Any) -> Any:
    first = network(x)
    network.heads["c"] = network.heads["a"]
    found = (nnx.is_data(x), nnx.is_data(x.shape), nnx.is_data(network.heads))
    return first, network(x), network.calls, network.last, network.mean, len(network.heads), found


@pytest.mark.parametrize("program, cls", [(both_modes, Noisy), (assigned, Parts)])
def test_attributes_that_calls_assign(program: Any, cls: Any) -> None:
    pair = []
    for run in (pystage.compile(program), program):
        network = cls(nnx.Rngs(0))
        pair.append((run(network, X), state(network)))
    for ours, theirs in zip(*map(jax.tree.leaves, pair), strict=True):
        assert ours == theirs if isinstance(ours, str) else np.allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_an_array_for_an_attribute_that_is_no_data_is_refused() -> None:
    def program(network: Any, x: Any) -> None:
        network.calls = x

    with pytest.raises(ValueError, match="static attribute"):
        program(Parts(nnx.Rngs(0)), X)
    with pytest.raises(pystage.StagingError, match="static attribute"):
        pystage.compile(program)(Parts(nnx.Rngs(0)), X)


def with_result(network: Any, x: Any, y: Any) -> Any:
    result = network(x)
    return jnp.mean((result - y) ** 2), result


def functional(network: Any, x: Any, y: Any) -> Any:
    """A step on the parts of a module, put together again in the function that is differentiated."""
    graph, params, rest = nnx.split(network, nnx.Param, ...)
    slopes = jax.grad(lambda params: loss(nnx.merge(graph, params, rest), x, y))(params)
    nnx.update(network, jax.tree.map(lambda p, s: p - 0.1 * s, params, slopes))
    return loss(network, x, y), slopes


GRAPH = nnx.split(NETWORK)[0]


@pytest.mark.parametrize(
    "program",
    [
        lambda n, x, y: nnx.grad(loss)(n, x, y),
        lambda n, x, y: nnx.value_and_grad(with_result, has_aux=True)(n, x, y),
        lambda n, x, y: nnx.grad(with_result, has_aux=True)(n, x, y),
        lambda n, x, y: nnx.grad(loss, argnums=(0, 1))(n, x, y),
        lambda n, x, y: nnx.grad(loss, argnums=nnx.DiffState(0, nnx.PathContains("first")))(n, x, y),
        lambda n, x, y: nnx.split(n, nnx.Param, ...),
        lambda n, x, y: nnx.merge(*nnx.split(n))(x),
        lambda n, x, y: nnx.merge(GRAPH, nnx.state(n))(x),
        lambda n, x, y: nnx.to_pure_dict(nnx.state(n, nnx.Param)),
        lambda n, x, y: nnx.state(n, nnx.BatchStat, nnx.Param),
        functional,
    ],
)
def test_modules_taken_apart(program: Any) -> None:
    ours, theirs = Network(nnx.Rngs(0)), Network(nnx.Rngs(0))
    found, wanted = pystage.compile(program)(ours, X, Y), program(theirs, X, Y)
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6), found, wanted)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6), ours, theirs)


def test_what_a_function_that_is_differentiated_changes() -> None:
    def program(network: Any, x: Any) -> Any:
        return nnx.value_and_grad(lambda n: jnp.sum(n(x) ** 2))(network)

    ours, theirs = Noisy(nnx.Rngs(0)), Noisy(nnx.Rngs(0))
    found, wanted = pystage.compile(program)(ours, X), program(theirs, X)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-5), found, wanted)
    jax.tree.map(
        functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6), state(ours), state(theirs)
    )


def test_the_graph_of_a_module_as_an_argument() -> None:
    graph, parts = nnx.split(NETWORK)
    program = pystage.compile(lambda graph, parts, x: nnx.merge(graph, parts)(x))
    np.testing.assert_allclose(program(graph, parts, X), NETWORK(X), rtol=1e-5, atol=1e-6)


def step(network: Any, optimizer: Any, x: Any, y: Any) -> Any:
    value, slopes = nnx.value_and_grad(loss)(network, x, y)
    optimizer.update(network, slopes)
    return value


JITTED = nnx.jit(step)


def loop(network: Any, optimizer: Any, x: Any, y: Any) -> Any:
    for _ in range(4):
        value = step(network, optimizer, x, y)
    return value


def jitted_loop(network: Any, optimizer: Any, x: Any, y: Any) -> Any:
    for _ in range(4):
        value = JITTED(network, optimizer, x, y)
    return value


@pytest.mark.parametrize("program", [loop, jitted_loop])
@pytest.mark.parametrize(
    "tx",
    [
        optax.adam(0.1),
        optax.chain(
            optax.clip_by_global_norm(1.0), optax.sgd(optax.cosine_decay_schedule(0.1, 10), momentum=0.9)
        ),
    ],
    ids=["adam", "momentum"],
)
def test_a_whole_training_with_the_optimizer_of_nnx(program: Any, tx: Any) -> None:
    pair = []
    for run in (pystage.compile(program), program):
        network = Network(nnx.Rngs(0))
        optimizer = nnx.Optimizer(network, tx, wrt=nnx.Param)
        pair.append((run(network, optimizer, X, Y), state(network), state(optimizer)))
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-5), *pair)


def test_no_code_of_the_program_runs() -> None:
    network = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(network, ADAM, wrt=nnx.Param)
    staged = pystage.compile(lambda n, o, x, y: (loop(n, o, x, y), functional(n, x, y)))
    with watching({__name__}) as entered:
        staged(network, optimizer, X, Y)
    assert not entered


@pytest.mark.parametrize(
    "program",
    [
        lambda n, x, y: nnx.state(n, lambda path, variable: True),
        lambda n, x, y: nnx.clone(n)(x),
        lambda n, x, y: nnx.Optimizer(n, ADAM, wrt=nnx.Param),
        lambda n, x, y: nnx.Linear(3, 4, rngs=nnx.Rngs(0))(x),
        lambda n, x, y: nnx.Param(x),
    ],
    ids=["filter", "clone", "optimizer", "module", "variable"],
)
def test_what_flax_does_in_its_own_way_is_refused(program: Any) -> None:
    with pytest.raises(pystage.StagingError, match="PS606.*flax"):
        pystage.compile(program)(NETWORK, X, Y)


def bump(variable: Any, x: Any) -> Any:
    variable[...] = variable[...] + 1.0
    return jnp.sum(x * variable[...])


@pytest.mark.parametrize(
    "program",
    [
        lambda v, x: jax.grad(lambda x: bump(v, x))(x),
        lambda v, x: (bump(v, x), jax.grad(lambda x: bump(v, x))(x)),
        lambda v, x: jax.vmap(lambda x: bump(v, x))(x),
        lambda v, x: jax.lax.cond(x[0, 0] > 0, lambda x: bump(v, x), jnp.sum, x),
    ],
)
def test_a_variable_that_is_changed_in_another_trace_is_refused(program: Any) -> None:
    with pytest.raises(TraceContextError):
        program(nnx.BatchStat(jnp.zeros(())), X)
    with pytest.raises(pystage.StagingError, match="a store into a BatchStat"):
        pystage.compile(program, fallback="error")(nnx.BatchStat(jnp.zeros(())), X)
