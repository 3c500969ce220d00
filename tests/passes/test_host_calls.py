"""Sorts that NumPy does on the host: which ones, and that they are the plain run's, ties and all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from checking import check

import pystage
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function
from pystage.compiler.hlo.types import FLOAT32, INT32, ArrayType
from pystage.compiler.hlo.verify import verify
from pystage.compiler.hlo.walk import functions
from pystage.compiler.ops import HostCall, Iota, Sort
from pystage.compiler.passes.host_calls import on_host

from .programs import Code

CALLBACK = "xla_ffi_python_cpu_callback"
RNG = np.random.default_rng(0)
N = 2_000
HARD = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40, 2.0])


def _numbers(dtype: str, *shape: int) -> np.ndarray:
    """Numbers with many ties and, where the type has them, NaN, infinities and zeros with a sign."""
    found = RNG.integers(-50, 50, shape)
    if np.dtype(dtype).kind not in "fc":
        return (found % 2 if dtype == "bool" else abs(found)).astype(dtype)
    made = np.where(RNG.random(shape) < 0.3, RNG.choice(HARD, shape), found).astype(dtype)
    if np.dtype(dtype).kind == "c":
        made.imag = RNG.choice(HARD, shape)
    return made


def sort(x: Any) -> Any:
    return np.sort(x)


def stable(x: Any) -> Any:
    return np.sort(x, kind="stable"), np.argsort(x, kind="stable")


def argsort(x: Any) -> Any:
    return np.argsort(x)


def along(x: Any) -> Any:
    return np.sort(x, axis=0), np.argsort(x, axis=0), np.sort(x, axis=None), np.argsort(x[:, ::-1])


def lexsort(x: Any, y: Any) -> Any:
    return np.lexsort((x, y))


def partition(x: Any) -> Any:
    return np.partition(x, (7, 1500)), np.argpartition(x, 40)


def middle(x: Any) -> Any:
    return np.median(x), np.percentile(x, [1, 50, 77.7]), np.quantile(x, 0.3, method="lower")


def _calls(function: Callable[..., Any], *args: Any) -> int:
    """How many calls of the host XLA's program has."""
    text = pystage.compile(function).lower(*args).compile().as_text()
    return text.count(f'custom_call_target="{CALLBACK}"')


