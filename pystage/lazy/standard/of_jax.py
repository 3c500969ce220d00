"""`lazy.nn` and `lazy.lax`: functions of `jax.nn` and `jax.lax` on lazy tensors, recorded.

JAX's own functions compute a lazy tensor when they are called, as they have no protocol by which it could answer. These
have the names and arguments of JAX's, take lazy tensors, and give lazy tensors, as JAX does with its 64-bit types enabled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import numpy as np

from .operands import apply_any


class FunctionsOfJax(ModuleType):
    """The functions of a module of JAX, as functions on lazy tensors."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(f"pystage.lazy.{module.__name__.removeprefix('jax.')}", __doc__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)  # AttributeError names JAX's module
        if name.startswith("_") or isinstance(found, type) or not callable(found):
            return found
        made = _recorded(found, name)
        setattr(self, name, made)
        return made

    def __dir__(self) -> list[str]:
        return dir(self._module)


def _recorded(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of JAX that gives arrays, as one whose calls are recorded."""

    def on_arrays(*args: Any, **kwargs: Any) -> Any:
        return jax.tree.map(np.array, function(*args, **kwargs))

    on_arrays.__name__ = name

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with jax.enable_x64(True):  # where it cannot be recorded, it computes the same
            return apply_any(on_arrays, *args, **kwargs)

    return call


nn = FunctionsOfJax(jax.nn)
lax = FunctionsOfJax(jax.lax)
