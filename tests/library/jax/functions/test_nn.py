"""`jax.nn`: each meaning against the function that it stands for."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from library.harness import Known, check_call

X = jnp.asarray([[0.5, -1.5, 2.0, 7.0], [-0.25, 3.0, 0.0, -8.0]], jnp.float32)
OPERANDS = {
    "f32": X,
    "f16": X.astype(jnp.float16),
    "bf16": X.astype(jnp.bfloat16),
    "i32": jnp.asarray([[3, -1, 0, 9]], jnp.int32),
    "bool": X > 0,
    "ndarray": np.asarray(X, np.float64),
    "float": 0.75,
    "int": 3,
    "weak": None,  # made under the flag of the test
}

ACTIVATIONS = [
    "identity",
    "relu",
    "relu6",
    "sigmoid",
    "softplus",
    "squareplus",
    "soft_sign",
    "silu",
    "swish",
    "mish",
    "log_sigmoid",
    "elu",
    "selu",
    "celu",
    "leaky_relu",
    "hard_tanh",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "gelu",
    "tanh",
    "sparse_plus",
    "sparse_sigmoid",
]


def operand(kind):
    return lax.full((2, 4), 0.5) if kind == "weak" else OPERANDS[kind]


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    with jax.enable_x64(request.param):
        yield request.param


@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name, kind, x64):
    check_call(getattr(jax.nn, name), operand(kind))


@pytest.mark.parametrize("kind", ["f32", "i32", "ndarray"])
def test_parameters_of_activations(kind, x64):
    x = OPERANDS[kind]
    for function in (jax.nn.elu, jax.nn.celu, jax.nn.leaky_relu, jax.nn.squareplus):
        check_call(function, x, 0.5)
        check_call(function, x, jnp.float32(2))
    check_call(jax.nn.gelu, x, approximate=Known(False))
    check_call(jax.nn.glu, x)
    check_call(jax.nn.glu, x, Known(-1))


def test_glu_refuses_an_odd_axis():
    with pytest.raises(AssertionError):
        jax.nn.glu(X[:, :3])
    check_call(jax.nn.glu, X[:, :3])


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "i32", "ndarray", "float", "weak"])
@pytest.mark.parametrize("axis", [-1, 0, None, (0, 1), 5])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_along_axes(name, axis, kind, x64):
    check_call(getattr(jax.nn, name), operand(kind), Known(axis))


def test_options_along_axes():
    check_call(jax.nn.softmax, X, where=X > 0)
    check_call(jax.nn.log_softmax, X, where=X > 0)
    check_call(jax.nn.logsumexp, X, Known(1), keepdims=Known(True))
    check_call(jax.nn.logsumexp, X, Known(1), b=X)
    check_call(jax.nn.logsumexp, X, Known(1), return_sign=Known(True))
    check_call(jax.scipy.special.logsumexp, X, Known(0))
    check_call(jax.nn.logsumexp, X.at[0].set(-jnp.inf), Known(1))


@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
def test_one_hot(axis, x64):
    check_call(jax.nn.one_hot, jnp.asarray([2, 0, 7]), Known(3), axis=Known(axis))
    check_call(jax.nn.one_hot, np.asarray([[2], [0]]), Known(3), dtype=Known(jnp.int8), axis=Known(axis))
    check_call(jax.nn.one_hot, 1, Known(3))


@pytest.mark.parametrize("algorithm", ["fast", "stable"])
def test_standardize(algorithm):
    check_call(jax.nn.standardize, X, algorithm=Known(algorithm))
    check_call(jax.nn.standardize, X, Known(0), mean=jnp.float32(0.5), epsilon=Known(1e-3))
