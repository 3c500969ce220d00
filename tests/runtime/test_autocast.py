"""Automatic mixed precision: products and convolutions of float32 are rounded, and nothing else is.

What must come out is written by hand in `jax.numpy`: operands cast, sums in float32.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import pystage
from pystage import lazy

RNG = np.random.default_rng(0)
A, B = [RNG.standard_normal(shape).astype(np.float32) for shape in ((5, 70), (70, 6))]
IMAGES, KERNEL = [RNG.standard_normal(s).astype(np.float32) for s in ((2, 7, 6, 3), (3, 3, 3, 4))]
CONV = {
    "window_strides": (1, 1),
    "padding": "SAME",
    "dimension_numbers": ("NHWC", "HWIO", "NHWC"),
    "preferred_element_type": jnp.float32,
}


def cast(x: Any, dtype: str) -> np.ndarray[Any, Any]:
    """`x` in float32, with the digits that `dtype` keeps."""
    return np.asarray(jnp.asarray(x, jnp.float32).astype(dtype).astype(jnp.float32))


def product(a: Any, b: Any, dtype: str = "bfloat16") -> Any:
    """A product as it is to be."""
    return jnp.matmul(
        jnp.asarray(a).astype(dtype), jnp.asarray(b).astype(dtype), preferred_element_type=jnp.float32
    )


def convolve(x: Any, k: Any) -> Any:
    return lax.conv_general_dilated(
        x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), preferred_element_type=None
    )


def close(got: Any, wanted: Any) -> None:
    """Equal to the rounding of float32 sums, in float32."""
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(
    "multiply",
    [
        lambda a, b: a @ b,
        np.dot,
        jnp.matmul,
        lax.dot,
        lambda a, b: np.einsum("ij,jk->ik", a, b),
        lambda a, b: np.tensordot(a, b, 1),
        lambda a, b: np.inner(a, b.T),
        lambda a, b: np.array([[np.vdot(row, column) for column in b.T] for row in a]),
    ],
)
def test_products_are_those_of_rounded_operands(multiply: Callable[..., Any], dtype: str) -> None:
    staged = pystage.compile(lambda a, b: multiply(a, b))
    x, y = (jnp.asarray(A), jnp.asarray(B)) if multiply in (jnp.matmul, lax.dot) else (A, B)
    before = staged(x, y)
    with pystage.autocast(dtype):
        got = staged(x, y)
    close(got, product(A, B, dtype))
    assert np.abs(got - before).max() > 1e-3
    assert np.array_equal(staged(x, y), before)


def test_convolutions_are_those_of_rounded_operands() -> None:
    staged = pystage.compile(convolve)
    with pystage.autocast("bfloat16"):
        got = staged(jnp.asarray(IMAGES), jnp.asarray(KERNEL))
    wanted = lax.conv_general_dilated(
        jnp.asarray(IMAGES).astype("bfloat16"), jnp.asarray(KERNEL).astype("bfloat16"), **CONV
    )
    close(got, wanted)
    assert np.abs(got - convolve(IMAGES, KERNEL)).max() > 1e-3


def others(a: Any, b: Any) -> Any:
    """Operations that stay as they are, sums and products without sums among them."""
    return (
        np.exp(a) * a,
        np.sum(a),
        np.outer(a[0], b[:, 0]),
        np.linalg.norm(a),
        np.mean(b, axis=0),
        np.linalg.pinv(a),
    )


def products_of_others(a: Any, b: Any) -> Any:
    """Products of other element types, and those that ask for their precision."""
    exact = jnp.dot(jnp.asarray(a), jnp.asarray(b), precision="highest")
    wide = a.astype(np.float64) @ b.astype(np.float64)
    return wide, a.astype(np.complex64) @ b, a.astype(np.int32) @ b.astype(np.int32), exact


@pytest.mark.parametrize("function", [others, products_of_others])
def test_all_else_stays_as_it_is(function: Callable[..., Any]) -> None:
    staged = pystage.compile(function)
    plain = staged(A, B)
    with pystage.autocast("bfloat16"):
        low = staged(A, B)
    for x, y in zip(plain, low, strict=True):
        assert type(x) is type(y) and x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


def loss(a: Any, b: Any) -> Any:
    return np.sum(np.tanh(a @ b))


def test_gradients_are_those_of_rounded_operands_in_float32() -> None:
    a, b = jnp.asarray(A), jnp.asarray(B)
    slope = 1 - jnp.tanh(product(a, b)) ** 2
    wanted = product(slope, b.T), product(a.T, slope)
    staged = pystage.compile(loss)
    inside = pystage.grad(loss, (0, 1))
    plain = inside(A, B)
    with pystage.autocast("bfloat16"):
        results = (
            inside(A, B),
            jax.grad(staged, (0, 1))(a, b),
            jax.jit(jax.grad(staged, (0, 1)))(a, b),
            pystage.vmap(inside)(A[None], B[None]),
        )
        _, forward = jax.jvp(staged, (a, b), (a, b))
    for got in results:
        for x, y in zip(got, wanted, strict=True):
            close(x.reshape(y.shape), y)
    assert np.abs(plain[0] - wanted[0]).max() > 1e-3
    close(forward, jnp.sum(slope * (product(a, b) + product(a, b))))


def test_a_program_of_jax_jit_is_of_the_context_it_is_called_in() -> None:
    staged = pystage.compile(lambda a, b: a @ b)
    outer = jax.jit(lambda a, b: staged(a, b) + 1)
    before = outer(A, B)
    with pystage.autocast("bfloat16"):
        close(outer(A, B), product(A, B) + 1)
    np.testing.assert_array_equal(outer(A, B), before)


def test_the_innermost_context_counts() -> None:
    staged = pystage.compile(lambda a, b: a @ b)
    plain = staged(A, B)
    outer = pystage.autocast("bfloat16")
    with outer:
        with pystage.autocast("float16"):
            close(staged(A, B), product(A, B, "float16"))
            with pystage.autocast(None):
                np.testing.assert_array_equal(staged(A, B), plain)
        close(staged(A, B), product(A, B))
        with pytest.raises(ZeroDivisionError), pystage.autocast(None):
            _ = 1 / 0
        close(staged(A, B), product(A, B))
    with outer:
        close(staged(A, B), product(A, B))
    np.testing.assert_array_equal(staged(A, B), plain)


@pytest.mark.parametrize("name", ["int8", "bf16", "float32", 16, np.float16])
def test_an_unknown_type(name: Any) -> None:
    with pytest.raises(ValueError, match="must be one of 'bfloat16', 'float16' or None, not"):
        pystage.autocast(name)


def multiply(a: Any, b: Any) -> Any:
    return a @ b


def in_parts(a: Any, b: Any) -> Any:
    """The same callee in and out of the context."""
    with pystage.autocast("bfloat16"):
        rounded = multiply(a, b)
        with pystage.autocast(None):
            exact = multiply(a, b)
    return rounded, exact, multiply(a, b)


def unknown_inside(a: Any) -> Any:
    with pystage.autocast("int8"):
        return a @ a


def test_a_context_in_the_source_holds_for_its_block() -> None:
    rounded, exact, after = pystage.compile(in_parts)(A, B)
    close(rounded, product(A, B))
    np.testing.assert_allclose(exact, A @ B, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(exact, after)
    with pytest.raises(ValueError, match="not 'int8'"):
        pystage.compile(unknown_inside)(A[:, :5])


def repeated(a: Any, b: Any, trips: Any) -> Any:
    """Products in a loop, small enough for XLA to make it one kernel, and convolutions in it."""
    x = a
    for _ in range(trips):
        x = np.tanh(x @ b)
    return x


def convolved(x: Any, k: Any, trips: Any) -> Any:
    for _ in range(trips):
        x = jnp.tanh(convolve(x, k))
    return x


def test_products_in_loops() -> None:
    a, b = A[:, :4], B[:4, :4]
    kernel = jnp.asarray(RNG.standard_normal((3, 3, 3, 3)), jnp.float32)
    with pystage.autocast("bfloat16"):
        got = pystage.compile(repeated)(a, b, 5)
        images = pystage.compile(convolved)(jnp.asarray(IMAGES), kernel, 3)
    x, y = jnp.asarray(a), jnp.asarray(IMAGES)
    for _ in range(5):
        x = jnp.tanh(product(x, b))
    for _ in range(3):
        y = jnp.tanh(lax.conv_general_dilated(y.astype("bfloat16"), kernel.astype("bfloat16"), **CONV))
    np.testing.assert_allclose(got, x, rtol=0.02, atol=0.01)
    np.testing.assert_allclose(images, y, rtol=0.02, atol=0.02)


def test_what_is_lowered_in_a_context_is_compiled_for_it() -> None:
    staged = pystage.compile(multiply)
    with pystage.autocast("bfloat16"):
        lowered = staged.lower(A, B)
    assert "bf16[" in lowered.as_text("hlo") and "bf16" in lowered.as_text()
    close(lowered.compile()(A, B), product(A, B))
    assert "bf16" not in staged.lower(A, B).as_text()


def test_another_thread_is_in_no_context() -> None:
    staged = pystage.compile(multiply)
    plain, found = staged(A, B), []
    with pystage.autocast("bfloat16"):
        thread = threading.Thread(target=lambda: found.append(staged(A, B)))
        thread.start()
        thread.join()
        close(staged(A, B), product(A, B))
    np.testing.assert_array_equal(found[0], plain)


def step(w: Any, v: Any, x: Any, y: Any) -> Any:
    """One step of gradient descent on a small network, whose weights are changed in place."""
    value, (dw, dv) = pystage.value_and_grad(error, (0, 1))(w, v, x, y)
    w -= 0.1 * dw
    v -= 0.1 * dv
    return value


def error(w: Any, v: Any, x: Any, y: Any) -> Any:
    return np.mean((np.tanh(x @ w) @ v - y) ** 2)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_training_converges_with_weights_of_float32(dtype: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((64, 8)).astype(np.float32)
    y = np.sin(x[:, :1])
    w, v = [(rng.standard_normal(s) / 3).astype(np.float32) for s in ((8, 16), (16, 1))]
    staged = pystage.compile(step)
    with pystage.autocast(dtype):
        losses = [staged(w, v, x, y) for _ in range(150)]
    assert w.dtype == v.dtype == losses[0].dtype == np.float32
    assert losses[-1] < 0.15 * losses[0]
    assert not np.array_equal(w, cast(w, dtype))  # updates finer than the type of products are kept


# ---------------------------------------------------------------- lazy tensors


def test_calls_on_lazy_tensors_are_rounded_where_they_are_recorded() -> None:
    a, b = lazy.asarray(A), lazy.asarray(B)
    before = a @ b
    with pystage.autocast("bfloat16"):
        inside = a @ b
        convolution = np.exp(a)
    after = np.dot(a, b)
    close(np.asarray(inside), product(A, B))
    for exact in (before, after):
        np.testing.assert_allclose(np.asarray(exact), A @ B, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.asarray(convolution), np.exp(A), rtol=1e-6)
    with pystage.autocast("bfloat16"):
        np.testing.assert_allclose(np.asarray(a @ b + before), product(A, B) + A @ B, rtol=1e-5, atol=1e-5)


def test_lazy_tensors_of_other_types_are_not_rounded() -> None:
    a, b = lazy.asarray(A.astype(np.float64)), lazy.asarray(B.astype(np.float64))
    with pystage.autocast("bfloat16"):
        np.testing.assert_allclose(np.asarray(a @ b), A.astype(np.float64) @ B, rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------- the environment

_PRINTS = """
import numpy as np, pystage
x = np.full((2, 2), 1.01, np.float32)
f = pystage.compile(lambda x: x @ x)
one, lazily = f(x)[0, 0], float((pystage.lazy.asarray(x) @ x)[0, 0])
with pystage.autocast(None):
    print(one == lazily, one == np.float32(2 * 1.0078125**2), abs(f(x)[0, 0] - 2 * 1.01**2) < 1e-6)
