"""`np.fft`: discrete Fourier transforms, one operation per axis, and their frequencies.

In: arrays of any type; float32 and complex64 are transformed in 32 bits, all others in 64. Out: arrays. A length `n`
truncates the axis or pads it with zeros.

XLA transforms a known number of elements. A transform of a computed number, `n`, is a convolution with a chirp,
exp(πi k²/n), which may be any longer than `2n` elements: so it is made of three transforms whose lengths are known (L.
Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged
from ...hlo.ir import Value
from ...hlo.types import COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, INT64, DType, is_complex
from ...ops import Compare, Complex, Fft, Imag, Multiply, Pad, Real, Slice, Transpose
from ...values.bounded import Extent, Progression, extent_of
from ...values.lattice import Abstract, Array, Const
from ..context import Context, Raw
from ..kernels.python_implementations import composed, run_program
from ..operands.bounded_arguments import array_of, compact_argument, filled_up, size_along, value_of_size
from ..operands.known_calls import is_computed
from ..operands.libraries import NUMPY, ArrayArgument
from ..registry import meaning
from ..rules.jax import axis_of, integer, is_none
from ..rules.promote import value_of
from .indexing.bounded_operands import result_with
from .indexing.stores import shape_of
from .ufuncs.elementwise import result_into

_NORMS = ("backward", "ortho", "forward")


def _of_length(ctx: Context, value: Value, length: int) -> Value:
    """The last axis truncated, or padded with zeros, to `length`."""
    shape = value.type.shape
    rank = len(shape)
    if shape[-1] > length:
        return ctx.op(Slice((0,) * rank, (*shape[:-1], length), (1,) * rank), value)
    if shape[-1] == length:
        return value
    nothing = (0,) * rank
    kind = Pad(nothing, (*nothing[:-1], length - shape[-1]), nothing)
    return ctx.op(kind, value, ctx.constant(0, value.type.dtype))


def _scale(ctx: Context, norm: Raw, length: int, inverse: bool, dtype: DType, name: str) -> float:
    """The factor of the result, in the precision of the operand's real dtype as in NumPy; 1 where HLO's division of inverse
    transforms by the length suffices.
    """
    which = ctx.known(norm, f"the norm of np.fft.{name}")
    which = "backward" if which is None else which
    if which not in _NORMS:
        text = f'Invalid norm value {which}; should be "backward","ortho" or "forward".'
        ctx.raise_(ValueError(text))
    if which == ("forward" if inverse else "backward"):
        return float(length) if inverse else 1.0
    if which == "ortho":
        factor = np.reciprocal(np.sqrt(length, dtype=dtype))
    elif inverse and dtype != np.float16:
        return 1.0
    else:
        factor = np.reciprocal(length, dtype=dtype)
    return float(factor) * length if inverse else float(factor)


def _times(ctx: Context, value: Value, factor: float) -> Value:
    """A product with a real number, of complex numbers part by part: infinity times a part that is 0 would be NaN."""
    if is_complex(value.type.dtype):
        return ctx.op(Complex(), *[_times(ctx, ctx.op(part, value), factor) for part in (Real(), Imag())])
    factors = ctx.broadcast(ctx.constant(factor, value.type.dtype), value.type.shape)
    return ctx.op(Multiply(), value, factors)


def _transform(ctx: Context, kind: str, a: Raw, n: Raw, axis: Raw, norm: Raw, name: str) -> Abstract:
    """One of HLO's transforms along one axis."""
    given = compact_argument(ctx, NUMPY, a, f"np.fft.{name}")
    if is_none(n) and not -given.rank <= integer(ctx, axis, f"the axis of np.fft.{name}") < given.rank:
        ctx.raise_(IndexError("tuple index out of range"))  # NumPy reads the length off the shape
    at = axis_of(ctx, axis, given.rank, f"np.fft.{name}")
    narrow = given.dtype in (FLOAT32, COMPLEX64, FLOAT16)
    if kind == "RFFT" and given.dtype.kind == "c":
        ctx.raise_(TypeError(f"ufunc '{name}' did not contain a loop with signature matching types"))
    if isinstance(given.axes[at], Extent) or is_computed(ctx, n):
        return _of_computed_length(ctx, kind, given, n, at, norm, name)
    if kind == "RFFT":
        dtype = FLOAT32 if narrow else FLOAT64
    else:
        dtype = COMPLEX64 if narrow else COMPLEX128
    extent = given.shape[at]
    default = 2 * (extent - 1) if kind == "IRFFT" else extent
    length = default if is_none(n) else integer(ctx, n, f"the length of np.fft.{name}")
    if length < 1:
        ctx.raise_(ValueError(f"Invalid number of FFT data points ({length}) specified."))
    order = tuple([i for i in range(given.rank) if i != at])
    value = ctx.convert(given.value, dtype)
    value = value if at == given.rank - 1 else ctx.op(Transpose((*order, at)), value)
    value = _of_length(ctx, value, length // 2 + 1 if kind == "IRFFT" else length)
    value = ctx.op(Fft(kind, (length,)), value)
    real = np.result_type(np.zeros(0, given.dtype).real.dtype, 1.0)
    scale = _scale(ctx, norm, length, kind.startswith("I"), real, name)
    if scale != 1:
        value = _times(ctx, value, scale)
    if kind == "IRFFT" and given.dtype == FLOAT16:
        value = ctx.convert(value, FLOAT16)
    if at != given.rank - 1:
        value = ctx.op(Transpose((*range(at), given.rank - 1, *range(at, given.rank - 1))), value)
    axes = [value.type.shape[at] if i == at else axis for i, axis in enumerate(given.axes)]
    return result_with(ctx, ctx.ndarray(value), axes)


# ---------------------------------------------------------------- transforms of computed length


def _of_computed_length(
    ctx: Context, kind: str, given: ArrayArgument, n: Raw, at: int, norm: Raw, name: str
) -> Abstract:
    """A transform along an axis of computed length; other axes are transformed as those of wholes."""
    if is_none(n):
        own = ctx.python(value_of_size(ctx, size_along(ctx, given, at)), (0, given.shape[at]))
        length = _number(ctx, _double, own) if kind == "IRFFT" else own
    else:
        kept = _number(ctx, _half, n) if kind == "IRFFT" else n
        cut = run_program(ctx, _first, [array_of(ctx, NUMPY, given), kept, at])
        given = compact_argument(ctx, NUMPY, cut, name)
        length = ctx.python(value_of(ctx, ctx.read(n), INT64))
    bad = ctx.op(Compare("LT"), ctx.convert(length.value, INT64), ctx.constant(1, INT64))
    function = getattr(np.fft, name)
    ctx.check(bad, ValueError(), _refuse, [Const(function), length])
    whole = ctx.ndarray(ctx.convert(filled_up(ctx, given, 0), COMPLEX128))
    made = run_program(ctx, _PROGRAMS[kind], [whole, length, at, norm, 2 * given.shape[at] - 1])
    found = NUMPY.operand(ctx, made, name).value
    if given.dtype in (FLOAT16, FLOAT32, COMPLEX64):
        found = ctx.convert(found, FLOAT32 if kind == "IRFFT" else COMPLEX64)
    size = _number(ctx, _half, length) if kind == "RFFT" else length
    axes = [*given.axes]
    axes[at] = extent_of(Progression(ctx.constant(0, INT64), 1, ctx.convert(size.value, INT64)), at)
    return result_with(ctx, ctx.ndarray(found), axes)


def _number(ctx: Context, program: Callable[..., Any], *args: Raw) -> Array:
    found = ctx.read(run_program(ctx, program, args))
    assert isinstance(found, Array)
    return found


def _refuse(function: Callable[..., Any], length: int) -> None:
    function([0.0], length)


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


def _forwards(x: Any, n: Any, axis: Any, norm: Any, _: Any) -> Any:
    made = _chirped(np.moveaxis(x, axis, -1), n, -1.0) * _factor(n, norm, False)
    return np.moveaxis(made, -1, axis)


def _backwards(x: Any, n: Any, axis: Any, norm: Any, _: Any) -> Any:
    made = _chirped(np.moveaxis(x, axis, -1), n, 1.0) / n * _factor(n, norm, True)
    return np.moveaxis(made, -1, axis)


def _backwards_to_real(x: Any, n: Any, axis: Any, norm: Any, bound: Any) -> Any:
    """The numbers with this half spectrum of `n // 2 + 1` elements; `n` is at most `bound`."""
    half = np.moveaxis(x, axis, -1)
    places = np.arange(bound)
    first = half[..., np.minimum(places, half.shape[-1] - 1)]
    others = np.conj(half[..., np.clip(n - places, 0, half.shape[-1] - 1)])
    first = np.where((places == 0) | (2 * places == n), np.real(first), first)
    whole = np.where(2 * places <= n, first, np.where(places < n, others, 0.0))
    made = np.real(_chirped(whole, n, 1.0)) / n * _factor(n, norm, True)
    return np.moveaxis(made, -1, axis)


def _first(x: Any, n: Any, axis: Any) -> Any:
    """The first `n` elements of an axis, zeros where there are fewer."""
    first = np.moveaxis(x, axis, 0)[: max(n, 0)]
    zeros = np.zeros((max(n - len(first), 0), *first.shape[1:]), first.dtype)
    return np.moveaxis(np.concatenate((first, zeros)), 0, axis)


def _factor(n: Any, norm: Any, inverse: Any) -> Any:
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


_PROGRAMS = {"FFT": _forwards, "IFFT": _backwards, "RFFT": _forwards, "IRFFT": _backwards_to_real}


# ---------------------------------------------------------------- declarations


def _declare(function: Any, kind: str) -> None:
    name = function.__name__

    def call(
        ctx: Context, a: Raw, n: Raw = None, axis: Raw = -1, norm: Raw = None, out: Raw = None
    ) -> Abstract:
        made = _transform(ctx, kind, a, n, axis, norm, name)
        if is_none(out):
            return made
        value = NUMPY.operand(ctx, made, name).value
        if not ctx.is_ndarray(out) or shape_of(ctx, out) != value.type.shape:
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"np.fft.{name}", argument="out"))
        return result_into(ctx, out, value, name)

    call.__name__, call.__doc__ = name, f"`np.fft.{name}`: {kind} along one axis."
    meaning(function)(call)


