"""After a run of the tests: what became of the random programs, and of the gradients of programs."""

from __future__ import annotations

from collections import Counter

import pytest
from outcomes import summary, summary_of_gradients

SUMMARIES = {
    "random programs": summary,
    "gradients of random programs": summary_of_gradients,
    "gradients of contract programs": lambda outcomes: summary_of_gradients(outcomes, "contract programs"),
}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints how many programs were checked, how many of them were refused, and with which codes."""
    found: dict[str, Counter[str]] = {name: Counter() for name in SUMMARIES}
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties if report.when == "call" else ():
            if name in found:
                found[name].update(value)
    for name, outcomes in found.items():
        if outcomes:
            terminalreporter.write_line(SUMMARIES[name](outcomes))
