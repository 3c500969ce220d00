"""Dicts with computed keys whose values are arrays: rows of them, into which stores go where nothing else may be them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

K = np.array([3, 1, 3, 2, 1, 7])
V = np.arange(18.0).reshape(6, 3)
MANY = np.random.default_rng(0).integers(0, 150, 300)
SIZES = [(K[:0], V), (K[:1], V), (K, V), (MANY, np.arange(900.0).reshape(300, 3))]


# ---------------------------------------------------------------- what is right


@cases.each(*SIZES)
def sums_by_default(keys, vals):
    d = defaultdict(lambda: np.zeros(3))
    for i in range(len(keys)):
        d[int(keys[i])] += vals[i]
    return dict(d), len(d)


@cases.each(*SIZES)
def sums_of_new_arrays(keys, vals):
    d = {}
    for i in range(len(keys)):
        k = int(keys[i])
        d[k] = d.get(k, np.zeros(3)) + vals[i]
    return d


@cases.each(*SIZES)
def sums_in_place(keys, vals):
    d = {}
    for i in range(len(keys)):
        k = keys[i]
        if k not in d:
            row = np.zeros(3)
            d[k] = row
        d[k][1] += vals[i, 0]
        d[k][:2] *= 2
    return d


@cases.each(*SIZES[1:])
def used(keys, vals):
    d = {}
    for i in range(len(keys)):
        d.setdefault(int(keys[i]), np.zeros(3))[2] += vals[i, 0]
    total = 0.0
    for k, v in d.items():
        total += k * v.sum()
    for k in d:
        d[k] /= 2.0
    first = max(d, key=lambda k: d[k][2])
    return d, total, np.stack(list(d.values())), sum(d.values()), first, d[first] * 2


def added(d, k, v):
    d[k] += v


@cases.each((K, V))
def in_calls(keys, vals):
    d = {}
    for k in keys:
        d[int(k)] = np.ones(3)
    for k, v in zip(keys, vals):
        added(d, int(k), v)
    return d


@cases.each((K, V))
def through_a_name(keys, vals):
    d = {(int(k), 1): np.ones(3) for k in keys}
    for k, v in zip(keys, vals):
        row = d[int(k), 1]
        row += v
        row[0] = 9
    return d


@cases.each((K, V), (K[:3], V))
def elements_of_lists(keys, vals):
    out = []
    for k in keys:
        if k > 1:
            out.append(np.zeros(3))
    for i in range(len(out)):
        out[i] += vals[i]
        out[i][0] = 5
        out[-1][2] -= 1
    return np.array(out)


@cases.each((K, V))
def taken_out(keys, vals):
    d = {}
    for i, k in enumerate(keys):
        d[int(k)] = vals[i] * 2
    gone = d.pop(3)
    del d[int(keys[1])]
    return d, gone + 0


@cases.each((K, V))
def after_an_exception(keys, vals):
    d = {int(k): np.ones(3) for k in keys}
    try:
        d[3] += 1
        d[99] += 1
    except KeyError:
        d[3] += 5
    return d


# ---------------------------------------------------------------- other keys on other paths


@cases(V[0], 0.5)
@cases(V[1], 0.5)
def one_key_more(x, k):
    d = {1: x * 1.5}
    if x[0] > k:
        d[2] = x * 2
    return d, len(d), sum(v.sum() for v in d.values())


@cases(V[0], 0.5)
@cases(V[1], 0.5)
def stored_into_what_may_be_there(x, k):
    d = {}
    if x[0] > k:
        d["x"] = x * 2
    if "x" in d:
        d["x"][0] = 7.0
    return d


@cases({}, V[0], 0.5)
@cases({}, V[1], 0.5)
def put_into_the_callers(d, x, k):
    if x[0] > k:
        d["x"] = x * 2
    return len(d)


def scaled(x, place):
    return x * place, np.full(len(x), place)


@cases(V[1], [(1, 2, 3.0), (0, 1, 2.0), (1, 0, 1.0), (2, 1, 2.0)])
@cases(V[1] * 0, [(1, 2, 3.0), (0, 1, 2.0)])
def results_kept_by_known_keys(x, trips):
    kept, found = {}, []
    for place, other, weight in trips:
        if x[place] == x[other]:
            continue
        if place not in kept:
            kept[place] = scaled(x, place)
        first, second = kept[place]
        found.append(float(first[other] * weight) + int(second[place]))
    return found, {place: float(pair[0].max()) for place, pair in kept.items()}


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_arrays_are_as_in_the_plain_run(program, args, options):
    check(program, *args, **options)


# ---------------------------------------------------------------- what is refused


def ones(keys):
    return {int(k): np.ones(3) for k in keys}


def one_array_under_all_keys(keys, vals):
    d = {}
    z = np.zeros(3)
    for k in keys:
        d[int(k)] = z
    d[int(keys[0])] += 1
    return d[int(keys[1])] + 0


def read_before(keys, vals):
    d = ones(keys)
    row = d[int(keys[0])]
    d[int(keys[0])] += 1
    return row + 0


def read_before_a_call(keys, vals):
    d = ones(keys)
    row = d[int(keys[0])]
    added(d, int(keys[0]), 1)
    return row + 0


def read_in_the_same_expression(keys, vals):
    d = ones(keys)

    def increased():
        d[3] += 1
        return 1

    return d[3] + increased()


def a_copy_of_the_dict(keys, vals):
    d = ones(keys)
    e = d.copy()
    d[int(keys[0])] += 1
    return e[int(keys[0])] + 0


def a_list_of_the_values(keys, vals):
    d = ones(keys)
    rows = list(d.values())
    d[int(keys[0])] += 1
    return rows[0] + 0


def under_two_keys(keys, vals):
    d = ones(keys)
    d[int(keys[0])] = d[int(keys[1])]
    d[int(keys[0])] += 1
    return d[int(keys[1])] + 0


def the_name_that_was_stored(keys, vals):
    d = {}
    row = vals[0] * 2
    d[int(keys[0])] = row
    d[int(keys[0])] += 1
    return row + 0


def of_the_caller(keys, vals):
    d = {}
    for i in range(3):
        d[int(keys[i])] = vals
    d[int(keys[0])] += 1
    return vals.sum()


def stored_while_values_are_iterated_over(keys, vals):
    d = ones(keys)
    total = 0.0
    for v in d.values():
        d[3] += 1
        total += v.sum()
    return total


def stored_by_a_key_function(keys, vals):
    d = ones(keys)

    def increased(row):
        before = row.sum()
        d[3] += 1
        return before

    return max(d.values(), key=increased) + 0


def one_of_two(keys, vals):
    d = ones(keys)
    x = d[3] if keys[0] > 2 else vals[0] * 1
    d[3] += 1
    return x + 0


def a_view(keys, vals):
    d = ones(keys)
    v = d[3][1:]
    d[3] += 1
    return v + 0


def in_other_containers(keys, vals):
    d = ones(keys)
    pair, rows = (d[3], 1), [d[1]]
    d[3] += 1
    return pair[0] + rows[0]


def out_of_date(keys, vals):
    d = ones(keys)
    row = d[3]
    d[4] = np.zeros(3)
    row += 1
    return d[3] + 0


def carried_by_a_loop(keys, vals):
    d = ones(keys)
    row = np.zeros(3)
    total = 0.0
    for k in keys:
        d[int(k)] += 1
        total += row.sum()
        row = d[int(k)]
    return total


@pytest.mark.parametrize(
    "program",
    [
        one_array_under_all_keys,
        read_before,
        read_before_a_call,
        read_in_the_same_expression,
        a_copy_of_the_dict,
        a_list_of_the_values,
        under_two_keys,
        the_name_that_was_stored,
        of_the_caller,
        stored_while_values_are_iterated_over,
        one_of_two,
        a_view,
        in_other_containers,
        out_of_date,
        carried_by_a_loop,
    ],
)
def test_an_element_with_another_name_is_refused(program):
    check(program, K, V, refused="PS503")


def test_elements_that_a_key_function_stores_into_are_refused():
    check(stored_by_a_key_function, K, V, refused="PS301")


def test_one_array_under_two_keys_is_not_handed_back():
    def twice(keys, vals):
        d = {}
        row = vals[0] * 2
        for k in keys:
            d[int(k)] = row
        return d

    check(twice, K, V, refused="PS504")


def test_a_store_into_what_a_path_has_put_in_is_refused():
    def by_another_name(x, k):
        d, y = {}, x * 2
        if x[0] > k:
            d["x"] = y
        y[0] = 7.0
        return d

    check(by_another_name, V[1], 0.5, refused="PS503")


# ---------------------------------------------------------------- derivatives


def weighted(keys, vals):
    d = defaultdict(lambda: np.zeros(3))
    for i in range(len(keys)):
        d[int(keys[i])] += vals[i] ** 2
    return sum([(k * row).sum() for k, row in d.items()], 0.0)


def test_gradients():
    gradient = pystage.grad(weighted, argnums=1)(K, V)
    np.testing.assert_allclose(gradient, 2 * V * K[:, None])
