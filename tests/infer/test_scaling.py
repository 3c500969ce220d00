"""How the front end's work grows with the program: counted in calls of functions, which are the same on every machine."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable

import pytest

import pystage
from benchmarks.scaling import SERIES, Program

SERIES_OF_LENGTHS = [series for series, sizes in SERIES if sizes[-1] > 100]


def _calls(program: Program) -> int:
    """How many functions are called from source to StableHLO."""
    compiled = pystage.compile(program.load(), fallback="error")
    with cProfile.Profile() as profile:
        compiled.lower(*program.args)
    stats: dict[object, tuple[int, ...]] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    return sum(calls for _, calls, *_ in stats.values())


@pytest.mark.parametrize("series", SERIES_OF_LENGTHS)
def test_the_work_from_source_to_stablehlo_is_proportional(series: Callable[[int], Program]) -> None:
    _calls(series(2))
    first, second, third = [_calls(series(n)) for n in (10, 20, 40)]
    assert third - second < 2.15 * (second - first)
