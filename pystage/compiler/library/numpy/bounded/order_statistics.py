"""Order, running sums and statistics along a bounded axis."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ....diagnostics.codes_constant import NotKnown
from ....diagnostics.errors import StagingError
from ....hlo.ir import Value
from ....hlo.types import BOOL, INT64, DType, is_complex, is_floating
from ....ops import Compare, Not, Select
from ....values.bounded import Bounded, Extent
from ....values.lattice import NONE, Abstract, Array, Const, Tuple
from ...context import Context, Raw
from ...kernels.number_checks import refuse as refuse_number
from ...kernels.python_implementations import NO_SUBTRACTION, run_program
from ...kernels.structures import sequence_items
from ...operands.libraries import Rules
from ...rules.bounds import ends_of
from ...rules.jax import axis_of, is_none
from ..indexing.bounded import bounded, compact, elements, length, raveled, refuse, size, where
from ..indexing.bounded_operands import placed, result_with
from ..reductions.sorting import check_kind
from ..subscripts.subscripts import array_getitem
from .size_rules import (
    composed_for_bounded,
    composed_twins,
    for_bounded,
    from_front,
    twins_for_bounded,
    whole_like,
)

from_front((np.cumsum, np.cumprod, np.nancumsum, np.nancumprod), "a")
from_front((jnp.cumsum, jnp.cumprod, jnp.nancumsum, jnp.nancumprod), "a")


def _last(dtype: DType) -> object:
    """A value after which no other is sorted."""
    if is_complex(dtype):
        return complex(np.nan, np.nan)
    if is_floating(dtype):
        return np.nan
    return True if dtype == BOOL else ends_of(dtype)[1]


def with_last(ctx: Context, array: Bounded) -> Value:
    """The elements of a compact array, followed by values after which no other is sorted."""
    value = elements(ctx, array)
    last = ctx.broadcast(ctx.constant(_last(value.type.dtype), value.type.dtype), value.type.static_shape)
    return ctx.op(Select(), where(ctx, array), value, last)


def _sorted(function: Any, ctx: Context, rules: Rules, a: Raw, axis: Raw, kind: Raw) -> Abstract:
    assert isinstance(a, Bounded)
    if not rules.is_jax:
        check_kind(ctx, function, kind)
    if is_none(axis):
        a, axis = raveled(ctx, a), 0
    at = axis_of(ctx, axis, a.rank, "sort")
    array = compact(ctx, a)
    along = array.axes[at]
    whole = array.whole
    if isinstance(along, Extent):
        only = Bounded(array.whole, array.type, (along,))
        whole = whole_like(ctx, array, with_last(ctx, only))
        # what does not belong to it stands last, and stays there among its equals
        kind = NONE if rules.is_jax else Const("stable")
    made = ctx.call(Const(function), [whole, Const(at)], {} if is_none(kind) else {"kind": kind})
    return result_with(ctx, made, array.axes)


@twins_for_bounded(np.sort, jnp.sort)
def sort(ctx: Context, rules: Rules, a: Raw, axis: Raw = -1, kind: Raw = None) -> Abstract:
    """The elements in order along an axis."""
    return _sorted(rules.module.sort, ctx, rules, a, axis, kind)


@twins_for_bounded(np.argsort, jnp.argsort)
def argsort(ctx: Context, rules: Rules, a: Raw, axis: Raw = -1, kind: Raw = None) -> Abstract:
    """The places of the elements in order along an axis."""
    return _sorted(rules.module.argsort, ctx, rules, a, axis, kind)


@for_bounded(np.lexsort)
def lexsort(ctx: Context, keys: Raw, axis: Raw = -1) -> Abstract:
    """The places of elements in the order of the last key, then of the one before."""
    parts = sequence_items(ctx, keys)
    if parts is None and isinstance(keys, Bounded) and keys.rank == 2 and isinstance(keys.axes[0], int):
        parts = tuple([array_getitem(ctx, keys, Const(row)) for row in range(keys.axes[0])])
    if parts is None:
        refuse(ctx, "np.lexsort of so many keys", keys)
    ordered = [compact(ctx, part) if isinstance(part, Bounded) else part for part in parts]
    wholes, extents = placed(ctx, "np.lexsort", _same_size, ordered)
    values = [read.value for whole in wholes if isinstance(read := ctx.read(whole), Array)]
    if any(value.type.rank != 1 for value in values):
        refuse(ctx, "np.lexsort of matrices", *parts)
    line = bounded(ctx, ctx.jax(values[0]), [e.moved(1) for e in extents])
    last = ctx.op(Not(), where(ctx, line))  # what does not belong to them stands last
    made = ctx.call(Const(np.lexsort), [Tuple(tuple([ctx.ndarray(v) for v in (*values, last)]))])
    return result_with(ctx, made, line.axes)


def _same_size(*keys: Any) -> None:
    np.lexsort([np.zeros(key.shape) for key in keys])


@composed_twins(np.diff, jnp.diff)
def diff(xp: Any, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours."""
    if n == 0:
        return a
    if prepend is not None and prepend is not np._NoValue:
        a = xp.concatenate((_as_end_of(xp, a, prepend, axis), a), axis)
    if append is not None and append is not np._NoValue:
        a = xp.concatenate((a, _as_end_of(xp, a, append, axis)), axis)
    for _ in range(n):
        if a.ndim == 1:
            a = a[1:] != a[:-1] if a.dtype == bool else a[1:] - a[:-1]
        elif axis in (0, -a.ndim):
            a = a[1:] - a[:-1]
        else:
            a = xp.moveaxis(diff(xp, xp.moveaxis(a, axis, 0), 1, 0), 0, axis)
    return a


