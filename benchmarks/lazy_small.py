"""Lazy tensors of small size against plain NumPy and JAX run op by op: loops that work on a few elements at a time.

Times are processor time of the process. A loop runs first in a warm process that has not seen it, and then again.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pystage import lazy

from .measuring import Table, no_collection

Place = Callable[[Any], Any]
Loop = Callable[[Any, Place], Callable[[], Any]]


def _operations(np: Any, place: Place) -> Callable[[], Any]:
    x, y = place([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), place([0.5] * 8)

    def run() -> Any:
        z = x
        for _ in range(5_000):
            z = z * 0.5 + y
        return z

    return run


def _item_stores(np: Any, place: Place) -> Callable[[], Any]:
    x = place([0.0] * 2_000)

    def run() -> Any:
        for i in range(2_000):
            x[i] = 0.5 * i
        return x

    return run


def _accumulation(np: Any, place: Place) -> Callable[[], Any]:
    x = place([0.5] * 3_000)

    def run() -> Any:
        s = 0.0
        for i in range(3_000):
            s += x[i]
        return s

    return run


def _index_arrays(np: Any, place: Place) -> Callable[[], Any]:
    x = place([0.5] * 100)
    chosen = np.array([1, 2, 3])

    def run() -> Any:
        for _ in range(300):
            y = x[chosen]
        return y

    return run


def _views(np: Any, place: Place) -> Callable[[], Any]:
    x = place([[0.5] * 10] * 100)

    def run() -> Any:
        for i in range(100):
            row = x[i]
            row += 1.0
            row[1:3] = row[2:4] * 0.5
        return x

    return run


def _products(np: Any, place: Place) -> Callable[[], Any]:
    x = place([[0.01] * 64] * 64)

    def run() -> Any:
        z = x
        for _ in range(200):
            z = z @ x
        return z

    return run


def _reductions(np: Any, place: Place) -> Callable[[], Any]:
    x = place([[0.5] * 10] * 10)

    def run() -> Any:
        for _ in range(500):
            y = np.exp(x - x.max(axis=1, keepdims=True))
            y = y / y.sum(axis=1, keepdims=True)
            s = np.mean(y) + np.where(y > 0.05, y, 0.0).sum()
        return s

    return run


def _epoch(np: Any, place: Place) -> Callable[[], Any]:
    x, y = place([[0.01 * (i % 40)] * 40 for i in range(3_000)]), place([0.5] * 3_000)

    def run() -> Any:
        w = place([0.0] * 40)
        for i in range(3_000):
            row = x[i]
            w = w - 0.01 * (row @ w - y[i]) * row
        return w

    return run


LOOPS: dict[str, Loop] = {
    "10,000 operations on 8 elements": _operations,
    "2,000 stores `x[i] = v`": _item_stores,
    "3,000 sums `s += x[i]`": _accumulation,
    "300 times `x[[1, 2, 3]]`, of an array of indices": _index_arrays,
    "100 rows, two stores into each": _views,
    "200 products of 64×64": _products,
    "500 times softmax and mean of 10×10": _reductions,
    "an epoch of SGD over 3,000 rows of 40": _epoch,
}
"""By what they do: loops over a module and what makes its arrays."""
_FUNCTIONAL = (_item_stores, _views)
"""Loops that store: JAX's arrays cannot."""


def small(count: int) -> Table:
    """Each loop in NumPy, in JAX, and on lazy tensors: the first run, and the median of those that follow."""
    table = Table(
        "Lazy tensors: loops over small arrays",
        f"float64, ms of processor time: the first run and the median of {count} that follow. "
        "The goal: at most 3 times NumPy.",
        ("", "NumPy", "JAX, op by op", "lazy, first", "lazy", "of NumPy"),
    )
    for name, loop in LOOPS.items():
        plain = _median(loop(np, np.array), count)
        with jax.enable_x64(True):
            eager = None if loop in _FUNCTIONAL else _median(loop(jnp, jnp.array), 3)
        run = loop(np, _placed)
        first = _seconds(run)
        later = _median(run, count)
        np.testing.assert_allclose(np.asarray(loop(np, _placed)()), loop(np, np.array)(), rtol=1e-9)
        cells = f"{plain * 1e3:.2f}", "" if eager is None else f"{eager * 1e3:.0f}"
        table.rows.append((name, *cells, f"{first * 1e3:.2f}", f"{later * 1e3:.2f}", f"{later / plain:.1f}"))
    return table


def _placed(values: Any) -> Any:
    return lazy.asarray(np.array(values))


def _seconds(run: Callable[[], Any]) -> float:
    began = time.process_time()
    np.asarray(jax.block_until_ready(run()))
    return time.process_time() - began


def _median(run: Callable[[], Any], count: int) -> float:
    with no_collection():
        return statistics.median([_seconds(run) for _ in range(count)])


def measure(count: int = 9) -> list[Table]:
    """The table of small loops."""
    return [small(count)]
