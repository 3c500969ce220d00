"""Dtypes of results: NumPy 2's promotion (NEP 50) of arrays, NumPy and Python scalars; JAX's promotion."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
NUMBERS = INTEGERS + FLOATS + COMPLEX


def array(dtype):
    return np.array([1, 2, 5], dtype)


# ---------------------------------------------------------------- one dtype with Python and NumPy scalars


def with_python_integer(x, n):
    return x + 2, 3 * x, x - 1, n + x, x * n, x == n, x / 2


def with_python_float(x, y):
    return x + 2.5, 0.5 * x, x - y, y * x, x / y, x == y


def with_python_bool(x):
    return x + True, False + x, x * True


def with_numpy_scalars(x):
    return x + np.float32(1.5), x * np.int8(2), np.float64(2.0) * x, x + np.int64(3), x * np.complex64(1j)


def scalar_with_python_numbers(x):
    s = x[1]
    return s + 1, s * 2.5, 2 * s, s / 2, s == 2, s - 1, s + True, s * 1j


def division(x, y):
    return x / y, x // y, x % y, y // x, y % x


def integer_operations(x, y):
    return x & y, x | y, x ^ y, ~x, x << 1, x >> 1, x**2, abs(x), -x, +x


def with_text(x, s):
    return s == "a", s != "a", "0" == x, x != b"0", x.reshape(3)[:0] == "a", x[1].reshape(()) != None  # noqa: E711


@pytest.mark.parametrize("dtype", ("bool", "int16", "complex64"))
def test_with_text(dtype):
    x = array(dtype)
    check(with_text, x, x[0])


def near(x, y, tolerance):
    return (
        (np.isclose(x, 2, atol=0, rtol=tolerance), np.isclose(x, y, atol=tolerance), np.isclose(1, y)),
        (np.allclose(x, y, tolerance, 0), np.isclose(x, x, equal_nan=True)),
    )


@pytest.mark.parametrize("tolerance", (0.4999999999999999, np.float64(0.4999999999999999), np.float32(0.5)))
def test_nearness(tolerance):
    check(near, np.array(1.0, np.float32), np.float32(1.4999999), tolerance)
    check(
        near,
        np.array([1.0, 2.0, np.nan, np.inf]),
        np.array([[1.0, 2.0 + 1e-9, np.nan, np.inf], [2.0] * 4]),
        tolerance,
    )


@pytest.mark.parametrize("dtype", NUMBERS)
def test_with_python_integer(dtype):
    check(with_python_integer, array(dtype), 3)


@pytest.mark.parametrize("dtype", ("bool", *NUMBERS))
def test_with_python_float(dtype):
    order = (
        with_python_float if dtype not in COMPLEX else lambda x, y: (x + 2.5, 0.5 * x, x - y, y * x, x / y)
    )
    check(order, array(dtype), 1.5)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_with_python_bool(dtype):
    check(with_python_bool, array(dtype))


@pytest.mark.parametrize("dtype", ("bool", *NUMBERS))
def test_with_numpy_scalars(dtype):
    check(with_numpy_scalars, array(dtype))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_scalar_with_python_numbers(dtype):
    check(scalar_with_python_numbers, array(dtype))


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_division(dtype):
    check(division, np.array([7, 9, 1], dtype), np.array([2, 4, 3], dtype))


@pytest.mark.parametrize("dtype", ("int8", "int32", "int64", "float32", "float64"))
def test_division_with_signs(dtype):
    check(division, np.array([7, -7, 7, -7, 6], dtype), np.array([3, 3, -3, -3, -3], dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_operations(dtype):
    check(integer_operations, np.array([1, 2, 9], dtype), np.array([3, 6, 5], dtype))


# ---------------------------------------------------------------- pairs of dtypes


def pair(x, y):
    return x + y, x * y, np.where(x == y, x, y), x == y, x[0] + y, x[0] + y[0]


PAIRS = [
    ("int8", "uint8"),
    ("int8", "int16"),
    ("int32", "uint32"),
    ("int64", "uint64"),
    ("uint8", "uint64"),
    ("bool", "int8"),
    ("bool", "bool"),
    ("int8", "float16"),
    ("int16", "float16"),
    ("int32", "float32"),
    ("int16", "float32"),
    ("int64", "float32"),
    ("uint8", "float32"),
    ("float16", "float32"),
    ("float32", "float64"),
    ("float32", "complex64"),
    ("float64", "complex64"),
    ("int64", "complex64"),
    ("complex64", "complex128"),
]


@pytest.mark.parametrize("left, right", PAIRS)
def test_pairs(left, right):
    check(pair, array(left), array(right))
    check(pair, array(right), array(left))


@pytest.mark.parametrize("left, right", PAIRS)
def test_pairs_of_scalars(left, right):
    check(lambda a, b: (a + b, a * b, a == b), array(left)[1], array(right)[1])


# ---------------------------------------------------------------- kinds of results

cases = Cases()


@cases(np.array([1.0, 2.0, 3.0]))
def scalars_come_out_of_arrays(x):
    return x[0], x.sum(), x.max(), np.mean(x), x @ x, np.dot(x, x), x.argmax(), len(x), x.size


@cases(np.array(2.0))
def zero_dimensional_arrays(x):
    return x + 1, np.sqrt(x), x * x, -x, x > 1, x.sum(), x.reshape(1), x.copy(), np.asarray(x), x[()]


@cases(np.array([1.0, 2.0]))
def zero_dimensional_views_and_items(x):
    y = np.array([3.0, 4.0])
    return x[0], y[0, ...].copy(), np.array(x[0]), np.asarray(5.0), np.array(2)


@cases(2.0, 3)
def ufuncs_on_python_scalars(x, n):
    return (
        np.sqrt(x),
        np.add(x, n),
        np.abs(-n),
        np.maximum(n, 2),
        np.exp(n),
        np.floor(x),
        np.square(n),
        np.sign(x),
    )


@cases(np.float32(2.0), np.int32(3))
def numpy_scalars_stay(x, n):
    return x * x, x + 1, x / 2, n * n, n / n, n // 2, x > n, -x, x**2, n**2, abs(n), x + n


@cases(np.array([1.5, -2.5]), 3)
def explicit_conversions(x, n):
    return (
        x.astype(np.float32),
        x.astype("int32"),
        x.astype(int),
        x.astype(bool),
        np.float32(n),
        np.int8(x[0]),
        np.float64(n) + 1,
        np.asarray(x, dtype=np.float16),
        np.array(x, np.complex64),
    )


@cases(np.array([1, 2, 3], np.int8), np.array([True, False, True]))
def reductions_widen(x, flags):
    return (
        x.sum(),
        x.prod(),
        x.mean(),
        flags.sum(),
        flags.mean(),
        x.max(),
        x.cumsum(),
        np.sum(x, dtype=np.int16),
    )


@cases(np.array([1, 2, 3], np.float16), np.array([1, 2], np.float32), np.array([1, 2], np.uint8))
def reductions_keep(x, y, z):
    return x.sum(), x.mean(), y.sum(), y.mean(), y.std(), z.sum(), z.max(), z.mean()


@cases(np.array([200, 100], np.uint8), np.array([100, -100], np.int8))
def integers_wrap_around(x, y):
    return x + x, y + y, x * 2, y - np.int8(100), x << 1, ~x, x.astype(np.int8)


@cases(np.array([1.9, -1.9, 0.0]), np.array([300, -1, 5]))
def conversion_truncates(x, n):
    return x.astype(np.int32), x.astype(bool), n.astype(np.uint8), n.astype(np.int8), n.astype(np.float32)


@cases(np.array([1.0, 2.0], np.float32))
def python_constants_are_weak(x):
    y = x
    for _ in range(3):
        y = y * 0.5 + 1
    return y, x * (1 + 2.5), x + np.pi, x * np.float64(2)


@cases(np.array([1.0, 2.0], np.float32), 0.5)
@cases(np.array([1.0, 2.0], np.float32), np.float64(0.5))
@cases(np.array([1, 2], np.int16), 7)
@cases(np.array([1, 2], np.int16), np.int32(7))
def weakness_is_of_the_argument(x, k):
    return x * k, k + x, [k * item for item in (x, x[0])]


@cases(np.float32(1.5))
@cases(1.5)
@cases(np.array([1.5], np.float32))
def accumulators_promote(x):
    total = 0
    for i in range(3):
        total = total + x
    return total


# ---------------------------------------------------------------- JAX's promotion


@cases(jnp.array([1, 2, 3]), jnp.array([0.5, 1.5, 2.5]))
def jax_arithmetic(n, x):
    return n + x, n + 1, n + 1.5, x * 2, n / n, n // 2, n % 2, x > n, n**2, -n, n & 1, x @ x


@cases(jnp.array([1, 2], jnp.int8), jnp.array([1, 2], jnp.float16), jnp.array([1, 2], jnp.bfloat16))
def jax_narrow_types(n, h, b):
    return n + h, n + b, h + b, n + 1, h * 2.5, b * 2, n / 2, h.sum(), b.mean(), n.sum()


@cases(jnp.array([1.0, 2.0]))
def jax_with_numpy(x):
    table = np.array([1.0, 2.0])
    return x + table, x * np.float32(2), x + np.float64(2), x * 3, table * 2


@cases(jnp.array([1.0, 2.0]), 3, 2.5)
def jax_weak_types(x, n, y):
    return jnp.asarray(y), jnp.add(n, y), jnp.sin(y), jnp.sqrt(n), x * y, jnp.maximum(x, n), x.sum() + y


@cases(jnp.float32(2.0), jnp.int32(3))
def jax_scalars(x, n):
    return x * n, x + 1, n + 1, n / 2, x**2, x > 1, jnp.float32(n), n.astype(jnp.float32), x[None]


@cases(np.array([1.0, 2.0]), np.array([1, 2]))
def jax_functions_of_numpy_arrays(x, n):
    return jnp.sin(x), jnp.sum(n), jnp.asarray(x), jnp.add(x, n)


BOOLS = np.array([True, False, True])
COMPLEX = np.array([1j, 2.0])
try:
    np.round(BOOLS, 1)
except TypeError as error:
    NO_DECIMALS = error


@cases(BOOLS)
def products_of_bools(x):
    return np.correlate(x, x[:2]), np.correlate(x[:2], x), np.round(x, 0)


@cases(BOOLS, raises=TypeError)
@cases(BOOLS[:1], raises=ValueError)
def gradient_of_bools(x):
    return np.gradient(x)


@cases(BOOLS, raises=type(NO_DECIMALS))
def decimals_of_bools(x):
    return np.round(x, 1)


@cases.each((COMPLEX, np.array([0.0, 1.0])), (np.array([0.0, 1.0]), COMPLEX), raises=TypeError)
def complex_positions(x, xp):
    return np.interp(x, xp, np.array([3.0, 4.0]))


@cases(np.array([1, 0]), COMPLEX, raises=TypeError)
def complex_weights(x, weights):
    return np.bincount(x, weights)


@cases.each(([1.0, np.nan, 2.0],), ([1.0, np.inf],), raises=ValueError)
@cases([1.0, 2.0])
def range_of_a_histogram(x):
    return np.histogram(np.array(x), 3)


@cases.each((3.0,), (-np.inf,), raises=ValueError)
@cases(2.0)
def given_range_of_a_histogram(low):
    return np.histogram(np.array([1.0, 2.0]), 3, (low, 2.5))


@cases(np.array([2**63], np.uint64), refused="PS810")
@cases(np.array([2**63 - 1], np.uint64))
def python_integers_of_uint64(x):
    return int(x[0]), x.sum().item(), x.tolist()


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