DTYPES = ["bool", "int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_every_type_has_the_order_of_the_plain_run(dtype: str) -> None:
    x = _numbers(dtype, N)
    # ties in the interpreter stand as a stable sort has them, NumPy's quicksort may leave them otherwise
    check(argsort, x, interpreted=False)
    check(stable, x)
    for function in (sort, argsort):
        ours, plain = pystage.compile(function)(x), function(x)
        assert ours.tobytes() == plain.tobytes(), function.__name__


def test_subnormal_numbers_are_not_zero() -> None:
    """XLA's threads take them for zero; the host must not."""
    check(sort, RNG.permutation(N) * 5e-324)
    check(sort, (RNG.permutation(N) * 1e-45).astype(np.float32))


def test_axes_and_strides() -> None:
    x = _numbers("float64", 40, 50)
    check(along, x, interpreted=False)
    check(along, x.T, interpreted=False)
    check(along, x[::-1, ::-2].copy()[:, ::-1], interpreted=False)
    check(lexsort, _numbers("float32", N), _numbers("int32", N))
    check(lexsort, x, x[::-1])


@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_lies_beside_kth_is_numpys() -> None:
    x = RNG.standard_normal(N)
    check(partition, x, interpreted=False)
    check(middle, x)
    check(middle, RNG.integers(0, 100, N))
    check(middle, _numbers("float64", N))


@pytest.mark.parametrize(("function", "count"), [(sort, 1), (argsort, 1), (stable, 2), (partition, 2)])
def test_large_sorts_are_calls_of_the_host(function: Callable[..., Any], count: int) -> None:
    assert _calls(function, RNG.standard_normal(N)) == count
    assert _calls(function, np.arange(N)) == count


def test_small_sorts_are_xlas() -> None:
    assert _calls(sort, RNG.standard_normal(100)) == 0
    assert _calls(sort, np.arange(N // 4)) == 0
    assert _calls(sort, RNG.standard_normal((200, 3))) == 0


def test_bfloat16_is_sorted_by_xla() -> None:
    x = jnp.asarray(RNG.standard_normal(N), jnp.bfloat16)

    def own(x: Any) -> Any:
        return jnp.sort(x)

    assert _calls(own, x) == 0
    check(own, x)


def test_exported_programs_and_several_devices_have_xlas_sort() -> None:
    staged = pystage.compile(jnp_sort)
    x = jax.ShapeDtypeStruct((N,), jnp.float32)
    text = jax.export.export(jax.jit(staged))(x).mlir_module()
    assert "stablehlo.sort" in text and CALLBACK not in text
    assert CALLBACK in jax.jit(staged).lower(x).as_text()


def jnp_sort(x: Any) -> Any:
    return jnp.sort(x)


def test_only_what_is_used_is_handed_over() -> None:
    """An `argsort` gets the elements, not their numbers, and gives the places alone."""
    c = Code(ArrayType(FLOAT32, (N,)))
    (x,) = c.params
    places = c.b.op(Iota(ArrayType(INT32, (N,)), 0))
    function = c.done(c.b.ops(Sort(0), x, places)[1])
    made = on_host(function)
    verify(made)
    (call,) = _host_calls(made)
    assert [len(call.operands), len(call.results)] == [1, 1]
    argument = _numbers("float32", N)
    (expected,), (found,) = interpret(function, [argument]), interpret(made, [argument])
    np.testing.assert_array_equal(found, expected)


def _host_calls(function: Function) -> list[Any]:
    return [op for f in functions(function) for op in f.body.walk() if isinstance(op.kind, HostCall)]


def in_loops(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        if x[i] > 0:
            x = np.sort(x * (i - 1.5))
        else:
            x = x - np.median(x)
        total += x[7] * i
    return total, x


def test_in_loops_and_branches() -> None:
    check(in_loops, RNG.standard_normal(600), 5)


def weighted(x: Any, w: Any) -> Any:
    return np.sort(x) @ w


def weighted_partition(x: Any, w: Any) -> Any:
    return np.partition(x, (7, 400)) @ w


def weighted_quantiles(x: Any, w: Any) -> Any:
    return np.median(x) * w[0] + np.percentile(x, [1, 50, 77.7]) @ w[:3]


@pytest.mark.parametrize("function", [weighted, weighted_partition, weighted_quantiles])
def test_derivatives_and_batches(function: Callable[..., Any]) -> None:
    """The slope along a direction, of elements that are far from each other: they keep their order."""
    x, w, direction = RNG.permutation(500) * 1.0, RNG.standard_normal(500), RNG.standard_normal(500)
    staged = pystage.compile(function)
    slope = (function(x + 1e-3 * direction, w) - function(x - 1e-3 * direction, w)) / 2e-3
    np.testing.assert_allclose(pystage.grad(function)(x, w) @ direction, slope, rtol=1e-8)
    with jax.enable_x64(True):
        x, w, direction = jnp.asarray(x), jnp.asarray(w), jnp.asarray(direction)
        _, tangent = jax.jvp(lambda x: staged(x, w), (x,), (direction,))
        np.testing.assert_allclose(tangent, slope, rtol=1e-8)
        np.testing.assert_allclose(jax.grad(staged)(x, w) @ direction, slope, rtol=1e-8)
        lanes = jnp.stack([x, -x, x**2])
        found = jax.vmap(staged, (0, None))(lanes, w)
        np.testing.assert_allclose(found, [function(np.asarray(lane), np.asarray(w)) for lane in lanes])


def test_threads_call_the_host_at_once() -> None:
    staged = pystage.compile(sort)
    arrays = [RNG.standard_normal(50_000) for _ in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for given, found in zip(arrays, pool.map(staged, arrays), strict=True):
            np.testing.assert_array_equal(found, np.sort(given))
