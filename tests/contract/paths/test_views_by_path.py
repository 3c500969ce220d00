"""Names that are a view on one path and an array of its own, or another view, on the other."""

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

A = np.arange(12.0).reshape(4, 3)
X = np.array([1.0, 2.0, 3.0, 4.0])
YES_AND_NO = [(A, 1), (A, 0)]


class Box:
    def __init__(self, v):
        self.v = v


# ---------------------------------------------------------------- after a branch


@cases.each(*YES_AND_NO)
def a_row_or_an_array_of_its_own(x, c):
    y = x[0]
    if c:
        y = y + 1
    y[1] = 7
    x[0, 0] = 50
    return y * 1, y


@cases.each(*YES_AND_NO)
def a_row_or_its_copy_is_only_read(x, c):
    row = x[1]
    if c:
        row = row * 2.0
    return np.sum(row) + row[0]


@cases.each((X, 1), (X, 0))
def an_argument_or_its_root(x, c):
    y = x
    if c:
        y = np.sqrt(x)
    y[0] = 9
    return y is x, y


@cases.each((X, 1), (X, 0))
def an_argument_or_a_view_of_all_of_it(x, c):
    y = x
    if c:
        y = x[:]
    y[1] = 4
    return y is x, y


@cases.each((A, A.T * 1, 1), (A, A.T * 1, 0))
def a_row_of_one_or_a_column_of_another(a, b, c):
    y = a[0]
    if c:
        y = b[:, 0]
    y += 1
    a[0, 1] = 100
    b[1, 0] = 200
    return y


@cases.each((A[:3], 1), (A[:3], 0))
def an_array_or_its_transpose(a, c):
    y = a
    if c:
        y = a.T
    y[0] = -1
    y[2, 1] += 5
    return y[1] * 1, y


@cases.each(*[(A, c, d, i, j) for c in (1, 0) for d in (1, 0) for i, j in [(1, 2), (3, -1)]])
def rows_at_computed_places(a, c, d, i, j):
    y = a[0]
    if c:
        y = y * 2
    elif d:
        y = a[i]
    if d:
        y = a[j]
    y[0] = -1
    a[i, 1] = 30
    return y * 1


@cases.each(*[(A, n) for n in range(5)])
def one_of_many(a, n):
    if n == 0:
        y = a[0]
    elif n == 1:
        y = a[:, :][2]
    elif n == 2:
        y = a[::-1][0]
    elif n == 3:
        y = a.T[:, 1]
    else:
        y = np.zeros(3)
    y += 10
    return y


@cases.each(*YES_AND_NO)
def two_names_for_it(x, c):
    y = x[0]
    z = y
    if c:
        y = z = y + 1
    y[0] = 5
    z[1] = 6
    return y * 1, z * 1


@cases.each(*YES_AND_NO)
def two_views_of_one_row_or_two_arrays(x, c):
    y, z = x[0, :2], x[0, 1:]
    if c:
        y, z = y + 1, z * 3
    y += 10
    z += 100
    y[1] = z[0] + 1
    return y * 1, z * 1


@cases.each(*YES_AND_NO)
def a_view_of_it(x, c):
    y = x[0]
    if c:
        y = y * 2
    z = y[1:]
    z += 1
    x[0, 2] = 40
    return z * 1, y * 1


@cases.each(*YES_AND_NO)
def a_view_of_what_one_arm_made(x, c):
    t = x
    if c:
        t = x * 2
        y = t[0]
    else:
        y = x[1] * 1
    y[0] = 70
    t[0, 1] = 80
    return y * 1, t * 1


@cases.each(*YES_AND_NO)
def a_view_of_one_of_two(x, c):
    z = x * 1
    t = x if c else z
    y = t[0]
    if x[1, 1] > 2:
        y = y + 1 if c else x[2]
    y[2] = 33
    t[0, 1] = 44
    return y * 1, z


