"""`array.array`: lists of numbers of one type, which are converted, or refused, where they are stored."""

from __future__ import annotations

import copy
from array import array
from collections import deque
from dataclasses import dataclass

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()
A = array("d", [3.0, 1.0, 2.0])
LONG = array("d", range(150))


@cases.each((A, 4.5), (LONG, 4.5), (array("d"), 4.5), (array("f", [0.1]), 1e40))
def changed(a, x):
    a.append(x)
    a.extend([1, True])
    a.insert(-1, x * 2)
    a[0] = x
    return a, a.pop(), a.pop(0), a[-1], len(a), a.typecode, sum(a), type(a) is array


@cases.each((0, 1.5), (5, 1.5), (40, 1.5))
def grown(n, x):
    a = array("f")
    for i in range(n):
        a.append(x * i)
    return a, len(a), list(a), a[1:3], bool(a)


@cases.each((A,), (LONG,))
def iterated(a):
    out = [v * i for i, v in enumerate(a)]
    return sorted(a), list(reversed(a)), out, list(zip(a, a)), min(a), next(iter(a)), [*a], a.tolist(), f"{a}"


@cases.each((A,))
def extended_while_iterated(a):
    for v in a:
        if len(a) < 10:
            a.append(v + 1)
    return a


@cases.each((A, array("d", [2.0])), (A, array("d")))
def operators(a, b):
    c = a + b
    c += a
    c *= 2
    d = 2 * a
    del d[0], d[::2]
    d[0:1] = b
    d.reverse()
    e = copy.copy(a)
    e.remove(1.0)
    return c, d, e, a == b, a != a[:], 2 in a, a.count(2.0), a.index(2.0), a == array("f", a), a == [3.0]


@cases.each((np.array([1, 5, 3]),))
def constructed(xs):
    made = array("i", xs), array("d", range(3)), array("b", (1, 2)), array("d", bytes(8))
    return made, array("d", made[0]), array("q", (int(x) for x in xs)), array("B", [1]) * 3


@cases.each((50,))
def sieve(n):
    is_prime = array("b", [1]) * (n + 1)
    for i in range(2, n + 1):
        if is_prime[i]:
            for j in range(i * i, n + 1, i):
                is_prime[j] = 0
    return is_prime


@cases.each((array("b", [100]), 27))
@cases.each((array("b", [100]), 28), raises=OverflowError)
@cases.each((array("B", [1]), -2), raises=OverflowError)
@cases.each((array("I", [1]), -2), raises=OverflowError)
def limits(a, x):
    a.append(3)
    a[0] = a[0] + x
    return a


@cases.each((array("i"), 1.5), raises=TypeError)
@cases.each((array("d"), "1"), raises=TypeError)
@cases.each((array("d"), None), raises=TypeError)
def kinds(a, x):
    a.append(x)


@cases.each((A, 2), (A, -3))
@cases.each((A, 3), (A, -4), raises=IndexError)
def outside(a, i):
    a[1] = 7.0
    return a[i]


@cases.each((A, array("i", [1])), raises=TypeError)
def of_another_type(a, b):
    a.extend(b)


@cases.each((A, [1.0]), raises=TypeError)
def no_array(a, b):
    a[0:1] = b


@dataclass
class Box:
    held: array


@cases.each((Box(A), {"k": A}, [A]))
def in_containers(box, named, listed):
    box.held.append(1.0)
    named["k"][0] += 1
    box.held = box.held + listed[0]
    listed.append(array("i"))
    return box, named, listed, listed[0] is named["k"]


@cases.each((A, array("d"), 1.0), (A, array("d"), -1.0))
def one_of_two(a, b, x):
    c = a if x > 0 else b
    c.append(x)
    return len(c)


@cases.each((6, 2.0))
def several(n, x):
    rows = [array("d") for _ in range(n)]
    for i in range(n):
        rows[i].append(x * i)
        rows[i // 2].append(-x)
    return rows


@cases.each((array("Q", [5]),), (array("L", [2**40]),))
def without_a_sign(a):
    return a, a[0] + 1


@cases.each(
    (A, np.arange(3.0)),
    (A, np.array(2)),
    (array("f", A), np.array([True, False, True])),
    (array("i", [1, 2]), np.ones(2)),
)
def beside_ndarrays(a, x):
    y = x * 1.0
    y = y + a
    z = np.array(a)
    z += a
    b = a
    b *= x
    return a * x, x * a, x / a, x + a, y, z, np.array(a, dtype=np.float32), b


@cases.each((LONG,), (A,))
def copied_to_an_ndarray(a):
    z = np.array(a)
    z[0] = 7.0
    return z, z.sum(), np.array(deque(a)), a


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_other_lengths_and_types_have_programs_of_their_own():
    @pystage.compile(fallback="error")
    def total(a):
        s = a[0]
        for x in a:
            s = s + x
        return s

    for a in (A, LONG, array("i", [1, 2]), array("d", [5.0, 6.0])):
        assert total(a) == a[0] + sum(a)
        assert type(total(a)) is type(a[0])


def test_a_captured_array_is_read_and_changed():
    kept = array("d", [1.0, 2.0])

    @pystage.compile(fallback="error")
    def store(x):
        kept[0] = x + kept[1]
        kept.append(x)
        return len(kept)

    assert [store(3.0), store(4.0)] == [3, 4]
    assert kept == array("d", [6.0, 2.0, 3.0, 4.0])
    kept[1] = 10.0
    kept.pop()
    assert store(1.0) == 4
    assert kept == array("d", [11.0, 10.0, 3.0, 1.0])
