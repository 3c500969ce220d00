"""Numbers that the element type of an array does not hold: what NumPy raises, and what it casts.

Python's integers must fit, except where NumPy makes an array of them first (`where`, `select`, `choose`, `ufunc.at`); of
NumPy's own scalars those must that become signed integers by a basic index or in a list.
"""

from __future__ import annotations

import copy
import platform

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import check

NAN = float("nan")


def _store(a, v, key):
    a[key] = v
    return a


def _store_flat(a, v, key):
    a.flat[key] = v
    return a


def _copyto(a, v):
    np.copyto(a, v, casting="unsafe")
    return a


def _in_place(a, v, function):
    function(a, v)
    return a


STORES = {
    "element": lambda a, v: _store(a, v, 0),
    "slice": lambda a, v: _store(a, v, slice(1, None)),
    "fancy": lambda a, v: _store(a, v, [0, 2]),
    "mask": lambda a, v: _store(a, v, a == 4),
    "list": lambda a, v: _store(a, [v, v, v], slice(None)),
    "tuple": lambda a, v: _store(a, (v, 1), slice(2)),
    "array": lambda a, v: _store(a, np.array([v, 1]), slice(2)),
    "flat": lambda a, v: _store_flat(a, v, slice(None)),
    "fill": lambda a, v: _in_place(a, v, lambda a, v: a.fill(v)),
    "put": lambda a, v: _in_place(a, v, lambda a, v: np.put(a, 0, v)),
    "put a list": lambda a, v: _in_place(a, v, lambda a, v: np.put(a, [0], [v])),
    "putmask": lambda a, v: _in_place(a, v, lambda a, v: np.putmask(a, a == 4, v)),
    "copyto": _copyto,
    "add.at": lambda a, v: _in_place(a, v, lambda a, v: np.add.at(a, [0, 0], v)),
}

FUNCTIONS = {
    "array of a list": lambda a, v: np.array([v, 1], a.dtype),
    "array of lists": lambda a, v: np.array([[v, 1], [1, v]], a.dtype),
    "array": lambda a, v: np.array(v, a.dtype),
    "full": lambda a, v: np.full(2, v, a.dtype),
    "full_like": lambda a, v: np.full_like(a, v),
    "full of a list": lambda a, v: np.full(2, [v, 1], a.dtype),
    "pad": lambda a, v: np.pad(a, 1, constant_values=v),
    "pad by sides": lambda a, v: np.pad(a, 1, constant_values=(v, 1)),
    "where": lambda a, v: np.where(a > 3, a, v),
    "select": lambda a, v: np.select([a > 3], [v], a),
    "default of select": lambda a, v: np.select([a > 3], [a], v),
    "choose": lambda a, v: np.choose([0, 1, 0], [a, v]),
    "clip from below": lambda a, v: np.clip(a, v, None),
    "clip from above": lambda a, v: a.clip(None, v),
    "maximum": lambda a, v: np.maximum(a, v),
    "initial": lambda a, v: np.max(a, initial=v),
    "power": lambda a, v: np.power(a, v),
    "insert": lambda a, v: np.insert(a, 0, v),
    "sum": lambda a, v: a + v,
    "compared": lambda a, v: (a < v, a == v),
}

INTEGERS = [300, -1, -300, np.int64(300), np.int64(-1), np.uint8(200)]


def _same(function, *args):
    try:
        function(*copy.deepcopy(args))
        error = None
    except Exception as raised:
        error = type(raised)
    check(function, *args, raises=error, interpreted=False, runs=1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8], ids=["int8", "uint8"])
@pytest.mark.parametrize("name", [*STORES, *FUNCTIONS])
def test_integers_of_the_program(name, dtype):
    for v in INTEGERS[dtype is np.uint8 :: 2]:
        _same({**STORES, **FUNCTIONS}[name], np.array([3, 4, 100], dtype), v)


@pytest.mark.parametrize("name", ["element", "list", "fill", "array of a list", "array", "pad by sides"])
def test_floats_that_become_python_integers(name):
    for v in (300.5, NAN, np.float64(NAN), np.float32(1e10)):
        if isinstance(v, float) and not isinstance(v, np.generic) or name in ("element", "list", "fill"):
            _same({**STORES, **FUNCTIONS}[name], np.array([3, 4, 100], np.int16), v)


def known_numbers_in_a_list(a):
    return np.array([a[0], 300], a.dtype)


