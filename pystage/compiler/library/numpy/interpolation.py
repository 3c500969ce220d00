"""Linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.python_implementations import composed


@composed(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Linear interpolation between the points (`xp`, `fp`), of which `xp` ascends; float64 or complex128."""
    if period is not None:
        return periodic(x, xp, fp, period)
    for given in (x, xp):
        if np.iscomplexobj(given):
            pair = f"from {np.asarray(given).dtype!r} to dtype('float64')"
            raise TypeError(f"Cannot cast array data {pair} according to the rule 'safe'")
    if np.iscomplexobj(fp):
        return by_parts(x, xp, fp, left, right)
    positions, values = np.asarray(xp, float), np.asarray(fp, float)
    n = len(positions)
    if n == 0:
        raise ValueError("array of sample points is empty")
    if positions.ndim != 1 or values.ndim != 1 or len(values) != n:
        raise ValueError("fp and xp are not of the same length.")
    at = np.asarray(x, float)
    low = np.clip(np.searchsorted(positions, at, side="right") - 1, 0, max(n - 2, 0))
    high = np.minimum(low + 1, n - 1)
    slope = (values[high] - values[low]) / (positions[high] - positions[low])
    found = _line(slope, at, positions[low], values[low])
    behind = _line(slope, at, positions[high], values[high])
    found = np.where(np.isnan(found), behind, found)  # between points that are not finite
    level = (values[low] == values[high]) | (at == positions[low])
    found = np.where(np.isnan(found) & level, values[low], found)
    end, last = (
        positions[-1],
        values[-1],
    )  # of the last point itself, with the slope of the line that ends there
    on_line = np.where(np.signbit(slope), slope * (at - end + 0.0), -(slope * (end - at + 0.0))) + last
    found = np.where(at == end, np.where(np.isfinite(slope), on_line, last), found)
    found = np.where(at < positions[0], values[0] if left is None else left, found)
    found = np.where(at > end, last if right is None else right, found)
    return np.where(np.isnan(at) & (n > 1), at, found)[()]


def _line(slope: Any, at: Any, x: Any, y: Any) -> Any:
    """The line through a point. At the point it is `y`, -0.0 too: -0.0 is added there."""
    on, back = at - x + 0.0, x - at + 0.0
    return np.where(np.signbit(slope), slope * on, -(slope * back)) + y


def periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """`np.interp` of points that repeat after a period."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    period = abs(period)
    at = np.asarray(x, dtype=np.float64)
    positions = np.asarray(xp, dtype=np.float64)
    values = np.asarray(fp)
    if positions.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if positions.shape[0] != values.shape[0]:
        raise ValueError("fp and xp are not of the same length")
    positions = positions % period
    order = np.argsort(positions)
    positions, values = positions[order], values[order]
    positions = np.concatenate((positions[-1:] - period, positions, positions[0:1] + period))
    values = np.concatenate((values[-1:], values, values[0:1]))
    return np.interp(at % period, positions, values)


def by_parts(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    """`np.interp` between complex numbers: of their real and of their imaginary parts; where `x` is NaN, that and 0."""
    values = np.asarray(fp)
    low: Any = None if left is None else np.asarray(left)
    high: Any = None if right is None else np.asarray(right)
    real = np.interp(
        x, xp, values.real, None if low is None else low.real, None if high is None else high.real
    )
    imaginary = np.interp(
        x, xp, values.imag, None if low is None else low.imag, None if high is None else high.imag
    )
    result = np.zeros(np.shape(real), np.complex128)
    result.real = real
    result.imag = np.where(np.isnan(x) & (np.size(xp) > 1), 0.0, imaginary)
    return result[()]
