"""Stores in place: the time of an iteration must not grow with the array.

Each program loops at least 10⁶ times over an array that it stores into, at 10³ and at 10⁵ elements; what a
call costs without looping is subtracted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import pystage

from .measuring import Table, seconds

SIZES = (1_000, 100_000)
TRIPS = 1_000_000
COLUMNS = 10


def bubble_sort(x: Any, passes: Any) -> Any:
    """Neighbours in the wrong order change places."""
    for _ in range(passes):
        for i in range(len(x) - 1):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]
    return x


def swap(x: Any, passes: Any) -> Any:
    """Every element changes places with its neighbour."""
    for _ in range(passes):
        for i in range(len(x) - 1):
            x[i], x[i + 1] = x[i + 1], x[i]
    return x


def two_stores(x: Any, passes: Any) -> Any:
    """Two stores into one array in a body."""
    for _ in range(passes):
        for i in range(len(x) - 1):
            x[i] = 0.5 * x[i] + 1.0
            x[i + 1] = 0.25 * x[i + 1] - x[i]
    return x


def conditional_store(x: Any, passes: Any) -> Any:
    """A store in one arm only."""
    for _ in range(passes):
        for i in range(len(x) - 1):
            if x[i] < 0.0:
                x[i + 1] = x[i + 1] + 1.0
    return x


def conditional_loop(x: Any, passes: Any) -> Any:
    """An arm that loops over stores."""
    for _ in range(passes):
        for i in range(len(x) - 3):
            if x[i] < 1.0:
                j = i
                while j < i + 3:
                    x[j] = 0.5 * x[j] + 0.75
                    j = j + 1
    return x


def row_update(x: Any, passes: Any) -> Any:
    """A row computed from itself and the row before."""
    for _ in range(passes):
        for i in range(1, len(x)):
            x[i] = 0.5 * x[i - 1] + 0.25 * x[i]
    return x


def two_arrays(x: Any, y: Any, passes: Any) -> Any:
    """Two arrays stored into, at both levels of a nested loop."""
    for p in range(passes):
        for i in range(len(x) - 1):
            y[i] = 0.5 * y[i] + x[i + 1]
            x[i] = x[i] - 0.25 * y[i]
        x[p % len(x)] = y[0]
    return x


@jax.jit
def by_hand(x: Any, passes: Any) -> Any:
    """`two_stores` as one writes it with `lax`."""

    def body(i: Any, x: Any) -> Any:
        x = x.at[i].set(0.5 * x[i] + 1.0)
        return x.at[i + 1].set(0.25 * x[i + 1] - x[i])

    return lax.fori_loop(0, passes, lambda _, x: lax.fori_loop(0, x.shape[0] - 1, body, x), x)


PROGRAMS: tuple[tuple[str, Callable[..., Any], int], ...] = (
    ("bubble sort", bubble_sort, 1),
    ("swap", swap, 1),
    ("two stores", two_stores, 1),
    ("conditional store", conditional_store, 1),
    ("conditional inner loop that stores", conditional_loop, 1),
    (f"row update ({COLUMNS} columns)", row_update, COLUMNS),
    ("nested loop over two arrays", two_arrays, 1),
)


def _arrays(function: Callable[..., Any], size: int, columns: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    shape = (size // columns, columns) if columns > 1 else (size,)
    return [rng.standard_normal(shape) for _ in range(2 if function is two_arrays else 1)]


def per_iteration(function: Callable[..., Any], columns: int, count: int = 7) -> list[float]:
    """Seconds of one iteration at each size, over at least `TRIPS` of them; the least of `count` in turn."""
    staged = pystage.compile(function)
    inputs = [_arrays(function, size, columns) for size in SIZES]
    trips = [len(arrays[0]) - 1 for arrays in inputs]
    passes = [-(-TRIPS // n) for n in trips]
    idle, busy = [float("inf")] * len(SIZES), [float("inf")] * len(SIZES)
    for arrays in inputs:
        staged(*arrays, 1)
    for _ in range(count):
        for k, arrays in enumerate(inputs):
            idle[k] = min(idle[k], seconds(functools.partial(staged, *arrays, 0)))
            busy[k] = min(busy[k], seconds(functools.partial(staged, *arrays, passes[k])))
    return [(b - i) / (p * n) for b, i, p, n in zip(busy, idle, passes, trips, strict=True)]


def by_hand_per_iteration(count: int = 3) -> list[float]:
    """The same of the program written with `lax`; fewer trips, since it copies the array in each."""
    with jax.enable_x64(True):
        least = [float("inf")] * len(SIZES)
        for k, size in enumerate(SIZES):
            x = jnp.asarray(_arrays(by_hand, size, 1)[0])
            passes = max(1, 100_000 // size)
            by_hand(x, jnp.int64(1))
            for _ in range(count):
                took = seconds(functools.partial(by_hand, x, jnp.int64(passes)))
                least[k] = min(least[k], took / (passes * (size - 1)))
        return least


def measure() -> list[Table]:
    """The table of times per iteration."""
    table = Table(
        "Stores in place",
        f"Time of an iteration in ns, over at least {TRIPS:,} iterations, float64. The goal: growth of at most 2.",
        ("", *[f"{size:,} elements" for size in SIZES], "growth"),
    )
    for name, function, columns in PROGRAMS:
        small, large = per_iteration(function, columns)
        table.rows.append((name, f"{small * 1e9:.1f}", f"{large * 1e9:.1f}", f"{large / small:.2f}"))
    small, large = by_hand_per_iteration()
    name = "two stores, written by hand with `lax`"
    table.rows.append((name, f"{small * 1e9:.1f}", f"{large * 1e9:.1f}", f"{large / small:.1f}"))
    return [table]
