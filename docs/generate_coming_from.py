"""Writes `docs/errors/coming-from.md`: what users of other tools ask about most, and what pystage makes of it.

In: the programs in `tests/coming_from/`, which a test runs plain and staged. Out: Markdown. Run it as
`python docs/generate_coming_from.py` after one of them changed; a test fails until that is done.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "errors" / "coming-from.md"

HEAD = """# Coming from another tool

What users of JAX, AutoGraph, Numba, TorchDynamo and PyTorch/XLA ask about most: the message there, a small program of
the kind that causes it, and what pystage does with that program as it stands. Each program is plain NumPy or
`jax.numpy`, is run plain and compiled by a test (`tests/coming_from/`), and gives the same both times, or is
refused with the code that is named. This page is made by `docs/generate_coming_from.py`."""


def page(questions: Sequence[Any]) -> str:
    """The page: a table, and each program."""
    parts = [HEAD]
    for tool in dict.fromkeys([q.tool for q in questions]):
        of_tool = [q for q in questions if q.tool == tool]
        parts += [f"## {tool}", table(of_tool)]
        for question in of_tool:
            parts += section(question)
    return "\n\n".join(parts) + "\n"


def table(questions: Sequence[Any]) -> str:
    """The questions of one tool, and what pystage does."""
    rows = [
        f"| [{cell(q.name)}](#{anchor(q.program.__name__)}) | {q.says} | {answer(q)} |" for q in questions
    ]
    return "\n".join(["| there | what it means | here |", "| --- | --- | --- |", *rows])


def section(question: Any) -> list[str]:
    """One program, and what pystage does with it."""
    found = [
        f"### {question.program.__name__.replace('_', ' ')}",
        f"{question.tool}: {cell(question.name)}. {question.says}",
        f"```python\n{question.source}\n```",
        f"pystage: {answer(question)}." + (f" {question.comment}" if question.comment else ""),
    ]
    return found


def answer(question: Any) -> str:
    """What pystage does, in two words."""
    return "compiles" if question.code is None else f"refused, [{question.code}]({question.code}.md)"


def cell(text: str) -> str:
    """A name as it stands in the text of a link."""
    return text.replace("[", "\\[").replace("]", "\\]").replace("<", "&lt;")


def anchor(name: str) -> str:
    """The anchor of a heading that is made of a name."""
    return re.sub(r"_", "-", name)


def main() -> None:
    """Writes the page."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    for module in ("jax_users", "other_tools"):
        importlib.import_module(f"tests.coming_from.{module}")
    asked = importlib.import_module("tests.coming_from.entries")
    PAGE.write_text(page(asked.QUESTIONS))


if __name__ == "__main__":
    main()
