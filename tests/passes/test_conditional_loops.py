"""Loops that a branch takes or leaves go round only where it takes them, and no more often than before."""

from __future__ import annotations

import numpy as np
from checking import check

import pystage
from pystage.compiler.hlo.ir import Region
from pystage.compiler.ops import While


def taken_in_another_loop(x, ks):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.5 + y[i]
    total = 0.0
    for k in ks:
        total += (y if k > 3 else x).sum()
    return total


def depth(region: Region) -> int:
    """How deep loops are nested."""
    found = [isinstance(op.kind, While) + max(map(depth, op.regions)) for op in region.ops if op.regions]
    return max(found, default=0)


def test_a_loop_stays_before_the_loop_that_takes_its_results() -> None:
    args = np.arange(64.0), np.arange(200) % 9
    staged = pystage.compile(taken_in_another_loop, fallback="error").staged(*args)
    assert depth(staged.function.body) == 1
    check(taken_in_another_loop, *args)
