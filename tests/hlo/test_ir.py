"""What belongs to a function is immutable; regions and operations that do not are open."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.rewrite import Copier, with_params
from pystage.compiler.hlo.types import INT32, ArrayType
from pystage.compiler.hlo.verify import verify
from pystage.compiler.ops import Negate

from .programs import VECTOR, branch, branch_body


def _change_results(body: Region) -> None:
    body.results = ()


def _change_inner_results(body: Region) -> None:
    body.ops[2].regions[1].results = ()


def _build_in_arm(body: Region) -> None:
    Builder(body.ops[2].regions[0]).op(Negate(), body.params[0])


def _add_param(body: Region) -> None:
    body.add_param(VECTOR)


def _change_operands(body: Region) -> None:
    body.ops[2].operands = (body.params[1],)


def _change_inner_kind(body: Region) -> None:
    body.ops[2].regions[0].ops[1].kind = Negate()


def _remove_operation(body: Region) -> None:
    body.ops.pop()


@pytest.mark.parametrize(
    "change",
    [
        _change_results,
        _change_inner_results,
        _build_in_arm,
        _add_param,
        _change_operands,
        _change_inner_kind,
        _remove_operation,
    ],
)
def test_a_function_is_immutable_and_a_region_that_belongs_to_none_is_open(
    change: Callable[[Region], None],
) -> None:
    change(branch_body())
    with pytest.raises(AttributeError):
        change(branch().body)


def test_further_parameters_make_another_function() -> None:
    function = branch()
    made = with_params(function, [ArrayType(INT32)])
    verify(made)
    assert made.param_types == (*function.param_types, ArrayType(INT32))
    assert made.result_types == function.result_types
    assert len(function.param_types) == 2


def test_a_copy_shares_its_callees_and_is_open() -> None:
    function = branch()
    copier, body = Copier(), Region(function.param_types)
    with copier.b.isolated(body):
        copier.fill(function.body, body)
    assert body.ops[2].regions[0].ops[0].kind is function.body.ops[2].regions[0].ops[0].kind
    body.results = (body.params[0],)
    verify(Function("first", body))
