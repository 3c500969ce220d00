"""`np.fft`, compiled and interpreted, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 6))
Z = X + 1j * RNG.standard_normal((3, 6))
CUBE = RNG.standard_normal((2, 3, 5))
cases = Cases()
TYPES = ((X,), (Z,), (X.astype(np.float32),), (Z.astype(np.complex64),), (RNG.integers(-5, 5, (3, 6)),))


@cases.each(*TYPES)
def transforms(x: Any) -> Any:
    return np.fft.fft(x), np.fft.ifft(x, axis=0), np.fft.irfft(x), np.fft.irfft(x, 7, norm="ortho")


@cases.each((X,), (X.astype(np.float32),), (X > 0,))
def transforms_of_reals(x: Any) -> Any:
    return np.fft.rfft(x), np.fft.rfft(x, axis=0, n=5), np.fft.ihfft(x), np.fft.hfft(x, norm="forward")


@cases(X.astype(np.float16))
def half_precision(x: Any) -> Any:
    scaled = np.fft.ifft(x, 3), np.fft.fft(x, 5, norm="forward"), np.fft.ifft(x, 3, norm="ortho")
    return np.fft.fft(x), np.fft.rfft(x, axis=0), np.fft.irfft(x), np.fft.irfft2(x), *scaled


@cases.each((X,), (Z,))
def lengths_and_norms(x: Any) -> Any:
    return (
        np.fft.fft(x, 4, norm="ortho"),
        np.fft.fft(x, n=9, norm="forward"),
        np.fft.ifft(x, n=9, norm="ortho"),
        np.fft.ifft(x, n=4, axis=-2, norm="forward"),
    )


@cases(CUBE)
def several_axes(x: Any) -> Any:
    return (
        np.fft.fftn(x),
        np.fft.ifftn(x, s=(4, 4), axes=(0, 2)),
        np.fft.rfftn(x, norm="ortho"),
        np.fft.irfftn(x),
        np.fft.fft2(x),
        np.fft.ifft2(x),
        np.fft.rfft2(x),
        np.fft.irfft2(np.fft.rfft2(x), s=(3, 5)),
    )


@cases.each((X, 0.5), (CUBE, 2.0))
def frequencies(x: Any, d: Any) -> Any:
    n = x.shape[-1]
    shifted = np.fft.fftshift(x), np.fft.ifftshift(x, axes=1), np.fft.fftshift(x, axes=(0, 1))
    return np.fft.fftfreq(n, d), np.fft.fftfreq(n), np.fft.rfftfreq(n, d=d), shifted


@cases(X, raises=ValueError)
def no_length(x: Any) -> Any:
    return np.fft.fft(x, 0)


@cases(Z, raises=ValueError)
def no_such_norm(x: Any) -> Any:
    return np.fft.fft(x, norm="none")  # type: ignore[arg-type]


@cases.each((Z, 2), (Z, -3), (np.float64(1.0), -1), raises=IndexError)
def no_such_axis(x: Any, axis: Any) -> Any:
    return np.fft.fft(x, axis=axis)


@cases.each((Z, 2), (Z, -3), raises=np.exceptions.AxisError)
def no_such_axis_of_a_length(x: Any, axis: Any) -> Any:
    return np.fft.fft(x, 4, axis)


@cases.each((Z, 2), (Z, -3), raises=IndexError)
def no_such_axis_among_several(x: Any, axis: Any) -> Any:
    return np.fft.fftn(x, axes=(0, axis))


@pytest.mark.parametrize("function, args, options", cases.params)
def test_fourier(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
