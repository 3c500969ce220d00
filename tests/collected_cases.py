"""The programs that test modules collect with `Cases`, for tests that do something else with all of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checking import Cases

TESTS = Path(__file__).resolve().parent


def modules(*suites: str) -> list[str]:
    """The names of the modules of these folders, and of the folders in them, that collect programs."""
    return [
        ".".join(path.relative_to(TESTS).with_suffix("").parts)
        for suite in suites
        for path in sorted((TESTS / suite).rglob("test_*.py"))
        if "\ncases = Cases()" in path.read_text(encoding="utf-8")
    ]


MODULES = modules("contract", "errors")


def programs(*suites: str) -> Iterator[tuple[str, Any]]:
    """Every program of these folders: the name of its module, and its parameters of pytest."""
    for name in modules(*suites):
        for cases in vars(importlib.import_module(name)).values():
            if isinstance(cases, Cases):
                for param in cases.params:
                    yield name, param
