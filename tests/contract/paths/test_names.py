"""Names that stand for one of several objects, depending on the path taken: stores, reads and `is` through them."""

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([1.0, 2.0, 3.0, 4.0])


class Box:
    def __init__(self, v):
        self.v = v


# ---------------------------------------------------------------- after a branch


@cases.each((X, X * 2, 1), (X, X * 2, -1))
def a_store_into_one_of_two_arguments(a, b, n):
    t = a if n > 0 else b
    t[0] = 0.0
    return a * 1


@cases.each((X, X * 2, 1), (X, X * 2, -1), (X, X * 2, 5))
def a_store_through_a_name_for_a_name(a, b, n):
    t = a if n > 0 else b
    u = t if n > 3 else b
    a[0] = 9.0
    u[1] = 7.0
    return t[0] + u[0] + t[1] + a[1] + b[1]


@cases.each((X, 1), (X, -1))
def one_of_two_is_read_after_a_store(x, n):
    a = x * 1
    b = x * 2
    t = a if n > 0 else b
    a[0] = 9
    return t * 1, t


@cases.each((X, 1), (X, -1))
def two_names_for_what_one_arm_made(x, n):
    a = x * 1
    b = x * 2
    if n > 0:
        c = x * 3
        a = c
        b = c
    b[0] = 50
    return a, b


@cases.each((X, 2), (X, 1), (X, -1))
def a_name_under_a_condition_for_what_one_arm_made(x, n):
    a = x * 1
    b = x * 2
    if n > 0:
        c = x * 3
        a = c if n > 1 else a
        b = c
    b[0] = 50
    return a[0], b[0]


@cases.each((X, 1), (X, -1))
def a_variable_of_both_arms_and_a_name_of_one(x, n):
    a = x * 1
    if n > 0:
        c = x * 3
        a = c
    else:
        c = x * 4
    c[0] = 50
    return a[0]


@cases.each((X, 1), (X, -1))
def names_are_compared(x, n):
    a = x * 1
    b = x * 2
    t = a if n > 0 else b
    u = b if n > 0 else a
    return t is a, t is b, t is x, t is not a, t is u, u is b


@cases.each((3,), (-3,))
def one_of_two_lists(n):
    a = [1, 2]
    b = [3, 4]
    t = a if n > 0 else b
    t[0] = 9
    b[1] = 5
    return a, b, t, t[1]


@cases.each((3,), (-3,))
def one_of_two_dicts(n):
    a = {"k": 1}
    b = {"k": 2}
    t = a if n > 0 else b
    t["k"] += 9
    return a, b


@cases.each((Box(1), Box(2), 3), (Box(1), Box(2), -3))
def one_of_two_objects(a, b, n):
    t = a if n > 0 else b
    t.v += 9
    return t


@cases.each((Box(X), Box(X * 2), 3), (Box(X), Box(X * 2), -3))
def the_array_of_one_of_two_objects(a, b, n):
    t = a if n > 0 else b
    t.v[1:] += 9
    return t.v[1] + b.v[1]


def bump(t):
    t[0] += 1
    return t


@cases.each((X, X * 2, 3), (X, X * 2, -3))
def one_of_two_arguments_in_a_call(a, b, n):
    t = a if n > 0 else b
    u = bump(t)
    bump(a)
    return u, t[0] + a[0] + b[0]


LEFT = Box(1.5)
RIGHT = Box(2.5)


@cases.each((1,), (-1,))
def one_of_two_objects_of_the_module(n):
    t = LEFT if n > 0 else RIGHT
    return t.v


# ---------------------------------------------------------------- in loops


@cases.each((X, 1), (X, -1))
def one_of_two_changes_before_a_loop(x, n):
    a = x * 1
    b = x * 2
    t = a if n > 0 else b
    a[0] = 9
    s = 0.0
    for i in range(3):
        s += t[0]
        b[0] += i
    return s


@cases.each((X, 1), (X, -1))
def a_loop_stores_into_one_of_two(x, n):
    a = x * 1
    b = x * 2
    t = a if n > 0 else b
    for i in range(4):
        t[i] = a[i] + b[i]
    return a, b, t


