"""Retries: something is taken back, and inferred again in another way.

    with commit_unless_retried(engine, PeeledInVain) as trial:
        ...                                        # here or in what is called: raise Retry(PeeledInVain())
    if trial.retried is not None:
        ...                                        # the block was taken back

A part of the program is inferred again by whoever began it. A `WholeProgram` reason is for `infer_program`: what it decides
about a loop or a generator holds from the beginning of the program on.

It would not do to take back and repeat such a loop alone, although it mostly is still open. What only grows would keep what
the abandoned passes noted: raise sites, for which the handlers around the loop would be inferred although nothing raises
there; guards and demands of numbers that the unrolled loop does not need; steps, by which a loop is blamed for the size of
the program. Nor could it serve where the loop is closed already, and something behind it needs what it computed. It would
save little: of the 2,443 programs of the snapshots 60 begin again, and 1.1 % of the time of all goes into repeating what
stands before the loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from ....records import dataclass
from ...diagnostics.diagnostic import Note
from ...diagnostics.span import Span
from ...stage import ir as stage
from ...values.boundary import PathKey
from .speculate import Speculating, SpeculationBlock


class RetryReason:
    """Why something is inferred again."""

    __slots__ = ()


class WholeProgram(RetryReason):
    """A reason for which the inference of the whole program begins again."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class WriteOut(WholeProgram):
    """`loop` and `others` must be written out; `why` says what needs that.

    `appends`: it appends what is no row of an array of its own. It stays rolled, if its lists may be any.
    """

    loop: stage.Instr
    why: Note
    appends: bool = False
    others: tuple[stage.Instr, ...] = ()


@dataclass(frozen=True, slots=True)
class GoOverPlaces(WholeProgram):
    """`loop`, over a list, must go over its places: written out it is too large."""

    loop: stage.Instr


GeneratorKey = PathKey | Span | None
"""A bit generator: by the path that led to it first, by where the program makes it; None for every one."""


@dataclass(frozen=True, slots=True)
class StatesInProgram(WholeProgram):
    """The states of these generators must be in the program, and why each; or with the host after all, for no reason."""

    generators: Mapping[GeneratorKey, str | None]


class Retry(Exception):
    """What was inferred is taken back to where the reason is known, and inferred again."""

    def __init__(self, reason: RetryReason) -> None:
        super().__init__(reason)
        self.reason = reason


class RetryBlock(SpeculationBlock):
    """A `with` block that stays, but is taken back, and ends, where it is retried; `retried` says why it was."""

    __slots__ = ("_reasons", "retried")

    def __init__(self, engine: Speculating, reasons: tuple[type[RetryReason], ...]) -> None:
        super().__init__(engine.speculation, True, ())
        self._reasons = reasons
        self.retried: RetryReason | None = None

    def _takes_back(self, error: BaseException) -> bool:
        return isinstance(error, Retry) and isinstance(error.reason, self._reasons)

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        super().__exit__(cls, error, traceback)
        if isinstance(error, Retry) and self._takes_back(error):
            self.retried = error.reason
        return self.retried is not None


def commit_unless_retried(engine: Speculating, *reasons: type[RetryReason]) -> RetryBlock:
    """A `with` block that stays, but is taken back, and ends, where one of these reasons asks for another attempt."""
    return RetryBlock(engine, reasons)
