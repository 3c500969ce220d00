"""Loops that store through a view carry the view: the same results, and nothing turned round in the loop."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region, Value
from pystage.compiler.hlo.op import HloOp
from pystage.compiler.hlo.verify import verify
from pystage.compiler.ops import Reshape, Reverse, Transpose, While
from pystage.compiler.passes.simplify import simplify
from pystage.compiler.passes.store_forwarding import forward_stores
from pystage.compiler.passes.view_hoisting import hoist_views

from .programs import INDEX, Code, Values, array, kinds, optimised, passes, run, whole_arrays

ROWS, COLUMNS = 20, 50
SIZE = ROWS * COLUMNS
FLAT = (Reshape((SIZE,)), Reshape((ROWS, COLUMNS)))
TURNED = (Transpose((1, 0)), Transpose((1, 0)))
FLIPPED = (Reverse((0, 1)), Reverse((0, 1)))
VIEWS = [FLAT, TURNED, FLIPPED]
ARGUMENTS = [np.arange(float(SIZE)).reshape(ROWS, COLUMNS), np.asarray(7)]


def _step(c: Code, a: Value, i: Value, view: tuple[HloOp, HloOp]) -> Value:
    """Two stores into `view` of `a`, as inference builds them: each begins from the whole array."""
    there, back = view
    for k in range(2):
        seen = c.b.op(there, a)
        rest = [c.value(3)] * (seen.type.rank - 1)
        value = c.add(c.load(seen, i, *rest), c.load(seen, c.add(i, 1), *rest))
        a = c.b.op(back, c.store(seen, value, c.add(i, k), *rest))
    return a


def _nested(view: tuple[HloOp, HloOp]) -> Function:
    c = Code(array(ROWS, COLUMNS), INDEX)

    def outer(_: Value, a: Value) -> Values:
        return c.for_(c.params[1], [a], lambda i, a: [_step(c, a, i, view)])

    return c.done(*c.for_(2, [c.params[0]], outer))


def _in_loops(function: Function, views: tuple[type[HloOp], ...]) -> int:
    """How many views of whole arrays stand in loops."""

    def within(region: Region, inside: bool) -> int:
        count = 0
        for op in region.ops:
            count += inside and isinstance(op.kind, views) and op.results[0].type.size == SIZE
            count += sum(within(r, inside or isinstance(op.kind, While)) for r in op.regions)
        return count

    return within(function.body, False)


def _same(function: Function, rewritten: Function) -> None:
    expected = interpret(function, ARGUMENTS)
    for found in (interpret(rewritten, ARGUMENTS), run(rewritten, ARGUMENTS)):
        np.testing.assert_array_equal(expected[0], found[0])
    assert not np.array_equal(expected[0], ARGUMENTS[0])


@pytest.mark.parametrize("view", VIEWS, ids=["reshape", "transpose", "reverse"])
def test_nested_loops_carry_the_view(view: tuple[HloOp, HloOp]) -> None:
    function = simplify(_nested(view)).function
    cancelled = simplify(forward_stores(function)).function
    assert _in_loops(cancelled, (type(view[0]),)) == 2
    carried = simplify(hoist_views(cancelled)).function
    verify(carried)
    assert _in_loops(carried, (type(view[0]),)) == 0
    assert kinds(carried)[type(view[0])] >= 2
    _same(function, carried)


@pytest.mark.parametrize("view", VIEWS, ids=["reshape", "transpose", "reverse"])
def test_nothing_whole_is_written_in_the_loop(view: tuple[HloOp, HloOp]) -> None:
    function = _nested(view)
    rewritten = passes(function)
    assert whole_arrays(optimised(rewritten), SIZE) == []
    _same(function, rewritten)
    assert whole_arrays(optimised(simplify(function).function), SIZE)


def test_the_condition_sees_the_view_too() -> None:
    c = Code(array(ROWS, COLUMNS), INDEX)
    there, back = TURNED

    def body(i: Value, a: Value) -> Values:
        return [c.add(i, 1), c.b.op(back, c.store(c.b.op(there, a), 1, i, 0))]

    def more(i: Value, a: Value) -> Value:
        return c.compare("LT", c.load(c.b.op(there, a), i, 0), c.value(20, a.type.dtype))

    function = c.done(c.while_([c.params[1], c.params[0]], more, body)[1])
    carried = simplify(hoist_views(function)).function
    verify(carried)
    assert _in_loops(carried, (Transpose,)) == 0
    _same(function, carried)


@pytest.mark.parametrize("crossed", [False, True])
def test_arrays_that_each_trip_turns_round_stay(crossed: bool) -> None:
    """`a, b = a[::-1], b[::-1]`, and `a, b = b[::-1], a[::-1]`."""
    c = Code(array(ROWS, COLUMNS), INDEX)

    def body(_: Value, *arrays: Value) -> Values:
        turned = [c.b.op(FLIPPED[0], a) for a in arrays]
        return turned[::-1] if crossed else turned

    started = [c.params[0], c.add(c.params[0], c.params[0])]
    function = simplify(c.done(*c.for_(c.params[1], started, body))).function
    assert hoist_views(function) is function


def test_an_array_that_is_used_as_itself_too_stays() -> None:
    c = Code(array(ROWS, COLUMNS), INDEX)

    def body(i: Value, total: Value, a: Value) -> Values:
        return [c.add(total, c.load(a, i, 0)), _step(c, a, i, TURNED)]

    function = c.done(*c.for_(c.params[1], [c.value(0, c.params[0].type.dtype), c.params[0]], body)[::-1])
    assert hoist_views(function) is function


def test_an_array_that_another_view_gives_stays() -> None:
    """A square matrix that each trip turns round: what comes out is not what went in."""
    c = Code(array(8, 8), INDEX)

    def body(i: Value, a: Value) -> Values:
        return [c.store(c.b.op(Transpose((1, 0)), a), 5, i, 1)]

    function = c.done(*c.for_(c.params[1], [c.params[0]], body))
    assert hoist_views(function) is function


@pytest.mark.parametrize(
    ("first", "second", "cancels"),
    [
        (Reshape((6, 2)), Reshape((3, 4)), True),
        (Reshape((6, 2)), Reshape((12,)), False),
        (Transpose((1, 0)), Transpose((1, 0)), True),
        (Transpose((1, 0)), Transpose((0, 1)), False),
        (Reverse((0,)), Reverse((0,)), True),
        (Reverse((0,)), Reverse((1,)), False),
    ],
)
def test_a_view_that_turns_back_another_one(first: HloOp, second: HloOp, cancels: bool) -> None:
    c = Code(array(3, 4))
    (x,) = c.params
    viewed = c.b.op(second, c.b.op(first, x))
    function = c.done(c.add(viewed, viewed))
    rewritten = simplify(forward_stores(function)).function
    assert kinds(rewritten)[type(first)] == (0 if cancels else 2)
    numbers = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(interpret(function, [numbers])[0], interpret(rewritten, [numbers])[0])


def test_axes_in_a_cycle_turn_back_by_the_inverse_only() -> None:
    c = Code(array(2, 3, 4))
    cycled = c.b.op(Transpose((1, 2, 0)), c.params[0])
    back, further = c.b.op(Transpose((2, 0, 1)), cycled), c.b.op(Transpose((1, 2, 0)), cycled)
    rewritten = forward_stores(c.done(back, further))
    assert rewritten.body.results[0] is rewritten.body.params[0]
    assert rewritten.result_types == (array(2, 3, 4), array(4, 2, 3))
