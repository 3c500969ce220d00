"""Inspection of the namespace."""

from __future__ import annotations

from typing import Any

import jax

from ..devices import default_device, device_named
from .data_type_functions import isdtype
from .data_types import NAMES, DType, complex128, float64, int64


class Info:
    """The inspection functions of the namespace."""

    def capabilities(self) -> dict[str, Any]:
        """The optional parts of the standard that are supported."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Where tensors are made."""
        return default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The element types of arrays for which none is given: the same on all devices."""
        device_named(device)
        return {
            "real floating": float64,
            "complex floating": complex128,
            "integral": int64,
            "indexing": int64,
        }

    def devices(self) -> list[Any]:
        """The devices that tensors can be on."""
        return list(jax.devices())

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """The element types of the standard, or those of a kind, by their names: the same on all devices."""
        device_named(device)
        return {name: dtype for name, dtype in NAMES.items() if kind is None or isdtype(dtype, kind)}


def __array_namespace_info__() -> Info:
    """The inspection functions of the namespace."""
    return Info()
