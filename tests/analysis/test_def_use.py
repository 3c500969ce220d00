"""Users of values, counts of uses, captured values and last uses, through inner regions."""

from __future__ import annotations

import numpy as np

from pystage.compiler.analysis.def_use import DefUse, captured, last_uses, outer_users, used_by, used_in
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Op, Region, Value
from pystage.compiler.hlo.types import BOOL, FLOAT64, ArrayType
from pystage.compiler.ops import Add, Constant, If, Multiply, Negate

NUMBER, FLAG = ArrayType(FLOAT64), ArrayType(BOOL)


def _branch() -> tuple[Region, list[Value], list[Op]]:
    """`x * x`, and in one arm of a branch its sum with `x`, in the other a constant."""
    body = Region((FLAG, NUMBER))
    flag, x = body.params
    b = Builder(body)
    square = b.op(Multiply(), x, x)
    then, orelse = Region(), Region()
    with b.region(then):
        then.results = (b.op(Add(), square, x),)
    with b.region(orelse):
        orelse.results = (b.op(Constant(np.asarray(0.0))),)
    chosen = b.apply(If(), (flag,), (then, orelse)).results[0]
    body.results = (b.op(Negate(), chosen), square)
    return body, [flag, x, square, chosen], list(body.ops)


def test_users_are_operations_of_inner_regions_too_and_regions_that_give_a_value() -> None:
    body, (flag, x, square, chosen), (multiply, branch, negate) = _branch()
    uses = DefUse(body)
    add = branch.regions[0].ops[0]
    assert uses.users(x) == [multiply, multiply, add]
    assert uses.users(square) == [add, body]
    assert uses.users(add.results[0]) == [branch.regions[0]]
    assert (uses.count(flag), uses.count(chosen), uses.count(negate.results[0])) == (1, 1, 1)
    assert Value(NUMBER, body, 0) not in uses and uses.count(Value(NUMBER, body, 0)) == 0


def test_the_outer_user_is_the_operation_that_holds_the_region() -> None:
    body, (_, x, square, _), (multiply, branch, _) = _branch()
    users = outer_users(body)
    assert users[x] == [multiply, branch]
    assert users[square] == [branch]


def test_used_values_come_with_those_of_inner_regions_and_results() -> None:
    body, (flag, x, square, chosen), (multiply, branch, _) = _branch()
    assert list(used_by(multiply)) == [x, x]
    sum_, zero = (region.results[0] for region in branch.regions)
    assert list(used_by(branch)) == [flag, square, x, sum_, zero]
    assert list(used_in(body))[-2:] == list(body.results)
    assert set(used_in(body)) >= {flag, x, square, chosen}


def test_captured_values_are_those_from_outside() -> None:
    body, (_, x, square, _), (_, branch, _) = _branch()
    assert captured(*branch.regions) == [square, x]
    assert captured(branch.regions[1]) == []
    assert captured(body) == []


def test_the_last_use_of_a_result_is_the_end() -> None:
    body, (flag, x, square, chosen), _ = _branch()
    last = last_uses(body)
    assert (last[flag], last[x], last[chosen], last[square]) == (1, 1, 2, 3)
