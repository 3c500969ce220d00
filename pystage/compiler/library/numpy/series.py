"""Gradients, correlations, unwrapped phases, and polynomials by their coefficients.

Composed of simpler NumPy functions, with NumPy's signatures.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ...diagnostics.codes_calls import NotServed
from ...hlo.types import is_complex
from ...values.lattice import Abstract, Const
from ..context import Context, Raw
from ..kernels.python_implementations import NO_SUBTRACTION, composed, size_depends
from ..kernels.structures import abstract
from ..operands.libraries import NUMPY
from ..operands.nested_sequences import nested
from ..registry import meaning
from .jax_twin import twin


@composed(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours in the flat array, with elements before and behind."""
    flat = np.ravel(np.asarray(ary))
    parts = [flat[1:] - flat[:-1]]
    if to_begin is not None:
        parts.insert(0, _end_of_differences(to_begin, flat.dtype, "to_begin"))
    if to_end is not None:
        parts.append(_end_of_differences(to_end, flat.dtype, "to_end"))
    return np.concatenate(parts)


def _end_of_differences(given: Any, dtype: Any, name: Any) -> Any:
    end = np.asarray(given)
    if not np.can_cast(end.dtype, dtype, "same_kind"):
        raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
    return np.ravel(end).astype(dtype)


