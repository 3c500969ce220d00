"""Random programs are the same plain and staged, or refused; `make fuzz` runs as many as wanted."""

from __future__ import annotations

import pytest

from .generator import Node, Program, generate
from .running import run, smallest

GROUPS = 6
EACH = 10


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs_are_the_same_staged(group: int) -> None:
    """Sixty programs; enough of them are staged for the test to mean something."""
    staged = 0
    for seed in range(group * EACH, (group + 1) * EACH):
        program = generate(seed)
        outcome = run(program)
        assert not outcome.is_wrong, f"seed {seed}: {outcome.text}\n{program.source()}"
        staged += outcome.what == "same"
    assert staged >= EACH // 4, f"only {staged} of {EACH} programs are staged"


def test_a_seed_is_a_program() -> None:
    assert generate(7).source() == generate(7).source()
    assert generate(7).source() != generate(8).source()


def test_a_program_is_made_smaller() -> None:
    """The refusal stays, what has nothing to do with it goes."""
    lists = Node(blocks=[("if n > 1:", [Node("v = [1]")]), ("else:", [Node("v = [1, 2]")])])
    body = [Node("k = 2"), lists, Node("n = 3"), Node("v[0] = 5.0"), Node("return v,")]
    program = Program(body, n=2, k=1)
    assert run(program).what == "PS301"
    assert [node.text for node in smallest(program).body] == ["", "return v,"]
