"""Explicit barriers: `lazy.sync`."""

from __future__ import annotations

import jax

from .arena import arena_of, arenas
from .array import LazyTensor
from .barrier import barrier


def sync(*tensors: LazyTensor, wait: bool = False) -> None:
    """Computes all lazy tensors that are alive, or those on the devices of `tensors`; `wait`: until they are there."""
    for arena in [arena_of(t.device) for t in tensors] or arenas():
        barrier(arena, "sync")
        if wait:
            jax.block_until_ready([t._node.array for t in arena.tensors() if t._node is not None])