@cases.each((X, X * 2, 3), (X, X * 2, 4))
def arguments_are_swapped_after_each_store(a, b, n):
    for _ in range(n):
        b[1:-1] = (a[2:] + a[:-2]) * 0.5
        a, b = b, a
    return a


def arguments_are_swapped_after_a_loop_of_stores(a, b, n):
    for _ in range(n):
        for i in range(1, 3):
            for _ in range(2):
                b[i] = (a[i - 1] + a[i + 1]) * 0.5 + b[i]
        a, b = b, a
    return a


@pytest.mark.parametrize("n", [0, 1, 3, 4])
def test_a_loop_of_stores_selects_no_whole_array(n):
    check(arguments_are_swapped_after_a_loop_of_stores, X, X * 2, n)
    text = pystage.compile(arguments_are_swapped_after_a_loop_of_stores).lower(X, X * 2, n).as_text()
    loops = text[text.index("while") : text.rindex("dynamic_update_slice")]
    assert not any("select" in line and f"tensor<{X.size}xf64>" in line for line in loops.splitlines())


@cases.each((X, X * 2, 3), (X, X * 2, 4))
def one_of_the_swapped_arguments_is_stored_into_by_its_first_name(a, b, n):
    first = a
    for k in range(n):
        for i in range(3):
            b[i] = a[i] * 2 + k
            first[i] += b[i]
        a, b = b, a
        b[0] += a[1]
    return a, b, first


@cases.each((X, X * 2, 3), (X, X * 2, 4))
def one_of_the_swapped_arguments_is_read_by_its_first_name(a, b, n):
    first, s = a, 0.0
    for _ in range(n):
        for i in range(3):
            b[i] = a[i] + first[2 - i]
            s += first[i]
        a, b = b, a
    return a, b, s


@cases.each((X, 3), (X, 4))
def an_argument_and_a_copy_are_swapped_after_a_loop_of_stores(x, n):
    a = x
    b = x.copy()
    for _ in range(n):
        for i in range(1, 3):
            b[i] = (a[i - 1] + a[i + 1]) * 0.5
        a, b = b, a
    return a


@cases.each((X, 3), (X, 4))
def a_swap_under_a_condition(x, n):
    a = x * 1
    b = x.copy()
    for _ in range(n):
        for i in range(1, 3):
            b[i] = (a[i - 1] + a[i + 1]) * 0.5
        if b[1] > 1.0:
            a, b = b, a
        b[0] += 1
    return a, b


@cases.each((X, X * 2, 3), (X, X * 2, 4))
def arguments_are_swapped_under_a_condition(a, b, n):
    for k in range(n):
        if k % 2 == 1:
            a, b = b, a
        b[0] += a[1]
    return a, b


@cases.each((X, 3), (X, -3))
def an_argument_is_replaced_under_a_condition(x, n):
    v = x
    for _ in range(4):
        if n > 2:
            v = v * 1
    return v


@cases.each((X, 5), (X, 0))
def the_best_so_far_is_the_last_one(x, n):
    cur = x * 1
    best = x * 2
    for i in range(n):
        cur = cur * 0.5
        if i % 2 == 0:
            best = cur
        cur[0] += 3
    return best, cur


@cases.each((X, 5), (X, 1))
def the_best_so_far_changes_in_the_next_trip(x, n):
    cur = x * 1
    best = x * 2
    for i in range(n):
        cur[0] += 3
        cur = cur * 0.5
        if i % 2 == 0:
            best = cur
    return best * 1, cur * 1


@cases.each((X, 5), (X, 1))
def the_best_so_far_and_the_one_before(x, n):
    cur = x * 1
    best = x * 2
    prev = best
    for i in range(n):
        cur = cur * 0.5
        prev = best
        if i % 2 == 0:
            best = cur
    return best, cur, prev


@cases.each((X, 3), (X, 1))
def two_names_for_what_each_trip_makes(x, n):
    a = x * 1
    b = x * 3
    for _ in range(n):
        a[0] += 1
        b[1] += 2
        b = a * 2
        a = b
    return a, b


