"""Bounds checks of computed indices: `x[i]` raises IndexError for an `i` beyond the end.

In: indices as computed, and counted from the front. Out: a check in the program unless interval analysis proves it
redundant. It raises with NumPy's text, for the first index out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....hlo.ir import Value
from ....hlo.types import INT64, UINT64, ArrayType
from ....ops import And, BitcastConvert, Compare, DynamicSlice, Iota, Minimum, Reduce, Select, Slice
from ....values.boundary import Form
from ....values.lattice import Abstract, Array
from ...context import Context, ExceptionCase
from ...kernels.arithmetic import like

_OUTSIDE = IndexError("index is out of bounds")
TOO_LARGE = OverflowError("Python int too large to convert to C long")
"""What NumPy raises for an index of 2**63 or more."""


def outside_of_axis(axis: int, extent: int) -> Callable[[Any], None]:
    """A function that raises what NumPy raises for an index of `axis`, of `extent` elements."""

    def index(at: Any) -> None:
        np.broadcast_to(np.int8(0), (*[1] * axis, extent))[(*[0] * axis, at)]

    return index


def check_inside(
    ctx: Context,
    given: Array,
    front: Value,
    extent: int | Value,
    outside: Callable[..., None],
    too_large: BaseException | None = None,
    fallback: BaseException = _OUTSIDE,
    members: Value | None = None,
    more: Sequence[Abstract] = (),
) -> None:
    """Makes the program call `outside` with the first index that is not inside of an axis of `extent`.

    `front` are the same indices as int64, the negative ones moved by `extent`. `too_large`: what is raised instead
    for one integer that 64 bits with a sign do not hold. `fallback`: as `Context.check` takes it. `members`: which of the
    indices count, by default all. `more`: other arguments of `outside`.
    """
    shape = front.type.shape
    if 0 in shape:
        return
    if shape and given.dtype == UINT64:  # to NumPy an array of int64 with the same bits
        given = replace(given, value=ctx.convert(given.value, INT64))
    form = Form.SCALAR if given.form is Form.NDARRAY else given.form
    if isinstance(extent, int) and not extent and members is None:
        first = ctx.op(Slice((0,), (1,), (1,)), ctx.reshape(given.value, (given.type.size,)))
        ctx.check(None, fallback, outside, [Array(ctx.reshape(first, ()), form), *more])
    bad = _bad(ctx, front, extent)
    bad = bad if members is None else ctx.op(And(), bad, members)
    if ctx.intervals.decides(bad) is False or not ctx.checks_bounds():
        return
    first = given.value
    if too_large and not shape and given.dtype == UINT64:
        negative = ctx.op(Compare("LT"), front, like(ctx, front, 0))  # as int64, with which no bit is lost
        args = [Array(first, form)]
        cases = [
            ExceptionCase(negative, too_large, outside, args),
            ExceptionCase(None, fallback, outside, args),
        ]
        ctx.check_first(bad, cases)
        if isinstance(extent, int):
            ctx.intervals.assume_range(given.value, (0, extent - 1))
        return
    if shape:
        at, bad = _first(ctx, bad)
        element = ctx.op(DynamicSlice((1,)), ctx.reshape(first, (first.type.size,)), at)
        first = ctx.reshape(element, ())
    ctx.check(bad, fallback, outside, [Array(first, form), *more])
    if not isinstance(extent, int) or members is not None:
        return
    ctx.intervals.assume_range(given.value, (0 if given.dtype.kind == "u" else -extent, extent - 1))


def check_representable(ctx: Context, index: Array) -> None:
    """Makes the program raise OverflowError where an integer of uint64 is one that int64 does not hold."""
    if ctx.checks_bounds():
        number = ctx.convert(index.value, INT64)
        negative = ctx.op(Compare("LT"), number, like(ctx, number, 0))
        ctx.check(negative, TOO_LARGE, outside_of_axis(0, 1), [Array(index.value, Form.SCALAR)])


def until_outside(ctx: Context, positions: Value, extent: int) -> Value:
    """A vector of indices in which all are out of bounds from the first one on that is."""
    bad = _bad(ctx, positions, extent)
    if not positions.type.size or not extent or ctx.intervals.decides(bad) is False:
        return positions
    at, _ = _first(ctx, bad)
    numbers = ctx.op(Iota(positions.type, 0))
    early = ctx.op(Compare("LT"), numbers, ctx.broadcast(at, positions.type.shape))
    return ctx.op(Select(), early, positions, like(ctx, positions, extent))


def _bad(ctx: Context, front: Value, extent: int | Value) -> Value:
    """Which indices are out of bounds."""
    bits = ctx.op(BitcastConvert(UINT64), front)  # so that one comparison finds what is negative too
    if isinstance(extent, int):
        end = like(ctx, bits, extent)
    else:
        end = ctx.broadcast(ctx.op(BitcastConvert(UINT64), extent), bits.type.shape)
    return ctx.op(Compare("GE"), bits, end)


def _first(ctx: Context, bad: Value) -> tuple[Value, Value]:
    """The first bad index in C order (the number of indices if there is none), and whether there is one."""
    size = bad.type.size
    flat = ctx.reshape(bad, (size,))
    positions = ctx.op(Iota(ArrayType(INT64, (size,)), 0))
    end = ctx.constant(size, INT64)
    at = ctx.op(Reduce(Minimum(), (0,)), ctx.op(Select(), flat, positions, like(ctx, positions, size)), end)
    return at, ctx.op(Compare("LT"), at, end)
