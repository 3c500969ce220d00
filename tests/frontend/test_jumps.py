"""Jumps: programs with `break`, `continue`, early `return`, loop `else`, and how the result looks."""

from __future__ import annotations

import linecache
import re

import pytest

from pystage.compiler import limits
from pystage.compiler.frontend import FrontendError, stage_function
from pystage.compiler.frontend.flow import instructions
from pystage.compiler.stage import ir
from pystage.compiler.stage.printer import print_function

from .compare import check


def flags(function) -> set[str]:
    return {name for name in stage_function(function).locals if name.startswith(".")}


def depth_of(block: ir.Block) -> int:
    """How deep conditionals nest."""
    deepest = 0
    for instr in block:
        for name in ("then", "orelse", "test", "body", "final"):
            inner = getattr(instr, name, None)
            if isinstance(inner, list):
                deepest = max(deepest, depth_of(inner) + isinstance(instr, ir.If))
    return deepest


def define(name: str, text: str):
    """The function `name` of a source text, in a file that only `linecache` knows."""
    file = f"<generated {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module: dict[str, object] = {}
    exec(compile(text, file, "exec"), module)
    return module[name]


def test_straight_function_has_no_flags():
    def straight(x):
        y = x + 1
        if x > 1:
            y = 2
        return y

    def falls_off(x):
        x += 1

    assert not flags(straight) and not flags(falls_off)
    check(straight, 1, 2)
    check(falls_off, 1)


def test_early_return_moves_the_rest():
    def early(x):
        if x > 3:
            return "big"
        elif x < 0:
            return "negative"
        y = x * 2
        if y > 4:
            y += 1
            return y
        return None

    assert flags(early) == {".value"}
    check(early, -1, 0, 2, 3, 4)


def test_error_checks_do_not_nest():
    def checks(x):
        if x == 1:
            raise ValueError(x)
        if x == 2:
            raise KeyError(x)
        return x

    assert not flags(checks)
    assert depth_of(stage_function(checks).body) == 1
    check(checks, 0, 1, 2)


def test_a_try_whose_handlers_leave_takes_the_rest_into_its_else():
    def tried(xs):
        total = 0
        for x in xs:
            try:
                y = 12 // x
            except ZeroDivisionError:
                continue
            except TypeError:
                return "not a number"
            total += y
        return total

    def completed(x):
        try:
            y = 12 // x
        except ZeroDivisionError:
            y = 0
        except TypeError:
            return None
        return y + 1

    assert flags(tried) == {".value", ".return"}
    assert flags(completed) == {".value", ".return"}
    check(tried, [], [1, 0, 2], [1, "a", 2], [0])
    check(completed, 0, 3, "a")


def test_one_arm_jumps_sometimes():
    def some(x, y):
        if x:
            if y:
                return "both"
            z = 1
        else:
            z = 2
        w = z * 10
        return w

    assert flags(some) == {".value", ".return"}
    check(some, *[(x, y) for x in (0, 1) for y in (0, 1)])


def test_while_true():
    def newton(n):
        x = 0
        while True:
            x += 1
            last = x
            if x > n:
                break
            half = x / 2
            if half > 4:
                continue
            x += 1
        return last

    assert flags(newton) == {".break1"}
    loads = [
        i for i in instructions(stage_function(newton).body) if isinstance(i, ir.Load) and i.name == "last"
    ]
    assert all(load.certain for load in loads)
    check(newton, 0, 3, 20)


def test_loop_else():
    def search(xs, wanted):
        for i, x in enumerate(xs):
            if x == wanted:
                break
        else:
            i = -1
        n = 0
        while n < wanted:
            n += 1
            if n == 3:
                break
        else:
            return i, "else"
        for x in xs:
            pass
        else:
            n += 1
        return i, n

    check(search, ([1, 2, 3], 2), ([], 5), ([4], 4), ([1], 0))


