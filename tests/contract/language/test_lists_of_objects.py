"""Lists whose elements are objects of one class, or dicts with the same keys, at places that only a run knows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pystage
import pytest
from checking import Cases, check
from pystage import StagingError

cases = Cases()

NONE = np.zeros(0, np.int64)
SOME = np.array([1, -2, 3, 2, 5, -1, 1, 4])
MANY = np.tile(SOME, 20)
PLACES = np.array([0, 3, 1, 2, 3, -1, 0] * 12)


class Pair:
    def __init__(self, x, v):
        self.x = x
        self.v = v


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __lt__(self, other):
        return self.x < other.x

    def __len__(self):
        return 3


@dataclass
class Counted:
    x: float
    n: int = 0

    def bump(self, k):
        self.n += k
        return self.n

    @property
    def twice(self):
        return 2 * self.x


def counted(xs, k=0):
    """New objects for the numbers that are large."""
    out = []
    for x in xs:
        if x > k:
            out.append(Counted(x * 1.0))
    return out


# ---------------------------------------------------------------- attributes


@cases.each((NONE,), (SOME,), (MANY,))
def changed_one_by_one(xs):
    out = []
    for x in xs:
        if x > 0:
            out.append(Pair(x, 1))
    for each in out:
        each.v += each.x
    total = 0
    for each in out:
        total += each.v
    return out, total


@cases(np.arange(3.0), PLACES % 3)
@cases(np.arange(20.0), PLACES)
@cases(np.arange(100.0), PLACES)
def changed_at_computed_places(xs, places):
    out = [Pair(x, 0.0) for x in xs]
    for k in places:
        one, other = out[k], out[k - 1]
        one.v += 1.0
        other.x += one.v
    total = 0.0
    for each in out:
        total += each.x * each.v
    return total, [(each.x, each.v) for each in out]


@cases.each((SOME,), (MANY,))
def methods(xs):
    out = counted(xs)
    total = 0
    for i, each in enumerate(out):
        total += each.bump(i) * each.twice
    best = max(out, key=lambda o: o.x)
    best.n = -1
    worst = min(out, key=lambda o: o.n)
    found = best in out, Counted(3.0, -1) in out, out.index(best), out.count(out[0])
    return out, total, best, worst is best, found, out[0] == out[1], out[0] == out[0]


@cases.each((SOME, 1, 2), (MANY, 3, 3))
def operators(xs, i, j):
    out = []
    for x in xs:
        if x > 0:
            out.append(Vector(x, 1))
    total = out[i] + out[j]
    out.append(total)
    out[0] += out[1]
    return out, total is out[-1], out[i] < out[j], len(out[i]), out[i] is out[j], out[i] == out[j]


@cases.each((SOME,), (MANY,))
def kinds_that_widen(xs):
    out = []
    for x in xs:
        if x > 0:
            out.append(Pair(1, 2))
    out[0].x = 1.5
    out[-1].v = x
    return out


def hard_discs(xs, n):
    """Discs on a line that meet, one event after the other."""
    discs = [Pair(x, (-1.0) ** k * (k % 5 + 1)) for k, x in enumerate(xs)]
    for _ in range(n):
        best = (math.inf, -1)
        for i in range(len(discs) - 1):
            near = discs[i].v - discs[i + 1].v
            if near > 0 and (discs[i + 1].x - discs[i].x) / near < best[0]:
                best = ((discs[i + 1].x - discs[i].x) / near, i)
        dt, i = best
        if i < 0:
            break
        for disc in discs:
            disc.x += disc.v * dt
        discs[i].v, discs[i + 1].v = discs[i + 1].v, discs[i].v
    return np.array([(disc.x, disc.v) for disc in discs])


def test_discs():
    check(hard_discs, np.arange(20.0), 40)


# ---------------------------------------------------------------- more names than one


@cases.each((SOME, 1), (SOME, -1), (MANY, 1))
def one_of_two(xs, u):
    p, q = Pair(1.0, 2.0), Pair(3.0, 4.0)
    one = p if u > 0 else q
    out = []
    for x in xs:
        if x > 0:
            out.append(one)
        else:
            out.append(p)
    one.x += 100.0
    out[0].v += 1000.0
    return p, q, one, out, out[0] is p, out[0] is one, out[1] is q


@cases.each((SOME, 1), (SOME, 0))
def element_or_another(xs, u):
    out = []
    for x in xs:
        if x > 0:
            out.append(Pair(x, 0))
    other = Pair(50, 50)
    one = out[0] if u > 0 else other
    one.x += 7
    out[0].v = 3
    other.v = 9
    return out, other, one, one is other, one is out[0]


@cases.each((SOME,), (MANY,))
def sorted_and_moved(xs):
    out = []
    for x in xs:
        if x != 0:
            out.append(Pair(x, 1))
    one = out[1]
    out.sort(key=lambda p: p.x)
    one.v = 77
    first = out[0]
    out.reverse()
    first.v = 78
    out.insert(0, Pair(5, 5))
    out[0].v += 1
    last = out.pop()
    last.v += 2
    return out, one, first, last


@cases.each((SOME,), (MANY,))
def in_several_lists(xs):
    out = counted(xs)
    ordered = sorted(out, key=lambda o: -o.x)
    ordered[0].n = 5
    part = out[1:4]
    part[0].n = 6
    copied = out.copy()
    copied.append(Counted(1.5))
    copied[-1].n = 8
    for each in out[:3]:
        each.n += 100
    for each, k in zip(out, range(3)):
        each.n += 1000 * k
    for each in reversed(out):
        each.x += 1
    large = [each for each in out if each.x > 2]
    return out, ordered, part, copied, large, large[0] is out[0]


@cases.each((SOME,), (MANY,))
def objects_in_objects(xs):
    out = []
    for x in xs:
        if x > 0:
            out.append(Pair(Pair(x, 1), [x]))
    one = out[0].x
    out[1].x = one
    one.v = 9
    out[2].v.append(3)
    out[1].v = out[2].v
    out[1].v.append(4)
    return out, one, out[0].x is out[1].x, out[1].v is out[2].v


@cases.each((SOME,), (MANY,))
def objects_in_tuples(xs):
    out = []
    for x in xs:
        if x > 0:
            out.append((Counted(1.0 * x), x, [x]))
    for each, n, numbers in out:
        each.n += n
        numbers.append(n)
    each, n, numbers = out[2]
    each.n = 55
    numbers.append(1)
    return out, each, numbers


@cases.each((SOME, 1.5), (SOME, 100), (MANY, 2.5))
def best_or_none(xs, k):
    out = counted(xs)
    best = None
    for each in out:
        if each.x > k and (best is None or each.x < best.x):
            best = each
    if best is None:
        return -1
    best.n = 3
    return out, best


@cases(np.array([1, 2, 3, 4, 5] * 20))
@cases(np.array([1, 1, -1] * 30))
def taken_out(xs):
    out = []
    for x in xs:
        if x < 0:
            break
        out.append(Pair(x, 2))
    last = out[-1]
    while len(out) > 1:
        last = out.pop()
        out[0].x += last.x
        last.v = 0
        if out[0].x > 5:
            break
    return out, last


def double(pairs, k):
    """What a callee does to an object that it finds."""
    pairs[k].x *= 2


@cases.each((SOME, PLACES), (MANY, PLACES))
def changed_by_callees(xs, places):
    out = []
    for x in xs:
        if x > 0:
            out.append(Pair(x, x))
    for k in places:
        double(out, k % 3)
        out[k % 3].x %= 101
    double(out, 0)
    return out


def kept_if_positive(pairs, pair):
    """What a callee puts into a list of its caller's."""
    if pair.x > 0:
        pairs.append(pair)


