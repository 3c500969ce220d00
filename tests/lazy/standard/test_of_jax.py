"""Functions of `jax.nn` and `jax.lax` on lazy tensors: recorded, with JAX's results and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage import lazy

X = np.sin(np.arange(4 * 64 * 64 * 3, dtype=np.float32)).reshape(4, 64, 64, 3)
KERNEL = np.cos(np.arange(3 * 3 * 3 * 2, dtype=np.float32)).reshape(3, 3, 3, 2)
NHWC = ("NHWC", "HWIO", "NHWC")

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "relu": lambda nn, lax, x: nn.relu(x),
    "gelu": lambda nn, lax, x: nn.gelu(x, approximate=False),
    "softmax": lambda nn, lax, x: nn.softmax(x, axis=1),
    "log_softmax": lambda nn, lax, x: nn.log_softmax(x),
    "silu": lambda nn, lax, x: nn.silu(x * 2) + nn.sigmoid(x),
    "convolution": lambda nn, lax, x: lax.conv_general_dilated(
        x, KERNEL, (2, 1), "SAME", dimension_numbers=NHWC
    ),
    "pooling": lambda nn, lax, x: lax.reduce_window(
        x, -np.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
    ),
    "top_k": lambda nn, lax, x: lax.top_k(x, 2),
    "rsqrt": lambda nn, lax, x: lax.rsqrt(x * x + 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_recorded_with_the_results_of_jax(name: str) -> None:
    lazy.reset_metrics()
    found = CALLS[name](lazy.nn, lazy.lax, lazy.asarray(X))
    counted = lazy.metrics()
    assert counted.barriers == counted.unlowered == 0
    wanted = CALLS[name](jax.nn, jax.lax, jnp.asarray(X))
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert type(ours) is lazy.LazyTensor and ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-5, atol=1e-6)


def test_gradients_are_those_of_jax() -> None:
    def loss(namespaces: Any, kernel: Any) -> Any:
        nn, lax, np_ = namespaces
        y = lax.conv_general_dilated(X, kernel, (1, 1), "VALID", dimension_numbers=NHWC)
        return np_.mean(nn.log_softmax(nn.relu(y)) ** 2)

    found = pystage.grad(lambda k: loss((lazy.nn, lazy.lax, np), k))(lazy.asarray(KERNEL))
    wanted = jax.grad(lambda k: loss((jax.nn, jax.lax, jnp), k))(jnp.asarray(KERNEL))
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-4, atol=1e-6)


def test_types_are_not_narrowed() -> None:
    assert lazy.nn.relu(lazy.asarray([1.0, -1.0])).dtype == np.float64


def test_names_are_those_of_jax() -> None:
    with pytest.raises(AttributeError, match=r"jax\.nn"):
        lazy.nn.no_such_function  # noqa: B018
    assert lazy.lax.conv_general_dilated.__name__ == "conv_general_dilated"
    assert lazy.nn.initializers is jax.nn.initializers
    assert "softmax" in dir(lazy.nn)


def test_arrays_of_jax_are_operands() -> None:
    """By NumPy's rules of types, as an ndarray beside a tensor; where the tensor stands for an ndarray, by JAX's."""
    x = lazy.asarray(X.astype(np.float64))
    y = jnp.asarray(X)
    lazy.reset_metrics()
    made = [x + y, x @ jnp.ones((3, 3)), np.concatenate([x, y]), np.where(x > 0, x, y), x[jnp.arange(2)]]
    assert {type(each) for each in made} == {lazy.LazyTensor} and lazy.metrics().unlowered == 0
    plain, twice = X.astype(np.float64), np.asarray(y)
    wanted = [plain + twice, plain @ np.ones((3, 3), np.float32), np.concatenate([plain, twice])]
    wanted += [np.where(plain > 0, plain, twice), plain[np.arange(2)]]
    for ours, theirs in zip(made, wanted, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12)
    x += y
    assert np.array_equal(x, plain + twice) and np.array_equal(y, X)  # JAX's array is not overwritten

    def beside(a: Any) -> Any:
        eval("0")
        return a * y

    staged = pystage.compile(beside, fallback="lazy")
    with pytest.warns(pystage.FallbackWarning):
        result = staged(X)
    assert isinstance(result, jax.Array) and result.dtype == beside(X).dtype
    assert jax.jit(lambda z: x + z)(y).shape == X.shape  # a tracer decides itself
