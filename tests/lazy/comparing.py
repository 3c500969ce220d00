"""Runs on lazy tensors beside runs on ndarrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checking import Comparison, compare_runs, run_of

from pystage.lazy.fallback import run_lazily


def compare(function: Callable[..., Any], *args: Any, tolerance: Any = None, **kwargs: Any) -> None:
    """Asserts that nothing tells a run on lazy tensors, in place of all ndarrays among the arguments, from the plain run."""

    def lazily(*given: Any, **named: Any) -> Any:
        return run_lazily(function, given, named, 0)

    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    plain = run_of(function, args, kwargs)
    compare_runs(plain, run_of(lazily, args, kwargs), Comparison(tolerance), "lazy", file)