@cases.each((NONE,), (SOME[:1],), (SOME,), (MANY,))
def kept_by_callees(xs):
    out = []
    for x in xs:
        kept_if_positive(out, Pair(x, x))
    if out:
        out[-1].x = 77
    return out


# ---------------------------------------------------------------- dicts


@cases.each((SOME, PLACES), (MANY, PLACES))
def dicts(xs, places):
    out = []
    for x in xs:
        if x > 0:
            out.append({"x": x, "l": [x], "t": (x, 1.0)})
    for k in places:
        out[k]["x"] += 1
        out[k]["l"].append(k)
        one = out[k]
        one["t"] = (k, 2.0)
    best = max(out, key=lambda r: r["x"])
    best["x"] = 1000
    some = [r["x"] for r in out if r["t"][1] > 1]
    return out, best, some, out[0].get("x"), "x" in out[1], len(out[0]), list(out[0].keys()), out[0] == out[1]


@cases.each((NONE,), (SOME,), (MANY,))
def filtered_and_sorted(xs):
    out = []
    for x in xs:
        if x > 0:
            out.append({"a": x, "b": (x, 2 * x)})
    big = [p for p in out if p["a"] > 1]
    big.sort(key=lambda p: p["a"], reverse=True)
    return out, big


@cases.each((SOME, PLACES[:5]), (MANY, PLACES))
def with_arrays(xs, places):
    out = []
    for x in xs:
        if x > 0:
            out.append({"v": np.arange(3) * x, "part": np.arange(5)[1:3], "n": x})
    total = 0
    for k in places:
        total += out[k]["v"].sum()
    return out, total


# ---------------------------------------------------------------- the caller's


def pairs(n):
    """Objects of the caller's."""
    return [Pair(float(i % 7), i) for i in range(n)]


@cases(pairs(30), PLACES)
def stored_into(given, places):
    best = given[0]
    for k in places:
        if given[k].x > best.x:
            best = given[k]
        best.v += 1
    return best


