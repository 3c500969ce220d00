"""Lazy tensors: NumPy's array API that records what is done, and compiles it when somebody looks."""

from __future__ import annotations

from typing import Any

from .arena import arena_of, arenas
from .array import LazyTensor, from_host
from .barrier import barrier
from .devices import DeviceMismatch, device_named

__all__ = ["DeviceMismatch", "LazyTensor", "asarray", "sync"]


def asarray(x: Any, dtype: Any = None, device: Any = None) -> LazyTensor:
    """A lazy tensor with a copy of the elements of `x`."""
    import numpy as np

    return from_host(np.asarray(x, dtype), device)


def sync(*tensors: LazyTensor, wait: bool = False) -> None:
    """Computes all lazy tensors that are alive, or those on the devices of `tensors`; `wait`: until they are there."""
    chosen = [arena_of(t.device) for t in tensors] or arenas()
    for arena in chosen:
        barrier(arena, "sync")
        if wait:
            for tensor in arena.tensors():
                array = tensor._node.array
                if hasattr(array, "block_until_ready"):
                    array.block_until_ready()
