"""Steady run time: VGG19 forward, a scalar `while`, and a recurrence in place, against hand-written JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import vgg19
from jax import lax

import pystage
from pystage.runtime.reports.hlo_text import instruction_counts

from .measuring import Pairs, Table, in_pairs
from .model import for_jax

TRIPS = 5_000_000
ELEMENTS = 100_000


def vgg(count: int) -> tuple[Pairs, bool]:
    """Times of VGG19 forward on one image, and whether XLA's optimised programs have the same instructions."""
    model, batch = vgg19.make_vgg19(), vgg19.make_images()
    arrays = vgg19.weights(model)
    ours = pystage.compile(vgg19.forward).lower(model, batch).compile()
    theirs = for_jax(model).lower(arrays, batch).compile()
    counts = [instruction_counts(c.as_text()).by_opcode for c in (ours, theirs)]
    counts = [{op: n for op, n in c.items() if op not in ("parameter", "bitcast")} for c in counts]
    pairs = in_pairs(lambda: ours(model, batch), lambda: theirs(arrays, batch), count)
    return pairs, counts[0] == counts[1]


def while_source(x: Any, n: Any) -> Any:
    """A scalar recurrence in a `while`."""
    i = 0
    while i < n:
        x = 0.5 * x + 1.0
        i = i + 1
    return x


@jax.jit
def while_by_hand(x: Any, n: Any) -> Any:
    """The same with `lax.while_loop`."""
    return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, 0.5 * c[1] + 1.0), (jnp.zeros_like(n), x))[
        1
    ]


def recurrence_source(x: Any, passes: Any) -> Any:
    """A recurrence over an array, in place, several times."""
    for _ in range(passes):
        for i in range(1, len(x)):
            x[i] = 0.5 * x[i - 1] + x[i]
    return x


@jax.jit
def recurrence_by_hand(x: Any, passes: Any) -> Any:
    """The same with `lax.while_loop`, each element stored once it is computed."""

    def element(state: Any) -> Any:
        i, previous, x = state
        value = 0.5 * previous + x[i]
        return i + 1, value, x.at[i].set(value)

    def one_pass(state: Any) -> Any:
        done, x = state
        n = x.shape[0]
        return done + 1, lax.while_loop(lambda s: s[0] < n, element, (jnp.ones_like(done), x[0], x))[2]

    return lax.while_loop(lambda s: s[0] < passes, one_pass, (jnp.zeros_like(passes), x))[1]


def loops(count: int) -> tuple[Pairs, Pairs, int]:
    """Times of the scalar loop and of the recurrence, and how many trips the latter makes."""
    scalar = pystage.compile(while_source)
    stored = pystage.compile(recurrence_source)
    passes = TRIPS // ELEMENTS
    array = np.random.default_rng(0).standard_normal(ELEMENTS)
    with jax.enable_x64(True):
        x, n, count_of_passes = jnp.float64(1), jnp.int64(TRIPS), jnp.int64(passes)
        on_device = jnp.asarray(array)
        first = in_pairs(lambda: scalar(1.0, TRIPS), lambda: while_by_hand(x, n), count)
        second = in_pairs(
            lambda: stored(array, passes), lambda: recurrence_by_hand(on_device, count_of_passes), count
        )
    return first, second, passes * (ELEMENTS - 1)


def measure(count: int = 11) -> list[Table]:
    """The table of run times, of `count` pairs each."""
    forward, same = vgg(count)
    scalar, recurrence, trips = loops(count)
    alike = "has the same instructions as" if same else "differs from"
    table = Table(
        "Run time",
        f"{count} interleaved pairs each, after warming up. XLA's optimised program of VGG19 {alike} JAX's. "
        "The goals: at most 1.02 for VGG19, or the same instructions; at most 1.1 for the loops.",
        ("", "pystage", "JAX", "ratio (quartiles)"),
    )
    for name, pairs, unit, suffix in (
        ("VGG19 forward, one image", forward, 1e-3, "ms"),
        ("scalar `while`, per trip", scalar, TRIPS * 1e-9, "ns"),
        (f"recurrence in place over {ELEMENTS:,} elements, per trip", recurrence, trips * 1e-9, "ns"),
    ):
        ours, theirs = pairs.medians
        table.rows.append(
            (name, f"{ours / unit:.2f} {suffix}", f"{theirs / unit:.2f} {suffix}", pairs.ratio_text())
        )
    return [table]
