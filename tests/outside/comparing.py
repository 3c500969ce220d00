"""Runs a call plain, and staged or on lazy tensors beside it, and says what became of it.

The plain call is the test's own, on the test's own arrays, and the test goes on with its result. The other has copies of the
arguments as they were before. So a test cannot be led astray by a difference, and each difference is found where it is made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from checking import Comparison, Run
from kinds.running import Endless, limited

import pystage
from outside.copies import copies_of, owner_of
from outside.deviations import deviation
from outside.programs import ELEMENTS, Program, TooLarge, Writer
from pystage.lazy.fallback import run_lazily

SECONDS = 20
"""How long one staged call may take, with its compilation."""

Write = Callable[[Writer], Program]


@dataclass(frozen=True)
class Finding:
    """What became of a call: `same`, `refused`, `different`, `slow` or `deviation`, with the code or the difference."""

    outcome: str
    text: str
    program: Program
    detail: str = ""


@dataclass
class Runner:
    """Runs programs `as_lazy` tensors or staged, and keeps what was compiled by the program's text."""

    lazily: bool = False
    compiled: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def candidates(self, write: Write) -> list[Program]:
        """The call as programs: with numbers as parameters, then with numbers written out."""
        program = write(Writer(literal=False))
        if not program.leaves:
            program = write(Writer(literal=False, integers=True))
        check_size(program)
        literal = write(Writer(literal=True))
        return [program] if literal.text == program.text else [program, literal]

    def compare(self, programs: list[Program], given: list[list[Any]], plain: Run) -> Finding:
        """The first of the programs that is not refused, run on the arguments beside the plain run."""
        finding = Finding("refused", "", programs[0])
        for program, leaves in zip(programs, given):
            own = Run(tuple(program.leaves), {}, plain.result, plain.error)
            finding = self._compare(program, leaves, own)
            if finding.outcome != "refused":
                break
        return finding

    def _compare(self, program: Program, leaves: list[Any], plain: Run) -> Finding:
        before = copies_of(leaves)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"), limited(SECONDS):
                warnings.simplefilter("ignore")
                run = self._run(program, leaves)
        except pystage.StagingError as error:
            return Finding("refused", error.diagnostics[0].code, program, str(error))
        except Endless:
            return Finding("slow", f"more than {SECONDS} s", program)
        found = difference(plain, run)
        if found is None:
            return Finding("same", "", program)
        known = deviation(program, before, plain, run)
        return Finding("deviation", known, program) if known else Finding("different", found, program)

    def _run(self, program: Program, leaves: list[Any]) -> Run:
        run = Run(tuple(leaves), {})
        try:
            run.result = self._callable(program)(*leaves)
        except pystage.StagingError:
            raise
        except Exception as error:
            run.error = error
        return run

    def _callable(self, program: Program) -> Callable[..., Any]:
        if program.text not in self.compiled:
            plain = program.function()
            if self.lazily:
                self.compiled[program.text] = lambda *args: run_lazily(plain, args, {}, 0)
            else:
                self.compiled[program.text] = pystage.compile(plain, fallback="error")
        return self.compiled[program.text]


def difference(plain: Run, other: Run) -> str | None:
    """The first difference between two runs, in words; None where there is none."""
    if plain.error is not None or other.error is not None:
        texts = [_described(run.error) if run.error is not None else "no exception" for run in (plain, other)]
        if texts[0] != texts[1]:
            return f"{texts[0]} became {texts[1]}"
    comparison = Comparison()
    try:
        comparison.same(plain.args, other.args, "argument")
        comparison.same(plain.result, other.result, "result")
        comparison.same_memory()
    except AssertionError as error:
        return " ".join(str(error).split())
    return None


def _described(error: Exception) -> str:
    return f"{type(error).__module__}.{type(error).__name__}: {error}"


def check_size(program: Program) -> None:
    """Raises TooLarge for more elements than the tests are run with."""
    arrays = [leaf for leaf in program.leaves if isinstance(leaf, np.ndarray)]
    if sum([max(array.size, owner_of(array).size) for array in arrays]) > ELEMENTS:
        raise TooLarge
