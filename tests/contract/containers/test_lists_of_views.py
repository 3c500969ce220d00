"""Lists of parts of an array whose sizes only the run knows: each element is a view of its memory."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

RNG = np.random.default_rng(0)
X = RNG.standard_normal(120).round(2)
X[::9] = 0
P = np.sort(RNG.integers(0, 120, (80, 2)), axis=1)
FEW = np.array([[0, 3], [2, 7], [5, 5], [7, 12]])
BOTH = ((X, P), (X, FEW))


@cases.each(*BOTH)
def parts(x, p):
    return [x[a:b] for a, b in p]


@cases.each(*BOTH)
def parts_of_a_new_array(x, p):
    y = x * 2
    return [y[a:b] for a, b in p], [y[b:] for _, b in p], y


@cases(X, P)
def between_zeros(x, p):
    segments, start = [], 0
    for i in range(len(x)):
        if x[i] == 0:
            segments.append(x[start:i])
            start = i + 1
    segments.append(x[start:])
    return segments, max([len(s) for s in segments])


@cases.each(*BOTH)
def stored_into_the_memory(x, p):
    found = [x[a:b] for a, b in p]
    x[1] = 99
    return [q.sum() for q in found], found


@cases.each(*BOTH)
def stored_through_elements(x, p):
    found = [x[a:b] for a, b in p]
    for q in found:
        q *= 1.01
    found[1][:1] = -5
    q = found[3]
    q += 1
    return x, found


@cases.each(*BOTH)
def labelled(x, p):
    found = []
    for a, b in p:
        if b - a > 2:
            found.append((a, x[a:b]))
    return found


@cases.each(*BOTH)
def two_lists(x, p):
    left, right = [], []
    for a, b in p:
        left.append(x[:a])
        right.append(x[b:])
    return left, right


@cases.each(*BOTH)
def longest(x, p):
    found = [x[a:b] for a, b in p]
    best = found[0]
    for q in found:
        if len(q) > len(best):
            best = q
    return best, max(found, key=len).sum()


@cases.each(*BOTH)
def in_order(x, p):
    found = [x[a:b] for a, b in p]
    found.sort(key=len)
    return found[2:5]


@cases(X, P)
def changed(x, p):
    found = [x[a:b] for a, b in p if b > a]
    found.reverse()
    found.pop()
    del found[0]
    found.insert(1, x[5 : p[0, 1]])
    found.extend([x[b:] for _, b in p])
    for i in range(len(found)):
        if len(found[i]) > 50:
            found[i] = found[i][::-2]
    return found + [x[:3]]


@cases.each(*BOTH)
def a_stack(x, p):
    stack, total = [x[:]], 0.0
    while stack:
        q = stack.pop()
        if len(q) < 4:
            total += q.sum()
        else:
            stack.append(q[: len(q) // 2])
            stack.append(q[len(q) // 2 :])
    return total


@cases.each(*BOTH)
def of_rows_and_columns(x, p):
    a = x.reshape(-1, 3)
    return [a[i // 3 : j // 3] for i, j in p], [a[:, i % 3 : 1 + j % 3] for i, j in p]


@cases.each(*BOTH)
def joined(x, p):
    found = [x[a:b] for a, b in p]
    return np.concatenate(found), [q[::-1] for q in found], len(found)


@cases.each(*BOTH)
def beside_arrays_of_their_own(x, p):
    found, y = [], x * 1
    for a, b in p:
        found.append(x[a:b] if a % 2 else x[a:b] * 2)
        found.append(y[a:b])
    found.append(np.zeros(3))
    return sum([q.sum() for q in found]), np.concatenate(found)


@cases.each(*BOTH)
def of_an_array_of_each_trip(x, p):
    found = []
    for a, b in p:
        y = x[a:b] * 2
        found.append(y[1:])
    return found


@cases.each(*BOTH)
def in_a_function(x, p):
    def split(u):
        found = []
        for a, b in p:
            found.append(u[a:b])
        return found

    y = x + 1
    return split(x), split(y), split(x)


@cases(X, P, refused="PS504")
def handed_back_beside_arrays_of_their_own(x, p):
    found = [x[a:b] for a, b in p]
    found.append(np.zeros(3))
    return found


@cases(X, P, refused="PS504")
def of_two_memories(x, p):
    y, found = x * 2, []
    for a, b in p:
        found.append(x[a:b])
        found.append(y[a:b])
    return found


@cases(X, P[:20], interpreted=False)
def lists_of_views_in_lists(x, p):
    groups = []
    for a, b in p:
        if b > a + 1:
            groups.append([x[c : c + (b - a)] for c in range(a, b) if x[c] > 0])
    return [len(group) for group in groups], sum([part.sum() for group in groups for part in group])


@cases(X, P, refused="PS504")
def a_list_beside_a_part_of_it(x, p):
    found, kept = [x[a:b] for a, b in p], []
    for q, following in zip(found, found[1:]):
        kept.append(q)
        if len(following) > 3:
            kept.append(following)
    return kept


@cases(X, P, refused="PS504")
@cases(X, FEW)
def beside_an_element(x, p):
    found = [x[a:b] for a, b in p]
    return found[0], found


@cases(X, P, refused="PS504")
def one_many_times(x, p):
    y, found = x[: p[0, 1]], []
    for _ in range(len(p)):
        found.append(y)
    return found


@cases(X, P, refused="PS504")
def one_in_two_lists(x, p):
    first, second = [x[: p[0, 0]]], [x[: p[0, 1]]]
    for a, b in p:
        y = x[a:b]
        first.append(y)
        second.append(y)
    return first, second


@cases.each(*BOTH)
def elements_of_one_list_in_another(x, p):
    found = [x[a:b] for a, b in p]
    return [q for q in found if len(q) > 3]


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_gradient() -> None:
    def loss(x):
        found = []
        for a, b in P:
            found.append(x[a:b])
        total = 0.0
        for i in range(len(found)):
            total += (found[i] ** 2).sum() * i
        return total

    slope = np.zeros(len(X))
    for i, (a, b) in enumerate(P):
        slope[a:b] += 2 * i * X[a:b]
    np.testing.assert_allclose(pystage.grad(loss)(X), slope, atol=1e-9)
