"""Loops that compute the same are one; others stay."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.verify import verify
from pystage.compiler.ops import While
from pystage.compiler.passes.equal_loops import share_loops

from .programs import INDEX, Code, Values, array


def _sums(step: float, begin: float, other_array: bool = False) -> Function:
    """Two sums over an array: of its elements, and of so many times them (or another array's) from `begin` on."""
    c = Code(array(4), array(4), INDEX)
    x, y, n = c.params

    def sum_of(array: Value, begin: float, step: float) -> Value:
        def body(i: Value, total: Value) -> Values:
            return [c.add(c.mul(c.load(array, i), step), total)]

        return c.for_(n, [c.value(begin, np.dtype(np.float64))], body)[0]

    return c.done(sum_of(x, 0.0, 1.0), sum_of(y if other_array else x, begin, step))


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (_sums(1.0, 0.0), 1),
        (_sums(2.0, 0.0), 2),
        (_sums(1.0, 1.0), 2),
        (_sums(1.0, 0.0, other_array=True), 2),
    ],
)
def test_equal_loops_are_one(function: Function, count: int) -> None:
    shared = share_loops(function)
    verify(shared)
    assert sum(isinstance(op.kind, While) for op in shared.body.walk()) == count
    args = [np.arange(4.0), np.arange(4.0) * 3, np.asarray(3)]
    assert interpret(shared, args) == interpret(function, args)
