"""How an operation is done by NumPy on the host instead of by XLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .ir import Value


@dataclass(frozen=True)
class OnHost:
    """`function(*operands)` gives those results of the operation that stand at `places`.

    The function takes arrays that it must not change, is pure, and compares equal to what computes the same.
    """

    function: Callable[..., Sequence[np.ndarray]]
    operands: tuple[Value, ...]
    places: tuple[int, ...]
