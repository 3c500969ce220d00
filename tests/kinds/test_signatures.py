"""Functions of NumPy with operands at the edge and each option of their signatures: a sample of the cases, or all."""

from __future__ import annotations

import pytest
from sampling import ALL

from kinds.calls import CALLS
from kinds.running import Endless, limited
from kinds.signatures import cases_of

EACH = 1 if ALL else 149
"""One of so many cases runs."""
LIMIT = 120
"""Seconds that a case may take."""


NAMES = list(CALLS)
GROUPS = 20
"""The functions are in so many tests."""


@pytest.mark.parametrize("first", range(GROUPS))
def test_cases(first: int) -> None:
    found = []
    for case in [case for name in NAMES[first::GROUPS] for case in cases_of(name)]:
        if case.number % EACH:
            continue
        try:
            with limited(LIMIT):
                outcome = case.outcome()
        except Endless:
            found.append(f"{case.label}: no answer in {LIMIT} s")
            continue
        if outcome.is_wrong:
            found.append(f"{case.label}: {outcome.text}")
    assert not found, "\n\n".join(found)


def test_every_option_is_tried() -> None:
    texts = {case.text for case in cases_of("sum")}
    for option in ("axis=7", "dtype=np.float16", "keepdims=True", "initial=2.5", "where=w", "out=w"):
        assert any(option in text for text in texts), option
