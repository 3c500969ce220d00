"""A compiled function that counts how often it is inferred, and how many programs come of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pystage.compiler.infer.entry import infer_program
from pystage.compiler.values.boundary import Program
from pystage.runtime.function import CompiledFunction


class Counted:
    """Inference that counts: `inferences` that ended in any way, and the programs that were kept."""

    def __init__(self) -> None:
        self.inferences = 0
        self.function: CompiledFunction[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Program:
        self.inferences += 1
        return infer_program(*args, **kwargs)

    @property
    def programs(self) -> int:
        """How many programs the function has."""
        assert self.function is not None
        return len(self.function.signatures())


def counted(function: Callable[..., Any]) -> tuple[CompiledFunction[..., Any], Counted]:
    """The function compiled, and what counts its inferences."""
    infer = Counted()
    infer.function = CompiledFunction(function, fallback=None, donate=frozenset(), name=None, infer=infer)
    return infer.function, infer
