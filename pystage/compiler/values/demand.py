"""How inference asks for the values of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..diagnostics.span import Span


class NeedsConstant(Exception):
    """Inference needs the dynamic leaf `leaf` of the arguments as a constant.

    Whoever called inference calls it again with the leaf's real value among `static`. `span` is what needs
    the constant and `reason` says what for, as `the shape of np.zeros`. `more` are further demands that the
    same inference made.
    """

    def __init__(
        self, leaf: int, span: Span | None, reason: str, more: tuple[NeedsConstant, ...] = ()
    ) -> None:
        super().__init__(f"argument leaf {leaf} must be known while compiling: {reason}")
        self.leaf = leaf
        self.span = span
        self.reason = reason
        self.more = more


class Statics(dict[int, Any]):
    """The values of argument leaves that are known to be wanted, and how to ask for more of them.

    `ask` gives the value of a dynamic leaf, None where only its type is known. Inference goes on with a
    value that it asked for, so that one pass finds all demands.
    """

    def __init__(self, values: Mapping[int, Any], ask: Callable[[int], Any]) -> None:
        super().__init__(values)
        self.ask = ask
