"""Elementwise functions of NumPy and JAX, against the plain calls."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from library.harness import Known, check, check_call, refused
from pystage.compiler.library.numpy.ufuncs import ufuncs
from pystage.compiler.library.numpy.ufuncs.elementwise import ElementwiseFunction
from pystage.compiler.library.registry import known_callables, meaning_of

DTYPES = ["bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex64"]
DECLARED = [f for f in known_callables() if isinstance(f, np.ufunc) and f.nin <= 2 and f.__name__ != "matmul"]
UNARY = [f for f in DECLARED if f.nin == 1 and f.signature is None]
BINARY = [f for f in DECLARED if f.nin == 2 and f.signature is None]
DOMAIN = {"arccosh": 1.0, "log": 0.5, "log2": 0.5, "log10": 0.5}
SLOW_POWERS = {"float_power", "power"}


def samples(function: Any, dtype: str) -> np.ndarray:
    """Numbers in the function's domain."""
    if dtype == "bool":
        return np.array([True, False, True])
    if dtype[0] in "iu":
        return np.array([1, 2, 3], dtype)
    name = function.__name__
    if name in ("arcsin", "arccos", "arctanh"):
        return np.array([-0.5, 0.25, 0.75], dtype)
    if name in ("arccosh", "log", "log2", "log10", "sqrt", "log1p"):
        return np.array([1.0, 1.5, 8.0], dtype)
    return np.array([-1.5, 0.5, 2.0], dtype)


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_unary_ufuncs(function: np.ufunc) -> None:
    for dtype in DTYPES:
        x = samples(function, dtype)
        check_call(function, x)
        check_call(function, x[1])
    check_call(function, 1.0)
    check_call(function, 1)


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_binary_ufuncs(function: np.ufunc) -> None:
    for left, right in itertools.product(DTYPES, ["bool", "int64", "uint32", "float32", "complex64"]):
        x = samples(function, left)
        y = (
            np.abs(samples(function, right)).astype(right)
            if function.__name__ in SLOW_POWERS
            else samples(function, right)
        )
        check_call(function, x, y)
    check_call(function, np.array([1.5, 2.5], np.float32), 2.0)
    check_call(function, np.array([1, 2], np.int8), 2)


JAX_TWINS = sorted(
    {
        id(f): f for f in (getattr(jnp, n) for n in dir(jnp)) if meaning_of(f) is not None and callable(f)
    }.values(),
    key=lambda f: f.__name__,
)
NUMPY_NAMES = {f.__name__ for f in DECLARED}
JAX_UNARY = [f for f in JAX_TWINS if f.__name__ in {u.__name__ for u in UNARY}]
JAX_BINARY = [f for f in JAX_TWINS if f.__name__ in {u.__name__ for u in BINARY}]


@pytest.mark.parametrize("function", JAX_UNARY, ids=lambda f: f.__name__)
def test_unary_jax(function: Any) -> None:
    for x64 in (False, True):
        with jax.enable_x64(x64):
            for dtype in ["bool", "int32", "uint8", "float32", "complex64"]:
                check_call(function, jnp.asarray(samples(function, dtype)))
            check_call(function, jnp.asarray(1.0))
            check_call(function, np.array([1.0, 2.0]))
            check_call(function, 1)


@pytest.mark.parametrize("function", JAX_BINARY, ids=lambda f: f.__name__)
def test_binary_jax(function: Any) -> None:
    for left, right in itertools.product(["bool", "int32", "float32"], ["uint8", "float32", "complex64"]):
        check_call(function, jnp.asarray(samples(function, left)), jnp.asarray(samples(function, right)))
    check_call(function, jnp.asarray([1.5, 2.5]), Known(2.0))
    check_call(function, Known(2), jnp.asarray([1, 2]))
    check_call(function, np.array([1.5, 2.5]), np.float64(2))


def test_the_lists_are_what_they_should_be() -> None:
    """The parametrisation above covers what is declared."""
    assert len(UNARY) >= 45
    assert len(BINARY) > 30
    assert len(JAX_UNARY) > 35
    assert len(JAX_BINARY) > 20
    assert isinstance(ufuncs.ADD, ElementwiseFunction)


