"""Batches: how far `lazy.Loader` overlaps their reading with the computation, and what buckets save for many sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import pystage
from pystage import lazy

from .measuring import Table

COUNT = 30
READING = 0.03
"""Seconds that the host waits for a batch, as for a file."""
SIZES = range(33, 65)


def _read() -> Iterator[Any]:
    for i in range(COUNT):
        time.sleep(READING)
        yield np.full((600, 800), i, np.float32)


def _compute(batches: Iterable[Any], weights: Any) -> None:
    for batch in batches:
        x = batch
        for _ in range(4):
            x = np.tanh(x @ weights)
        float(x.sum())


def _seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _loading() -> Table:
    table = Table(
        "Batches loaded ahead",
        f"{COUNT} batches of float32 `[600, 800]`, waited for {READING * 1e3:.0f} ms, through four products on a CPU.",
        ("", "seconds"),
    )
    weights = lazy.asarray(np.random.default_rng(0).standard_normal((800, 800)).astype(np.float32) / 30)
    _compute([lazy.asarray(batch) for batch, _ in zip(_read(), range(3))], weights)
    ready = [lazy.asarray(batch) for batch in _read()]
    table.rows.append(("reading alone", f"{_seconds(lambda: list(_read())):.2f}"))
    table.rows.append(("computation alone", f"{_seconds(lambda: _compute(ready, weights)):.2f}"))
    one_by_one = (lazy.asarray(batch) for batch in _read())
    table.rows.append(("one after the other", f"{_seconds(lambda: _compute(one_by_one, weights)):.2f}"))
    loader = lazy.Loader(_read(), prefetch=2)
    table.rows.append(("`lazy.Loader`", f"{_seconds(lambda: _compute(loader, weights)):.2f}"))
    return table


def _step(w: Any, x: Any, y: Any) -> Any:
    value, slope = pystage.value_and_grad(lambda w: np.mean((np.tanh(x @ w) - y) ** 2))(w)
    return w - 0.1 * slope, value


def _buckets() -> Table:
    table = Table(
        "Buckets",
        f"A step with its gradient for batches of each of {len(SIZES)} sizes, {SIZES[0]} to {SIZES[-1]}.",
        ("", "programs", "first calls, s", "later calls, ms each"),
    )
    rng = np.random.default_rng(0)
    calls = [(np.zeros(8), rng.standard_normal((size, 8)), rng.standard_normal(size)) for size in SIZES]
    for name, bucket in (
        ("a program for each size", None),
        ("buckets", {"x": {0: "pow2"}, "y": {0: "pow2"}}),
    ):
        step = pystage.compile(_step, fallback="error", bucket=bucket)
        first = _seconds(lambda step=step: [step(*call) for call in calls])
        later = min(_seconds(lambda step=step: [step(*call) for call in calls]) for _ in range(5)) / len(
            calls
        )
        table.rows.append((name, str(step.programs), f"{first:.1f}", f"{later * 1e3:.2f}"))
    return table


_LAZY_SIZES = 16


def _lazy_buckets() -> Table:
    table = Table(
        "Buckets of lazy tensors",
        f"A step of two layers of 64 on lazy tensors, with its gradient, for batches of {_LAZY_SIZES} sizes above 5,000.",
        ("", "programs", "first calls, s", "later calls, ms each"),
    )
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal((30, 64)), rng.standard_normal((64, 64))]

    def loss(first: Any, second: Any, x: Any, y: Any) -> Any:
        return np.mean((np.tanh(np.tanh(x @ first) @ second)[:, 0] - y) ** 2)

    for name, bucket, least in (("a program for each size", None, 5000), ("buckets", {0: "pow2"}, 6000)):
        sizes = range(least, least + _LAZY_SIZES)
        batches = [(rng.standard_normal((size, 30)), rng.standard_normal(size)) for size in sizes]
        parameters = [lazy.asarray(w) for w in weights]

        def epoch(bucket: Any = bucket, batches: Any = batches, parameters: Any = parameters) -> None:
            for batch in batches:
                x, y = [lazy.asarray(each, bucket=bucket) for each in batch]
                _, slopes = pystage.value_and_grad(loss, (0, 1))(*parameters, x, y)
                for w, slope in zip(parameters, slopes, strict=True):
                    w -= 0.1 * slope
                lazy.sync(wait=True)

        lazy.reset_metrics()
        first = _seconds(epoch)
        later = min(_seconds(epoch) for _ in range(5)) / len(batches)
        table.rows.append((name, str(lazy.metrics().compiles), f"{first:.1f}", f"{later * 1e3:.1f}"))
    return table


def measure() -> list[Table]:
    """The tables of loading and of buckets."""
    return [_loading(), _buckets(), _lazy_buckets()]
