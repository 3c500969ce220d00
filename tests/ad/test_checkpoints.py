"""How many trips a loop of unknown length executes when it is differentiated, and how many states it keeps."""

from __future__ import annotations

import numpy as np
import pytest

import pystage
from pystage.compiler import limits
from pystage.compiler.ad.reverse import ReverseMode
from pystage.compiler.hlo import interpret as interpreter
from pystage.compiler.ops import Sine


def counted(x, n):
    total = x
    k = 0
    while k < n:
        total = np.sin(total)
        k = k + 1
    return total


def model(n):
    """The trips executed and the most states kept, by the policy alone."""
    slots, stride, now, executed = [None] * limits.SAVED_STATES, 1, 0, 0
    while now < n:
        free = [i for i, k in enumerate(slots) if k is None or k % stride]
        if not free:
            stride *= 2
            free = [i for i, k in enumerate(slots) if k is None or k % stride]
        if now % stride == 0:
            slots[free[0]] = now
        end = min(n, now + stride - now % stride)
        executed += end - now
        now = end
    kept = sorted(k for k in slots if k is not None)
    most = len(kept)
    for want in range(n - 1, -1, -1):
        while kept[-1] != want:
            now = kept[-1]
            end = now + (want - now + 1) // 2
            executed += end - now
            kept.append(end)
            most = max(most, len(kept))
        executed += 1
        kept.pop()
    return executed, most


@pytest.mark.parametrize("trips", [1, 2, 17, 100])
def test_the_program_executes_the_trips_of_the_model(trips, monkeypatch):
    count = 0
    original = Sine.reference

    def reference(self, *operands):
        nonlocal count
        count += 1
        return original(self, *operands)

    program = pystage.compile(counted).lower(0.5, trips).staged.program.function
    results = program.body.results
    made = ReverseMode().function(program, (True, False), tuple([r is results[0] for r in results]))
    monkeypatch.setattr(Sine, "reference", reference)
    *_, gradient = interpreter.interpret(made, [np.asarray(0.5), np.asarray(trips), np.asarray(1.0)])
    assert count == model(trips)[0]
    slope, x = 1.0, 0.5
    for _ in range(trips):
        slope, x = slope * np.cos(x), np.sin(x)
    assert float(gradient) == pytest.approx(slope, rel=1e-12)


@pytest.mark.parametrize("trips", [100, 10_000, 1_000_000])
def test_work_and_memory_are_bounded(trips):
    executed, most = model(trips)
    assert executed <= 10 * trips
    assert most <= limits.SAVED_STATES + limits.RECOMPUTED_STATES == 40
