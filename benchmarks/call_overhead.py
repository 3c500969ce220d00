"""What a call costs beyond `jax.jit`: small programs, called again and again.

Each pair does the same work; the repetitions are interleaved in one run, and the least of many counts, as
what disturbs only adds. The clock is that of the calling thread (programs so small run in it), so that other
processes do not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import pystage

from .measuring import Table

REPETITIONS = 60
SECONDS = 0.01  # of one repetition


def double(x):
    return jnp.add(x, x)


def first_and_last(params):
    return params["k0"] + params["k199"]


def double_numpy(x):
    return np.add(x, x)


class Case(NamedTuple):
    """Two calls that do the same, and how many times longer the second may take."""

    name: str
    theirs: Callable[[], Any]
    ours: Callable[[], Any]
    limit: float


def cases() -> list[Case]:
    """The pairs to compare."""
    array, small = jnp.ones(3), np.ones(3, np.float32)
    params = {f"k{i}": jnp.ones(3) for i in range(200)}
    jitted, jitted_params = jax.jit(double), jax.jit(first_and_last)
    staged, staged_params = pystage.compile(double), pystage.compile(first_and_last)
    staged_numpy = pystage.compile(double_numpy)
    return [
        Case("one small jax.Array", lambda: jitted(array), lambda: staged(array), 1.3),
        Case("a dict of 200", lambda: jitted_params(params), lambda: staged_params(params), 1.2),
        Case(
            "one small ndarray in and out",
            lambda: np.asarray(jitted(small)),
            lambda: staged_numpy(small),
            1.6,
        ),
    ]


def least(calls: list[Callable[[], Any]]) -> list[float]:
    """The least time of one call of each, in microseconds, from interleaved repetitions."""
    counts = []
    for call in calls:
        call()
        start = time.thread_time()
        for _ in range(20):
            call()
        counts.append(max(1, int(SECONDS * 20 / (time.thread_time() - start))))
    best = [float("inf")] * len(calls)
    for _ in range(REPETITIONS):
        for i, call in enumerate(calls):
            start = time.thread_time()
            for _ in range(counts[i]):
                call()
            best[i] = min(best[i], (time.thread_time() - start) / counts[i] * 1e6)
    return best


def measure() -> list[Table]:
    """The table of all cases."""
    table = Table(
        "Call overhead",
        "One call of a small program, the least of many interleaved repetitions, in the calling thread.",
        ("", "pystage", "`jax.jit`", "ratio", "limit"),
    )
    for case in cases():
        theirs, ours = least([case.theirs, case.ours])
        row = (f"{ours:.1f} µs", f"{theirs:.1f} µs", f"{ours / theirs:.2f}", f"{case.limit:.1f}")
        table.rows.append((case.name, *row))
    return [table]
