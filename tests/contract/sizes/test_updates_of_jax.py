"""`x.at[index].set(v)` and its siblings of `jax.Array`s whose size only the run knows."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()
X = jnp.asarray([2.0, -1.0, 3.0, 0.5, 4.0])
NONE = -jnp.abs(X)
M = jnp.arange(15.0).reshape(5, 3) - 4


@cases(NONE, raises=IndexError)
@cases(X)
def at_an_integer(x):
    y = x[x > 0]
    return y.at[1].set(9.0), y.at[-1].add(9), y.at[len(y)].multiply(2.0), y.at[-5].set(1.0)


@cases.each((X,), (NONE,))
def at_an_array_that_repeats(x):
    y = x[x > 0]
    places, values = jnp.array([0, 0, 7, -1, -9]), jnp.array([1.0, 2.0, 3.0, 4.0, 5.0])
    return y.at[places].add(values), y.at[places].max(3.0), y.at[places].subtract(values)


@cases.each((X, jnp.uint8(1)), (jnp.arange(3), jnp.int8(-128)))
def less_numbers_of_fewer_bits(x, v):
    return x.at[0].subtract(v), x[x > 0].at[0].subtract(v)


@cases.each((X,), (NONE,))
def at_computed_places(x):
    y = x[x > 0]
    return y.at[jnp.arange(len(y))].multiply(2.0), y.at[jnp.nonzero(y > 2)[0]].set(y[y > 2] + 1)


@cases.each((X,), (NONE,))
def where_it_is(x):
    y = x[x > 0]
    return y.at[y > 2].set(0.0), y.at[y > 2].min(2.5)


@cases.each((X,), (NONE,))
def at_slices(x):
    y = x[x > 0]
    return y.at[1:].add(1), y.at[...].set(2.0), y.at[1:].get(), y.at[1:].apply(jnp.sin)


@cases(X, M)
def of_rows(x, m):
    y = m[x > 0]
    return y.at[:, 0].set(x[x > 0]), y.at[1].set(jnp.ones(3)), y.at[1, 2].max(100), y.at[..., 1].add(1)


@cases(X, M)
def at_rows(x, m):
    y = m[x > 0]
    return y.at[jnp.array([0, 2])].set(m[:2]), y.at[jnp.array([0, 9])].add(m[0])


@cases(X, jnp.array([0, 1, 0, 2, 0]), M)
def experts(x, e, m):
    total = jnp.zeros(())
    for i in range(4):
        mine = m[e == i]
        buffer = jnp.zeros((len(mine), 4), m.dtype)
        buffer = buffer.at[:, 1:].set(mine * (i + 1)).at[:, 0].set(x[e == i])
        total = total + (buffer**2).sum()
    return total


@cases(X, raises=ValueError)
def values_of_another_size(x):
    return x[x > 0].at[jnp.array([1, 2])].set(jnp.array([1.0, 2.0, 3.0]))


@cases(jnp.asarray([5, 16777217, 3]), -2.7)
@cases(jnp.asarray([5, 16777217, 3]), 1e10)
@cases(jnp.asarray([1.5, 2.5, 3.5], jnp.float16), np.float32(-2.7))
def values_of_a_wider_dtype(x, v):
    y = x[x > 2]
    first = jnp.array([0])
    return (
        (x.at[0].add(v), x.at[first].multiply(v), x.at[x > 4].add(v), x.at[1].set(v), x.at[0].divide(v)),
        (y.at[0].add(v), y.at[first].multiply(v), y.at[y > 4].add(v), y.at[0].set(v), y.at[:1].subtract(v)),
    )


@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types")
@pytest.mark.parametrize("function, args, options", cases.params)
def test_updates(function, args, options):
    check(function, *args, **options)


def test_gradients() -> None:
    def loss(w, x):
        y = (w * x)[x > 0]
        y = y.at[0].set(y[1] ** 2).at[jnp.array([1, 1])].add(y[0])
        return (y**2).sum()

    def of_known_size(w):
        y = (w * X)[np.array([0, 2, 3, 4])]
        y = y.at[0].set(y[1] ** 2).at[jnp.array([1, 1])].add(y[0])
        return (y**2).sum()

    w = jnp.full(5, 2.0)
    np.testing.assert_allclose(pystage.grad(loss)(w, X), jax.grad(of_known_size)(w), rtol=1e-6)