for _function, _kind in (
    (np.fft.fft, "FFT"),
    (np.fft.ifft, "IFFT"),
    (np.fft.rfft, "RFFT"),
    (np.fft.irfft, "IRFFT"),
):
    _declare(_function, _kind)

_SWAPPED: dict[str, Any] = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


@composed(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The real spectrum of a signal of which the Hermitian half is given; as in NumPy, `out` stays as it is."""
    x = np.asarray(a)
    length = 2 * (x.shape[axis] - 1) if n is None else n
    return np.fft.irfft(np.conjugate(x), length, axis, norm=_SWAPPED["backward" if norm is None else norm])


@composed(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `hfft`."""
    x = np.asarray(a)
    length = x.shape[axis] if n is None else n
    made = np.fft.rfft(x, length, axis, norm=_SWAPPED["backward" if norm is None else norm], out=out)
    return np.conjugate(made, out=out)


# ---------------------------------------------------------------- several axes


def _chosen(shape: Any, s: Any, axes: Any, invert: Any) -> Any:
    """Lengths and axes of a transform of several axes; `invert`: the last length is that of the real result."""
    if axes is None:
        count = len(shape) if s is None else len(s)
        axes = tuple(range(len(shape) - count, len(shape)))
    if s is None:
        if len(axes) > len(shape) == 0:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        for i in axes:
            if not -len(shape) <= i < len(shape):
                raise IndexError(f"index {i} is out of bounds for axis 0 with size {len(shape)}")
        lengths = [shape[i] for i in axes]
        if invert:
            lengths[-1] = (shape[axes[-1]] - 1) * 2
    else:
        if len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        lengths = [shape[i] if n == -1 else n for n, i in zip(s, axes)]
    return lengths, axes


def _given(out: Any, result: Any) -> Any:
    """The result, or `out` with the result in it."""
    if out is None:
        return result
    return np.positive(result, out=out)


def _along_all(transform: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """A transform along several axes, the last first."""
    result = np.asarray(a)
    lengths, chosen = _chosen(result.shape, s, axes, False)
    for n, i in zip(reversed(lengths), reversed(chosen)):
        result = transform(result, n, i, norm)
    return result


@composed(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The transform along several axes, the last first."""
    return _given(out, _along_all(np.fft.fft, a, s, axes, norm))


@composed(np.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse transform along several axes."""
    return _given(out, _along_all(np.fft.ifft, a, s, axes, norm))


@composed(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The transform of real numbers along several axes, halved along the last."""
    x = np.asarray(a)
    lengths, chosen = _chosen(x.shape, s, axes, False)
    result = np.fft.rfft(x, lengths[-1], chosen[-1], norm)
    for k in range(len(chosen) - 2, -1, -1):
        result = np.fft.fft(result, lengths[k], chosen[k], norm)
    return _given(out, result)


@composed(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `rfftn`."""
    result = np.asarray(a)
    lengths, chosen = _chosen(result.shape, s, axes, True)
    for k in range(len(chosen) - 1):
        result = np.fft.ifft(result, lengths[k], chosen[k], norm)
    return np.fft.irfft(result, lengths[-1], chosen[-1], norm, out)


@composed(np.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`fftn` over two axes."""
    return np.fft.fftn(a, s, axes, norm, out)


@composed(np.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`ifftn` over two axes."""
    return np.fft.ifftn(a, s, axes, norm, out)


@composed(np.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`rfftn` over two axes."""
    return np.fft.rfftn(a, s, axes, norm, out)


@composed(np.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`irfftn` over two axes."""
    return np.fft.irfftn(a, s, axes, norm, out)


# ---------------------------------------------------------------- frequencies


@composed(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    """The zero frequency moved to the middle."""
    a = np.asarray(x)
    if axes is None:
        axes = tuple(range(a.ndim))
    elif isinstance(axes, int):
        axes = (axes,)
    return np.roll(a, tuple([a.shape[i] // 2 for i in axes]), axes)


@composed(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`."""
    a = np.asarray(x)
    if axes is None:
        axes = tuple(range(a.ndim))
    elif isinstance(axes, int):
        axes = (axes,)
    return np.roll(a, tuple([-(a.shape[i] // 2) for i in axes]), axes)
