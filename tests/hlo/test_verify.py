"""The verifier accepts what the builder makes, and finds each way to break it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Op, Region, Value
from pystage.compiler.hlo.types import FLOAT64, INT32, ArrayType
from pystage.compiler.hlo.verify import VerifyError, verify
from pystage.compiler.ops import Add, Call, If, Negate

from .programs import VECTOR, branch, branch_body, loop, square, square_body


@pytest.mark.parametrize("program", [square, branch, loop])
def test_what_the_builder_makes_is_well_formed(program: Callable[[], Function]) -> None:
    verify(program())


def use_before_definition(body: Region) -> None:
    body.ops.reverse()


def use_of_an_inner_value(body: Region) -> None:
    body.results = body.ops[2].regions[0].results


def use_of_another_functions_value(body: Region) -> None:
    body.ops.append(Op(Negate(), (square().body.params[0],), (VECTOR,), (), None))


def wrong_result_type(body: Region) -> None:
    body.ops.append(Op(Negate(), (body.params[0],), (ArrayType(FLOAT64, (4,)),), (), None))


def operands_that_do_not_fit(body: Region) -> None:
    body.ops.append(Op(Add(), tuple(body.params), (VECTOR,), (), None))


def missing_region(body: Region) -> None:
    branch = body.ops[2]
    body.ops[2] = Op(If(), branch.operands, (VECTOR,), branch.regions[:1], branch.span)
    body.results = body.ops[2].results


def region_twice(body: Region) -> None:
    branch = body.ops[2]
    body.ops[2] = Op(If(), branch.operands, (VECTOR,), branch.regions[:1] * 2, branch.span)
    body.results = body.ops[2].results


def op_twice(body: Region) -> None:
    body.ops.append(body.ops[0])


def other_branch_types(body: Region) -> None:
    body.ops[2].regions[1].results = (body.params[1],)


def stolen_result(body: Region) -> None:
    body.ops[0].results = (Value(ArrayType(INT32), body.ops[1], 0),)


def stolen_param(body: Region) -> None:
    body.params[0] = Value(VECTOR, Region(), 0)


def broken_callee(body: Region) -> None:
    inner = square_body()
    inner.results = (body.params[0],)
    body.ops.append(Op(Call(Function("square", inner)), (body.params[0],), (VECTOR,), (), None))


PLACE = " at /home/user/model.py:{}:5"


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (
            use_before_definition,
            "if in branch" + PLACE.format(13) + ": operand 0, pred[], is not visible here",
        ),
        (use_of_an_inner_value, "result 0 of the body of branch, f32[4], is not visible at its end"),
        (use_of_another_functions_value, "negate in branch: operand 0, f32[4], is not visible here"),
        (wrong_result_type, "negate in branch has results (f64[4]), not (f32[4])"),
        (
            operands_that_do_not_fit,
            "add in branch: add takes operands of one element type, not f32[4] and s32[]",
        ),
        (missing_region, "if in branch" + PLACE.format(13) + " has 1 regions, not 2"),
        (region_twice, "region 1 of if in branch" + PLACE.format(13) + " stands at two places"),
        (op_twice, "constant in branch" + PLACE.format(12) + " stands at two places"),
        (other_branch_types, "the branches of if give f32[4] and s32[]"),
        (stolen_result, "result 0 of constant in branch" + PLACE.format(12) + " belongs to something else"),
        (stolen_param, "parameter 0 of the body of branch belongs to something else"),
        (broken_callee, "result 0 of the body of square, f32[4], is not visible at its end"),
    ],
)
def test_damage_is_found(damage: Callable[[Region], None], text: str) -> None:
    body = branch_body()
    damage(body)
    with pytest.raises(VerifyError, match=re.escape(text)):
        verify(Function("branch", body))


def test_a_branch_does_not_see_the_other() -> None:
    body = branch_body()
    _, then_op = body.ops[2].regions[0].ops
    body.ops[2].regions[1].results = then_op.results
    with pytest.raises(VerifyError, match="result 0 of region 1 of if"):
        verify(Function("branch", body))


def test_what_was_built_in_a_region_is_not_shared_outside() -> None:
    body = branch_body()
    body.results = (Builder(body).op(Negate(), body.params[0]),)
    verify(Function("branch", body))
