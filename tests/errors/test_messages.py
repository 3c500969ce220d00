"""What Python and NumPy say where a number is taken for a container, or an array is of another shape."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()
X = np.array([1.0, 2.0, 3.0])


def _message(function):
    try:
        return function()
    except (IndexError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)


@cases(np.array(5), 3, X)
def numbers_have_no_items(a, n, x):
    def store(number):
        number[0] = 1

    def delete(number):
        del number[0]

    y = -a
    return (
        _message(lambda: y[0]),
        _message(lambda: y[:]),
        _message(lambda: y[None, 0]),
        _message(lambda: (n > 1)[0]),
        _message(lambda: n[0]),
        _message(lambda: store(y)),
        _message(lambda: store(n)),
        _message(lambda: delete(x[0])),
        y[()],
        y[..., None],
    )


@cases(X, np.array(1.0), 2.0)
def indices_that_are_no_integers(x, a, n):
    return (
        _message(lambda: x[a]),
        _message(lambda: x[-a]),
        _message(lambda: x[n]),
        _message(lambda: x[x]),
        _message(lambda: x[[n, 1]]),
        _message(lambda: x[[0.5]]),
        _message(lambda: x[x[:0]]),
        _message(lambda: x[np.array([])]),
        _message(lambda: x[[]]),
    )


@cases(1.0, X, X.reshape(1, 3))
def rows_of_several_lengths(n, x, rows):
    return (
        _message(lambda: np.array([[n, n], [n]])),
        _message(lambda: np.array([[n, n], [n, n], n])),
        _message(lambda: np.array([[[n, n], [n]], [[n, n], [n, n]]])),
        _message(lambda: np.array([n, [n, n]])),
        _message(lambda: np.asarray([n, x])),
        _message(lambda: np.array([x, x[:2]])),
        _message(lambda: np.array([rows, rows[:, :2]])),
        _message(lambda: np.array([rows, x])),
        _message(lambda: np.sum([[n, n], [n]])),
        _message(lambda: np.array([[n, 2.0], [1, 2, 3]])),
    )


@cases.each(
    (1.0,), (2,), (True,), (1j,), (np.float32(1),), (np.int8(2),), (np.complex64(1),), (X,), (np.array(1.0),)
)
def operators_on_none(x):
    def add(y, z):
        y += z
        return y

    def divide(y, z):
        y //= z
        return y

    return (
        _message(lambda: x / None),
        _message(lambda: None**x),
        _message(lambda: x < None),
        _message(lambda: x <= None),
        _message(lambda: x @ None),
        _message(lambda: x & None),
        _message(lambda: add(None, x)),
        _message(lambda: divide(None, x)),
        _message(lambda: add("a", None)),
        _message(lambda: divide(2, "a")),
        x + x,
    )


class Held:
    def __init__(self):
        self.value = None

    def ratio(self, x):
        return x / self.value


@cases.each((1.0, 3.0), (1.0, 0.0), (-1.0, 3.0), (-1.0, 0.0))
def none_on_a_path_that_is_not_taken(x, y):
    held = Held()
    n = 0.0
    if x > 0:
        held.value = x
    if y > 1 and held.value is not None:
        n = held.ratio(y)
    text = ""
    try:
        n += held.ratio(y)
    except TypeError as error:
        text = str(error)
    return n, text


@cases.each(
    (np.zeros(0),),
    (np.zeros((2, 0), int),),
    (X,),
    (jnp.zeros(0),),
    (jnp.zeros(2),),
    (np.array(0.0),),
    (X[:1],),
)
def the_truth_of_several_elements_or_none(x):
    return _message(lambda: bool(x)), _message(lambda: 1 if x + x > x else 2), _message(lambda: not x)


@cases(X)
def broadcasts_to_other_shapes(x):
    rows = x.reshape(1, 3)
    return (
        _message(lambda: np.broadcast_to(x, (3, 2))),
        _message(lambda: np.broadcast_to(rows, (3,))),
        _message(lambda: np.broadcast_to(x, ())),
        _message(lambda: np.full((), x)),
        np.full((), rows[:, 1], np.int64),
        np.full((3,), rows),
    )


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_message(function, args, options):
    check(function, *args, **options)
