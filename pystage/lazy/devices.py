"""Devices of lazy tensors: a tensor moves between them only when it is told to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..runtime.executables.jax_private import run_with_x64


class DeviceMismatch(ValueError):
    """An operation got tensors that are on different devices."""

    def __init__(self, name: str, devices: Sequence[Any]) -> None:
        first, second = devices[:2]
        super().__init__(
            f"`{name}` got tensors on {first} and on {second}; move one of them, as with `t.to({str(first)!r})`"
        )


def default_device() -> Any:
    """Where tensors are made: JAX's default device."""
    chosen = jax.config.jax_default_device
    if chosen is None:
        return jax.devices()[0]
    return jax.devices(chosen)[0] if isinstance(chosen, str) else chosen


def device_named(device: Any) -> Any:
    """A device by itself, by its name, or by that of a platform; ValueError for what is none. None: the default."""
    if device is None:
        return default_device()
    if isinstance(device, jax.Device):
        return device
    for each in jax.devices():
        if str(each) == device or f"{each.platform}:{each.id}" == device:
            return each
    try:
        return jax.devices(device)[0]
    except (RuntimeError, TypeError):
        known = ", ".join([f"{d.platform}:{d.id}" for d in jax.devices()])
        raise ValueError(f"no device {device!r}; there are {known}") from None


def on_device(array: Any, device: Any) -> jax.Array:
    """A copy of an array on a device, which nobody else holds."""
    return put(np.array(array, order="C"), device)


def put(array: np.ndarray[Any, Any], device: Any) -> jax.Array:
    """An ndarray into which nobody stores, on a device: it may be the memory of what this gives."""
    placed: jax.Array = run_with_x64(jax.device_put, (array, device))
    return placed
