"""`jax.Array`s in functions of NumPy: those that use a method or the operators of the array, and those that convert it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X, M = jnp.array([0.5, -1.25, 2.0, 0.75]), jnp.arange(12.0).reshape(3, 4)
N = jnp.array([2, 0, 1])


@cases(X, M)
def by_the_arrays_own(x, m):
    return (
        np.flip(x),
        np.flip(m=m, axis=1),
        np.moveaxis(m, 0, 1),
        np.split(x, 2),
        np.vsplit(m, 3),
        np.unstack(m),
    )


@cases(X, M)
def converted(x, m):
    return (
        np.trace(m),
        np.diagonal(m),
        np.isposinf(x),
        np.add.reduce(x),
        np.add.accumulate(x),
        np.linalg.trace(m[:, :3]),
    )


@cases(X, raises=ValueError)
def of_its_own_type(x):
    y = np.float32(x)
    y[0] = 1


@cases(X)
def of_another_type(x):
    y = np.float64(x)
    y[0] = 1
    return y, np.float32(x)


@cases(X, N)
def by_place(x, i):
    return np.take_along_axis(x, i, 0), np.take_along_axis(x, i + 9, 0), np.ix_(i)


@cases(X, raises=ValueError)
def what_is_converted_is_read_only(x):
    a = np.asarray(x)
    a[0] = 1.0
    return a


@cases(M, raises=ValueError)
def so_are_views_of_it(m):
    a = np.rot90(m)
    a[0, 0] = 1.0
    return a


@cases(X)
def but_copies_are_not(x):
    a = np.array(x)
    a[0] = 1.0
    return a, np.sort(x), np.concatenate([x, x])


@cases(X, raises=NotImplementedError)
def by_a_method_that_refuses_the_mode(x):
    return np.take(x, np.array([0, 1]))


@cases(X)
def methods_take_no_lists(x):
    return np.repeat(x, [1, 2, 0, 1]), np.searchsorted(np.sort(x), [0.0, 1.0]), np.take(x, [0, 1])


@cases(X)
def a_class_of_its_own(x):
    return (
        type(x).__name__,
        type(x) is jax.Array,
        isinstance(x, jax.Array),
        hasattr(x, "devices"),
        type(x[0]) is type(x),
    )


@cases(X, raises=AttributeError)
def named_in_messages(x):
    return x.strides


@cases(N, -1, raises=TypeError)
@cases(N, np.int64(-2), raises=TypeError)
@cases(N, 3)
def integers_to_negative_powers(i, k):
    return i**k


@cases(jnp.zeros((0, 2)), raises=IndexError)
def of_an_empty_array(x):
    return x[1]


@cases(X, raises=OverflowError)
def a_number_beyond_its_integers(x):
    return x[2**63]


@cases(X, raises=IndexError)
def an_item_outside(x):
    return x.item(9)


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_jax_in_numpy(program, args, options):
    check(program, *args, **options)


def starts(x):
    return x.sum(initial=1.0)


def starts_in_numpy(x):
    return np.sum(x, initial=1.0)


@pytest.mark.parametrize("program", [starts, starts_in_numpy])
def test_the_argument_that_a_method_forgets_is_refused(program):
    check(program, X, refused="PS203")


def norm(x):
    return np.linalg.norm(x)


def product(x, y):
    return x @ y, np.vecdot(x, y), x * y, np.exp(x), x.sum()


def test_bfloat16_in_numpy():
    x = np.array([0.5, -1.25, 2.0], jnp.bfloat16)
    check(product, x, x + 1)
    check(norm, x, refused="PS203")
    check(norm, jnp.asarray(x), refused="PS203")
