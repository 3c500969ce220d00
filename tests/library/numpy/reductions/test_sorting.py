"""Sorting against NumPy and `jax.numpy`."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, check_call, refused

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
    check_call(jnp.argsort, jnp.asarray(x), dtype=Known(jnp.int8))


def test_lexsort() -> None:
    x = np.array([2, 1, 2, 1, 1, 2])
    check_call(np.lexsort, (x, np.arange(6) % 2))
    check_call(np.lexsort, (HARD, np.arange(8) % 2, [1, 1, 0, 0, 1, 1, 0, 0]))
    check_call(np.lexsort, RNG.integers(0, 3, (3, 4, 5)))
    check_call(np.lexsort, RNG.integers(0, 3, (3, 4, 5)), axis=Known(0))
    check_call(np.lexsort, (x, x[:2]))
    check_call(np.lexsort, [])
    check_call(np.lexsort, (np.float64(1), np.float64(2)))
    check_call(jnp.lexsort, (jnp.asarray(x), jnp.arange(6) % 2))


def test_options_that_are_refused() -> None:
    check_call(np.sort, HARD, kind=Known("bubble"))
    refused("PS203", lambda ctx, x: ctx.call(ctx.lift(np.sort), [x], {"order": ctx.lift("a")}), HARD)


def test_partition() -> None:
    x = RNG.permutation(9)
    check_call(np.partition, np.array([2, 1]), Known(0))
    check_call(np.partition, x, Known(tuple(range(9))))
    check_call(np.partition, x, Known(9))
    check_call(np.argpartition, np.array([2, 1]), Known(0))
    check_call(np.argpartition, x, Known(tuple(range(9))))
    check_call(np.argpartition, x, Known(-10))
    check_call(np.argpartition, np.float64(3), Known(0))
