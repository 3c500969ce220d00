"""How stage IR prints, and that every instruction can."""

from __future__ import annotations

import inspect

from pystage.compiler.frontend import FrontendError, stage_function
from pystage.compiler.stage import ir
from pystage.compiler.stage.printer import print_function
from pystage.compiler.stage.walk import walk

from . import test_expressions, test_functions, test_jumps, test_match, test_statements


def halve(x, *ns, scale=2):
    for n in ns:
        if x[n] > scale:
            break
        x[n] /= scale
    return x, scale


def test_a_small_function():
    first = inspect.getsourcelines(halve)[1]
    lines = [line.rstrip() for line in print_function(stage_function(halve)).splitlines()]
    assert lines[0].split() == ["def", "halve(x,", "*ns,", "scale):", "#", f"test_printer.py:{first}"]
    code = [line.partition("#")[0].strip() for line in lines[1:]]
    notes = [int(line.partition("#")[2]) - first for line in lines[1:] if "#" in line]
    assert code == [
        "%1 = ns",
        "%j1 = False",
        ".break1 = %j1",
        "for %2 in %1 until .break1:",
        "n = %2",
        "%3 = x",
        "%4 = n",
        "%5 = %3[%4]",
        "%6 = scale",
        "%7 = %5 > %6",
        "if %7:",
        "%j2 = True",
        ".break1 = %j2",
        "else:",
        "%10 = x",
        "%11 = n",
        "%8 = %10[%11]",
        "%12 = scale",
        "%9 = %8 / %12 in place",
        "%10[%11] = %9",
        "%13 = x",
        "%14 = scale",
        "%15 = (%13, %14)",
        "return %15",
    ]
    assert notes == [1, 2, 3, 4, 5]


def managed(manager, n):
    while n:
        with manager:
            n -= 1


def with_else(xs):
    for x in xs:
        for k in range(3):
            if k == x:
                break
        else:
            yield x


def test_everything_prints():
    """All programs of the other test modules, whose functions together use every instruction."""
    seen: set[type] = set()

    def visit(function: ir.Function) -> None:
        seen.update(map(type, walk(function.body)))
        for nested in function.nested:
            visit(nested)

    for module in (test_expressions, test_functions, test_jumps, test_match, test_statements):
        for value in [*vars(module).values(), test_functions.Derived.total]:
            if inspect.isfunction(value) and value.__module__ == module.__name__:
                try:
                    staged = stage_function(value)
                except FrontendError as error:  # tests that define a class
                    assert {d.code for d in error.diagnostics} <= {"PS112"}
                    continue
                assert print_function(staged).endswith("\n")
                visit(staged)
    visit(stage_function(managed))
    assert "else:" in print_function(stage_function(with_else))
    visit(stage_function(with_else))
    every = {c for c in vars(ir).values() if inspect.isclass(c) and issubclass(c, ir.Instr)}
    assert every - seen <= {ir.Instr, ir.Handler, ir.Break, ir.Continue}