@composed(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Central differences along each axis, one-sided at the edges; spacings are numbers or coordinates."""
    x = np.asarray(f)
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim)
    if len(varargs) == 0:
        steps = [1.0] * len(axes)
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        steps = [varargs[0]] * len(axes)
    elif len(varargs) == len(axes):
        steps = list(varargs)
    else:
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    kind = x.dtype if np.issubdtype(x.dtype, np.inexact) else np.dtype(np.float64)
    subtracts = x.dtype == bool  # what is no integer is subtracted as it is
    x = x.astype(kind)
    results = []
    for i, step in zip(axes, steps):
        if x.shape[i] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, "
                "at least (edge_order + 1) elements are required."
            )
        if subtracts and (edge_order == 1 or np.ndim(step) == 0):
            raise TypeError(NO_SUBTRACTION)
        lines = np.moveaxis(x, i, 0)
        if np.ndim(step) == 0:
            made = _even_gradient(lines, step, edge_order)
        else:
            points = np.asarray(step)
            if np.issubdtype(points.dtype, np.integer):
                points = points.astype(np.float64)
            widths = np.diff(points)
            uneven = _uneven_gradient(lines, widths.reshape((-1,) + (1,) * (x.ndim - 1)), edge_order)
            made = np.where((widths == widths[0]).all(), _even_gradient(lines, widths[0], edge_order), uneven)
        results.append(np.moveaxis(made.astype(kind), 0, i))
    if len(results) == 1:
        return results[0]
    return tuple(results)


def _even_gradient(y: Any, h: Any, edge_order: Any) -> Any:
    """The gradient along the first axis for one distance between all points."""
    inner = (y[2:] - y[:-2]) / (2.0 * h)
    if edge_order == 1:
        return np.concatenate(((y[1:2] - y[:1]) / h, inner, (y[-1:] - y[-2:-1]) / h))
    first = (-1.5 / h) * y[:1] + (2.0 / h) * y[1:2] + (-0.5 / h) * y[2:3]
    last = (0.5 / h) * y[-3:-2] + (-2.0 / h) * y[-2:-1] + (1.5 / h) * y[-1:]
    return np.concatenate((first, inner, last))


def _uneven_gradient(y: Any, d: Any, edge_order: Any) -> Any:
    """The gradient along the first axis for the distances `d`, which broadcast against the lines."""
    a, b = d[:-1], d[1:]
    inner = -b / (a * (a + b)) * y[:-2] + (b - a) / (a * b) * y[1:-1] + a / (b * (a + b)) * y[2:]
    if edge_order == 1:
        return np.concatenate(((y[1:2] - y[:1]) / d[:1], inner, (y[-1:] - y[-2:-1]) / d[-1:]))
    a, b = d[:1], d[1:2]
    first = -(2.0 * a + b) / (a * (a + b)) * y[:1] + (a + b) / (a * b) * y[1:2] - a / (b * (a + b)) * y[2:3]
    a, b = d[-2:-1], d[-1:]
    last = (
        b / (a * (a + b)) * y[-3:-2] - (b + a) / (a * b) * y[-2:-1] + (2.0 * b + a) / (b * (a + b)) * y[-1:]
    )
    return np.concatenate((first, inner, last))


@composed(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """The products of `a` with the shifted, conjugated `v`."""
    x, y = np.asarray(a), np.asarray(v)
    if len(x) == 0:
        raise ValueError("first array argument cannot be empty")
    if len(y) == 0:
        raise ValueError("second array argument cannot be empty")
    if len(x) < len(y):
        return np.convolve(y.conj(), x[::-1], mode)[::-1]
    return np.convolve(x, y.conj()[::-1], mode)


@composed(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * np.pi) -> Any:
    """Phases with jumps of more than half a period removed by whole periods."""
    given = np.asarray(p)
    phases = np.moveaxis(given, normalize_axis_index(axis, given.ndim), -1)
    steps = np.diff(phases, axis=-1)
    limit = period / 2 if discont is None else discont
    kind = np.result_type(steps.dtype, period)
    if np.issubdtype(kind, np.integer):
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        high, ambiguous = period / 2, True
    low = -high
    wrapped = np.mod(steps - low, period) + low
    if ambiguous:
        wrapped = np.where((wrapped == low) & (steps > 0), high, wrapped)
    correction = np.where(np.abs(steps) < limit, 0, wrapped - steps)
    rest_of = (phases[..., 1:] + np.cumsum(correction, axis=-1)).astype(kind)
    whole = np.concatenate((phases[..., :1].astype(kind), rest_of), axis=-1)
    return np.moveaxis(whole, -1, axis).copy()


# ---------------------------------------------------------------- polynomials


def _aligned(a1: Any, a2: Any) -> Any:
    """Two rows of coefficients, the shorter filled with zeros in front."""
    x, y = np.atleast_1d(a1), np.atleast_1d(a2)
    count = max(len(x), len(y))
    return np.pad(x, (count - len(x), 0)), np.pad(y, (count - len(y), 0))


@composed(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials."""
    x, y = _aligned(a1, a2)
    return x + y


@composed(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    x, y = _aligned(a1, a2)
    return x - y


@composed(np.polyder)
def polyder(p: Any, m: Any = 1) -> Any:
    """The `m`-th derivative of a polynomial."""
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    coefficients = np.asarray(p)
    for _ in range(min(m, len(coefficients) + 1)):  # then nothing is left
        count = len(coefficients)
        coefficients = coefficients[:-1] * np.arange(count - 1, 0, -1)
    return coefficients


@composed(np.polyint)
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """The `m`-th integral of a polynomial, with the constants `k` of integration."""
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.zeros(m, float) if k is None else np.atleast_1d(k)
    if len(constants) == 1 and m > 1:
        constants = constants[0] * np.ones(m, float)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    coefficients = np.asarray(p)
    for i in range(m):
        count = len(coefficients)
        coefficients = np.concatenate((coefficients / np.arange(count, 0, -1), [constants[i]]))
    return coefficients


@composed(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials; the coefficients before the first that is not 0 are left out."""
    return np.convolve(_without_zeros(a1), _without_zeros(a2))


def _without_zeros(given: Any) -> Any:
    """The coefficients of a polynomial from its degree down."""
    coefficients = np.trim_zeros(np.atleast_1d(given), trim="f")
    if len(coefficients) == 0:
        return np.zeros(1, coefficients.dtype)
    return coefficients


@composed(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """The coefficients of the polynomial with real roots."""
    roots = np.atleast_1d(seq_of_zeros)
    square = roots.ndim == 2 and roots.shape[0] == roots.shape[1] and roots.shape[0] != 0
    if roots.ndim != 1 and not square:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if square or np.iscomplexobj(roots):
        size_depends("the type of np.poly of a matrix or of complex roots", "find the coefficients outside")
    roots = roots.astype(np.mintypecode(roots.dtype.char))
    if len(roots) == 0:
        return 1.0
    coefficients = np.ones(1, dtype=roots.dtype)
    for root in roots:
        coefficients = np.convolve(coefficients, np.array([1, -root], dtype=roots.dtype))
    return coefficients


@composed(np.polyfit)
def polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False
) -> Any:
    """The coefficients of the polynomial that lies nearest to the points; their covariances, with `cov="unscaled"`."""
    at = np.asarray(x) + 0.0
    values = np.asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if at.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if len(at) == 0:
        raise TypeError("expected non-empty vector for x")
    if values.ndim < 1 or values.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if len(at) != len(values):
        raise TypeError("expected x and y to have same length")
    if rcond is None:
        rcond = len(at) * np.finfo(at.dtype).eps
    powers = np.vander(at, deg + 1)
    goal = values
    if w is not None:
        heavy = np.asarray(w) + 0.0
        if heavy.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if len(heavy) != len(values):
            raise TypeError("expected w and y to have the same length")
        powers = powers * heavy[:, None]
        goal = goal * heavy[:, None] if goal.ndim == 2 else goal * heavy
    scale = np.sqrt((powers * powers).sum(axis=0))
    powers = powers / scale
    found = np.linalg.lstsq(powers, goal, rcond)
    solution = found[0]
    coefficients = (solution.T / scale).T
    if full:
        return coefficients, found[1], found[2], found[3], rcond
    if not cov:
        return coefficients
    if not (isinstance(cov, str) and cov == "unscaled"):
        size_depends(
            "the residuals of np.polyfit with `cov`", "use `cov='unscaled'`, and scale it by the residuals"
        )
    base = np.linalg.inv(np.dot(powers.T, powers)) / np.outer(scale, scale)
    if values.ndim == 1:
        return coefficients, base
    return coefficients, base[:, :, None] * 1


# ---------------------------------------------------------------- numbers taken apart, special functions


@composed(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    """The nearest whole numbers towards zero."""
    return np.trunc(x, out=out)


@meaning(np.i0)
def i0(ctx: Context, x: Raw) -> Abstract:
    """The modified Bessel function of order 0."""
    given = nested(ctx, NUMPY, x, "np.i0")
    dtype = NUMPY.inexact(ctx, given.dtype)
    return NUMPY.array(ctx, twin(ctx, jnp.i0, ctx.convert(given.value, dtype))[0])


@composed(np.kaiser)
def kaiser(M: Any, beta: Any) -> Any:
    """The Kaiser window of `M` points."""
    if M <= 1:
        return np.ones(max(M, 0))
    middle = (M - 1) / 2.0
    beta = np.asarray(beta, float)
    return np.i0(beta * np.sqrt(1 - ((np.arange(0, M) - middle) / middle) ** 2.0)) / np.i0(beta)


@composed(np.sort_complex)
def sort_complex(a: Any) -> Any:
    """The elements in order along the last axis, as complex numbers."""
    ordered = np.sort(np.asarray(a))
    if np.iscomplexobj(ordered):
        return ordered
    narrow = np.issubdtype(ordered.dtype, np.integer) and ordered.dtype.itemsize <= 2
    return ordered.astype(np.complex64 if narrow else np.complex128)


@meaning(np.real_if_close)
def real_if_close(ctx: Context, a: Raw, tol: Raw = 100) -> Abstract:
    """Real numbers as they are."""
    made = ctx.call(Const(np.asanyarray), [abstract(a)])
    if is_complex(NUMPY.operand(ctx, made, "real_if_close").dtype):
        name, why = "np.real_if_close of complex numbers", "their values decide whether the result is real"
        ctx.fail(
            NotServed(
                span=ctx.span, name=name, why=why, instead="take `.real`, or go on with complex numbers"
            )
        )
    return made


@composed(np.isreal)
def isreal(x: Any) -> Any:
    """Which elements have no imaginary part."""
    return np.imag(x) == 0


@composed(np.iscomplex)
def iscomplex(x: Any) -> Any:
    """Which elements have an imaginary part; an array or a NumPy scalar also of Python's numbers."""
    whole = np.asarray(x)
    if np.iscomplexobj(whole):
        return whole.imag != 0
    return np.zeros(whole.shape, bool)[()]
