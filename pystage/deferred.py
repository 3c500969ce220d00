"""Functions whose modules are imported when they are first called, so that `import pystage` does not load all of it."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any


def deferred(module: str, name: str) -> Callable[..., Any]:
    """The function (or class) `name` of a module that need not be imported yet."""

    @functools.cache
    def loaded() -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return found

    def call(*args: Any, **kwargs: Any) -> Any:
        return loaded()(*args, **kwargs)

    return call
