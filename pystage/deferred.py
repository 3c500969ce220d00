"""Functions whose modules are imported when they are first called, so that `import pystage` does not load all of it."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any


def deferred(module: str, name: str) -> Callable[..., Any]:
    """The function (or class) `name` of a module that need not be imported yet."""

    @functools.cache
    def loaded() -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(_imported(module), name)
        return found

    def call(*args: Any, **kwargs: Any) -> Any:
        return loaded()(*args, **kwargs)

    return call


def _imported(module: str) -> ModuleType:
    """The module, imported by another thread: what a signal handler raises ends the wait, and the import goes on.

    What an interrupted import has declared in a registry would be declared once more by the next.
    """
    if module not in sys.modules and threading.current_thread() is threading.main_thread():
        thread = threading.Thread(target=_import_quietly, args=(module,), name="pystage import", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is shutting down
            return importlib.import_module(module)
        thread.join()
    return importlib.import_module(module)


def _import_quietly(module: str) -> None:
    with contextlib.suppress(BaseException):  # the import that follows raises it again
        importlib.import_module(module)
