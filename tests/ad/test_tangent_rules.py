"""Forward mode through `jax.custom_jvp` functions of the program: by their rule for tangents, as JAX."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage

from .test_custom import steep

X, Y = np.array([0.3, -1.2, 0.7]), np.array([2.0, 0.5, -1.0])


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def pair(scale: Any, x: Any) -> Any:
    return {"a": x * scale, "b": jnp.sum(x)}


@pair.defjvp
def _(scale: Any, primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return {"a": x * scale, "b": jnp.sum(x)}, {"a": dx * 3.0, "b": jnp.sum(dx * x)}


def looped(x: Any, y: Any) -> Any:
    for _ in range(2):
        x = steep(x, y)
    return jnp.sum(x * y)


def branched(x: Any, y: Any) -> Any:
    if x[0] > 0:
        found = pair(2.0, steep(x, y))
        x = found["a"] * found["b"]
    while jnp.sum(x * x) < 50.0:
        x = steep(x, y) + x * 1.5
    return jnp.sum(x)


@pytest.fixture(autouse=True)
def wide() -> Any:
    with jax.enable_x64(True):
        yield


def same(ours: Any, theirs: Any) -> None:
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-9), ours, theirs)


@pytest.mark.parametrize("program", [looped, branched])
def test_tangents(program: Any) -> None:
    args, tangents = (jnp.asarray(X), jnp.asarray(Y)), (jnp.cos(X), jnp.sin(Y))
    wanted = jax.jvp(program, args, tangents)
    same(pystage.jvp(program, args, tangents), wanted)
    same(pystage.compile(lambda *given: jax.jvp(program, given[:2], given[2:]))(*args, *tangents), wanted)
    same(jax.jvp(pystage.compile(program), args, tangents), wanted)


def test_by_one_argument_of_second_order_and_mapped() -> None:
    x, y = jnp.asarray(X), jnp.asarray(Y)
    same(pystage.jvp(lambda x: looped(x, y), (x,), (y,)), jax.jvp(lambda x: looped(x, y), (x,), (y,)))
    same(pystage.hessian(looped)(x, y), jax.hessian(looped)(x, y))
    rows = jnp.stack([x, y])

    def many(vmap: Any, jvp: Any) -> Any:
        return vmap(lambda x, dx: jvp(looped, (x, y), (dx, y))[1])(rows, rows * 2)

    same(many(pystage.vmap, pystage.jvp), many(jax.vmap, jax.jvp))


def test_rules_for_reverse_mode_have_none() -> None:
    double = pystage.custom_vjp(lambda x: x * 2.0)
    double.defvjp(lambda x: (x * 2.0, None), lambda kept, ct: (ct * 3.0,))
    with pytest.raises(pystage.StagingError, match="PS705"):
        pystage.jvp(lambda x: jnp.sum(double(x)), (jnp.asarray(X),), (jnp.asarray(Y),))