def _as_end_of(xp: Any, a: Any, end: Any, axis: Any) -> Any:
    """The values before or behind an array: for a number, one element along the axis. `jnp.copy` takes no list."""
    end = xp.copy(end)
    if end.ndim:
        return end
    shape = list(a.shape)
    shape[axis] = 1
    return xp.broadcast_to(end, tuple(shape))


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


@composed_for_bounded(np.median)
def median(a: Any, axis: Any = None) -> Any:
    """The middle element, or the mean of the two in the middle; NaN where one is NaN."""
    if axis is None:
        a, axis = np.ravel(a), 0
    ordered = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    n = len(ordered)
    if n == 0:
        return np.mean(ordered, axis=0)
    two = np.stack([ordered[n // 2], ordered[(n - 1) // 2]])
    middle: Any = np.where(n % 2 == 1, np.mean(two[:1], axis=0), np.mean(two, axis=0))
    if np.issubdtype(ordered.dtype, np.inexact):
        middle = np.where(np.isnan(ordered[n - 1]), ordered[n - 1], middle)
    return middle[()]


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


@composed_for_bounded(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The elements shifted cyclically."""
    if axis is None and a.ndim > 1:
        return roll(np.ravel(a), shift).reshape(a.shape)
    if isinstance(axis, tuple):
        shifts = shift if isinstance(shift, tuple) else (shift,) * len(axis)
        for each, along in zip(shifts, axis):
            a = roll(a, each, along)
        return a
    if isinstance(shift, tuple):
        return roll(a, sum(shift), axis)
    moved = np.moveaxis(a, axis or 0, 0)
    n = len(moved)
    if n == 0:
        return a.copy()
    return np.moveaxis(moved[(np.arange(n) - shift) % n], 0, axis or 0)


@composed_for_bounded(np.isin)
def isin(element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False) -> Any:
    """Which elements are among others."""
    element, ordered = np.asarray(element), np.sort(np.ravel(test_elements))
    n = len(ordered)
    if n == 0:
        found = np.zeros(element.shape, bool)
    else:
        places = np.minimum(np.searchsorted(ordered, element), n - 1)
        found = ordered[places] == element
    return np.asarray(~found if invert else found)


@for_bounded(np.searchsorted)
def searchsorted(ctx: Context, a: Raw, v: Raw, side: Raw = "left", sorter: Raw = None) -> Abstract:
    """The insertion points of values in a sorted vector: past those that are less, or (`side="right"`) not greater."""
    if not is_none(sorter):
        a = array_getitem(ctx, a, sorter)
    array = a
    if isinstance(a, Bounded):
        array = compact(ctx, a)
        array = whole_like(ctx, array, with_last(ctx, array))
    if isinstance(v, Bounded):
        found = ctx.call(Const(np.searchsorted), [array, v.whole, side])
        found = result_with(ctx, found, v.axes)
    else:
        found = ctx.call(Const(np.searchsorted), [array, v, side])
    if not isinstance(a, Bounded):
        return found
    return ctx.call(Const(np.minimum), [found, length(ctx, a)])
