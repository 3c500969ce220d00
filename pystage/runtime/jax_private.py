"""All that the runtime uses of JAX that is not public API, each with a public way to fall back on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

_X64: Any = jax.enable_x64


def _run_in_context(run: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    with jax.enable_x64(True):
        return run(*inputs)


def _run_with_swap(run: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    # What the context manager does, without making one: 0.1 µs instead of 0.8 µs, at every call with ndarrays.
    previous = _X64.swap_local(True)
    try:
        return run(*inputs)
    finally:
        _X64.set_local(previous)


_CAN_SWAP = hasattr(_X64, "swap_local") and getattr(_X64, "_update_thread_local_hook", _X64) is None

run_with_x64: Callable[[Callable[..., Any], Sequence[Any]], Any] = (
    _run_with_swap if _CAN_SWAP else _run_in_context
)
"""`run(*inputs)` with 64-bit types enabled in this thread."""
