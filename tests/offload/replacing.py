"""Replaces a plain run on the stack at the head of a loop that a test chooses."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pystage
from pystage.offload.continuations import Continuation, Continuations, continuations_of
from pystage.runtime import on_stack
from pystage.runtime.tiers import Kind, Tiers, plain_runs
from pystage.staging import compile_part


class _At:
    """The continuations of a function from one time on that it comes to the head of a loop."""

    def __init__(self, arrival: int, found: Continuations | None) -> None:
        self._left = arrival
        self._found = found

    def at(self, frame: FrameType) -> Continuation | None:
        made = None if self._found is None else self._found.at(frame)
        if made is None:
            return None
        self._left -= 1
        return made if self._left < 0 else None


class Replacing:
    """Runs a function plainly, up to a head of a loop, and the rest as a program."""

    def __init__(self, function: Callable[..., Any], arrival: int) -> None:
        self.function = function
        self.arrival = arrival
        self.replaced = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tiers = Tiers(self.function, self._continuations, pystage.compile(self.function).recursive_runs)
        tiers.compiling, tiers.compilations = 0.0, 1  # the price is nothing
        sys.settrace(functools.partial(self._trace, tiers))
        try:
            return tiers.run_plainly(Kind(), args, kwargs)
        finally:
            sys.settrace(None)
            self.replaced += tiers.replaced

    def _continuations(self, function: Callable[..., Any]) -> Any:
        return _At(self.arrival, continuations_of(function, functools.partial(compile_part, tier="compiled")))

    def _trace(self, tiers: Tiers, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code is not getattr(self.function, "__code__", None):
            return None
        run = plain_runs[-1]
        run.began -= 1e6  # so inference has time
        tracer = on_stack._Tracer(run, frame)
        sys.settrace(tracer.elsewhere)
        frame.f_trace = tracer.in_frame
        return tracer.in_frame
