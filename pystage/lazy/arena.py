"""The lazy tensors that are alive on a device, and how much is recorded of which nothing is computed yet.

An arena holds tensors weakly: one registers when it is made and is gone with its last name, so that a barrier computes
what somebody can still ask for, and nothing else. It also says when a program is cut that no barrier ends: where the
recipes repeat, as in a loop, after whole trips, so that every cut gives the same program.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recipes import Recipe
    from .tensor import Tensor

LIMIT = 256
"""So many recorded calls without a barrier bring one about."""
_REPEATS = 3
"""A segment that was recorded so many times, one right after the other, is taken for the trip of a loop."""


class _Reference(weakref.ref["Tensor"]):
    """A weak reference that knows under which number the arena has it."""

    __slots__ = ("number",)
    number: int


class Arena:
    """The tensors of one device that own their memory, and the recipes recorded since the last barrier."""

    __slots__ = ("_forget", "_tensors", "device", "limit", "lock", "recorded")

    def __init__(self, device: Any) -> None:
        self.device = device
        self.recorded: list[Recipe] = []
        self.limit = LIMIT
        self.lock = threading.RLock()
        """Held by a barrier while it computes."""
        self._tensors: dict[int, _Reference] = {}
        tensors = self._tensors

        def forget(reference: _Reference) -> None:
            del tensors[reference.number]

        self._forget: Any = forget

    def register(self, tensor: Tensor) -> None:
        """Notes a tensor that owns its memory, for as long as it is alive."""
        reference = _Reference(tensor, self._forget)
        reference.number = id(reference)
        self._tensors[reference.number] = reference

    def tensors(self) -> list[Tensor]:
        """The tensors that are alive, in the order in which they were made."""
        found = [reference() for reference in list(self._tensors.values())]
        return [tensor for tensor in found if tensor is not None]

    def begin(self) -> None:
        """Nothing is recorded any more: a barrier has computed it."""
        full = len(self.recorded) >= self.limit
        period = _period(self.recorded) if full else None
        self.limit = LIMIT if period is None else period * max(1, LIMIT // period)
        self.recorded.clear()


def _period(recorded: list[Recipe]) -> int | None:
    """The length of the segment that the record ends with several times, None if it does not."""
    for length in range(1, len(recorded) // _REPEATS + 1):
        last = recorded[-length:]
        if all(recorded[-(n + 1) * length : -n * length] == last for n in range(1, _REPEATS)):
            return length
    return None


_arenas: dict[Any, Arena] = {}


def arena_of(device: Any) -> Arena:
    """The arena of a device."""
    return _arenas.get(device) or _arenas.setdefault(device, Arena(device))


def arenas() -> list[Arena]:
    """The arenas of all devices that have had tensors."""
    return list(_arenas.values())
