"""Sets whose order is another one in every process: of texts, which Python hashes with a secret, and of objects by address.

Inference goes over known sets in the order that they have in this process, as the plain run does. A program that has seen
such a set may depend on that order, and is no program for another process (`runtime/cache/`).
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import numpy as np

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
