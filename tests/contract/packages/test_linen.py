"""Modules of Flax Linen in staged source, of the program and of the library: the real package, plain and staged."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pystage
import pytest
from checking import check
from flax import errors
from flax import linen as nn
from flax.training.train_state import TrainState
from test_no_trace import watching

X = jnp.asarray(np.random.default_rng(0).standard_normal((5, 3)), jnp.float32)
Y = jnp.asarray(np.random.default_rng(1).standard_normal((5, 1)), jnp.float32)
IMAGES = jnp.asarray(np.random.default_rng(2).standard_normal((2, 6, 6, 1)), jnp.float32)
WORDS = jnp.asarray([[1, 2, 3], [4, 5, 6]])
KEY = np.asarray([0, 7], np.uint32)


@pytest.fixture(autouse=True)
def narrow() -> Any:
    with jax.enable_x64(False):
        yield


def same(program: Callable[..., Any], *args: Any, **options: Any) -> None:
    check(program, *args, tolerance=1e-4, interpreted=False, **options)


class Layers(nn.Module):
    """Parts made where they are called, named in their order."""

    features: Sequence[int]

    @nn.compact
    def __call__(self, x: Any) -> Any:
        for i, n in enumerate(self.features):
            x = nn.Dense(n)(x)
            if i + 1 < len(self.features):
                x = nn.relu(x)
        return x


class Declared(nn.Module):
    """Parts and a parameter made in `setup`, in lists and dicts; methods beside `__call__`."""

    hidden: int = 4

    def setup(self) -> None:
        self.first = nn.Dense(self.hidden)
        self.rest = [nn.Dense(self.hidden), Layers((3, 1))]
        self.named = {"a": nn.Dense(self.hidden)}
        self.scale = self.param("scale", nn.initializers.ones, (self.hidden,))

    def encode(self, x: Any) -> Any:
        return jnp.tanh(self.named["a"](self.first(x))) * self.scale

    def __call__(self, x: Any) -> Any:
        h = self.encode(x)
        for layer in self.rest:
            h = layer(h)
        return h


class Block(nn.Module):
    """Statistics, dropout, an own initialiser, a count, what is kept on the way."""

    n: int
    train: bool = True

    @nn.compact
    def __call__(self, x: Any) -> Any:
        h = nn.Dense(self.n, name="lin")(x)
        h = nn.BatchNorm(use_running_average=not self.train)(h)
        h = nn.Dropout(0.5, deterministic=not self.train)(h)
        bias = self.param("own", lambda key, shape: jax.random.normal(key, shape), (self.n,))
        count = self.variable("stats", "count", lambda: jnp.zeros(()))
        if not self.is_initializing():
            count.value += 1
        self.sow("intermediates", "h", h)
        return x + h + bias if x.shape == h.shape else h + bias


class Network(nn.Module):
    """Blocks twice, and the library's `Sequential` of modules and functions."""

    train: bool = True

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = Block(3, self.train)(Block(3, self.train)(x))
        x = nn.Sequential([nn.Dense(2), nn.relu])(x)
        x = nn.Sequential([Block(2, self.train), jnp.tanh, nn.Dropout(0.1, deterministic=not self.train)])(x)
        return Layers((2, 1))(x)


class Shared(nn.Module):
    """A part that is given, called twice."""

    inner: nn.Module

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return self.inner(self.inner(x)) + nn.Dense(3)(x)


class Convolutions(nn.Module):
    """A small network for images."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.relu(nn.Conv(features=4, kernel_size=(3, 3))(x))
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        return nn.Dense(3)(nn.LayerNorm()(x.reshape((x.shape[0], -1))))


class Attention(nn.Module):
    """Attention over words, the embedding used both ways."""

    def setup(self) -> None:
        self.att = nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=4)
        self.embed = nn.Embed(7, 4)

    def __call__(self, words: Any) -> Any:
        h = self.embed(words)
        return self.embed.attend(h + self.att(h, h, mask=nn.make_causal_mask(words)))


class Recurrent(nn.Module):
    """The library's recurrent network; its cell is a part of this module."""

    @nn.compact
    def __call__(self, xs: Any) -> Any:
        return nn.RNN(nn.LSTMCell(4))(xs[None])


