"""Simplified programs compute the same as the programs they come from, with fewer operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Op, Region, Value
from pystage.compiler.hlo.types import INT32, ArrayType
from pystage.compiler.hlo.verify import verify
from pystage.compiler.hlo.walk import functions
from pystage.compiler.ops import (
    Add,
    Call,
    Compare,
    Constant,
    If,
    Multiply,
    Negate,
    Pad,
    Reshape,
    Subtract,
    While,
)
from pystage.compiler.ops.foreign.custom_call import CustomCall
from pystage.compiler.passes.simplify import simplify

SCALAR = ArrayType(INT32)
ARGUMENTS = tuple([np.array(i, INT32) for i in (5, 3, 7, 2)])

Build = Callable[[Builder, Sequence[Value]], Sequence[Value]]


def function(build: Build, params: int = 4, name: str = "f", fence: bool = False) -> Function:
    """A function of int32 scalars."""
    body = Region((SCALAR,) * params)
    body.results = tuple(build(Builder(body), body.params))
    return Function(name, body, fence=fence)


def constant(b: Builder, value: int) -> Value:
    """An int32 constant."""
    return b.op(Constant(np.array(value, INT32)))


def while_loop(b: Builder, initial: Sequence[Value], test: Build, step: Build) -> Op:
    """A loop over these values."""
    types = tuple([v.type for v in initial])
    condition, body = Region(types), Region(types)
    with b.region(condition):
        condition.results = tuple(test(b, condition.params))
    with b.region(body):
        body.results = tuple(step(b, body.params))
    return b.apply(While(), initial, (condition, body))


def if_else(b: Builder, condition: Value, then: Build, orelse: Build) -> Op:
    """A branch whose arms take nothing."""
    arms = []
    for build in (then, orelse):
        arm = Region()
        with b.region(arm):
            arm.results = tuple(build(b, ()))
        arms.append(arm)
    return b.apply(If(), (condition,), arms)


def simplified(f: Function) -> tuple[Function, Counter[str]]:
    """The simplified function, checked against the original, and the opcodes of the whole program."""
    made = simplify(f)
    verify(made.function)
    given = ARGUMENTS[: len(f.body.params)]
    kept = [given[i] for i in made.kept]
    for expected, got in zip(interpret(f, given), interpret(made.function, kept), strict=True):
        np.testing.assert_array_equal(got, expected)
    found = Counter(op.kind.opcode for g in functions(made.function) for op in g.body.walk())
    return made.function, found


def test_operations_that_nothing_uses_go() -> None:
    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        b.op(Multiply(), p[0], p[1])
        return [b.op(Add(), p[0], p[1])]

    _, found = simplified(function(build))
    assert found == {"add": 1}


def test_what_must_run_stays_with_what_holds_it() -> None:
    effect = CustomCall("effect", (), has_side_effect=True)

    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        def then(b: Builder, _: Sequence[Value]) -> Sequence[Value]:
            b.apply(effect, (b.op(Negate(), p[1]),))
            return [p[0]]

        if_else(b, b.op(Compare("LT"), p[0], p[1]), then, lambda b, _: [b.op(Negate(), p[0])])
        return [p[2]]

    made = simplify(function(build))
    assert [op.kind.opcode for op in made.function.body.walk()] == ["compare", "if", "negate", "custom_call"]
    assert made.kept == (0, 1, 2)


def test_an_impure_callee_is_called_though_nobody_uses_its_result() -> None:
    effect = CustomCall("effect", (SCALAR,), has_side_effect=True)
    callee = function(lambda b, p: b.apply(effect, p).results, 1, "effectful")

    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        b.op(Call(callee), p[0])
        b.op(Call(callee), p[1])
        return [p[2]]

    made = simplify(function(build))
    assert Counter(op.kind.opcode for op in made.function.body.walk()) == {"func.call": 2}


@pytest.mark.parametrize("same", [True, False])
def test_common_operations_are_made_once_where_they_are_visible(same: bool) -> None:
    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        inner = function(lambda b, q: [b.op(Add(), q[0], q[1])], 2, "inner")
        first = b.op(Add(), p[0], p[1])
        again = b.op(Call(inner), p[0], p[1] if same else p[2])
        return [b.op(Multiply(), first, again)]

    _, found = simplified(function(build))
    assert found == {"add": 1 if same else 2, "multiply": 1}


def test_operations_of_one_arm_are_not_those_of_the_other() -> None:
    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        def then(b: Builder, _: Sequence[Value]) -> Sequence[Value]:
            return [b.op(Negate(), p[1])]

        def orelse(b: Builder, _: Sequence[Value]) -> Sequence[Value]:
            return [b.op(Add(), b.op(Negate(), p[1]), p[0])]

        return if_else(b, b.op(Compare("LT"), p[0], p[1]), then, orelse).results

    _, found = simplified(function(build))
    assert found == {"compare": 1, "if": 1, "negate": 2, "add": 1}


def test_loops_carry_only_what_changes_and_is_used() -> None:
    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        def test(b: Builder, c: Sequence[Value]) -> Sequence[Value]:
            return [b.op(Compare("LT"), c[0], c[1])]

        def step(b: Builder, c: Sequence[Value]) -> Sequence[Value]:
            # The limit is carried unchanged, the fourth for nobody.
            return [b.op(Add(), c[0], constant(b, 1)), c[1], b.op(Add(), c[2], c[1]), b.op(Negate(), c[3])]

        loop = while_loop(b, (constant(b, 0), p[0], p[1], p[2]), test, step)
        return [loop.results[2], loop.results[1]]

    made, found = simplified(function(build))
    (loop,) = [op for op in made.body.walk() if op.kind.opcode == "while"]
    assert len(loop.operands) == 2
    assert found == {"constant": 2, "while": 1, "compare": 1, "add": 2}
    assert len(made.body.params) == 2


def test_a_value_that_an_inner_loop_carries_unchanged_is_one_for_the_outer_loop_too() -> None:
    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        def test(b: Builder, c: Sequence[Value]) -> Sequence[Value]:
            return [b.op(Compare("LT"), c[0], p[0])]

        def step(b: Builder, c: Sequence[Value]) -> Sequence[Value]:
            inner = while_loop(
                b,
                (constant(b, 0), c[1]),
                lambda b, d: [b.op(Compare("LT"), d[0], p[1])],
                lambda b, d: [b.op(Add(), d[0], d[1]), d[1]],
            )
            return [b.op(Add(), c[0], inner.results[0]), inner.results[1]]

        return while_loop(b, (p[2], p[3]), test, step).results

    made, _ = simplified(function(build))
    assert [len(op.operands) for op in made.body.walk() if op.kind.opcode == "while"] == [1, 1]
    assert made.body.results[1] is made.body.params[3]


def test_a_result_that_both_arms_pass_through_is_no_result_of_the_branch() -> None:
    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        branch = if_else(
            b,
            b.op(Compare("LT"), p[0], p[1]),
            lambda b, _: [p[2], b.op(Negate(), p[2])],
            lambda b, _: [p[2], b.op(Add(), p[2], p[1])],
        )
        return branch.results

    made, _ = simplified(function(build))
    (branch,) = [op for op in made.body.walk() if op.kind.opcode == "if"]
    assert len(branch.results) == 1


def test_callees_of_one_call_are_inlined_through_each_other_and_others_are_not() -> None:
    inner = function(lambda b, p: [b.op(Subtract(), p[0], p[1])], 2, "inner")
    middle = function(lambda b, p: [b.op(Call(inner), p[1], p[0]), p[0]], 2, "middle")
    twice = function(lambda b, p: [b.op(Negate(), p[1])], 3, "twice")

    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        difference, same = b.ops(Call(middle), p[0], p[1])
        first = b.op(Call(twice), difference, p[2], p[3])
        return [b.op(Call(twice), first, b.op(Add(), same, first), p[3])]

    made, found = simplified(function(build))
    assert found == {"func.call": 2, "negate": 1, "add": 1}
    calls = [op for op in made.body.ops if isinstance(op.kind, Call)]
    assert calls[0].kind.function is calls[1].kind.function  # type: ignore[attr-defined]
    assert [len(c.operands) for c in calls] == [1, 1]


def test_a_fence_stays_a_call() -> None:
    load = function(lambda b, p: [b.op(Negate(), p[0]), p[0]], 1, "load", fence=True)
    f = function(lambda b, p: [b.op(Add(), *b.ops(Call(load), p[0]))], 1)
    made, found = simplified(f)
    assert found == {"func.call": 1, "negate": 1, "add": 1}
    (call,) = [op for op in made.body.ops if isinstance(op.kind, Call)]
    assert call.kind.function.fence  # type: ignore[attr-defined]
    # The array goes through the fence: it is not the parameter any more.
    assert made.body.ops[-1].operands[1] is call.results[1]


def test_the_program_that_came_in_is_left_as_it_is() -> None:
    callee = function(lambda b, p: [b.op(Negate(), p[0])], 1, "callee")
    f = function(lambda b, p: [b.op(Call(callee), p[0])], 2)
    before = [(op.kind, op.operands) for g in functions(f) for op in g.body.walk()]
    simplify(f)
    assert [(op.kind, op.operands) for g in functions(f) for op in g.body.walk()] == before
    assert len(f.body.params) == 2


def test_memory_that_is_stored_into_is_not_shared() -> None:
    def build(b: Builder, p: Sequence[Value]) -> Sequence[Value]:
        row, zero = b.op(Reshape((1,)), p[0]), constant(b, 0)
        return [b.op(Pad((0,), (3,), (0,), loose), row, zero) for loose in (True, True, False, False)]

    f = function(build, 1)
    assert len(set(f.body.results)) == 3
    made, found = simplified(f)
    assert found["pad"] == 3
    assert made.body.results[0] is not made.body.results[1]
