"""Pauses Python's cyclic garbage collector during a compilation.

A compilation keeps what it allocates until it ends, or frees it by reference count. A collection finds nothing, but scans
all of it every few hundred allocations and calls into XLA each time. CPython drops an interrupt that comes while the
collector calls JAX's callback.
"""

from __future__ import annotations

import gc
import threading


class _Waiting:
    """A `with` block during which the collector does not run; blocks of several threads may overlap."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        opened = self._open
        try:
            with self._lock:
                if not self._open:
                    self._was_enabled = gc.isenabled()
                self._open += 1
                gc.disable()
        except BaseException:  # an interrupt: the block is not entered, and so not left
            if self._open > opened:
                self.__exit__()
            raise

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._open -= 1
            if not self._open and self._was_enabled:
                gc.enable()


waiting = _Waiting()
"""The one that all compilations share. A collector that the user has switched off stays off."""
