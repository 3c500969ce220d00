"""Retries: something is taken back, and inferred again in another way.

    with commit_unless_retried(engine, PeeledInVain) as trial:
        ...                                        # here or in what is called: raise Retry(PeeledInVain())
    if trial.retried is not None:
        ...                                        # the block was taken back

A part of the program is inferred again by whoever began it. A `LoopDecision` about a loop that is still open is for that
loop (`control/loop_decisions.py`): what stands before it is kept. Else, as every `WholeProgram` reason, it is for
`infer_program`: the inference of the program begins again. So it is, too, where what only grows would keep something of the
abandoned attempt that the program shows: in the body of a `try`, whose handlers would be inferred for raise sites that are
gone; after a demand, which the loop inferred in the other way may not need; and after a refusal, which may depend on the
loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from ....records import dataclass
from ... import limits
from ...diagnostics.diagnostic import Note
from ...diagnostics.span import Span
from ...stage import ir as stage
from ...values.boundary import PathKey
from ...values.demand import LoopDecisions
from .speculate import Interruption, Speculating, SpeculationBlock


class RetryReason:
    """Why something is inferred again."""

    __slots__ = ()


class WholeProgram(RetryReason):
    """A reason for which the inference of the whole program begins again."""

    __slots__ = ()


class LoopDecision(WholeProgram):
    """A reason that decides how loops are inferred."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class WriteOut(LoopDecision):
    """`loop` and `others` must be written out; `why` says what needs that.

    `appends`: it appends what is no row of an array of its own. It stays rolled, if its lists may be any.
    """

    loop: stage.Instr
    why: Note
    appends: bool = False
    others: tuple[stage.Instr, ...] = ()


@dataclass(frozen=True, slots=True)
class GoOverPlaces(LoopDecision):
    """`loop`, over a list, must go over its places: written out it is too large."""

    loop: stage.Instr


GeneratorKey = PathKey | Span | None
"""A bit generator: by the path that led to it first, by where the program makes it; None for every one."""


@dataclass(frozen=True, slots=True)
class StatesInProgram(WholeProgram):
    """The states of these generators must be in the program, and why each; or with the host after all, for no reason."""

    generators: Mapping[GeneratorKey, str | None]


def decide(decisions: LoopDecisions, reason: RetryReason) -> None:
    """Decides how the program is inferred when it, or one of its loops, begins again."""
    match reason:
        case WriteOut(loop, why, appends, others):
            rolled = appends and loop not in decisions.appending
            decided = decisions.appending if rolled else decisions.unrolled
            decided.update(dict.fromkeys((loop, *others), why))
        case GoOverPlaces(loop):
            decisions.by_place[loop] = len(decisions.by_place) < limits.LOOPS_BY_PLACE
            if decisions.by_place[loop] and loop in decisions.unrolled:
                decisions.replaced[loop] = decisions.unrolled.pop(loop)
        case StatesInProgram(generators):
            decisions.in_program |= generators
        case _:
            raise TypeError(f"{reason!r} is no reason to infer a whole program again")


class Retry(Interruption):
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
