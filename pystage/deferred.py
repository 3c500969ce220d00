"""Functions whose modules are imported when they are first called, so that `import pystage` does not load all of it."""

from __future__ import annotations

import functools
import gc
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def deferred(module: str, name: str) -> Callable[..., Any]:
    """The function (or class) `name` of a module that need not be imported yet."""

    @functools.cache
    def loaded() -> Callable[..., Any]:
        with _no_collection():
            found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return found

    def call(*args: Any, **kwargs: Any) -> Any:
        return loaded()(*args, **kwargs)

    return call


@contextmanager
def _no_collection() -> Iterator[None]:
    """No collection of garbage in the `with` block: what a module makes as it is imported stays.

    Nor does the next one search it: leaving the permanent generation, objects join the oldest one.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if enabled:
            gc.enable()
