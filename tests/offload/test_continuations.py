"""A plain run that is replaced at the head of a loop does what it would have done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pystage
import pytest
from checking import Comparison, compare_runs, run_of
from pystage.runtime import tiers

from offload.replacing import Replacing

TRIPS = 4
CHANGED = 3
A = np.arange(6.0) / 4


def a_while_loop(x: np.ndarray, n: int) -> tuple[Any, ...]:
    k, total = 0, 0.0
    while total < n:
        total += x[k % 6] + 0.5
        k += 1
    return k, total


def the_middle_of_three_loops(x: np.ndarray, n: int) -> tuple[Any, ...]:
    total, seen = 0.0, 0
    for i in range(n):
        row = x * i
        k = i
        while k > 0:
            row = row + k
            for j in range(k, 6, 2):
                if j == 5 and i == 2:
                    continue
                row[j] += total
                seen += 1
            k -= 1
        total += row.sum()
    return total, seen, row, i, j, k


def both_arms(x: np.ndarray, n: int) -> float:
    total = 1.0
    for i in range(n):
        if i % 2:
            for j in range(3):
                total += x[j]
        elif total > 2:
            while total > 2:
                total -= 0.75
        else:
            for _ in range(2):
                total *= 1.5
    return total


def jumps(x: np.ndarray, n: int) -> tuple[Any, ...]:
    found = -1
    for i in range(10):
        for j in range(n):
            if x[j] > 1 and i > 1:
                found = i * 10 + j
                break
            if j == 2:
                continue
            x[j] += 0.25
        else:
            continue
        break
    else:
        found = -2
    return found, i, j


def returns(x: np.ndarray, n: int) -> Any:
    for i in range(n, 0, -1):
        for j in range(len(x)):
            x[j] -= 0.5
            if x.sum() < -3:
                return i, j
    return None


def at_the_end(x: np.ndarray, n: int) -> None:
    for i in range(n):
        x[i] = -x[i]


def global_bounds(x: np.ndarray, n: int) -> np.ndarray:
    out = []
    for i in range(TRIPS):
        out.append(x[i] * n)
    return np.array(out)


def a_bound_of_before(x: np.ndarray, n: int) -> tuple[Any, ...]:
    count = 0
    for i in range(n):
        for j in range(x.shape[0] - i):
            count += j
    n = 0
    return count, n


def prints(x: np.ndarray, n: int) -> int:
    k = 0
    while k < n:
        print(k, x[k])
        k += 1
    return k


def raises(x: np.ndarray, n: int) -> float:
    total = 0
    for i in range(n):
        total += 10 // (2 - i)
    return total


def around(x: np.ndarray, n: int) -> Any:
    start, entering = 2, 0.5

    def inside(x: np.ndarray, n: int) -> float:
        total = 0.0
        for i in range(n):
            total += start
            for j in range(3):
                total += x[j] * entering
        return total

    return inside


def assigned_later(x: np.ndarray, n: int) -> float:
    for i in range(n):
        if i == n - 1:
            last = x[i]
    return last


PROGRAMS = [
    (a_while_loop, 9),
    (the_middle_of_three_loops, 4),
    (both_arms, 6),
    (jumps, 5),
    (returns, 4),
    (at_the_end, 5),
    (global_bounds, 2),
    (a_bound_of_before, 4),
    (prints, 3),
    (raises, 5),
    (assigned_later, 4),
    (around(A, 4), 4),
]


@pytest.mark.parametrize("arrival", [0, 1, 2, 6])
@pytest.mark.parametrize("function, n", PROGRAMS)
def test_a_replaced_run_does_the_same(function: Callable[..., Any], n: int, arrival: int) -> None:
    replacing = Replacing(function, arrival)
    plain, other = run_of(function, (A, n), {}), run_of(replacing, (A, n), {})
    compare_runs(plain, other, Comparison(), "replaced", __file__)
    assert replacing.replaced or arrival > 1


def rebinds_its_bound(x: np.ndarray, n: int) -> int:
    for _ in range(n):
        n += 1
    return n


def bound_of_a_list(x: np.ndarray, n: int) -> int:
    items = list(x)
    for i in range(len(items)):
        items.append(i)
    return len(items)


def changes_a_shape(x: np.ndarray, n: int) -> int:
    total = 0
    for i in range(x.shape[0]):
        if x.ndim == 1:
            x.shape = (3, 2)
        total += i
    return total


def changes_a_global(x: np.ndarray, n: int) -> int:
    global CHANGED
    k = 0
    for _ in range(CHANGED):
        CHANGED = 3
        k += 1
    return k


def looks_at_its_variables(x: np.ndarray, n: int) -> Any:
    while n > 0:
        n -= 1
    return sorted(locals())


def captured(x: np.ndarray, n: int) -> Any:
    while n > 0:
        n -= 1
    return (lambda: n)()


def in_a_handler(x: np.ndarray, n: int) -> int:
    try:
        while n > 0:
            n -= 1
    finally:
        n += 5
    return n


@pytest.mark.parametrize(
    "function",
    [
        rebinds_its_bound,
        bound_of_a_list,
        changes_a_shape,
        changes_a_global,
        looks_at_its_variables,
        captured,
        in_a_handler,
    ],
)
def test_a_run_whose_rest_cannot_be_told_is_not_replaced(function: Callable[..., Any]) -> None:
    replacing = Replacing(function, 0)
    plain, other = run_of(function, (A, 5), {}), run_of(replacing, (A, 5), {})
    compare_runs(plain, other, Comparison(), "replaced", __file__)
    assert not replacing.replaced


def refused(x: np.ndarray, n: int) -> int:
    k = 0
    while k < n:
        k += int(time.time() > 0)
    return k


def test_a_refused_rest_goes_on_plainly() -> None:
    replacing = Replacing(refused, 0)
    assert replacing(A, 5) == 5
    assert not replacing.replaced


def long(n: int) -> tuple[int, float]:
    k, total = 0, 0.0
    while k < n:
        total += k % 7
        k += 1
    return k, total


def test_a_long_run_is_replaced_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSTAGE_TIER", raising=False)
    monkeypatch.setattr(tiers, "EVERY", 0.01)
    monkeypatch.setattr(tiers, "LONG", 0.02)
    monkeypatch.setattr(tiers.Tiers, "price", 0.0)
    monkeypatch.setattr(tiers.Run, "seconds", lambda run, now: 1e6 * (now - run.began))
    compiled = pystage.compile(long, fallback="lazy")
    monkeypatch.setattr(tiers.Tiers, "pays", lambda self, kind, args: False)
    assert compiled(10_000_000) == (10_000_000, 29_999_994.0)
    assert compiled.tiers.replaced == 1
    assert "went on as a program" in str(compiled.usage())
