"""Where a derivative is NaN, infinite or a matter of choice (roots at 0, ties, infinities): as JAX has it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage

INF, NAN = np.inf, np.nan
EDGES = {
    "sqrt": (lambda np: lambda x: np.sum(np.sqrt(x)), [0.0, 1.0, -1.0, INF, NAN]),
    "sqrt, not taken": (lambda np: lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), [0.0, 4.0, -1.0]),
    "log, not taken": (lambda np: lambda x: np.sum(np.where(x > 0, np.log(x), x)), [0.0, 4.0, -1.0]),
    "log": (lambda np: lambda x: np.sum(np.log(x)), [0.0, -0.0, -1.0, INF]),
    "log1p": (lambda np: lambda x: np.sum(np.log1p(x)), [-1.0, 0.0]),
    "max": (lambda np: lambda x: np.max(x), [1.0, 3.0, 3.0]),
    "max of infinities": (lambda np: lambda x: np.max(x), [INF, 1.0, INF]),
    "max of NaN": (lambda np: lambda x: np.max(x), [NAN, 1.0]),
    "min": (lambda np: lambda x: np.min(x), [1.0, 1.0, 3.0]),
    "maximum": (lambda np: lambda x: np.sum(np.maximum(x, 1.0)), [0.0, 1.0, 2.0, NAN]),
    "minimum": (lambda np: lambda x: np.sum(np.minimum(x, 1.0)), [0.0, 1.0, 2.0, NAN]),
    "clip": (lambda np: lambda x: np.sum(np.clip(x, 0.0, 1.0)), [0.0, 1.0, 0.5, 2.0, -1.0]),
    "abs": (lambda np: lambda x: np.sum(np.abs(x)), [0.0, -0.0, 2.0, -2.0, NAN, INF]),
    "abs of a number": (lambda np: lambda x: np.abs(x), 0.0),
    "sign": (lambda np: lambda x: np.sum(np.sign(x)), [0.0, -2.0]),
    "to the power 0": (lambda np: lambda x: np.sum(x**0), [0.0, 1.0]),
    "to the power 2": (lambda np: lambda x: np.sum(x**2), [0.0, 1.0]),
    "to the power 1/2": (lambda np: lambda x: np.sum(x**0.5), [0.0, 1.0]),
    "to the power -1": (lambda np: lambda x: np.sum(x**-1), [0.0, 1.0]),
    "powers of 0": (lambda np: lambda x: np.sum(0.0**x), [0.0, 1.0, 2.0]),
    "powers of 2": (lambda np: lambda x: np.sum(2.0**x), [0.0, INF, -INF]),
    "norm at 0": (lambda np: lambda x: np.linalg.norm(x), [0.0, 0.0]),
    "norms of rows": (lambda np: lambda x: np.sum(np.linalg.norm(x, axis=1)), [[0.0, 0.0], [3.0, 4.0]]),
    "largest norm": (lambda np: lambda x: np.linalg.norm(x, np.inf), [2.0, 2.0]),
    "hypot": (lambda np: lambda x: np.sum(np.hypot(x, 0.0)), [0.0, 1.0]),
    "std": (lambda np: lambda x: np.std(x), [1.0, 1.0]),
    "reciprocal": (lambda np: lambda x: np.sum(1 / x), [0.0, INF, 2.0]),
    "itself by itself": (lambda np: lambda x: np.sum(x / x), [0.0, INF, 2.0]),
    "prod": (lambda np: lambda x: np.prod(x), [0.0, 2.0, 3.0]),
    "prod of zeros": (lambda np: lambda x: np.prod(x), [0.0, 0.0, 3.0]),
    "exp": (lambda np: lambda x: np.sum(np.exp(x)), [1000.0, -1000.0, INF, -INF]),
    "logaddexp": (lambda np: lambda x: np.sum(np.logaddexp(x, 1.0)), [0.0, 1.0, -INF, INF]),
    "arctan2": (lambda np: lambda x: np.sum(np.arctan2(x, 0.0 * x)), [0.0, 1.0]),
    "arcsin": (lambda np: lambda x: np.sum(np.arcsin(x)), [1.0, 0.0]),
    "cbrt": (lambda np: lambda x: np.sum(np.cbrt(x)), [0.0, 8.0]),
    "sort": (lambda np: lambda x: np.sort(x)[0], [1.0, 1.0]),
    "median": (lambda np: lambda x: np.median(x), [1.0, 1.0, 1.0]),
    "nansum": (lambda np: lambda x: np.nansum(x), [NAN, 2.0]),
    "nanmax": (lambda np: lambda x: np.nanmax(x), [NAN, 2.0, 2.0]),
    "nan_to_num": (lambda np: lambda x: np.sum(np.nan_to_num(x)), [NAN, 2.0, INF]),
    "remainder": (lambda np: lambda x: np.sum(x % 2.0), [0.0, 0.5, -1.0, 2.0, -2.0]),
    "remainder of a negative": (lambda np: lambda x: np.sum(3.0 % x), [0.7, -1.0, -2.0]),
    "fmod": (lambda np: lambda x: np.sum(np.fmod(x, 2.0)), [0.0, 0.5, -1.0]),
    "floor": (lambda np: lambda x: np.sum(np.floor(x) + np.round(x)), [0.0, 0.5]),
    "interp": (
        lambda np: lambda x: np.sum(np.interp(x, np.array([0.0, 1.0, 3.0]), np.array([1.0, 3.0, -1.0]))),
        [-1.0, 0.0, 0.5, 1.0, 3.0, 4.0],
    ),
    "places of interp": (
        lambda np: lambda x: np.sum(np.interp(np.array([0.0, 0.5, 3.0, 4.0]), x, np.array([1.0, 3.0, -1.0]))),
        [0.0, 1.0, 3.0],
    ),
    "sinc": (lambda np: lambda x: np.sum(np.sinc(x)), [0.0, 0.5]),
    "of no elements": (lambda np: lambda x: np.sum(x[2:]), [1.0, 2.0]),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges_are_those_of_jax(name):
    make, at = EDGES[name]
    point = np.array(at) if isinstance(at, list) else at
    with jax.enable_x64(True):
        wanted = np.asarray(jax.grad(make(jnp))(jnp.asarray(point)))
    found = pystage.grad(make(np))(point)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_where_the_choice_is_our_own():
    """What docs/differentiation.md says: a power of 0 to 0, and ties in all that picks the greater of two."""
    assert pystage.grad(lambda x, y: x**y)(0.0, 0.0) == 0.0
    assert pystage.grad(lambda x: np.fmax(x, 1.0))(1.0) == 0.5


def test_a_float_remainder_keeps_the_sign_of_its_zero():
    for x, y in ((0.0, -1.0), (-0.0, 1.0), (3.0, -1.0), (-4.0, 2.0)):
        found = pystage.compile(lambda x, y: (x % y, np.array([x]) % np.array([y])))(x, y)
        assert np.signbit(found[0]) == np.signbit(found[1][0]) == np.signbit(x % y)
