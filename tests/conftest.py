"""Before a run of the tests: which of the widest run. After it: what became of programs and their gradients."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jax
import pytest
from outcomes import summary, summary_of_gradients, summary_of_kinds
from sampling import ALL, sampled

import pystage
from pystage.compiler.diagnostics.codes_calls import InternalError
from pystage.compiler.diagnostics.diagnostic import Diagnostic
from pystage.compiler.hlo.types import TooLarge
from pystage.compiler.infer.entry import _Entry
from pystage.compiler.infer.state.effort import Exhausted
from pystage.compiler.infer.state.retry import Retry
from pystage.compiler.values.demand import NeedsConstant

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
    _note_internal_errors()
    if ALL:
        return
    flags = ["--xla_backend_optimization_level=0"]
    if jax.__version_info__ < (0, 11):  # XLA ends the process where it does not know a flag
        flags.append("--xla_cpu_use_fusion_emitters=false")
    os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *flags])


INTERNAL: list[Exception | Diagnostic] = []
"""The internal errors of inferences since the present test began."""


def _note_internal_errors() -> None:
    """Notes what an inference raises that is no refusal, also where the call then runs as plain Python."""
    run = _Entry.run

    def noting(self: _Entry, *args: Any) -> Any:
        try:
            return run(self, *args)
        except (Retry, Exhausted, NeedsConstant, TooLarge, MemoryError, RecursionError):
            raise
        except pystage.StagingError as error:
            INTERNAL.extend([each for each in error.diagnostics if isinstance(each, InternalError)])
            raise
        except Exception as error:
            INTERNAL.append(error)
            raise

    _Entry.run = noting


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Fails a test in which there was an internal error."""
    INTERNAL.clear()
    yield
    if INTERNAL:
        pytest.fail(f"internal errors: {INTERNAL!r}")


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
