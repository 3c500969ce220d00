"""Deques whose contents, and mostly whose length, only the run knows: rows as a ring."""

from __future__ import annotations

import copy
from array import array
from collections import deque

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 7.0])
LONG = np.arange(150.0) % 37
SIZES = [(X[:0],), (X[:1],), (X,), (LONG,)]


def queue(a):
    """What is greater than 1, first in first out, with the front moved on."""
    q = deque()
    for x in a:
        if x > 1:
            q.append(float(x))
        if x == 2:
            q.popleft()
    return q


@cases.each(*SIZES)
def appended(a):
    q = deque()
    for x in a:
        if x > 1:
            q.append(x)
        else:
            q.appendleft((x))
    return q, len(q), bool(q), list(q)


@cases.each(*SIZES)
def in_and_out(a):
    q = deque([0.5])
    out = []
    for x in a:
        q.append(float(x))
        if x < 3:
            out.append(q.popleft())
        if x == 1:
            q.appendleft(q.pop())
    while len(q) > 2:
        out.append(q.popleft() + q.pop())
    return q, out


@cases.each(*SIZES[1:])
def round_robin(a):
    q = deque(a.tolist())
    total = 0.0
    k = 0
    while k < 3 * len(a) + a[0]:
        x = q.popleft()
        total = total * 0.5 + x
        q.append(x)
        k += 1
    return q, total


@cases.each(*SIZES)
def last_three(a):
    q = deque(maxlen=3)
    means = []
    for x in a:
        q.append(float(x))
        if x != 3:
            means.append(sum(q) / len(q))
    return q, means, q.maxlen


@cases.each(*SIZES)
def bounded_from_the_left(a):
    q = deque([1.0, 2.0], 4)
    for x in a:
        if x > 1:
            q.appendleft(float(x))
    r = deque((float(x) for x in a), maxlen=2)
    s = deque(maxlen=0)
    for x in a:
        s.append(x)
    return q, r, s, deque(q, 2), deque(q)


@cases.each((X,), (LONG,))
def places(a):
    q = queue(a)
    i = int(a[1])
    q[i] = 100.0
    q[-1] += 0.5
    return q[0], q[-1], q[i], [x * 2 for x in q], [x for x in reversed(q)], list(enumerate(q))


@cases.each((X,), (LONG,))
def searched(a):
    q = queue(a)
    found = q.index(7.0), q.count(3.0), 7.0 in q, 50.0 in q
    q.remove(7.0)
    q.insert(1, 9.0)
    q.reverse()
    del q[0]
    return found, q, max(q), min(q), sorted(q), sum(q), np.mean(list(q))


@cases.each((X,), (LONG,))
def rotated(a):
    q, r, s = queue(a), queue(a), queue(a)
    q.rotate()
    r.rotate(-int(a[0]))
    s.rotate(7)
    deque().rotate(3)
    return q, r, s


@cases.each((X,))
def joined(a):
    q = queue(a)
    q.extend([1.5, 2.5])
    q.extendleft((4.5, 5.5))
    q.extend(x * 2 for x in a if x > 1)
    r = q + queue(a)
    q += a.tolist()
    q.extend(q)
    t = q.copy()
    u = copy.copy(q)
    q.clear()
    q.append(1.0)
    return q, r, t, u, t == u, t == q, t != q, q == [1.0]


@cases.each((X,))
def known(a):
    q = deque([1, "a", a])
    q.append(2)
    q.appendleft(None)
    q.rotate(2)
    q[1] = a
    first, last = q.popleft(), q.pop()
    return q, first, last, len(q), q[0], "a" in deque(["a"]), deque("abc", 2), deque([1, 2]) == deque([1, 2])


@cases.each((X,))
def tuples(a):
    q = deque([(0, 0.0)])
    seen = {0}
    order = []
    while q:
        i, d = q.popleft()
        order.append(i)
        for j in ((i * 2 + 1) % 11, (i + int(a[0])) % 11):
            if j not in seen:
                seen.add(j)
                q.append((j, d + float(a[1])))
    return order


def moved(q, out):
    out.append(q.popleft())
    q.append(out[-1] + 10)


