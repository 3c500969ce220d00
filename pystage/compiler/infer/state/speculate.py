"""Speculation: the one way to try an inference and to roll it back.

    with speculate(engine) as trial:            taken back at its end, unless it says `trial.commit()`
    with commit_unless(engine, NeedsSplit):     taken back only if it ends in this exception

Taken back are the store of slots, the operations that were built into the region at hand, the facts of interval analysis,
the diagnostics, and every field that its class declares so (`compiler/speculation.py`). What only grows stays: functions
that were inferred in a speculation are summaries that the next attempt uses, and what a summary refers to (numbers
of cells, frames and raise sites, names, what was read of the caller's environment) must not be used for anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from ...diagnostics.diagnostic import Diagnostic
from ...speculation import Declarations


class Interruption(Exception):
    """An exception after which inference begins again, in another way from a part of the program on, if `later`.

    `refused` counts the diagnostics that are there again then: those before the outermost block that it left.
    """

    later = False
    refused = 0


class Journal(Protocol):
    """A part of the engine that can undo changes to itself."""

    def begin(self) -> Any:
        """Begins a speculation; gives a mark for `commit` and `roll_back`."""

    def commit(self, mark: Any, /) -> None:
        """What was done since is kept."""

    def roll_back(self, mark: Any, /) -> None:
        """What was done since is undone."""


class Diagnostics(Protocol):
    """The diagnostics that were found so far."""

    found: list[Diagnostic]

    def forget(self, mark: int, /) -> None:
        """Drops all but the first `mark`."""


class Speculating(Protocol):
    """What `speculate` needs of the engine."""

    speculation: Speculation


class Speculation:
    """All that must be rolled back in one engine."""

    __slots__ = ("currents", "diagnostics", "forked", "journals")

    def __init__(self, engine: object, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self.journals: list[Journal] = []
        self.forked: list[tuple[object, str]] = []
        self.currents: list[tuple[object, str]] = []
        self._add(engine)

    def _add(self, part: Any) -> None:
        declared: Declarations = part.SPECULATION
        if declared.journaled and part is not self.diagnostics:
            self.journals.append(part)
        self.forked += [(part, name) for name in (*declared.forked, *declared.current)]
        self.currents += [(part, name) for name in declared.current]
        for name in declared.parts:
            self._add(getattr(part, name))


class SpeculationBlock:
    """A speculation, as a `with` block."""

    __slots__ = ("_committed", "_first", "_forked", "_inside", "_marks", "_of", "_refused", "_unless")

    def __init__(self, of: Speculation, committed: bool, unless: tuple[type[BaseException], ...]) -> None:
        self._of = of
        self._committed = committed
        self._unless = unless
        self._refused: Sequence[Diagnostic] | None = None

    def __enter__(self) -> Self:
        of = self._of
        self._forked = [getattr(part, name) for part, name in of.forked]
        self._inside = [state for part, name in of.currents for state in _inside(getattr(part, name))]
        self._first = len(of.diagnostics.found)
        self._marks = [part.begin() for part in of.journals]
        return self

    def commit(self) -> None:
        """What the block has done stays, if it ends now."""
        self._committed = True

    def keep_refused(self) -> None:
        """Keeps the diagnostics that were found, whatever becomes of the rest."""
        self._first = len(self._of.diagnostics.found)

    @property
    def refused(self) -> Sequence[Diagnostic]:
        """The diagnostics that were found in the block, also after it was rolled back."""
        return self._of.diagnostics.found[self._first :] if self._refused is None else self._refused

    def _takes_back(self, error: BaseException) -> bool:
        return isinstance(error, self._unless)

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        of = self._of
        if isinstance(error, Interruption):
            error.refused = self._first if error.later else 0
        taken_back = error is not None and self._takes_back(error)
        if self._committed and not taken_back:
            for part, mark in zip(reversed(of.journals), reversed(self._marks), strict=True):
                part.commit(mark)
            return None
        for part, mark in zip(reversed(of.journals), reversed(self._marks), strict=True):
            part.roll_back(mark)
        for (owner, name), value in zip(of.forked, self._forked, strict=True):
            setattr(owner, name, value)
        for owner, name, value in self._inside:
            setattr(owner, name, value)
        if error is None or taken_back:
            self._refused = self.refused
            of.diagnostics.forget(self._first)
        return None


def _inside(current: Any) -> list[tuple[object, str, object]]:
    """The parts of an object that are rolled back inside of it."""
    if current is None:
        return []
    declared: Declarations = current.SPECULATION
    return [(current, name, getattr(current, name)) for name in declared.forked]


def speculate(engine: Speculating) -> SpeculationBlock:
    """A `with` block that is rolled back at its end, unless it was committed.

    An exception that leaves the block takes it back too, but for the diagnostics: they may say why.
    """
    return SpeculationBlock(engine.speculation, False, ())


def commit_unless(engine: Speculating, *exceptions: type[BaseException]) -> SpeculationBlock:
    """A `with` block that is committed, but rolled back, with its diagnostics, if it ends in one of these exceptions."""
    return SpeculationBlock(engine.speculation, True, exceptions)
