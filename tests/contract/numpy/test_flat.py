"""`x.flat`: read, stored to and gone over, of arrays of any layout."""

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

A = np.arange(12.0).reshape(4, 3)
N = np.arange(12).reshape(3, 4)
X = np.array([1.0, 2.0, 3.0, 4.0])


@cases.each(*[(A, i) for i in (0, 5, -1, 11, -12)])
@cases.each((A, 12), (A, -13), raises=IndexError)
def an_element(x, i):
    return x.flat[i], x.T.flat[i], x.flat[3], x.flat[-2]


@cases.each(*[(A, i) for i in (0, 5, -1, 11, -12)])
@cases.each((A, 12), (A, -13), raises=IndexError)
def a_store(x, i):
    x.flat[i] = 50
    x.T.flat[i] += 7
    x.flat[2] = i
    return x.flat[i]


@cases(A)
def parts(x):
    part = x.flat[2:5]
    whole = x.flat[...]
    some = x.flat[[1, 7, 1]], x.flat[np.array([[0, 1], [2, 3]])], x.flat[::-2], x.T.flat[3:8], x.flat[(4,)]
    part[0] = 90
    whole[1] = 91
    return part, whole, some, np.sum(x.flat[x.ravel() > 20]), len(x.flat)


@cases.each((A, np.array([0, 3, -1])))
@cases.each((A, np.array([0, 12, 20])), (A, np.array([0, -13, 20])), raises=IndexError)
def computed_places(x, places):
    got = x.flat[places]
    x.flat[places] = got * 10
    x.flat[places] = 3
    return got


@cases(A)
def stores_into_parts(x):
    x.flat[0:4] = [1, 2]
    x.flat[6:8] = [7.0, 8.0, 9.0]
    x.flat[9:] = 5
    x.flat[[8, 8]] = [60, 61]
    x.T.flat[5:2:-1] = (70, 71)
    x.flat[1:3] = []
    return x[1:3]


@cases.each((A, X), (A, X[:1]), (A, np.arange(30.0)), (N, np.arange(5)))
def the_whole_is_assigned(x, v):
    x.flat = v
    y = np.zeros((2, 3))
    y.flat = 4
    y.T.flat[:] = v
    return y


@cases(A)
def a_loop(x):
    total = 0.0
    for v in x.flat:
        total = total * 0.5 + v
    for i, v in enumerate(x[1:].T.flat):
        x.flat[i] = v * 2
        total += i * v
    for v, w in zip(x.flat, x.T.flat):
        total += v * w
    return total


@cases(X)
def its_own_position(x):
    it = x.flat
    first = next(it)
    x[2] = 60
    rest = list(it)
    return first, rest, list(it), it[1], it.copy()


@cases(X)
def where_a_loop_has_stopped(x):
    it = x.flat
    for _ in range(2):
        next(it)
    total = 0.0
    for v in it:
        total += v
    return total, list(it)


@cases(A)
def as_an_array(x):
    y = x.T.flat.copy()
    y[0] = 40
    return y, np.sum(x.flat), max(x.flat), type(x.flat) is np.flatiter


@cases(A, raises=IndexError)
def too_many_indices(x):
    x[0] = 5
    return x.flat[1, 2]


@cases.each((A, X[:2]), raises=ValueError)
def an_array_for_an_element(x, v):
    x.flat[3] = v


@cases(np.zeros((0, 3)))
def nothing(x):
    x.flat = 3
    x.flat[:] = [1, 2]
    return x.flat[:], len(x.flat), [v for v in x.flat]


@cases(np.arange(3) + 1j)
def complex_numbers(z):
    z.flat[1] = 5
    z.real.flat[0] = 9
    return z.imag.flat[2]


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_flat(function, args, options):
    check(function, *args, **options)


def into_its_own_memory(x):
    x.flat[1:] = x.ravel()


def what_a_loop_that_ends_early_leaves(x):
    it = x.flat
    for v in it:
        if v > 2:
            break
    return next(it)


def arithmetic(x):
    return x.flat + 1


def an_array_that_may_share_memory(x):
    return np.asarray(x.flat)


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (arithmetic, "PS202"),
        (an_array_that_may_share_memory, "PS606"),
        (into_its_own_memory, "PS606"),
        (what_a_loop_that_ends_early_leaves, "PS606"),
    ],
)
def test_what_is_not_known_is_refused(function, code):
    check(function, X, refused=code)