@cases(Pair(1.0, 2.0), Pair(3.0, 4.0), PLACES)
def one_object_twice(p, q, places):
    out = [p, q, p, Pair(1.0, 1.0)] * 5
    for k in places:
        out[k].x += 1.0
    return out, p is out[2], out[places[0]] is p


@cases(pairs(30), np.array([3, 1, 2, 3, 3, 6] * 20), raises=ValueError)
@cases(pairs(30), np.array([1]))
def changed_before_it_raises(given, places):
    for k in places:
        given[k].x += 1
        if given[k].x > 5:
            raise ValueError(f"{k}")
        given[k].v += 1
    return 1


@cases([[1, 2], [3], [4, 5, 6]], PLACES % 3)
def lists_in_objects(lists, places):
    out = [Pair(each, 0) for each in lists] * 6
    for k in places:
        out[k].x.append(k)
        out[k].v += 1
    return out, out[0].x is lists[0]


class Track:
    def __init__(self, t, x):
        self.times, self.values, self.missed = [t], [x], 0


@cases.each((SOME,), (MANY,), (NONE,))
def that_hold_lists_and_are_put_behind_others(xs):
    live, done = [], []
    for t in range(len(xs)):
        for track in live:
            if track.values[-1] < xs[t]:
                track.times.append(t)
                track.values.append(xs[t])
            else:
                track.missed += 1
        done += [track for track in live if track.missed > 3]
        live = [track for track in live if track.missed <= 3]
        live += [Track(t, xs[t] + k) for k in range(2) if xs[t] > k]
    return [track.times for track in done + live], [sum(track.values) for track in done]


class Part:
    def __init__(self, begin, end):
        self.begin, self.end = begin, end


class Row:
    def __init__(self, width):
        self.parts, self.used = [Part(0, width)], 0


@cases.each((SOME,), (MANY[:40],), (NONE,))
def that_hold_lists_of_objects(xs):
    rows = [Row(9)]
    for x in xs:
        for row in rows:
            if row.used + abs(x) < 9:
                row.used += abs(x)
                row.parts.append(Part(row.used, x))
                break
        else:
            row = Row(abs(x))
            row.used = x
            rows.append(row)
        rows[-1].parts[0].begin += 1
    return [row.used for row in rows], [[(p.begin, p.end) for p in row.parts] for row in rows]


class Fitted:
    def __init__(self, v):
        self.v, self.score, self.uses = v, v.sum(), 0


@cases([], np.array([1.0, 2.0, 3.0]))
@cases([2], np.array([1.0, 2.0, 3.0]))
@cases([1, 3], np.array([-1.0, -2.0, -3.0]))
@cases([3, 2, 1, 2], np.array([-1.0, 5.0, 2.0]))
@cases([1, 2, 3, 4, 5], np.array([-1.0, 2.0, 0.5]))
def the_best_of_lists_whose_objects_have_arrays_of_other_shapes(sizes, x):
    best, firsts = None, []
    for k in sizes:
        fits = [Fitted(np.arange(float(k)) * each + 1.0) for each in x]
        fit = max(fits, key=lambda f: f.score)
        if best is None or fit.score > best.score:
            best = fit
        best.uses += 1
        best.v = best.v + 1.0
        firsts.append(fits[0])
    return None if best is None else (best.v * 1.0, best.score, best.uses), [
        (f.v * 1.0, f.uses) for f in firsts
    ]


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_lists_of_objects(function, args, options):
    check(function, *args, **options)


class Link:
    def __init__(self, key=None):
        self.key = key
        self.before = self.after = self


def recent_keys(xs):
    """A ring of links, the last used first; its head has no key."""
    head = Link()
    links = {}
    for x in xs:
        link = links.get(x)
        if link is None:
            links[x] = link = Link(x)
        else:
            link.before.after = link.after
            link.after.before = link.before
        link.before = head
        link.after = head.after
        head.after.before = link
        head.after = link
    return head.before.key, head.after.after.key


def test_objects_that_refer_to_one_another_become_members_while_one_is_stored_into():
    check(recent_keys, np.array([3, 1, 2, 1, 3, 5]))


# ---------------------------------------------------------------- what is refused


def of_two_kinds(xs):
    out = []
    k = 0
    while k < xs[0] + 70:
        out.append(Pair(k, 1) if xs[k] > 0 else Vector(k, 1))
        k += 1
    return out


def stored_array(xs):
    out = []
    for x in xs:
        if x > 0:
            out.append({"v": np.arange(3) * x})
    out[0]["v"][0] = 1
    return out


@pytest.mark.parametrize(
    ("function", "code"),
    [(of_two_kinds, "PS305"), (stored_array, "PS503")],
)
def test_refused(function, code):
    with pytest.raises(StagingError) as error:
        pystage.compile(function, fallback="error")(MANY)
    assert code in [d.code for d in error.value.diagnostics]
