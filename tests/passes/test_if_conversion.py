"""Branches as straight-line code: which ones, and the same results on either side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pystage.compiler import limits
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.op import HloOp
from pystage.compiler.hlo.types import BOOL, FLOAT64, INT64, ArrayType
from pystage.compiler.hlo.verify import verify
from pystage.compiler.ops import (
    Broadcast,
    Cosine,
    Divide,
    DynamicSlice,
    DynamicUpdateSlice,
    Exponential,
    If,
    Negate,
    Remainder,
    Reshape,
)
from pystage.compiler.passes.if_conversion import if_convert
from pystage.compiler.passes.simplify import simplify

from .programs import INDEX, Code, Values, array, kinds, run

FLAG = ArrayType(BOOL)
NUMBERS = np.arange(8.0)


def _check(function: Function, *arguments: np.ndarray, stays: bool = False, **expected: int) -> None:
    """The same results for either value of the first argument; how many operations of which kind there are."""
    rewritten = if_convert(function)
    verify(rewritten)
    results = []
    for flag in (True, False):
        given = [np.asarray(flag), *arguments]
        results.append(interpret(function, given))
        for a, b in zip(results[-1], interpret(rewritten, given), strict=True):
            np.testing.assert_array_equal(a, b)
    assert any(not np.array_equal(a, b) for a, b in zip(*results)), "the branch makes no difference"
    counted = kinds(simplify(rewritten).function)
    assert bool(counted[If]) == stays
    assert {kind.__name__: n for kind, n in counted.items() if kind.__name__ in expected} == expected


def _branch(types: list[ArrayType], then: Callable[..., Values], orelse: Callable[..., Values]) -> Function:
    """`then(c, *params) if flag else orelse(c, *params)`, of parameters of these types after the flag."""
    c = Code(FLAG, *types)
    flag, *params = c.params
    return c.done(*c.if_(flag, lambda: then(c, *params), lambda: orelse(c, *params)))


def test_cheap_arms_are_selected_from() -> None:
    function = _branch(
        [array(), array()],
        lambda c, x, y: [c.add(x, y), c.mul(x, y), y],
        lambda c, x, y: [c.sub(x, y), x, y],
    )
    _check(simplify(function).function, np.asarray(3.0), np.asarray(4.0), Select=2)


def test_inner_branches_first() -> None:
    def then(c: Code, x: Value) -> Values:
        return c.if_(c.compare("GT", x, 2.0), lambda: [c.add(x, 1)], lambda: [c.mul(x, 3)])

    for x in (1.0, 5.0):
        _check(_branch([array()], then, lambda c, x: [x]), np.asarray(x), Select=2)


def test_a_small_vector_is_selected_whole() -> None:
    small = array(limits.IF_CONVERSION_ELEMENTS)
    _check(
        _branch([small], lambda c, x: [c.add(x, x)], lambda c, x: [x]),
        np.arange(float(limits.IF_CONVERSION_ELEMENTS)),
        Select=1,
    )


def _heavy(c: Code, x: Value) -> Values:
    return c.for_(3, [x], lambda i, x: [c.add(x, x)])


def _unary(kind: HloOp, times: int = 1) -> Callable[[Code, Value], Values]:
    def arm(c: Code, x: Value) -> Values:
        for _ in range(times):
            x = c.b.op(kind, x)
        return [x]

    return arm


def _callee() -> Function:
    c = Code(array())
    return c.done(c.add(c.params[0], 1), name="callee")


CALLEE = _callee()


@pytest.mark.parametrize(
    ("arm", "type"),
    [
        (_heavy, array()),
        (lambda c, x: c.call(CALLEE, x), array()),
        (lambda c, x: [c.b.op(Divide(), x, c.value(3))], array(dtype=INT64)),
        (lambda c, x: [c.b.op(Remainder(), x, c.value(3))], array(dtype=INT64)),
        (_unary(Negate()), array(limits.IF_CONVERSION_ELEMENTS + 1)),
        (
            lambda c, x: [
                c.load(c.b.op(Broadcast((limits.IF_CONVERSION_ELEMENTS + 1,), ()), x), 0),
            ][:1],
            array(),
        ),
        (_unary(Exponential(), 3), array()),
        (lambda c, x: [_sum(c, x, limits.IF_CONVERSION_COST + 1)], array()),
    ],
    ids=["loop", "call", "division", "remainder", "large", "large inside", "exponentials", "many"],
)
def test_what_is_not_computed_in_vain(arm: Callable[..., Values], type: ArrayType) -> None:
    value = np.ones(type.shape, type.dtype) * 7
    function = _branch([type], lambda c, x: [*arm(c, x), c.value(1)], lambda c, x: [x, 2])
    _check(function, value, stays=True)


def _sum(c: Code, x: Value, additions: int) -> Value:
    for _ in range(additions):
        x = c.add(x, 1)
    return x


def test_up_to_the_limit_is_computed_in_vain() -> None:
    function = _branch([array()], lambda c, x: [_sum(c, x, limits.IF_CONVERSION_COST)], lambda c, x: [x])
    _check(function, np.asarray(1.0), Select=1)


def test_both_arms_count() -> None:
    arms = [lambda c, x: [_sum(c, x, limits.IF_CONVERSION_COST)], lambda c, x: [c.mul(x, 2)]]
    _check(_branch([array()], arms[0], arms[1]), np.asarray(1.0), stays=True)


def test_one_exponential_is_cheap() -> None:
    _check(_branch([array()], _unary(Cosine()), lambda c, x: [x]), np.asarray(1.0), Select=1)


@pytest.mark.parametrize("side", [0, 1])
def test_a_store_of_one_arm_stores_the_old_element_else(side: int) -> None:
    arms = [lambda c, x, i: [c.store(x, 9, i)], lambda c, x, i: [x]]
    function = _branch([array(8), INDEX], arms[side], arms[1 - side])
    for i in (2, -4, 11):
        _check(function, NUMBERS, np.asarray(i), DynamicUpdateSlice=1, DynamicSlice=1, Select=1)


def test_a_store_of_each_arm_is_one_store() -> None:
    function = _branch(
        [array(8), INDEX],
        lambda c, x, i: [c.store(x, c.load(x, c.add(i, 1)), i)],
        lambda c, x, i: [c.store(x, 9, c.add(i, 3))],
    )
    _check(function, NUMBERS, np.asarray(2), DynamicUpdateSlice=1, DynamicSlice=1, Select=2)


def test_arms_of_several_stores_walk_in_step() -> None:
    """Loads see the stores before them of their own arm only."""

    def rotate(c: Code, x: Value, y: Value, i: Value) -> Values:
        x = c.store(x, c.load(y, i), i)
        x = c.store(x, c.add(c.load(x, i), c.load(x, c.add(i, 1))), c.add(i, 1))
        return [x, c.store(y, c.load(x, c.add(i, 1)), i), c.load(x, i)]

    def other(c: Code, x: Value, y: Value, i: Value) -> Values:
        y = c.store(y, c.load(x, i), c.add(i, 1))
        return [c.store(x, c.load(y, c.add(i, 1)), 7), y, c.load(y, i)]

    function = _branch([array(8), array(8), INDEX], rotate, other)
    for i in (0, 3, 7):
        _check(function, NUMBERS, NUMBERS * 10, np.asarray(i), DynamicUpdateSlice=4)


def test_stores_of_different_sizes_stay_two() -> None:
    function = _branch(
        [array(4, 2), INDEX],
        lambda c, x, i: [c.store(x, c.load(x, 0), i)],
        lambda c, x, i: [c.store(x, 9, i, 1)],
    )
    _check(function, NUMBERS.reshape(4, 2), np.asarray(2), DynamicUpdateSlice=2)


def test_stores_in_inner_branches() -> None:
    def then(c: Code, x: Value, i: Value) -> Values:
        (x,) = c.if_(c.compare("LT", i, 3), lambda: [c.store(x, 7, i)], lambda: [x])
        return [c.store(x, c.add(c.load(x, i), 1), c.add(i, 1))]

    function = _branch([array(8), INDEX], then, lambda c, x, i: [c.store(x, -1, i)])
    for i in (1, 5):
        _check(function, NUMBERS, np.asarray(i))


def test_a_row_that_is_too_long_to_store_in_vain() -> None:
    function = _branch(
        [array(4, limits.IF_CONVERSION_ELEMENTS + 1), INDEX],
        lambda c, x, i: [c.store(x, c.load(x, 0), i)],
        lambda c, x, i: [x],
    )
    _check(
        function,
        np.arange(4.0 * (limits.IF_CONVERSION_ELEMENTS + 1)).reshape(4, -1),
        np.asarray(2),
        stays=True,
    )


def test_an_array_made_in_an_arm_is_no_array_from_outside() -> None:
    def then(c: Code, x: Value, i: Value) -> Values:
        fresh = c.b.op(Broadcast((3,), ()), x)
        return [c.load(c.store(c.store(fresh, 5, i), 6, c.add(i, 1)), 1)]

    function = _branch([array(), INDEX], then, lambda c, x, i: [x])
    for i in (0, 1):
        _check(function, np.asarray(4.0), np.asarray(i), Select=1)


def test_a_store_through_a_reshape() -> None:
    def then(c: Code, a: Value, i: Value) -> Values:
        flat = c.b.op(Reshape((8,)), a)
        flat = c.store(flat, c.add(c.load(flat, i), 10), i)
        return [c.b.op(Reshape((2, 4)), flat), c.load(flat, i)]

    def otherwise(c: Code, a: Value, i: Value) -> Values:
        a = c.store(a, 9, 1, i)
        return [a, c.load(a, 1, i)]

    function = _branch([array(2, 4), INDEX], then, otherwise)
    for i in (0, 3, 6):
        _check(function, NUMBERS.reshape(2, 4), np.asarray(i), DynamicUpdateSlice=2)


def test_a_load_of_the_array_from_before_the_store_stays() -> None:
    """The old array is wanted after the store: no order of loads and stores serves that in place."""

    def then(c: Code, x: Value, i: Value) -> Values:
        stored = c.store(x, 9, i)
        return [stored, c.load(x, i)]

    function = _branch([array(8), INDEX], then, lambda c, x, i: [x, c.load(x, 0)])
    _check(function, NUMBERS, np.asarray(2), stays=True)


def test_an_array_that_only_one_arm_replaces_stays() -> None:
    function = _branch([array(99), array(99)], lambda c, x, y: [c.store(x, 9, 2)], lambda c, x, y: [y])
    _check(function, np.arange(99.0), np.zeros(99), stays=True)


def test_small_arrays_are_stored_into_and_selected() -> None:
    function = _branch([array(3), array(3)], lambda c, x, y: [c.store(x, 9, 2)], lambda c, x, y: [y])
    _check(function, np.arange(3.0), np.zeros(3))


def test_branches_in_loops_and_callees() -> None:
    c = Code(array(8), FLAG)
    x, flag = c.params
    callee = _branch([array()], lambda c, x: [c.add(x, 1)], lambda c, x: [x])

    def body(i: Value, x: Value) -> Values:
        (x,) = c.if_(flag, lambda: [c.store(x, *c.call(callee, flag, c.load(x, i)), i)], lambda: [x])
        (y,) = c.call(callee, flag, c.load(x, 0))
        return c.if_(c.compare("LT", i, 3), lambda: [c.store(x, y, i)], lambda: [x])

    function = c.done(*c.for_(5, [x], body))
    rewritten = if_convert(function)
    verify(rewritten)
    assert kinds(rewritten)[If] == 1  # the arm that calls
    for given in (True, False):
        arguments = [NUMBERS, np.asarray(given)]
        np.testing.assert_array_equal(interpret(function, arguments)[0], interpret(rewritten, arguments)[0])
        np.testing.assert_array_equal(interpret(function, arguments)[0], run(rewritten, arguments)[0])


def test_the_program_that_came_in_is_left_as_it_is() -> None:
    function = _branch([array(8), INDEX], lambda c, x, i: [c.store(x, 9, i)], lambda c, x, i: [x])
    before = kinds(function)
    if_convert(function)
    verify(function)
    assert kinds(function) == before
    assert (before[If], before[DynamicUpdateSlice], before[DynamicSlice]) == (1, 1, 0)
    assert function.result_types == (array(8, dtype=FLOAT64),)


def _selected(versions: Callable[[Code, Value, Value], tuple[Values, Values]]) -> Function:
    """`versions` before the branch: what each arm gives."""
    c = Code(FLAG, array(64), INDEX)
    flag, x, i = c.params
    then, orelse = versions(c, x, i)
    return c.done(*c.if_(flag, lambda: list(then), lambda: list(orelse)))


def test_a_store_before_the_branch_is_one_of_the_arm_that_takes_it() -> None:
    def both(c: Code, x: Value, i: Value) -> tuple[Values, Values]:
        first = c.store(x, 5, i)
        return [x], [c.store(first, 6, c.add(i, 1))]

    given = np.arange(64.0), np.asarray(3)
    _check(_selected(lambda c, x, i: ([x], [c.store(x, 5, i)])), *given, DynamicUpdateSlice=1, Select=1)
    _check(_selected(lambda c, x, i: ([c.store(x, 5, i)], [c.store(x, 6, i)])), *given, DynamicUpdateSlice=1)
    _check(_selected(both), *given, DynamicUpdateSlice=2, Select=2)


def test_branches_between_the_versions_of_an_array() -> None:
    def versions(c: Code, x: Value, i: Value) -> tuple[Values, Values]:
        first = c.store(x, 5, i)
        second = c.store(first, 6, c.add(i, 1))
        return [x], c.if_(c.compare("LT", i, 7), lambda: [first], lambda: [second])

    for i in (3, 9):
        _check(_selected(versions), np.arange(64.0), np.asarray(i), DynamicUpdateSlice=2)


def test_a_store_that_is_used_elsewhere_stays_before_the_branch() -> None:
    def versions(c: Code, x: Value, i: Value) -> tuple[Values, Values]:
        stored = c.store(x, 5, i)
        return [x, c.load(x, i)], [stored, c.load(stored, c.add(i, 1))]

    _check(_selected(versions), np.arange(64.0), np.asarray(3), stays=True)
