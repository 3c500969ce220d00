"""Loops over lists of many arrays or objects that would be too large written out: over the places of the list."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check
from pystage.compiler import limits
from pystage.compiler.infer.entry import _Entry

cases = Cases()
RNG = np.random.default_rng(0)
X = np.arange(10.0) - 3
PARTS = [RNG.standard_normal((int(n), 2)) for n in RNG.integers(0, 9, 40)]
ALIKE = [RNG.standard_normal(3) for _ in range(20)]


@cases(PARTS)
def of_several_lengths(parts):
    out, last = np.zeros(len(parts)), -1
    for k, part in enumerate(parts):
        for i in range(len(part)):
            for j in range(i):
                if np.hypot(part[i, 0] - part[j, 0], part[i, 1] - part[j, 1]) > 1.5:
                    out[k] += 1
                    last = j
        out[k] += part.sum()
    return out, last


@cases(PARTS, ALIKE)
def beside_others(parts, alike):
    total = 0.0
    for part, row, k in zip(parts, alike, range(100)):
        if len(part) == 0:
            continue
        total += part[0, 0] * row[k % 3]
        if total > 3:
            break
    return total, k


@cases(ALIKE)
def stored_into(rows):
    for row in rows:
        row[0] = row.sum()
        row *= 2
    return rows


@cases(ALIKE)
def kept(rows):
    best, least = None, np.inf
    for row in rows:
        if row.min() < least:
            best, least = row, row.min()
    return best, least


class Particle:
    def __init__(self, x, v):
        self.x, self.v, self.hits = x, v, 0

    def step(self):
        self.x += self.v * 0.1
        if abs(self.x) > 1:
            self.v = -self.v
            self.hits += 1


@cases(RNG.standard_normal(20), RNG.standard_normal(20))
def of_objects(x, v):
    particles = [Particle(x[i], v[i]) for i in range(20)]
    for _ in range(30):
        for particle in particles:
            particle.step()
    return [p.x for p in particles], sum(p.hits for p in particles)


@cases([0.5, 0.1, 2.0, 1.5], X)
@cases([1, 4, 3, 2], X)
def of_numbers(weights, x):
    best = None
    for weight in weights:
        total = (x * weight).sum()
        if best is None or total > best[0]:
            best = total, weight
    return best


FEW = [RNG.standard_normal(4) for _ in range(5)]


@cases(FEW, [1.0, 0.5, 2.0, 1.5, 3.0])
@cases([*FEW, FEW[1]], [1.0, 0.5, 2.0, 1.5, 3.0, 1.0])
def by_an_index(rows, weights):
    best, at = 0.0, None
    out = np.zeros(len(rows))
    for k in range(len(rows)):
        row = rows[k]
        out[k] = (row * weights[k]).sum()
        if out[k] > best:
            best, at = out[k], row
        if best > 4:
            break
    return out, best, at, k


@cases(FEW, X)
def stored_into_by_an_index(rows, x):
    for k in range(1, len(rows)):
        rows[k][0] = rows[k - 1].sum()
        rows[k] += x[k]
    return rows[2], rows


@cases(FEW, 3)
def replaced_by_an_index(rows, n):
    for k in range(len(rows)):
        rows[k] = rows[k] * 2 if k % n else np.sort(rows[k])
    return rows


@cases(FEW)
def of_a_size_of_its_own(rows):
    total = 0.0
    for k in range(len(rows)):
        total += (np.zeros(k + 1) + rows[k][0]).sum()
    return total


@cases([np.arange(k + 1.0) for k in range(5)])
def of_several_lengths_by_an_index(rows):
    total = 0.0
    for k in range(len(rows)):
        for v in rows[k]:
            total += v * len(rows[k])
        if rows[k].sum() > 5:
            rows[k][0] = -1.0
    return total, rows[2]


@cases(FEW, "abcde")
def beside_a_text(rows, text):
    found = []
    for k in range(len(rows)):
        if rows[k].max() > 0.5:
            found.append(text[k])
    return found


@cases(FEW, raises=IndexError)
def past_the_end(rows):
    for k in range(len(rows) + 1):
        rows[k][0] += 1.0
    return rows


@cases(FEW)
def in_nested_loops(rows):
    total = 0.0
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            total += np.abs(rows[i] - rows[j]).max()
    return total


GRID = np.arange(20.0).reshape(4, 5) % 7


@cases(GRID)
def neighbours(x):
    found = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                if 0 <= i + di < x.shape[0] and 0 <= j + dj < x.shape[1] and x[i + di, j + dj] > x[i, j]:
                    found[i, j] += x[i + di, j + dj]
    return found


@cases(GRID)
def offsets_in_nested_loops(x):
    total, seen = 0, []
    for di in (-1, 0, 1):
        for dj in [-1, 0, 1]:
            if di == dj == 0:
                continue
            total += int(x[di, dj]) * di - dj
            seen.append((di, dj))
    return total, seen, di, dj


@cases(GRID, raises=IndexError)
def an_offset_that_is_outside(x):
    for d in (0, 1, 7):
        x[d, 0] = d
    return x


@cases(GRID)
def numbers_that_must_be_known(x):
    parts = []
    for k in (1, 2, 4):
        parts.append(x.reshape(k, -1).sum(axis=k % 2))
    return parts


@cases(GRID)
def numbers_of_other_kinds(x):
    kinds = []
    for weight, flag, shift in zip((0.5, 2.0, 1.0), (True, False, True), (1 + 2j, 0j, 3j), strict=False):
        kinds.append((weight * x[0, 1], flag, shift * 2, isinstance(weight, float), not flag))
    return kinds, weight, flag, shift


@cases(GRID, 3)
def ends_at_a_number(x, n):
    for k, (step, size) in enumerate(((1, 0.5), (2, 0.25), (3, 0.125), (4, 0.0))):
        x[k] *= size
        if step == n:
            break
    else:
        k = -1
    return x, k, step


@cases(GRID, {1: 2.0})
def numbers_are_keys(x, weights):
    for key in (1, 2, 1, 3):
        weights[key] = weights.get(key, 0.0) + x[0, key]
    return weights


@pytest.mark.parametrize("limit", ["WRITTEN_OUT_STEPS", "WRITTEN_OUT_OPERATIONS"])
@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_program(function, args, options, limit, monkeypatch):
    monkeypatch.setattr(limits, limit, 0)
    check(function, *args, **options)


def test_a_large_loop_that_makes_generators_draws_in_the_program(monkeypatch):
    def program(x, seeds):
        found = 0.0
        for seed in seeds:
            rng = np.random.default_rng(3)
            found += x[rng.permutation(len(x))][:2].sum() * seed
        return found

    seeds = [1.0, 2.0, 0.5, 4.0]
    check(program, X, seeds)
    assert "while" not in str(pystage.code_hlo(program, X, seeds))
    monkeypatch.setattr(limits, "WRITTEN_OUT_OPERATIONS", 0)
    check(program, X, seeds)
    assert "while" in str(pystage.code_hlo(program, X, seeds))


def test_each_element_is_a_few_operations() -> None:
    def program(parts):
        total = 0.0
        for part in parts:
            for i in range(len(part)):
                for j in range(len(part)):
                    if part[i, 0] > part[j, 1]:
                        total += np.sqrt(np.abs(part[i] * part[j]).sum()) + np.sort(part[:, 0])[i]
        return total

    many = [PARTS[1][:k] for k in np.arange(400) % len(PARTS[1])]
    assert len(str(pystage.code_hlo(program, many)).splitlines()) < 4000


def test_a_large_loop_over_the_integers_that_index_a_list_is_one_of_the_program(monkeypatch):
    def lines(rows):
        return len(str(pystage.code_hlo(by_an_index, rows, [1.0] * len(rows))).splitlines())

    many = [FEW[0]] * 12
    written_out = lines(many)
    monkeypatch.setattr(limits, "WRITTEN_OUT_OPERATIONS", 0)
    assert lines(many) < written_out / 2


def test_calls_that_are_repeated_count(monkeypatch):
    """Of few arrays of one type, too, a loop whose trips only repeat calls is one of the program."""

    def solved(a, b):
        x = np.zeros(len(b))
        while abs(a @ x - b).max() > 1e-9:
            for i in range(len(b)):
                x[i] += (b[i] - a[i] @ x) / a[i, i]
        if x[0] < 0:
            raise ValueError(x[0])
        return x, x.sum()

    def program(a, sides):
        found, failed = [], 0
        for b in sides:
            try:
                x, total = solved(a, b)
            except ValueError:
                failed += 1
                continue
            found.append({"x": x, "total": total})
        return found, failed

    a = np.eye(4) * 6 + 0.5
    sides = [b.copy() for b in np.random.default_rng(0).standard_normal((6, 4)) + 0.3]

    def lines():
        return len(str(pystage.code_hlo(program, a, sides)).splitlines())

    monkeypatch.setattr(limits, "WRITTEN_OUT_OPERATIONS", 10_000)
    written_out = lines()
    monkeypatch.setattr(limits, "WRITTEN_OUT_STEPS_IN_CALLS", 0)
    check(program, a, sides)
    assert lines() < written_out / 2


def test_a_large_loop_over_a_tuple_of_numbers_is_one_of_the_program(monkeypatch) -> None:
    def around(x, steps):
        total = 0.0
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                for dk in (-1, 0, 1):
                    i, j, k = di % 3, dj % 3, dk % 3
                    while i < steps:
                        total += x[i, j, k] * di - dj + np.sqrt(x[k, j, i]) * dk
                        i, j, k = j + 1, k % 3, i % 3
        return total

    def lines():
        return len(str(pystage.code_hlo(around, x, 3)).splitlines())

    x = np.arange(27.0).reshape(3, 3, 3)
    check(around, x, 3)
    made = lines()
    monkeypatch.setattr(limits, "WRITTEN_OUT_OPERATIONS", 10_000)
    assert made < lines() / 3


def grown(x, least):
    return x if x[0, 1] > least else grown(x * 2, least)


def grown_after_numbers(x):
    total = 0.0
    for k in (1, 2, 4):
        total += x[k % 2, 1] * k
    return grown(x, total)


def counted_down(n):
    return 0 if n <= 0 else n + counted_down(n - 1)


def counted_for_numbers(x):
    total = x[0, 1]
    for k in (1, 2, 4):
        total += counted_down(k)
    return total


def test_a_recursion_that_no_trip_begins_is_refused_at_once(monkeypatch) -> None:
    inferences = []
    run = _Entry.run
    monkeypatch.setattr(_Entry, "run", lambda self, *args: (inferences.append(args), run(self, *args))[1])
    monkeypatch.setattr(limits, "WRITTEN_OUT_OPERATIONS", 0)
    with pytest.raises(pystage.StagingError, match="the recursion of grown does not end"):
        pystage.compile(grown_after_numbers, fallback="error")(GRID)
    assert len(inferences) == 1
    check(counted_for_numbers, GRID)