@pytest.mark.parametrize("value", [-np.inf, -2.5, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, np.inf, np.nan])
def test_special_values(value: float) -> None:
    x = np.array([value, value])
    functions = [
        np.rint,
        np.floor,
        np.ceil,
        np.trunc,
        np.sign,
        np.signbit,
        np.isfinite,
        np.isnan,
        np.isinf,
        np.abs,
    ]
    for function in [*functions, np.cbrt, np.exp, np.negative, np.modf]:
        check_call(function, x)
    for function in (
        np.hypot,
        np.maximum,
        np.fmax,
        np.fmin,
        np.copysign,
        np.heaviside,
        np.logaddexp,
        np.fmod,
    ):
        check_call(function, x, np.array([1.5, np.nan]))
        check_call(function, np.array([-np.inf, 2.0]), x)


def test_exact_logarithms() -> None:
    check(lambda ctx, x: ctx.call(ctx.lift(Known(np.floor)), [ctx.call(ctx.lift(Known(np.log10)), [x])]),
          lambda x: np.floor(np.log10(x)), 10.0 ** np.arange(-20, 20))  # fmt: skip
    check(lambda ctx, x: ctx.call(ctx.lift(Known(np.floor)), [ctx.call(ctx.lift(Known(np.log2)), [x])]),
          lambda x: np.floor(np.log2(x)), 2.0 ** np.arange(-100, 100))  # fmt: skip


def test_gcd_and_lcm() -> None:
    pairs = np.array(list(itertools.product([-12, 0, 1, 8, 18], repeat=2)))
    check_call(np.gcd, pairs[:, 0].copy(), pairs[:, 1].copy())
    check_call(np.lcm, pairs[:, 0].copy(), pairs[:, 1].copy())


def test_out_where_and_dtype() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    check_call(np.add, x, y, out=np.zeros(3))
    check_call(np.add, x, y, np.zeros(3))
    check_call(np.add, x, y, out=np.zeros(3, np.float32))
    check_call(np.add, x, y, out=np.zeros((2, 3)))
    check_call(np.add, x, y, out=np.zeros(3), where=np.array([True, False, True]))
    check_call(np.multiply, np.array([1, 2]), 3, dtype=Known(np.float32))
    check_call(np.add, x, y, out=np.zeros(3, np.int64))
    check_call(np.add, x, y, out=np.zeros(2))
    add = meaning_of(np.add)
    assert add is not None
    refused("PS203", add, x, y, where=np.array([True, False, True]))


def test_bfloat16() -> None:
    x = np.array([1.0, 2.0, 3.0], ml_dtypes.bfloat16)
    for function in (np.sin, np.sqrt, np.floor, np.isnan, np.negative, np.exp):
        check_call(function, x)


# ---------------------------------------------------------------- functions that are no ufuncs

MASK = np.array([True, False, True])


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (1, 0),
        (1.5, np.array([1, 2, 3], np.float32)),
        (np.array([1, 2, 3], np.int8), 2),
        (np.array([1, 2, 3], np.int8), np.array([1.5, 2, 3], np.float16)),
        (np.float64(2), np.array([1, 2, 3], np.float32)),
        (True, 2.5),
        ([1, 2, 3], 0.5),
    ],
)
def test_where(x: Any, y: Any) -> None:
    check_call(np.where, MASK, x, y)
    check_call(np.where, np.float64(2), x, y)
    check_call(np.select, [MASK, ~MASK], [np.array([1, 2, 3]), np.array([1.5, 2, 3])], 7)


def test_where_jax() -> None:
    x, mask = jnp.asarray([1, 2, 3]), jnp.asarray(MASK)
    for a, b in ((x, 1.5), (1, 2), (x, np.float64(2)), (2.0, jnp.asarray([1.5, 2.0, 3.0]))):
        check_call(jnp.where, mask, a, Known(b) if isinstance(b, float) else b)
        check_call(jnp.where, MASK, a, b)
    refused("PS204", meaning_of(jnp.where), mask, [1, 2, 3], 0)  # type: ignore[arg-type]
    refused("PS203", meaning_of(jnp.where), MASK, 1)  # type: ignore[arg-type]
    refused("PS201", meaning_of(np.where), MASK, np.ones(2), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "float64"])
