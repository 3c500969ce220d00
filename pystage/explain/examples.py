"""Examples for a diagnostic: a program with the same problem, and a rewrite that works."""

from __future__ import annotations

import difflib

from ..compiler.diagnostics.catalogue import Example, examples_of
from ..compiler.diagnostics.diagnostic import Diagnostic

_ALIKE = 0.75
"""A headline must be so much like the problem's, from 0 to 1, for its example to be shown."""


def example_like(problem: Diagnostic) -> Example | None:
    """The example whose problem reads most like this one, if any does."""
    wanted = problem.headline

    def likeness(example: Example) -> float:
        return difflib.SequenceMatcher(None, wanted, example.headline).ratio()

    best = max(examples_of(problem.code), key=likeness, default=None)
    return best if best is not None and likeness(best) >= _ALIKE else None
