"""Runs a plain function and its residual program, every region of which is compiled, and compares them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from checking import Comparison, compare_runs, run_of
from pystage.offload import Offload
from pystage.staging import compile_part


def compiled_at_once(function: Callable[..., Any]) -> Offload:
    """The residual program of a function, each part of which is compiled at its first call."""
    return Offload(function, functools.partial(compile_part, tier="compiled"))


def check_offloaded(
    function: Callable[..., Any], args: tuple[Any, ...], regions: int = 1, runs: int = 2, **options: Any
) -> Offload:
    """Asserts that the residual program does what the plain one does, and that it runs so many regions staged."""
    offload = compiled_at_once(function)
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
