"""Before a run of the tests: which of the widest run. After it: what became of programs and their gradients."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import jax
import pytest
from outcomes import summary, summary_of_gradients, summary_of_kinds
from sampling import ALL, sampled

import pystage

SUMMARIES = {
    "random programs": summary,
    "gradients of random programs": summary_of_gradients,
    "gradients of contract programs": lambda outcomes: summary_of_gradients(outcomes, "contract programs"),
    "programs with arguments of other kinds": summary_of_kinds,
}


def pytest_configure(config: Any) -> None:
    """What a test compiles without saying what happens otherwise must stage, in its first call.

    XLA:CPU makes its kernels without optimisation, and by the older of its emitters, which takes a third of the time; with
    all tests as it chooses.
    """
    pystage.config.fallback = "error"
    os.environ.setdefault("PYSTAGE_TIER", "compiled")
    if ALL:
        return
    flags = ["--xla_backend_optimization_level=0"]
    if jax.__version_info__ < (0, 11):  # XLA ends the process where it does not know a flag
        flags.append("--xla_cpu_use_fusion_emitters=false")
    os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *flags])


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leaves out most parameters of the widest tests."""
    items[:], left_out = sampled(items)
    if left_out:
        config.hook.pytest_deselected(items=left_out)


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