class Cell(nn.Module):
    """A cell of the program."""

    n: int

    @nn.compact
    def __call__(self, h: Any, x: Any) -> Any:
        return jnp.tanh(nn.Dense(self.n, use_bias=False)(x) + nn.Dense(self.n)(h))


class Steps(nn.Module):
    """A loop over the rows of an array, through one part."""

    n: int = 3

    def setup(self) -> None:
        self.cell = Cell(self.n)

    def __call__(self, xs: Any) -> Any:
        h = jnp.zeros((self.n,))
        for x in xs:
            h = self.cell(h, x)
        return h


class Base(nn.Module):
    """A property, and a method that a class overrides."""

    n: int = 2

    @property
    def twice(self) -> int:
        return 2 * self.n

    def act(self, x: Any) -> Any:
        return nn.relu(x)

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return self.act(nn.Dense(self.twice)(x))


class Derived(Base):
    """Overrides it."""

    extra: float = 0.5

    def act(self, x: Any) -> Any:
        return super().act(x) + self.extra


class Doubled(nn.Dense):
    """A layer of the library, changed."""

    def __call__(self, x: Any) -> Any:
        return super().__call__(x) * 2


class OwnStart(nn.Module):
    """A layer of the library with an initialiser of the program."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.Dense(2, kernel_init=lambda key, shape, dtype: jax.random.uniform(key, shape, dtype))(x)


def dense(x: Any, n: int) -> Any:
    """Makes a part of the module that calls it."""
    return nn.Dense(n)(x)


class Helped(nn.Module):
    """Parts made by a function."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return dense(dense(x, 4), 2)


class Residual(nn.Module):
    """A part with parts."""

    features: int

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return x + nn.Dense(self.features)(nn.relu(nn.LayerNorm()(x)))


class Counted(nn.Module):
    """Parts made in loops that do not use their variable, and named in their order."""

    layers: int = 2

    def setup(self) -> None:
        self.blocks = [Residual(3) for _ in range(self.layers)]

    @nn.compact
    def __call__(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        for _ in range(self.layers):
            x = Residual(3)(x)
        for layer in [nn.Dense(3) for _ in range(self.layers)]:
            x = layer(x)
        return x


MODULES = [
    (Layers((4, 1)), X), (Declared(), X), (Network(), X), (Shared(nn.Dense(3)), X), (Shared(Layers((4, 3))), X),
    (Convolutions(), IMAGES), (Attention(), WORDS), (Recurrent(), X), (Steps(), X), (Base(), X), (Derived(3), X),
    (Doubled(2), X), (OwnStart(), X), (Helped(), X), (Counted(), X), (nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(1)]), X),
]  # fmt: skip
IDS = [type(module).__name__ for module, _ in MODULES]
RNGS = {"params": KEY, "dropout": KEY + 1}


@functools.cache
def variables_at(position: int) -> Any:
    module, x = MODULES[position]
    with jax.enable_x64(False):
        return module.init(RNGS, x)


def variables_of(cls: type) -> Any:
    return variables_at([type(module) for module, _ in MODULES].index(cls))


@pytest.mark.parametrize(("module", "x"), MODULES, ids=IDS)
def test_init(module: Any, x: Any) -> None:
    same(lambda key, x: module.init({"params": key, "dropout": key}, x), KEY, x)


@pytest.mark.parametrize("position", range(len(MODULES)), ids=IDS)
def test_apply(position: int) -> None:
    module, x = MODULES[position]

    def program(variables: Any, x: Any, key: Any) -> Any:
        changing = ["batch_stats", "stats", "intermediates"]
        return module.apply(variables, x, rngs={"dropout": key}, mutable=changing)

    same(program, variables_at(position), x, KEY)


