"""Runs random programs plain and staged, and makes the smallest program of one that differs.

`python -m programs.running FIRST COUNT` (`make fuzz N=…`) runs the programs of many seeds and prints
each that differs, made smaller, and how many were refused with which code.
"""

from __future__ import annotations

import copy
import importlib.util
import itertools
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pystage
from checking import check

from .generator import Node, Program, generate

SHRINK_LIMIT = 200
"""How many smaller programs are tried."""

_numbers = itertools.count()


@dataclass(frozen=True)
class Outcome:
    """What came of a program: `same`, `differs`, `invalid` (the plain run raises), or the code of the refusal."""

    what: str
    text: str = ""

    @property
    def is_wrong(self) -> bool:
        return self.what in ("differs", "PS699")


def run(program: Program) -> Outcome:
    """Runs one program both ways."""
    with tempfile.TemporaryDirectory() as folder:
        module = _load(program, Path(folder))
        args = _arguments(module, program)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                module.program(*copy.deepcopy(args))
        except Exception as error:
            return Outcome("invalid", repr(error))
        try:
            check(module.program, *args, interpreted=False, runs=1)
        except pystage.StagingError as error:
            return Outcome(error.diagnostics[0].code, str(error))
        except AssertionError as error:
            return Outcome("differs", f"{error}\n{error.__cause__!r}")
    return Outcome("same")


def smallest(program: Program) -> Program:
    """A program of which no statement can be left out without it coming out right (or otherwise wrong).

    Its last statement, which returns, stays.
    """
    wanted = run(program).what
    last = program.body[-1]
    left = SHRINK_LIMIT
    while left:
        for body in _smaller(program.body[:-1]):
            left -= 1
            smaller = replace(program, body=[*body, last])
            if _compiles(smaller) and run(smaller).what == wanted:
                program = smaller
                break
            if not left:
                break
        else:
            break
    return program


def _compiles(program: Program) -> bool:
    """False where a `break` or a `nonlocal` has lost what it belongs to."""
    try:
        compile(program.source(), "<smaller>", "exec")
    except SyntaxError:
        return False
    return True


def _smaller(body: list[Node]) -> Iterator[list[Node]]:
    """The bodies that have one statement less, or one compound statement replaced by a part of it."""
    for i, node in enumerate(body):
        before, after = body[:i], body[i + 1 :]
        yield before + after
        for j, (header, inner) in enumerate(node.blocks):
            yield before + inner + after
            others = node.blocks[:j], node.blocks[j + 1 :]
            if j:
                yield [*before, Node(blocks=others[0] + others[1]), *after]
            for part in _smaller(inner):
                yield [*before, Node(blocks=[*others[0], (header, part), *others[1]]), *after]


def _load(program: Program, folder: Path) -> ModuleType:
    """The program as a module with a source file."""
    path = folder / f"random_program_{next(_numbers)}.py"
    path.write_text(program.source())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _arguments(module: Any, program: Program) -> tuple[Any, ...]:
    """The arguments that every program takes, in the order of `generator.PARAMETERS`."""
    m = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
    pair = module.Pair(np.array([2.0, 0.25, 1.0]), 2)
    x, y, q = np.array([1.0, 2.0, 4.0]), np.array([0.5, -1.0, 3.0]), np.array([3, -1, 5])
    return x, y, m, q, pair, program.n, program.k


def main(first: int, count: int) -> int:
    """Runs `count` programs from seed `first` on; the number of those that differ."""
    outcomes: Counter[str] = Counter()
    wrong = 0
    for seed in range(first, first + count):
        program = generate(seed)
        outcome = run(program)
        outcomes[outcome.what] += 1
        if outcome.is_wrong:
            wrong += 1
            program = smallest(program)
            source = program.source().partition("def program")
            print(f"seed {seed}, n={program.n}, k={program.k}: {run(program).text}")
            print(source[1] + source[2], flush=True)
    print({what: outcomes[what] for what in sorted(outcomes)})
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2])) else 0)
