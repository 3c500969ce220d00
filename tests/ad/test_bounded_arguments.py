"""Derivatives by arrays whose size only the run knows."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

import pystage

cases = Cases()
X = np.random.default_rng(0).standard_normal((5, 2))
ENDS = np.array([3])


@cases.each((X, ENDS), (X, np.array([0])))
def by_two_arrays(x, ends):
    y = x[:, 1]
    return pystage.grad(lambda x, y: np.sum(np.tanh(x[:, 0]) * y), argnums=(0, 1))(x[: ends[0]], y[: ends[0]])


@cases.each((X,))
def by_what_a_mask_selects(x):
    value, slope = pystage.value_and_grad(lambda q: np.sum(q**2) / len(q))(x[x > 0])
    return value, slope, slope.sum()


@cases.each((X, ENDS))
def in_a_loop(x, ends):
    part = x[: ends[0]]
    for _ in range(3):
        part = part - 0.1 * pystage.grad(lambda q: np.mean((q - 1.0) ** 2))(part)
    return part


@cases.each((X, ENDS))
def in_a_structure(x, ends):
    return pystage.grad(lambda parts: np.sum(parts["a"] ** 2) * parts["b"])({"a": x[: ends[0]], "b": 2.0})


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **{"tolerance": 1e-9, **options})


def test_arrays_of_jax() -> None:
    def program(x: Any, ends: Any) -> Any:
        return pystage.grad(lambda q: jnp.sum(jnp.sin(q)))(x[: ends[0]])

    x = jnp.asarray(X, jnp.float32)
    found = pystage.compile(program, fallback="error")(x, ENDS)
    assert isinstance(found, jax.Array)
    np.testing.assert_allclose(found, np.cos(X[:3]), rtol=1e-5)


def stores(q: Any) -> Any:
    q[0] = 1.0
    return np.sum(q**2)


@pytest.mark.parametrize(
    "program, code",
    [
        (lambda x, ends: pystage.grad(stores)(x[: ends[0]]), "PS501"),
        (lambda x, ends: pystage.jvp(np.sum, (x[: ends[0]],), (x[: ends[0]],)), "PS606"),
        (lambda x, ends: pystage.jvp(lambda q: q[: ends[0]] * 2, (x,), (x,)), "PS606"),
        (lambda x, ends: pystage.jacobian(lambda q: q * 2)(x[: ends[0], 0]), "PS606"),
    ],
)
def test_what_is_refused(program: Any, code: str) -> None:
    with pytest.raises(pystage.StagingError) as caught:
        pystage.compile(program, fallback="error")(X.copy(), ENDS)
    assert caught.value.diagnostics[0].code == code
