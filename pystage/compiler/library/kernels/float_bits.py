"""Functions of the bits of floating-point numbers: mantissas and exponents, distances to the next number.

In: values in the element type of the loop. Out: values. The numbers are those of IEEE 754: a sign, an exponent with a
bias, and a fraction. XLA:CPU takes subnormal numbers for zeros, so that they are taken apart as integers.
"""

from __future__ import annotations

import numpy as np

from ....records import dataclass
from ... import ops
from ...hlo.ir import Value
from ...hlo.types import FLOAT16, FLOAT32, FLOAT64, INT32, INT64, DType
from ...values.boundary import Form
from ..interfaces.operations import Operations
from .arithmetic import like, select


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of a floating-point type: its integer type, and the widths of fraction and exponent."""

    integer: DType
    fraction: int
    exponent: int

    @property
    def bias(self) -> int:
        """The exponent of 1."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def highest(self) -> int:
        """The exponent of infinities and NaN."""
        return (1 << self.exponent) - 1


INT16: DType = np.dtype(np.int16)

_LAYOUTS = {
    FLOAT16: _Layout(INT16, 10, 5),
    FLOAT32: _Layout(INT32, 23, 8),
    FLOAT64: _Layout(INT64, 52, 11),
}


class _Bits:
    """The parts of numbers, as integers of their width."""

    def __init__(self, ctx: Operations, x: Value) -> None:
        self.ctx, self.layout, self.dtype = ctx, _LAYOUTS[x.type.dtype], x.type.dtype
        self.all = ctx.op(ops.BitcastConvert(self.layout.integer), x)
        self.exponent = self.both(self.shifted(self.all), self.layout.highest)
        self.magnitude = self.both(self.all, np.iinfo(self.layout.integer).max)  # type: ignore[type-var]
        self.fraction = self.both(self.all, (1 << self.layout.fraction) - 1)

    def number(self, value: int) -> Value:
        """A constant integer in the shape of the numbers."""
        return like(self.ctx, self.all, value)

    def both(self, value: Value, mask: int) -> Value:
        """The bits under a mask."""
        return self.ctx.op(ops.And(), value, self.number(mask))

    def shifted(self, bits: Value) -> Value:
        """The bits before the fraction."""
        return self.ctx.op(ops.ShiftRightArithmetic(), bits, self.number(self.layout.fraction))

    def is_(self, how: str, value: Value, other: int) -> Value:
        """A comparison with one integer."""
        return self.ctx.op(ops.Compare(how), value, self.number(other))

    def as_number(self, bits: Value) -> Value:
        """The floating-point numbers that have these bits."""
        return self.ctx.op(ops.BitcastConvert(self.dtype), bits)

    def power_of_two(self, exponent: Value) -> Value:
        """Powers of two that are no subnormal numbers."""
        ctx = self.ctx
        raised = ctx.op(ops.Add(), exponent, self.number(self.layout.bias))
        return self.as_number(ctx.op(ops.ShiftLeft(), raised, self.number(self.layout.fraction)))

    @property
    def negative(self) -> Value:
        """Where the sign bit is set, for zeros too."""
        return self.is_("LT", self.all, 0)


def frexp(ctx: Operations, form: Form, x: Value) -> tuple[Value, Value]:
    """Mantissas of 0.5 to 1 and exponents, as int32; of zeros, infinities and NaN the numbers themselves, and 0."""
    if x.type.dtype == FLOAT16:
        mantissa, exponent = frexp(ctx, form, ctx.convert(x, FLOAT32))
        return ctx.convert(mantissa, FLOAT16), exponent
    bits = _Bits(ctx, x)
    layout = bits.layout
    below_one = layout.bias - 1
    exponent = ctx.op(ops.Subtract(), bits.exponent, bits.number(below_one))
    half = ctx.op(ops.ShiftRightArithmetic(), exponent, bits.number(1))
    mantissa = x
    for part in (half, ctx.op(ops.Subtract(), exponent, half)):
        mantissa = ctx.op(
            ops.Multiply(), mantissa, bits.power_of_two(ctx.op(ops.Subtract(), bits.number(0), part))
        )
    whole = _Bits(
        ctx, ctx.convert(bits.fraction, x.type.dtype)
    )  # a subnormal number, as a multiple of the smallest
    small = ctx.op(ops.Subtract(), whole.exponent, bits.number(below_one - 1 + layout.bias + layout.fraction))
    sign = ctx.op(ops.Subtract(), bits.all, bits.magnitude)
    signed = ctx.op(
        ops.Or(), ctx.op(ops.Or(), whole.fraction, bits.number(below_one << layout.fraction)), sign
    )
    subnormal = bits.is_("EQ", bits.exponent, 0)
    mantissa = select(ctx, subnormal, bits.as_number(signed), mantissa)
    exponent = select(ctx, subnormal, small, exponent)
    itself = ctx.op(
        ops.Or(), bits.is_("EQ", bits.exponent, layout.highest), bits.is_("EQ", bits.magnitude, 0)
    )
    return select(ctx, itself, x, mantissa), ctx.convert(select(ctx, itself, bits.number(0), exponent), INT32)


def spacing(ctx: Operations, form: Form, x: Value) -> Value:
    """The distances to the next numbers away from 0, with the sign of the number."""
    bits = _Bits(ctx, x)
    layout = bits.layout
    exponent = bits.exponent
    if (
        x.type.dtype == FLOAT16
    ):  # the distances of these are positive: where a power of two begins, to the next above
        begins = ctx.op(ops.And(), bits.negative, bits.is_("EQ", bits.fraction, 0))
        exponent = ctx.op(ops.Subtract(), exponent, ctx.convert(begins, layout.integer))
    last = bits.number(layout.fraction)
    lowered = ctx.op(ops.Subtract(), exponent, last)
    normal = ctx.op(ops.ShiftLeft(), lowered, last)
    place = ctx.op(ops.Maximum(), ctx.op(ops.Subtract(), exponent, bits.number(1)), bits.number(0))
    distance = select(ctx, bits.is_("GT", lowered, 0), normal, ctx.op(ops.ShiftLeft(), bits.number(1), place))
    infinity = layout.highest << layout.fraction
    greatest = bits.is_("EQ", bits.magnitude, infinity - 1)
    if x.type.dtype == FLOAT16:
        greatest = ctx.op(ops.And(), greatest, ctx.op(ops.Not(), bits.negative))
    distance = select(ctx, greatest, bits.number(infinity), distance)
    if x.type.dtype != FLOAT16:
        signed = ctx.op(ops.And(), bits.negative, bits.is_("NE", bits.magnitude, 0))
        sign = ctx.op(ops.Subtract(), bits.all, bits.magnitude)
        distance = select(ctx, signed, ctx.op(ops.Or(), distance, sign), distance)
    return select(
        ctx, bits.is_("EQ", bits.exponent, layout.highest), like(ctx, x, np.nan), bits.as_number(distance)
    )
