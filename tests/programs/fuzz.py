"""Runs many random programs: `python -m programs.fuzz COUNT FIRST` (`make fuzz N=20000`), and their gradients.

Prints each program that differs, made small by Hypothesis and as it is to be put into `test_regressions.py`, and
what became of the others: how many are the same, how many raise the same, how many are refused with which code.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from outcomes import Outcome, summary, summary_of_gradients

from .running import differentiate, run
from .strategy import Program, programs

Check = Callable[[Program], Outcome]
EACH = 50
"""How many programs are made from one seed."""


class Differs(AssertionError):
    """A program that is not the same staged."""

    def __init__(self, program: Program, outcome: Outcome) -> None:
        super().__init__(f"{outcome.what}\n{outcome.text}\n\n{program.case()}")


def explore(number: int, count: int, shrink: bool = True, check: Check = run) -> Counter[str]:
    """What came of `count` programs, always the same for a number; raises `Differs` with the smallest that differs."""
    outcomes: Counter[str] = Counter()
    phases = [Phase.generate, *([Phase.shrink] if shrink else [])]

    @seed(number)
    @settings(
        max_examples=count,
        phases=phases,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def each(program: Program) -> None:
        outcome = check(program)
        outcomes[outcome.what] += 1
        if outcome.is_wrong:
            raise Differs(program, outcome)

    each()
    return outcomes


def main(count: int, first: int) -> int:
    """Runs `count` programs from the seed `first` on; the number of seeds with one that differs."""
    found: dict[Check, Counter[str]] = {run: Counter(), differentiate: Counter()}
    wrong, start = 0, time.monotonic()
    for number in range(first, first + -(-count // EACH)):
        for check, outcomes in found.items():
            try:
                outcomes.update(explore(number, EACH, check=check))
            except Differs as error:
                wrong += 1
                print(f"---- seed {number}: {error}", flush=True)
        text = f"{summary(found[run])}; {summary_of_gradients(found[differentiate])}"
        print(f"{time.monotonic() - start:.0f} s, seed {number}: {text}", file=sys.stderr, flush=True)
    print(summary(found[run]))
    print(summary_of_gradients(found[differentiate]))
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2])) else 0)
