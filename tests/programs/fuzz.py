"""Runs many random programs: `python -m programs.fuzz COUNT FIRST [KIND]` (`make fuzz N=20000`); staged, on lazy tensors,
staged in part, and their gradients.

A sixth of them are functions that get all from their caller, a sixth are modules whose functions store into what they
capture, a sixth are about numbers whose kind the path says, a sixth about what loops change, a sixth about sizes that
only the run knows, a sixth are calls of NumPy's functions on operands at the edge. With a kind (`make fuzz KIND=sizes`)
all are of that.
Prints each program that differs, made small by Hypothesis and as it goes into `test_regressions.py` or `captured.py`,
and what became of the others: how many are the same, how many raise the same, how many are refused with which code.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import SearchStrategy
from kinds.edges import edges
from outcomes import Outcome, summary, summary_of_gradients
from rich.console import Console
from rich.progress import track

from .mixed_kinds import mixed
from .random_modules import World, worlds
from .running import differentiate, run, run_in_part, run_on_lazy_tensors, run_replaced, run_world
from .sizes import sized
from .strategy import Program, looped, programs

Check = Callable[[Any], Outcome]
EACH = 50
"""How many programs are made from one seed."""


class Differs(AssertionError):
    """A program that is not the same staged."""

    def __init__(self, program: Program | World, outcome: Outcome) -> None:
        super().__init__(f"{outcome.what}\n{outcome.text}\n\n{program.case()}")


@contextmanager
def _without_constants_of_modules() -> Iterator[None]:
    """For a `with` block: Hypothesis draws no constants that it finds in the modules that happen to be loaded."""
    none = providers.Constants(integers=set(), floats=set(), bytes=set(), strings=set())  # type: ignore[arg-type]
    with (
        patch.object(providers, "_get_local_constants", lambda: none),
        patch.object(providers, "CONSTANTS_CACHE", {}),
    ):
        yield


def explore(
    number: int,
    count: int,
    shrink: bool = True,
    check: Check = run,
    strategy: Callable[[], SearchStrategy[Any]] = programs,
) -> Counter[str]:
    """What came of `count` programs, the same ones for a number.

    Raises `Differs` with the smallest program that differs."""
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
    @given(strategy())
    def each(program: Program | World) -> None:
        outcome = check(program)
        outcomes[outcome.what] += 1
        if outcome.is_wrong:
            raise Differs(program, outcome)

    with _without_constants_of_modules():
        each()
    return outcomes


CHECKS: dict[str, Check] = {
    "lazy": run_on_lazy_tensors,
    "in part": run_in_part,
    "replaced": run_replaced,
    "slopes": differentiate,
}
"""What is done with programs beside running them staged."""

KINDS: dict[str, tuple[Callable[[], SearchStrategy[Any]], dict[str, Check]]] = {
    "programs": (programs, {"": run, **CHECKS}),
    "modules": (worlds, {"": run_world, "slopes": differentiate}),
    "mixed": (mixed, {"": run, **CHECKS}),
    "loops": (looped, {"": run, **CHECKS}),
    "sizes": (sized, {"": run, **CHECKS}),
    "edges": (edges, {"": run, "lazy": run_on_lazy_tensors}),
}
"""How programs of each kind are written, and checked."""


def main(count: int, first: int, *kinds: str) -> int:
    """Runs `count` programs of these kinds, or all, from the seed `first` on; the number of seeds with one that differs."""
    among = kinds or tuple(KINDS)
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    wrong, start = 0, time.monotonic()
    console, numbers = Console(stderr=True), range(first, first + -(-count // EACH))
    for number in track(numbers, "random programs", console=console, disable=not console.is_terminal):
        kind = among[number % len(among)]
        strategy, checks = KINDS[kind]
        for what, check in checks.items():
            try:
                found[kind, what].update(explore(number, EACH, check=check, strategy=strategy))
            except Differs as error:
                wrong += 1
                print(f"---- seed {number}, {what}: {error}", flush=True)
        print(
            f"{time.monotonic() - start:.0f} s, seed {number}",
            *_lines(found),
            sep="\n",
            file=sys.stderr,
            flush=True,
        )
    print(*_lines(found), sep="\n")
    return wrong


def _lines(found: Mapping[tuple[str, str], Counter[str]]) -> list[str]:
    """What came of each kind of check."""
    return [
        f"{kind}{what and ', '}{what}: {(summary_of_gradients if what == 'slopes' else summary)(outcomes)}"
        for (kind, what), outcomes in found.items()
    ]


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]) else 0)
