"""A plugin of pytest: test modules of NumPy are rewritten when they are imported, and each test writes one line of JSON.

It is told what to do by the environment: `OUTSIDE_OUT` names the file of the results, `OUTSIDE_LAZY` asks for lazy tensors,
`OUTSIDE_DONE` names a file with tests that are not run again, `OUTSIDE_EACH` says how many parameters of a test run, and
`OUTSIDE_PART` that one of so many tests runs, by its name.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from outside import hooks
from outside.comparing import Finding, Runner
from outside.hooks import Probe, current
from outside.rewriting import HOOKS, PREFIX, rewritten

EACH = int(os.environ.get("OUTSIDE_EACH", "12"))
PART = int(os.environ.get("OUTSIDE_PART", "1"))
OUT = Path(os.environ["OUTSIDE_OUT"])
DONE = Path(os.environ.get("OUTSIDE_DONE", os.devnull))
runner = Runner(lazily=bool(os.environ.get("OUTSIDE_LAZY")))
PROBE = pytest.StashKey[Probe]()


class RewrittenModule(pytest.Module):
    """A test module whose code is the rewritten one."""

    def _getobj(self) -> ModuleType:
        name = ".".join(self.path.with_suffix("").parts[-3:])
        package = "numpy." + ".".join(self.path.parts[-3:-1])
        module = ModuleType(name)
        module.__file__ = str(self.path)
        module.__package__ = package
        for hook in HOOKS:
            setattr(module, PREFIX + hook, getattr(hooks, hook))
        sys.modules[name] = module
        exec(rewritten(self.path), module.__dict__)
        return module


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> pytest.Module:
    """Modules are rewritten ones."""
    made = RewrittenModule.from_parent(parent, path=module_path)
    assert isinstance(made, pytest.Module)
    return made


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what has run, and of each test all but a few parameters, evenly taken."""
    done = set(DONE.read_text(encoding="utf-8").splitlines())
    totals = Counter([_function(item) for item in items])
    met: Counter[str] = Counter()
    kept, left_out = [], []
    for item in items:
        function = _function(item)
        number, total = met[function], totals[function]
        met[function] += 1
        chosen = total <= EACH or number * EACH // total != (number - 1) * EACH // total
        chosen = chosen and zlib.crc32(function.rpartition("/")[2].encode()) % PART == 0
        (kept if chosen and item.nodeid not in done else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _write(line: dict[str, Any]) -> None:
    with OUT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Watches a test."""
    _write({"test": item.nodeid, "state": "started"})
    probe = Probe(runner)
    item.stash[PROBE] = probe
    current.probe = probe
    np.random.seed(1)
    try:
        return (yield)
    finally:
        current.probe = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    """Writes what became of a test."""
    report = yield
    if report.when == "call":
        probe = item.stash[PROBE]
        findings = probe.findings
        _write(
            {
                "test": item.nodeid,
                "state": "ended",
                "plain": report.outcome,
                "calls": len(findings),
                "outside": dict(probe.outside),
                "seconds": round(report.duration, 2),
                "error": str(report.longrepr)[-300:] if report.failed else "",
                "findings": [_described(found) for found in findings if found.outcome != "same"],
            }
        )
    return report


def _described(found: Finding) -> dict[str, str]:
    leaves = ", ".join([_text(leaf) for leaf in found.program.leaves])
    return {
        "outcome": found.outcome,
        "text": found.text[:1500],
        "program": found.program.text,
        "args": leaves[:1500],
        "detail": found.detail[:300],
    }


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        order = "" if value.flags.c_contiguous else f" strides {value.strides}"
        return " ".join(f"{value!r} {value.dtype}{list(value.shape)}{order}".split())
    return repr(value)
