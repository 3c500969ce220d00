"""Functions whose modules are imported when they are first called, so that `import pystage` does not load all of it."""

from __future__ import annotations

import functools
import importlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def deferred(module: str, name: str) -> Callable[..., Any]:
    """The function (or class) `name` of a module that need not be imported yet."""

    @functools.cache
    def loaded() -> Callable[..., Any]:
        with _interrupts_wait():
            found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return found

    def call(*args: Any, **kwargs: Any) -> Any:
        return loaded()(*args, **kwargs)

    return call


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Ctrl-C takes effect at the end of the block: what half an import has declared, the next would declare once more."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if came:
        signal.raise_signal(signal.SIGINT)
