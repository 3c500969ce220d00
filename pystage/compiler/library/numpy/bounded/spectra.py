"""Discrete Fourier transforms of computed length, and window functions.

XLA transforms a known number of elements. A transform of `n` elements is a convolution with a chirp, exp(πi k²/n), which
may be any longer than `2n` elements: so it is made of three transforms whose lengths are known (L. Bluestein, "A linear
filtering approach to the computation of discrete Fourier transform", 1970).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ....hlo.types import COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, INT64
from ....ops import Compare, Select
from ....values.bounded import Bounded, Extent, Progression, extent_of
from ....values.lattice import Abstract, Array, Const
from ...context import Context, Raw
from ...kernels.python_implementations import run_program
from ...operands.libraries import as_ndarray
from ...registry import meaning_of
from ...rules.jax import axis_of, is_none
from .. import fourier  # noqa: F401  (declares the meanings of what is served here)
from ..indexing.bounded import compact, count, elements, where
from ..indexing.bounded_operands import result_with
from .size_rules import Meaning, composed_for_computed, is_computed, serve

# ---------------------------------------------------------------- windows


@composed_for_computed(np.hanning, "M")
def hanning(M: Any) -> Any:
    """One period of a cosine, from 0 to 1 and back."""
    return 0.5 + 0.5 * np.cos(np.pi * _steps(M) / max(M - 1, 1))


@composed_for_computed(np.hamming, "M")
def hamming(M: Any) -> Any:
    """As `hanning`, from 0.08."""
    return 0.54 + 0.46 * np.cos(np.pi * _steps(M) / max(M - 1, 1))


@composed_for_computed(np.blackman, "M")
def blackman(M: Any) -> Any:
    """Two cosines."""
    n, last = _steps(M), max(M - 1, 1)
    return 0.42 + 0.5 * np.cos(np.pi * n / last) + 0.08 * np.cos(2.0 * np.pi * n / last)


@composed_for_computed(np.bartlett, "M")
def bartlett(M: Any) -> Any:
    """A triangle."""
    n, last = _steps(M), max(M - 1, 1)
    return np.where(n <= 0, 1 + n / last, 1 - n / last)


def _steps(M: Any) -> Any:
    """1 - M, 3 - M, …, M - 1."""
    return 2.0 * np.arange(max(M, 0)) - (M - 1)


# ---------------------------------------------------------------- transforms


def _chirped(x: Any, n: Any, direction: float) -> Any:
    """The transform of the first `n` numbers of the last axis, followed by zeros (Bluestein's algorithm)."""
    bound = x.shape[-1]
    length = 1 << (2 * bound - 1).bit_length()
    places = np.arange(length)
    apart = np.minimum(places, length - places)
    chirp = np.exp(direction * 1j * np.pi * (apart * apart % (2 * n)) / n)
    given = np.concatenate((x * chirp[:bound], np.zeros((*x.shape[:-1], length - bound))), axis=-1)
    kernel = np.where(apart < n, np.conj(chirp), 0.0)
    return np.fft.ifft(np.fft.fft(given) * np.fft.fft(kernel))[..., :bound] * chirp[:bound]


def _fft(x: Any, n: Any, axis: Any, norm: Any, _: Any) -> Any:
    made = _chirped(np.moveaxis(x, axis, -1), n, -1.0) * _scale(n, norm, False)
    return np.moveaxis(made, -1, axis)


def _ifft(x: Any, n: Any, axis: Any, norm: Any, _: Any) -> Any:
    made = _chirped(np.moveaxis(x, axis, -1), n, 1.0) / n * _scale(n, norm, True)
    return np.moveaxis(made, -1, axis)


def _irfft(x: Any, n: Any, axis: Any, norm: Any, bound: Any) -> Any:
    """The numbers with this half spectrum of `n // 2 + 1` elements; `n` is at most `bound`."""
    half = np.moveaxis(x, axis, -1)
    places = np.arange(bound)
    first = half[..., np.minimum(places, half.shape[-1] - 1)]
    others = np.conj(half[..., np.clip(n - places, 0, half.shape[-1] - 1)])
    first = np.where((places == 0) | (2 * places == n), np.real(first), first)
    whole = np.where(2 * places <= n, first, np.where(places < n, others, 0.0))
    made = np.real(_chirped(whole, n, 1.0)) / n * _scale(n, norm, True)
    return np.moveaxis(made, -1, axis)


def _of_length(x: Any, n: Any, axis: Any) -> Any:
    """The first `n` elements of an axis, zeros where there are fewer."""
    first = np.moveaxis(x, axis, 0)[: max(n, 0)]
    zeros = np.zeros((max(n - len(first), 0), *first.shape[1:]), first.dtype)
    return np.moveaxis(np.concatenate((first, zeros)), 0, axis)


def _scale(n: Any, norm: Any, inverse: Any) -> Any:
    """The factor of a transform, of which the inverse is otherwise divided by `n`."""
    if norm is None or norm == "backward":
        return 1.0
    if norm == "ortho":
        return np.sqrt(n) if inverse else 1.0 / np.sqrt(n)
    if norm == "forward":
        return n if inverse else 1.0 / n
    raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')


def _half(n: Any) -> Any:
    return n // 2 + 1


def _double(m: Any) -> Any:
    return 2 * (m - 1)


class _Transform:
    """A transform along an axis of computed length; other axes are transformed as those of wholes.

    `program` makes it of a whole with zeros behind the elements of its last axis, and of their number.
    """

    def __init__(self, function: Callable[..., Any], program: Callable[..., Any]) -> None:
        self.function = function
        self.program = program
        self.to_real = function is np.fft.irfft
        self.of_real = function is np.fft.rfft
        self.plain = cast(Meaning, meaning_of(function))

    def __call__(self, ctx: Context, a: Raw, n: Raw = None, axis: Raw = -1, norm: Raw = None) -> Abstract:
        given = a if isinstance(a, Bounded) else ctx.read(as_ndarray(ctx, a))
        at = axis_of(ctx, axis, cast(Array | Bounded, given).rank, f"np.fft.{self.function.__name__}")
        if isinstance(given, Bounded) and not isinstance(given.axes[at], Extent) and not is_computed(ctx, n):
            made = self.plain(ctx, ctx.ndarray(elements(ctx, given)), n, at, norm)
            axes = [*given.axes]
            axes[at] = cast(Array, ctx.read(made)).shape[at]
            return result_with(ctx, made, axes)
        if not is_none(n):
            kept = self._run(ctx, _half, n) if self.to_real else n
            a = run_program(ctx, _of_length, [a, kept, at])
        assert isinstance(a, Bounded)
        return self._of_bounded(ctx, compact(ctx, a), n, at, norm)

    def _of_bounded(self, ctx: Context, array: Bounded, n: Raw, at: int, norm: Raw) -> Abstract:
        if is_none(n):
            own = count(ctx, array, cast(Extent, array.axes[at]))
            n = self._run(ctx, _double, own) if self.to_real else own
        length = ctx.python(ctx.constant(n.value, INT64)) if isinstance(n, Const) else ctx.read(n)
        assert isinstance(length, Array)
        bad = ctx.op(Compare("LT"), ctx.convert(length.value, INT64), ctx.constant(1, INT64))
        ctx.check(bad, ValueError(), self._refuse, [length])
        value, bound = elements(ctx, array), array.type.static_shape[at]
        if self.of_real and value.type.dtype.kind == "c":
            name = self.function.__name__
            ctx.raise_(TypeError(f"ufunc '{name}' did not contain a loop with signature matching types"))
        zero = ctx.broadcast(ctx.constant(0, value.type.dtype), value.type.static_shape)
        whole = ctx.ndarray(ctx.convert(ctx.op(Select(), where(ctx, array), value, zero), COMPLEX128))
        made = run_program(ctx, self.program, [whole, length, at, norm, 2 * bound - 1])
        found = cast(Array, ctx.read(made)).value
        if array.type.dtype in (FLOAT16, FLOAT32, COMPLEX64):
            found = ctx.convert(found, FLOAT32 if self.to_real else COMPLEX64)
        size = self._run(ctx, _half, length) if self.of_real else length
        axes = [*array.axes]
        axes[at] = extent_of(Progression(ctx.constant(0, INT64), 1, ctx.convert(size.value, INT64)), at)
        return result_with(ctx, ctx.ndarray(found), axes)

    def _run(self, ctx: Context, program: Callable[..., Any], *args: Raw) -> Array:
        found = ctx.read(run_program(ctx, program, args))
        assert isinstance(found, Array)
        return found

    def _refuse(self, length: int) -> None:
        self.function([0.0], length)


for _function, _program in (
    (np.fft.fft, _fft),
    (np.fft.ifft, _ifft),
    (np.fft.rfft, _fft),
    (np.fft.irfft, _irfft),
):
    serve(_function, _Transform(_function, _program), ("n",))
