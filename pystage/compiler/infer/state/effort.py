"""The effort of inference, and the loops that multiply it.

The measure counts instructions, operations, joined values and intervals, also in passes that were taken back, so that it
is the same on every machine. Past a limit inference ends (`Exhausted`), and past a time that the caller sets (`OutOfTime`).
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from ....records import dataclass
from ... import limits
from ...diagnostics.codes_constant import ProgramTooLarge
from ...diagnostics.diagnostic import Note
from ...diagnostics.span import Span
from ...hlo.builder import Builder
from ...speculation import Balanced, Declarations, Fixed, Grows
from ...stage import ir as stage
from ...values.program_growth import Multiplied, too_large

_NEVER = float("inf")
_LATEST, _FAR = 4, 2.0
"""So many trips say what the next ones take; later ones may be cheaper by so much."""


class Exhausted(Exception):
    """Raised where inference exceeds its limit."""


class OutOfTime(BaseException):
    """Raised where inference has taken longer than the caller waits; nothing of it is kept."""


class _Caller(threading.local):
    patience = float("inf")
    until: float | None = None


_caller = _Caller()


@contextmanager
def ended_after(patience: float) -> Iterator[None]:
    """A `with` block in which inference raises `OutOfTime` after so many seconds, not counting the import of modules."""
    before = _caller.patience, _caller.until
    _caller.patience, _caller.until = patience, None
    try:
        yield
    finally:
        _caller.patience, _caller.until = before


@dataclass(slots=True)
class _Done:
    times: int = 0
    why: Note | None = None
    steps: int = 0
    open: int = 0
    call: Span | None = None
    """The first recursive call of a function that calls itself."""


class Again:
    """The time of one trip or pass. It is no frame on Python's stack, which nested calls fill."""

    __slots__ = ("_before", "_done", "_effort")

    def __init__(self, effort: Effort, done: _Done) -> None:
        self._effort = effort
        self._done = done
        self._before = effort.steps

    def __enter__(self) -> None:
        self._done.open += 1

    def __exit__(self, *exception: object) -> None:
        self._done.open -= 1
        if not self._done.open:  # of a function that calls itself, the outermost trip holds the others
            self._done.steps += self._effort.steps - self._before


