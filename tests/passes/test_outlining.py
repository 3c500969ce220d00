"""Long straight-line code is cut: it means the same, and XLA's program grows with it and not with its square."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pystage.compiler import limits
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.verify import verify
from pystage.compiler.ops import Call
from pystage.compiler.passes.outlining import outline_segments

from .programs import INDEX, Code, Values, array, fences, kinds, optimised, run


def stores(c: Code, count: int, x: Value, i: Value) -> Values:
    """`count` stores, each of a number that the one before it led to, at a place that is computed."""
    a = c.load(x, i)
    for k in range(count):
        x = c.store(x, a, c.sub(c.mul(i, k), 5))
        a = c.add(c.mul(a, 0.5), c.load(x, c.mul(i, k + 1)))
    return [x, a]


def straight(count: int) -> Function:
    """The stores as a program."""
    c = Code(array(8), INDEX)
    return c.done(*stores(c, count, *c.params))


def in_arm(count: int) -> Function:
    """The stores in an arm of a branch; the other one leaves the array as it is."""
    c = Code(array(8), INDEX)
    x, i = c.params
    return c.done(
        *c.if_(c.compare("GT", i, 0), lambda: stores(c, count, x, i), lambda: [x, c.value(0, x.type.dtype)])
    )


def in_loop(count: int) -> Function:
    """The stores in the body of a loop."""
    c = Code(array(8), INDEX)
    x, i = c.params

    def body(k: Value, x: Value, a: Value) -> Values:
        x, b = stores(c, count, x, c.add(i, k))
        return [x, c.add(a, b)]

    return c.done(*c.for_(3, [x, c.value(0, x.type.dtype)], body))


def without_stores(count: int) -> Function:
    """A chain of numbers that no store, sum or branch ends: three operations for each of `count`."""
    c = Code(array(8), INDEX)
    x, i = c.params
    a = first = c.load(x, i)
    for k in range(count):
        a = c.add(c.mul(a, 0.5), c.mul(first, k))
    return c.done(a)


def test_long_code_without_stores_is_cut_too() -> None:
    function = without_stores(limits.SEGMENT_OPERATIONS)
    made = outline_segments(function)
    verify(made)
    assert 2 <= len(fences(made)) <= 1 + len(function.body.ops) // limits.SEGMENT_OPERATIONS
    arguments = [np.arange(8.0) / 4, np.asarray(2)]
    for found in (interpret(made, arguments), run(made, arguments)):
        np.testing.assert_allclose(found[0], interpret(function, arguments)[0], rtol=1e-12)
    short = without_stores(limits.SEGMENT_OPERATIONS // 8)
    assert outline_segments(short) is short


@pytest.mark.parametrize("program", [straight, in_arm, in_loop])
@pytest.mark.parametrize("first", [2, -2])
def test_the_same_results(program, first) -> None:
    function = program(2 * limits.OUTLINED_FUSIONS)
    made = outline_segments(function)
    verify(made)
    assert fences(made)
    arguments = [np.arange(8.0) / 4, np.asarray(first)]
    expected = interpret(function, arguments)
    for found in (interpret(made, arguments), run(made, arguments)):
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_short_code_stays_whole() -> None:
    function = straight(limits.OUTLINED_FUSIONS - 3)
    assert outline_segments(function) is function


def test_a_cut_keeps_what_is_used_later_once() -> None:
    function = outline_segments(straight(4 * limits.SEGMENT_FUSIONS))
    calls = [op for op in function.body.ops if isinstance(op.kind, Call)]
    assert len(calls) == kinds(function)[Call] >= 4 - 1
    assert all(len(call.operands) == len(set(call.operands)) <= 3 for call in calls)


def test_the_optimised_program_grows_linearly() -> None:
    """Without cuts three times the code becomes nine times the program."""

    def size(function: Function) -> int:
        return len(re.findall(" = ", optimised(function)))

    small, large = (size(outline_segments(straight(n * limits.OUTLINED_FUSIONS))) for n in (1, 3))
    assert large < 3.75 * small
    assert size(straight(3 * limits.OUTLINED_FUSIONS)) > 2 * large, "XLA needs no cuts any more"
