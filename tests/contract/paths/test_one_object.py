"""Names that are one object, or two, after loops, branches and calls: what is handed back, `is`, and stores."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


def x(n=4):
    return np.arange(float(n))


# ---------------------------------------------------------------- after a loop


@cases(x(), 5)
@cases(x(), 1)
def one_that_follows_another(x, n):
    y = x
    for i in range(n):
        if i % 2:
            y = x * i
            continue
        x = y
    return x, y, x is y


@cases(x(), 5)
@cases(x(), 3)
def taken_under_two_conditions(x, n):
    y = z = x
    for i in range(n):
        if i > 1:
            y = x * i
        if i > 2:
            z = y
    z[0] = 7
    return y, z, y is z


@cases(x(), x(), 3)
@cases(x(), x(), 1)
@cases(x(), x() + 1.0, 2)
def two_names_that_begin_as_one_and_follow_others(a, b, n):
    c, y, z = a, b, b
    for _ in range(n):
        y = a
        z = c
        a = b
    y[0] += 10.0
    z[1] += 20.0
    return y, z, y is z, y is b, z is c


@cases(x(), x() + 1.0, 2)
@cases(x(), x() + 1.0, 0)
def items_that_begin_as_one_and_follow_others(a, b, n):
    c, d = a, [b, b]
    for _ in range(n):
        d = [a, c]
        a = b
    return d, d[0] is c, d[0] is d[1]


@cases(x(), 3)
@cases(x(), 1)
def a_view_first_and_what_trips_make_later(x, n):
    a, b = x[::-1], x[::-1]
    for _ in range(n):
        b *= 2
        c = a
        a = c + 1
        b = c
    return a, b, x


@cases(x(), 5)
@cases(x(), 2)
def made_once_and_taken_by_both(x, n):
    a, b = x + 1.0, x + 2.0
    for i in range(n):
        c = x * i
        if i % 2 == 0:
            a = c
        if i % 3 == 0:
            b = c
        a[0] += 1.0
    return a, b, a is b


@cases(x(), 4)
@cases(x(), 3)
def in_an_inner_loop(x, n):
    y = z = x
    for i in range(n):
        for j in range(n):
            y = z
            if j < 1:
                y = y.copy()
            z = x
        x, y = y, x
    return x, y, z


@cases(x(), 4.0)
@cases(x(), 0.5)
def in_a_while_loop(x, limit):
    y, i = x, 0
    while i < limit:
        if x[1] * i > 1:
            y = x + i
        x = y
        x[0] += 1
        i += 1
    return x, y, y[0]


@cases([1, 2], 5)
@cases([1, 2], 1)
def lists(x, n):
    y = x
    for i in range(n):
        if i % 2:
            y = [x[0] + i, i]
            continue
        x = y
    x[0] = -9
    return x, y, x is y


@cases({"a": 1}, 5)
@cases({"a": 1}, 2)
def dicts(x, n):
    y = z = x
    for i in range(n):
        if i > 1:
            y = {"a": x["a"] + i}
        if i > 2:
            z = y
    z["a"] = -9
    return y, z, y is z


@cases(x(), 1.0)
def neither_of_which_is_what_it_was(x, k):
    y = np.ones(4) * k
    for _ in range(2):
        x = x + k
        if x is not y:
            y = x
    x[2] = -3
    return x, y


@cases(x(6).reshape(2, 3), 5)
@cases(x(6).reshape(2, 3), 2)
def a_view_of_what_another_one_is(x, n):
    c = x * 2
    y = c[1:]
    for i in range(n):
        if i > 1:
            c = x * i
            y = c[1:]
    y[0] = 77
    return y, c


@cases(x(), 5, refused="PS504")
def parts_of_what_a_trip_makes(x, n):
    y, z = x[1:], x[:3]
    for i in range(n):
        c = x * i
        if i > 1:
            y = c[1:]
        if i > 2:
            z = c[:3]
    return y, z


# ---------------------------------------------------------------- equal views are two objects


@cases(x(), x() + 1, 1)
@cases(x(), x() + 1, -1)
def made_in_a_branch(x, w, k):
    y = z = x
    if k > 0:
        y = w[:]
        z = w[:]
    return y, z, y is z


@cases(x(), 1)
@cases(x(), -1)
def of_an_array_of_a_branch(x, k):
    y = z = x
    if k > 0:
        c = x * k
        y = c[:]
        z = c[:]
    return y, z, y is z


@cases(x(), x() + 1, 5)
@cases(x(), x() + 1, 0)
def made_in_a_loop(x, w, n):
    y = z = x
    for _ in range(n):
        y = w[:]
        z = w[:]
    return y, z


@cases(x(6).reshape(2, 3), 2, refused="PS210")
def one_that_only_a_trip_assigns(x, n):
    y = x[0]
    for i in range(n):
        y = x[i]
        z = y
    return y, z


@cases(x(), 2, refused="PS504")
def swapped_in_a_loop(x, n):
    y, z = x[1:], x[1:]
    first = y
    for _ in range(n):
        y, z = z, y
    return y, z, first


# ---------------------------------------------------------------- views that calls hand back


@cases(x(5))
def an_argument_of_a_second_call(x):
    def same(w):
        return w

    a, b, c = x[1:], x[2:], x[2:]
    same(b)
    return same(a) is a, same(a), a, same(c) is c, same(c), c, same(b), b


@cases(x(5).reshape(5, 1), 1, 2)
def a_row_at_a_computed_place(x, i, j):
    def same(w):
        return w

    a, b = x[i], x[j]
    return same(a) is a, same(b) is b


@cases(x(5))
def one_view_twice_or_two(x):
    def pair(w, v):
        return w, v, w is v

    a, b = x[1:], x[1:]
    return pair(a, a), pair(a, b), pair(b, b)


@cases(x(5))
def an_entry_of_an_argument(x):
    def entry(d):
        return d["w"]

    a, b = {"w": x[1:]}, {"w": x[1:]}
    return entry(a), a["w"], entry(b), b["w"]


@cases(x(5))
def made_in_each_call(x):
    def twice(w):
        v = w[:]
        return v, v

    a, b = twice(x), twice(x)
    return a, b, a[0] is b[0], a[0] is a[1]


@cases(x(5), 1.0)
@cases(x(5), -1.0)
def an_argument_on_one_path(x, k):
    def either(w):
        return w if k > 0 else x

    a, b = x[:], x[:]
    return either(a), a, either(b), b


# ---------------------------------------------------------------- structured arrays

RECORDS = np.array([(1, 2.0), (3, 4.0), (5, 6.0)], dtype=[("a", "i4"), ("b", "f8")])


@cases(RECORDS, 1)
@cases(RECORDS, -1)
def parts_of_records_by_path(x, k):
    y = z = x[1:]
    if k > 0:
        y = z = x[:2]
    return y, z


@cases(RECORDS, 3)
def elements_of_records(x, n):
    y = z = x[0]
    for i in range(n):
        y = x[i]
        z = y
    return y, z


@cases(RECORDS)
def records_that_calls_hand_back(x):
    def same(v):
        return v

    def twice(v):
        w = v[1:]
        return w, w

    a, b = x[1:], x[1:]
    return same(a), a, same(b), b, twice(x), twice(x)


# ---------------------------------------------------------------- numbers without a common type


@cases(np.ones(3, ml_dtypes.bfloat16), 4)
@cases(np.ones(3, ml_dtypes.bfloat16), 1)
def entries_that_are_an_int_or_a_bfloat16(b, n):
    d = {}
    for i in range(n):
        if i % 2:
            d[i] = i
        else:
            d[i] = b[0]
    return d, d[0]


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