"""


def test_the_environment_sets_it(tmp_path: Path) -> None:
    script = tmp_path / "prints.py"
    script.write_text(_PRINTS)

    def run(name: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYSTAGE_AUTOCAST": name}
        return subprocess.run(
            [sys.executable, script], env=environment, capture_output=True, text=True, check=False
        )

    assert run("bfloat16").stdout.split() == ["True"] * 3
    assert "PYSTAGE_AUTOCAST must be one of 'bfloat16', 'float16' or None, not 'half'" in run("half").stderr


def weighted(w: Any, x: Any) -> Any:
    return ((x @ w) * x.sum(axis=-1, keepdims=True)).sum()


def tied(table: Any, x: Any) -> Any:
    return ((x @ table.T) * x.sum(axis=-1, keepdims=True)).sum() + table[0].sum()


def turned(w: Any, x: Any) -> Any:
    return (np.sin(np.tensordot(x, w, ((0, 1), (0, 1))).T) ** 2).sum()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(("function", "shape"), [(weighted, (8, 11)), (tied, (11, 8)), (turned, (2, 6, 3))])
def test_transposes_of_products_that_sum_over_two_axes(function: Any, shape: Any, dtype: str) -> None:
    """XLA:CPU refuses what it makes of them."""
    w, x = [RNG.standard_normal(s).astype(np.float32) for s in (shape, (2, 6, 8))]
    wanted = jax.grad(function)(jnp.asarray(w), jnp.asarray(x)) if function is not turned else None
    with pystage.autocast(dtype):
        staged, lazily = (
            pystage.grad(function)(w, x),
            pystage.grad(function)(lazy.asarray(w), lazy.asarray(x)),
        )
    np.testing.assert_allclose(staged, lazily, rtol=2e-2, atol=2e-2)
    if wanted is not None:
        np.testing.assert_allclose(staged, wanted, rtol=5e-2, atol=0.2)
