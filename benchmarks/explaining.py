"""What explanations cost: inference while nobody asks, while a trail watches, and `explain` as a whole, of VGG19."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import vgg19

import pystage

from .measuring import Table, in_pairs
from .model import described, images

COUNT = 15


def measure() -> list[Table]:
    """The table of times."""
    model, _ = described()
    batches = iter(range(2, 1000))
    staged = pystage.compile(vgg19.forward)
    start = time.thread_time()
    str(staged.explain(model, images(1)))
    first = time.thread_time() - start
    explaining = _times(lambda: staged.explain(model, images(next(batches))))
    shown = _times(lambda: str(staged.explain(model, images(next(batches)))))
    pairs = in_pairs(
        lambda: staged.explain(model, images(next(batches))),
        lambda: staged.staged(model, images(next(batches))),
        COUNT,
        warm=2,
        clock=time.thread_time,
        collect=True,
    )
    text = (
        f"VGG19 forward for a new signature in a warm process, CPU time, medians of {COUNT}. The first explanation, with "
        f"the source still to be read and the modules of `explain` to be imported, took {first * 1e3:.0f} ms. "
        "The goal for `explain` after imports: under a second."
    )
    table = Table("Explaining", text, ("", "ms", "of inference alone"))
    table.rows.extend(
        [
            ("inference, nobody asks", f"{pairs.medians[1] * 1e3:.1f}", "1"),
            ("`f.explain(…)`", f"{explaining:.1f}", pairs.ratio_text()),
            ("the same, and its text", f"{shown:.1f}", ""),
        ]
    )
    return [table]


def _times(run: Callable[[], Any]) -> float:
    """The median of the milliseconds that a run takes."""
    times = []
    for _ in range(COUNT):
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return statistics.median(times) * 1e3
