"""Stores in place: the passes keep what programs mean, and XLA then copies no array in a loop."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.emit.fence import fence_loads
from pystage.compiler.emit.forward import forward
from pystage.compiler.emit.inplace import in_place
from pystage.compiler.emit.once import loop_once
from pystage.compiler.emit.simplify import simplify
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Value
from pystage.compiler.hlo.types import INT64
from pystage.compiler.hlo.verify import verify
from pystage.compiler.ops import Broadcast, DynamicSlice, DynamicUpdateSlice, If, Reshape, While

from .programs import INDEX, Code, Values, array, fences, kinds, optimised, passes, run, whole_arrays
from .stores import PROGRAMS

SIZE = 1000
"""Elements for which the passes matter: XLA's passes leave smaller loops alone in other ways."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_results(name: str) -> None:
    function, arguments = PROGRAMS[name](20)
    expected = interpret(function, arguments)
    rewritten = passes(function)
    for found in (interpret(rewritten, arguments), run(rewritten, arguments)):
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
    assert any(not np.array_equal(a, b) for a, b in zip(expected, arguments))


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_array_is_copied_in_a_loop(name: str) -> None:
    function, _ = PROGRAMS[name](SIZE)
    assert whole_arrays(optimised(passes(function)), SIZE) == []


def test_without_the_passes_arrays_are_copied() -> None:
    copying = {
        name
        for name, make in PROGRAMS.items()
        if name in ("bubble_sort", "swap", "sum_before_store", "read_by_loop", "both_arms_loop")
        and whole_arrays(optimised(simplify(make(SIZE)[0]).function), SIZE)
    }
    assert copying == {"bubble_sort", "swap", "sum_before_store", "read_by_loop", "both_arms_loop"}
