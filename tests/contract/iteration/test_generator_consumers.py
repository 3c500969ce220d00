"""What takes the elements of a generator: in which order, how many of them, and what is left after an exception."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pystage
import pytest
from checking import Cases, check
from pystage import StagingError

cases = Cases()
X = np.array([1.0, 2.0, 3.0])


def noisy(xs):
    """Tells when an element is asked for."""
    for x in xs:
        print("g", x)
        yield x


def boom(xs):
    """Raises after the last element."""
    yield from xs
    raise ValueError("end")


@cases(X)
def what_was_taken_before_an_exception(xs):
    listed, added, members, entries, queue = [], [], set(), {}, collections.deque()
    for action in (
        lambda: listed.extend(boom(xs)),
        lambda: operator.iadd(added, boom(xs)),
        lambda: members.update(boom([1, 2])),
        lambda: entries.update((v, v) for v in boom([1, 2])),
        lambda: queue.extend(boom(xs)),
    ):
        try:
            action()
        except ValueError:
            pass
    return listed, added, sorted(members), entries, list(queue)


@cases(X)
def generators_that_see_what_grows(xs):
    first, second, members, entries, queue = [], [], set(), {}, collections.deque()
    first += (len(first) for _ in range(3))
    second.extend(len(second) for _ in range(3))
    queue.extend(len(queue) for _ in range(3))
    members.update(len(members) * 10 for _ in range(3))
    entries.update((len(entries), x) for x in xs)
    return first, second, list(queue), sorted(members), entries


@cases(X)
def beside_what_they_change(xs):
    xs, listed = xs * 1, [1.0, 2.0, 3.0]

    def changing(values):
        for i in range(3):
            values[i] = 50.0 + i
            yield i

    pairs = list(zip(listed, changing(listed)))
    total = 0.0
    for a, b in zip(xs, changing(xs)):
        total += a * b
    return pairs, total, list(map(lambda a, b: a * b, xs, changing(xs)))


@cases(X)
def numbered(xs):
    out = []
    for i, x in enumerate(noisy(xs), xs.argmax()):
        out.append(i * xs.astype(np.float32) + x)
    return (
        out,
        list(enumerate(noisy([1]), True)),
        list(enumerate([1, 2], True)),
        list(enumerate([1], np.int64(3))),
    )


@cases(X, raises=TypeError)
def numbered_from_a_fraction(xs):
    return list(enumerate(noisy(xs), 1.5))


@cases(X)
def spliced_before_what_follows(xs):
    values = [1.0, 2.0, 3.0, 4.0]

    def count(*args):
        return len(args)

    def change():
        xs[0] = 9.0
        return 1.0

    def growing():
        values.append(2.0)
        yield 3.0

    popped = [*values, values.pop()]
    counted = count(*values, values.append(5.0))
    return popped, counted, [*xs, change()], [*values, *growing()]


@cases(X, raises=TypeError)
def stacked(xs):
    return np.vstack(x * xs for x in [1, 2])


@cases(X, raises=TypeError)
def stacked_from_an_iterator(xs):
    return np.vstack(map(lambda k: xs * k, [1, 2]))


@cases(X, raises=TypeError)
def how_many(xs):
    return len(noisy(xs))


@cases(X, raises=TypeError)
def beside_a_number(xs):
    return list(zip(noisy(xs), np.array(3.0)))


@cases(X, raises=TypeError)
def spliced_from_a_number(xs):
    return [*5, len(noisy(xs))]


@cases(X, raises=TypeError)
def of_a_number(xs):
    values = (y for y in 5)  # noqa: F841
    return xs


def told(a, b):
    print("f", a, b)
    return a + b


@cases(X)
def one_by_one(xs):
    return (
        functools.reduce(told, noisy(xs)),
        functools.reduce(told, noisy([]), 5),
        list(itertools.accumulate(noisy(xs))),
        list(itertools.accumulate(noisy(xs), told, initial=2.0)),
        list(itertools.pairwise(noisy(xs))),
        list(itertools.chain(noisy(xs), noisy([9]))),
        sum(noisy(xs), 1.0),
    )


@cases(X, raises=ValueError)
def unpacked_too_many(xs):
    a, b = noisy([1, 2, 3, 4, 5])


@cases(X)
def unpacked(xs):
    def endless():
        i = 0
        while True:
            yield i
            i += 1

    a, b = noisy(xs[:2])
    c, *d = noisy(xs)
    try:
        e, f = endless()
    except ValueError as error:
        return a, b, c, d, str(error)


@cases(X)
def stopped_in_the_body(xs):
    others, out = iter([1, 2]), []
    try:
        for v in noisy(xs):
            out.append((v, next(others)))
    except StopIteration:
        out.append("stop")
    return out


@cases(X)
def an_iterator_that_others_go_on_with(xs):
    it = iter([1, 2, 3, 4, 5, 6, 7])
    first = list(itertools.islice(it, 2))
    a, b = itertools.islice(it, 2)
    rest = iter(xs)
    pairs = list(itertools.pairwise(itertools.islice(rest, 2)))
    return first, a, b, list(itertools.chain(it, [9])), list(it), pairs, list(rest)


@cases(X)
def pieces_of_an_iterator(xs):
    it, pieces = iter([1, 2, 3, 4, 5]), []
    while True:
        piece = list(itertools.islice(it, 2))
        if not piece:
            return pieces, xs
        pieces.append(piece)


@cases(X)
def elements_by_a_condition(xs):
    it = iter([1, 2, 3, 1])
    return (
        list(itertools.takewhile(lambda v: v < 2, it)),
        list(it),
        list(itertools.takewhile(lambda x: x < 3, xs)),
        list(itertools.dropwhile(lambda x: x < 2, xs)),
        list(itertools.filterfalse(lambda x: x > 1, xs)),
        list(itertools.compress("abc", [1, 0, 1])),
        list(itertools.compress(xs, xs > 1)),
        list(itertools.chain.from_iterable([[1, 2], xs])),
    )


@cases(X)
def an_order_by_a_comparison(xs):
    texts = ["aa", "b", "ccc", "d"]
    texts.sort(key=functools.cmp_to_key(lambda a, b: len(b) - len(a)))
    return texts, sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a), reverse=True), xs


@cases(X)
def keys_of_a_known_dict(xs):
    d = {"a": 1, "b": xs[0]}
    return all(d[k] > 0 for k in d), any(d[k] > 5 for k in d), [d[k] for k in d]


@dataclass
class Place:
    x: float
    inner: Any = None

    def __neg__(self):
        return Place(-self.x)

    def scaled(self, by=2):
        return self.x * by


@cases(X)
def functions_of_objects(xs):
    pairs = [(float(x), i) for i, x in enumerate(xs[::-1])]
    first, second = Place(float(xs[0])), Place(float(xs[1]))
    first.inner = second
    return (
        sorted(pairs, key=operator.itemgetter(0)),
        max(pairs, key=operator.itemgetter(1, 0)),
        operator.attrgetter("inner.x", "x")(first),
        list(map(operator.methodcaller("scaled", by=3), [first, second])),
        operator.neg(second),
    )


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_program(function, args, options):
    check(function, *args, **options)


def stops(xs):
    yield xs[0]
    raise StopIteration


def asks_too_often(xs):
    others = iter([])
    for x in xs:
        yield x + next(others)


@pytest.mark.parametrize("generator", [stops, asks_too_often])
def test_stop_iteration_in_a_generator_is_refused(generator) -> None:
    with pytest.raises(StagingError, match="PEP 479"):
        pystage.compile(lambda xs: list(generator(xs)), fallback="error")(X)