def test_other_methods_and_modules_made_in_the_program() -> None:
    module = Declared()

    def program(variables: Any, x: Any) -> Any:
        return (
            module.apply(variables, x, method="encode"),
            module.apply(variables, x, method=Declared.encode),
            module.apply(variables, x, method=module.encode),
            module.apply(variables, x, method=lambda m, x: m.encode(x) * 2),
            Declared(hidden=4).apply(variables, x, capture_intermediates=True),
            Declared().init_with_output(jax.random.key(3), x),
        )

    same(program, variables_of(Declared), X)


def test_evaluation_leaves_statistics() -> None:
    same(lambda v, x: Network(train=False).apply(v, x, mutable=["stats"]), variables_of(Network), X)


class Repeated(nn.Module):
    """A loop whose length depends on data, and a branch that does, through parts."""

    def setup(self) -> None:
        self.step = Layers((3, 3))
        self.other = Declared(3)

    def __call__(self, x: Any) -> Any:
        n = 0
        while jnp.sum(x * x) > 0.01 and n < 20:
            x = 0.5 * jnp.tanh(self.step(x))
            n += 1
        if jnp.sum(x) > 0:
            y = self.other(x)
        else:
            y = self.other(self.step(x))
        return self.other(x) + y, n


def test_control_flow_by_data_and_its_gradient() -> None:
    module = Repeated()
    step, other = Layers((3, 3)).init(KEY, X)["params"], Declared(3).init(KEY, X)["params"]
    variables = {"params": {"step": step, "other": other}}
    same(module.apply, variables, X)
    same(module.apply, variables, -X)

    def value(variables: Any, x: Any) -> Any:
        return jnp.sum(module.apply(variables, x)[0])

    with jax.enable_x64(True):
        wide, x = jax.tree.map(lambda leaf: leaf.astype(float), (variables, X))
        found = jax.tree.leaves(pystage.grad(value)(wide, x))
        along = jax.tree.map(lambda leaf: jnp.sin(1.0 + jnp.arange(leaf.size).reshape(leaf.shape)), wide)
        moved = [value(jax.tree.map(lambda a, d, h=h: a + h * d, wide, along), x) for h in (1e-5, -1e-5)]
        slope = sum(jnp.sum(a * b) for a, b in zip(found, jax.tree.leaves(along), strict=True))
        np.testing.assert_allclose(slope, (moved[0] - moved[1]) / 2e-5, rtol=1e-5)


MLP = Layers((4, 1))


def loss(variables: Any, x: Any, y: Any) -> Any:
    return jnp.mean((MLP.apply(variables, x) - y) ** 2)


def test_gradients() -> None:
    variables, wanted = variables_of(Layers), jax.grad(loss)(variables_of(Layers), X, Y)
    same(lambda v, x, y: jax.value_and_grad(loss)(v, x, y), variables, X, Y)
    for found in (pystage.grad(loss)(variables, X, Y), jax.grad(pystage.compile(loss))(variables, X, Y)):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), found, wanted)


SGD = optax.chain(
    optax.clip_by_global_norm(1.0), optax.sgd(optax.warmup_cosine_decay_schedule(0.0, 0.1, 2, 10))
)
ADAM = optax.adam(optax.cosine_decay_schedule(0.1, 10))


def trained(key: Any, x: Any, y: Any) -> Any:
    """Init, two steps with statistics and dropout, a schedule."""
    network = Network()
    variables = network.init({"params": key, "dropout": key}, x)
    params, rest = variables["params"], {k: v for k, v in variables.items() if k != "params"}
    state = SGD.init(params)
    for i in range(2):

        def own_loss(params: Any, rest: Any, i: Any = i) -> Any:
            noise = {"dropout": jax.random.fold_in(key, i)}
            out, new = network.apply(
                {"params": params, **rest}, x, rngs=noise, mutable=["batch_stats", "stats"]
            )
            return jnp.mean((out - y) ** 2), new

        (value, rest), slopes = jax.value_and_grad(own_loss, has_aux=True)(params, rest)
        updates, state = SGD.update(slopes, state, params)
        params = optax.apply_updates(params, updates)
    return params, rest, value


