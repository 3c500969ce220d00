"""Scientists' programs (`examples/programs/`): plain NumPy, staged, and Numba's `njit`, in one run.

Each runs on fresh copies of its arguments, which it may change; the three take turns. Before anything is
timed, the results of the three are compared. The clock is that of the processor, of all threads, so that other
processes do not count.
"""

from __future__ import annotations

import copy
import functools
import importlib
import statistics
import time
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numba
import numpy as np

import pystage

from .measuring import Table, no_collection

ROUNDS = 15
"""Timed calls of the staged program and of Numba's; the plain one has a quarter of a second."""

Run = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A function of a module of `examples/programs`, the size of its inputs, and how many of them it takes.

    `cause` says why the staged program is slower than one of the others, where it is; `numba` False: Numba
    fails to compile it (it takes no mask of two axes as an index).
    """

    module: str
    function: str
    size: int
    count: int | None = None
    cause: str = ""
    numba: bool = True


TRIP = "XLA:CPU keeps what a loop carries and uses in memory, JAX's own loops too: some 4 ns a trip"
"""What most losses have in common; docs/performance.md has the measurements."""

CASES = (
    Case(
        "cavity_flow",
        "cavity_flow",
        41,
        cause="XLA:CPU hands each of its 66 fusions of arrays of 41 × 41 to its threads where it has several: on one core, "
        "`taskset -c 0 python -m benchmarks programs`, 14.2 ms, Numba 27.8",
    ),
    Case("crc", "crc_bits", 20_000, cause=TRIP + "; 3.3 ns a bit, Numba 1.9"),
    Case("crc", "crc_table", 100_000, cause=TRIP + "; 7.0 ns a byte, Numba 3.8"),
    Case(
        "fft_by_hand",
        "fft",
        14,
        cause=TRIP
        + "; a butterfly stores twice, so that its loads are fenced, 20 ns, Numba 6; checks of indices: 10 %",
    ),
    Case(
        "floyd_warshall",
        "floyd_warshall",
        100,
        cause=TRIP
        + "; 14 stores a trip, three for fenced loads, 14 ns; Numba stores where a path gets shorter, 2.4 ns",
    ),
    Case("game_of_life", "life", 40),
    Case(
        "gauss_seidel",
        "gauss_seidel",
        64,
        cause=TRIP + "; five loads from the array that the trip stores into are fenced, 22 ns, Numba 6.4",
    ),
    Case("gram_schmidt", "gram_schmidt", 100),
    Case("heat_equation", "heat", 128),
    Case(
        "hopfield",
        "hopfield",
        1_000,
        cause="an inner product of 1,000 is summed in order, 3 µs, Numba calls BLAS, 0.8; the weights: 10.4 ms, Numba 6.7",
    ),
    Case(
        "jacobi",
        "jacobi",
        40,
        cause=TRIP
        + "; five loads are each moved into the array, 11 ns, Numba 3.0; by hand, with one move for all, 40 % less",
    ),
    Case("mandelbrot_arrays", "mandelbrot_arrays", 150, numba=False),
    Case(
        "mandelbrot_pixels",
        "mandelbrot_pixels",
        100,
        cause=TRIP + "; 8.9 ns a step, Numba 5.0; with real numbers the same",
    ),
    Case("nbody", "nbody", 40, cause=TRIP + "; six stores a trip, 35 ns, Numba 25"),
    Case(
        "needleman_wunsch",
        "needleman_wunsch",
        300,
        cause=TRIP + "; a cell waits for the one before it, which comes through memory, 8.9 ns, Numba 1.5",
    ),
    Case("pagerank", "pagerank", 1_500, cause=TRIP + "; checks of computed indices: 21 %"),
    Case(
        "sparse_product",
        "product",
        30_000,
        count=4,
        cause=TRIP + "; 11.8 ns an element of which 3.8 are checks of indices, Numba 2.2",
    ),
    Case(
        "sparse_product",
        "conjugate_gradients",
        1_000,
        cause=TRIP + "; the product with the matrix, as above; checks of indices: 18 %",
    ),
    Case(
        "viterbi",
        "viterbi",
        3_000,
        cause=TRIP + "; without the logarithms, which take both 0.4 ms, 1.1 ms, Numba 0.25",
    ),
)


@dataclass
class Times:
    """Seconds of one implementation: its first call, compilation included, and the calls after it."""

    first: float
    later: list[float]

    @property
    def steady(self) -> float:
        """The least of the later calls."""
        return min(self.later)


def measure() -> list[Table]:
    """The tables of times and of losses."""
    table = Table(
        "Scientists' programs",
        "`examples/programs/`, float64 and int64 in plain NumPy code; milliseconds of the processor, the least of "
        f"{ROUNDS} calls that take turns. The first call includes all compilation. Above 1 the staged program is the "
        "faster one.",
        ("", "plain", "staged", "Numba", "staged, first", "Numba, first", "plain / staged", "Numba / staged"),
    )
    against: tuple[list[float], list[float], list[float]] = ([], [], [])
    losses: list[tuple[str, str]] = []
    for case in CASES:
        plain, staged, jitted = time_case(case)
        ratios = [plain.steady / staged.steady]
        if jitted is not None:
            ratios += [jitted.steady / staged.steady, jitted.first / staged.first]
        for ratio, all_of_them in zip(ratios, against):
            all_of_them.append(ratio)
        table.rows.append(_row(case, plain, staged, jitted))
        if min(ratios[:2]) < 1:
            losses.append((f"`{case.function}`", case.cause or "not known yet"))
    means = [statistics.geometric_mean(ratios) for ratios in against]
    table.rows.append(
        ("geometric mean", "", "", "", "", f"{means[2]:.1f} × staged", f"{means[0]:.1f}", f"{means[1]:.2f}")
    )
    causes = Table("Where the staged program is slower", "And why.", ("", "cause"), list(losses))
    return [table, causes]


def _row(case: Case, plain: Times, staged: Times, jitted: Times | None) -> tuple[str, ...]:
    def ms(seconds: float) -> str:
        return f"{seconds * 1e3:.{0 if seconds >= 0.1 else 2}f}"

    times = [ms(plain.steady), ms(staged.steady), "refused" if jitted is None else ms(jitted.steady)]
    first = [ms(staged.first), "" if jitted is None else ms(jitted.first)]
    ratios = [f"{plain.steady / staged.steady:.1f}"]
    ratios.append("" if jitted is None else f"{jitted.steady / staged.steady:.2f}")
    return (f"`{case.function}`", *times, *first, *ratios)


def time_case(case: Case) -> tuple[Times, Times, Times | None]:
    """Times of the plain program, of the staged one, and of Numba's; None if Numba refuses the program."""
    module = importlib.import_module(f"programs.{case.module}")
    args = module.inputs(case.size)[: case.count]
    plain: Run = getattr(module, case.function)
    runs: list[Run] = [plain, pystage.compile(plain, fallback="error")]
    if case.numba:
        runs.append(with_numba(module)[case.function])
    expected = _results(plain, args)
    times = [_first(run, args, expected) for run in runs]
    with no_collection():
        for _ in range(ROUNDS):
            for run, measured in zip(runs, times):
                if run is not plain or sum(measured.later) < 0.25:
                    measured.later.append(_seconds(run, args))
    return times[0], times[1], times[2] if len(times) > 2 else None


def _first(run: Run, args: tuple[Any, ...], expected: Any) -> Times:
    """Times the first call, and compares what it leaves with what the plain run left."""
    first = _seconds(run, args)
    for ours, theirs in zip(_results(run, args), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    return Times(first, [])


def _seconds(run: Run, args: tuple[Any, ...]) -> float:
    own = copy.deepcopy(args)
    start = time.process_time()
    jax.block_until_ready(run(*own))
    return time.process_time() - start


def _results(run: Run, args: tuple[Any, ...]) -> list[Any]:
    """The results of a call and its arguments afterwards, as a flat list."""
    own = copy.deepcopy(args)
    return jax.tree.leaves((run(*own), own))


def with_numba(module: types.ModuleType) -> dict[str, Any]:
    """The module's variables, all functions in it compiled by Numba, so that they call each other compiled."""
    warnings.simplefilter("ignore", numba.core.errors.NumbaPerformanceWarning)
    namespace = dict(vars(module))
    for name, function in vars(module).items():
        if isinstance(function, types.FunctionType) and function.__module__ == module.__name__:
            own = types.FunctionType(function.__code__, namespace, name, function.__defaults__)
            namespace[name] = numba.njit(functools.update_wrapper(own, function))
    return namespace
