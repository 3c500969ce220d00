"""XLA's executables in the cache folder, next to the programs that they were compiled from.

JAX looks for an executable under a key of its own (the program, the options, the versions of XLA and of the device); here
are the files, which are safe against what happens to files (`store.py`). They hold machine code.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..executables.jax_private import executables_from
from . import store
from .keys import process_key


class _Executables(threading.local):
    """The cache that JAX asks for executables; outside of `with_kept_executables` it is empty."""

    where: Path | None = None

    def get(self, key: str) -> bytes | None:
        """The executable of a key."""
        return None if self.where is None else store.read(self.where / key)

    def put(self, key: str, value: bytes) -> None:
        """Keeps an executable."""
        if self.where is not None:
            store.write(self.where / key, value)


_EXECUTABLES = _Executables()
"""JAX has one."""


def with_kept_executables(compile: Callable[[], Any]) -> Callable[[], Any]:
    """The function, whose executables are read from and written to the cache folder."""

    def compiled() -> Any:
        folder = store.folder()
        if folder is None:
            return compile()
        _EXECUTABLES.where = folder / process_key() / "executables"
        try:
            with executables_from(_EXECUTABLES):
                return compile()
        finally:
            _EXECUTABLES.where = None

    return compiled
