"""After a run of the tests: what became of the random programs."""

from __future__ import annotations

from collections import Counter

import pytest

from .fuzz import summary


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints how many random programs were refused, and with which codes."""
    outcomes: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        if report.when == "call":
            for name, value in report.user_properties:
                if name == "random programs":
                    outcomes.update(value)
    if outcomes:
        terminalreporter.write_line(summary(outcomes))
