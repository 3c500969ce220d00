"""Stores in place: the time of an iteration must not grow with the array.

Each program loops at least 10⁶ times over an array that it stores into, at 10³ and at 10⁵ elements; what a
call costs without looping is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import pystage

from .measuring import Table, best

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
        for i in range(len(x) - 1):
            if x[i] > 0.5:
                while x[i] > 0.25:
                    x[i] = 0.5 * x[i]
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


def per_iteration(function: Callable[..., Any], size: int, columns: int) -> float:
    """Seconds of one iteration of the inner loop, over at least `TRIPS` of them."""
    staged = pystage.compile(function)
    arrays = _arrays(function, size, columns)
    trips = len(arrays[0]) - 1
    passes = -(-TRIPS // trips)
    staged(*arrays, 1)
    idle = best(lambda: staged(*arrays, 0))
    return (best(lambda: staged(*arrays, passes), 3) - idle) / (passes * trips)


def by_hand_per_iteration(size: int) -> float:
    """The same of the program written with `lax`; fewer trips, since it copies the array in each."""
    with jax.enable_x64(True):
        x = jnp.asarray(_arrays(by_hand, size, 1)[0])
        passes = max(1, 100_000 // size)
        by_hand(x, jnp.int64(1))
        return best(lambda: by_hand(x, jnp.int64(passes)), 3) / (passes * (size - 1))


def measure() -> list[Table]:
    """The table of times per iteration."""
    table = Table(
        "Stores in place",
        f"Time of an iteration in ns, over at least {TRIPS:,} iterations, float64.",
        ("", *[f"{size:,} elements" for size in SIZES], "growth"),
    )
    for name, function, columns in PROGRAMS:
        small, large = [per_iteration(function, size, columns) for size in SIZES]
        table.rows.append((name, f"{small * 1e9:.1f}", f"{large * 1e9:.1f}", f"{large / small:.2f}"))
    small, large = [by_hand_per_iteration(size) for size in SIZES]
    name = "two stores, written by hand with `lax`"
    table.rows.append((name, f"{small * 1e9:.1f}", f"{large * 1e9:.1f}", f"{large / small:.1f}"))
    return [table]
