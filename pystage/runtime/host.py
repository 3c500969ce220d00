"""Host memory: ndarrays made of results, and ndarrays of one call that share memory.

XLA's results on a CPU lie in host memory already. A large one is adopted: the ndarray owns the buffer through
an object that keeps the `jax.Array` alive, which nobody else sees. Small ones are copied, which is cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

ADOPT_BYTES = 1 << 16
"""From this size on a result's buffer is adopted instead of copied."""
_OVERLAP_WORK: Any = 10_000
"""How much `np.shares_memory` may try before an overlap is taken for granted."""


class _Owner:
    """Lends the memory of a `jax.Array` to one ndarray, and keeps it alive (NumPy's array interface)."""

    __slots__ = ("__array_interface__", "_array")

    def __init__(self, array: jax.Array) -> None:
        self._array = array
        self.__array_interface__ = {
            "version": 3,
            "shape": (array.nbytes,),
            "typestr": "|u1",
            "data": (array.unsafe_buffer_pointer(), False),
        }


def adopted(array: jax.Array) -> np.ndarray[Any, Any]:
    """A writable ndarray with the contents of `array`, which nobody else has or will have: no copy on a CPU."""
    if _is_plain_host_buffer(array):
        array.block_until_ready()
        memory: np.ndarray[Any, Any] = np.asarray(_Owner(array)).view(array.dtype)
        return memory.reshape(array.shape)
    return np.array(array)


def _is_plain_host_buffer(array: jax.Array) -> bool:
    """True for one buffer in host memory whose elements are in C order."""
    if len(array.devices()) != 1 or next(iter(array.devices())).platform != "cpu":
        return False
    order = array.format.layout
    return order is None or tuple(order.major_to_minor) == tuple(range(array.ndim))


def shares_memory(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """True if a store into one array may change the other."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=_OVERLAP_WORK)
    except np.exceptions.TooHardError:
        return True


def overlapping(
    stored: Sequence[np.ndarray[Any, Any]], received: Sequence[tuple[Any, bool]]
) -> tuple[int, int] | None:
    """The first pair of a stored array and a received one that share memory, as indices; None if none do.

    `received` pairs what the call received with whether it was read from the world. The stored array itself
    is among them, once or more often; the same array as argument and in the world is a pair.
    """
    for i, array in enumerate(stored):
        places = {from_world for other, from_world in received if other is array}
        for j, (other, _) in enumerate(received):
            if type(other) is not np.ndarray:
                continue
            if other is array:
                if len(places) > 1:
                    return i, j
            elif shares_memory(array, other):
                return i, j
    return None
