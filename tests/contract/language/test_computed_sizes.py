"""Arrays whose sizes only the run knows, wherever values go: objects, calls, branches, loops, handlers."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.arange(10.0) - 4.2
NONE, ALL = -np.abs(X), np.abs(X)
K = [np.array([k]) for k in (0, 1, 3, 10)]


class Holder:
    """Something that has an array."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def positive(self):
        return self.values[self.values > 0]

    def keep(self):
        self.values = self.positive()
        return self


def positive(x):
    return x[x > 0]


# ---------------------------------------------------------------- objects and containers


@cases.each((Holder(X), X), (Holder(X), NONE), (Holder(X), ALL))
def attributes(o, x):
    o.values = x[x > 0]
    o.values *= 2
    view = o.values
    view[:1] = 9
    o.views = [view, view[::-1]]
    return o.values, {"same": o.values}


@cases.each((Holder(X),), (Holder(NONE),), (Holder(ALL),))
def methods(o):
    first = o.positive()
    if len(first) > 3:
        o.keep()
    return first, o.values, len(o)


@cases.each((Holder(X),), (Holder(NONE),))
def attributes_in_loops(o):
    own = Holder(o.values[o.values > 0])
    for _ in range(4):
        if len(own) > 2:
            own.values = own.values[1:]
        else:
            own.values = own.values * 2
    while len(o) > 3:
        o.values = o.values[o.values > o.values.mean()]
    return own.values


@cases.each(([X, X + 1],), ([X, NONE],))
def items_of_the_callers_list(found):
    for i in range(len(found)):
        found[i] = found[i][found[i] > 0]
    found.append(found[0][1:])
    return len(found)


@cases.each(({"a": X},), ({"a": NONE},))
def entries_of_the_callers_dict(found):
    found["a"] = positive(found["a"])
    found["b"] = found["a"][:2]


@cases.each((X,), (NONE,))
def containers(x):
    y = positive(x)
    found = [y]
    found.append(y * 2)
    named = {"a": found, "b": (y,)}
    named["c"] = found[-1][:1]
    return named, found, y


@cases.each((X,), (NONE,))
def collected(x):
    found = []
    for i in range(4):
        found.append(x[x > i])
    return found


# ---------------------------------------------------------------- functions


@cases.each((X,), (NONE,), (ALL,))
def called_again(x):
    return positive(x), positive(x[2:]), positive(positive(x))


@cases.each((X,), (NONE,))
def closures(x):
    y = positive(x)

    def plus(a, b=y):
        return a + b

    def shorter():
        nonlocal y
        y = y[1:]
        return y

    return plus(y), shorter(), y


@cases.each((X, K[2]), (X, K[0]))
def changed_by_calls(x, k):
    def add(a):
        a += 1

    y = x[: k[0]]
    add(y)
    add(y[1:])
    add(x[x > 0])
    return x, y


# ---------------------------------------------------------------- branches and handlers


@cases.each((X,), (-X,), (ALL,))
def of_one_memory_or_another(x):
    if x[0] > 0:
        y = x[x > 0]
    else:
        y = x[:5][x[:5] < 0]
    y[:1] = 4
    return y, len(y), y.sum()


@cases.each((X,), (-X,), (ALL,))
def bounded_or_exact(x):
    if x[0] > 0:
        y = x[x > 0]
    else:
        y = np.zeros(3)
    z = y
    y[:1] = 4
    return y.sum(), y, z is y, len(y)


@cases.each((X,), (-X,), (ALL,))
def joined_after_a_branch(x):
    y = np.zeros(4)
    if x[0] > 0:
        y = x[x > 0]
    return np.concatenate((y, [1.0])), np.append(y, 2.0), np.stack([y, y]), np.median(y), np.cumsum(y), y[-1]


@cases.each((X,), (-X,), (ALL,))
def prefix_or_selection(x):
    if x[0] > 0:
        y = x[:3]
    else:
        y = x[x > 0]
    return y.sum(), len(y), y.max(initial=0), y + 1, np.sort(y)


@cases.each((X,), (-X,), (ALL,))
def perhaps(x):
    y = None
    if x[0] > 0:
        y = x[x > 0]
    return y is None, y


