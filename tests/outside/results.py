"""What became of the tests of a module, read from its lines of JSON, and the table of it.

A test is usable if it passes, has calls that were compared, and all its calls of known functions take and give only kinds
that are in scope.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ORDER = ("different", "slow", "refused", "deviation", "same")
"""What a test is: the first of what became of its calls; a deviation of docs/semantics.md is the same."""


@dataclass
class Results:
    """How many usable tests had which outcome, which codes refused them, and each difference, of other tests too."""

    outcomes: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    different: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0
    unusable: int = 0


def lines_of(out: Path) -> list[dict[str, Any]]:
    """The lines of JSON in a file, but for one that the end of a process has cut off."""
    found = []
    for line in out.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def read(out: Path) -> Results:
    """The results in a file of lines of JSON."""
    results = Results()
    for line in lines_of(out):
        if line["state"] == "started":
            continue
        if line["state"] != "ended":
            results.outcomes[line["state"]] += 1
            continue
        findings = line["findings"]
        results.different += [{**f, "test": line["test"]} for f in findings if f["outcome"] == "different"]
        results.calls += line["calls"]
        if line["plain"] != "passed" or line["outside"] or not line["calls"]:
            results.unusable += 1
            continue
        found = {f["outcome"] for f in findings}
        outcome = next((o for o in ORDER if o in found), "same")
        results.outcomes["same" if outcome == "deviation" else outcome] += 1
        if outcome == "refused":
            results.codes.update({f["text"] for f in findings if f["outcome"] == "refused"})
    return results


def differences(found: dict[str, Results]) -> list[str]:
    """Each difference once, with the program, its arguments and the test that makes it."""
    lines: dict[tuple[str, str], str] = {}
    for results in found.values():
        for f in results.different:
            program = f["program"].partition("\n")[2].strip()
            text = (
                f"{program}\n    {f['args'][:300]}\n    {f['text'][:300]}\n    {f['test'].rpartition('/')[2]}"
            )
            lines.setdefault((program, f["text"]), text)
    return [lines[key] for key in sorted(lines)]


def table(found: dict[str, Results]) -> list[str]:
    """The table of docs/maintainers/testing.md."""
    names = ("same", "refused", "different", "slow", "died")
    lines = [
        "| module | usable | calls | " + " | ".join(names) + " |",
        "| --- |" + " ---: |" * (len(names) + 2),
    ]
    total = Results()
    for module, results in found.items():
        lines.append(_row(module, results, names))
        total.outcomes += results.outcomes
        total.codes += results.codes
        total.calls += results.calls
    lines.append(_row("all", total, names))
    codes = ", ".join([f"{code} {count}" for code, count in total.codes.most_common()])
    return [*lines, "", f"Refused by: {codes or 'nothing'}."]


def _row(name: str, results: Results, outcomes: tuple[str, ...]) -> str:
    usable = sum(results.outcomes.values())
    counts = " | ".join([str(results.outcomes[outcome]) for outcome in outcomes])
    return f"| `{name}` | {usable} | {results.calls} | {counts} |"
