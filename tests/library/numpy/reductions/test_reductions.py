"""Reductions against NumPy and `jax.numpy`: element types, kinds, axes, NaN, masks, errors."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from library.harness import Known, check, check_call, refused
from pystage.compiler.library.context import Context
from pystage.compiler.library.numpy.reductions import extrema, scans  # noqa: F401
from pystage.compiler.library.numpy.subscripts.subscripts import array_getitem
from pystage.compiler.values.lattice import Abstract, Const

RNG = np.random.default_rng(0)
DTYPES = ["bool", "int8", "uint8", "int32", "uint32", "int64", "float16", "float32", "float64", "complex64"]
SUMS = ["sum", "prod", "mean", "var", "std", "any", "all", "cumsum", "cumprod", "count_nonzero"]
ORDERED = ["max", "min", "argmax", "argmin", "ptp", "nanmax", "nanmin"]
NANS = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nancumsum", "nancumprod"]
FLAT = ("argmax", "argmin", "cumsum", "cumprod", "nancumsum", "nancumprod")


def sample(dtype: str, shape: tuple[int, ...] = (3, 4)) -> np.ndarray:
    """Small numbers of every sign that the type has."""
    if dtype.startswith("complex"):
        return (RNG.integers(-3, 4, shape) + 1j * RNG.integers(-3, 4, shape)).astype(dtype)
    low = 0 if dtype.startswith("u") or dtype == "bool" else -3
    return RNG.integers(low, 4, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SUMS + ORDERED + NANS)
def test_types(name: str, dtype: str) -> None:
    if dtype == "bool" and name == "ptp":
        return
    x = sample(dtype)
    check_call(getattr(np, name), x)
    check_call(getattr(np, name), x, axis=Known(0))
    check_call(getattr(np, name), x[0, 0])
    check_call(getattr(jnp, name), jnp.asarray(x))
    check_call(getattr(jnp, name), jnp.asarray(x), axis=Known(1))
    check_call(getattr(jnp, name), x)


@pytest.mark.parametrize("name", SUMS + ORDERED + NANS)
def test_axes(name: str) -> None:
    x = RNG.standard_normal((2, 3, 4))
    function, twin = getattr(np, name), getattr(jnp, name)
    y = jnp.asarray(x, jnp.float32)
    axes: list[Any] = [None, 0, -1, 2]
    axes += [] if name in FLAT else [(0, 1), (2, -2), ()] if name not in ("argmax",) else []
    for axis in axes:
        check_call(function, x, axis=Known(axis))
        check_call(twin, y, axis=Known(axis))
        if "cum" not in name:
            check_call(function, x, axis=Known(axis), keepdims=Known(True))
            check_call(twin, y, axis=Known(axis), keepdims=Known(True))
    for axis in (3, -4):
        check_call(function, x, axis=Known(axis))
    if name not in FLAT:
        check_call(function, x, axis=Known((0, 0)))


@pytest.mark.parametrize("name", SUMS + ORDERED + NANS)
def test_numpy_functions_of_jax_arrays(name: str) -> None:
    x = jnp.asarray(sample("int32"))
    if name.startswith("nan"):
        check_call(getattr(np, name), jnp.asarray(sample("float32")))
    else:
        check_call(getattr(np, name), x)


@pytest.mark.parametrize("name", [n for n in SUMS + NANS if n not in ("any", "all", "count_nonzero")])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", np.int64])
def test_dtype(name: str, dtype: Any) -> None:
    if dtype != "float32" and name in ("var", "std", "nanmean", "nanvar", "nanstd"):
        return
    x = sample("int8" if not name.startswith("nan") else "float32")
    check_call(getattr(np, name), x, dtype=Known(dtype))
    if dtype == "float32":
        check_call(getattr(jnp, name), jnp.asarray(x), dtype=Known(dtype))


@pytest.mark.parametrize(
    "name", ["sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin", "ptp", *NANS]
)
def test_nan(name: str) -> None:
    x = np.array([[1.0, np.nan, 3.0, -np.inf], [np.nan] * 4, [5.0, 2.0, 7.0, 7.0]], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        check_call(getattr(np, name), x, axis=Known(1))
        check_call(getattr(jnp, name), jnp.asarray(x), axis=Known(1))
        check_call(getattr(np, name), x)


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
def test_extrema_that_skip_nan(name: str) -> None:
    x = np.array([[1.0, np.nan, 3.0, -np.inf], [np.nan, 1, 2, np.nan]], np.float32)
    check_call(getattr(np, name), x, axis=Known(1))
    check_call(getattr(jnp, name), jnp.asarray(x), axis=Known(1))


def test_truth_of_complex_numbers() -> None:
    x = np.array([[2j, 1], [0, 2j]], np.complex64)
    for name in ("any", "all"):
        check_call(getattr(np, name), x, axis=Known(0))
        check_call(getattr(jnp, name), jnp.asarray(x), axis=Known(0))


def test_ties_and_nan_of_argmax() -> None:
    for row in ([1, 3, 3, 2], [0, 0, 0, 0], [-5, -5], [np.nan, 1, np.nan], [1, np.nan, 2, np.nan]):
        check_call(np.argmax, np.array(row))
        check_call(np.argmin, np.array(row))
        check_call(jnp.argmax, jnp.array(row))
    check_call(np.argmax, np.array([False, True, True]))
    check_call(np.argmin, np.full(3, 127, np.int8))
    check_call(np.argmax, np.full(3, -np.inf))


def test_argmax_compares_places_of_32_bits_beside_the_values() -> None:
    text = pystage.compile(lambda x: np.argmax(x, axis=0)).lower(np.ones((4, 3), np.float32)).as_text()
    assert "stablehlo.iota dim = 0 : tensor<4x3xi32>" in text
    value = re.search(r"select (%\d+), \S+ \S+ : tensor<i1>, tensor<f32>", text)
    place = re.search(r"select (%\d+), \S+ \S+ : tensor<i1>, tensor<i32>", text)
    assert value and place and value[1] != place[1]  # else a value would wait for the places


def test_extrema_of_complex_numbers_along_several_axes_keep_the_first_nan() -> None:
    x = np.ones((2, 3), complex)
    x[0, 0], x[0, 2] = complex(np.nan, 1), complex(5, np.nan)
    for function in (np.max, np.min):
        check_call(function, x)
        check_call(function, x, axis=Known((0, 1)))


def test_argmax_of_complex_numbers_with_nan() -> None:
    parts = [0.0, -0.0, 1.0, np.nan]
    rows = [[complex(a, b), complex(c, d)] for a in parts for b in parts for c in parts for d in parts]
    check_call(np.argmax, np.array(rows), axis=Known(1))
    check_call(np.argmin, np.array(rows), axis=Known(1))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_initial_and_where(name: str) -> None:
    x = RNG.standard_normal((3, 4))
    for function, array in ((getattr(np, name), x), (getattr(jnp, name), jnp.asarray(x, jnp.float32))):
        check_call(function, array, initial=2.0)
        check_call(function, array, axis=Known(1), initial=Known(0.5), where=array > 0)
        check_call(function, array[:0], initial=2.0)
    check_call(getattr(np, name), x, where=x > 0)


@pytest.mark.parametrize("name", ["mean", "var", "std", "any", "all"])
def test_where(name: str) -> None:
    x = RNG.standard_normal((3, 4))
    check_call(getattr(np, name), x, axis=Known(0), where=x > -9)
    check_call(getattr(np, name), x, where=np.array([True, False, True, True]))


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "ptp"])
def test_no_elements(name: str) -> None:
    check_call(getattr(np, name), np.zeros((0, 3)))
    check_call(getattr(np, name), np.zeros((0, 3)), axis=Known(0))
    check_call(getattr(jnp, name), jnp.zeros((0, 3)))
    if not name.startswith("arg"):
        check_call(getattr(np, name), np.zeros((0, 3)), axis=Known(1))


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "count_nonzero", "cumsum"])
def test_neutral_elements(name: str) -> None:
    check_call(getattr(np, name), np.zeros((0, 3)))
    check_call(getattr(np, name), np.zeros((0, 3)), axis=Known(1))


@pytest.mark.parametrize("ddof", [0, 1, 1.5, 12])
def test_ddof(ddof: float) -> None:
    x = RNG.standard_normal((3, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        check_call(np.var, x, ddof=ddof)
        check_call(np.std, x, ddof=Known(ddof), axis=Known(0))
        check_call(jnp.var, jnp.asarray(x), ddof=Known(ddof))
        check_call(np.var, x, correction=Known(ddof))


def test_average() -> None:
    x, w = RNG.standard_normal((3, 4)), RNG.random((3, 4))
    check_call(
        jnp.average, jnp.asarray(x, jnp.float32), axis=Known(1), weights=jnp.asarray(w[0], jnp.float32)
    )


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_diff(n: int) -> None:
    for dtype in ("float32", "int8", "bool", "uint8"):
        check_call(np.diff, sample(dtype), n=Known(n))
    check_call(np.diff, sample("int64"), n=Known(n), axis=Known(0))
    check_call(jnp.diff, jnp.asarray(sample("int32")), n=Known(n), axis=Known(0))
    check_call(np.diff, 3.0)
    for dtype in ("int32", "float32", "bool"):
        for ends in ({"prepend": 1}, {"append": 2.5}, {"prepend": [1], "append": np.float32(3)}):
            check_call(np.diff, sample(dtype)[0], **ends)
    check_call(np.diff, sample("int64"), n=Known(2), axis=Known(0), prepend=1, append=sample("int64")[:1])
    check_call(np.diff, sample("int64"), n=Known(0), prepend=1)
    check_call(np.diff, sample("int64"), prepend=[1, 2])
    check_call(jnp.diff, jnp.asarray(sample("int32")), prepend=1, append=Known(None))


def test_out() -> None:
    x = RNG.standard_normal((3, 4))
    for out in (np.zeros(4), np.zeros(4, np.float32), np.zeros(3)):
        check_call(np.sum, x, axis=Known(0), out=out)
    check_call(np.max, x, axis=Known(1), out=np.zeros(3))
    refused("PS209", lambda ctx, x, o: ctx.call(Const(np.sum), [x], {"out": o}), x, np.zeros((), np.int64))
    refused("PS203", lambda ctx, x, o: ctx.call(Const(np.var), [x], {"dtype": o}), x, Known(complex))


def test_what_is_known_is_computed_now() -> None:
    ctx = check_call(np.prod, Known((2, 3, 4)))
    assert not ctx.body.ops
    check_call(np.max, Known((2, 3)))
    check_call(np.sum, [1, 2.5, 3])
    check_call(np.mean, (1, 2))


def test_jax_functions_refuse_lists() -> None:
    check_call(jnp.sum, [1, 2])
    check_call(jnp.max, (1.0, 2.0))


@pytest.mark.parametrize(
    "name", ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "count_nonzero", "ptp"]
)
def test_masked(name: str) -> None:
    function = getattr(np, name)

    def staged(ctx: Context, x: Abstract, mask: Abstract) -> Abstract:
        return ctx.call(Const(function), [array_getitem(ctx, x, mask)])

    x = RNG.standard_normal((3, 4))
    for array in (x, sample("int32"), sample("bool")):
        if array.dtype != bool or name != "ptp":
            check(staged, lambda x, m: function(x[m]), array, x > -0.3)
    check(staged, lambda x, m: function(x[m]), jnp.asarray(x, jnp.float32), jnp.asarray(x > 0))


def test_masked_along_axes() -> None:
    x = RNG.standard_normal((3, 4, 2))

    def along(axis: int) -> Any:
        def staged(ctx: Context, x: Abstract, mask: Abstract) -> Abstract:
            return ctx.call(Const(np.mean), [array_getitem(ctx, x, mask)], {"axis": Const(axis)})

        return staged

    rows = np.array([True, False, True])
    check(along(0), lambda x, m: np.mean(x[m], axis=0), x, rows)
    check(along(0), lambda x, m: np.mean(x[m], axis=0), x, x[:, :, 0] > 0)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "cumsum", "argmax", "count_nonzero"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "uint8", "float32", "float64"])
def test_types_under_x64(name: str, dtype: str) -> None:
    with jax.enable_x64(True):
        check_call(getattr(jnp, name), jnp.asarray(sample(dtype)))


def test_signatures_accept_only_what_numpy_has() -> None:
    from pystage.compiler.library.registry import known_callables, meaning_of, signature_of

    checked = 0
    for function in known_callables():
        if isinstance(function, type) or np.__dict__.get(getattr(function, "__name__", "")) is not function:
            continue
        if (
            isinstance(function, np.ufunc) or function is np.arange
        ):  # whose first parameter is `start_or_stop`
            continue
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            continue
        found = meaning_of(function)
        assert found is not None
        real, ours = list(parameters), list(signature_of(found).parameters)
        variadic = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values())
        if variadic or "kwargs" in ours:
            continue
        checked += 1
        assert [p for p in ours if p not in real] == [], function
        positional = [p for p in real if p in ours]
        assert positional == ours, function
    assert checked > 20
