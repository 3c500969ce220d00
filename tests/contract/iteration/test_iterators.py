"""Iterators: each element once, as it is when it is asked for, whoever asks."""

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([1.0, 2.0, 3.0, 4.0])
A = np.arange(12.0).reshape(4, 3)


@cases(X)
def a_loop_and_its_body_take_turns(x):
    it = iter([x[0], x[1], x[2], x[3]])
    s = 0.0
    for a in it:
        s = s * 10 + a * next(it)
    return s


@cases(X)
def pairs_of_one_iterator(x):
    it = iter([x[0], x[1], x[2], x[3]])
    return [a * 10 + b for a, b in zip(it, it)]


@cases.each((X,), (X[:1],))
def columns_of_no_rows(x):
    rows = [[float(i), x[0]] for i in range(len(x) - 1)]
    return [list(column) for column in zip(*rows)][::-1], [a for (a,) in zip(*[])]


@cases(X)
def what_enumerate_leaves(x):
    it = iter([x[0], x[1], x[2], x[3]])
    for i, a in enumerate(it):
        if i == 1:
            break
    return next(it), x * 1


@cases(X)
def by_its_method(x):
    xs = [x[0], x[1]]
    it = iter(xs)
    xs.append(x[2])
    xs[0] = 9.0
    return it.__next__(), list(it)


@cases(X)
def zip_sees_stores(x):
    out = []
    for a, k in zip(x, ("p", "q", "r")):
        out.append(a)
        x[1] = 50
        x[2] += 1
    return out


@cases(X)
def an_unrolled_loop_sees_stores(x):
    out = []
    for a in x:
        out.append(a)
        x[1] = 50
        x[2] += 1
    return out


@cases(X)
def reversed_sees_stores(x):
    out = []
    for a in reversed(x):
        out.append(a)
        x[1] = 50
        x[2] += 1
    return out


@cases(X)
def an_iterator_of_an_array_sees_stores(x):
    it = iter(x)
    out = [next(it)]
    x[1] = 60
    for v in it:
        x[3] = 70
        out.append(v)
    return out


@cases(X)
def what_a_loop_leaves(x):
    it = iter([1, 2, 3, 4])
    for v in it:
        if v == 2:
            break
    return list(it), x * 1


@cases(X)
def it_gives_them_once(x):
    it = iter(x)
    s = sum(it)
    x[0] = 5
    return s, sum(it)


@cases(X)
def the_keys_of_a_dict(x):
    it = iter({"a": x[0], "b": x[1]})
    return next(it), list(it), x * 1


@cases(X)
def the_values_of_a_dict(x):
    d = {"a": x[0], "b": x[1]}
    it = iter(d.values())
    d["a"] = 9.0
    return next(it), list(it)


@cases(X)
def the_items_of_a_dict(x):
    d = {"a": x[0], "b": x[1]}
    it = iter(d.items())
    a = next(it)
    d["b"] = 9.0
    return a, list(it)


@cases(X)
def one_and_the_next(x):
    it = iter(x)
    rows = []
    for v in it:
        rows.append(v)
        nxt = next(it, None)
        rows.append(nxt)
    return rows


@cases(A)
def rows_of_an_array(a):
    it = iter(a)
    r = next(it)
    r[0] = 9
    a[1, 0] = 7
    return [v[0] for v in it]


@cases(A)
def map_over_an_array(a):
    m = map(lambda r, k: r[0] * k, a, [1, 2, 3])
    a[0, 0] = 5
    return list(m)


@cases(X)
def unpacked(x):
    it = iter([1.0, 2.0, 3.0])
    a, *b = it
    return a, b, list(it), x * 1


@cases(X)
def in_takes_as_far_as_it_finds(x):
    it = iter([1.0, 2.0, 3.0])
    k = 2.0 in it
    return k, list(it), x * 1


@cases(X)
def filter_asks_when_it_must(x):
    log = []
    xs = [1.0, 2.0, 3.0]

    def keep(v):
        log.append(v)
        return v is not None

    kept = filter(keep, xs)
    log.append(0.0)
    xs[1] = x[0]
    first = next(kept)
    log.append(-1.0)
    xs.append(x[3])
    return first, list(kept), list(kept), log


@cases(X, raises=RuntimeError)
def a_dict_grows_under_its_iterator(x):
    d = {"a": x[0]}
    it = iter(d)
    d["b"] = x[1]
    x[0] = 5
    return next(it)


@cases.each((X, 0), (X, 3))
def a_loop_that_may_end_early(x, n):
    total = 0.0
    for v in iter([1.0, 2.0, 3.0, 4.0]):
        if n + v > 2.5:
            break
        total += v
    return total


@cases.each((X, 2.0), (X, -1.0))
def sums_of_what_meets_a_condition(x, limit):
    return (
        sum(x[i] for i in range(4) if x[i] > limit),
        sum((v * 2 for v in x if v > limit), 5),
        sum((v for v in x if v >= limit), start=0.5),
        sum(1 for v in x if v > limit),
        sum(x[i] * j for i in range(4) if i != 1 for j in range(3) if j > 0 and x[i] > limit),
        sum(d["k"] for d in [{"k": 1}, {"k": 2}] if d["k"] > 1),
    )


@cases.each((X,), (A,))
def sums_of_all(x):
    return (
        sum(v * 2 for v in x),
        sum((v for v in x), 1.5),
        sum(x[i] for i in range(0)),
        sum(i for i in range(len(x))),
    )


@cases(X, raises=TypeError)
def a_sum_of_texts(x):
    return sum(("a" for v in x), "")


@cases(X)
def a_sum_of_known_numbers_is_known(x):
    return np.zeros(sum(i for i in range(4) if i % 2)) + x


@cases(X, 2.0)
@cases(X, 9.0, raises=ZeroDivisionError)
def a_sum_raises_where_an_element_does(x, limit):
    return sum(10 // int(v - 3) for v in x if v < limit)


@cases.each((12, X), (7, X))
def the_length_of_a_string_of_numbers(n, x):
    return len(f"{n}"), x[: len(str(n))]


@cases(X)
def iterators_over_lists_of_computed_length(x):
    it = iter([v for v in x if v > 1])
    first = [0.0]
    first += it
    kept = [v for v in x if v > 0]
    late = iter(kept)
    kept.append(100.0)
    return first, list(it), sum(it), list(late), max(late, default=-1.0)


@cases(X)
def into_a_list_of_strings(x):
    found = ["a"]
    found.extend(v for v in x if v > 1)
    return found


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_iterators(function, args, options):
    check(function, *args, **options)


def left_open(x):
    it = iter([1, 2, 3, 4])
    for v in it:
        if x[v - 1] > 1.5:
            break
    return list(it)


def test_what_a_loop_that_may_end_early_leaves_is_refused():
    check(left_open, X, refused="PS606")


def into_a_list_of_others(x):
    found = [x]
    found.extend(v for v in x if v > 1)
    return found


def test_an_iterator_that_gave_its_elements_is_not_asked_again():
    check(into_a_list_of_others, X, refused="PS301")
