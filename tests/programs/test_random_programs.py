"""Random programs are the same plain and staged, or refused, and so are their gradients; `make fuzz` runs more."""

from __future__ import annotations

from collections import Counter

import pytest
from outcomes import Outcome, summary, summary_of_gradients
from sampling import ALL

from .fuzz import KINDS, explore
from .running import differentiate, run
from .strategy import Program

EACH = 40 if ALL else 8
COUNTS = [(kind, min(10, EACH) if kind == "sizes" else EACH) for kind in KINDS]
GRADIENTS = [(kind, min(5, EACH) if kind == "sizes" else EACH) for kind in KINDS]
FALLING_BACK = {"lazy": 20, "in part": 8} if ALL else {"lazy": 5, "in part": 3}
PART = 4 if ALL else 3
"""Of at least one of so many programs there is a gradient."""
REFUSED = EACH // (4 if ALL else 2)
"""At most so many of a kind's programs are refused. Hypothesis takes some of its numbers from the modules that are loaded,
so that which programs a seed makes depends on the tests that ran before; a small sample needs room for that."""


@pytest.mark.parametrize(("kind", "count"), COUNTS)
def test_random_programs_are_the_same_staged(
    kind: str, count: int, record_property: pytest.RecordProperty
) -> None:
    """Enough of the programs are staged for the test to mean something."""
    strategy, checks = KINDS[kind]
    outcomes = explore(0, count, check=checks[""], strategy=strategy)
    record_property("random programs", dict(outcomes))
    refused = sum(count for what, count in outcomes.items() if what.startswith("PS"))
    assert refused <= REFUSED, summary(outcomes)


@pytest.mark.parametrize("what", FALLING_BACK)
@pytest.mark.parametrize("kind", ["programs", "mixed", "loops"])
def test_random_programs_are_the_same_where_they_fall_back(kind: str, what: str) -> None:
    """Programs with lazy tensors in place of ndarrays, and programs with a statement that never stages."""
    strategy, checks = KINDS[kind]
    outcomes = explore(0, FALLING_BACK[what], check=checks[what], strategy=strategy)
    assert outcomes["same"] + outcomes["raises"] >= FALLING_BACK[what] - 1, summary(outcomes)


@pytest.mark.parametrize(("kind", "count"), GRADIENTS)
def test_gradients_of_random_programs_are_slopes(
    kind: str, count: int, record_property: pytest.RecordProperty
) -> None:
    """Of enough of the programs there is a gradient."""
    outcomes = explore(0, count, check=differentiate, strategy=KINDS[kind][0])
    record_property("gradients of random programs", dict(outcomes))
    assert outcomes["same"] >= count // PART, summary_of_gradients(outcomes)


def test_a_number_stands_for_the_same_programs() -> None:
    def source(program: Program) -> Outcome:
        return Outcome(program.source())

    assert explore(3, 5, check=source) == explore(3, 5, check=source) != explore(4, 5, check=source)


def test_what_differs_is_reported_with_the_values() -> None:
    program = Program(("def program(a):", "    return id(a)"), (("np.ones(2)",),))
    outcome = run(program)
    assert outcome.is_wrong or outcome.is_refused
    assert "np.ones(2)" in outcome.text


def test_the_summary_names_the_codes() -> None:
    text = summary(Counter({"same": 6, "raises": 2, "PS501": 1, "PS301": 1}))
    assert text == "10 random programs: 6 the same, 2 raise the same, 20.0 % refused (PS501 1, PS301 1)"
    text = summary_of_gradients(Counter({"same": 6, "constant": 3, "PS606": 1}))
    assert text == "gradients of 10 random programs: 6 are the slopes (constant 3, PS606 1)"
