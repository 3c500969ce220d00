"""NumPy's `median`, `percentile` and `quantile`: positions in the sorted elements.

The position of a quantile among `n` sorted elements depends on `n` and `q` only. Where both are constants, NumPy itself
computes it from the elements 0, 1, …, n - 1, and the program only interpolates. NaN anywhere gives NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .... import ops
from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.ir import Value
from ....hlo.types import BOOL, FLOAT16, FLOAT64, INT64, DType, is_complex, is_floating
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Array, Const
from ...context import Context, Raw
from ...kernels.python_implementations import run_program
from ...kernels.structures import abstract, lift
from ...operands.bounded_arguments import compact_argument, filled_up, is_bounded, size_along, value_of_size
from ...operands.libraries import NUMPY, Rules, twins
from ...operands.nested_sequences import array_argument, elements, nested
from ...operands.reduction_operands import wider
from ...rules.jax import axes_of, is_none
from ..concatenation import part, taken
from ..indexing.bounded import raveled, refuse
from ..indexing.bounded_operands import result_with
from ..indexing.fancy_indexing import Fancy, gather
from ..indexing.size_checks import Axis
from ..indexing.stores import known_array
from .nan_order import (
    IN_OWN_TYPE,
    last_if_nan,
    sized_percentile,
    sized_quantile,
    weighted_percentile,
    weighted_quantile,
)
from .sorting import last_of

_EXACT_IN_FLOAT16 = 2048


class _SortedLines:
    """The elements to sort, moved to the first axis, and the shape of the result.

    `sorted` are they in order, once `order` has said at which indices they must be.
    """

    sorted: Value

    def __init__(self, ctx: Context, rules: Rules, a: Raw, axis: Raw, keepdims: Raw, name: str) -> None:
        flat = raveled(ctx, a) if isinstance(a, Bounded) and is_none(axis) else a
        given = compact_argument(ctx, rules, flat, name)
        self.shape = given.shape
        self.dtype = given.dtype
        axes = tuple(range(given.rank)) if is_none(axis) else axes_of(ctx, axis, given.rank, name)
        self.axes = tuple(sorted(axes))
        kept = [i for i in range(given.rank) if i not in self.axes]
        self.most = math.prod([self.shape[i] for i in self.axes])
        self.count: int | Value = self.most
        if any(e.axis in self.axes for e in given.extents):
            if len(self.axes) > 1:
                refuse(ctx, f"np.{name} along several axes", a)
            self.count = size_along(ctx, given, *self.axes)
        self.rest = tuple([self.shape[i] for i in kept])
        self.keep = bool(ctx.known(keepdims, f"keepdims of {name}"))
        rank = a.rank if isinstance(a, Bounded) else given.rank
        self.result_axes: list[Axis] = [given.axes[i] for i in kept]
        if self.keep:
            kept_axes = [1 if i in self.axes else axis for i, axis in enumerate(given.axes)]
            self.result_axes = kept_axes if given.rank == rank else [1] * rank
        self.result = tuple(
            [axis if isinstance(axis, int) else self.shape[axis.axis] for axis in self.result_axes]
        )
        value = filled_up(ctx, given, last_of(given.dtype), self.axes)
        order = (*self.axes, *kept)
        moved = value if order == tuple(range(given.rank)) else ctx.op(ops.Transpose(order), value)
        self.lines = ctx.reshape(moved, (self.most, *self.rest))

    def order(self, ctx: Context, positions: Iterable[int] = ()) -> None:
        """Sorts, so that the elements at these indices are in place, or all; the last one is, since NaN sorts last."""
        wanted = {int(p) for p in positions}
        kth = tuple(sorted({*wanted, self.most - 1})) if wanted else ()
        self.sorted = ctx.op(ops.Sort(0, kth=kth), self.lines)

    def given_back(self, ctx: Context, rules: Rules, value: Value) -> Abstract:
        """The result; with `keepdims` an ndarray of any rank."""
        made = rules.array(ctx, value) if self.keep else rules.result(ctx, value)
        return result_with(ctx, made, self.result_axes)

    def element(self, ctx: Context, position: int | Value) -> Value:
        """The elements in order at this position, known or computed."""
        if isinstance(position, int):
            found = part(ctx, self.sorted, 0, position, position + 1)
        else:
            zeros = [ctx.constant(0, INT64) for _ in self.rest]
            found = ctx.op(ops.DynamicSlice((1, *self.rest)), self.sorted, position, *zeros)
        return ctx.reshape(found, self.rest)

    def with_nan(self, ctx: Context, value: Value) -> Value:
        """`value` (shape `(…, *rest)`), NaN where the elements have one: it is sorted last."""
        if not (is_floating(self.dtype) or is_complex(self.dtype)):
            return value
        shape = value.type.shape
        last = ctx.broadcast(self.element(ctx, _last(ctx, self.count)), shape)
        is_nan = ctx.op(ops.Compare("NE"), last, last)
        return ctx.op(ops.Select(), is_nan, ctx.convert(last, value.type.dtype), value)


def _now(ctx: Context, call: Callable[[], Any]) -> Abstract:
    """A result that does not depend on elements, computed while compiling."""
    try:
        with np.errstate(all="ignore"):
            return lift(ctx, call())
    except (ValueError, IndexError, TypeError) as error:
        ctx.raise_(error)


@twins(np.median, None, delegates=False)
def median(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw = None,
    out: Raw = None,
    overwrite_input: Raw = False,
    keepdims: Raw = False,
) -> Abstract:
    """The middle element, or the mean of the two in the middle."""
    lines = _SortedLines(ctx, rules, a, axis, keepdims, "median")
    dtype = rules.inexact(ctx, lines.dtype)
    none = ctx.broadcast(ctx.constant(np.nan, dtype), lines.result)
    if lines.most == 0:
        return lines.given_back(ctx, rules, none)
    count, at = lines.count, [_half(ctx, n) for n in (_last(ctx, lines.count), lines.count)]
    lines.order(ctx, [i for i in at if isinstance(i, int)])
    wide = wider(dtype)
    before, value = [ctx.convert(lines.element(ctx, i), wide) for i in at]
    mean = ctx.op(
        ops.Divide(), ctx.op(ops.Add(), before, value), ctx.broadcast(ctx.constant(2, wide), lines.rest)
    )
    if isinstance(count, int):
        value = value if count % 2 else mean
    else:
        odd = ctx.op(ops.Compare("EQ"), *[value_of_size(ctx, i) for i in at])
        value = ctx.op(ops.Select(), ctx.broadcast(odd, lines.rest), value, mean)
    if not rules.is_jax:  # a mean, whose sum begins with 0.0
        value = ctx.op(ops.Add(), ctx.broadcast(ctx.constant(0, wide), lines.rest), value)
    value = ctx.reshape(lines.with_nan(ctx, ctx.convert(value, dtype)), lines.result)
    if not isinstance(count, int):
        empty = ctx.op(ops.Compare("EQ"), count, ctx.constant(0, INT64))
        value = ctx.op(ops.Select(), ctx.broadcast(empty, lines.result), none, value)
    return lines.given_back(ctx, rules, value)


def _half(ctx: Context, count: int | Value) -> int | Value:
    return count // 2 if isinstance(count, int) else ctx.op(ops.Divide(), count, ctx.constant(2, INT64))


def _last(ctx: Context, count: int | Value) -> int | Value:
    """The last position of so many elements; 0 of none where the number is computed."""
    if isinstance(count, int):
        return count - 1
    return ctx.op(
        ops.Maximum(), ctx.op(ops.Subtract(), count, ctx.constant(1, INT64)), ctx.constant(0, INT64)
    )


def _known_shares(ctx: Context, q: Raw, name: str) -> Any:
    """`q` where it is known or can be demanded; None for an array of NumPy that the program computes."""
    if ctx.is_ndarray(q):
        return known_array(ctx.contents(q))
    if isinstance(q, Array) and q.form is not Form.PYTHON:
        return known_array(q.value)
    parts = elements(ctx, q)
    if parts is not None and any(isinstance(p, Array) and p.form is not Form.PYTHON for p in parts):
        return None
    return ctx.known(q, f"q of np.{name}")


def _quantile(
    function: Any,
    ctx: Context,
    rules: Rules,
    a: Raw,
    q: Raw,
    axis: Raw,
    method: Raw,
    keepdims: Raw,
    weights: Raw,
) -> Abstract:
    """`np.quantile` or `np.percentile`, which differ in the scale of `q`."""
    name = function.__name__
    if not is_none(weights):
        if any(is_bounded(ctx, x) for x in (a, q, weights)):
            refuse(ctx, f"np.{name} with weights", a, q, weights)
        return _weighted(ctx, a, q, axis, keepdims, weights, name, method)
    how = ctx.known(method, f"the method of np.{name}")
    if is_bounded(ctx, a) or is_bounded(ctx, q):
        if how != "linear" or ctx.known(keepdims, f"keepdims of np.{name}"):
            refuse(ctx, f"np.{name} with these arguments", a, q)
        return run_program(ctx, sized_quantile if name == "quantile" else sized_percentile, (a, q, axis))
    wanted = _known_shares(ctx, q, name)
    lines = _SortedLines(ctx, rules, a, axis, keepdims, name)
    given = None if wanted is not None else array_argument(ctx, rules, q, name)
    if given is not None:
        shares = given.dtype if name == "quantile" else np.true_divide(np.zeros(0, given.dtype), 100).dtype
        if how != "linear" or shares.kind != "f" or (given.dtype.kind != "f" and shares != FLOAT64):
            what = "method" if how != "linear" else f"q of {given.dtype}"
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"np.{name}", argument=what))
    sample = np.full(given.shape, 0.5, given.dtype) if given is not None else wanted
    if lines.most == 0 or is_complex(lines.dtype):
        zeros = np.zeros(lines.shape, lines.dtype)
        return _now(ctx, lambda: function(zeros, sample, axis=lines.axes, method=how, keepdims=lines.keep))
    try:
        dtype: DType = np.asarray(function(np.zeros(2, lines.dtype), sample, method=how)).dtype
        positions = np.asarray(function(_ramp(lines.most, lines.dtype), sample, method=how))
        of_integers = np.asarray(function(np.arange(2), sample, method=how))
    except (ValueError, IndexError, TypeError) as error:
        ctx.raise_(error)
    if given is None:
        flat = positions.reshape(-1).astype(np.float64)
        if of_integers.dtype == INT64:  # an element, nothing between two
            lines.order(ctx, flat.astype(np.int64))
            value = taken(ctx, lines.sorted, flat.astype(np.int64), 0)
        else:
            ends = _at_ends(lambda a: function(a, sample, axis=0, method=how), flat, lines)
            value = _interpolated(ctx, lines, flat, ends, dtype, from_above=how == "averaged_inverted_cdf")
    else:
        lines.order(ctx)
        given_shares = ctx.convert(
            ctx.reshape(given.value, (positions.size,)), shares if IN_OWN_TYPE else dtype
        )
        value = _computed(ctx, lines, given_shares, dtype, 100 if name == "percentile" else 1)
    result = ctx.reshape(lines.with_nan(ctx, value), (*positions.shape, *lines.result))
    made = lines.given_back(ctx, rules, result)
    if positions.shape or lines.rest or not is_floating(lines.dtype) or lines.dtype == result.type.dtype:
        return made
    last = ctx.reshape(lines.element(ctx, _last(ctx, lines.count)), lines.result)
    return run_program(ctx, last_if_nan, (lines.given_back(ctx, rules, last), made))


def _weighted(
    ctx: Context, a: Raw, q: Raw, axis: Raw, keepdims: Raw, weights: Raw, name: str, method: Raw
) -> Abstract:
    """A quantile with weights; PS203 where whether it is an array or a number depends on NaN among the elements."""
    lines = _SortedLines(ctx, NUMPY, a, axis, keepdims, name)
    shares = nested(ctx, NUMPY, q, name)
    one = not lines.result and not shares.shape
    served = ctx.known(method, f"the method of np.{name}") == "inverted_cdf"
    by_nan = one and is_floating(lines.dtype)
    if served and (lines.most == 0 or is_complex(lines.dtype) or by_nan):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"np.{name}", argument="weights here"))
    given = ctx.call(Const(np.asarray), [abstract(a)])
    program = weighted_quantile if name == "quantile" else weighted_percentile
    return run_program(ctx, program, [given, q, axis, keepdims, weights, False, method])


def _ramp(count: int, dtype: DType) -> np.ndarray:
    """The numbers 0, 1, …, in the type in which NumPy computes positions among elements of `dtype`."""
    if dtype == BOOL or dtype.kind in "iu" or (dtype == FLOAT16 and count > _EXACT_IN_FLOAT16):
        return np.arange(count)
    return np.arange(count).astype(dtype)


def _at_ends(
    quantile: Callable[[np.ndarray], Any], positions: np.ndarray, lines: _SortedLines
) -> tuple[np.ndarray, np.ndarray]:
    """The quantiles made of the first or the last element alone, and those of them that keep the sign of -0.0."""
    count, dtype = lines.most, lines.dtype
    if dtype.kind != "f" or not np.isin(positions, (0, count - 1)).any():
        return np.zeros(positions.size, bool), np.zeros(positions.size, bool)
    probes = np.zeros((count, 3), dtype)
    probes[1:, 0], probes[:-1, 1], probes[:, 2] = np.inf, -np.inf, -0.0
    with np.errstate(all="ignore"):
        first, last, zero = np.asarray(quantile(probes)).reshape(-1, 3).T
    return np.isfinite(first) | np.isfinite(last), np.signbit(zero)


def _interpolated(
    ctx: Context,
    lines: _SortedLines,
    positions: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    dtype: DType,
    from_above: bool,
) -> Value:
    """The values at known indices, each between two elements, except for those at `ends` (`_at_ends`).

    An index that is an element is the lower end of an interval, with `from_above` the upper end.
    """
    alone, keeps = ends
    below = np.ceil(positions) - 1 if from_above else np.floor(positions)
    below = np.clip(below, 0, lines.most - 1).astype(np.int64)
    above = np.ceil(positions).astype(np.int64) if from_above else np.minimum(below + 1, lines.most - 1)
    below, above = (
        np.where(alone, positions, below).astype(np.int64),
        np.where(alone, positions, above).astype(np.int64),
    )
    lines.order(ctx, (*below, *above))
    low, high = [taken(ctx, lines.sorted, at, 0) for at in (below, above)]
    share = np.where(above > below, positions - below, keeps)
    share = np.where(keeps & (share == 0), -0.0, share)
    return _between(ctx, low, high, ctx.constant(share, dtype))


def _between(ctx: Context, low: Value, high: Value, share: Value) -> Value:
    """The values between two elements, at a share of the way, one for each slice along the first axis."""
    dtype, shape = share.type.dtype, low.type.shape
    gap = ctx.convert(ctx.op(ops.Subtract(), high, low), dtype)
    share = ctx.op(ops.Broadcast(shape, (0,)), share)
    rest = ctx.op(ops.Subtract(), ctx.broadcast(ctx.constant(1, dtype), shape), share)
    up = ctx.op(ops.Add(), ctx.convert(low, dtype), ctx.op(ops.Multiply(), gap, share))
    down = ctx.op(ops.Subtract(), ctx.convert(high, dtype), ctx.op(ops.Multiply(), gap, rest))
    half = ctx.broadcast(ctx.constant(0.5, dtype), shape)
    return ctx.op(ops.Select(), ctx.op(ops.Compare("GE"), share, half), down, up)


def _computed(ctx: Context, lines: _SortedLines, shares: Value, dtype: DType, scale: int) -> Value:
    """The values at shares that the program computes; it raises where one is out of range."""
    shape = shares.type.shape

    def number(value: object, of: DType) -> Value:
        return ctx.broadcast(ctx.constant(value, of), shape)

    if scale != 1:
        shares = ctx.op(ops.Divide(), shares, number(scale, shares.type.dtype))
    shares = ctx.convert(shares, dtype)
    inside = [ctx.op(ops.Compare(how), shares, number(end, dtype)) for how, end in (("GE", 0), ("LE", 1))]
    outside = ctx.op(ops.Not(), ctx.op(ops.And(), *inside))
    some = ctx.op(ops.Reduce(ops.Or(), tuple(range(len(shape)))), outside, ctx.constant(False, BOOL))
    name = "Percentiles" if scale == 100 else "Quantiles"
    text = f"{name} must be in the range [0, {scale}]"
    ctx.check(some, ValueError(text), _refuse, [text])
    at = ctx.op(ops.Multiply(), shares, number(lines.most - 1, dtype))
    below = ctx.convert(ctx.op(ops.Floor(), at), INT64)
    floor = ctx.convert(below, dtype) if lines.most > 1 else number(-1, dtype)
    above = ctx.op(ops.Minimum(), ctx.op(ops.Add(), below, number(1, INT64)), number(lines.most - 1, INT64))
    low, high = [gather(ctx, lines.sorted, Fancy((0,), (i,), shape, 0, False)) for i in (below, above)]
    return _between(ctx, low, high, ctx.op(ops.Subtract(), at, floor))


def _refuse(text: str) -> None:
    raise ValueError(text)


def _declare_quantile(function: Callable[..., Any], what: str) -> None:
    """Declares `np.quantile` or `np.percentile`."""

    def call(
        ctx: Context,
        rules: Rules,
        a: Raw,
        q: Raw,
        axis: Raw = None,
        out: Raw = None,
        overwrite_input: Raw = False,
        method: Raw = "linear",
        keepdims: Raw = False,
        *,
        weights: Raw = None,
    ) -> Abstract:
        return _quantile(function, ctx, rules, a, q, axis, method, keepdims, weights)

    call.__name__, call.__doc__ = function.__name__, what
    twins(function, None, delegates=False)(call)


_declare_quantile(
    np.quantile,
    "The values below which the shares `q` of the elements lie; by every method where `q` is known.",
)
_declare_quantile(np.percentile, "`quantile` with `q` in percent.")
