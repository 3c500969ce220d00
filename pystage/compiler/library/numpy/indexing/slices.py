"""Slices of an axis, `start:stop:step`, with constant bounds, or with computed bounds of constant distance.

`x[i : i + 3]` has a static size: its bounds are one expression plus constants. It is supported where inference proves it
in bounds, because Python truncates a slice that is not, and its size would depend on `i`. Any other slice has a dynamic
size and is a progression of indices and a mask.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .....records import dataclass
from .... import ops
from ....analysis.differences import polynomial
from ....analysis.ranges import add, meet, subtract
from ....hlo.ir import Value
from ....hlo.types import INT64, UINT64, ArrayType, is_integer
from ....values.bounded import Progression
from ....values.gated import GatedNumber
from ....values.lattice import Abstract, Array, Const, SliceObject
from ....values.views import Index
from ...context import Context
from ...rules.split import of_one_kind


@dataclass(frozen=True, slots=True)
class SliceIndex:
    """`size` indices of an axis: `start`, `start + step`, …; a computed start has a step of 1."""

    start: Index
    size: int
    step: int

    def is_whole(self, extent: int) -> bool:
        """True for a slice of the whole axis."""
        return self.start == 0 and self.size == extent and self.step == 1


@dataclass(frozen=True, slots=True)
class SelectedPositions:
    """The indices of an axis that `mask` names; `positions` are they in order.

    `bounds` are the numbers that decide which they are.
    """

    mask: Value
    positions: Progression
    bounds: tuple[Array, ...]


def part_of(ctx: Context, entry: SliceObject, extent: int) -> SliceIndex | SelectedPositions:
    """The indices of an axis of `extent` elements that a slice names."""
    parts = [
        _of_one_kind(ctx, p) if isinstance(p, GatedNumber) else p
        for p in (entry.start, entry.stop, entry.step)
    ]
    entry = SliceObject(*parts)
    if not all(map(_is_bound, parts)) or all(map(ctx.can_be_known, parts)):
        return _known_part(ctx, entry, extent)
    part = _window(ctx, entry, extent) if _is_one(entry.step) else None
    if part is not None:
        return part
    bounds_ = tuple([p for p in parts if isinstance(p, Array)])
    positions = progression(ctx, entry, ctx.python(ctx.constant(extent, INT64), (extent, extent)))
    return SelectedPositions(mask_of(ctx, positions, extent), positions, bounds_)


def _of_one_kind(ctx: Context, bound: GatedNumber) -> Abstract:
    """A bound that is of one kind or another; integers of all kinds have the same meaning."""
    if all(is_integer(kind.dtype) and kind.dtype != UINT64 for kind in bound.kinds):
        return ctx.python(ctx.convert(bound.value, INT64))
    return of_one_kind(ctx, bound)


def _is_one(step: Abstract) -> bool:
    return isinstance(step, Const) and step.value in (None, 1)


def progression(ctx: Context, entry: SliceObject, extent: Array) -> Progression:
    """The indices of a slice on an axis of `extent` elements (`slice.indices`, language reference)."""
    entry = SliceObject(*[_integer(ctx, bound) for bound in (entry.start, entry.stop, entry.step)])
    if not ctx.can_be_known(entry.step):
        start, stop, stride = _computed_ends(ctx, entry, extent.value)
        return Progression(start, stride, _count(ctx, start, stop, stride))
    step = ctx.known(entry.step, "the step of a slice")
    _places(ctx, None, None, step, 0)  # raises what no step can be
    step = 1 if step is None else int(step)
    least, most = (0, extent) if step > 0 else (-1, _plus(ctx, extent, -1))
    start = _end(ctx, entry.start, extent, least, most, least if step > 0 else most)
    stop = _end(ctx, entry.stop, extent, least, most, most if step > 0 else least)
    distance = ctx.op(ops.Subtract(), stop, start) if step > 0 else ctx.op(ops.Subtract(), start, stop)
    if abs(step) > 1:
        more = ctx.op(ops.Add(), distance, ctx.constant(abs(step) - 1, INT64))
        distance = ctx.op(ops.Divide(), more, ctx.constant(abs(step), INT64))
    return Progression(start, step, ctx.op(ops.Maximum(), distance, ctx.constant(0, INT64)))


def _integer(ctx: Context, bound: Abstract) -> Abstract:
    """A bound; of an ndarray the integer that it holds."""
    return ctx.call(Const(operator.index), [bound]) if ctx.is_ndarray(bound) else bound


def _plus(ctx: Context, number: Array, by: int) -> Array:
    """An integer and a constant."""
    moved = add(number.range, (by, by))
    return ctx.python(ctx.op(ops.Add(), number.value, ctx.constant(by, INT64)), moved)


def _end(
    ctx: Context, given: Abstract, extent: Array, least: int, most: Array, missing: int | Array
) -> Value:
    """A bound of a slice, counted from the front and clamped between `least` and `most`."""
    if isinstance(given, Const) and given.value is None:
        return missing.value if isinstance(missing, Array) else ctx.constant(missing, INT64)
    far = 1 << 62
    if isinstance(given, Const):
        number = min(max(int(given.value), -far), far)
        given = ctx.python(ctx.constant(number, INT64), (number, number))
    assert isinstance(given, Array)
    low, high = ctx.range_of(given)
    value = ctx.convert(given.value, INT64)
    if low < 0:
        moved = ctx.op(ops.Add(), value, extent.value)
        negative = ctx.op(ops.Compare("LT"), value, ctx.constant(0, INT64))
        value = moved if high < 0 else ctx.op(ops.Select(), negative, moved, value)
        value = ctx.op(ops.Maximum(), value, ctx.constant(least, INT64))
    if high > most.range[0]:
        value = ctx.op(ops.Minimum(), value, most.value)
    return value


def mask_of(ctx: Context, positions: Progression, extent: int) -> Value:
    """Which elements of an axis of `extent` elements are at the indices."""
    at = ctx.op(ops.Iota(ArrayType(INT64, (extent,)), 0))
    start, zero = ctx.broadcast(positions.start, (extent,)), ctx.constant(0, INT64)
    if isinstance(positions.step, int):
        distance = (
            ctx.op(ops.Subtract(), at, start) if positions.step > 0 else ctx.op(ops.Subtract(), start, at)
        )
        reach = times(ctx, positions.count, abs(positions.step))
    else:
        back = ctx.op(ops.Compare("LT"), positions.step, zero)
        reach = times(ctx, positions.count, positions.step)
        beyond, before = ctx.op(ops.Subtract(), at, start), ctx.op(ops.Subtract(), start, at)
        distance = ctx.op(ops.Select(), ctx.broadcast(back, (extent,)), before, beyond)
        reach = ctx.op(ops.Select(), back, ctx.op(ops.Subtract(), zero, reach), reach)
    inside = ctx.op(
        ops.And(),
        ctx.op(ops.Compare("GE"), distance, ctx.broadcast(zero, (extent,))),
        ctx.op(ops.Compare("LT"), distance, ctx.broadcast(reach, (extent,))),
    )
    if positions.step in (1, -1):
        return inside
    rest = ctx.op(ops.Remainder(), distance, ctx.broadcast(stride(ctx, positions.step), (extent,)))
    return ctx.op(ops.And(), inside, ctx.op(ops.Compare("EQ"), rest, ctx.broadcast(zero, (extent,))))


def stride(ctx: Context, step: int | Value) -> Value:
    """A step as an int64 of the program."""
    return ctx.constant(step, INT64) if isinstance(step, int) else step


def times(ctx: Context, numbers: Value, step: int | Value) -> Value:
    """Integers of the program times a step."""
    if isinstance(step, int) and step == 1:
        return numbers
    return ctx.op(ops.Multiply(), numbers, ctx.broadcast(stride(ctx, step), numbers.type.shape))


def _is_bound(bound: Abstract) -> bool:
    if isinstance(bound, Const):
        return bound.value is None or isinstance(bound.value, int | np.integer)
    if not isinstance(bound, Array) or bound.rank:
        return False
    return is_integer(bound.dtype) and bound.dtype != UINT64


def _computed_ends(ctx: Context, entry: SliceObject, extent: Value) -> tuple[Value, Value, Value]:
    """The start, the end and the computed step of a slice, by `slice.indices` of the language reference."""
    step, zero = _number(ctx, entry.step, ctx.constant(1, INT64)), ctx.constant(0, INT64)
    if isinstance(entry.step, Array) and ctx.range_of(entry.step)[0] < 1:
        ctx.check(ctx.op(ops.Compare("EQ"), step, zero), _ZERO_STEP, _slice_by, [entry.step])
    backwards = ctx.op(ops.Compare("LT"), step, zero)
    minus_one = ctx.constant(-1, INT64)
    last = ctx.op(ops.Add(), extent, minus_one)

    def either(forwards: Value, back: Value) -> Value:
        return ctx.op(ops.Select(), backwards, back, forwards)

    def bound(given: Abstract, missing: Value) -> Value:
        value = _number(ctx, given, missing)
        if value is missing:
            return missing
        moved = ctx.op(ops.Add(), value, extent)
        value = ctx.op(ops.Select(), ctx.op(ops.Compare("LT"), value, zero), moved, value)
        return ctx.op(ops.Clamp(), either(zero, minus_one), value, either(extent, last))

    return bound(entry.start, either(zero, last)), bound(entry.stop, either(extent, minus_one)), step


def _count(ctx: Context, start: Value, stop: Value, step: Value) -> Value:
    """How many indices a slice names."""
    zero, one = ctx.constant(0, INT64), ctx.constant(1, INT64)
    backwards = ctx.op(ops.Compare("LT"), step, zero)
    back, forwards = ctx.op(ops.Subtract(), start, stop), ctx.op(ops.Subtract(), stop, start)
    distance = ctx.op(ops.Select(), backwards, back, forwards)
    size = ctx.op(ops.Select(), backwards, ctx.op(ops.Subtract(), zero, step), step)
    found = ctx.op(ops.Add(), ctx.op(ops.Divide(), ctx.op(ops.Subtract(), distance, one), size), one)
    return ctx.op(ops.Select(), ctx.op(ops.Compare("GT"), distance, zero), found, zero)


def _number(ctx: Context, bound: Abstract, missing: Value) -> Value:
    """A bound or a step as a number of the program."""
    if isinstance(bound, Array):
        return ctx.convert(bound.value, INT64)
    assert isinstance(bound, Const)
    far = 1 << 62
    return missing if bound.value is None else ctx.constant(min(max(int(bound.value), -far), far), INT64)


_ZERO_STEP = ValueError("slice step cannot be zero")


def _slice_by(step: Any) -> None:
    range(0)[::step]


def _known_part(ctx: Context, entry: SliceObject, extent: int) -> SliceIndex:
    """The indices, where their number is known."""
    step = ctx.known(entry.step, "the step of a slice")
    start = ctx.known(entry.start, "the start of a slice, so that its size is known,")
    stop = ctx.known(entry.stop, "the end of a slice, so that its size is known,")
    positions = _places(ctx, start, stop, step, extent)
    return SliceIndex(
        positions.start if len(positions) else 0, len(positions), positions.step if len(positions) else 1
    )


def _places(ctx: Context, start: Any, stop: Any, step: Any, extent: int) -> range:
    """The indices that a known slice names; the program raises what Python raises of it."""
    try:
        return range(*slice(_bound(start), _bound(stop), _bound(step)).indices(extent))
    except (TypeError, ValueError) as error:
        ctx.raise_(error)


def _bound(value: Any) -> Any:
    return int(value) if isinstance(value, np.integer) else value


def _window(ctx: Context, entry: SliceObject, extent: int) -> SliceIndex | None:
    """A slice of known size at a computed index that certainly lies inside the axis, else None."""
    start, stop = entry.start, entry.stop
    if not (isinstance(start, Array) and isinstance(stop, Array) and not start.rank and not stop.rank):
        return None
    size = _distance(ctx, stop.value, start.value)
    if size is None:
        return None
    low, high = ctx.range_of(start)
    if ctx.difference(stop, start) == (size, size):  # neither has wrapped around
        low, high = meet((low, high), subtract(ctx.range_of(stop), (size, size)))
    if size <= 0 or low < 0 or high + size > extent:
        return None
    return SliceIndex(ctx.convert(start.value, INT64), size, 1)


def _distance(ctx: Context, a: Value, b: Value) -> int | None:
    """`a - b` where it is the same in every trip of the loops around; numbers of the call in it are demanded."""
    form = polynomial(a, b, ctx.intervals)
    total = form.pop((), 0)
    factors = {value: ctx.python(ctx.convert(value, INT64)) for term in form for value in term}
    if not all(map(ctx.can_be_known, factors.values())):
        return None
    for term, factor in form.items():
        numbers = [ctx.known(factors[value], "the size of a slice") for value in term]
        total += factor * math.prod(numbers)
    return int(total)
