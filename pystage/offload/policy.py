"""Decides when a region is compiled: where it pays for a call, and only while it is no slower than plain Python.

A region that holds a loop, or works on large arrays, is compiled at its first call; one that stands in a Python loop, once
its plain runs have taken `PATIENCE`. Then measured times decide.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from ..compiler.diagnostics.errors import StagingError

LARGE = 1000
"""How many elements in all are worth a call, even without a loop."""
PATIENCE = 0.02
"""Seconds that plain runs may take before a region in a loop of Python is compiled."""
SHORT = 1e-4
"""Plain runs that take no longer, in seconds, are never worth a call."""
TRIALS = 50
"""After so many plain runs, a region all of whose calls are left to Python is given up, as is one whose runs were short."""
QUICK = 2e-2
"""Staged runs that take no longer, in seconds, are compared with plain ones."""
RUNS = 8
"""How many staged runs, and the one that compiles, come before the comparison."""
PLAIN_RUNS = 3
"""How many plain runs are compared with them."""
MARGIN = 0.9
"""A plain run must be faster by this factor for a region to go back to Python."""
MAX_PROGRAMS = 8
"""A region of which more programs were made goes back to Python."""
ANEW = 4
"""A region goes back to Python if so many calls of one kind in a row are compiled, each anew;"""
ANEW_IN_LOOPS = 2
"""and one in a loop of Python if it is so many."""


class Way(Enum):
    """How a call is run."""

    PLAIN = "plain"
    STAGED = "staged"


Key = tuple[Any, ...]


def kind_of(value: Any, shapes: bool = True) -> Any:
    """The part of a call's key that one argument gives."""
    cls = type(value)
    if cls is float or cls is int:
        return cls
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return cls
    return cls, dtype, getattr(value, "shape", None) if shapes else getattr(value, "ndim", None)


def elements(values: Iterable[Any], depth: int = 3) -> int:
    """About how many numbers these values hold."""
    total = 0
    for value in values:
        size = getattr(value, "size", None)
        if isinstance(size, int):
            total += size
        elif isinstance(value, list | tuple) and depth:
            total += max(len(value), elements(value[:LARGE], depth - 1))
        elif isinstance(value, Mapping) and depth:
            total += elements(value.values(), depth - 1)
        elif depth and not isinstance(value, type) and hasattr(value, "__dict__"):
            total += elements(vars(value).values(), depth - 1)
        if total >= LARGE:
            break
    return total


class Trial:
    """The measured times of one kind of calls, staged and plain, and the decision between the two."""

    __slots__ = ("_anew", "_plain", "_plain_runs", "_spent", "_staged", "_staged_runs", "refusals", "settled")

    def __init__(self, *, worth: bool, eager: bool) -> None:
        self.settled: Way | None = None if worth else Way.PLAIN
        self.refusals = 0
        self._plain = self._staged = float("inf")
        self._plain_runs = self._staged_runs = 0
        self._anew = 0
        self._spent = float("inf") if eager else 0.0

    def way(self) -> Way:
        """How the next call is run."""
        if self.settled is not None:
            return self.settled
        if self._spent < PATIENCE:
            return Way.PLAIN
        return Way.PLAIN if self._staged_runs > RUNS else Way.STAGED

    def note(self, way: Way, seconds: float) -> None:
        """Takes note of a run."""
        if way is Way.PLAIN:
            self._plain_runs += 1
            self._plain = min(self._plain, seconds)
            self._spent += seconds
        else:
            self._staged_runs += 1
            if self._staged_runs > 1:  # the first compiles
                self._staged = min(self._staged, seconds)
        if self._staged_runs > RUNS:
            if self._plain_runs >= PLAIN_RUNS:
                self.settled = Way.PLAIN if self._plain < MARGIN * self._staged else Way.STAGED
            elif self._staged > QUICK or 2 * self._staged < self._plain < float("inf"):
                self.settled = Way.STAGED
        elif not self._staged_runs and self._plain_runs >= TRIALS and self._plain < SHORT:
            self.settled = Way.PLAIN

    def compiled(self, anew: bool) -> int:
        """Takes note of whether a staged run made a program; how many of the last ones in a row did."""
        self._anew = self._anew + 1 if anew else 0
        return self._anew

    def refuse(self) -> None:
        """A call of the kind was refused."""
        self.refusals += 1
        if not self._staged_runs or self.refusals > 3:
            self.settled = Way.PLAIN

    @property
    def staged(self) -> bool:
        """True if a staged run has ended."""
        return self._staged_runs > 0


class Trials:
    """The calls of one function: each is run plain or staged. `program_count`: how many programs were made of it."""

    def __init__(self, *, loops: bool, eager: bool) -> None:
        self._loops = loops
        self._eager = eager
        self._known: dict[Key, Trial] = {}
        self._left = 0
        self.abandoned = False

    def find(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Trial:
        """What is known of calls with such arguments."""
        key = tuple([kind_of(a) for a in args])
        if kwargs:
            key = (*key, *[(name, kind_of(a)) for name, a in kwargs.items()])
        found = self._known.get(key)
        if found is None:
            worth = self._loops or elements((*args, *kwargs.values())) >= LARGE
            found = self._known.setdefault(key, Trial(worth=worth and not self.abandoned, eager=self._eager))
        return found

    def abandon(self) -> None:
        """All calls are plain from now on."""
        self.abandoned = True
        for trial in self._known.values():
            trial.settled = Way.PLAIN

    @property
    def staged(self) -> bool:
        """True if a staged run of any kind has ended."""
        return any(trial.staged for trial in self._known.values())

    @property
    def idle(self) -> bool:
        """True if all calls so far are left to Python."""
        return bool(self._known) and all(t.settled is Way.PLAIN for t in self._known.values())

    def left(self) -> bool:
        """Notes a call that is left to Python; True if there were so many that no other is expected."""
        self._left += 1
        return self._left >= TRIALS and self.idle


def timed(trial: Trial, way: Way, run: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Runs, and notes how long it took; what was refused does not count."""
    began = time.perf_counter()
    try:
        result = run(*args, **kwargs)
    except StagingError:
        raise
    except BaseException:
        trial.note(way, time.perf_counter() - began)
        raise
    trial.note(way, time.perf_counter() - began)
    return result
