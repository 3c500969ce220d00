"""Runs a plain function and its residual program, every region of which is compiled, and compares them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pystage
import pytest
from checking import Comparison, compare_runs, run_of
from pystage.offload import Offload, policy


def compile_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions are compiled at their first call, whatever they are worth, and stay so."""
    monkeypatch.setattr(policy, "LARGE", 0)
    monkeypatch.setattr(policy, "PATIENCE", 0.0)
    monkeypatch.setattr(policy, "RUNS", 10**9)


def check_offloaded(
    function: Callable[..., Any], args: tuple[Any, ...], regions: int = 1, runs: int = 2, **options: Any
) -> Offload:
    """Asserts that the residual program does what the plain one does, and that it runs so many regions staged."""
    offload = Offload(function, pystage.compile)
    compare_offloaded(function, offload, args, runs, **options)
    found = str(offload.residual(*args))
    assert found.count(", staged") == regions, found
    return offload


def compare_offloaded(
    function: Callable[..., Any], offload: Offload, args: tuple[Any, ...], runs: int = 2, **options: Any
) -> None:
    """Asserts that the residual program does what the plain one does."""
    plain = run_of(function, args, {})
    file = inspect.unwrap(function).__code__.co_filename
    for number in range(1, runs + 1):
        compare_runs(plain, run_of(offload, args, {}), Comparison(**options), f"call {number}", file)
