"""`range` with constant or staged parts, and its length."""

from __future__ import annotations

import math

import numpy as np

from ...analysis.ranges import Interval, add, meet, multiply, open_ends, subtract
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT64, is_integer
from ...ops import Add, Compare, Divide, Multiply, Select, Subtract
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, Const, NumberKind, Range
from ..context import Context, Raw
from ..kernels.structures import abstract
from ..registry import meaning
from ..rules.classes import class_name
from ..rules.promote import kinds_of, value_of
from .operators import unary

PYTHON_INT = NumberKind(INT64, Form.PYTHON)


@meaning(range)
def range_(ctx: Context, first: Raw, stop: Raw = None, step: Raw = 1, /) -> Abstract:
    """`range(stop)`, `range(start, stop, step)`: the parts may be staged integers."""
    if stop is None:
        first, stop = 0, first
    parts = [_integer(ctx, p) for p in (first, stop, step)]
    if isinstance(parts[2], Const) and parts[2].value == 0:
        ctx.raise_(ValueError("range() arg 3 must not be zero"))
    return Range(*parts)


def _integer(ctx: Context, x: Raw) -> Abstract:
    """An integer as a Python one (`operator.index`)."""
    x = abstract(x)
    if isinstance(x, Const):
        if isinstance(x.value, bool | int | np.integer):
            return Const(int(x.value))
    elif isinstance(x, Array) or ctx.is_ndarray(x):
        operand = ctx.read(x)
        assert isinstance(operand, Array)
        (kind,) = kinds_of(operand)
        if kind == PYTHON_INT:
            return operand
        if not operand.rank and _is_index(kind):
            return ctx.python(ctx.convert(operand.value, INT64), ctx.range_of(operand))
    ctx.raise_(TypeError(f"{class_name(ctx, x)!r} object cannot be interpreted as an integer"))


def _is_index(kind: NumberKind) -> bool:
    """Whether numbers of the kind have an `__index__`: NumPy's bools have none."""
    return is_integer(kind.dtype) or kind == NumberKind(BOOL, Form.PYTHON)


def range_length(ctx: Context, x: Range) -> Abstract:
    """`len(range(start, stop, step))`: 0, or the rounded-up quotient.

    A step whose sign is not certain must be known: it could be zero.
    """
    first, last, step = x.start, x.stop, x.step
    low, high = _range(ctx, step)
    if low <= 0 <= high:
        step = Const(ctx.known(step, "the step of range()"))
        low, high = _range(ctx, step)
    if low == high == 0:
        ctx.raise_(ValueError("range() arg 3 must not be zero"))
    if high < 0:
        first, last, step = last, first, unary(ctx, "-", step)
    if all(isinstance(p, Const) for p in (first, last, step)):
        return Const(len(range(*[p.value for p in (first, last, step) if isinstance(p, Const)])))
    return _count(ctx, first, last, step)


def _count(ctx: Context, first: Abstract, last: Abstract, step: Abstract) -> Abstract:
    """The number of steps from `first` to before `last`.

    A distance that 64 bits do not hold counts as the greatest that they do: no loop ever gets there.
    """
    low, high = [_value(ctx, p) for p in (first, last)]
    distance = subtract(_range(ctx, last), _range(ctx, first))[1]
    ahead = ctx.op(Compare("GT"), high, low)
    count = high if isinstance(first, Const) and first.value == 0 else ctx.op(Subtract(), high, low)
    if distance == math.inf and count is not high and not (isinstance(first, Const) and first.value > 0):
        wrapped = ctx.op(Compare("LT"), count, ctx.constant(0, INT64))
        count = ctx.op(Select(), wrapped, ctx.constant(2**63 - 1, INT64), count)
    if not (isinstance(step, Const) and step.value == 1):
        one = ctx.constant(1, INT64)
        whole = ctx.op(Divide(), ctx.op(Subtract(), count, one), _value(ctx, step))
        count = ctx.op(Add(), whole, one)
    count = ctx.op(Select(), ahead, count, ctx.constant(0, INT64))
    size = step.value if isinstance(step, Const) else 1
    return ctx.python(count, (0, distance if math.isinf(distance) else max(-(-distance // size), 0)))


def range_element(ctx: Context, x: Range, position: Abstract) -> Abstract:
    """`range(start, stop, step)[position]` at a position inside: it lies between start and stop."""
    start, step = x.start, x.step
    if isinstance(position, Const) and isinstance(start, Const) and isinstance(step, Const):
        return Const(start.value + position.value * step.value)
    value = _value(ctx, position)
    if not (isinstance(step, Const) and step.value == 1):
        value = ctx.op(Multiply(), value, _value(ctx, step))
    if not (isinstance(start, Const) and start.value == 0):
        value = ctx.op(Add(), _value(ctx, start), value)
    return ctx.python(value, _between(ctx, x, position))


def _between(ctx: Context, x: Range, position: Abstract) -> Interval:
    """The range of an element: by the ends of the range, and by its position."""
    first, last, step = [_range(ctx, p) for p in (x.start, x.stop, x.step)]
    by_position = add(first, multiply(step, _range(ctx, position)))
    if step[0] > 0:
        return open_ends(meet((first[0], last[1] - 1), by_position), INT64)
    if step[1] < 0:
        return open_ends(meet((last[0] + 1, first[1]), by_position), INT64)
    return open_ends(by_position, INT64)


def _value(ctx: Context, x: Abstract) -> Value:
    assert isinstance(x, Const | Array)
    return value_of(ctx, x, INT64, Form.PYTHON)


def _range(ctx: Context, x: Abstract) -> Interval:
    assert isinstance(x, Const | Array)
    return ctx.range_of(x)