def test_returns_from_nested_loops():
    def find(grid, wanted):
        for row in grid:
            if not row:
                continue
            for x in row:
                if x == wanted:
                    return row
                if x < 0:
                    break
                if x == 0:
                    continue
                wanted -= 0
            else:
                row.append(99)
            row.append("seen")
        return None

    check(find, ([[1, 2], [], [3, -1, 4], [5, 0]], 5), ([[1]], 1), ([], 1), ([[7, 0, 8]], 9))


def test_loop_with_return_only_uses_the_return_flag():
    def first(xs):
        for x in xs:
            if x > 2:
                return x
        return 0

    assert flags(first) == {".return", ".value"}
    loops = [i for i in instructions(stage_function(first).body) if isinstance(i, ir.For)]
    assert loops[0].until == ".return"
    check(first, [1, 2], [1, 3, 4])


def test_while_test_is_not_evaluated_after_break():
    def run(log):
        def test(n):
            log.append(n)
            return n < 5

        n = 0
        while test(n):
            n += 1
            if n == 2:
                break
        return n

    check(run, [])


@pytest.mark.parametrize("count", [40, 1000])
def test_many_early_returns_do_not_nest(count):
    text = "def many(n):\n    t = 0\n"
    for i in range(count):
        text += f"    if n == {i}:\n        return {i} + t\n    t += 1\n"
    many = define("many", text + "    return t\n")
    assert depth_of(stage_function(many).body) <= limits.NESTED_CONDITIONALS
    check(many, 0, 1, 31, 32, 33, count - 1, count)


def test_many_loops_with_returns_do_not_nest():
    text = "def many(n):\n    t = 0\n"
    for i in range(100):
        text += f"    for i in range(3):\n        if n == {i} + i:\n            return t\n        t += 1\n"
    many = define("many", text)
    assert depth_of(stage_function(many).body) <= limits.NESTED_CONDITIONALS + 1
    check(many, 0, 31, 64, 99, 200)


def test_statements_are_not_copied():
    def source(x):
        for i in range(x):
            if i == 1:
                if x == 2:
                    continue
                x += 17
            if i == 5:
                return i
            x -= 1
        return x

    text = print_function(stage_function(source))
    assert len(re.findall(r"= 17\b", text)) == 1
    check(source, 0, 2, 3, 9)


def test_generators_of_any_end_early_inside_other_loops():
    def primes(n):
        found = []
        for i in range(2, n):
            if any(i % p == 0 for p in found):
                continue
            found.append(i)
            if all(p > 100 for p in found):
                break
        return found

    check(primes, 0, 30)


@pytest.mark.parametrize("jump", ["return", "t ="])
def test_long_elif_chains_do_not_nest(jump):
    text = "def chain(n):\n    t = 0\n    if n < 0:\n        t = 1\n"
    for i in range(100):
        text += f"    elif n == {i}:\n        {jump} {i} + t\n"
    chain = define("chain", text + "    else:\n        t = -1\n    return t\n")
    assert depth_of(stage_function(chain).body) <= limits.NESTED_CONDITIONALS + 1
    check(chain, -1, 0, 31, 32, 33, 64, 65, 99, 100)


def test_endless_elif_chain_is_refused():
    text = "def chain(n):\n    if n < 0:\n        t = 1\n"
    for i in range(800):
        text += f"    elif n == {i}:\n        t = {i}\n"
    with pytest.raises(FrontendError) as refused:
        stage_function(define("chain", text + "    return t\n"))
    assert refused.value.diagnostics[0].code == "PS106"


def test_long_match_does_not_nest():
    text = "def chain(v):\n    match v:\n"
    for i in range(80):
        text += f"        case [{i}, x] if x > {i}:\n            return x\n        case {i}:\n            y = {i}\n"
    chain = define("chain", text + "        case _:\n            y = -1\n    return y\n")
    assert depth_of(stage_function(chain).body) <= limits.NESTED_CONDITIONALS + 2
    check(chain, -5, 0, 20, 79, [0, 5], [40, 50], [40, 30], ([79, 80],))
