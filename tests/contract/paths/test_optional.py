"""Names that are None on one path and something on the other: `is None`, truth, results, stores through them."""

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

A = np.arange(12.0).reshape(4, 3)
X = np.array([1.0, 2.0, 3.0, 4.0])
BOTH = [(X, 1), (X, 0)]


class Box:
    def __init__(self, v):
        self.v = v


@cases.each(*BOTH)
def an_argument_or_none(x, c):
    t = x if c else None
    if t is not None:
        t[0] = 9
        return t * 2
    return x


@cases.each(*BOTH)
def none_comes_back(x, c):
    t = x if c else None
    return t, [t, 1], {"k": t}


@cases.each(*BOTH)
def a_default_takes_its_place(x, c):
    t = None
    if c:
        t = [x, 1]
    if t is None:
        t = [x * 2, 2]
    t[0][0] = 50
    return t


@cases.each((X, 0.5), (X, 1.5))
def in_an_attribute(x, v):
    box = Box(None)
    if v > 1:
        box.v = x[1:]
    if box.v is not None and box.v[0] > 1:
        box.v[0] = v
    return box


@cases.each(*BOTH)
def in_a_dict(x, c):
    d = {"a": None, "b": x}
    if c:
        d["a"] = x
    if d["a"] is None:
        d["a"] = d["b"] * 2
    d["a"][0] = 1
    return d


def scaled(x, v):
    if v > 0:
        return x * v


@cases.each((X, 2.0))
@cases.each((X, -1.0), raises=ValueError)
def a_function_that_may_give_none(x, v):
    y = scaled(x, v)
    if y is None:
        raise ValueError("not positive")
    return y + 1


def stored(x, t):
    if t is None:
        t = x
    t[1] = 3
    return t


@cases.each(*BOTH)
def an_argument_of_a_function(x, c):
    t = None
    if c:
        t = x * 1
    u = stored(x, t)
    return u is x, u, t is None


@cases.each(*[(c, d) for c in (1, 0) for d in (1, 0)])
def a_loop_while_there_is_one(c, d):
    t = None
    if c:
        t = 1
    elif d:
        t = 2
    trips = 0
    while t is not None:
        trips += 1
        t = t * 2 if t < 10 else None
    return trips


@cases.each(*BOTH)
def its_truth(x, c):
    t = [x] if c else None
    n = 0 if not c else None
    return bool(t), not t, bool(n), 1 if t or n else 2


@cases.each(*BOTH)
def none_and_not_none_at_once(x, c):
    t, u = (x, None) if c else (None, x)
    if t is None:
        u[0] = 5
    else:
        t[0] = 6
    return t is None, u is None, (t is None) != (u is None)


@cases.each(*[(X, n) for n in (2, 4)])
def the_least_above_a_threshold(x, n):
    best = None
    for i in range(n):
        if x[i] > 1.5 and (best is None or x[i] < best):
            best = x[i]
    return best


@cases.each(*[(X, n) for n in (0, 1, 2, 4)])
def the_last_index(x, n):
    last = None
    for i in range(n):
        if x[i] > 1.5:
            last = i
    return last, 1


@cases.each(*[(A, n) for n in (0, 1, 2, 4)])
def the_row_before(x, n):
    prev = None
    for i in range(n):
        if prev is not None:
            prev[0] += 10
        prev = x[i]
    return prev, 1


@cases.each(*[(X, n) for n in (0, 1, 3)])
def the_first_trip_begins_it(x, n):
    total = None
    for i in range(n):
        if total is None:
            total = x * i
        else:
            total = total + x[i]
    return total, 1


@cases(X)
def a_loop_that_certainly_runs(x):
    prev = None
    for _ in range(40):
        prev = x if prev is None else prev * 0.5
    return prev + 1


@cases.each(*[(A, c) for c in (1, 0)])
def raised_and_caught(x, c):
    t = x[0] if c else None
    try:
        if t is None:
            raise KeyError("k")
        t[1] = 4
        u = t
    except KeyError:
        u = x[1] * 2
    u[0] = 3
    return u


