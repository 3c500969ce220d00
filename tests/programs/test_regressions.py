"""The smallest programs that once came out differently: each is the same plain and staged, or refused.

A refusal counts where the program leaves open which object a name stands for: that is what these are about.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()
OPEN = ("PS208", "PS301", "PS305", "PS501", "PS504")
"""The codes with which a program of this page may be refused."""


class Pair:
    def __init__(self, a, k):
        self.a = a
        self.k = k


def vector():
    return np.array([1.0, 2.0, 3.0])


X = vector()
COUNT = 0


# ---------------------------------------------------------------- calls


def bump(t):
    t[0] += 5


@cases.each((X, 3), (X, -3))
def a_call_is_repeated_with_other_names_for_the_sources(x, n):
    y = x * 2
    z = x * 3
    t = y if n > 0 else z
    y = 0
    z = 0
    bump(t)
    p = x * 2
    q = x * 3
    u = p if n > 0 else q
    bump(u)
    return t * 1, u * 1, p, q


@cases.each((X,), (-X,))
def a_call_on_one_path_changes_nothing_of_an_array_with_two_sources(x):
    y = max(np.floor(x[:1]), x[:1])
    last = [1.0]

    def reads():
        return x[0]

    for i in range(3):
        if y[0] > i:
            last[0] += reads()
        else:
            last[0] -= 2
    return last, y


@cases.each((1,), (-2,))
def a_function_counts_a_global(n):
    global COUNT
    COUNT = n * 2

    def count():
        global COUNT
        COUNT += 1
        return COUNT

    first = count()
    second = count()
    result = first, second, COUNT
    COUNT = 0
    return result


# ---------------------------------------------------------------- branches


@cases.each((1, X), (8, X))
def a_selection_is_handed_on_where_nothing_raises(a, b):
    i = 0
    while i < 3 and a > 7:
        i += 1
        if a + a > a:
            c = a
        try:
            if a > a:
                raise ValueError("no")
        except ValueError:
            d = a
        else:
            e = a
        finally:
            f = a
            b[b > 1] += 1
    return a, b


@cases.each((X, 3))
def an_array_is_made_in_the_first_arm_only(x, n):
    while True:
        if n > 0:
            y = x * 2
            break
        n += 1
    return y


@cases.each((3,), (-3,))
def one_of_two_closures_counts(n):
    def made():
        c = 0

        def count():
            nonlocal c
            c += 1
            return c

        return count

    f = made()
    g = made()
    h = f if n > 0 else g
    h()
    h()
    return f(), g(), h()


@cases.each((3,), (-3,))
def one_of_two_sets_grows(n):
    s = {1}
    t = {1}
    u = s if n > 0 else t
    u.add(2)
    return s, t


@cases.each((3,), (-3,))
def one_of_two_iterators_advances(n):
    a = iter([1, 2, 3])
    b = iter([1, 2, 3])
    c = a if n > 0 else b
    next(c)
    return next(a), next(b)


@cases.each(([1, 2], [3, 4], 3), ([1, 2], [3, 4], -3))
def one_of_two_lists_comes_back(x, y, n):
    t = x if n > 0 else y
    return t, x


@cases.each((np.array([2, 3], np.int32), 3), (np.array([2, 3], np.int32), -3))
def a_number_of_two_kinds(x, n):
    a = 1 if n > 0 else x[0]
    return a + 1


# ---------------------------------------------------------------- loops


@cases.each((X, 1), (X, 3))
def names_move_along(x, n):
    a = x * 1
    b = x * 2
    c = x
    for _ in range(n):
        a = b
        b = c
    a[0] = 50
    return a * 1


@cases.each((X, 1), (X, 2))
def names_move_along_after_a_store(x, n):
    a = x * 1
    b = x * 2
    c = x
    for _ in range(n):
        a[0] += 1
        a = b
        b = c
    return a * 1


@cases.each((X, 2), (X, 3))
def names_rotate_and_one_has_another_name(x, n):
    a = x * 1
    b = x * 2
    w = x * 3
    c = w
    for _ in range(n):
        a, b, c = b, c, a
    w[0] = 5
    return a * 1, w


@cases.each((X, X * 2, X * 3, 2), (X, X * 2, X * 3, 0))
def arguments_rotate(a, b, c, n):
    for _ in range(n):
        a, b, c = b, c, a
    return a, b, c


@cases.each((X, X * 2, X * 3, 4))
def arguments_are_swapped_in_turn(a, b, c, n):
    for i in range(n):
        if i % 2 == 0:
            a, b = b, a
        else:
            b, c = c, b
    return a, c, b


@cases.each((3,))
def lists_move_along(n):
    a = [1]
    b = [2]
    c = [3]
    w = c
    for _ in range(n):
        a = b
        b = c
    a[0] = 50
    return a[0], w


@cases.each((X, 3))
def objects_move_along(x, n):
    a = Pair(x, 1)
    b = Pair(x, 2)
    c = Pair(x, 3)
    w = c
    for _ in range(n):
        a = b
        b = c
    w.k = 50
    return a.k, w.k


@cases.each((X, 3), (X, 4))
def a_tuple_is_swapped_and_a_third_name_stores(x, n):
    xs = (x * 1, x * 2)
    c = xs[0]
    s = 0.0
    for _ in range(n):
        xs = (xs[1], xs[0])
        s += xs[0][0]
        c[0] += 1
    return s


@cases.each((X, 3))
def objects_refer_to_each_other(x, n):
    a = Pair(x * 1, 1)
    b = Pair(x * 2, 2)
    a.n = b
    b.n = a
    c = a
    s = 0.0
    for _ in range(n):
        s += c.a[0]
        a.a[0] += 1
        c = c.n
    return s


@cases.each((X, 3))
def a_view_stores_into_one_of_two_that_are_swapped(x, n):
    a = x * 1
    b = x * 2
    v = a[1:]
    s = 0.0
    for _ in range(n):
        a, b = b, a
        s += a[1]
        v[0] += 1
    return s


@cases.each((X, 1), (X, 3))
def a_store_in_the_body_after_a_name_for_it_under_a_condition(x, n):
    a = x * 1
    b = x * 2
    for i in range(n):
        b = a + 1
        if i % 2 == 0:
            a = b
        b[0] = 50
    return a * 1, b * 1


@cases.each((X, 0), (X, 1))
def a_name_for_the_array_before_break(x, n):
    a = x * 1
    b = x * 2
    for i in range(5):
        if i == n:
            b = a
            break
        a = a + 1
    b[0] = 50
    return a * 1, b * 1


@cases.each((X, 3))
def one_array_under_two_carried_names(x, n):
    a = x * 1
    b = x * 2
    for _ in range(n):
        b = a + 1
        a = b
    return a, b


@cases.each((np.array([2, 3], np.int32),))
def numbers_of_two_kinds_are_swapped(x):
    a = 1
    b = x[0]
    for _ in range(4):
        a, b = b, a
    return a + 1


# ---------------------------------------------------------------- views


@cases.each((X,))
def one_view_comes_back_twice(x):
    v = x[1:]
    return v, v


@cases.each((X,))
def a_view_of_the_whole(x):
    return x[:], x[...], x


@cases.each((X,))
def a_broadcast_view_is_read_after_a_store(x):
    y = np.broadcast_to(x, (2, 3))
    x[0] = 9
    return y * 1


@cases.each((X,))
def a_broadcast_view_comes_back(x):
    return np.broadcast_to(x, (2, 3))


@cases.each((np.array([1j, 2 - 1j, 2 + 1j]), 2))
def complex_numbers_are_ordered_in_a_loop(c, n):
    found = [c > c[::-1], np.clip(c, 1, 4)]
    for i in range(n):
        c[...] = np.maximum(c, 1) - np.minimum(c, c[::-1]) + c.max()
        c[0] = np.maximum.accumulate(c)[1]
    return c, found


# ---------------------------------------------------------------- containers


@cases.each(([1, 2],), ([3],))
def a_list_grows_under_the_loop_over_it(xs):
    for i, (j, v) in zip(range(4), enumerate(xs)):
        xs.append(v + i * j)
    return xs


@cases.each(([1, 2],), ([3, 5],))
def a_list_is_stored_into_under_the_loop_over_it(xs):
    for i, v in enumerate(xs):
        xs[(i + 1) % 2] = v + 10
    for i, v in enumerate(reversed(xs)):
        xs[0] = v + i
    return xs


@cases.each(({"a": 1},), raises=RuntimeError)
def a_dict_grows_under_the_loop_over_it(d):
    for k in d:
        d[k + k] = 1


@cases.each(({"a": 1, "b": 2},))
def a_dict_is_stored_into_under_the_loop_over_it(d):
    total = 0
    for k, v in d.items():
        d["b"] = v + 5
        total += v
    return total


@cases.each(([1, 2, 3], 2), ([1, 2, 3], 9))
def a_call_by_map_comes_when_the_loop_does(xs, n):
    log = []

    def noted(x):
        log.append(x)
        return x + 1

    for y in map(noted, xs):
        log.append(y * n)
    return log


@cases.each(([1, 2], [1, 2]), ([0], [4]))
@cases.each(([1, 2], [1]), ([1], [1, 2]), raises=ValueError)
def zip_is_strict(a, b):
    total = 0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


@cases.each((1.0, np.ones((3, 1))), (1.5, np.ones((3, 1))))
@cases(2.5, np.ones((3, 1)), raises=KeyError)
def a_list_of_one_row_twice_is_made_where_it_may_raise(a, b):
    for v in b:
        if 1.0 < a:
            try:
                rows = [v, v]
                if a > 2.0:
                    raise KeyError(a)
                rows[1][0] += 1
            except ValueError:
                a = 0.0
    return a


@cases.each((X, 1.0), (X * 9, 2.5))
@cases(X, 7.5)
@cases(X, 5.0)
@cases(X, 3.0, raises=IndexError)
def a_name_is_bound_again_where_it_may_raise(a, b):
    try:
        if b < 2.0:
            b -= 1
        elif a[int(b) % 5] > b:
            a = np.ones((3,), np.float64)
    finally:
        a[int(b) % 3 - 3] = 1
    return a, b


@cases.each((float("nan"),), (1.0,))
def one_object_is_equal_to_itself_in_containers(x):
    return (x, 1) < (x, 2), (x, 1) >= (x, 2), [x].count(x), x in [x], [x] == [x], (None, x) < (None, 2.0)


# ---------------------------------------------------------------- stores


@cases.each((vector(),))
def an_array_is_stored_into_its_own_elements(x):
    x[[1, 0, 1]] = x
    return x


@cases.each((np.array([2.0]), 3), (np.array([2.0, 3.0]), 3))
def an_array_of_one_is_stored_into_in_a_loop(x, n):
    for _ in range(n):
        v = x[::-1]
        v[[0, -1]] = x[0] + 1
    return x


@cases.each((X, 1), raises=ValueError)
@cases.each((X, 0))
def a_broadcast_array_is_added_to(x, n):
    y = np.broadcast_to(x, (2, 3)) if n > 0 else np.ones((2, 3))
    y += 1
    return y


@cases.each((X, 0), (X, 1), (X, 2), (X, 3), (X, 4), raises=ValueError)
def a_store_into_read_only_memory(x, form):
    y = np.broadcast_to(x, (2, 3))
    match form:
        case 0:
            y += 1
        case 1:
            y[0] = 1
        case 2:
            np.add(x, 1, out=y)
        case 3:
            y.sort()
        case _:
            np.put(y, 0, 1.0)


@cases.each((2, X, 1), (2, X, -1))
@cases.each((3, X, 1), (3, X, -1), raises=IndexError)
def a_store_by_index_after_a_raise(i, x, n):
    t = x if n > 0 else x * 2
    y = t[i]
    t[[1, 0, 1]] = 7
    return t, y


# ---------------------------------------------------------------- numbers and names


@cases.each((np.uint64(2**64 - 1),), (np.uint64(2**63),), raises=OverflowError)
@cases(np.uint64(7), raises=IndexError)
@cases(np.uint64(2))
def an_index_of_64_bits_without_a_sign(i):
    return X[i], np.ones((2, 3))[0, i]


@cases.each(([1, 2], 1), ([1, 2], 3))
def a_list_that_differs_by_the_path_is_summed(xs, n):
    for _ in range(n):
        xs.append(sum(xs))
    return xs


@cases.each((np.int16(5),), (np.int16(2),))
def a_range_up_to_a_number_of_two_kinds(x):
    total = 0
    for i in range(min(x, 3)):
        total += i
    return total


@cases([1.0, 2.0, 3.0])
def iterators_see_what_their_list_becomes(xs):
    first = iter(xs)
    a = next(first)
    xs.append(4.0)
    xs[1] = 20.0
    b = next(first)
    rest = list(first)
    ended = next(first, None)
    xs.append(5.0)
    return a, b, rest, ended, list(first), xs


@cases([1.0, 2.0], True)
def iterators_in_calls(xs, flag):
    def take(it):
        return next(it)

    it = iter(xs)
    a = take(it)
    xs.append(a * 10)
    if flag:
        b = take(it)
    else:
        b = 0.0
    return a, b, take(it)


@cases([1.0, 2.0, 3.0])
def reversed_lists_have_the_length_they_had(xs):
    walk = reversed(xs)
    xs.append(4.0)
    xs[0] = 10.0
    shorter = reversed(xs)
    xs.pop()
    return list(walk), list(shorter)


@cases([1.0, 2.0], refused="PS606")
def a_zip_gives_its_elements_once(xs):
    pairs = zip(xs, xs)
    return list(pairs), list(pairs)


@cases(np.arange(3.0), refused="PS606")
def an_enumeration_that_a_loop_has_left(x):
    numbered = enumerate(x)
    total = 0.0
    for i, value in numbered:
        total += i * value
        if value > 0.5:
            break
    for _, value in numbered:
        total += 100.0 * value
    return total


@cases([1.0, 2.0], refused="PS606")
def the_next_of_a_map(xs):
    doubled = map(lambda x: 2 * x, xs)
    return next(doubled), list(doubled)


class Rule(NamedTuple):
    """Two functions, as an optimiser of Optax is."""

    start: Any
    step: Any


def zeros_of(values):
    return {key: np.zeros_like(value) for key, value in values.items()}


RULE = Rule(zeros_of, lambda values, state: values["w"] + state["w"] + 1)


@cases(np.array([1, -3, 2]), -3)
def an_array_that_each_trip_turns_round(a, b):
    a[1:] = b
    for _ in range(3):
        a[::-1] = a
    return (a,)


@cases.each(({"b": np.array([1.0, 2.0])}, 1.0), ({"b": np.array([1.0, 2.0])}, -1.0))
def an_array_that_a_loop_replaces_after_a_raise(d, x):
    try:
        if x > 0:
            raise ValueError("no")
        for _ in range(3):
            d["b"] = d["b"] + 1
        d["b"][0] = 7
    except ValueError:
        d["b"][1] = 9
    return d


@cases.each(*[({"b": np.array([-3.25, 3.0])}, n) for n in (1.0, 6.0, 7.0)])
def two_names_of_what_one_path_of_a_path_made(d, n):
    if n > 5:
        if n > 6:
            x = np.full(2, 2.0)
            y = x
        else:
            x = d["b"]
            y = np.zeros(2)
    if n > 5:
        x[0] = 1
        return y
    return d["b"]


@cases.each(*[({"b": np.array([-3.25, 3.0])}, n) for n in (1.0, 6.0, 7.0)])
def a_function_made_beside_what_it_reaches(d, n):
    if n > 5:
        if n > 6:
            d["b"] = np.full(2, 2.0)

            def read():
                return d

        else:
            return d["b"]
    return d["b"]


@cases(X)
def integers_known_while_compiling_divided_by_zero(x):
    whole, small = np.arange(3), np.arange(3, dtype=np.uint8)
    with np.errstate(all="ignore"):
        return (-3 // whole)[0], (-3 % whole)[0], (small[1:] // small[:2])[0], np.fmod(whole, whole)[:1], x


@cases(X, np.ones((2, 2)), raises=ValueError)
def a_loop_that_certainly_raises(x, rows):
    found = []
    for row in rows:
        found = [a + b for a, b in zip(row, x, strict=True)]
    return found


@cases({"w": np.ones(3)})
def functions_in_a_named_tuple_of_the_world(values):
    return RULE.step(values, RULE.start(values)), RULE.index(RULE.start), RULE._fields


@cases(1.0)
def a_dict_among_known_arguments(x):
    return "{} {}".format({"a": 1}, [1, 2]), x


@cases(np.arange(6.0), raises=ValueError)
def a_product_of_slices_of_lengths_that_differ(x):
    return [x[i:i] @ x[i : i + i] for i in range(3)]


@cases(np.arange(6.0), np.ones((2, 3), np.float32))
def products_of_nothing(x, a):
    empty = a[:, :0] @ a[:0], a[:0] @ a.T, a[:0].T @ a[:0], np.einsum("ij,kl->ijkl", a, a[:0])
    return x[:0] @ x[:0], x[1:1] @ a[:0], empty, np.einsum("ij,kl->ijkl", a, a)


@cases.each((np.array([0.8, -1.0]), 1, 3), (np.array([0.8, np.nan, -1.0]), 1, 4))
@cases.each((np.array([0.8, -1.0]), 0, 3), (np.array([0.8, -1.0]), 4, 5), raises=ValueError)
def extrema_of_slices_that_may_be_empty(x, first, end):
    best = 0.0
    for i in range(first, end):
        best += x[:i].min() + np.nanmax(x[i - 1 :]) + np.ptp(x[i - 1 : i])
    return best


@cases.each(*[(X, 1.5, which) for which in ("max", "nanmin", "ptp", "reduce")])
@cases.each(*[(X, 9.0, which) for which in ("max", "nanmin", "ptp")], raises=ValueError)
@cases.each(*[(X[:0], 1.0, which) for which in ("max", "nanmin", "ptp", "reduce")], raises=ValueError)
def extrema_of_masks_that_may_select_nothing(x, limit, which):
    if which == "max":
        return x[x > limit].max()
    if which == "nanmin":
        return np.nanmin(x[x > limit])
    return np.ptp(x[x > limit]) if which == "ptp" else np.maximum.reduce(x[x > limit])


@cases(X, 9.0)
def an_extremum_with_a_beginning(x, limit):
    return x[x > limit].max(initial=0.5), np.zeros((0, 3))[:, x < limit].max(axis=1)


@cases.each(*[(jnp.arange(6.0), 1, k) for k in (0, 1, 5, -2, -9, np.int32(-9), jnp.int32(5))])
@cases.each((jnp.arange(6.0), 0, 5), (jnp.arange(6.0), 0, jnp.int32(1)), raises=IndexError)
def elements_of_parts_of_jax_arrays(x, first, k):
    total = 0.0
    for n in range(first, 4):
        total = total + x[1 : n + 1][k] + 10 * x[n:0:-1][k]
    return total


@cases(np.arange(6.0))
def a_division_on_a_path_that_is_never_taken(x):
    n = 3
    for _ in x:
        if not n:
            x[0] = 3 // n
            n += 1
    return x


@cases.each((np.arange(4.0), np.arange(4.0), 4), (np.arange(4.0), np.arange(4.0), 6))
@cases.each((np.arange(4.0), np.arange(3.0), 4), (np.arange(3.0), np.arange(4.0), 4), raises=ValueError)
@cases.each((np.arange(4.0), np.arange(3.0), 2), raises=IndexError)
def a_strict_zip_raises_after_its_trips(x, y, n):
    out = np.zeros(n)
    try:
        for i, (a, b) in enumerate(zip(x, y, strict=True)):
            out[i] = a * b + 1
    finally:
        x[0] = out.sum()
    return out


@cases.each((np.arange(3.0), 3))
@cases.each((np.arange(3.0), 2), (np.arange(3.0), 4), raises=ValueError)
def a_strict_zip_with_a_range(x, n):
    return [a * i for a, i in zip(x, range(n), strict=True)]


@cases.each((np.arange(6.0), 3), (np.arange(6.0), 0))
def loops_over_slices(x, n):
    rows = np.outer(x, x)
    total = 0.0
    for k in range(n):
        for v in x[k : 2 * k]:
            if v > 1:
                total += v
            x[k] += 1
        for i, v in enumerate(x[2 * k :: -1]):
            total += i * v
        for row, v in zip(rows[k:, : k + 1], x):
            row[0] += v
    return total, x, rows


@cases.each((jnp.arange(6.0), 3), (jnp.arange(6.0), 0))
def loops_over_slices_of_jax_arrays(x, n):
    total = 0.0
    for k in range(n):
        for v in x[k : 2 * k]:
            if v > 1:
                total = total + v
    return total


@cases.each((vector(), 3), (vector(), 1))
def a_method_of_an_array_that_has_a_computed_size_on_one_path(x, n):
    y = x[x > 1] if n > 2 else x * 1.0
    y.sort()
    y.fill(n)
    return y.copy()


@cases.each((vector(), 1), (vector(), 3), (-vector(), 0))
def slices_of_slices_in_a_loop(x, n):
    y = x[x > 0]
    while len(y) > n:
        y = y[1:]
        y = y[:]
    return y


@cases.each((vector(),), (-vector(),))
def python_functions_of_what_a_mask_selects(x):
    y = x[x > 1]
    return list(y), sorted(y), sum(y), max(y, default=0), any(y)


@cases.each((vector(),), (vector()[:0],))
def all_of_a_view_is_another_view(x):
    y = x[:]
    z = y[:]
    z[...] = 1
    return y, z, z[:0], z[:0][7:9]


@cases.each((vector(), 3), (vector(), 9))
def parts_of_nothing_in_a_loop(x, n):
    total = 0
    for i in range(3):
        total = len(x[n:n] + x[n:n][i:i])
    return total


@cases(vector(), 5)
@cases(vector(), 0)
def parts_and_turned_arrays_in_a_loop(x, n):
    def either(u, s):
        if s > 1:
            return u[:s]
        return u[::-1]

    y = x[x > 0]
    for i in range(len(x)):
        if i < len(x):
            x[i] = i + 1
        if n < 1:
            x = either(x, len(y) // 2)
    return x, y


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_regression(function, args, options):
    try:
        check(function, *args, **options)
    except pystage.StagingError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics}
        assert codes <= set(OPEN), f"refused with {codes}:\n{error}"


def test_a_broadcast_array_is_read_like_any_other() -> None:
    check(lambda x: np.broadcast_to(x, (2, 3)) * 2 + x, X)


def test_complex_numbers_that_are_nan_have_no_order() -> None:
    def ordered(x):
        y = x[::-1].copy()
        return x > y, x <= y, np.maximum(x, y), np.minimum(x, y)

    with np.errstate(all="ignore"):
        check(ordered, np.array([complex("nan"), complex(1, np.nan), complex(np.nan, 2), 3 - 1j, 3 + 1j, 0]))