@cases.each((X,))
def in_calls_and_branches(a):
    q = queue(a)
    r = deque([5.0])
    s = q if a[0] > 2 else r
    s.append(1.0)
    out = [0.0]
    for x in a:
        if x > 1:
            moved(q, out)
    return q, r, s, out, s is q


@cases.each((X, deque([1.0, 2.0])), (X[:1], deque([4.0], 2)), (X[:0], deque()))
def of_the_caller(a, q):
    for x in a:
        q.append(float(x))
    if len(q) > 3:
        q[0] = 50.0
        q.popleft()
    return len(q), q.maxlen


@cases.each((X, deque([1.0, 2.0])))
def elements_of_the_caller(a, q):
    q[1] = a[0]
    return q


@cases.each((X,))
def printed(a):
    q = queue(a)
    print(q, deque([1], 3))
    return str(deque([a[0] * 2.0]))


@cases.each((X,), (LONG,))
def iterated(a):
    q = queue(a)
    pairs = list(zip(q, a)), dict(enumerate(q)), {x: 1 for x in q}, [x for i, x in enumerate(q) if i > 0]
    return pairs, np.array(list(q)), max(q, default=0), any(x > 5 for x in q), all(q), set(q) == {50.0}


@cases.each((X,), (LONG,))
def filled_and_emptied(a):
    q, r = queue(a), deque([1.0])
    for x in a:
        if x < 3:
            q.append(x * 2)
        q, r = r, q
        q.appendleft(2.0)
    for x in a:
        if len(q) > 2 and x > 1:
            q.popleft()
    return q, r


@cases.each((X,))
def of_arrays(a):
    q = deque()
    for x in a:
        if x > 1:
            q.append(a * x)
    total = np.zeros(6)
    while len(q) > 1:
        total += q.popleft()
    return total, q


@cases.each((X,))
def of_iterables(a):
    return (
        deque(a, maxlen=4),
        deque(range(5)),
        deque(a[a > 1]),
        deque(np.arange(3)),
        deque({1: 2}),
        [*deque("ab")],
    )


@cases.each((X[:0],), raises=IndexError)
def empty(a):
    return queue(a).popleft()


@cases.each((X,), raises=IndexError)
def popped_too_often(a):
    q = queue(a)
    for _ in a:
        q.pop()


@cases.each((X,), raises=IndexError)
def outside(a):
    return queue(a)[int(a[5])]


@cases.each((X,), raises=ValueError)
def not_there(a):
    return queue(a).index(a[0] * 100)


@cases.each((X,), raises=IndexError)
def inserted_when_full(a):
    q = deque(queue(a), 2)
    q.insert(0, 1.0)


@cases.each((X,), raises=RuntimeError)
def grows_while_it_iterates(a):
    q = queue(a)
    for x in q:
        q.append(x)


@cases.each((X,), raises=RuntimeError)
def rotates_while_it_iterates(a):
    q = deque([1.0, 2.0, a[0]])
    for x in q:
        q.append(q.popleft())


@cases.each((X, True), (X, False))
def caught(a, is_empty):
    q = deque() if is_empty else queue(a)
    try:
        found = q.popleft()
    except IndexError:
        found = -1.0
    return found, q


# ---------------------------------------------------------------- of objects that change


LOTS = np.array([3.0, -1.0, 2.0, -4.0, 5.0, 1.0, -2.0, -3.0, 4.0])


class Lot:
    def __init__(self, day, left):
        self.day = day
        self.left = left


class Book:
    def __init__(self):
        self.lots = deque()
        self.closed = []

    def sell(self, day, left):
        while left > 0 and self.lots:
            lot = self.lots[0]
            part = min(left, lot[1])
            self.closed.append((lot[0], day, part))
            lot[1] -= part
            left -= part
            if lot[1] == 0:
                self.lots.popleft()


@cases.each((LOTS,), (LOTS[:1],), (-LOTS,), (LOTS[:0],))
def first_in_first_out(x):
    book = Book()
    for day, v in enumerate(x):
        if v > 0:
            book.lots.append([day, v])
        else:
            book.sell(day, -v)
    return book.closed, list(book.lots), sum(lot[1] for lot in book.lots)


