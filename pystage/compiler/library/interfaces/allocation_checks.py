"""Whether NumPy can allocate an ndarray of a shape and element type, and what it raises where it cannot."""

from __future__ import annotations

import numpy as np

from ...hlo.types import ArrayType, TooLarge

_CERTAIN = 1 << 30
"""The number of bytes up to which NumPy is not asked."""


def refusal_of_numpy(type: ArrayType) -> Exception | None:
    """The exception that NumPy raises for an array of this type on this machine; None if it can allocate it.

    The elements of `np.empty` are not written, so that the machine need not have the memory, but the addresses: what the
    operating system refuses is refused before.
    """
    try:
        np.empty(type.shape, type.dtype)
    except (ValueError, MemoryError) as error:
        return error
    return None


def check_memory(type: ArrayType) -> None:
    """Raises `TooLarge` for an ndarray that NumPy cannot allocate, so that the plain run raises."""
    if type.nbytes > _CERTAIN and refusal_of_numpy(type) is not None:
        raise TooLarge(type)
