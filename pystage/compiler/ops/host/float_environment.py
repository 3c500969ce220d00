"""Restores Python's floating-point environment in host calls from XLA.

XLA's threads flush subnormal numbers to zero: in what they call, `1e-310 > 0` is false and its text `0.0`.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SIZE = 256
"""More bytes than any platform's `fenv_t` has."""


def _library() -> Any:
    """The library with C's `fegetenv` and `fesetenv`, called without giving up the GIL; None where there is none."""
    try:
        library = ctypes.PyDLL("libm.so.6" if sys.platform == "linux" else None)
        return library if library.fegetenv and library.fesetenv else None
    except (OSError, AttributeError, TypeError):
        return None


def _default(library: Any) -> Any:
    """C's `FE_DFL_ENV`: an object on some platforms, the pointer -1 on the others."""
    try:
        return ctypes.byref(ctypes.c_char.in_dll(library, "_FE_DFL_ENV"))
    except ValueError:
        return ctypes.c_void_p(-1)


_LIBRARY = _library()
_DEFAULT = None if _LIBRARY is None else _default(_LIBRARY)


@contextmanager
def _ordinary() -> Iterator[None]:
    found = ctypes.create_string_buffer(_SIZE)
    _LIBRARY.fegetenv(found)
    _LIBRARY.fesetenv(_DEFAULT)
    try:
        yield
    finally:
        _LIBRARY.fesetenv(found)


def with_ordinary_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with subnormal numbers, as it runs when Python calls it."""
    return function if _LIBRARY is None else _ordinary()(function)