def known_numbers(a):
    return (
        np.where(a > 3, a, 300),
        np.where(a > 3, a, -1),
        np.where(a > 3, 2**63, a),
        np.select([a > 3], [a], -300),
    )


def known_limits(a):
    return np.clip(a, -300, 300), np.clip(a, None, 2**70), np.clip(a, -(2**70), 5)


def beyond_64_bits(a):
    return a + 2**63


def negative_beyond_64_bits(a):
    return np.maximum(a, -(2**63) - 1)


def a_large_power(a):
    return a ** -(2**70)


def a_known_list(a):
    return np.array([300, 1], a.dtype)


def a_known_nan(a):
    return np.array([1.5, NAN], a.dtype)


def a_known_scalar(a):
    a[a == 4] = np.int64(300)
    return np.array(np.int64(300), a.dtype), np.full(2, np.int64(300), a.dtype), a


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64], ids=["int8", "uint8", "int64"])
@pytest.mark.parametrize(
    "function",
    [
        known_numbers,
        known_numbers_in_a_list,
        known_limits,
        beyond_64_bits,
        negative_beyond_64_bits,
        a_large_power,
        a_known_list,
        a_known_nan,
        a_known_scalar,
    ],
)
def test_known_numbers(function, dtype):
    a = np.array([3, 4, 100], dtype)
    try:
        function(a.copy())
        error = None
    except Exception as raised:
        error = type(raised)
    check(function, a, raises=error)


ENDS = [(298, 300), (120, 130), (300, 300), (300, 200), (-200, -199), (2**62, 2**62 + 2), (0, 3)]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, None])
def test_arange_of_a_type_that_does_not_hold_its_numbers(dtype):
    """The first two numbers must fit; those after them wrap around."""

    def up_to(n):
        return np.arange(n - 2, n, dtype=dtype)

    def between(a, b, step):
        return np.arange(a, b, step, dtype=dtype)

    for n in (5, 129, 130, 300, -1, 2**62):
        _same(up_to, n)
    for a, b in ENDS:
        _same(between, a, b, 1)
    for by in (200, 150, 100):
        _same(between, 0, 401, by)
    _same(between, 0, 2000, 1)
    _same(between, 300, 2300, 1)


@pytest.mark.parametrize(
    "ends", [(0, np.inf), (0, NAN), (0, 10, np.inf), (0, -10, np.inf), (0, 3, NAN), (0, 1e300)]
)
def test_arange_of_a_length_that_is_not_finite(ends):
    def numbers(x):
        return x + np.arange(*ends)

    _same(numbers, 1.0)


def test_arange_of_jax_wraps_around():
    def numbers(x):
        return x + jnp.arange(298, 301, dtype=jnp.int8)

    check(numbers, jnp.int8(1))


DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint64]
LIMITS = [sign * 2.0**power for power in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1)]
OUTSIDE = np.array([np.nan, np.inf, -np.inf, 1e20, -1e20, 300.7, -300.7, -0.5, 3e9, *LIMITS])


def casts(x):
    made = []
    for dtype in DTYPES:
        copied, stored, added = np.zeros((3, x.size), dtype)
        np.copyto(copied, x, casting="unsafe")
        stored[:] = x
        np.add.at(added, np.arange(x.size), x.astype(dtype))
        made += [
            x.astype(dtype),
            np.asarray(x[::-1], dtype=dtype),
            np.full(x.size, x, dtype),
            copied,
            stored,
            added,
        ]
    return made


def casts_to_uint32(x):
    return x.astype(np.uint32), np.asarray(x, np.uint32)


def casts_of_one(x):
    return [dtype(x) for dtype in (*DTYPES, np.uint32)], [x.astype(dtype) for dtype in (*DTYPES, np.uint32)]


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="NumPy's casts depend on the processor"
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.complex128])
def test_casts_of_floats_out_of_range(dtype):
    with np.errstate(over="ignore"):
        x = OUTSIDE.astype(dtype)
    for found, wanted in zip(pystage.compile(casts, fallback="error")(x), casts(x), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)
    inside = x[(x.real > -(2.0**31)) & (x.real < 2.0**32)]
    for found, wanted in zip(pystage.compile(casts_to_uint32)(inside), casts_to_uint32(inside), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)
    staged = pystage.compile(casts_of_one, fallback="error")
    for number in x:
        for found, wanted in zip(staged(number), casts_of_one(number), strict=True):
            assert [(type(n), n) for n in found] == [(type(n), n) for n in wanted]