@cases.each((LOTS,), (-LOTS,))
def objects_at_both_ends(x):
    lots = deque()
    for day, v in enumerate(x):
        if v > 2:
            lots.append(Lot(day, v))
        elif v > 0:
            lots.appendleft(Lot(day, v))
        elif lots:
            lots[-1].left += v
            lots[0].day = -day
        if len(lots) > 3:
            lots.pop()
    return [(lot.day, lot.left) for lot in lots]


@cases.each((LOTS, 0), (LOTS, 1))
def another_object_in_its_place(x, k):
    lots = deque()
    for day, v in enumerate(x):
        if v > 0:
            lots.append([day, v])
    lots[k] = kept = [k, -1.0]
    for lot in lots:
        lot[1] *= 2
    kept[0] = 9
    return list(lots)


@cases(np.array([1.0, 2.0]))
def deques_beside_lists(x):
    first, values = deque([1.0, x[1]]), [1.0, x[1]]
    return first == values, first != values, values != first, first != deque(values)


SHORT, SHORTER = deque([1.0, 2.0]), deque([3.0])
LONG = deque([1.0] * 40), deque([2.0, 3.0] * 20)


@cases.each((SHORT, SHORTER, 1), (SHORT, SHORTER, 0), (*LONG, 1), (SHORT, SHORT, 0))
def one_of_two(d, e, c):
    f = d if c > 0 else e
    f.append(4.0)
    f.rotate(1)
    f.insert(1, f[0] * 2)
    f.appendleft(f.pop())
    return f, d, e, len(f), f is d, 4.0 in f, f.index(4.0), max(f), list(f), f.copy(), f == d


@cases.each((SHORT, SHORTER, 1), (SHORT, SHORTER, 2), (LONG[0], SHORTER, 1))
def swapped_in_a_loop(d, e, c):
    for k in range(3):
        d, e = (e, d) if c > k else (d, e)
        d.append(float(k))
        if len(d) > 3:
            d.popleft()
    return d, e


@cases.each((0.5, 1), (0.5, 0))
def made_by_path(x, c):
    d, e = deque([x, 2.0], maxlen=2), array("d", [x])
    f, g = d if c > 0 else deque([1.0]), e if c > 0 else array("f", [1.0, 2.0])
    f.append(x)
    g.extend([3.0])
    total = 0.0
    for v in f:
        total += v
    for v in g:
        total += v
    return f, g, d, e, total, f.maxlen, g.typecode


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_a_deque_is_as_in_the_plain_run(program, args, options):
    check(program, *args, **options)


def random_operations(ops, values):
    q = deque([0])
    taken = []
    for k in range(len(ops)):
        x = int(values[k])
        if ops[k] == 0 or len(q) == 0:
            q.append(x)
        elif ops[k] == 1:
            q.appendleft(x)
        elif ops[k] == 2:
            taken.append(q.popleft())
        elif ops[k] == 3:
            taken.append(q.pop())
        elif ops[k] == 4:
            q.rotate(x)
        elif ops[k] == 5:
            q[x % len(q)] = k
        else:
            taken.append(q[-1 - x % len(q)])
    return q, taken


@pytest.mark.parametrize("seed", range(3))
def test_random_operations(seed):
    rng = np.random.default_rng(seed)
    ops = np.where(rng.random(300) < 0.3, 0, rng.integers(0, 7, 300))
    check(random_operations, ops, rng.integers(0, 30, 300), interpreted=False)


captured = deque([1.0, 2.0], 3)


def test_of_the_environment():
    def pushed(a):
        captured.append(a[0])
        return captured[0] * a, len(captured)

    staged = pystage.compile(pushed)
    found = [staged(X), staged(X + 1)]
    assert list(captured) == [2.0, 3.0, 4.0]
    assert [n for _, n in found] == [3, 3]
    np.testing.assert_array_equal(found[1][0], (X + 1) * 2)


def test_no_attributes():
    def named(a):
        q = deque([a[0]])
        q.name = 3
        return q

    check(named, X, raises=AttributeError)
