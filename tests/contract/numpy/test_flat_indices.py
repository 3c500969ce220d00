"""`np.unravel_index` and `np.ravel_multi_index`: flat indices and those along axes, of shapes that may be computed."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([3.0, -1, 2, 5, 0.5])
ROWS, COLUMNS = np.array([0, 2, 1]), np.array([3, 0, 2])
SHAPES = [np.array(s) for s in ([3, 4], [4, 4], [3, 5])]


@cases.each(
    (ROWS, COLUMNS, SHAPES[0]),
    (ROWS[:0], COLUMNS[:0], SHAPES[0]),
    (ROWS.astype(np.int8), COLUMNS, SHAPES[1]),
    (ROWS > 0, COLUMNS, SHAPES[2]),
)
@cases.each(
    (2, 3, SHAPES[0]),
    (ROWS, 1, SHAPES[0]),
    (ROWS, COLUMNS[:1].astype(np.uint64), SHAPES[1]),
    (ROWS[None], COLUMNS[:, None], SHAPES[0]),
)
@cases.each((ROWS[:0], COLUMNS[:0], SHAPES[0] * 0), (jnp.asarray(ROWS), COLUMNS, SHAPES[0]))
@cases(ROWS, COLUMNS, SHAPES[0] - 1, raises=ValueError)
@cases(ROWS - 1, COLUMNS, SHAPES[0], raises=ValueError)
@cases(ROWS, COLUMNS[:2], SHAPES[0], refused="PS201")
@cases(ROWS, COLUMNS, SHAPES[0] * np.array([0, 1]), raises=ValueError)
@cases(ROWS * 1.0, COLUMNS, SHAPES[0], raises=TypeError)
def raveled(i, j, s):
    known = np.ravel_multi_index((i, j), (3, 4)), np.ravel_multi_index([i, j], (8, 8), order="F")
    return (
        known,
        np.ravel_multi_index((i, j), (s[0], s[1])),
        np.ravel_multi_index((i, j), (s[0], 5), order="F"),
    )


@cases.each((ROWS * 3 - 4, COLUMNS * 2, SHAPES[0]), (5, -1, SHAPES[0]))
def raveled_in_other_modes(i, j, s):
    n, m = s
    return (
        np.ravel_multi_index((i, j), (2, 2), mode="wrap"),
        np.ravel_multi_index((i, j), (2, 3), mode="clip"),
        np.ravel_multi_index((i, j), (n, m), mode=("clip", "wrap")),
        np.ravel_multi_index((i,), n, mode="wrap"),
    )


@cases(ROWS, raises=ValueError)
def raveled_of_another_number(i):
    return np.ravel_multi_index((i, i, i), (9, 9))


@cases.each(
    (ROWS, SHAPES[0]),
    (ROWS[:0], SHAPES[0]),
    (np.int32(3), SHAPES[1]),
    (ROWS[:, None] + ROWS, SHAPES[0]),
    (True, SHAPES[0]),
)
@cases.each((11, SHAPES[0]), (ROWS[:0], SHAPES[0] * 0))
@cases(12, SHAPES[0], raises=ValueError)
@cases(0, SHAPES[0] * 0, raises=ValueError)
@cases(ROWS - 1, SHAPES[0], raises=ValueError)
@cases(ROWS * 9, SHAPES[0], raises=ValueError)
@cases(ROWS * 0.5, SHAPES[0], raises=TypeError)
def unraveled(i, s):
    n, m = s
    return np.unravel_index(i, (n, m)), np.unravel_index(i, (n, m), order="F"), np.unravel_index(i, n * m)


@cases.each((X, 0.0), (X, 4.0), (X, -9.0))
@cases(X, 9.0, raises=ValueError)
def nearest(x, t):
    y = x[x > t]
    d = np.abs(y[:, None] - y[None, :]) + np.eye(len(y)) * 9
    i, j = np.unravel_index(d.argmin(), d.shape)
    return i, j, d[i, j], np.ravel_multi_index((i, j), d.shape)


@cases.each((X, 0.0), (X, 9.0), (X, -9.0))
def places_and_back(x, t):
    m = np.outer(x[x > t], x)
    places = np.nonzero(m > 1)
    flat = np.ravel_multi_index(places, m.shape)
    i, j = np.unravel_index(flat, m.shape)
    return flat, i, j, m[i, j]


@cases.each((X, np.array([0.0, -9.0, 4.0])), (X, np.array([])))
@cases(X, np.array([0.0, 9.0]), raises=ValueError)
def in_a_loop(x, ts):
    found = []
    for t in ts:
        m = np.subtract.outer(x[x > t], x)
        i, j = np.unravel_index(np.argmax(m), m.shape)
        found.append((i, j, m[i, j]))
    return found


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