@cases.each(*[(A, c) for c in (1, 0)])
def the_handler_does_not_know_it(x, c):
    t = x[0] if c else None
    found = 0
    try:
        if t is None:
            raise KeyError("k")
        found = 1
    except KeyError:
        found = 2
    if t is None:
        found += 10
    return found


@cases.each((X, 0), (X, -4), (X, 3))
@cases.each((X, 4), (X, -5), raises=ValueError)
def an_index_checked_by_the_program(x, i):
    if i >= 4 or i < -4:
        raise ValueError("outside")
    return x[i]


@cases.each((X, 0), (X, 3), (X, 4), (X, 9))
def an_index_checked_in_a_body_that_is_caught(x, i):
    total = 0.0
    try:
        if i >= 4:
            raise ValueError("outside")
        total += float(x[i])
    except ValueError:
        total = -1.0
    try:
        total += float(x[i])
    except IndexError:
        total -= 10
    return total


@cases(X, 1)
@cases(X, 0, raises=TypeError)
def not_looked_at(x, c):
    t = x if c else None
    return t + 1


@cases.each(*BOTH)
def lists_of_different_lengths(x, c):
    t = [x] if c else [x, x]
    return t[0]


@cases(X)
@cases(np.append(np.arange(200.0) % 17, X))
@cases(-X, raises=AttributeError)
def the_best_of_a_loop(x):
    best = None
    for v in x:
        if v > 2 and (best is None or v > best.v):
            best = Box(v)
    return best.v


@cases(X, 2.5)
@cases(X, 9.0, raises=AttributeError)
def a_selection_or_nothing(x, least):
    found = None
    for v in x:
        if v > least:
            found = x[x >= v]
    x[0] = 7.0
    return found.sum(), found.shape, len(found)


@cases(X, True)
@cases(X, False, raises=AttributeError)
def stored_into(x, c):
    box = None
    if c:
        box = Box(x)
    x[1] = 9.0
    box.v = 5.0
    return box.v


@cases(X, True)
@cases(X, False, raises=AttributeError)
def taken_out(x, c):
    box = None
    if c:
        box = Box(x)
    x[1] = 9.0
    del box.v
    return x


@cases(X, raises=AttributeError)
def of_none_for_certain(x):
    x[0] = 5.0
    nothing = None
    return nothing.v


@cases.each((X, 2.0), (X, 20.0))
def handled(x, least):
    box = None
    for v in x:
        if v > least:
            box = Box(v)
    try:
        return box.v
    except AttributeError as error:
        return str(error)


@cases(np.zeros(0))
@cases(np.array([0.4, 0.1]))
@cases(np.array([0.1, 0.9, 0.4, 0.6, 0.9, 0.8]))
def two_that_a_loop_assigns_together(x):
    y = x[x > 0.3]
    at = limit = None
    for i in range(len(y)):
        if y[i] > 0.5:
            at, limit = i, y[i]
    if at is None:
        return -1, y
    return at, y < limit, y * limit


@cases(np.zeros((0, 2)))
@cases(np.ones((5, 2)))
@cases(np.arange(12.0).reshape(6, 2) % 5.0)
def several_that_nested_loops_assign_together(x):
    best, column, limit = 0.5, None, None
    y = x[x[:, 0] < 4.0]
    for f in range(x.shape[1]):
        order = np.sort(y[:, f])
        for i in range(len(order) - 1):
            if order[i] == order[i + 1]:
                continue
            if order[i] > best:
                best, column, limit = order[i], f, (order[i] + order[i + 1]) / 2
    if column is None:
        return y
    return best, y[y[:, column] <= limit]


@cases(X, 1)
@cases(X * 0.0, 1)
@cases(X, 0)
@cases(-X, 1)
def two_that_a_loop_assigns_apart(x, c):
    first = second = None
    for v in x:
        if v > 1.0:
            first = v
        if v > 1.0 and c:
            second = v
    if first is None:
        return 0.0
    if second is None:
        return first
    return first + second * x[x > 2.0]


@cases(X)
@cases(-X)
@cases(X[:1])
def one_that_a_loop_takes_back(x):
    first = second = None
    for v in x:
        if v > 0.0:
            first = second = v
        if v > 3.0:
            second = None
    if first is None:
        return -1.0
    return first if second is None else first + second


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_optional(function, args, options):
    check(function, *args, **options)
