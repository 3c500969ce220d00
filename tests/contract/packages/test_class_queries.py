"""What code of libraries asks of a value's class: the answers of the plain run, for values of every kind."""

from __future__ import annotations

import collections.abc
import dataclasses
import numbers
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
from checking import check


def asked(v: Any) -> Any:
    """The answers about one value."""
    return (
        (eqx.is_array(v), eqx.is_array_like(v), eqx.is_inexact_array(v), eqx.is_inexact_array_like(v)),
        (isinstance(v, jax.Array), isinstance(v, jax.core.Tracer), isinstance(v, jax.typing.ArrayLike)),
        (isinstance(v, np.ndarray), isinstance(v, np.generic), isinstance(v, np.number)),
        (isinstance(v, numbers.Number), isinstance(v, numbers.Real), isinstance(v, numbers.Integral)),
        (isinstance(v, int), isinstance(v, float), isinstance(v, bool), isinstance(v, complex)),
        (isinstance(v, collections.abc.Sized), isinstance(v, collections.abc.Hashable), callable(v)),
        (type(v) is float, type(v) is int, type(v) in (np.float64, np.ndarray), type(v).__name__),
        (jnp.isscalar(v), np.isscalar(v), np.iterable(v), np.iscomplexobj(v), np.isrealobj(v)),
        (hasattr(v, "shape"), hasattr(v, "__array__"), hasattr(v, "__jax_array__"), hasattr(v, "__call__")),
        (hasattr(v, "__float__"), hasattr(v, "mro"), getattr(v, "shape", None)),
        (jax.tree_util.all_leaves([v]), len(jax.tree.leaves([v, v]))),
        (eqx.filter([v], eqx.is_array)[0] is None, eqx.partition([v], eqx.is_inexact_array)[1][0] is None),
    )


def asked_of_numbers(v: Any) -> Any:
    """The answers that only a number or an array has."""
    return (
        (np.ndim(v), jnp.ndim(v), np.shape(v), jnp.shape(v), np.size(v), str(jnp.result_type(v))),
        (str(jax.typeof(v)), jnp.iscomplexobj(v), jax.dtypes.scalar_type_of(v)),
        jax.eval_shape(lambda a: a, v).shape,
    )


NUMBERS = (
    *(True, 3, 0.5, 1j, np.True_, np.int8(2), np.float32(1.5), np.float64(1.5), np.complex64(1)),
    *(np.array(1.5), np.ones(3), np.arange(3), np.ones((2, 3), np.float32), np.ones(2, ml_dtypes.bfloat16)),
    *(ml_dtypes.bfloat16(1), jnp.ones(3), jnp.arange(3), jnp.asarray(0.5), jnp.ones(2, jnp.bfloat16)),
)
OTHERS = (jax.random.key(0), jax.random.split(jax.random.key(0)), "abc", np.sin, np.dtype("float32"))


@dataclasses.dataclass
class Held:
    """An attribute of any kind."""

    value: Any


def of_arguments(values: Any) -> Any:
    return [asked(v) for v in values]


def of_numbers(values: Any) -> Any:
    return [asked_of_numbers(v) for v in values]


def of_attributes(held: Any) -> Any:
    return [asked(h.value) for h in held]


def of_computed(x: Any, y: Any, n: int, s: float) -> Any:
    """Of numbers that the program computes, and that paths leave."""
    if n > 2:
        m, t, u = n, s, x
    else:
        m, t, u = n * 2, s + 1, x * 2
    values = [n + 1, s * 2, n > 1, s * 1j, x.sum(), x * 2, y * 2, y.sum(), float(x[0]), int(n), m, t, u]
    return [(asked(v), asked_of_numbers(v)) for v in values]


def of_constants() -> Any:
    values = [True, 3, 0.5, 1j, np.float32(1.5), np.ones(3), jnp.ones(3), None, "abc", (1, 2.0)]
    return [asked(v) for v in values]


def test_arguments() -> None:
    with jax.enable_x64(False):
        check(of_arguments, [*NUMBERS, *OTHERS[2:]], interpreted=False)
        check(of_numbers, list(NUMBERS), interpreted=False)


def test_attributes() -> None:
    with jax.enable_x64(False):
        check(of_attributes, [Held(v) for v in NUMBERS], interpreted=False)


def test_computed() -> None:
    with jax.enable_x64(False):
        check(of_computed, np.ones(3), jnp.ones(3), 3, 0.5, interpreted=False)


def test_constants() -> None:
    with jax.enable_x64(False):
        check(of_constants, interpreted=False)


def of_keys(one: Any, several: Any) -> Any:
    return [
        (np.ndim(k), np.shape(k), jnp.size(k), type(k).__name__, hasattr(k, "__float__"), eqx.is_array(k))
        for k in (one, several)
    ]


def test_typed_keys_are_no_numbers() -> None:
    check(of_keys, *OTHERS[:2], interpreted=False)


class Scaled(eqx.Module):
    """An array, and a number that is none."""

    weight: Any
    scale: float
    dropout: Any

    def __call__(self, x: Any, key: Any) -> Any:
        return jnp.sum(self.dropout(self.weight * self.scale * x, key=key))


def trained(module: Any, x: Any, key: Any) -> Any:
    """A step that changes arrays alone, and what doubles them."""
    loss, slopes = eqx.filter_value_and_grad(lambda m: m(x, key))(module)
    optimiser = optax.adam(1e-2)
    state = optimiser.init(eqx.filter(module, eqx.is_inexact_array))
    updates, state = optimiser.update(slopes, state, module)
    doubled = jax.tree.map(lambda v: v * 2 if eqx.is_array(v) else v, module)
    return loss, eqx.apply_updates(module, updates), doubled


def test_numbers_of_a_module_are_not_trained() -> None:
    module = Scaled(jnp.ones(3), 0.5, eqx.nn.Dropout(0.5))
    with jax.enable_x64(False):
        check(trained, module, jnp.ones(3), jax.random.key(0), tolerance=1e-5, interpreted=False)


def layers(attention: Any, dropout: Any, x: Any) -> Any:
    return attention(x, x, x), dropout(x), dropout.p


def test_layers_without_a_key() -> None:
    attention = eqx.nn.MultiheadAttention(2, 4, key=jax.random.key(0))
    with jax.enable_x64(False):
        check(layers, attention, eqx.nn.Dropout(0.0), jnp.ones((5, 4)), tolerance=1e-5, interpreted=False)


def losses(x: Any, y: Any) -> Any:
    """Of ndarrays some functions give ndarrays, some arrays of JAX's; of numbers numbers."""
    mean = optax.incremental_update({"x": x, "s": 2.0}, {"x": y, "s": 1.0}, 0.1)
    return optax.l2_loss(x, y), optax.squared_error(x, y), optax.squared_error(1.0, float(y[0])), mean


def test_numbers_and_ndarrays_given_to_a_package() -> None:
    with jax.enable_x64(False):
        check(losses, np.ones(3), np.zeros(3), interpreted=False)


def on_the_host(x: Any, y: Any, n: float) -> Any:
    tree = jax.device_get({"x": x, "n": [n, np.float32(n)], "y": y})
    waited = jax.block_until_ready([n, y, x])
    return tree["x"] * np.float64(2), tree, waited, tree["y"] is y


def test_arrays_on_the_host() -> None:
    with jax.enable_x64(False):
        check(on_the_host, jnp.ones(3), np.ones(3), 2.5, interpreted=False)
