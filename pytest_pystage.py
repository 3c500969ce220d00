"""The plugin of pytest: `pytest --pystage=plain`, `compiled` or `explain` says how compiled functions run in the tests.

It imports pystage only where the option is given.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import pytest

_SHOWN = 50
"""How many functions the summary shows."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the option."""
    parser.getgroup("pystage").addoption(
        "--pystage",
        choices=["plain", "compiled", "explain"],
        help="how functions of pystage.compile run: `plain` as Python; `compiled` compiled at the first call, with a "
        "summary of those that ran as Python, and why; `explain` as they are set, with a summary of all",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Chooses the tier of all functions."""
    mode = config.getoption("pystage")
    if mode is not None:
        config.pluginmanager.register(PystageSummary(config, mode), "pystage-summary")


class PystageSummary:
    """Sets how compiled functions run, and tells at the end what became of them."""

    def __init__(self, config: pytest.Config, mode: str) -> None:
        self._config, self._mode = config, mode
        self._functions: list[dict[str, Any]] = []
        self._tier = os.environ.get("PYSTAGE_TIER")
        if mode != "explain":
            os.environ["PYSTAGE_TIER"] = mode

    def pytest_unconfigure(self) -> None:
        """Restores the environment."""
        os.environ.pop("PYSTAGE_TIER", None)
        if self._tier is not None:
            os.environ["PYSTAGE_TIER"] = self._tier

    def pytest_collection_finish(self) -> None:
        """Begins to count calls: after the tests were imported, whose settings JAX reads when it is."""
        if self._mode == "explain":
            from pystage.explain import run_reports

            run_reports.watch_calls()

    def pytest_sessionfinish(self) -> None:
        """Takes what this process knows; a worker of pytest-xdist gives it to the one that reports."""
        if "pystage" not in sys.modules:
            return
        from pystage.explain import run_reports

        found = run_reports.as_data()["functions"]
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["pystage"] = found
        self._functions += found

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Takes what a worker of pytest-xdist knows."""
        self._functions += getattr(node, "workeroutput", {}).get("pystage", [])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tells which functions ran as Python, and why."""
        terminalreporter.section(f"pystage: {self._mode}")
        if self._mode == "plain":
            terminalreporter.write_line("compiled functions ran as plain Python")
            return
        functions = _merged(self._functions)
        fallen = [each for each in functions if each["fallbacks"]]
        terminalreporter.write_line(
            f"{len(functions)} functions, {len(fallen)} ran as Python, whole or in part"
        )
        shown = functions if self._mode == "explain" else fallen
        for each in shown[:_SHOWN]:
            terminalreporter.write_line(_told(each, self._mode == "explain"))
        if len(shown) > _SHOWN:
            terminalreporter.write_line(f"and {len(shown) - _SHOWN} more")


def _merged(functions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The accounts of all processes, one for each function; those that ran as Python first."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for each in functions:
        key = each["name"], _location(each["place"])
        known = found.setdefault(
            key, {"name": key[0], "place": key[1], "calls": 0, "programs": 0, "plain": 0, "fallbacks": {}}
        )
        known["calls"] += each["calls"]
        known["programs"] += each["programs"]
        known["plain"] += each["plain calls"]
        for fallback in each["fallbacks"]:
            why = f"{fallback['code']}: {fallback['headline']}", _location(fallback["place"])
            known["fallbacks"][why] = known["fallbacks"].get(why, 0) + fallback["calls"]
    return sorted(found.values(), key=lambda each: (not each["fallbacks"], each["place"]))


def _told(function: dict[str, Any], counted: bool) -> str:
    lines = [f"{function['place']} {function['name']}"]
    if counted:
        calls, programs = _count(function["calls"], "call"), _count(function["programs"], "program")
        lines[0] += f": {calls}, {function['plain']} of them plain, {programs}"
    for (why, place), calls in function["fallbacks"].items():
        lines.append(f"  as Python, {_count(calls, 'call')}: {why}  {place}")
    return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _location(place: dict[str, Any] | None) -> str:
    return "" if place is None else f"{os.path.relpath(place['file'])}:{place['line']}"
