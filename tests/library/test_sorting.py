"""Sorting, order statistics and searches against NumPy and `jax.numpy`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from .harness import Known, check_call, refused

RNG = np.random.default_rng(0)
HARD = np.array([3, np.nan, 1, -np.inf, 2, np.inf, np.nan, 0], np.float32)
DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"]


def distinct(dtype: str) -> np.ndarray:
    """Numbers that are all different along both axes, where the type allows it."""
    return RNG.permuted(np.arange(20).reshape(4, 5), axis=1).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_sorts(name: str, dtype: str) -> None:
    x = distinct(dtype)
    for axis in (0, 1, -1, None):
        extra = {"kind": Known("stable")}
        check_call(getattr(np, name), x, axis=Known(axis), **extra)
        check_call(getattr(jnp, name), jnp.asarray(x), axis=Known(axis))
    check_call(getattr(np, name), HARD, kind=Known("stable"))
    check_call(getattr(jnp, name), jnp.asarray(HARD))
    check_call(getattr(np, name), [3, 1, 2.5])
    check_call(getattr(np, name), 3.0)
    check_call(getattr(np, name), x, axis=Known(2))


def test_stability_and_descending() -> None:
    x = np.array([2, 1, 2, 1, 1, 2])
    check_call(np.argsort, x, stable=Known(True))
    check_call(jnp.argsort, jnp.asarray(x), descending=Known(True))
    check_call(jnp.sort, jnp.asarray(x), descending=Known(True))
    check_call(np.argsort, jnp.asarray(x))
    check_call(np.lexsort, (x, np.arange(6) % 2))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "bool", "float16"])
def test_order_statistics(dtype: str, axis: Any) -> None:
    x = distinct(dtype)
    check_call(np.median, x, axis=Known(axis))
    check_call(np.median, x[:3], axis=Known(axis), keepdims=Known(True))
    if dtype != "bool":
        for q in (0.25, 0.0, 1.0, 0.9, np.float64(0.3)):
            check_call(np.quantile, x, q, axis=Known(axis))
        check_call(np.quantile, x, np.array([0.1, 0.5]), axis=Known(axis))
        check_call(np.percentile, x, 30, axis=Known(axis))
        check_call(np.percentile, x, [25.0, 75.0], axis=Known(axis), keepdims=Known(True))


def test_order_statistics_of_nan() -> None:
    x = np.stack([HARD, np.arange(8, dtype=np.float32)])
    check_call(np.median, x, axis=Known(1))
    check_call(np.quantile, np.array([[1.0, np.nan, 2], [3, 4, 5]]), 0.4, axis=Known(1))
    refused(
        "PS203",
        lambda ctx, x, q: ctx.call(ctx.lift(np.quantile), [x, q], {"method": ctx.lift("lower")}),
        x,
        0.5,
    )


def test_partition() -> None:
    x = RNG.permutation(9)
    check_call(np.partition, np.array([2, 1]), Known(0))
    check_call(np.partition, x, Known(tuple(range(9))))