def fitted(key: Any, x: Any, y: Any) -> Any:
    """Flax's own `TrainState`."""
    state = TrainState.create(apply_fn=MLP.apply, params=MLP.init(key, x)["params"], tx=ADAM)
    for _ in range(5):

        def own_loss(params: Any, state: Any = state) -> Any:
            return jnp.mean((state.apply_fn({"params": params}, x) - y) ** 2)

        value, slopes = jax.value_and_grad(own_loss)(state.params)
        state = state.apply_gradients(grads=slopes)
    return state.params, state.step, value


@pytest.mark.parametrize("program", [trained, fitted])
def test_a_whole_training(program: Any) -> None:
    same(program, KEY, X, Y)


def test_no_code_of_the_program_runs() -> None:
    staged = pystage.compile(lambda key, x, y: (trained(key, x, y), MLP.apply(MLP.init(key, x), x)))
    with watching({__name__}) as entered:
        staged.lower(KEY, X, Y)
    assert not entered


class Wrong(nn.Module):
    """What Flax refuses."""

    how: str

    def setup(self) -> None:
        if self.how == "name":
            self.param("w", nn.initializers.ones, (2,))

    @nn.compact
    def __call__(self, x: Any) -> Any:
        if self.how in ("name", "twice"):
            self.param("w", nn.initializers.ones, (2,))
        if self.how == "twice":
            nn.Dense(2, name="w")
        if self.how == "attribute":
            self.other = 3
        if self.how == "variable":
            self.variable("stats", "count")
        if self.how == "immutable":
            self.put_variable("params", "w", x)
        return self.missing if self.how == "missing" else self.make_rng("noise")


RAISED = {
    "name": errors.NameInUseError,
    "twice": errors.NameInUseError,
    "attribute": errors.SetAttributeFrozenModuleError,
    "variable": errors.ScopeCollectionNotFound,
    "immutable": errors.ModifyScopeVariableError,
    "missing": AttributeError,
    "key": errors.InvalidRngError,
}


@pytest.mark.parametrize("how", RAISED)
def test_what_flax_raises(how: str) -> None:
    raises = RAISED[how]
    same(lambda x: Wrong(how).apply({"params": {"w": jnp.ones(2)}}, x), X, raises=raises)


class Own(nn.Module):
    """A parameter of the shape of its input."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return x * self.param("w", nn.initializers.ones, (x.shape[1],))


def test_a_parameter_of_another_shape() -> None:
    same(lambda x: Own().apply({"params": {"w": jnp.ones(2)}}, x), X, raises=errors.ScopeParamShapeError)
    same(lambda x: Own().apply({"params": {}}, x), X, raises=errors.ScopeCollectionNotFound)
    same(lambda x: Own()(x), X, raises=errors.CallCompactUnboundModuleError)


def test_what_takes_modules_apart_is_refused() -> None:
    with pytest.raises(pystage.StagingError, match="PS606.*flax.linen.remat"):
        pystage.compile(lambda v, x: nn.remat(Layers)((4, 1)).apply(v, x))(variables_of(Layers), X)
    plain = pystage.compile(lambda v, x: MLP.apply(v, x))
    plain(variables_of(Layers), X)
    with pytest.raises(pystage.StagingError, match="PS606.*intercept_methods"):
        with nn.intercept_methods(lambda f, args, kwargs, context: f(*args, **kwargs)):
            plain(variables_of(Layers), X)
    plain(variables_of(Layers), X)
