"""The training steps of `models.py` at reduced sizes, beside PyTorch: steady time, where PyTorch is installed.

All start from the same weights on the same batch. Before times are taken, the first two losses are compared: the second
one follows from the gradients and the update of the first step.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import numpy as np

import pystage

from .measuring import Table, times_in_turn
from .models import CASES, ByJax, Case

try:
    from . import with_torch
except ImportError:  # there is no table
    with_torch = None

Step = Callable[[], float]

ROUNDING, AFTER_A_STEP = 1e-5, 1e-2
"""How far losses may lie apart, relative: of the first step, and of the second one, to which batch norms of few numbers and
a high rate carry rounding."""
COMPILED = ("RoBERTa-base", "VGG19")
"""The models whose loss `torch.compile` compiles in about a minute."""


def steps_of(case: Case) -> dict[str, Step]:
    """The step in each library, from weights of its own; each gives its loss."""
    arguments, for_jax, for_torch, for_compiled = [case.step(**case.reduced) for _ in range(4)]
    end = len(arguments) - len(case.last)
    staged, jitted = pystage.compile(case.module.train_step), ByJax(case, for_jax)
    loss = with_torch.LOSSES[case.module.__name__]
    steps: dict[str, Step] = {
        "pystage": lambda: float(staged(*arguments)),
        "`jax.jit`": lambda: float(jitted.run()),
        "PyTorch, eager": with_torch.train_step(loss, for_torch[:end]),
    }
    if case.name in COMPILED:
        steps["`torch.compile`"] = with_torch.train_step(with_torch.compiled_loss(loss), for_compiled[:end])
    return steps


def compare(case: Case, steps: dict[str, Step]) -> None:
    """Makes two steps in each library and compares their losses."""
    losses = {name: (step(), step()) for name, step in steps.items()}
    for name, found in losses.items():
        for i, bound in enumerate((ROUNDING, AFTER_A_STEP)):
            what = f"{case.name}, {name}: loss {i} is not that of pystage"
            np.testing.assert_allclose(found[i], losses["pystage"][i], bound, err_msg=what)


def beside_torch(count: int) -> Table:
    """The table."""
    processors = len(os.sched_getaffinity(0))
    clock = time.process_time if processors == 1 else time.perf_counter
    table = Table(
        "Models: steady steps beside PyTorch",
        "Training steps at reduced sizes (`benchmarks/models.py`), the same weights and batch, float32, as many threads "
        f"({processors}; of a single one, processor time); medians of {count} runs in turn, the least in parentheses; the "
        "loss is read at each step. PyTorch: its own batch norm, layer norm and attention, updates in place; "
        "`torch.compile` of the loss, but for ResNet-50, which it compiles for more than 100 s. First losses agree to "
        "float32 rounding.",
        ("", "pystage", "`jax.jit`", "PyTorch, eager", "`torch.compile`", "pystage / eager"),
    )
    for case in CASES:
        steps = steps_of(case)
        compare(case, steps)
        times = times_in_turn(list(steps.values()), count, clock)
        ours, _, eager, *_ = both = [(statistics.median(each), min(each)) for each in times]
        cells = [f"{median * 1e3:.0f} ({least * 1e3:.0f}) ms" for median, least in both]
        cells += [""] * (4 - len(cells))
        table.rows.append((case.name, *cells, f"{ours[0] / eager[0]:.2f} ({ours[1] / eager[1]:.2f})"))
    return table


def measure() -> list[Table]:
    """The table, if PyTorch is installed."""
    return [] if with_torch is None else [beside_torch(11)]