@cases.each((X, 3), (X, 1))
def a_name_of_the_loop_and_an_argument(x, n):
    for _ in range(n):
        y = x * 2
        x = y
    y[0] = 5
    return x, y


@cases.each((X, 2), (X, 1), (X, 0))
def names_move_along_to_one_array(x, n):
    a = x * 1
    b = x * 2
    c = x * 3
    w = c
    for _ in range(n):
        a = b
        b = c
    a[0] = 50
    return a * 1, b * 1, w


@cases.each((X, 2), (X, 1), (X, 4))
def names_rotate_under_stores(x, n):
    a = x * 1
    b = x * 2
    c = x * 3
    w = c
    for i in range(n):
        a, b, c = b, c, a
        a[0] += i
    w[1] = 7
    return a * 1, b * 1, c * 1, w


class Grid:
    def __init__(self, x):
        self.u = x * 1
        self.v = x * 1

    def step(self):
        self.v[1:-1] = (self.u[2:] + self.u[:-2]) * 0.5
        self.u, self.v = self.v, self.u


@cases.each((Grid(X), 3), (Grid(X), 4))
def the_arrays_of_an_argument_are_swapped(grid, n):
    for _ in range(n):
        grid.step()
    return grid.u[0]


# ---------------------------------------------------------------- repeated elements


@cases.each((X,))
def a_broadcast_view_is_read_after_a_store(x):
    y = np.broadcast_to(x, (2, 4))
    x[0] = 9
    return y[1] * 1


@cases.each((X,))
def a_broadcast_view_comes_back(x):
    y = np.broadcast_to(x * 2, (2, 4))
    return y, y[1:]


@cases(X, raises=ValueError)
def a_broadcast_view_is_read_only(x):
    np.broadcast_to(x, (2, 4))[0] = 1.0


# ---------------------------------------------------------------- views


M = np.arange(6.0).reshape(2, 3)


@cases.each((X,))
def a_view_of_the_whole_is_another_object(x):
    y = x[:]
    y += 1
    x[...] *= 2
    y[:][1] = 9
    return y is x, x[...] is x, y, x


@cases.each((X, X * 2, 1), (X, X * 2, -1))
def a_view_of_one_of_two(a, b, n):
    t = a[1:] if n > 0 else b[1:]
    t[0] = 9
    return t, t * 1


@cases.each((M, 1), (M, 0))
def a_row_at_a_computed_place(x, n):
    i = n if x[0, 0] >= 0 else 0
    return x[i], x[:, x[0].argmax()]


@cases.each((M,))
def a_row_of_a_new_array_at_a_computed_place(x):
    y = x * 2
    return y[y[:, 0].argmax()], y


@cases.each((M,))
def the_row_of_the_last_trip(x):
    for i in range(2):
        row = x[i]
        row += i
    return row


@cases.each((M,))
def one_view_under_two_names(x):
    v = x[0]
    xs = [v]
    for i in range(3):
        v[0] += i
        xs[0][1] += 1
    return xs[0] is v, v, xs, v is x


def flattened(x):
    y = x.ravel()
    y[0] = 100.0
    return y


def turned(x):
    y = x.T.ravel()
    y[0] = 100.0
    return y


def in_order_of_memory(x):
    return x.ravel("K")


def read(x):
    return x.ravel() * 2, x.T.reshape(-1) * 2


@pytest.mark.parametrize("function", [flattened, turned, in_order_of_memory])
@pytest.mark.parametrize("x", [np.asfortranarray(M), M[:, ::2], M[::-1]])
def test_what_depends_on_the_order_in_memory_is_refused_in_another(function, x):
    """`deepcopy` keeps the order in memory of Fortran arrays only, so the others are not copied."""
    with pytest.raises(pystage.StagingError, match="PS814"):
        pystage.compile(function, fallback="error")(x)
    check(function, M)


@pytest.mark.parametrize("x", [np.asfortranarray(M), M[:, ::2], M[::-1]])
def test_what_only_reads_takes_arrays_in_any_order(x):
    staged = pystage.compile(read, fallback="error")
    for plain, found in zip(read(x), staged(x), strict=True):
        np.testing.assert_array_equal(plain, found)


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_names(function, args, options):
    check(function, *args, **options)
