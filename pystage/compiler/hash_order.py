"""Sets whose order is another one in every process: of texts, which Python hashes with a secret, and of objects by address.

Inference goes over known sets in the order that they have in this process, as the plain run does. A program that has seen
such a set may depend on that order, and is no program for another process (`runtime/cache/`).

The order of a set depends on its hash table: on the calls that made and changed it, which `SetHistory` repeats.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..records import dataclass
from . import limits

_NUMBERS = (bool, int, float, complex, np.generic)


class HashOrder(enum.IntEnum):
    """What the order of the sets that an inference has seen depends on."""

    FIXED = 0
    OF_TEXTS = 1
    OF_ADDRESSES = 2


class _Noted(threading.local):
    order = HashOrder.FIXED


_noted = _Noted()


def note_set(items: Collection[object]) -> None:
    """Inference has met a set of these elements."""
    if len(items) > 1:
        _noted.order = max(_noted.order, *map(_order, items))


def _order(item: object) -> HashOrder:
    if isinstance(item, _NUMBERS) and not isinstance(item, enum.Enum):
        return HashOrder.FIXED
    if isinstance(item, str | bytes | enum.Enum):
        return HashOrder.OF_TEXTS
    if isinstance(item, tuple):
        return max(map(_order, item), default=HashOrder.FIXED)
    return HashOrder.OF_ADDRESSES


@contextmanager
def noting() -> Iterator[_Noted]:
    """What is noted in the `with` block, in this thread; its `order` says what of the sets met so far."""
    before, _noted.order = _noted.order, HashOrder.FIXED
    try:
        yield _noted
    finally:
        _noted.order = max(before, _noted.order)


class FirstOperand(enum.Enum):
    """`AGAIN` stands in a history for the set of the first operand: CPython treats `s | s` and `s -= s` as special."""

    AGAIN = enum.auto()


@dataclass(frozen=True, slots=True, eq=False)
class SetHistory:
    """How CPython came to a set: the call that made it, or that changed the set of its first operand.

    Operands are the histories of other sets, `FirstOperand.AGAIN`, and objects as the call takes them. `calls`: with
    those of the operands.
    """

    function: Callable[..., Any]
    operands: tuple[Any, ...]
    changes: bool
    calls: int

    def replay(self) -> set[Any]:
        """A new set with the hash table that the plain run has."""
        sets: list[set[Any]] = []
        for each in self.trace():
            first = len(sets) - sum(isinstance(operand, SetHistory) for operand in each.operands)
            known = iter(sets[first:])
            operands = [next(known) if isinstance(x, SetHistory) else x for x in each.operands]
            operands = [operands[0] if x is FirstOperand.AGAIN else x for x in operands]
            result = each.function(*operands)
            sets[first:] = [operands[0] if each.changes else result]
        (made,) = sets
        return made

    def trace(self) -> list[SetHistory]:
        """All calls, operands first."""
        calls, open_calls = [], [self]
        while open_calls:
            call = open_calls.pop()
            calls.append(call)
            open_calls += [operand for operand in call.operands if isinstance(operand, SetHistory)]
        return calls[::-1]


def made_by(function: Callable[..., Any], *operands: Any) -> SetHistory | None:
    """The history of a new set, `function(*operands)`; None where that of an operand is None, or it is too long."""
    return _called(function, operands, False)


def changed_by(function: Callable[..., Any], history: SetHistory | None, *operands: Any) -> SetHistory | None:
    """The history of a set after `function(s, *operands)`, which changes it; None as for `made_by`."""
    return _called(function, (history, *operands), True)


def _called(function: Callable[..., Any], operands: tuple[Any, ...], changes: bool) -> SetHistory | None:
    histories = [operand for operand in operands if isinstance(operand, SetHistory)]
    calls = 1 + sum(each.calls for each in histories)
    if calls > limits.SET_HISTORY or any(operand is None for operand in operands):
        return None
    return SetHistory(function, operands, changes, calls)
