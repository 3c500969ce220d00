"""JAX's transformations of functions of the program, made in staged source and outside of it: what JAX gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import check

X = jnp.asarray(np.random.default_rng(0).standard_normal(3), jnp.float32)
Y = jnp.asarray(np.random.default_rng(1).standard_normal(3), jnp.float32)
W = {"w": X, "b": jnp.float32(0.5)}


def loss(weights: Any, x: Any, power: Any = 2) -> Any:
    return jnp.sum((jnp.tanh(weights["w"] * x) + weights["b"]) ** power)


def vector(x: Any, y: Any) -> Any:
    return jnp.sin(x) * jnp.dot(x, y) + y


def with_aux(weights: Any, x: Any) -> Any:
    return loss(weights, x), {"n": 3, "mean": jnp.mean(x), "name": "aux"}


def scalar(x: Any) -> Any:
    return x**3 + jnp.sin(x)


SCALE = 2.0


def scaled(x: Any) -> Any:
    return jnp.sum(x * x) * SCALE


def gradients(weights: Any, x: Any) -> Any:
    by_both = jax.grad(loss, argnums=(0, 1))(weights, x)
    return (
        jax.grad(loss)(weights, x, power=3),
        by_both,
        jax.grad(scalar)(2.0),
        jax.grad(lambda a: a * x[0])(3),
    )


def values_and_gradients(weights: Any, x: Any) -> Any:
    return jax.value_and_grad(loss)(weights, x), jax.value_and_grad(with_aux, has_aux=True)(weights, x)


def named_as_the_compiler_names_its_own(x: Any) -> Any:
    def f(v: Any, ctx: Any = 1.0, engine: Any = 1.0, inner: Any = 1.0) -> Any:
        return jnp.sum(v * v * ctx * engine * inner)

    given = {"ctx": 2.0, "engine": 3.0, "inner": 4.0}
    gradients = jax.grad(f)(x, **given), jax.value_and_grad(f)(x, **given), jax.jacobian(f)(x, **given)
    return gradients, jax.vmap(f)(x, ctx=x, engine=x, inner=x), jax.checkpoint(f)(x, **given)


def of_second_order(weights: Any, x: Any) -> Any:
    slope = lambda w: jax.grad(loss)(w, x)  # noqa: E731
    curved = jax.jvp(slope, (weights,), (weights,))
    return curved, jax.grad(jax.grad(scalar))(x[0]), jax.hessian(lambda v: jnp.sum(scalar(v)))(x)


def jacobians(weights: Any, x: Any) -> Any:
    y = weights["w"]
    found = (
        jax.jacfwd(vector, (0, 1))(x, y),
        jax.jacrev(vector, argnums=1)(x, y),
        jax.jacrev(loss, 1)(weights, x),
        jax.jacobian(loss, 1)(weights, x),
    )
    both = lambda w, x: (loss(w, x), {"x": x + 1.0})  # noqa: E731
    beside = [jac(both, 1, has_aux=True)(weights, x) for jac in (jax.jacfwd, jax.jacrev, jax.hessian)]
    return found, jax.hessian(vector)(x, y), jax.jacfwd(scalar)(x[1]), beside


def directions(weights: Any, x: Any) -> Any:
    value, pull = jax.vjp(vector, x, weights["w"])
    moved = jax.jvp(loss, [weights, x], [weights, x])
    other = jax.vjp(with_aux, weights, x, has_aux=True)
    return value, pull(x), pull(value), moved, other[0], other[1](1.0), other[2]["mean"]


def maps(weights: Any, x: Any) -> Any:
    rows = jnp.outer(x, x)
    each = jax.vmap(lambda row, w: jnp.dot(row, w) * row, in_axes=(0, None))(rows, weights["w"])
    slopes = jax.vmap(jax.grad(loss), in_axes=(None, 0))(weights, rows)
    tree = jax.vmap(
        lambda p, s: {"a": p["w"] * s, "b": 1.0}, in_axes=({"w": 1, "b": None}, None), out_axes=-1
    )
    return each, slopes, tree({"w": rows, "b": 2.0}, 3.0), jax.vmap(scalar)(x)


def kept_little(weights: Any, x: Any) -> Any:
    again = jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))
    stopped = jax.grad(lambda v: jnp.sum(v * jax.lax.stop_gradient(v)))(x)
    return jax.grad(lambda v: jnp.sum(again(v) * v))(x), again(x), stopped


def by_name(weights: Any, x: Any) -> Any:
    gradient = jax.value_and_grad(fun=loss, argnums=0, has_aux=False)
    return gradient(weights, x), jax.vmap(fun=scalar, in_axes=0, out_axes=0)(x)


OUTSIDE = {
    "grad": jax.grad(loss),
    "aux": jax.value_and_grad(with_aux, has_aux=True),
    "vmap": jax.vmap(jax.grad(loss), in_axes=(None, 0)),
    "jacobian": jax.jacfwd(vector),
    "hessian": jax.hessian(vector),
    "checkpoint": jax.checkpoint(scalar),
}


def made_outside(weights: Any, x: Any) -> Any:
    rows = jnp.outer(x, x)
    found = OUTSIDE["grad"](weights, x), OUTSIDE["aux"](weights, x), OUTSIDE["vmap"](weights, rows)
    return found, OUTSIDE["jacobian"](x, x), OUTSIDE["hessian"](x, x), OUTSIDE["checkpoint"](x)


PROGRAMS = [
    gradients, values_and_gradients, jacobians, directions, maps, kept_little, by_name, made_outside,
    named_as_the_compiler_names_its_own,
    of_second_order,
]  # fmt: skip


@pytest.fixture(autouse=True)
def narrow() -> Any:
    with jax.enable_x64(False):
        yield


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_jax(program: Callable[..., Any]) -> None:
    if program is gradients:
        with pytest.raises(TypeError, match="but got int32"):
            program(W, X)
        with pytest.raises(pystage.StagingError, match=r"PS651.*but got int32"):
            pystage.compile(program)(W, X)
        return
    check(program, W, X, tolerance=1e-5, interpreted=False)


def test_gradients_of_ndarrays_and_numbers() -> None:
    def program(x: Any, factor: Any) -> Any:
        return jax.grad(lambda v, f: jnp.sum(v * v) * f, (0, 1))(x, factor), jax.grad(scalar)(factor)

    check(program, np.arange(3.0, dtype=np.float32), 2.0, tolerance=1e-5)


OPTIONS: list[Callable[[Any], Any]] = [
    lambda x: jax.grad(scalar, holomorphic=True)(x[0]),
    lambda x: jax.grad(scalar, allow_int=True)(x[0]),
    lambda x: jax.vmap(scalar, axis_size=3)(x),
    lambda x: jax.vmap(lambda v: 1.0, out_axes=None)(x),
    lambda x: jax.jacfwd(scalar, holomorphic=True)(x),
    lambda x: jax.jvp(with_aux, (x,), (x,), has_aux=True),
    lambda x: jax.jacfwd(lambda w: w["w"])({"w": x}),
    lambda x: jax.jacfwd(lambda v: jnp.argsort(v))(x),
]


@pytest.mark.parametrize("program", OPTIONS)
def test_options_that_are_refused(program: Callable[..., Any]) -> None:
    with pytest.raises(pystage.StagingError, match="PS606"):
        pystage.compile(program)(X)


MISUSE: list[Callable[[Any], Any]] = [
    lambda x: jax.jvp(scalar, (x,), (x[:2],)),
    lambda x: jax.vjp(vector, x, x)[1](x[:2]),
]


@pytest.mark.parametrize("program", MISUSE)
def test_what_jax_refuses(program: Callable[..., Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        program(X)
    with pytest.raises(pystage.StagingError, match="PS651"):
        pystage.compile(program)(X)


def test_what_was_made_outside_sees_the_world_change(monkeypatch: Any) -> None:
    slope = jax.grad(scaled)
    program = pystage.compile(lambda x: slope(x))
    np.testing.assert_allclose(program(X), 4 * X, rtol=1e-6)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    np.testing.assert_allclose(program(X), 6 * X, rtol=1e-6)


def test_what_jax_makes_otherwise_is_refused() -> None:
    made = jnp.vectorize(scaled)
    with pytest.raises(pystage.StagingError, match=r"PS601.*JAX has made it"):
        pystage.compile(lambda x: made(x))(X)
