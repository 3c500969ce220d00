"""Compiled functions inside JAX's own transformations: JAX's rules hold there."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage

SCALE = 2.0
TABLE = np.arange(3.0)


@pystage.compile
def scaled(x: Any) -> Any:
    return {"y": jnp.sin(x) * SCALE, "s": (x.shape, "text")}


@pystage.compile
def summed(x: Any) -> Any:
    total = 0.0
    for row in x:
        total = total + row.sum()
    return total


@pystage.compile
def stores(out: Any, x: Any) -> None:
    out[:] = 1.0


def test_inside_jit_results_are_traced_arrays_in_the_same_structure() -> None:
    @jax.jit
    def outer(x: Any) -> Any:
        inner = scaled(x + 1)
        assert inner["s"] == ((3,), "text")
        return inner["y"] + summed(jnp.ones((2, 2)))

    x = jnp.arange(3.0)
    for _ in range(2):
        np.testing.assert_allclose(outer(x), np.sin(np.arange(3) + 1) * 2 + 4, rtol=1e-6)
    assert outer(x).dtype == jnp.float32


def test_inside_jit_captures_are_read_when_it_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    outer = jax.jit(lambda x: scaled(x)["y"])
    x = jnp.ones(1)
    before = outer(x)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    np.testing.assert_array_equal(outer(x), before)
    np.testing.assert_allclose(jax.jit(lambda x: scaled(x)["y"] + 0)(x), 5 * np.sin(np.ones(1)), rtol=1e-6)


@pytest.mark.parametrize("x64", [False, True])
def test_inside_jit_float64_follows_the_flag(x64: bool) -> None:
    @pystage.compile
    def mixed(x: Any, table: Any, number: Any) -> Any:
        return table * 2, number + 1.5, x * 2

    with jax.enable_x64(x64):
        found = jax.jit(lambda x: mixed(x, TABLE, 1.0))(jnp.ones(2, jnp.float32))
        assert [r.dtype for r in found] == [np.float64 if x64 else np.float32] * 2 + [np.float32]
        np.testing.assert_array_equal(found[0], 2 * TABLE)
        assert found[1] == 2.5


def test_what_is_not_traced_runs_at_once() -> None:
    seen = []

    @jax.jit
    def outer(x: Any) -> Any:
        got = summed(np.ones((2, 2)))
        assert type(got) is np.float64
        seen.append(got)
        return x + got

    assert outer(1.0) == 5.0 and seen == [4.0]


def test_stores_are_refused_under_a_transformation() -> None:
    out = np.zeros(3)
    with pytest.raises(pystage.StagingError, match="PS807") as caught:
        jax.jit(lambda x: stores(out, x))(1.0)
    assert "`stores` changes `out`" in str(caught.value)
    assert not out.any()
    stores(out, 1.0)
    assert out.all()


def grow(x: Any) -> Any:
    """A loop whose length depends on data, with a branch: JAX could not differentiate it in reverse."""
    total = x[0]
    while total < 20.0:
        if total > 5.0:
            total = total * 2.0
        else:
            total = total * 1.5 + jnp.sum(jnp.sin(x)) * 0.1
    return total * x[1]


X = jnp.arange(1.0, 4.0)


def test_derivatives_of_jax_are_those_of_the_program() -> None:
    f = pystage.compile(grow)
    wanted = pystage.grad(grow)(X)
    step = jnp.asarray([1e-2, 0.0, 0.0])
    assert float(wanted[0]) == pytest.approx(float((grow(X + step) - grow(X - step)) / 2e-2), rel=1e-3)
    for found in (
        jax.grad(f)(X),
        jax.jit(jax.grad(f))(X),
        jax.value_and_grad(f)(X)[1],
        jax.grad(jax.checkpoint(f))(X),
        jax.jacfwd(f)(X),
        jax.jacrev(f)(X),
        jax.vmap(jax.grad(f))(jnp.stack([X, X + 1]))[0],
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(jax.jvp(f, (X,), (jnp.ones(3),))[1], wanted.sum(), rtol=1e-5)
    np.testing.assert_allclose(jax.linearize(f, X)[1](jnp.ones(3)), wanted.sum(), rtol=1e-5)


def test_second_derivatives_and_maps_of_jax() -> None:
    def cubes(x: Any) -> Any:
        return jnp.sum(x**3) * x[0]

    f = pystage.compile(cubes)
    np.testing.assert_allclose(jax.hessian(f)(X), jax.hessian(cubes)(X), rtol=1e-5)
    np.testing.assert_allclose(jax.jacrev(jax.grad(f))(X), jax.jacrev(jax.grad(cubes))(X), rtol=1e-5)
    rows = jnp.stack([X, 2 * X, -X])
    np.testing.assert_allclose(jax.vmap(f)(rows), jax.vmap(cubes)(rows), rtol=1e-5)
    np.testing.assert_allclose(jax.vmap(f, in_axes=1)(rows.T), jax.vmap(cubes)(rows), rtol=1e-5)
    scanned = jax.lax.scan(lambda total, row: (total + f(row), total), 0.0, rows)
    np.testing.assert_allclose(scanned[0], sum(cubes(row) for row in rows), rtol=1e-5)


def test_integers_and_what_does_not_vary_have_no_derivative() -> None:
    f = pystage.compile(lambda x, n: (x * n, n + 1))
    assert jax.grad(lambda x: f(x, 3)[0])(2.0) == 3.0
    assert jax.grad(lambda x: f(2.0, 3)[0] + x)(2.0) == 1.0


def test_disable_jit_changes_nothing() -> None:
    with jax.disable_jit():
        assert summed(np.ones((2, 2))) == 4.0
        np.testing.assert_allclose(scaled(jnp.ones(2))["y"], 2 * np.sin(np.ones(2)), rtol=1e-6)


def test_export_of_a_function_that_calls_one() -> None:
    exported = jax.export.export(jax.jit(lambda x: scaled(x)["y"]))(jax.ShapeDtypeStruct((2,), np.float32))
    assert "stablehlo.sine" in exported.mlir_module()
    np.testing.assert_allclose(exported.call(jnp.ones(2)), 2 * np.sin(np.ones(2)), rtol=1e-6)


def test_a_program_called_twice_in_one_module() -> None:
    @pystage.compile
    def twice(x: Any) -> Any:
        def layer(v: Any) -> Any:
            return jnp.tanh(v) + 1

        return layer(layer(x))

    outer = jax.jit(lambda x: twice(x) + twice(x + 1))
    text = outer.lower(jnp.ones(2)).as_text()
    assert text.count("stablehlo.tanh") in (2, 4)
    np.testing.assert_allclose(outer(jnp.ones(2)), twice(jnp.ones(2)) + twice(jnp.ones(2) + 1), rtol=1e-6)
