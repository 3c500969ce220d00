"""Deterministic operands for the samples of operations, exactly representable in every element type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..hlo.types import BOOL, DType, is_complex, is_floating, is_integer, is_unsigned


def grid(dtype: DType, shape: Sequence[int] = (6,), low: float = -3.0, high: float = 3.0) -> np.ndarray:
    """Values spread over [low, high] in no monotonic order; unsigned integers take the part from 0 up.

    Booleans alternate irregularly; complex numbers get an imaginary part from the same range.
    """
    count = int(np.prod(shape))
    if dtype == BOOL:
        flags: np.ndarray = np.arange(count) * 5 % 7 % 2 == 0
        return flags.reshape(shape)
    order = _shuffled(count)
    if is_unsigned(dtype):
        low = max(low, 0)
    values = low + (high - low) * order / max(count - 1, 1)
    if is_complex(dtype):
        imaginary = low + (high - low) * order[::-1] / max(count - 1, 1)
        return (values + 1j * imaginary).astype(dtype).reshape(shape)
    if is_integer(dtype):
        values = np.rint(values)
    return values.astype(dtype).reshape(shape)


def extremes(dtype: DType) -> np.ndarray:
    """The values at which element types differ: limits of integers, signed zeros, infinities and NaN."""
    if is_floating(dtype):
        return np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5], dtype)
    if is_integer(dtype):
        info: np.iinfo[Any] = np.iinfo(dtype)
        return np.array([info.min, info.max, info.min + 1, info.max - 1, 0, 1], dtype)
    return np.array([0, 1], dtype)


def _shuffled(count: int) -> np.ndarray:
    """0 … count-1 in a fixed irregular order."""
    step = next(s for s in (5, 7, 11, 13, 17, 19, 1) if np.gcd(s, max(count, 1)) == 1)
    return (np.arange(count) * step + 2) % max(count, 1)
