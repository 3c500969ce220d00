"""Devices of lazy tensors: a tensor moves between them only when asked to.

The devices of a mesh are one device: a tensor on it is spread over them as the `sharding` of its array says.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..runtime.executables.jax_private import run_with_x64
from .counting import counts


class DeviceMismatch(ValueError):
    """An operation got tensors that are on different devices."""

    def __init__(self, name: str, devices: Sequence[Any]) -> None:
        first, second = devices[:2]
        place = "mesh" if isinstance(first, Mesh) else repr(str(first))
        super().__init__(
            f"`{name}` got tensors on {first} and on {second}; move one of them, as with `t.to({place})`"
        )


def default_device() -> Any:
    """The device of new tensors: JAX's default device."""
    chosen = jax.config.jax_default_device
    if chosen is None:
        return jax.devices()[0]
    return jax.devices(chosen)[0] if isinstance(chosen, str) else chosen


def device_named(device: Any) -> Any:
    """A device by itself, by its name, or by that of a platform, a mesh, or that of a sharding; ValueError for what is none.

    None: the default.
    """
    if device is None:
        return default_device()
    if isinstance(device, NamedSharding):
        device = device.mesh
    if isinstance(device, jax.Device | Mesh):
        return device
    for each in jax.devices():
        if str(each) == device or f"{each.platform}:{each.id}" == device:
            return each
    try:
        return jax.devices(device)[0]
    except (RuntimeError, TypeError):
        known = ", ".join([f"{d.platform}:{d.id}" for d in jax.devices()])
        raise ValueError(f"no device {device!r}; there are {known}") from None


def is_cpu(device: Any) -> bool:
    """True for one CPU, in whose memory NumPy computes."""
    return isinstance(device, jax.Device) and device.platform == "cpu"


def device_of(array: jax.Array) -> Any:
    """The device of an array, or its mesh; None for an uncommitted array."""
    sharding = array.sharding
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh):
        return sharding.mesh
    if not array.committed or len(sharding.device_set) > 1:
        return None
    return next(iter(sharding.device_set))


def place_of(array: jax.Array) -> Any:
    """The device or the sharding over a mesh of an array; None for an uncommitted array."""
    device = device_of(array)
    return array.sharding if isinstance(device, Mesh) else device


def on_device(array: Any, device: Any) -> jax.Array:
    """A copy of an array on a device, on all devices of a mesh, or with a sharding, which nobody else holds."""
    return put(np.array(array, order="C"), device)


def put(array: np.ndarray[Any, Any], device: Any) -> jax.Array:
    """An immutable ndarray on a device; the result may share its memory."""
    counts.to_device += 1
    counts.bytes_to_device += array.nbytes
    place = NamedSharding(device, PartitionSpec()) if isinstance(device, Mesh) else device
    placed: jax.Array = run_with_x64(jax.device_put, (array, place))
    return placed


def laid_out(array: Any, place: Any) -> jax.Array:
    """A copy of a `jax.Array` on a device, or with the layout of a mesh or a sharding, without a copy through the host."""
    place = NamedSharding(place, PartitionSpec()) if isinstance(place, Mesh) else place
    copied: jax.Array = run_with_x64(functools.partial(jax.device_put, may_alias=False), (array, place))
    return copied
