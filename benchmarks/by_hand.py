"""Whole programs as plain Python, staged, against the same programs written by hand for `jax.jit`.

`BY_HAND=word,word` takes those whose names hold one of the words, `BY_HAND_PROCESSES` says how many first calls are timed.
Steady calls take turns in one process; a first call is the processor time of a fresh process that has imported JAX, pystage
and the program, and in which JAX has run something. The programs are in `benchmarks/by_hand_programs`; a new one is one more
row of a `PROGRAMS` there.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import pystage
from pystage.runtime.reports.hlo_text import instruction_counts

from .by_hand_programs import MODULES, Program
from .measuring import Pairs, Table, in_pairs, seconds

PAIRS = 101
SECONDS = 2.0
"""The most that the pairs of one program take, as far as 15 pairs do."""
PROCESSES = int(os.environ.get("BY_HAND_PROCESSES", "5"))
"""Fresh processes of each kind, whose least time counts."""
STEADY, FIRST = 1.1, 1.3
"""The aims."""


def programs() -> Iterator[tuple[str, Program]]:
    """The programs to measure, each with the name of its module."""
    words = os.environ.get("BY_HAND", "").split(",")
    for module in MODULES:
        for program in importlib.import_module(f".by_hand_programs.{module}", __package__).PROGRAMS:
            if any(word in program.name for word in words):
                yield module, program


def prepared(program: Program, by_hand: bool) -> tuple[Any, tuple[Any, ...]]:
    """The compiled function of a program, and its arguments."""
    args = program.inputs()
    if not by_hand:
        return pystage.compile(program.plain, tier="compiled", fallback="error"), args
    made = program.by_hand
    return made if hasattr(made, "lower") else jax.jit(made), program.for_jax(*args)


def steady(program: Program) -> tuple[Pairs, str]:
    """Times of the calls of both, and the sizes of their programs; fails where their results differ."""
    runs: list[Callable[[], Any]] = []
    sizes = []
    for by_hand in (False, True):
        function, args = prepared(program, by_hand)
        runs.append(lambda function=function, args=args: function(*args))
        lowered = function.lower(*args)
        before = instruction_counts(lowered.as_text("hlo")).total
        sizes.append((before, instruction_counts(lowered.compile().as_text()).total))
    results = [jax.tree.leaves(run()) for run in runs]
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-3, atol=1e-3)
    once = sum(map(seconds, runs))
    pairs = in_pairs(*runs, max(15, min(PAIRS, int(SECONDS / once))), warm=3)
    return pairs, " / ".join(f"{a / b:.2f}" for a, b in zip(*sizes, strict=True))


def first(module: str, program: Program) -> tuple[float, float]:
    """The least processor time of the first call in fresh processes, of both."""
    times: tuple[list[float], list[float]] = ([], [])
    left_out = {"PYTHONDONTWRITEBYTECODE", "PYSTAGE_CACHE_DIR"}
    environment = {key: value for key, value in os.environ.items() if key not in left_out}
    for _ in range(PROCESSES):
        for by_hand in (False, True):
            command = [
                sys.executable,
                "-m",
                "benchmarks.by_hand",
                module,
                program.name,
                *["by hand"] * by_hand,
            ]
            run = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
            times[by_hand].append(json.loads(run.stdout))
    return min(times[0]), min(times[1])


def in_this_process(module: str, name: str, by_hand: bool) -> float:
    """The processor time of the first call of a program."""
    found = importlib.import_module(f".by_hand_programs.{module}", __package__).PROGRAMS
    (program,) = [program for program in found if program.name == name]
    function, args = prepared(program, by_hand)
    jax.block_until_ready(jax.jit(lambda x: x + 1)(jnp.ones(3)))
    return seconds(lambda: function(*args), time.process_time)


def measure() -> list[Table]:
    """The table of all programs and their medians."""
    table = Table(
        "By hand",
        "Plain Python, staged, and the same program by hand for `jax.jit`, both given `jax.Array`s: steady calls in turn "
        f"(wall clock), the first call (processor time, the least of {PROCESSES} fresh processes of each), and the number "
        "of HLO instructions before and after XLA's optimisation. Above 1 pystage is slower, or its program larger. The "
        f"aims: {STEADY} for steady calls and {FIRST} for the first.",
        ("", "staged", "by hand", "ratio (quartiles)", "first, staged", "by hand", "ratio", "HLO"),
    )
    ratios: list[tuple[float, float]] = []
    for module, program in programs():
        pairs, sizes = steady(program)
        ours, theirs = first(module, program)
        ms = [f"{time * 1e3:.2f} ms" for time in pairs.medians]
        calls = (f"{ours:.2f} s", f"{theirs:.2f} s", f"{ours / theirs:.2f}")
        table.rows.append((program.name, *ms, pairs.ratio_text(), *calls, sizes))
        ratios.append((pairs.ratio, ours / theirs))
        print(" | ".join(table.rows[-1]), file=sys.stderr, flush=True)
    medians = [f"{statistics.median(column):.2f}" for column in zip(*ratios, strict=True)]
    table.rows.append(("median", "", "", medians[0], "", "", medians[1], ""))
    return [table]


if __name__ == "__main__":
    print(json.dumps(in_this_process(*sys.argv[1:3], len(sys.argv) > 3)))
