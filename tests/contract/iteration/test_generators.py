"""Generators: functions with `yield` and generator expressions, which loops and functions go over."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pystage
import pytest
from checking import Cases, check
from pystage import StagingError

cases = Cases()
X = np.array([3.0, 1.0, 2.0, 4.0, 5.0])
SIZES = [(np.arange(float(n)) % 5,) for n in (0, 1, 5, 40)]


def up(n):
    """0, 1, 2, …"""
    i = 0
    while i < n:
        yield i
        i += 1


def fib():
    """Numbers without end."""
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def kmers(read, k):
    """The codes of the windows of a read."""
    code = 0
    for i, base in enumerate(read):
        code = (code * 4 + int(base)) % 4**k
        if i >= k - 1:
            yield code


def neighbours(r, c, shape):
    """The fields around one."""
    for dr in (-1, 0, 1):
        for dc in (-1, 0, 1):
            if (dr or dc) and 0 <= r + dr < shape[0] and 0 <= c + dc < shape[1]:
                yield r + dr, c + dc


@cases.each(*SIZES)
def counted(x):
    seen, last = {}, None
    for code in kmers(x, 2):
        seen[code] = seen.get(code, 0) + 1
        last = code
    return seen, last


@cases.each(*SIZES)
def left_early(x):
    total = 0
    for code in kmers(x, 3):
        total += code
        if total > 100:
            break
    else:
        total = -total
    return total


@cases.each(*SIZES)
def returned_from(x):
    for i, code in enumerate(kmers(x, 2), 3):
        if code == 7:
            return i, code
    return -1


@cases(np.arange(12.0).reshape(3, 4))
@cases(np.arange(400.0).reshape(20, 20))
def in_nested_loops(a):
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for r, c in neighbours(i, j, a.shape):
                out[i, j] += a[r, c]
    return out


def pairs(x):
    """Several places that yield."""
    yield 1, x[0]
    yield from enumerate(x)
    for k in up(3):
        if x[k] > 2:
            yield from zip(up(k), x)
    yield 9, x[-1]


@cases(X)
def from_several_places(x):
    total, last = 0.0, None
    for k, v in pairs(x):
        total = (total * 3 + k * v) % 1000
        last = v
    return total, last


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def __iter__(self):
        if self.left is not None:
            yield from self.left
        yield self.value
        if self.right is not None:
            yield from self.right


@cases(X)
def of_a_method_that_recurses(x):
    tree = Tree(x[0], Tree(x[1]), Tree(x[2], Tree(x[3])))
    return [v for v in tree], sum(tree), max(tree)  # noqa: C416


@cases(X)
def of_a_closure(x):
    n = 0

    def scaled(k):
        nonlocal n
        for v in x[:k]:
            n += 1
            yield v * n

    total = 0.0
    for v in scaled(3):
        total += v + n
    return total, n


@cases.each(*SIZES[1:])
def of_views(x):
    def windows(a, n):
        for i in range(len(a) - n + 1):
            yield i, a[i : i + n]

    out = np.zeros(len(x))
    for i, window in windows(x, 2):
        window[0] += 1
        out[i] = window.sum()
    return out, x


@cases.each(*SIZES)
def of_parts(x):
    def chunks(a, n):
        for s in range(0, len(a), n):
            yield a[s : s + n]

    return [c.sum() for c in chunks(x, 2)], [len(c) for c in chunks(x, 4)]


@cases(X)
def that_goes_on_after_the_arguments_change(x):
    def scaled(y):
        for i in range(len(y)):
            yield y[i]

    values = scaled(x)
    x[1] = 9.0
    out = []
    for v in values:
        out.append(v)
        x[-1] = -1.0
    return out


@cases(X)
def taken_twice(x):
    values, others = up(3), (v for v in x)
    return list(values), list(values), sum(others), sum(others)


@cases(X)
def handed_on(x):
    def total(values):
        found = 0.0
        for v in values:
            found += v
        return found

    def running(values):
        found = 0.0
        for v in values:
            found += v
            yield found

    return (
        total(up(4)),
        total(v * v for v in x),
        list(running(running(x))),
        list(running(v + 1 for v in up(3))),
    )


@cases(X)
def consumed(x):
    return (
        max(up(4), key=lambda v: -x[v]),
        sorted(up(3), reverse=True),
        dict(enumerate(up(3))),
        tuple(up(2)),
        set(up(3)),
        np.array(list(up(3))),
        ",".join(str(v) for v in up(3)),
        [*up(3), 4],
        list(map(lambda v: v * 2, up(4))),
        list(map(lambda a, b: a * b, up(9), x)),
        list(filter(lambda v: x[v] > 1, up(len(x)))),
        list(filter(None, up(3))),
    )


@cases.each(*SIZES)
def beside_others(x):
    short = [1, 2]
    return (
        list(zip(fib(), x)),
        list(zip(x, fib())),
        list(zip(up(2), x, x)),
        list(zip(short, fib(), x)),
        list(itertools.islice(fib(), 6)),
        list(itertools.islice(fib(), 2, 9, 3)),
        list(itertools.islice(up(3), 1, None)),
        list(itertools.islice(up(3), 5, 2)),
    )


@cases(X)
def no_further_than_wanted(x):
    n = 0

    def counting(k):
        nonlocal n
        for i in range(k):
            n += 1
            yield i

    seen = []
    list(zip(counting(10), x))
    seen.append(n)
    list(zip(x, counting(10)))
    seen.append(n)
    found = any(v == 2 for v in counting(9)), any(counting(9)), all(counting(9)), 3 in counting(8)
    seen.append(n)
    first = next(counting(4)), next(counting(0), -1), next(counting(3), -1)
    seen.append(n)
    part = list(itertools.islice(counting(9), 1, 4)), list(itertools.islice(counting(9), 1, 8, 3))
    seen.append(n)
    for _ in counting(9):
        break
    seen.append(n)
    return seen, found, first, part


@cases(X)
def in_the_order_of_python(x):
    n = 0

    def counting(k):
        nonlocal n
        for _ in range(k):
            n += 1
            yield n

    def given(*args):
        return args

    a = [*counting(2), n, *counting(1), n]
    b = given(*counting(2), n), (n, *counting(1), n)
    first, *rest = (v * 2 for v in x)
    return a, b, n, first, rest


@cases(X)
def without_elements(x):
    def none():
        return
        yield x

    def early():
        for v in x:
            if v == 2:
                return
            yield v

    def nothing():
        got = yield
        yield got

    return list(none()), sum(none()), list(early()), list(nothing()), next(none(), 5)


@cases(X)
def with_all_kinds_of_parameters(x):
    def given(a, *rest, k=2, **others):
        yield a
        yield rest
        yield k
        yield others

    return [v for v in given(1, 2, 3, k=4, z=x)], [v for v in given(x)]  # noqa: C416


@cases(X, raises=UnboundLocalError)
def that_forgets_between_runs(x):
    def assigning(flag):
        if flag:
            value = 1
        yield 0
        yield value

    out = []
    for flag in (True, False):
        for v in assigning(flag):
            out.append(v)
    return out


@cases(X, raises=KeyError)
def raised_by_the_loop(x):
    for v in up(5):
        if v == 2:
            raise KeyError(v)


@cases(X)
def raised_by_the_generator(x):
    def checked():
        for v in x:
            if v == 2:
                raise ValueError("two")
            yield v

    total = 0.0
    try:
        for v in checked():
            total += v
    except ValueError as error:
        return total, str(error)
    return total


@cases(X, raises=StopIteration)
def asked_too_often(x):
    return next(v for v in x if v > 9)


@cases(X)
def printed(x):
    def telling():
        for v in x:
            print("before", v)
            yield v
            print("after", v)

    for v in telling():
        print("in", v)
        if v == 2:
            break
    return v


@cases(X)
def recursive_to_a_known_depth(x):
    def walk(depth):
        yield depth
        if depth < 3:
            yield from walk(depth + 1)
            yield from walk(depth + 2)

    return list(walk(0))


@cases.each(*SIZES[1:])
def of_loops_in_one_expression(x):
    n = 0
    for v in (a + b for a in x for b in x):  # noqa: B007
        n += 1
        if v > 6:
            break
    k = 2.0
    scaled = (w * k for w in x)
    k = 3.0
    return n, v, list(scaled), functools.reduce(lambda a, b: a + b, (w for w in x))


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_program(function, args, options):
    check(function, *args, **options)


def stepped(x):
    values = up(3)
    return next(values) + next(values)


def beside_each_other(x):
    return list(zip(up(3), up(2)))


def left_and_gone_on_with(x):
    values = up(len(x))
    for v in values:
        if x[v] > 3:
            break
    return list(values)


@pytest.mark.parametrize("program", [stepped, beside_each_other, left_and_gone_on_with])
def test_what_needs_its_steps_apart_is_refused(program) -> None:
    with pytest.raises(StagingError):
        pystage.compile(program, fallback="error")(X)


def test_gradient() -> None:
    def running(x):
        product = 1.0
        for v in x:
            product = product * v
            yield product

    def loss(x: np.ndarray) -> float:
        return sum(v * v for v in running(x) if v > 2)

    step = 1e-6
    numeric = [(loss(X + step * e) - loss(X - step * e)) / (2 * step) for e in np.eye(5)]
    np.testing.assert_allclose(pystage.grad(loss)(X), numeric, rtol=1e-5)


def test_the_program_is_as_large_for_many_trips() -> None:
    def program(x):
        return sum(v for v in kmers(x, 3) if v > 7)

    sizes = [len(str(pystage.code_hlo(program, np.zeros(n))).splitlines()) for n in (100, 2000)]
    assert sizes[0] == sizes[1]
