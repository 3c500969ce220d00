"""Interpretation of cold segments by the reference interpreter, in NumPy, without XLA.

XLA takes tens of milliseconds for a new program, which a program that runs only a few times on small arrays never earns
back. So a segment is interpreted until that has cost about as much as compiling it would. The cost is estimated from the
operations and their types, the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compiler.hlo.interpret import interpret
from .devices import is_cpu
from .segment import Key, Segment

COMPILING, COMPILING_CALL = 40_000.0, 4_000.0
"""Microseconds that XLA takes for a program, and for each of its calls."""


def interpreted(segment: Segment) -> list[np.ndarray[Any, Any]]:
    """The arrays of the outputs of a segment, in row-major order and read-only."""
    last: dict[int, int] = {}
    for place, call in enumerate(segment.calls):
        for node in call.operands:
            if (before := segment.call_of(node)) is not None:
                last[id(before)] = place
    for node in segment.outputs:
        last[id(segment.call_of(node))] = len(segment.calls)
    results: dict[int, Sequence[np.ndarray[Any, Any]]] = {}
    for place, call in enumerate(segment.calls):
        operands = []
        for node in call.operands:
            before = segment.call_of(node)
            operands.append(np.asarray(node.array) if before is None else results[id(before)][node.index])
        results[id(call)] = interpret(call.recipe.function, operands)
        for node in call.operands:
            before = segment.call_of(node)
            if before is not None and last[id(before)] == place:
                results.pop(id(before), None)
    return [own(results[id(segment.call_of(node))][node.index]) for node in segment.outputs]


def own(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy: an array may lie in the memory of another, or of an input."""
    own = np.array(array, order="C")
    own.flags.writeable = False
    return own


class Heat:
    """The accumulated cost of interpreting segments, by their structure."""

    def __init__(self) -> None:
        self._spent: dict[Key, float] = {}

    def is_cold(self, segment: Segment) -> bool:
        """True if a segment is to be interpreted once more; records the cost of that."""
        budget = COMPILING + COMPILING_CALL * len(segment.calls)
        spent = self._spent.get(segment.key, 0.0) + sum([call.recipe.cost for call in segment.calls])
        if spent > budget or not is_cpu(segment.outputs[0].device):
            return False
        if len(self._spent) >= _SEGMENTS:
            self._spent.clear()
        self._spent[segment.key] = spent
        return True


_SEGMENTS = 4096
"""The number of segments whose cost is kept."""
