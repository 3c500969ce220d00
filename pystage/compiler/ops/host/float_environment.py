"""Restores Python's floating-point environment in host calls from XLA.

XLA's threads flush subnormal numbers to zero: in what they call, `1e-310 > 0` is false and its text `0.0`.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

_Environment = ctypes.c_char * 256
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


def with_ordinary_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with subnormal numbers, as it runs when Python calls it."""
    if _LIBRARY is None:
        return function
    get, set = _LIBRARY.fegetenv, _LIBRARY.fesetenv

    @functools.wraps(function)
    def called(*args: Any) -> Any:
        found = _Environment()
        get(found)
        set(_DEFAULT)
        try:
            return function(*args)
        finally:
            set(found)

    return called
