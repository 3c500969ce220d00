"""Lists whose length, or an index of which, only the program knows: they are rows of arrays."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check
from passes.programs import whole_arrays

cases = Cases()

X = np.array([1.0, 2.0, -1.0, 3.0, 0.5])
FEW = [(X,), (-X,), (np.abs(X),), (-np.abs(X),)]


# ---------------------------------------------------------------- lists that grow


@cases.each((1,), (11,), (70,))
def between_known_elements(n):
    found = [0]
    for t in range(4, n + 1):
        found.append(t)
    return [0] + list(found) + [n], [-1, 0] + found


@cases.each((5.0,), (0.5,), (2.0**63,), (2.0**64 - 2.0**11,))
def halves(x):
    out = []
    while x > 1:
        x = x / 2
        out.append(x)
    return out


@cases.each(*FEW)
def chosen(x):
    return [v for v in x if v > 0]


@cases.each(*FEW)
def chosen_in_order(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            out.append((i, v))
        elif v < -0.6:
            out.append((-i, v * 2))
    return out, len(out)


@cases.each(*FEW)
def grows_in_a_branch(x):
    out = [x[0]]
    if x[1] > 0:
        out.append(x[1])
    out.append(x[2])
    return out


@cases.each(*FEW)
def until_a_break(x):
    hist = []
    for i in range(10):
        x = x * 0.5
        hist.append(x.sum())
        if hist[-1] < 0.1:
            break
    return x, hist[-1], hist


@cases.each(*FEW)
def nested_loops(x):
    out = []
    for i in range(5):
        for j in range(i):
            if x[j] > 0:
                out.append((i, j, x[j]))
    return out


@cases.each((5,), (0,), (40,))
def a_stack(n):
    stack = [n]
    total = 0
    while stack:
        k = stack.pop()
        total += k
        if k > 1:
            stack.append(k // 2)
            stack.append(k - k // 2 - 1)
    return total


@cases.each((9,), (0,))
def a_queue(n):
    queue = [n]
    seen = []
    while queue:
        k = queue.pop(0)
        seen.append(k)
        if k > 1:
            queue.append(k // 2)
    return seen, len(seen), queue


@cases.each((9.0,), (0.0,))
def ints_and_floats(x):
    out = [0]
    while x > 1:
        x = x / 2
        out.append(x)
    out.append(True)
    return out


class Holder:
    def __init__(self):
        self.items = []
        self.count = 0

    def add(self, x):
        if x > 0:
            self.items.append(x)
        self.count += 1


@cases.each(*FEW)
def in_an_attribute(x):
    holder = Holder()
    for v in x:
        holder.add(v)
    return holder.items, holder.count


@cases.each(*FEW)
def in_a_nested_function(x):
    found = []

    def visit(i):
        if x[i] > 0:
            found.append(i)

    for i in range(len(x)):
        visit(i)
    return found


@cases.each(([], X), ([5.0], X), ([1, 2], -X))
def an_argument_grows(out, x):
    for v in x:
        if v > 0:
            out.append(v)
    return len(out)


@cases.each(([3.0, 1.0, 2.0], 2.0), ([3.0, 1.0, 2.0], 9.0), ([], 1.0))
def an_argument_shrinks(xs, limit):
    while xs and xs[-1] < limit:
        xs.pop()
    return xs


@cases.each(*FEW)
def another_list_in_every_trip(x):
    out = []
    for v in x:
        if v > 0:
            out = out + [v]
    return out


@cases.each(*FEW)
def two_names(x):
    out = []
    same = out
    for v in x:
        if v > 0:
            same.append(v)
    return out, same is out, same


@cases.each(*FEW)
def one_of_two(x):
    a = [v for v in x if v > 0]
    b = [v for v in x if v < 0]
    c = a if len(a) > len(b) else b
    c.append(9.0)
    return a, b, c


@cases
def known_length_after_a_loop():
    out = [1, 1]
    for _ in range(30):
        out.append(out[-1] + out[-2])
    a, b, *rest = out[:4]
    return out, a, b, rest, len(out), np.array(out), np.zeros(len(out)).shape


@cases.each((3,), (0,), (70,))
def length_by_an_argument(n):
    out = []
    for i in range(n):
        out.append(i * 2)
        out.append(0.5)
    return out, len(out), np.zeros(len(out) + 1)


# ---------------------------------------------------------------- what lists do


@cases.each((X, 2), (X, 0), (X, -1), (X, 77))
def insertions(x, i):
    out = [v for v in x if v > 0]
    out.insert(1, 10.0)
    out.insert(int(x[3]) - 3 + i, 20.0)
    out.insert(100, -1.0)
    return out


@cases.each(*FEW)
def slices(x):
    out = [v for v in x if v > 0]
    k = len(out) // 2
    return out[1:], out[:-1], out[::-1], out[k:], out[:k], out[::2], out[-2:], out[3:1:-1], out[:]


@cases.each(*FEW)
def joined(x):
    a = [v for v in x if v > 0]
    b = [(v) for v in x if v < 0]
    c = a + b
    a += b
    b.extend(c)
    c.extend([1, 2])
    return a, b, c, a + [1.0], [2] + a


@cases.each(*FEW)
def reversed_copied_cleared(x):
    a = [v for v in x if v > 0]
    b = a.copy()
    b.reverse()
    c = list(a)
    c.clear()
    d = list(reversed(a))
    c.append(1.0)
    return a, b, c, d, bool(a), not b


@cases.each(*FEW)
def searched(x):
    a = [v for v in x if v > 0]
    return 2.0 in a, 7.0 in a, a.count(2.0), a == a[:], a == a[1:], a != [], a == [2.0]


@cases.each(*FEW)
def ordered(x):
    a = [(v, i) for i, v in enumerate(x) if v > 0]
    b = sorted(a, key=lambda t: -t[0])
    c = sorted([v // 2 for v, i in a], reverse=True)
    a.sort(key=lambda t: t[1] % 2, reverse=True)
    return a, b, c, sorted(a), sorted(x, key=lambda v: -v)


@cases.each(*FEW)
def folded(x):
    a = [v for v in x if v > -4]
    return min(a), max(a), max(a, key=lambda v: -abs(v)), sum(a), any(v > 2 for v in a), all(v > 0 for v in a)


@cases.each(*FEW)
def folded_if_empty(x):
    a = [v for v in x if v > 0]
    return min(a, default=7.0), max(a, default=None), sum(a, 1.0), any(a), all(a)


@cases.each(*FEW)
def gone_over(x):
    a = [v for v in x if v > 0]
    total = 0.0
    for i, v in enumerate(a):
        total += i * v
    for v, w in zip(a, a[1:]):
        total += v * w
    for v in reversed(a):
        total = total / 2 + v
    for i in range(len(a)):
        a[i] = a[i] + total
    return total, a, [v * 2 for v in a], [v for v in a if v > 5]


@cases.each(*FEW)
def grows_while_gone_over(x):
    a = [v for v in x if v > 0]
    for v in a:
        if v > 1:
            a.append(v - 1)
    return a


@cases.each(*FEW)
def stored(x):
    a = [v for v in x if v > -4]
    a[0] = 10.0
    a[-1] = 2
    a[len(a) // 2] += 1.0
    del a[1]
    return a


@cases.each(*FEW)
def told(x):
    a = [v for v in x if v > 0]
    b = [(i, v > 0) for i, v in enumerate(x) if v < 3]
    b.append((0.5, 1))
    print(a, len(a))
    return f"{a} {b!r}", str(a[1:])


# ---------------------------------------------------------------- arrays of lists

SOME = [(X,), (-X,), (np.abs(X),)]


@cases.each(*SOME)
def statistics(x):
    a = [v for v in x if v > 0]
    b = [1.0, *[2.0]]
    for v in x:
        if v > 0:
            b.append(v)
    return (
        np.mean(a),
        np.sum(a),
        np.sort(a),
        np.sqrt(a),
        np.array(a) * 2,
        np.array(b),
        np.cumsum(b),
        np.argmax(a),
    )


@cases.each(*SOME)
def columns_of_pairs(x):
    a = np.array([(v, v * 2) for v in x if v > 0])
    return a, a[:, 0], a.sum(axis=0), a.shape


@cases.each(*SOME)
def as_indices(x):
    chosen = [i for i, v in enumerate(x) if v > 0]
    y = x[chosen]
    x[chosen] = 0.0
    return x, y, np.array(chosen), np.concatenate([y, [1.0]])


@cases.each(*SOME)
def beside_arrays(x):
    a = [v for v in x if v > 0]
    y = x[: len(a)]
    return y + a, a * y, y[1:] @ a[1:], y > a


@cases.each((84,), (97,), (2**20,))
def factors(n):
    out = []
    d = 2
    while n > 1:
        while n % d == 0:
            out.append(d)
            n //= d
        d += 1
    return np.array(out), out


# ---------------------------------------------------------------- computed places in lists of known length


@cases.each((0.0,), (1.0,), (2.0,), (-3.0,))
def of_several_kinds(x):
    return [1, 2.5, np.float32(3)][int(x)], (1, 2.5, True)[int(x)]


@cases.each((0.0,), (1.0,), (-1.0,))
def of_tuples(x):
    a, b = [(1, 2.0), (2.5, 1)][int(x)]
    return a, b, a + b


@cases.each((0.0,), (1.0,), (-2.0,))
def of_arrays(x):
    a, b = np.zeros(2), np.ones(2)
    both = [a, b]
    both[int(x)][0] = 5.0
    c = both[int(x)]
    c += 1
    return a, b, both, c is a


@cases.each((0.0,), (1.0,))
def of_objects(x):
    first, second = Holder(), Holder()
    both = [first, second]
    both[int(x)].count += 3
    return first.count, second.count, both


@cases.each((0.0,), (1.0,))
def arrays_are_stored(x):
    a, b = np.zeros(2), np.ones(2)
    both = [a, a]
    both[int(x)] = b
    b[0] = 7.0
    return both, both[0] is b


@cases
def stored_in_a_loop():
    table = [0] * 40
    for i in range(1, 40):
        table[i] = table[i - 1] * 0.5 + i
    return table, table[3]


@cases.each(([3, 1, 2], 1.0), ([3, 1, 2], -3.0))
def an_argument_is_stored_into(xs, i):
    xs[int(i)] = 7.5
    return xs[int(i) + 1]


@cases.each(([3.0, 1.0, 2.0], 1.0), ([3.0, 1.0, 2.0], 2.0))
def places_of_known_lists(xs, v):
    return xs.index(v), xs.count(v), v in xs, xs[: int(v)], xs[int(v) :], xs.pop(int(v) - 3), xs


@cases.each((3.0,), (0.0,), (-2.0,), (100.0,))
def repeated(x):
    flags = [True] * int(x + 1)
    many = [0] * 100
    for i in range(len(flags)):
        flags[i] = i % 2 == 0
        many[i % 100] += i
    return flags, many, many[3], sum(flags), len(many)


@cases.each((0.0,), (7.0,))
def sieve(x):
    composite = [False] * 300
    primes = []
    for i in range(2, 300):
        if not composite[i]:
            primes.append(i)
            for j in range(i * i, 300, i):
                composite[j] = True
    return primes, composite[int(x)]


@cases.each((np.linspace(-1, 1, 301) ** 2,), (np.arange(300)[::-1].copy(),))
def of_many_numbers(x):
    return (
        sorted(x),
        sorted(x, reverse=True),
        max(x),
        min(x, key=lambda v: (v - 0.3) ** 2),
        list(x)[3:5],
        len(list(x)),
    )


# ---------------------------------------------------------------- exceptions


@pytest.mark.parametrize("x", FEW)
def test_pop_from_empty(x) -> None:
    def pops(x):
        a = [v for v in x if v > 0]
        a.pop()
        a.pop(1)
        return a

    check(pops, *x, raises=None if x[0][0] == 1.0 and x[0][1] == 2.0 else IndexError)


def test_outside() -> None:
    def reads(x, i):
        return [v for v in x if v > 0][int(i)]

    def stores(x, i):
        a = [v for v in x if v > 0]
        a[int(i)] = 1.0
        return a

    def deletes(x, i):
        a = [v for v in x if v > 0]
        del a[int(i)]
        return a

    def known(x, i):
        return [1.0, 2.0, 3.0, 4.0][int(i)]

    for function in (reads, stores, deletes, known):
        for i in (0.0, 3.0, -4.0):
            check(function, X, i)
        for i in (4.0, -5.0):
            check(function, X, i, raises=IndexError)


def test_missing() -> None:
    def removes(x, v):
        a = [u for u in x if u > 0]
        a.remove(v)
        return a

    def finds(x, v):
        return [u for u in x if u > 0].index(v)

    for function in (removes, finds):
        check(function, X, 2.0)
        check(function, X, 7.0, raises=ValueError)


def test_empty() -> None:
    check(lambda x: min([v for v in x if v > 5]), X, raises=ValueError)


def test_a_raise_in_a_loop_leaves_what_was_appended() -> None:
    def raises(out, x):
        for v in x:
            out.append(v)
            if v < 0:
                raise ValueError("negative")
        return len(out)

    check(raises, [], np.abs(X))
    check(raises, [], X, raises=ValueError)
    check(raises, [1], X, raises=ValueError)


def test_a_handler_sees_what_was_appended() -> None:
    def handles(x):
        out = []
        try:
            for v in x:
                out.append(v)
                if v < 0:
                    raise ValueError("negative")
        except ValueError:
            out.append(100.0)
        return out

    check(handles, np.abs(X))
    check(handles, X)


# ---------------------------------------------------------------- derivatives, programs


def test_gradient() -> None:
    def loss(x):
        out = []
        for v in x:
            if v > 0:
                out.append(v * v)
        total = 0.0
        for v in out:
            total = total + v * 3.0
        return total

    np.testing.assert_allclose(pystage.grad(loss)(X), np.where(X > 0, 6 * X, 0))


def test_gradient_of_a_while() -> None:
    def loss(x):
        out = [x]
        while out[-1] > 1:
            out.append(out[-1] / 2)
        return sum(out)

    np.testing.assert_allclose(pystage.grad(loss)(9.0), 1.9375)


def test_the_program_does_not_grow_with_the_trips() -> None:
    def grows(x):
        out = []
        for v in x:
            if v > 0:
                out.append(v)
        return out

    def size(n: int) -> int:
        return pystage.compile(grows).lower(np.ones(n)).instruction_counts().total

    assert size(30) == size(1000) < 200


def test_few_places_where_the_test_of_the_loop_looks_at_the_length() -> None:
    def farthest(x, k):
        chosen = [0]
        while len(chosen) < k:
            apart = np.abs(x[:, None] - x[chosen]).min(axis=1)
            if apart.max() == 0:
                break
            chosen.append(int(apart.argmax()))
        return chosen

    compiled = pystage.compile(farthest, fallback="error")
    x = np.random.default_rng(0).standard_normal(200)
    assert compiled(x, 3) == farthest(x, 3)
    assert "capacity 64 " in compiled.signatures()[0]
    assert compiled(x, 70) == farthest(x, 70)


SLICED = [*range(100, 140)]


@cases.each(*[(SLICED, k) for k in (0, 3, 37, 39, 40, 500, -2)])
def short_slices(s, k):
    longer = s[k : k + 3]
    longer.append(7)
    longer.append(8)
    longer[0] = 9
    for j in range(len(longer)):
        longer.append(j)
    rest = s[k : k + 4]
    while len(rest) > 1:
        rest = rest[1:]
    at_the_end = [s[i : i + 3] for i in range(len(s))]
    backwards = [tuple(s[i : i - 2 : -1]) for i in range(len(s))]
    around = [tuple(s[i - 2 : i + 2]) for i in range(len(s))]
    every_second = [s[i : i + 5 : 2] for i in range(len(s))]
    none = [s[i:i] for i in range(40)]
    unpacked = []
    for i in range(len(s) - 2):
        x, y, z = s[i : i + 3]
        unpacked.append(x * y - z)
    most = [max(s[i : i + 3]) for i in range(len(s))]
    return (
        longer,
        rest,
        at_the_end,
        backwards,
        around,
        every_second,
        none,
        unpacked,
        most,
        s[k : k + 2] + s[k:],
    )


def windows(s):
    return [tuple(s[i : i + 3]) for i in range(len(s) - 3)], sum([sum(s[i : i + 3]) for i in range(len(s))])


def test_a_short_slice_is_no_copy_of_the_list() -> None:
    s = np.random.default_rng(0).integers(0, 5, 3000).tolist()
    assert whole_arrays(pystage.compile(windows).lower(s).compile().as_text(), 2990) == []
    check(windows, s, interpreted=False)


def test_beyond_the_capacity() -> None:
    check(halves, 2.0**66)
    check(halves, 2.0**1000)


def test_a_list_is_refused_where_jax_traces_the_call() -> None:
    import jax

    compiled = pystage.compile(lambda x: [v for v in x if v > 0])
    with pytest.raises(pystage.StagingError, match="a list whose length"):
        jax.jit(compiled)(X)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