@cases.each((np.arange(4) + 1j, 1), (np.arange(4) + 1j, 0))
def the_real_part_or_its_double(z, c):
    y = z.real
    if c:
        y = y * 2
    y[0] = 9
    z[1] = 5
    return y * 1


@cases.each((X, 1), (X, 0))
def every_second_or_the_first_two(x, c):
    y = x[::2] if c else x[:2]
    y[1] = -5
    x[2] += 1
    return y * 1


@cases.each((np.zeros((0, 3)), 1), (np.zeros((0, 3)), 0))
def nothing_at_all(x, c):
    y = x[:, 0]
    if c:
        y = y + 1
    y[:] = 4
    return y


# ---------------------------------------------------------------- in containers, objects, calls


@cases.each(*YES_AND_NO)
def in_a_list(x, c):
    rows = [x[0], x[1]]
    if c:
        rows[0] = rows[1] + 1
    rows[0][0] = 9
    rows[1][0] = 8
    return x[0, 0] + rows[0][1]


@cases.each((Box(A), 1), (Box(A), 0))
def in_an_attribute(box, c):
    box.row = box.v[0]
    if c:
        box.row = box.row * 2
    box.row[1] = 5
    return box.row * 1


def bump(row):
    row[0] += 1
    return row


@cases.each(*YES_AND_NO)
def handed_to_a_function(x, c):
    y = x[0]
    if c:
        y = y + 1
    z = bump(y)
    bump(x[0])
    return z * 1, y * 1


def chosen(x, c):
    if c:
        return x[0]
    return x[1] + 1


@cases.each(*YES_AND_NO)
def given_by_a_function(x, c):
    y = chosen(x, c)
    y[1] = 70
    z = chosen(x, not c)
    z[2] = 90
    return y * 1


@cases.each(*YES_AND_NO)
def shared_with_a_closure(x, c):
    y = x[0]

    def grow():
        nonlocal y
        y = y + 1

    if c:
        grow()
    y[0] = 5
    return y * 1


@cases.each(*[(A, v) for v in (-1.0, 0.5, 3.0)])
def an_early_return(x, v):
    y = x[0]
    if v < 0:
        return y
    if v < 1:
        y = y * v
    y[0] = v
    return y


# ---------------------------------------------------------------- in loops


@cases.each(*[(A, n) for n in (0, 1, 3)])
def a_view_first_then_its_own(a, n):
    row = a[0]
    for i in range(n):
        row = row * 0.5 + a[i]
    return row


@cases.each(*[(A, n) for n in (0, 1, 3)])
def a_view_first_then_its_own_and_stores(a, n):
    row = a[0]
    for i in range(n):
        row[1] = 7
        row = row * 0.5 + a[i]
        row[0] = 3
    row[2] = -1
    return a * 1, row


@cases.each(*[(A, n) for n in (0, 1, 4)])
def its_own_first_then_views(a, n):
    row = a[0] * 2
    for i in range(n):
        if row[0] > 2:
            row = a[i]
        else:
            row = row + 1
        row[1] += 1
        a[0, 2] = row[1]
    return row * 1


@cases.each(*[(A, n) for n in (0, 1, 4)])
def the_greatest_row_so_far(a, n):
    best = a[0]
    for i in range(n):
        if np.sum(a[i]) > np.sum(best):
            best = a[i]
        elif best[0] < 0:
            best = best * 0
    best += 1
    return best


@cases.each(*[(X, n) for n in (0, 1, 2, 5)])
def a_vector_is_iterated(x, n):
    y = x
    for _ in range(n):
        y = y * 0.5 + 1
    y[0] = 100
    return y is x, y


@cases.each(*[(A, n) for n in (0, 1, 2, 5)])
def a_row_and_a_column_in_turn(a, n):
    line = a[:3, 0]
    for i in range(n):
        line = a[i % 4] if i % 2 == 0 else a[:3, i % 3]
        line[1] += 1
    return line


@cases.each(*[(A, n) for n in (0, 1, 2, 3)])
def until_it_is_small(a, n):
    v = a[n]
    while np.sum(v) > 1:
        v = v / 2
    v[0] = 9
    return v