@cases.each((X,), (NONE,))
def caught(x):
    y = x
    try:
        y = positive(x)
        first = y[0]
        y = y[1:]
    except IndexError:
        first = -1.0
    return y, first


@cases(NONE, raises=ValueError)
@cases(X)
def raised_after_a_store(x):
    x[x > 0] *= 2
    x[:2] = 5
    y = x[x > 5]
    if len(y) == 0:
        raise ValueError(len(y))
    return y


# ---------------------------------------------------------------- loops


@cases.each((X,), (NONE,))
def from_the_front(x):
    y, s = positive(x), 0.0
    while len(y):
        s = s * 2 + y[0]
        y = y[1:]
    return s, y


@cases.each((X,), (NONE,))
def from_both_ends(x):
    y = positive(x)
    for _ in range(100):
        y = y[1 : len(y) - 1]
    z = positive(x)
    for _ in range(2):
        z = z[:-1]
    return y, z


@cases.each((X,), (NONE,))
def exchanged(x):
    a, b = x[x > 0], x[x < 0]
    for _ in range(3):
        a, b = b, a[1:]
    return a, b


@cases.each((X, K[1]), (X, K[2]))
def smaller_matrices(x, k):
    m, n, s = np.outer(x, x), int(k[0]), 0.0
    while n > 0:
        m = m[:n, :n]
        s += m.sum()
        n -= 1
    return s


@cases.each((X,), (-X,), (ALL,))
def shrinking(x):
    y = x
    while len(y) > 2:
        y = y[y > y.mean()]
    return y


@cases.each((X,), (-X,), (ALL,))
def returned_from_a_loop(x):
    for i in range(5):
        y = x[x > i]
        if len(y) < 3:
            return y
    return x


@cases.each((X,), (NONE,))
def changed_through_views(x):
    y = positive(x)
    for i in range(3):
        z = y[i:]
        z += 1
    return y


# ---------------------------------------------------------------- identity and memory


@cases.each((X, K[1]), (X, K[2]))
def two_views_of_the_same_elements(x, k):
    k = int(k[0])
    y = x[:k]
    return x[:k], x[:k], y, y, y[:], y.T, y.reshape(-1), np.ravel(y)


@cases.each((X,), (NONE,))
def one_object(x):
    y = positive(x)
    z = y
    if x[0] > -4.5:
        y = x[x > 1]
        z = y
    return y, z


@cases.each((X,))
def identities(x):
    y = positive(x)
    found = [y]
    return y is x, y is positive(x), found[0] is y, y is None, (y,) is y


@cases.each((X + 9,), (X - 9,))
def computed_identity(x):
    y = positive(x)
    z = y
    if x[0] > 0:
        z = x[x > 1]
    return y is z


@cases.each((X, K[2]), (X, K[0]))
def copies(x, k):
    y, z = positive(x), x[: k[0]]
    made = [
        copy.copy(y),
        copy.copy(z),
        y.copy(),
        np.copy(z),
        np.array(y),
        np.asarray(z),
        y.flatten(),
        *copy.deepcopy([y, y]),
    ]
    for i, each in enumerate(made):
        each[:1] = 10 * i
    return made, y, z, x


@cases.each(*[(X, n) for n in (-9, -2, 0, 1, 3, 99)])
def without_a_part(x, n):
    found = [e for e in x if e > 0]
    first, last, middle, twice = list(found), list(found), list(found), [1, 2, 3, 4]
    del first[:n]
    del last[n:]
    del middle[1:n]
    del twice[n - 2 : n]
    del found[1:]
    last.append(2.0)
    if n > 1:
        del middle[-n:]
    return first, last, middle, twice, found, len(first)


@cases.each((X,), (NONE,), (ALL,), (X[4:6],))
def reversed_and_shorter(x):
    y = x[x > 0]
    z = y[::-1]
    while len(z) > 1:
        z = z[z != z[0]]
    w = np.flip(y)[:-1]
    while len(w) > 2:
        w = w[1:]
    w += 1
    return y, z, w


@cases.each((X, 1), (ALL, 2), (NONE, 2))
def reversed_by_two_names(x, n):
    y = x[x > 0]
    z = y[::-1]
    w = z
    while len(z) > n:
        z = z[z != z[0]]
    return y, z, w


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
