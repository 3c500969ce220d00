"""Host memory: makes ndarrays of results, aligns ndarrays for XLA, and detects aliasing among the ndarrays of a call.

XLA's results on a CPU lie in host memory already. A large one is adopted: the ndarray owns the buffer through an object
that keeps the `jax.Array` alive. Small ones are copied, which is cheaper.

XLA:CPU reads an ndarray in place if it is aligned to 64 bytes, which NumPy's large arrays are not. JAX copies the others
into new memory at every call, which is slow because the system must first provide pages; here they are copied into memory
that earlier calls used.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...records import dataclass

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


def adopted(array: jax.Array | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A writable ndarray with the contents of `array`, which has no other owner: no copy on a CPU.

    A row of a result, which is an ndarray already, shares its memory with the other rows: it is copied.
    """
    if isinstance(array, jax.Array) and _is_plain_host_buffer(array):
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


COPY_BYTES = 1 << 20
"""From this size on an ndarray that XLA cannot read where it lies is copied by us."""
_ALIGNMENT = 64
_KEPT = 4
"""How many buffers are kept for further calls."""
_buffers: list[np.ndarray[Any, Any]] = []
_buffers_lock = threading.Lock()


def readable(values: Sequence[Any]) -> Sequence[Any]:
    """The inputs of a program; large ndarrays in memory that XLA:CPU can read without a copy.

    Bools are bytes of 0 and 1 to XLA; to NumPy, whose views may hold others, every byte but 0 is True.
    """
    for value in values:
        if type(value) is np.ndarray and (value.nbytes >= COPY_BYTES or value.dtype.char == "?"):
            return [_readable(v) if type(v) is np.ndarray else v for v in values]
    return values


def _readable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype.char == "?" and array.size and array.view(np.uint8).max() > 1:
        truth: np.ndarray[Any, Any] = array.view(np.uint8) != 0
        return truth
    return _aligned(array) if array.nbytes >= COPY_BYTES else array


def _aligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.flags.c_contiguous and array.__array_interface__["data"][0] % _ALIGNMENT == 0:
        return array
    copy: np.ndarray[Any, Any] = _buffer(array.nbytes).view(array.dtype).reshape(array.shape)
    np.copyto(copy, array)
    return copy


def _buffer(size: int) -> np.ndarray[Any, Any]:
    """Memory of `size` bytes for an input: a used one, if nobody holds it any more, else new."""
    with _buffers_lock:
        for i, length in enumerate([len(b) for b in _buffers]):
            # A result that is an input, and a program that still runs, refer to what they were given: to a
            # view, which refers to the buffer.
            if length == size + _ALIGNMENT and _references(_buffers, i) == _IDLE:
                memory = _buffers.pop(i)
                break
        else:
            memory = np.empty(size + _ALIGNMENT, np.uint8)
        _buffers.append(memory)
        del _buffers[:-_KEPT]
        start = -memory.__array_interface__["data"][0] % _ALIGNMENT
        return memory[start : start + size]


def _references(buffers: list[np.ndarray[Any, Any]], index: int) -> int:
    """The number of references to a buffer, including those of its list and of this call."""
    return sys.getrefcount(buffers[index])


_IDLE = _references([np.empty(1)], 0)
"""References to a buffer that nobody uses; how many the call itself has is Python's affair."""


def shares_memory(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """True if a store into one array may change the other."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=_OVERLAP_WORK)
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(array: np.ndarray[Any, Any]) -> bool:
    """True if two elements of an array may lie at one place, as those of sliding windows do."""
    if array.flags.c_contiguous or not array.size:
        return False
    reach = array.itemsize
    for stride, extent in sorted([(abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1]):
        if stride < reach:
            return True
        reach += stride * (extent - 1)
    return False


@dataclass(frozen=True, slots=True)
class Received:
    """One input of a run, its path, and whether it was read from the environment."""

    value: Any
    path: str
    from_environment: bool


def overlapping(
    stored: Sequence[tuple[np.ndarray[Any, Any], str]], received: Sequence[Received]
) -> tuple[int, int] | None:
    """The first pair of a stored array and a received one that share memory, as indices; None if none do.

    A stored array, with its path, is among those that the call received, once or more often: the same object, or the same
    field of a structured ndarray, of which each look-up is another object. The same array as argument and in the environment
    is a pair, and so is an array that overlaps itself.
    """
    for i, (array, path) in enumerate(stored):
        itself = overlaps_itself(array)
        same = [other.value is array or other.path == path for other in received]
        places = {other.from_environment for other, is_it in zip(received, same) if is_it}
        for j, other in enumerate(received):
            if type(other.value) is not np.ndarray:
                continue
            if same[j]:
                if len(places) > 1 or itself:
                    return i, j
            elif shares_memory(array, other.value):
                return i, j
    return None