@cases.each(*[(A, n) for n in (0, 1, 2, 3)])
def two_lines_change_places(a, n):
    u, v = a[0], a[1] * 2
    for _ in range(n):
        u, v = v, u
    u[0] = 100
    v[1] = 200
    return u * 1, v * 1


@cases.each(*[(A, n) for n in (0, 1, 2, 3)])
def a_branch_in_a_loop_in_a_branch(a, n):
    y = a[3]
    if n > 0:
        for i in range(n):
            if a[i, 0] > 2:
                y = y + a[i]
            else:
                y[i] = 50
    y[0] += 1
    return y


# ---------------------------------------------------------------- memory: contiguous, read-only


@cases.each((A[:3], 1), (A[:3], 0))
def what_reshapes_as_a_view_on_one_path(a, c):
    y = a.T
    if c:
        y = a * 2
    z = y.reshape(-1)
    z[0] = 100
    z[1] += 4
    return y, z * 1


@cases.each((A[:3], 1), (A[:3], 0))
def a_transpose_of_what_one_arm_made(a, c):
    if c:
        y = (a * 2).T
    else:
        y = a * 3
    y[0] = 1
    z = y.ravel()
    z[1] = 100
    return y * 1, z * 1


@cases.each((A, 1), (A, 0))
def contiguous_on_one_path(a, c):
    y = a
    if c:
        y = a[::-1]
    z = np.ascontiguousarray(y)
    z[1] = 100
    return z is y, y * 1


@cases.each((X, 1))
@cases.each((X, 0), raises=ValueError)
def read_only_on_one_path(x, c):
    y = np.broadcast_to(x, (2, 4))
    if c:
        y = y * 2
    x[0] = 5
    total = np.sum(y)
    y[0, 1] = total
    return y * 1


@cases.each((X, 1), (X, 0), raises=ValueError)
def read_only_on_one_path_and_seen_after(x, c):
    y = np.broadcast_to(x[0], 4)
    if c:
        y = x
    y[1] = 7
    x[2] = 8
    raise ValueError


# ---------------------------------------------------------------- exceptions


@cases.each(*[(A, c, i) for c in (1, 0) for i in (0, -4)])
@cases.each(*[(A, c, 5) for c in (1, 0)], raises=IndexError)
def an_index_may_be_outside(x, c, i):
    y = x[0]
    if c:
        y = y + 1
    y[0] = 5
    x[i, 1] = 6
    y[2] = 7
    return y * 1


@cases.each(*[(A, c, i) for c in (1, 0) for i in (0, 4, 7)])
def it_is_caught(x, c, i):
    y = x[0]
    try:
        y[0] = 8
        if c:
            y = x[i] * 2
        y[1] = 9
        x[i, 2] = 3
    except IndexError:
        y[2] = 11
    finally:
        y[1] += 1
    return y * 1


@cases.each(*[(A, v) for v in (1.0, 5.0)])
@cases.each((A, -1.0), raises=ValueError)
def raised_between_two_stores(x, v):
    y = x[0]
    if v > 2:
        y = x[1] * 1
    y[0] = v
    if v < 0:
        raise ValueError("negative")
    y[1] = v
    return y


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_views_by_path(function, args, options):
    check(function, *args, **options)


def identities(x, c):
    y = x[0]
    z = y
    if c:
        y = y + 1
    return y is z, y is x, z is y


@pytest.mark.parametrize("c", [1, 0])
def test_a_view_that_stays_the_same_object_is_known(c):
    check(identities, A, c)


def read_only(x, c):
    y = x[0]
    if c:
        y = y + 1
    return y * 2


def test_a_name_that_is_only_read_is_a_selection():
    text = pystage.compile(read_only, fallback="error").lower(A, 1).as_text()
    assert "dynamic_update_slice" not in text and "while" not in text
    assert text.count("stablehlo.select") + text.count("stablehlo.case") <= 1
