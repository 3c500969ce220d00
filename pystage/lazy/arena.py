"""Arenas: the live lazy tensors of a device, and the size of the pending record.

An arena holds tensors weakly: a tensor registers when it is allocated and is gone with its last reference, so that a
barrier computes only what can still be used. It also decides where a record without a barrier is cut: preferably after a
call after which one was cut before, so that the cuts of a loop give the same programs in all of its trips.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import TYPE_CHECKING, Any

from .devices import is_cpu
from .graph import Node

if TYPE_CHECKING:
    from .recipes import Recipe

LIMIT = 256
"""From this number of recorded calls on a record is cut where one was cut before; at twice as many anywhere."""
_CONTEXT = 16
"""The number of preceding calls by which a cut is recognised."""
_CUTS = 10_000
"""The number of cuts that are remembered."""


class Registered:
    """The base class of tensors that an arena can hold. `_node` is the node of the latest load or store.

    Of what owns its memory, `_recording` is the recording of a step in which it was made, and `_entry` the number under
    which an arena has it. It has none before it is recorded: nothing is to be computed.
    """

    __slots__ = ("__weakref__", "_entry", "_node", "_recording")
    _node: Node | None
    _recording: Any
    _entry: int | None


class _Reference(weakref.ref[Registered]):
    """A weak reference that knows its number in the arena."""

    __slots__ = ("number",)
    number: int


class Arena:
    """The tensors of one device that own their memory, and the recipes recorded since the last barrier."""

    __slots__ = (
        "_cuts",
        "_forget",
        "_numbers",
        "_tensors",
        "device",
        "kinds",
        "lock",
        "recorded",
        "small_calls",
    )

    def __init__(self, device: Any) -> None:
        self.device = device
        self.recorded: list[Recipe] = []
        self.small_calls = 1 << 30 if is_cpu(device) else -(1 << 62)
        """The number of small calls since the last large one; far below 0 where none is computed at once."""
        self.kinds: dict[Any, Any] = {}
        """The kinds of what NumPy has computed, by dtype and shape, for arrays in row-major order."""
        self._cuts: set[tuple[Recipe, ...]] = set()
        self.lock = threading.RLock()
        """Held by a barrier while it computes."""
        self._numbers = itertools.count()
        self._tensors: dict[int, _Reference] = {}
        tensors = self._tensors

        def forget(reference: _Reference) -> None:
            del tensors[reference.number]

        self._forget: Any = forget

    def register(self, tensor: Registered, is_older: bool = False) -> None:
        """Registers a tensor that owns its memory, for its lifetime. `is_older`: than all that have a number."""
        reference = _Reference(tensor, self._forget)
        number = next(self._numbers)
        reference.number = tensor._entry = -1 - number if is_older else number
        self._tensors[reference.number] = reference

    def tensors(self) -> list[Registered]:
        """The live tensors, in the order of their creation."""
        found = [reference() for reference in list(self._tensors.values())]
        return [tensor for tensor in found if tensor is not None]

    def created_since(self, number: int) -> list[Registered]:
        """The live tensors that were created after `now` gave this number."""
        found = [reference() for reference in list(self._tensors.values()) if reference.number > number]
        return [tensor for tensor in found if tensor is not None]

    def now(self) -> int:
        """A number between those of tensors created before and of those created later."""
        return next(self._numbers)

    def is_cut(self) -> bool:
        """True where a record of `LIMIT` calls is cut."""
        context = tuple(self.recorded[-_CONTEXT:])
        if context in self._cuts:
            return True
        if len(self.recorded) < 2 * LIMIT:
            return False
        if len(self._cuts) >= _CUTS:
            self._cuts.clear()
        self._cuts.add(context)
        return True

    def begin(self) -> None:
        """Begins a new record after a barrier has computed everything."""
        self.recorded.clear()


_arenas: dict[Any, Arena] = {}


def arena_of(device: Any) -> Arena:
    """The arena of a device."""
    return _arenas.get(device) or _arenas.setdefault(device, Arena(device))


def arenas() -> list[Arena]:
    """The arenas of all devices that have had tensors."""
    return list(_arenas.values())
