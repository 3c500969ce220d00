"""Runs many random programs: `python -m programs.fuzz COUNT FIRST` (`make fuzz N=20000`).

Prints each program that differs, made small by Hypothesis and as it is to be put into `test_regressions.py`, and
what became of the others: how many are the same, how many raise the same, how many are refused with which code.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from hypothesis import HealthCheck, Phase, given, seed, settings

from .running import Outcome, run
from .strategy import Program, programs

EACH = 50
"""How many programs are made from one seed."""


class Differs(AssertionError):
    """A program that is not the same staged."""

    def __init__(self, program: Program, outcome: Outcome) -> None:
        super().__init__(f"{outcome.what}\n{outcome.text}\n\n{program.case()}")


def explore(number: int, count: int, shrink: bool = True) -> Counter[str]:
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
        outcome = run(program)
        outcomes[outcome.what] += 1
        if outcome.is_wrong:
            raise Differs(program, outcome)

    each()
    return outcomes


def summary(outcomes: Counter[str]) -> str:
    """How many programs, how many of them refused, and with which codes."""
    total = outcomes.total()
    refused = {what: count for what, count in outcomes.most_common() if what.startswith("PS")}
    share = 100 * sum(refused.values()) / max(total, 1)
    codes = ", ".join(f"{code} {count}" for code, count in refused.items())
    same, raises = outcomes["same"], outcomes["raises"]
    return (
        f"{total} random programs: {same} the same, {raises} raise the same, {share:.1f} % refused ({codes})"
    )


def main(count: int, first: int) -> int:
    """Runs `count` programs from the seed `first` on; the number of seeds with one that differs."""
    outcomes: Counter[str] = Counter()
    wrong, start = 0, time.monotonic()
    for number in range(first, first + -(-count // EACH)):
        try:
            outcomes += explore(number, EACH)
        except Differs as error:
            wrong += 1
            print(f"---- seed {number}: {error}", flush=True)
        print(
            f"{time.monotonic() - start:.0f} s, seed {number}: {summary(outcomes)}",
            file=sys.stderr,
            flush=True,
        )
    print(summary(outcomes))
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2])) else 0)
