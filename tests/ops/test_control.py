"""Regions use the values around them, at any depth, and XLA runs such programs."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region, Value
from pystage.compiler.hlo.types import FLOAT32, INT32, ArrayType
from pystage.compiler.hlo.verify import verify
from pystage.compiler.ops import Add, Compare, Constant, If, Multiply, Remainder, Subtract, While

from .running import run_xla


def nested_program() -> Function:
    """`for i in range(n): x = x * y if i % 2 else x + y - n`, all but `i` and `x` captured."""
    array, integer = ArrayType(FLOAT32, (3,)), ArrayType(INT32)
    body = Region((array, array, integer))
    b = Builder(body)
    x, y, n = body.params
    zero, one, two = (b.op(Constant(np.array(i, INT32))) for i in range(3))
    condition, loop = Region((integer, array)), Region((integer, array))
    with b.region(condition):
        condition.results = (b.op(Compare("LT"), condition.params[0], n),)
    with b.region(loop):
        i, state = loop.params
        even = b.op(Compare("EQ"), b.op(Remainder(), i, two), zero)
        loop.results = (b.op(Add(), i, one), _branches(b, even, state, y))
    body.results = (b.apply(While(), (zero, x), (condition, loop)).results[1],)
    return Function("nested", body)


def _branches(b: Builder, even: Value, state: Value, y: Value) -> Value:
    then, otherwise = Region(), Region()
    with b.region(then):
        then.results = (b.op(Subtract(), b.op(Add(), state, y), y),)
    with b.region(otherwise):
        otherwise.results = (b.op(Multiply(), state, y),)
    return b.apply(If(), (even,), (then, otherwise)).results[0]


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_captured_values_reach_inner_regions(trips: int) -> None:
    function = nested_program()
    verify(function)
    arguments = [
        np.array([1, 2, 3], np.float32),
        np.array([2, 0.5, -1], np.float32),
        np.array(trips, np.int32),
    ]
    wanted = arguments[0] * arguments[1] ** np.float32(trips // 2)
    for (found,) in (run_xla(function, arguments), interpret(function, arguments)):
        np.testing.assert_array_equal(found, wanted)
