"""Parts of a program that cannot be staged as a whole: functions and runs of statements, which run in tiers.

So a part is compiled once its own plain runs have cost what that costs, or at once where its run will be long, and goes back
to Python where the program turns out to be slower (`runtime/tiers.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Compile = Callable[[Callable[..., Any], str | None], Any]
"""Compiles a part, by its function and its name: it runs in tiers, and what cannot be staged of it is refused."""
TRIALS = 50
"""After so many plain calls it is asked whether a part stays in Python."""
SHORT = 1e-4
"""Plain runs that take no longer, in seconds, are never worth a call."""


class TieredPart:
    """A plain function that runs in tiers."""

    def __init__(self, fn: Callable[..., Any], name: str | None, compile: Compile) -> None:
        self.compiled = compile(fn, name)
        self.stays = False
        """True where all calls are left to Python."""
        self.plain = fn
        self._calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs it; StagingError if it is to be compiled and cannot be."""
        if self.stays:
            return self.plain(*args, **kwargs)
        try:
            return self.compiled(*args, **kwargs)
        finally:
            self._note_call()

    def _note_call(self) -> None:
        self._calls += 1
        if self._calls % TRIALS == 0:
            self.stays = self._stays()

    def _stays(self) -> bool:
        """True if no program would save time."""
        tiers = self.compiled.tiers
        calls, seconds = tiers.plainly
        if tiers.job is not None or calls < TRIALS:
            return False
        if all(kind.given_up for kind in tiers.all_kinds):
            return True
        return not tiers.compilations and seconds < SHORT * calls
