"""Correlations, unwrapped phases, and polynomials by their coefficients.

Composed of simpler NumPy functions, with NumPy's signatures.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ...diagnostics.codes_calls import NotServed
from ...hlo.types import is_complex
from ...values.lattice import Abstract, Const
from ..context import Context, Raw
from ..kernels.python_implementations import composed, size_depends
from ..kernels.structures import abstract
from ..operands.libraries import NUMPY
from ..operands.nested_sequences import nested
from ..registry import meaning
from .jax_twin import twin


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