def test_clip(dtype: str) -> None:
    x = np.array([0, 5, 100], dtype)
    for low, high in ((1, 50), (None, 50), (1, None), (-1000, 1000), (0.5, 5.5), (50, 1)):
        check_call(np.clip, x, Known(low), Known(high))
        check_call(np.clip, x[1], Known(low), Known(high))
    check_call(np.clip, x, np.array([1, 2, 3], dtype), np.int64(50))
    check_call(np.clip, x, Known(1), Known(2), out=np.zeros(3, dtype))
    for low, high in ((1, 50), (None, 50), (0.5, 5.5)):
        check_call(jnp.clip, jnp.asarray(x), Known(low), Known(high))
        check_call(np.clip, jnp.asarray(x), Known(low), Known(high))


@pytest.mark.parametrize("decimals", [-1, 0, 1, 2])
def test_round(decimals: int) -> None:
    for dtype in ("int64", "float32", "float64", "complex64", "bool"):
        x = (
            np.array([0, 1, 1]).astype(dtype)
            if dtype == "bool"
            else np.array([15, 25.125, -3.45]).astype(dtype)
        )
        if dtype != "bool" or decimals == 0:
            check_call(np.round, x, Known(decimals))
            check_call(np.round, x[1], Known(decimals))
        if dtype != "bool":
            check_call(np.round, jnp.asarray(x), Known(decimals))
            check_call(jnp.round, jnp.asarray(x), Known(decimals))


@pytest.mark.parametrize("function", [jnp.isclose, jnp.allclose, jnp.array_equal])
def test_nearness(function: Any) -> None:
    check_call(function, jnp.asarray([1.0, 2.0]), jnp.asarray([1.0, 2.0 + 1e-7]))
    check_call(function, jnp.asarray([1, 2]), jnp.asarray([1, 3]))


def test_parts_of_complex_numbers() -> None:
    z, x = np.array([1 + 2j, -3 - 1j], np.complex64), np.array([1.5, -2.0], np.float32)
    for function in (np.real, np.imag, np.conj, np.abs):
        check_call(function, z)
        check_call(function, x)
    for function in (jnp.real, jnp.imag, jnp.conj, jnp.abs):
        check_call(function, jnp.asarray(z))
        check_call(function, jnp.asarray(x))


def test_the_real_part_is_a_view() -> None:
    def staged(ctx: Any, z: Any) -> Any:
        part = ctx.call(ctx.lift(Known(np.real)), [z])
        ctx.call(ctx.lift(Known(np.multiply)), [part, ctx.lift(2.0)], {"out": part})
        return z

    def plain(z: np.ndarray) -> np.ndarray:
        part = np.real(z)
        np.multiply(part, 2.0, out=part)
        return z

    check(staged, plain, np.array([1 + 2j, 3 - 1j]))


def test_nan_to_num_infinities() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, 0.5])
    for array in (x, x.astype(np.float32), x.astype(np.complex128), np.array([1, 2])):
        check_call(np.nan_to_num, array)
        check_call(jnp.nan_to_num, jnp.asarray(array))
    check_call(np.nan_to_num, x, nan=Known(1.0), posinf=Known(2.0), neginf=Known(3.0))
    check_call(np.isposinf, x)
    check_call(np.isneginf, x)


def test_result_types_are_known() -> None:
    check_call(np.result_type, np.ones(2, np.float32), 1.5)
    check_call(np.result_type, np.ones(2, np.int8), Known(np.float16))
    check_call(np.iscomplexobj, np.ones(2))
    check_call(np.isrealobj, np.ones(2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_constructors(dtype: str) -> None:
    scalar = np.dtype(dtype).type
    for x in (True, 2, 2.5, np.float32(1.5), np.array([1, 2], np.int8), jnp.asarray([1.5, 2.0]), Known(3)):
        check_call(scalar, x)
    twin = getattr(jnp, "bool_" if dtype == "bool" else dtype)
    for x in (2, np.float32(1.5), np.array([1, 2], np.int8), jnp.asarray([1.5, 2.0])):
        with jax.enable_x64(True):
            check_call(twin, x)


def test_constructors_check_integers() -> None:
    check_call(np.uint8, Known(300))
    check_call(np.int8, Known(-129))
    check_call(np.float32, 1j)