class Effort:
    """What one program has cost so far. `limit` is that of the configuration; None where nothing limits it.

    `before` are the steps of inferences of the same program that began again.
    """

    __slots__ = (
        "_ask",
        "_ask_at",
        "_before",
        "_builder",
        "_done",
        "_last",
        "_limit",
        "_most",
        "_run",
        "_until",
    )

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "_ask": Grows("at worst inference begins again earlier than it would"),
            "_ask_at": Grows("at worst inference begins again earlier than it would"),
            "_before": Fixed(),
            "_builder": Fixed(),
            "_done": Grows("work that was done for nothing is done"),
            "_last": Grows("it is set where nothing can be taken back"),
            "_limit": Fixed(),
            "_most": Balanced(),
            "_run": Grows("work that was done for nothing is done"),
            "_until": Fixed(),
        }
    )

    def __init__(self, builder: Builder, limit: float | None, before: int = 0) -> None:
        self._builder = builder
        self._before = before
        self._limit = limit
        self._most = float("inf") if limit is None else limit * limits.STEPS_PER_XLA_SECOND - before
        self._last = _NEVER
        self._run = 0
        self._ask: Callable[[], None] | None = None
        self._ask_at = _NEVER
        if _caller.until is None:
            _caller.until = time.perf_counter() + _caller.patience
        self._until = _caller.until
        self._done: dict[tuple[stage.Instr | stage.Function, bool], _Done] = {}

    @property
    def steps(self) -> int:
        """Instructions run, operations requested, values joined and intervals computed, restarts included."""
        return self._before + self._run + self._builder.made

    def run(self, steps: int = 1) -> None:
        """Counts steps ahead. Raises `Exhausted` past the limit."""
        self._run += steps
        run = self._run + self._builder.made
        if run > self._most or run > self._last:
            raise Exhausted
        if run > self._ask_at and self._ask is not None:
            self._ask()
        self.check_time()

    def check_time(self) -> None:
        """Raises `OutOfTime` where inference has taken as long as its caller waits."""
        if self._until < _NEVER and time.perf_counter() > self._until:
            raise OutOfTime

    def begin_again_soon(self, ask: Callable[[], None]) -> None:
        """Calls `ask`, which has inference begin again, after half as many further steps as were taken so far.

        By then it has mostly found what else it asks for. Where it has not, it came at least half as far again as before.
        So all that is inferred in vain is less than five times what led to the last demand.
        """
        if self._ask is None:
            self._ask = ask
            self._ask_at = 1.5 * (self._run + self._builder.made) + limits.STEPS_AFTER_A_DEMAND

    def end_soon(self) -> None:
        """Has inference end (`Exhausted`) after `STEPS_AFTER_A_REFUSAL` further steps: they only find further problems."""
        self._last = min(self._last, self._run + self._builder.made + limits.STEPS_AFTER_A_REFUSAL)

    @property
    def ended_soon(self) -> bool:
        """True where inference has ended as `end_soon` says."""
        return self._run + self._builder.made > self._last

    def foresee(self, trips: Sequence[int], left: int) -> None:
        """Raises `Exhausted` where the remaining trips of an unrolled loop would take far more than the limit.

        `trips`: the steps of those before, of which the cheapest of the last few counts.
        """
        if len(trips) >= _LATEST and self.steps + left * min(trips[-_LATEST:]) > _FAR * (
            self._most + self._before
        ):
            raise Exhausted

    def foresee_passes(self, passes: Sequence[int]) -> None:
        """Raises `Exhausted` where the latest passes over the body of a loop, of which these are the steps, took much, and
        each more than the one before."""
        latest = passes[-limits.GROWING_PASSES :]
        grow = len(latest) == limits.GROWING_PASSES and all(a < b for a, b in itertools.pairwise(latest))
        if grow and sum(latest) > limits.GROWING_PASSES_STEPS:
            raise Exhausted

    @contextmanager
    def at_most(self, steps: int) -> Iterator[None]:
        """A `with` block in which `Exhausted` is raised after so many further steps."""
        most = self._most
        self._most = min(most, self._run + self._builder.made + steps)
        try:
            yield
        finally:
            self._most = most

    def next_pass(self, loop: stage.Instr) -> Again:
        """A `with` block for one more pass over the body of a rolled loop."""
        done = self._done.setdefault((loop, False), _Done())
        done.times += 1
        return Again(self, done)

    def trip(self, loop: stage.Instr, number: int, why: Note | None) -> Again:
        """A `with` block for the trip of this number, from 1, of a loop that is unrolled for the reason `why`."""
        done = self._done.setdefault((loop, True), _Done())
        done.why = why
        done.times = max(done.times, number)
        return Again(self, done)

    def recursion(self, function: stage.Function, call: Span | None) -> Again:
        """A `with` block for the inference of a call at `call` of a function that is being inferred."""
        done = self._done.setdefault((function, False), _Done(call=call))
        done.times += 1
        return Again(self, done)

    def has_inferred(self, loop: stage.Instr) -> bool:
        """True if the body of a loop has been inferred."""
        return (loop, False) in self._done or (loop, True) in self._done

    def forget(self, loops: Iterable[stage.Instr]) -> None:
        """Forgets how often these loops were inferred: they begin again in another way."""
        for loop in loops:
            self._done.pop((loop, False), None)
            self._done.pop((loop, True), None)

    def loops(self) -> list[tuple[stage.Instr, bool, int]]:
        """The loops that ran: whether each was unrolled, and how often its body was inferred."""
        return [
            (loop, written, done.times)
            for (loop, written), done in self._done.items()
            if not isinstance(loop, stage.Function)
        ]

    def multiplied(self) -> tuple[Multiplied, ...]:
        """The loops that were inferred more than once, and the functions that call themselves."""
        steps = max(self._run + self._builder.made, 1)
        return tuple(
            [
                Multiplied(
                    done.call or what.span,
                    written,
                    done.times,
                    done.steps / steps,
                    done.why,
                    what.name if isinstance(what, stage.Function) else None,
                )
                for (what, written), done in self._done.items()
                if done.times > 1
            ]
        )

    def diagnostic(self, where: Span | None) -> ProgramTooLarge:
        """The diagnostic for an inference that ended at `where`."""
        assert self._limit is not None
        most = f"{self._limit * limits.STEPS_PER_XLA_SECOND:,.0f}"
        size = f"over {most} steps to find out its types, {limits.STEPS_PER_XLA_SECOND:,} for each second"
        return too_large(size, self._limit, self.multiplied(), where, 0.0)
