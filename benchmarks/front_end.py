"""Source to StableHLO: VGG19 forward, a new signature in a warm process, against `jax.jit(...).lower()`.

Each measurement is of a batch size that neither has seen. The stages are timed in the same runs, by clocks
around the functions that do them. All times are of this thread's work (both do all of theirs in it), so that
what else the machine does is not in them; the garbage collector runs, as it does for users.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import vgg19

import pystage
from pystage import staging
from pystage.compiler import pipeline
from pystage.runtime import lowering

from .measuring import Table, in_pairs
from .model import described, for_jax, images

STAGES = (
    ("inference", staging, "infer_program"),
    ("simplification", pipeline, "simplify"),
    ("emission", lowering, "emit_module"),
)
"""Where each stage is called from: the module and the name that it has there."""


@contextmanager
def clocks() -> Iterator[dict[str, float]]:
    """Seconds that each stage took in the `with` block, in which compiled functions are to be made too."""
    spent = {name: 0.0 for name, _, _ in STAGES}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            start = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent[name] += time.thread_time() - start

        return call

    patches = [
        mock.patch.object(module, attr, timed(name, getattr(module, attr))) for name, module, attr in STAGES
    ]
    for patch in patches:
        patch.start()
    try:
        yield spent
    finally:
        for patch in patches:
            patch.stop()


def _binding(lowered: pystage.Lowered) -> float:
    start = time.thread_time()
    lowered.bind()
    return time.thread_time() - start


def measure(count: int = 15) -> list[Table]:
    """The table of times, of `count` pairs."""
    model, arrays = described()
    jitted = for_jax(model)
    batches = iter(range(2, 1000))
    with clocks() as spent:
        staged = pystage.compile(vgg19.forward)
        start = time.thread_time()
        staged.lower(model, images(1))
        first = time.thread_time() - start
        jitted.lower(arrays, images(1))
        by_stage: dict[str, list[float]] = {name: [] for name in spent}

        def ours() -> None:
            before = dict(spent)
            staged.lower(model, images(next(batches)))
            for name, total in spent.items():
                by_stage[name].append(total - before[name])

        pairs = in_pairs(
            ours,
            lambda: jitted.lower(arrays, images(next(batches))),
            count,
            warm=2,
            clock=time.thread_time,
            collect=True,
        )
    stages = {name: statistics.median(times[2:]) for name, times in by_stage.items()}
    ours_median, jax_median = pairs.medians
    stages["the rest: arguments, specialisation"] = ours_median - sum(stages.values())
    text = (
        f"VGG19 forward, source to StableHLO, a new signature in a warm process; {count} pairs, CPU time. "
        f"The first signature, with the source still to be read, took {first * 1e3:.0f} ms. "
        "The goal: at most 0.35."
    )
    table = Table("Front end", text, ("", "ms", "of `jax.jit(...).lower()`"))
    table.rows.append(("pystage", f"{ours_median * 1e3:.1f}", pairs.ratio_text()))
    for name, time_ in stages.items():
        table.rows.append((f"· {name}", f"{time_ * 1e3:.1f}", f"{time_ / jax_median:.2f}"))
    table.rows.append(("`jax.jit(...).lower()`", f"{jax_median * 1e3:.1f}", "1"))
    binding = statistics.median([_binding(staged.lower(model, images(next(batches)))) for _ in range(count)])
    table.rows.append(
        ("when it is compiled: JAX's binding", f"{binding * 1e3:.1f}", f"{binding / jax_median:.2f}")
    )
    return [table, _by_depth(staged, model, batches)]


def _by_depth(staged: Any, model: Any, batches: Iterator[int]) -> Table:
    """The time of lowering by how many calls are open around it: Python's stack has pieces, whose ends are costly."""

    def within(calls: int) -> float:
        if calls:
            return within(calls - 1)
        start = time.thread_time()
        staged.lower(model, images(next(batches)))
        return time.thread_time() - start

    depths = range(0, 60, 3)
    times = {depth: statistics.median([within(depth) for _ in range(7)]) * 1e3 for depth in depths}
    text = (
        f"The same program, lowered with {depths[0]} to {depths[-1]} more calls open around it, medians of 7. "
        "It is to be the same time for all."
    )
    table = Table("Front end, by the depth of the stack", text, ("", "ms"))
    table.rows.extend(
        [("the least", f"{min(times.values()):.1f}"), ("the most", f"{max(times.values()):.1f}")]
    )
    return table
