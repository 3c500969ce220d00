"""Order, running sums and statistics along a bounded axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....diagnostics.codes_constant import NotKnown
from ....diagnostics.errors import StagingError
from ....hlo.types import INT64
from ....ops import Compare
from ....values.bounded import Bounded
from ....values.lattice import Abstract
from ...context import Context, Raw
from ...kernels.number_checks import refuse as refuse_number
from ...kernels.python_implementations import NO_SUBTRACTION, run_program
from ..indexing.bounded import refuse, size
from .size_rules import (
    composed_for_bounded,
    for_bounded,
)


@for_bounded(np.polyval)
def polyval(ctx: Context, p: Raw, x: Raw) -> Abstract:
    """The value of a polynomial, coefficients of high powers first; the run ends where there are none."""
    if isinstance(p, Bounded):
        if p.rank != 1:
            refuse(ctx, "np.polyval of several polynomials", p)
        none = ctx.op(Compare("EQ"), size(ctx, p).value, ctx.constant(0, INT64))
        reason = NotKnown(span=ctx.span, what="the element type of np.polyval of no coefficients")
        ctx.check(none, StagingError(()), refuse_number, [lambda: reason])
    return run_program(ctx, _polyval, (p, x))


def _polyval(p: Any, x: Any) -> Any:
    coefficients, at = np.asarray(p), np.asarray(x)
    found = np.zeros_like(at).astype(np.result_type(coefficients, at))
    for coefficient in coefficients:
        found = found * at + coefficient
    return found[()]


@composed_for_bounded(np.percentile)
def percentile(a: Any, q: Any, axis: Any = None) -> Any:
    """As `np.quantile`, of a hundred."""
    return at_shares(a, checked_shares(a, np.true_divide(q, 100), "Percentiles", 100), is_weak(q), axis)


@composed_for_bounded(np.quantile)
def quantile(a: Any, q: Any, axis: Any = None) -> Any:
    """The value at a share `q` of the way through the sorted elements, interpolated between two of them."""
    return at_shares(a, checked_shares(a, q, "Quantiles", 1), is_weak(q), axis)


def is_weak(q: Any) -> Any:
    """True for a Python number, which leaves the element type as it is."""
    return type(q) in (int, float)


def checked_shares(a: Any, q: Any, name: Any, whole: Any) -> Any:
    """Shares from 0 to 1 as an array, of real numbers."""
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    shares = np.asarray(q)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"{name} must be in the range [0, {whole}]")
    return shares


def at_shares(a: Any, shares: Any, weak: Any, axis: Any = None) -> Any:
    """The values at shares of the way through the sorted elements; interpolated as in NumPy."""
    if axis is None:
        a, axis = np.ravel(a), 0
    ordered = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    n = len(ordered)
    inexact = np.issubdtype(ordered.dtype, np.inexact)
    place = np.asarray((n - 1) * shares)
    is_place = np.issubdtype(place.dtype, np.integer)
    if n == 0:
        if is_place and not inexact:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        first = 0 if not inexact and np.ravel(shares)[0] > 0 else -1
        raise IndexError(f"index {first} is out of bounds for axis 0 with size 0")
    if is_place:
        found = ordered[place[()]]
    else:
        if ordered.dtype == bool:
            raise TypeError(NO_SUBTRACTION)
        at_end = place >= n - 1
        below = np.where(at_end, n - 1, np.floor(place)).astype(np.intp)[()]
        part: Any = (place - np.where(at_end, -1, below)).astype(place.dtype)
        part = float(part) if weak else np.reshape(part, part.shape + (1,) * (ordered.ndim - 1))
        low, high = ordered[below], ordered[np.minimum(below + 1, n - 1)]
        step = high - low
        found = np.where(part >= 0.5, high - step * (1 - part), low + step * part)[()]
    if inexact:
        last = ordered[n - 1]
        if np.ndim(found) == 0 and found.dtype != last.dtype:
            return last if np.isnan(last) else found
        found = np.where(np.isnan(last), last, found)[()]
    return found
