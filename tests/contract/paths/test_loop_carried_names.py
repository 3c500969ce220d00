"""Names that a trip of a loop takes over from another one, and views of what is one of several arrays."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


def x(n=4):
    return np.arange(float(n))


@cases(x(), 5)
def what_it_was_before_the_last_trip(y, n):
    for _ in range(n):
        old = y
        y = y + 1
    return old


@cases(np.array([1.0, 3.0]))
def until_it_hardly_changes(y):
    for _ in range(50):
        old = y
        y = 0.5 * (y + 2.0 / y)
        if np.abs(y - old).max() < 1e-3:
            break
    return np.abs(y - old).max()


@cases(x(3), np.ones(3), 4)
@cases(x(3), np.ones(3), 3)
def two_that_are_swapped(a, b, n):
    y, w = a, b
    for _ in range(n):
        z = y
        y, w = w, y
    z[0] = 9
    return z


@cases([1], 4)
def a_list(y, n):
    for k in range(n):
        old = y
        y = [*y, k]
    return old


@cases([1], 3)
def a_list_with_the_elements_of_another(y, n):
    first = y
    for k in range(n):
        y = [*y, k]
    return first, y


@cases([1], 3)
def a_list_that_gets_the_elements_of_another(y, n):
    for k in range(n):
        z = []
        z.extend(y)
        z.append(k)
        y = z
    return y


@cases({7: 1.0}, 3)
def a_dict_with_the_entries_of_another(y, n):
    for k in range(n):
        old = y
        y = {**y, k: 1.0}
    return old, y


@cases(x(), 5)
def in_a_while_loop(y, n):
    while n > 0:
        n -= 1
        old = y
        y = y * 2
    return old, y


@cases([x(3), x(3) + 1, x(3) + 2, x(3) + 7], x(3) + 5)
def the_element_before(rows, y):
    for k in range(len(rows)):
        z = y
        y = rows[k]
    z[0] = -1.0
    return z, y


SIGNS = [(p, q, r) for p in (1.0, -1.0) for q in (1.0, -1.0) for r in (1.0, -1.0)]


@cases.each(*[(x(6), x(6), x(6), *signs) for signs in SIGNS])
def through_a_view_of_one_of_them(x, y, z, p, q, r):
    a = x if p > 0 else y
    b = a if q > 0 else z
    w = b.reshape(2, 3)
    u = w.T if r > 0 else w.reshape(3, 2)
    u[0, 0] = -50


@cases.each(*[(x(6), x(6), x(6), *signs) for signs in SIGNS])
def through_a_view_of_a_view_of_one_of_them(x, y, z, p, q, r):
    a = x if p > 0 else y
    b = a if q > 0 else z
    u = b[1:] if r > 0 else b[:5]
    v = u[::2] if p * q > 0 else u[1:4]
    v[0] = -50
    return v


@cases(x(), x() + 3, 2)
def stored_after_they_were_swapped(x, y, n):
    b = y
    a = y
    for i in range(3):
        a = b
        if i % 2 != 0:
            b = x
    x[0] = 9
    s = a[0]
    t = 0.0
    for _ in range(n):
        t += b[0]
    return s, t


@cases(x(), -1.0, refused="PS210")
def equal_views_are_two_objects(b, r):
    a = b[1:]
    c = b[1:]
    d = a if r > 0 else c
    return d is a


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
