"""Slices of an axis: `start:stop:step` with known bounds, or with computed bounds of known distance.

`x[i : i + 3]` has a known size: both bounds are the same expression but for a constant. It is served where
inference knows that it lies inside the array, because Python cuts off a slice that does not, and its size
would then depend on `i`. Of any other slice the size is not known: it is the mask of its places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..diagnostics.codes_constant import NotKnown, TooManyToUnroll
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.ir import Op, Value
from ..hlo.types import INT64, UINT64, ArrayType, is_integer
from ..ops import (
    Add,
    And,
    Clamp,
    Compare,
    Constant,
    Iota,
    Multiply,
    Negate,
    Remainder,
    Select,
    Subtract,
)
from ..values.lattice import Abstract, Array, ByPath, Const, Slice
from ..values.views import Index
from .by_path import of_one_kind
from .context import Context


@dataclass(frozen=True, slots=True)
class Part:
    """`size` places of an axis: `start`, `start + step`, …; a computed start has a step of 1."""

    start: Index
    size: int
    step: int

    def is_whole(self, extent: int) -> bool:
        """True if it is the axis as it is."""
        return self.start == 0 and self.size == extent and self.step == 1


def part_of(ctx: Context, entry: Slice, extent: int) -> Part | Value:
    """The places of an axis of `extent` elements that a slice names; a mask of the axis where only the program
    knows how many they are."""
    parts = [
        of_one_kind(ctx, p) if isinstance(p, ByPath) else p for p in (entry.start, entry.stop, entry.step)
    ]
    entry = Slice(*parts)
    try:
        return _known_part(ctx, entry, extent)
    except DiagnosticError as error:
        bounds_ = (entry.start, entry.stop, entry.step)
        unknown = isinstance(error.diagnostic, NotKnown | TooManyToUnroll)
        if not unknown or not all(map(_is_bound, bounds_)):
            raise
        return _mask(ctx, entry, extent)


def _is_bound(bound: Abstract) -> bool:
    if isinstance(bound, Const):
        return bound.value is None or isinstance(bound.value, int | np.integer)
    if not isinstance(bound, Array) or bound.rank:
        return False
    return is_integer(bound.dtype) and bound.dtype != UINT64


def _mask(ctx: Context, entry: Slice, extent: int) -> Value:
    """Which elements of an axis a slice names, by `slice.indices` of the language reference."""
    at = ctx.op(Iota(ArrayType(INT64, (extent,)), 0))
    step, zero = _number(ctx, entry.step, ctx.constant(1, INT64)), ctx.constant(0, INT64)
    if isinstance(entry.step, Array) and (entry.step.lower is None or entry.step.lower < 1):
        ctx.check(ctx.op(Compare("EQ"), step, zero), _ZERO_STEP, _slice_by, [entry.step])
    backwards = ctx.op(Compare("LT"), step, zero)

    def either(forwards: int, back: int) -> Value:
        return ctx.op(Select(), backwards, ctx.constant(back, INT64), ctx.constant(forwards, INT64))

    def bound(given: Abstract, missing: Value) -> Value:
        value = _number(ctx, given, missing)
        if value is missing:
            return missing
        moved = ctx.op(Add(), value, ctx.constant(extent, INT64))
        value = ctx.op(Select(), ctx.op(Compare("LT"), value, zero), moved, value)
        return ctx.op(Clamp(), either(0, -1), value, either(extent, extent - 1))

    start = ctx.broadcast(bound(entry.start, either(0, extent - 1)), (extent,))
    stop = ctx.broadcast(bound(entry.stop, either(extent, -1)), (extent,))
    forwards = ctx.op(And(), ctx.op(Compare("GE"), at, start), ctx.op(Compare("LT"), at, stop))
    back = ctx.op(And(), ctx.op(Compare("LE"), at, start), ctx.op(Compare("GT"), at, stop))
    inside = ctx.op(Select(), ctx.broadcast(backwards, (extent,)), back, forwards)
    if isinstance(entry.step, Const) and entry.step.value in (None, 1):
        return inside
    rest = ctx.op(Remainder(), ctx.op(Subtract(), at, start), ctx.broadcast(step, (extent,)))
    return ctx.op(And(), inside, ctx.op(Compare("EQ"), rest, ctx.broadcast(zero, (extent,))))


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


def _known_part(ctx: Context, entry: Slice, extent: int) -> Part:
    """The places, where their number is known."""
    step = ctx.known(entry.step, "the step of a slice")
    if step == 0:
        ctx.raise_(ValueError("slice step cannot be zero"))
    if step in (None, 1) and (_staged(entry.start) or _staged(entry.stop)):
        part = _window(ctx, entry, extent)
        if part is not None:
            return part
    start = ctx.known(entry.start, "the start of a slice, so that its size is known,")
    stop = ctx.known(entry.stop, "the end of a slice, so that its size is known,")
    try:
        places = range(*slice(_bound(start), _bound(stop), _bound(step)).indices(extent))
    except TypeError as error:
        ctx.raise_(error)
    return Part(places.start if len(places) else 0, len(places), places.step if len(places) else 1)


def _bound(value: Any) -> Any:
    return int(value) if isinstance(value, np.integer) else value


def _staged(bound: Abstract) -> bool:
    return isinstance(bound, Array) and not bound.rank


def _window(ctx: Context, entry: Slice, extent: int) -> Part | None:
    """A slice of known size at a computed place that certainly lies inside the axis, else None."""
    start, stop = entry.start, entry.stop
    if not (isinstance(start, Array) and isinstance(stop, Array) and not start.rank and not stop.rank):
        return None
    size = difference(stop.value, start.value)
    if size is None:
        return None
    lower = start.lower if start.lower is not None else _shifted(stop.lower, -size)
    upper = start.upper if start.upper is not None else _shifted(stop.upper, -size)
    if size <= 0 or lower is None or upper is None or lower < 0 or upper + size > extent:
        return None
    return Part(ctx.convert(start.value, INT64), size, 1)


def _shifted(bound: int | None, by: int) -> int | None:
    return None if bound is None else bound + by


# ---------------------------------------------------------------- linear forms

_DEPTH = 12
_Form = dict[Value | None, int]


def difference(a: Value, b: Value) -> int | None:
    """`a - b` of two integer scalars of the program where it is the same whatever they are, else None."""
    form: _Form = {}
    _add(form, a, 1, _DEPTH)
    _add(form, b, -1, _DEPTH)
    distance = form.pop(None, 0)
    return None if any(form.values()) else distance


def _add(form: _Form, value: Value, factor: int, depth: int) -> None:
    """Adds `factor * value` to a linear form; the key None is the constant."""
    op = value.owner
    if isinstance(op, Op) and depth:
        operands = op.operands
        match op.kind:
            case Constant(data=data):
                form[None] = form.get(None, 0) + factor * int(data)
                return
            case Add():
                _add(form, operands[0], factor, depth - 1)
                _add(form, operands[1], factor, depth - 1)
                return
            case Subtract():
                _add(form, operands[0], factor, depth - 1)
                _add(form, operands[1], -factor, depth - 1)
                return
            case Negate():
                _add(form, operands[0], -factor, depth - 1)
                return
            case Multiply():
                for this, other in (operands, operands[::-1]):
                    kind = getattr(other.owner, "kind", None)
                    if isinstance(kind, Constant):
                        _add(form, this, factor * int(kind.data), depth - 1)
                        return
    form[value] = form.get(value, 0) + factor
