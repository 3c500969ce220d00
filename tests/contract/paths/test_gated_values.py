"""What is one thing on one path and another on the other: arrays of different types, functions, classes, structures.

Whatever is done with it is done for each; a loop that makes an array of a number runs its first trip apart.
"""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([1.0, -2.0, 4.0])
J = jnp.array([1.0, -2.0, 4.0], jnp.float32)
TRIPS = [(X, 0), (X, 1), (X, 3)]
JAX_TRIPS = [(J, 0), (J, 1), (J, 3)]
BOTH = [(X, 1), (X, 0)]


class Box:
    def __init__(self, v):
        self.v = v


def doubled(x):
    return x * 2


def halved(x):
    return x / 2


# ---------------------------------------------------------------- loops


@cases.each(*TRIPS, *JAX_TRIPS)
def a_sum_of_arrays(x, n):
    acc = 0
    for i in range(n):
        acc = acc + x * i
    return acc


@cases.each(*TRIPS, *JAX_TRIPS)
def a_sum_of_numbers(x, n):
    acc = 0.0
    for i in range(n):
        acc += (x * i).sum()
    return acc


@cases.each(*JAX_TRIPS)
def the_best(x, n):
    best = -np.inf
    for i in range(n):
        value = jnp.sum(x * i)
        if value > best:
            best = value
    return best


@cases.each(*JAX_TRIPS)
def a_while_loop(x, n):
    acc, i = 0, 0
    while i < n:
        acc += x[i]
        i += 1
    return acc


@cases.each(*TRIPS)
def the_last_row(x, n):
    found = None
    rows = 0
    for i in range(n):
        rows = x + i
        found = rows * 2
    return rows, found


@cases.each(*TRIPS)
def used_after_the_loop(x, n):
    acc = 0
    for i in range(n):
        acc = acc + x
    return acc + 1, np.sum(acc), np.shape(acc)


# ---------------------------------------------------------------- branches


@cases.each(*BOTH)
def a_number_or_an_array(x, c):
    y = x if c else 2
    return y, y * 2, y + x, [y, 1]


@cases.each(*BOTH)
def arrays_of_different_types(x, c):
    y = x > 0 if c else x * 2
    return y, y.sum(), y[0], len(y), y.dtype == bool


@cases.each(*BOTH)
def arrays_of_different_shapes(x, c):
    y = x[:2] * 1 if c else np.ones((3, 2))
    return y, y.shape, y.sum(), np.sin(y)


@cases.each(*BOTH)
def a_function(x, c):
    f = doubled if c else halved
    return f(x), [f(1), f(3)]


@cases.each(*BOTH)
def a_function_of_a_library(x, c):
    f = np.sin if c else np.exp
    return f(x)


@cases.each(*BOTH)
def a_class(x, c):
    kind = np.float32 if c else int
    return kind(x[0]), kind


@cases.each(*BOTH)
def tuples_of_different_lengths(x, c):
    t = (x, 1) if c else (x, 1, 2)
    return t, len(t), t[-1], sum(t[1:])


@cases.each(*BOTH)
def lists_of_different_lengths_that_grow(x, c):
    values = [1, 2] if c else [x[0]]
    values.append(3)
    return values, len(values)


@cases.each(*BOTH)
def a_store_through_it(x, c):
    y = x if c else np.zeros((2, 2))
    y[0] = 7.0
    return x, y


@cases.each(*BOTH)
def it_is_the_argument(x, c):
    y = x if c else 0
    return y


@cases.each((X, 1), raises=TypeError)
@cases.each((X, 0))
def an_error_on_one_path(x, c):
    y = None if c else x
    return y + 1


@cases.each(*BOTH)
def caught_on_one_path(x, c):
    y = x if c else "text"
    try:
        return y / 2
    except TypeError:
        return -1


@cases.each(*BOTH)
def text_or_a_number(x, c):
    y = "no" if c else 2.5
    return y, [y]


@cases.each(*BOTH)
def asked_what_it_is(x, c):
    y = x if c else 2.5
    if isinstance(y, np.ndarray):
        return y.shape
    return (y,)


@cases.each(*BOTH)
def asked_whether_it_is_true(x, c):
    y = x[:1] if c else 0
    return (1 if y else 2), not y, y is x, bool(y)


MODEL = Box(2.5)


@cases.each(*BOTH)
def an_attribute_of_the_world(x, c):
    box = Box(MODEL.v)
    if c:
        box.v = x
    return box.v * 2, MODEL.v


@cases.each(*BOTH)
def given_to_a_function(x, c):
    y = x if c else 2
    return doubled(y), halved(doubled(y))


@cases.each((X, 0), (X, 1), (X, 2), (X, 3))
def one_of_four(x, n):
    y = 1 if n == 0 else x if n == 1 else (x, n) if n == 2 else [n]
    return y


@cases.each(*BOTH)
def gone_over(x, c):
    values = x if c else (1, 2)
    total = 0
    for v in values:
        total = total + v
    return total


def scaled(x, by=1, plus=0):
    return x * by + plus


@cases(X, 1, refused="PS301")
def a_partial_with_other_keywords(x, c):
    function = functools.partial(scaled, by=2) if c else functools.partial(scaled, plus=3)
    return function(x)


@cases.each(*BOTH)
def a_partial_with_another_number(x, c):
    function = functools.partial(scaled, by=2, plus=c) if c else functools.partial(scaled, by=3, plus=1)
    return function(x)


@cases.each((9.5,), (8.5,), (1.0,))
def methods_of_strings(x):
    grade = "A" if x > 9 else "B" if x > 8 else "C"
    return grade.lower(), grade + "!", {"A": 1.0, "B": 2.0, "C": 3.0}[grade], len(grade), f"{grade}: {x}"


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
