"""The signal by which inference asks for the value of an argument."""

from __future__ import annotations

from ..diagnostics.span import Span


class NeedsConstant(Exception):
    """Inference needs the dynamic leaf `leaf` of the arguments as a constant.

    Whoever called inference calls it again with the leaf's real value among `static`. `span` is what needs
    the constant and `reason` says what for, as `the shape of np.zeros`.
    """

    def __init__(self, leaf: int, span: Span | None, reason: str) -> None:
        super().__init__(f"argument leaf {leaf} must be known while compiling: {reason}")
        self.leaf = leaf
        self.span = span
        self.reason = reason
