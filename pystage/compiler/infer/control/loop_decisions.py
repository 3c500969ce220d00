"""Decisions about loops: one that must be inferred in another way is taken back and inferred again, where it is still open.

What stands before the loop is kept; the decisions hold for the rest of the program, and for other programs of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from ...stage import ir as stage
from ...stage.walk import walk
from ..core.engine import Engine
from ..state.retry import GoOverPlaces, LoopDecision, Retry, RetryBlock, RetryReason, WriteOut, decide


class LoopBlock(RetryBlock):
    """A `with` block that infers a loop, and is taken back where a decision about this loop, or some in it, is new."""

    __slots__ = ("_demands", "_engine", "_is_first", "_loop")

    def __init__(self, engine: Engine, loop: stage.Instr) -> None:
        super().__init__(engine, (LoopDecision,))
        self._engine = engine
        self._loop = loop
        self._is_first = not engine.effort.has_inferred(loop)
        self._demands = len(engine.origins.demands)

    def _takes_back(self, error: BaseException) -> bool:
        if not isinstance(error, Retry) or not isinstance(error.reason, LoopDecision):
            return False
        engine, decisions = self._engine, self._engine.loops.decisions
        if engine.raises.bodies or engine.errors.found or len(engine.origins.demands) > self._demands:
            return False
        match error.reason:
            case WriteOut(loop, _, appends):
                decided = decisions.unrolled.keys() | (decisions.appending.keys() if appends else ())
                return loop not in decided and self._holds(error.reason)
            case GoOverPlaces(loop):
                return loop is self._loop and loop not in decisions.by_place
        return False

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if self._is_first and isinstance(error, Retry) and self._holds(error.reason):
            error.later = True
        return super().__exit__(cls, error, traceback)

    def _holds(self, reason: RetryReason) -> bool:
        """True where the reason is about this loop, and loops in it, alone."""
        match reason:
            case WriteOut(loop, _, _, others):
                return {loop, *others} <= {*walk([self._loop])}
            case GoOverPlaces(loop):
                return loop in walk([self._loop])
        return False


def begin_again_at(engine: Engine, loop: stage.Instr, infer: Callable[[], None]) -> None:
    """Infers a loop, and again where it turns out that it, or a loop in it, must be inferred in another way."""
    while True:
        with LoopBlock(engine, loop) as trial:
            infer()
        if trial.retried is None:
            return
        decide(engine.loops.decisions, trial.retried)
        engine.effort.forget(walk([loop]))
