"""Scopes agree with CPython's own symbol table, on this package and the standard library."""

from __future__ import annotations

import inspect
import random
import statistics
import textwrap
import types

import pytest

from pystage.compiler.frontend import FrontendError, build_match, jumps, scope, stage_function
from pystage.compiler.stage import ir


def functions_of(module) -> list[types.FunctionType]:
    found = []
    for value in vars(module).values():
        members = vars(value).values() if inspect.isclass(value) else [value]
        found += [m for m in members if isinstance(m, types.FunctionType) and m.__module__ == module.__name__]
    return found


@pytest.mark.parametrize(
    "module", [statistics, textwrap, random, build_match, jumps, scope], ids=lambda m: m.__name__
)
def test_cells_and_free_variables_are_those_of_the_code_object(module):
    compared = 0
    for function in functions_of(module):
        code = function.__code__
        if code.co_filename != module.__file__:  # wrapped by a decorator, or written by `dataclass`
            continue
        try:
            staged = stage_function(function)
        except FrontendError as error:
            assert all(
                d.code.startswith("PS1") and d.code not in ("PS103", "PS199") for d in error.diagnostics
            )
            continue
        compared += 1
        comprehension = any(
            c.co_name in ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>") for c in codes(code)
        )
        inlined = {name.partition(".")[0] for name in staged.locals if "." in name}  # PEP 709
        assert staged.free == set(code.co_freevars), function
        assert tuple(staged.params.names()) == code.co_varnames[: sum(1 for _ in staged.params.names())]
        if not comprehension:  # Python 3.11 has a frame for them, 3.12 and the stage IR do not
            assert staged.cells == set(code.co_cellvars), function
            named = {name for name in staged.locals if "." not in name}
            variables = set(code.co_varnames) - set(code.co_cellvars)
            assert named <= variables and variables - named <= inlined, function
    assert compared > 2


def codes(code: types.CodeType):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes(constant)


def test_captured_comprehension_stays_a_function():
    def captured(n):
        return [lambda: i for i in range(n)], [i for i in range(n)]

    staged = stage_function(captured)
    assert [f.name for f in staged.nested] == ["<listcomp>"]
    assert staged.nested[0].cells == {"i"}
    assert len([i for i in staged.body if isinstance(i, ir.For)]) == 1
