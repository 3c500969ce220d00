"""Lists whose elements are lists, read, changed and replaced at places that only a run knows."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

NONE = np.zeros(0, np.int64)
ONE = np.array([2])
SOME = np.array([1, -2, 3, 2, 5, -1, 1, 4])
MANY = np.tile(SOME, 20)
SIZES = [(NONE,), (ONE,), (SOME,), (MANY,)]
PLACES = np.array([0, 3, 1, 2, 3, -1, 0] * 12)


# ---------------------------------------------------------------- read and appended to


@cases.each((np.array([0.5, 1.5, 2.25, 4.5, -1.25, 0.75]),), (np.array([2.5]),), (np.ones(0),))
def squares_by_bucket(x):
    buckets = [[] for _ in range(3)]
    for v in x:
        buckets[int(abs(v)) % 3].append(v * v)
    return [sum(bucket) for bucket in buckets], buckets[1]


@cases.each(*SIZES)
def runs_of_equals(xs):
    out = []
    for x in xs:
        if out and out[-1][0] == x:
            out[-1][1] += 1
        else:
            out.append([x, 1])
    return out, [x for x, count in out if count > 1]


@cases.each(*SIZES)
def buckets(xs):
    found = [[] for _ in range(7)]
    for i, x in enumerate(xs):
        found[x].append(i)
    return found, [len(each) for each in found]


@cases(NONE.reshape(0, 2))
@cases(np.array([[0, 1], [1, 2], [2, 5], [5, 0], [3, 1]]))
@cases(np.tile([[0, 1], [1, 2], [2, 5], [5, 0], [3, 1]], (15, 1)))
def neighbours(edges):
    near = [[] for _ in range(6)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    total = 0
    for i in range(6):
        for w in near[i]:
            total += w * (i + 1)
    seen = [False] * 6
    pending = [0]
    while pending:
        node = pending.pop()
        if not seen[node]:
            seen[node] = True
            pending.extend(near[node])
    return near, total, seen


@cases.each(*SIZES)
def ragged(xs):
    out = []
    current = []
    for x in xs:
        if x < 0:
            out.append(current)
            current = []
        else:
            current.append(x)
    out.append(current)
    return out, [sum(each) for each in out]


@cases.each((SOME, PLACES), (MANY, PLACES))
def empty_lists(xs, places):
    out = []
    for x in xs:
        if x > 0:
            out.append([])
    count = 0
    for k in places:
        count += len(out[k])
        if not out[k]:
            out[k].append(k)
    return out, count


@cases.each((SOME, PLACES), (MANY, PLACES[:20]))
def every_method(xs, places):
    out = []
    for x in xs:
        out.append([x, 1, 2] if x > 0 else [x])
    for k in places:
        each = out[k]
        each.append(k)
        each.extend([1, 2])
        each.sort()
        each.reverse()
        each.insert(1, 9)
        each.remove(9)
        if 5 in each:
            each.pop()
        each[0] = 33
        each[-1] += 2
        part = each[1:]
        part.append(77)
        if len(each) > 6:
            each.clear()
            each.append(0)
        del each[0]
        each.append(each.count(1))
    return out, [len(each) for each in out]


@cases(9)
@cases(1)
def stack_of_frames(n):
    stack = [[0, n]]
    out = []
    while stack:
        frame = stack[-1]
        if frame[0] == frame[1]:
            out.append(frame[0])
            stack.pop()
            continue
        frame[0] += 1
        if frame[1] > 7:
            stack.append([0, frame[1] - 1])
    return out


@cases.each((SOME,), (MANY[:40],))
def lists_in_lists_in_lists(xs):
    out = []
    for x in xs:
        if x > 0:
            out.append([[x], [x, x]])
        else:
            out.append([])
    out[0][1].append(5)
    for row in out:
        for each in row:
            each.append(7)
    first = out[0][0]
    out[2].append(first)
    first.append(1)
    return out, first


@cases.each((SOME,), (MANY,))
def compared(xs):
    out = []
    for x in xs:
        if x > 0:
            out.append([x, 1])
    same = out[0] == out[1], out[0] == out[0], out[1] != [3, 1], out == out
    return *same, [2, 1] in out, [2, 2] in out, out.index([3, 1]), out.count([1, 1])


@cases.each((NONE,), (SOME,), (MANY,))
def displays(xs):
    some = []
    for x in xs:
        if x > 0:
            some.append(x)
    longer = [*some, 1]
    both = [0, *some, *longer, *(1, 2), *some]
    longer.append(3)
    lists = [*[[x] for x in some], [9]]
    lists[0].append(1)
    twice = [*lists, *lists]
    twice[-1].append(2)
    return some, longer, both, lists, twice


@cases(np.array([1, 2, 8, 10, 3, 9, 11, 13, 0, 1] * 12))
@cases(np.array([1, 2, 8, 100]), raises=ValueError)
def phrases(codes):
    table = [[s] for s in range(8)]
    last = table[codes[0]]
    out = list(last)
    for code in codes[1:]:
        if code < len(table):
            entry = table[code]
        elif code == len(table):
            entry = [*last, last[0]]
        else:
            raise ValueError(f"bad code {code}")
        out.extend(entry)
        table.append([*last, entry[0]])
        last = entry
    return out, table


# ---------------------------------------------------------------- more names than one


@cases.each((ONE,), (SOME,), (MANY,))
def appended_twice(xs):
    out = []
    for x in xs:
        each = [x]
        out.append(each)
        out.append(each)
        if x > 2:
            each.append(7)
    out[0].append(99)
    return out, out[0] is out[1], out[-1] is out[0]


@cases.each((SOME,), (MANY,))
def kept_by_a_variable(xs):
    out = []
    last = [0]
    for x in xs:
        last.append(x)
        if x > 1:
            last = [x, x]
            out.append(last)
        last[0] += 10
    return out, last, out[-1] is last


@cases.each((SOME, 1), (SOME, 2), (MANY, 0))
def made_before_the_loop(xs, k):
    one = [1]
    out = []
    for x in xs:
        if x > 0:
            out.append(one)
        else:
            out.append([x])
    one.append(5)
    out[k].append(6)
    return out, one, out[k] is one


@cases.each((SOME, PLACES), (MANY, PLACES))
def swapped(xs, places):
    out = []
    for x in xs:
        if x > 0:
            out.append([x])
    first = out[0]
    for k in places:
        out[k], out[0] = out[0], out[k]
        first.append(k)
    return out, first, out[0] is first


@cases.each((SOME, PLACES[:14]), (MANY, PLACES[:14]))
def replaced(xs, places):
    out = []
    for x in xs:
        out.append([x] if x > 0 else [x, x])
    old = out[0]
    for k in places:
        out[k] = out[k] + [k]
        out[k] += [1]
    return out, old


def larger(xs, k):
    """Lists that a callee makes."""
    out = []
    for x in xs:
        if x > k:
            out.append([x, k])
    return out


@cases.each((SOME,), (MANY,))
def of_two_callees(xs):
    first, second = larger(xs, 1), larger(xs, 0)
    first[0][0] = 100
    second[-1].append(5)
    first.extend(second)
    first[-1].append(6)
    both = second + first
    both[0].append(8)
    return first, second, both, both[0] is second[0]


@cases.each((SOME, 1), (SOME, -1))
def in_one_arm(xs, u):
    out = [[1], [2]]
    if u > 0:
        out.append([3, 4])
        one = out[-1]
    else:
        one = out[0]
    one.append(9)
    out[1].append(8)
    return out, one, one is out[0]


@cases.each((SOME,), (MANY,))
def within_a_trip(xs):
    total = 0
    for k in range(7):
        found = []
        for x in xs:
            if x > k:
                found.append([x, k])
        for each in found:
            each[1] += 1
            total += each[0] * each[1]
    return total


@cases(SOME)
def of_another_trip(xs):
    best = []
    for k in range(70):
        found = []
        for x in xs:
            if x > k - 66:
                found.append([x, k])
        if len(found) > len(best) or k == 68:
            best = found
        if len(found) > 0:
            found[0][1] += 1000
    if best:
        best[0][1] += 5
    return best


@cases.each((SOME,), (MANY,))
def swapped_names(xs):
    first, second = [[1]], [[2]]
    for x in xs:
        if x > 0:
            first.append([x])
        else:
            second.append([x])
        if x > 2:
            first, second = second, first
        first[0].append(1)
    return first, second


# ---------------------------------------------------------------- the caller's


@cases([[1, 2], [], [0], [3, 4, 5]], PLACES)
@cases([[1], [2], [3], [4]] * 20, PLACES)
def appended_to(near, places):
    total = 0
    for k in places:
        near[k].append(k)
        for w in near[k]:
            total += w
    return total


@cases([[1, 2], [], [0], [3, 4, 5]], PLACES)
def only_read(near, places):
    total = 0
    for k in places:
        total += len(near[k])
        for w in near[k]:
            total += w
    return total, near[places[0]], near


@cases([[1], [2], [3]], [[4], [], [6]], np.array([0, 1, 2, 0] * 5))
def of_two_lists(first, second, places):
    for k in places:
        first[k].extend(second[k - 1])
        second[k - 1] = first[k]
        second[k - 1].append(1)
        if len(first[k]) > 9:
            first[k].clear()
    return first[0] is second[1]


def test_one_list_twice():
    def called(one, places):
        near = [one, [2], one, [3]]
        for k in places:
            near[k].append(k)
        return near, near[places[0]] is one

    check(called, [1], PLACES)


@cases([1, 2], [3], np.array([0, 1, 1, 0]))
def changed_before_it_is_an_element(first, second, places):
    for k in places:
        one = first if k == 0 else second
        one.append(k)
    out = []
    for k in places:
        if k >= 0:
            out.append(first)
    return len(out)


# ---------------------------------------------------------------- exceptions


@cases(SOME, 3)
@cases(SOME, -3)
@cases(SOME, 100, raises=IndexError)
@cases(MANY, -1000, raises=IndexError)
def outside(xs, k):
    out = []
    for x in xs:
        if x > 0:
            out.append([x])
    out[0].append(3)
    out[k].append(4)
    return out


@cases([[1], [2], [3]], np.array([0, 1, 5, 2]), raises=IndexError)
@cases([[1], [2], [3]], np.array([0, 1, 1, 2]))
def changed_before_it_raises(near, places):
    for k in places:
        near[0].append(1)
        near[k].append(k)
        near[1].append(2)
    return 1


@cases(SOME, np.array([1, 0, 5000, 2] * 5))
def handled(xs, places):
    out = []
    for x in xs:
        if x > 0:
            out.append([x])
    bad = 0
    for k in places:
        try:
            out[k].append(1)
            out[0].append(out[k][1])
            out[k + 1].append(2)
        except IndexError:
            bad += 1
    return out, bad


@cases(SOME)
def printed(xs):
    out = []
    for x in xs:
        if x > 2:
            out.append([x, 1])
    print(out[0], len(out))
    print(out)
    return len(out)


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_lists_of_lists(function, args, options):
    check(function, *args, **options)
