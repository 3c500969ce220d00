"""Staging a function while looking at the engine that infers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pystage
from pystage.compiler.hlo.walk import functions
from pystage.compiler.infer import entry
from pystage.compiler.infer.interpreter import Interpreter
from pystage.runtime.lowering import Lowered


class Watch:
    """The engines of one staging, and its result; `refused`: the code that it ends with instead."""

    def __init__(self, function: Callable[..., Any], *args: Any, refused: str | None = None) -> None:
        self.engines: list[Interpreter] = []
        watch = self

        class Watched(Interpreter):
            def __init__(self, *engine_args: Any) -> None:
                super().__init__(*engine_args)
                watch.engines.append(self)

            def release(self) -> None:
                """Keeps everything, to be looked at."""

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(entry, "Interpreter", Watched)
            if refused is None:
                self.lowered: Lowered = pystage.compile(function).lower(*args)
            else:
                with pytest.raises(pystage.StagingError, match=refused):
                    pystage.compile(function).lower(*args)

    @property
    def body_passes(self) -> list[int]:
        """How often the body of each loop was inferred, by the last engine."""
        return [times for _, written, times in self.engines[-1].effort.loops() if not written]

    @property
    def trips(self) -> list[int]:
        """How many trips of each loop were written out, by the last engine."""
        return [times for _, written, times in self.engines[-1].effort.loops() if written]

    @property
    def callees(self) -> list[str]:
        """The names of the private functions of the program as inferred."""
        return [f.name for f in functions(self.lowered.staged.program.function)][1:]
