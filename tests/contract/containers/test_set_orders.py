"""The order of sets whose elements are known while compiling: that of CPython's hash table, or refused."""

from __future__ import annotations

import copy
import importlib.util
import random

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.arange(3.0)


@cases.each((X,))
def grown(a):
    s = {8, 3, 17}
    for number in (160, 96, 33, 65, 1, 40, 9, 72, 129):
        s.add(number)
    return list(s), [number * a for number in s], next(iter(s)), str(s)


@cases.each((X,))
def updated(a):
    s = set([40, 8, 16])
    s.update([24, 56, 120, 3, 64, 0, 99, 7])
    t = s | {5, 13, 21, 29, 37}
    return (
        list(s),
        list(t),
        list(s.copy()),
        list(set(t)),
        tuple(t - s),
        list(t ^ {8, 200}),
        t.pop(),
        list(t),
        a,
    )


@cases.each((X,))
def shrunk(a):
    s = {number * 8 for number in range(12)}
    for number in range(9):
        s.discard(number * 8)
    s |= {1, 9, 17}
    s.remove(72)
    return list(enumerate(s)), [s.pop(), s.pop()], list(s), list(copy.copy(s)), list(copy.deepcopy(s)), a


@cases.each((X,))
def constants_of_the_code(a):
    s = {72, 8, 64, 0, 1}
    s.add(16)
    return [x * a for x in {72, 8, 64, 0, 1}], list(s), [x for x in {16, 8}], list({*s, 3, 11})


@cases.each((X,))
def without_their_order(a):
    s = {8, 16, 0}
    if a[0] > 1:
        s.add(24)
        s.discard(24)
    return sorted(s), len(s), 8 in s, max(s), min(s), sum(s), s | {1}, s == {0, 8, 16}, s <= {0}


@cases.each((X,))
def one_way_in_both_arms(a):
    s = {8, 16, 0}
    if a[0] > 1:
        s.add(24)
    else:
        s.add(24)
    return list(s), a


@cases.each((X,))
def of_iterators(a):
    s = {1, 2}
    s.update(map(len, ((1, 2, 3), (3, 4))))
    t = {3}
    t.intersection_update(iter((3, 4)))
    t.symmetric_difference_update(iter((5,)))
    t.difference_update(iter((3,)))
    u = {1, 2}.union(iter((300, 4)), (x for x in (9,)))
    return list(s), list(t), list(u), {*map(len, ((1, 2), (3,)))}, set(map(abs, (-3, 2))), a


@cases.each((X,))
def beside_themselves(a):
    s = {8, 1, 16, 0, 24}
    t = s
    s |= t
    s.update(t, [3])
    s.intersection_update(s)
    u, v = s | t, s - t
    v.add(33)
    v ^= v
    return list(s), list(u), list(v), list(s & s), list(s.union(s, t)), list(s ^ s), s, t, [s, u], v, a


def made():
    return {8, 16, 0}


@cases.each((X,))
def equal_sets(a):
    s, t = made(), made()
    s |= t
    t -= s
    t.add(5)
    return list(s), list(t), s, t, a


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_program(program, args, options):
    check(program, *args, **options)


def returned(a):
    s = {0, 8, 16, 24, 32, 40, 48}
    s -= {0, 8, 16, 24, 32}
    s |= {3}
    return s, a


def test_a_returned_set_has_the_hash_table_of_the_plain_run():
    staged = pystage.compile(returned, fallback="error")
    for run in (staged, staged, pystage.load(staged.export(X))):
        sets = [function(X)[0] for function in (returned, run)]
        for each in sets:
            each.update(range(60, 100, 8), [11])
        assert list(sets[1]) == list(sets[0])


def one_of_two(a):
    s, t = {8, 16, 0}, {8, 16, 0}
    u = s if a[0] > 1 else t
    s |= u
    return list(s)


def differs_by_path(a):
    s = {8, 16}
    if a[0] > 1:
        s.discard(8)
        s.discard(16)
        s.add(16)
        s.add(8)
    return [number * a for number in s]


CAPTURED = {8, 16, 0}


def changes_a_copy_of_a_captured_one(a):
    s = set(CAPTURED)
    s.add(24)
    return [number * a for number in s]


@pytest.mark.parametrize("program", [differs_by_path, one_of_two, changes_a_copy_of_a_captured_one])
def test_an_order_that_is_not_known_is_refused(program):
    check(program, X, refused="PS401")


def test_a_captured_set_in_another_order():
    def program(a):
        return [number * a for number in CAPTURED]

    for elements in ((8, 16, 0), (16, 0, 8), (0, 8, 16)):
        CAPTURED.clear()
        CAPTURED.update(elements)
        check(program, X)


ELEMENTS = {
    "naturals": lambda r: r.randrange(200),
    "integers": lambda r: r.randrange(-30, 30),
    "texts": lambda r: f"w{r.randrange(40)}",
}
STEPS = """
    s.add(ONE)
    s.discard(ONE)
    s.update([SOME])
    s.update(t)
    s.clear()
    s |= t
    s &= t
    s ^= {SOME}
    s -= {SOME}
    s = s | t
    s = t & s
    s = t - s
    s = s ^ t
    s = s.copy()
    s = set(t)
    s = {*t, ONE}
    s = {each for each in t}
    s |= s
    s -= s
    s = s ^ s
    s = s | s
    s.update(s, [SOME], s)
    s = t.union(t)
    s.intersection_update(s)
    s = s.union([SOME], t)
    s = s.difference({ONE: 1, ONE: 2})
    s.intersection_update([SOME])
    s.update(dict.fromkeys([SOME]))
    s = set(frozenset(s))
    out.append(list(s))
    out.append(s.pop() if s else None)
    out += [each for each in {SOME}]
    s, t = t, s
""".strip("\n").split("\n")


def source(r: random.Random, element) -> str:
    """A function of the seed's steps."""
    lines = ["def program(a):", "    s, t, out = {SOME}, set([SOME]), []"]
    lines += [r.choice(STEPS) for _ in range(12)]
    lines.append("    return out, list(s), list(t), repr(s), a")
    text = "\n".join(lines) + "\n"
    while "SOME" in text:
        text = text.replace("SOME", ", ".join(["ONE"] * r.randrange(1, 13)), 1)
    while "ONE" in text:
        text = text.replace("ONE", repr(element(r)), 1)
    return text


@pytest.mark.parametrize("kind", ELEMENTS)
def test_random_changes(kind, tmp_path):
    for seed in range(8):
        path = tmp_path / f"program{seed}.py"
        path.write_text(source(random.Random(f"{kind} {seed}"), ELEMENTS[kind]))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        check(module.program, X)
