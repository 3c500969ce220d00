"""Callees and purity, through regions and calls."""

from __future__ import annotations

from typing import ClassVar

import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.op import HloOp
from pystage.compiler.hlo.types import ArrayType
from pystage.compiler.hlo.walk import callees, functions, is_pure
from pystage.compiler.ops import Call

from .programs import VECTOR, branch, branch_body, loop, square


class Announce(HloOp):
    """Has an effect. Without an opcode, so that no test of all operations finds it."""

    pure: ClassVar[bool] = False

    def infer(self, *operands: ArrayType) -> ArrayType:
        return operands[0]


def caller(*called: Function) -> Function:
    """A function that applies others in turn."""
    body = Region((VECTOR,))
    b = Builder(body)
    value = body.params[0]
    for function in called:
        value = b.op(Call(function), value)
    body.results = (value,)
    return Function("caller", body)


def announcing() -> Function:
    body = Region((VECTOR,))
    body.results = (Builder(body).op(Announce(), body.params[0]),)
    return Function("announcing", body)


def test_functions_are_listed_once_callers_first() -> None:
    inner = square()
    middle = caller(inner, inner)
    outer = caller(inner, middle)
    assert functions(outer) == [outer, inner, middle]
    assert callees(outer.body.ops[0]) == (inner,)
    assert callees(inner.body.ops[0]) == ()


def test_calls_inside_regions_count() -> None:
    assert [f.name for f in functions(branch())] == ["branch", "square"]


@pytest.mark.parametrize("program", [branch(), loop(), caller(square())], ids=lambda f: f.name)
def test_pure_operations(program: Function) -> None:
    assert all(is_pure(op) for op in program.body.ops)


def test_an_effect_is_seen_through_regions_and_calls() -> None:
    assert not is_pure(announcing().body.ops[0])
    assert not is_pure(caller(caller(announcing())).body.ops[0])
    body = branch_body()
    conditional = body.ops[2]
    Builder(conditional.regions[1]).op(Announce(), body.params[0])
    assert not is_pure(conditional)
    assert is_pure(body.ops[0])


def test_an_effect_is_seen_through_a_call_in_a_region() -> None:
    body = branch_body()
    conditional = body.ops[2]
    Builder(conditional.regions[1]).op(Call(announcing()), body.params[0])
    assert not is_pure(conditional)


def test_purity_of_a_chain_of_calls_takes_linear_time() -> None:
    function = square()
    for _ in range(40):
        function = caller(function, function)
    assert is_pure(function.body.ops[0])
