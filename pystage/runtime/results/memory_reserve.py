"""Keeps the memory of large arrays in the process, for the arrays of later calls.

XLA:CPU allocates temporaries and results with the C library at every call. Above some size (32 MiB at most) glibc maps
fresh pages and unmaps them when they are freed, and the system clears each new page: four times as long as computing with
them takes. So glibc is told, once per process, to keep freed memory of up to `pystage.config.kept_memory` bytes a block.

XLA runs programs in threads of its own. A thread has its own malloc arena, unless there may be only one, made of 64 MiB
heaps that are unmapped when they are empty. Threads that JAX started before keep their arena: for them 64 MiB is the limit.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading

import jax

from ...config import config

# The parameters of glibc's `mallopt`, as in its <malloc.h>.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8

_HEAP = 64 << 20
"""The largest piece of an arena that is not the first."""
_OLD_LIMIT = 32 << 20
"""The largest threshold that older versions of glibc take."""
_VARIABLES = (
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_MMAP_MAX_",
)

_applied = 0
_lock = threading.Lock()


def keep() -> None:
    """Passes the setting `pystage.config.kept_memory` to the C library, if it has changed."""
    global _applied
    if config.kept_memory == _applied:
        return
    with _lock:
        size, _applied = config.kept_memory, config.kept_memory
        mallopt = _mallopt()
        if mallopt is None or _chosen_by_user() or not _for_cpus():
            return
        mallopt(_ARENA_MAX, 1)
        mallopt(_TOP_PAD, _HEAP)
        mallopt(_TRIM_THRESHOLD, size)
        if not mallopt(_MMAP_THRESHOLD, size):
            mallopt(_MMAP_THRESHOLD, min(size, _OLD_LIMIT))


def _mallopt() -> ctypes._NamedFuncPointer | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library.mallopt if hasattr(library, "gnu_get_libc_version") else None


def _chosen_by_user() -> bool:
    """True if the environment configures glibc's allocator."""
    return "glibc.malloc." in os.environ.get("GLIBC_TUNABLES", "") or any(v in os.environ for v in _VARIABLES)


def _for_cpus() -> bool:
    platforms = jax.config.jax_platforms
    return not platforms or "cpu" in platforms.split(",")
