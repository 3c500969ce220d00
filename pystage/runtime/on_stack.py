"""On-stack replacement: a plain run that turns out to be long goes on as a compiled program, at the head of a loop.

A thread looks several times a second how long the plain runs in the main thread have taken. Once one has cost as much as
compiling does, a pending call of CPython (`Py_AddPendingCall`) makes the main thread trace the frame of the run, until it
stands at the head of a loop. There the rest of the run is compiled, as a function of the frame's variables
(`offload/continuations.py`). An exception then leaves the frame, and the caller runs the program. A rest that cannot be
staged goes on as it was. Source: Fink and Qian 2003, "Design, Implementation and Evaluation of Adaptive Recompilation with
On-Stack Replacement".
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import Any, Protocol

import jax

from ..compiler.diagnostics.errors import StagingError
from .tiers import EVERY, Replaced, Run, Tiers, plain_runs, watchers

LINGERS = 8
"""Looks after which the thread ends if nothing runs plainly."""
LINES = 5_000
"""The most lines and calls that are traced in search of the head of a loop."""
AGAIN = 2.0
"""A run that was not replaced is looked at again when it has taken this many times as long."""

_now = time.perf_counter


class RestOfRun(Protocol):
    """The rest of a run as a function of the variables at the head of a loop."""

    @property
    def variables(self) -> Sequence[str]:
        """The names of the variables."""

    def compile(self, values: Sequence[Any], seconds: float) -> None:
        """Compiles it for these values; StagingError if it cannot be staged, TimeoutError if inference takes longer."""

    def run(self, values: Sequence[Any]) -> Any:
        """Runs it."""


class LoopHeads(Protocol):
    """The continuations of a function."""

    def at(self, frame: FrameType) -> RestOfRun | None:
        """The continuation of a frame that is about to execute a line; None where there is none."""


def watch() -> None:
    """Looks at the plain runs, and has those replaced that are due, until nothing has run plainly for a while."""
    idle = 0
    while True:
        idle = 0 if plain_runs else idle + 1
        if idle == LINGERS:
            here = watchers.pop()
            if not plain_runs:  # a run that began since then has a thread of its own
                return
            watchers.append(here)
        if _due() is not None:
            ctypes.pythonapi.Py_AddPendingCall(_trace_pending, None)
        time.sleep(EVERY)


def _due() -> Run | None:
    """The innermost run that is to be replaced."""
    now = _now()
    return next((run for run in reversed(plain_runs[:]) if run.seconds(now) >= run.due), None)


def _trace() -> None:
    """Traces the frame of the run that is due. The main thread calls it between two bytecodes of whatever it runs."""
    run = _due()
    if run is None:
        return
    run.due = AGAIN * run.seconds(_now())
    frame = _frame_of(run, sys._getframe(1))
    if frame is not None and sys.gettrace() is None and frame.f_trace is None:
        tracer = _Tracer(run, frame)
        frame.f_trace = tracer.in_frame
        sys.settrace(tracer.elsewhere)


def _pending(_: Any) -> int:
    _trace()
    return 0


_trace_pending = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_pending)
_PLAIN_RUN = Tiers.run_plainly.__code__


def _frame_of(run: Run, frame: FrameType | None) -> FrameType | None:
    """The frame of a run's function among the callers of `frame`."""
    depth = len(plain_runs) - plain_runs.index(run)
    while frame is not None:
        caller = frame.f_back
        if caller is not None and caller.f_code is _PLAIN_RUN:
            depth -= 1
            if not depth:
                return frame if run.tiers.runs.executes(frame.f_code) else None
        frame = caller
    return None


class _Tracer:
    """Looks for the head of a loop in one frame, and replaces the run there."""

    def __init__(self, run: Run, frame: FrameType) -> None:
        self._run = run
        self._frame = frame
        self._left = LINES

    def elsewhere(self, frame: FrameType, event: str, arg: Any) -> None:
        """Counts the calls that the frame makes meanwhile."""
        self._left -= 1
        if self._left < 0:
            self._stop()

    def in_frame(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Replaces the run if the frame is at the head of a loop."""
        if event == "return":
            self._stop()
        elif event == "line":
            tiers = self._run.tiers
            seconds = self._run.seconds(_now())
            if seconds < tiers.price:
                self._run.due = tiers.price
                self._stop()
                return None
            self._left -= 1
            continuation = tiers.continuations.at(frame) if tiers.continuations is not None else None
            if continuation is not None:
                self._stop()
                self._replace(continuation, seconds)
            elif self._left < 0 or tiers.continuations is None:
                self._stop()
        return self.in_frame if self._frame.f_trace is not None else None

    def _replace(self, continuation: RestOfRun, seconds: float) -> None:
        """Leaves the frame, if what is left of the run can be staged; inference may take half as long as the run has."""
        local = self._frame.f_locals
        values = [local[name] for name in continuation.variables]
        began = _now()
        try:
            continuation.compile(values, seconds / 2)
        except TimeoutError:
            return
        except (StagingError, jax.errors.JaxRuntimeError):
            self._run.due = float("inf")
            return
        finally:
            self._run.compiling += _now() - began
            self._run.tiers.note_compiling(_now() - began)
        raise Replaced(self._run, lambda: continuation.run(values))

    def _stop(self) -> None:
        sys.settrace(None)
        self._frame.f_trace = None
