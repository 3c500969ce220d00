"""What lazy tensors have done: counts by cause, name and line, for `lazy.metrics()`."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..runtime.messages import Topic, tell

_HOME = str(Path(__file__).parents[1])


def user_line() -> str:
    """The innermost line that is not pystage's own, as `file:line`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HOME):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


@dataclass(slots=True)
class Metrics:
    """Counts since the start, or since `reset_metrics`.

    `compiles` and `cache_hits` are of the programs of barriers, `barriers` and `unlowered` by cause, or name, and line.
    `sizes` are the calls in each program that was compiled, `compile_seconds` what preparing them took.
    """

    compiles: int = 0
    cache_hits: int = 0
    barriers: Counter[tuple[str, str]] = field(default_factory=Counter)
    unlowered: Counter[tuple[str, str]] = field(default_factory=Counter)
    sizes: list[int] = field(default_factory=list)
    compile_seconds: float = 0.0

    def note_barrier(self, cause: str) -> None:
        """A barrier computes something."""
        line = user_line()
        self.barriers[cause, line] += 1
        tell(Topic.BARRIERS, f"barrier: {cause} at {line}")

    def note_compile(self, calls: int, seconds: float) -> None:
        """A program was made for a barrier."""
        self.compiles += 1
        self.sizes.append(calls)
        self.compile_seconds += seconds
        tell(Topic.COMPILES, f"lazy program of {calls} calls")

    def note_unlowered(self, name: str, reason: str) -> None:
        """NumPy ran a call."""
        line = user_line()
        self.unlowered[name, line] += 1
        tell(Topic.FALLBACKS, f"`{name}` runs in NumPy at {line}: {reason}")


metrics = Metrics()
"""The counts of this process."""
