"""The `fft` extension of the Array API standard 2024.12 on lazy tensors; real arrays are promoted to complex ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from .array import LazyTensor, from_host
from .standard.data_types import FLOATING, REAL_FLOATING, Category, named
from .standard.operands import apply, array

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Norm = Literal["backward", "ortho", "forward"]


def _along_axis(name: str, category: Category, function: Callable[..., Any]) -> Callable[..., LazyTensor]:
    def transform(
        x: LazyTensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> LazyTensor:
        return apply(function, array(name, x, category), n=n, axis=axis, norm=norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"As `numpy.fft.{name}`, of {category.name} arrays."
    return transform


def _along_axes(name: str, category: Category, function: Callable[..., Any]) -> Callable[..., LazyTensor]:
    def transform(
        x: LazyTensor,
        /,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: Norm = "backward",
    ) -> LazyTensor:
        array(name, x, category)
        if s is not None and axes is None:
            axes = tuple(range(x.ndim - len(s), x.ndim))
        return apply(function, x, s=s, axes=axes, norm=norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"As `numpy.fft.{name}`, of {category.name} arrays."
    return transform


fft = _along_axis("fft", FLOATING, np.fft.fft)
ifft = _along_axis("ifft", FLOATING, np.fft.ifft)
rfft = _along_axis("rfft", REAL_FLOATING, np.fft.rfft)
irfft = _along_axis("irfft", FLOATING, np.fft.irfft)
hfft = _along_axis("hfft", FLOATING, np.fft.hfft)
ihfft = _along_axis("ihfft", REAL_FLOATING, np.fft.ihfft)
fftn = _along_axes("fftn", FLOATING, np.fft.fftn)
ifftn = _along_axes("ifftn", FLOATING, np.fft.ifftn)
rfftn = _along_axes("rfftn", REAL_FLOATING, np.fft.rfftn)
irfftn = _along_axes("irfftn", FLOATING, np.fft.irfftn)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> LazyTensor:
    """The frequencies of the elements of a transform of `n` samples that are `d` apart."""
    return _frequencies(np.fft.fftfreq(n, d), dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> LazyTensor:
    """The frequencies of the elements of a real transform of `n` samples that are `d` apart."""
    return _frequencies(np.fft.rfftfreq(n, d), dtype, device)


def _frequencies(values: np.ndarray[Any, Any], dtype: Any, device: Any) -> LazyTensor:
    target = named(dtype) or values.dtype
    if target not in REAL_FLOATING:
        raise TypeError(f"frequencies are of a real-valued floating-point type, not {target}")
    return from_host(values.astype(target), device)


def fftshift(x: LazyTensor, /, *, axes: int | tuple[int, ...] | None = None) -> LazyTensor:
    """`x` with the element of frequency zero moved to the middle of axes."""
    return apply(np.fft.fftshift, array("fftshift", x, FLOATING), axes=axes)


def ifftshift(x: LazyTensor, /, *, axes: int | tuple[int, ...] | None = None) -> LazyTensor:
    """The inverse of `fftshift`."""
    return apply(np.fft.ifftshift, array("ifftshift", x, FLOATING), axes=axes)
