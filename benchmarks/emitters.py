"""What the older emitters of XLA:CPU save while a program is compiled, and cost when it runs.

The programs of `by_hand` (`BY_HAND=word,word` takes those whose names hold one of the words), each compiled both ways in one
process. Processor time, which counts all threads; of the runs the least of many, in turn.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

from pystage.runtime.executables.compiler_options import best

from .by_hand import prepared, programs
from .measuring import Table

OPTION = "xla_cpu_use_fusion_emitters"
WAYS = (True, False)
SECONDS = 2.0  # of runs, both ways together


def measure() -> list[Table]:
    """The table of all programs, and the geometric means."""
    table = Table(
        "Emitters",
        "The older emitters of XLA:CPU beside its own: processor time of XLA and of a run, which of the two pystage "
        "chooses, and the geometric means.",
        ("", "XLA's own, s", "older, s", "ratio", "a run, ms", "older, ms", "ratio", "chosen"),
    )
    ratios: list[tuple[float, float]] = []
    for _, program in programs():
        function, args = prepared(program, by_hand=False)
        lowered = function.lower(*args)
        spent, compiled = zip(*[_compiled(lowered, way) for way in WAYS])
        runs = _least(compiled, program.inputs)
        ratios.append((spent[1] / spent[0], runs[1] / runs[0]))
        chosen = "older" if best(lowered.staged.function).get(OPTION) is False else "XLA's own"
        times = [f"{spent[0]:.2f}", f"{spent[1]:.2f}", f"{ratios[-1][0]:.2f}"]
        times += [f"{runs[0] * 1e3:.3f}", f"{runs[1] * 1e3:.3f}", f"{ratios[-1][1]:.2f}"]
        table.rows.append((program.name, *times, chosen))
    means = [f"{statistics.geometric_mean(column):.2f}" for column in zip(*ratios)]
    table.rows.append(("geometric mean", "", "", means[0], "", "", means[1], ""))
    return [table]


def _compiled(lowered: Any, way: bool) -> tuple[float, Any]:
    """The seconds that XLA takes, and the compiled program."""
    began = time.process_time()
    compiled = lowered.compile({OPTION: way})
    return time.process_time() - began, compiled


def _least(compiled: Sequence[Any], inputs: Callable[[], tuple[Any, ...]]) -> list[float]:
    """The least time of a run of each, in seconds."""
    least = [float("inf")] * len(compiled)
    spent = 0.0
    while spent < SECONDS:
        for i, run in enumerate(compiled):
            args = inputs()
            began = time.process_time()
            jax.block_until_ready(run(*args))
            least[i] = min(least[i], time.process_time() - began)
            spent += time.process_time() - began
    return least
