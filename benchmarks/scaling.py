"""How the time to compile grows with the program: series of generated programs, from source to StableHLO and on.

A series is a function from a size to a program's source, its module variables and arguments. For each size the
clock is that of the processor, so that other processes do not count: from source to StableHLO, and of XLA.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pystage

from .measuring import Table, no_collection

_numbers = itertools.count()

ARRAY = np.arange(8.0)


@dataclass(frozen=True)
class Program:
    """The source of a module whose function `program` takes `args`; `names` are variables of the module."""

    source: str
    args: tuple[Any, ...]
    names: dict[str, Any]

    def load(self) -> Callable[..., Any]:
        """The function, whose source Python can find."""
        file = f"<scaling {next(_numbers)}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(True), file)
        namespace: dict[str, Any] = {"np": np, "__name__": "scaling", **self.names}
        exec(compile(self.source, file, "exec"), namespace)
        function: Callable[..., Any] = namespace["program"]
        return function


def _program(parameters: str, lines: Iterable[str], *args: Any, **names: Any) -> Program:
    body = "\n".join(["    " + line for text in lines for line in text.splitlines()])
    return Program(f"def program({parameters}):\n{body}\n", args, names)


FORMS = (
    "a = a * 0.5 + b",
    "b = np.sin(a) + b",
    "x[{k}] = a",
    "a = a + x[{k}]",
    "if a > b:\n    b = b * 0.5",
    "c = c + {k}",
    "y = x * 0.5 + c",
    "x[1:3] += y[2:4]",
    "b = max(a, b)",
    "a = a - y[{k}]",
)


def statements(n: int) -> Program:
    """`n` statements of ten kinds, one after the other."""
    lines = [FORMS[i % len(FORMS)].format(k=i % 7) for i in range(n)]
    return _program("x, a, b", ["c = 0", *lines, "return a, b, c"], ARRAY, 1.5, 2.5)


def branches(n: int) -> Program:
    """`n` branches that store."""
    text = "if a > {0}.0:\n    a = a - x[{1}]\n    x[{1}] = b\nelse:\n    b = b + 1.0"
    lines = [text.format(i, i % 8) for i in range(n)]
    return _program("x, a, b", [*lines, "return a, b"], ARRAY, 1.5, 2.5)


def loops(n: int) -> Program:
    """`n` rolled loops, one after the other."""
    lines = ["for i in range(n):\n    a = a * 0.5 + x[i]\n    x[i] = a"] * n
    return _program("x, a, n", [*lines, "return a"], ARRAY, 1.5, 5)


def chain(n: int) -> Program:
    """`n` functions, each called by the one before."""
    text = "def f{0}(x, a):\n    x[{1}] += a\n    return f{2}(x, a * 0.5) + 1.0\n\n"
    functions = [text.format(i, i % 4, i + 1) for i in range(n - 1)]
    last = f"def f{n - 1}(x, a):\n    return a\n\n"
    main = _program("x, a", ["return f0(x, a)"], ARRAY, 1.5)
    return Program("".join([*functions, last, main.source]), main.args, {})


def fan(n: int) -> Program:
    """`n` functions, called one after the other."""
    text = "def f{0}(x, a):\n    x[{1}] += a\n    return a * 0.5 + {0}.0\n\n"
    functions = [text.format(i, i % 4) for i in range(n)]
    main = _program("x, a", [*[f"a = f{i}(x, a)" for i in range(n)], "return a"], ARRAY, 1.5)
    return Program("".join([*functions, main.source]), main.args, {})


def calls(n: int) -> Program:
    """`n` calls of one function that loops."""
    callee = (
        "def f(x, a):\n    x[0] += a\n    for i in range(3):\n        a = a * 0.5 + x[i]\n    return a\n\n"
    )
    main = _program("x, a", [*["a = f(x, a)"] * n, "return a"], ARRAY, 1.5)
    return Program(callee + main.source, main.args, {})


def nested(n: int) -> Program:
    """Loops nested `n` deep; each carries a number, a counter and a store."""
    lines = ["c = 0"]
    for depth in range(n):
        body = ("a = a * 0.5 + x[i{0}]", "c = c + 1", "x[i{0}] = a")
        lines.append("    " * depth + f"for i{depth} in range(3):")
        lines += ["    " * (depth + 1) + text.format(depth) for text in body]
    return _program("x, a", [*lines, "return a, c"], ARRAY, 1.5)


def guards(n: int) -> Program:
    """`n` integers of the module, each a constant under a guard."""
    lines = [f"c = c + G{i}" for i in range(n)]
    return _program("a", ["c = 0", *lines, "return a * c"], 1.5, **{f"G{i}": i for i in range(n)})


def inputs(n: int) -> Program:
    """`n` floats of the module, each a hidden input."""
    lines = [f"a = a + H{i}" for i in range(n)]
    return _program("a", [*lines, "return a"], 1.5, **{f"H{i}": float(i) for i in range(n)})


def indices(n: int) -> Program:
    """`n` loads at places that the program computes."""
    lines = [f"a = a + x[(n + {i}) * 7 - {3 * i}]" for i in range(n)]
    return _program("x, n, a", [*lines, "return a"], np.arange(8.0 * n), 0, 1.5)


def stores(n: int) -> Program:
    """`n` stores at places that the program computes, each followed by a load."""
    lines = [f"x[n * {i} % 8] = a\na = a * 0.5 + x[n * {i + 2} % 7]" for i in range(n)]
    return _program("x, n, a", [*lines, "return a"], ARRAY, 3, 1.5)


HUNDREDS = (10, 100, 1000)

SERIES: tuple[tuple[Callable[[int], Program], tuple[int, ...]], ...] = (
    (statements, HUNDREDS),
    (branches, HUNDREDS),
    (loops, HUNDREDS),
    (chain, (10, 100, 900)),
    (fan, HUNDREDS),
    (calls, HUNDREDS),
    (nested, (1, 2, 3, 4, 5, 6)),
    (guards, HUNDREDS),
    (inputs, HUNDREDS),
    (indices, HUNDREDS),
    (stores, HUNDREDS),
)
"""The series and their sizes."""


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor that a call takes, and its result."""
    with no_collection():
        start = time.process_time()
        result = run()
        return time.process_time() - start, result


def lowering(program: Program, count: int = 3) -> tuple[float, Any]:
    """The least time from source to StableHLO, and what the last time gave."""
    least = float("inf")
    for _ in range(count):
        compiled = pystage.compile(program.load(), fallback="error")
        took, lowered = seconds(functools.partial(compiled.lower, *program.args))
        least = min(least, took)
    return least, lowered


def measure() -> list[Table]:
    """The table of times."""
    table = Table(
        "Scaling",
        "Generated programs: milliseconds of processor time from source to StableHLO, and of XLA (all its threads). "
        "Linear means that the time for each stays the same.",
        ("", "size", "to StableHLO", "each", "XLA", "each"),
    )
    lowering(statements(10))
    for series, sizes in SERIES:
        for size in sizes:
            took, lowered = lowering(series(size))
            xla, _ = seconds(lowered.compile)
            front = (f"{took * 1e3:.0f}", f"{took / size * 1e3:.2f}")
            table.rows.append(
                (series.__name__, f"{size:,}", *front, f"{xla * 1e3:,.0f}", f"{xla / size * 1e3:.1f}")
            )
    return [table]
