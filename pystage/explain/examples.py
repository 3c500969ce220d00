"""Examples for a diagnostic: a program with the same problem, and a rewrite that works."""

from __future__ import annotations

import difflib

from ..compiler.diagnostics.catalogue import Example, examples_of
from ..compiler.diagnostics.diagnostic import Diagnostic

_ALIKE = 0.75
"""The headline and the advice of an example must each be so much like the problem's, from 0 to 1, for it to be shown."""


def example_like(problem: Diagnostic) -> Example | None:
    """The example whose problem reads most like this one, if any does."""

    def likeness(example: Example) -> tuple[float, float]:
        advice, headline = _ratio(example.advice, problem.advice), _ratio(example.headline, problem.headline)
        return min(advice, headline), headline

    best = max(examples_of(problem.code), key=likeness, default=None)
    return best if best is not None and likeness(best)[0] >= _ALIKE else None


def _ratio(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b).ratio()
