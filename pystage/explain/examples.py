"""A program with the same problem, and how it works written otherwise: from the pages of the codes; tests run them."""

from __future__ import annotations

import difflib
import functools
import re
from dataclasses import dataclass

from ..compiler.diagnostics.catalogue import page_of
from ..compiler.diagnostics.diagnostic import Diagnostic

_EXAMPLE = re.compile(
    r"## Example\n\n```python\n(?P<program>.*?)\n```\n\n"
    r"It is reported like this:\n\n```text\nerror\[PS\d+\]: (?P<headline>[^\n]*)\n.*?\n```\n\n"
    r"This works:\n\n```python\n(?P<rewritten>.*?)\n```",
    re.DOTALL,
)
_ALIKE = 0.75
"""A headline must be so much like the problem's, from 0 to 1, for its example to be shown."""


@dataclass(frozen=True, slots=True)
class Example:
    """A program that is refused, with what it is refused with, and one that does the same and stages."""

    headline: str
    program: str
    rewritten: str


@functools.cache
def examples(code: str) -> tuple[Example, ...]:
    """The examples with a rewrite on the page of a code."""
    found = _EXAMPLE.finditer(page_of(code) or "")
    return tuple([Example(m["headline"], m["program"], m["rewritten"]) for m in found])


def example_like(problem: Diagnostic) -> Example | None:
    """The example whose problem reads most like this one, if any does."""
    wanted = problem.headline

    def likeness(example: Example) -> float:
        return difflib.SequenceMatcher(None, wanted, example.headline).ratio()

    best = max(examples(problem.code), key=likeness, default=None)
    return best if best is not None and likeness(best) >= _ALIKE else None
