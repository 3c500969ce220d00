"""Window functions, of a length that may be computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..operands.known_calls import folded


@folded(np.hanning, "M")
def hanning(M: Any) -> Any:
    """One period of a cosine, from 0 to 1 and back."""
    return 0.5 + 0.5 * np.cos(np.pi * _steps(M) / max(M - 1, 1))


@folded(np.hamming, "M")
def hamming(M: Any) -> Any:
    """As `hanning`, from 0.08."""
    return 0.54 + 0.46 * np.cos(np.pi * _steps(M) / max(M - 1, 1))


@folded(np.blackman, "M")
def blackman(M: Any) -> Any:
    """Two cosines."""
    n, last = _steps(M), max(M - 1, 1)
    return 0.42 + 0.5 * np.cos(np.pi * n / last) + 0.08 * np.cos(2.0 * np.pi * n / last)


@folded(np.bartlett, "M")
def bartlett(M: Any) -> Any:
    """A triangle."""
    n, last = _steps(M), max(M - 1, 1)
    return np.where(n <= 0, 1 + n / last, 1 - n / last)


def _steps(M: Any) -> Any:
    """1 - M, 3 - M, …, M - 1."""
    return 2.0 * np.arange(max(M, 0)) - (M - 1)
