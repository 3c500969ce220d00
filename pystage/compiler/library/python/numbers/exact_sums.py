"""`math.fsum`: the sum of floats, rounded once, in integer limbs.

The floats are added as integers, in units of the least number above zero, of 2,240 bits in limbs of 32 bits (a
superaccumulator: Kulisch and Miranker, The arithmetic of the digital computer, SIAM Review 28, 1986). Plain programs, which
inference stages.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....hlo.types import INT64
from ....ops import BitcastConvert, StopGradient
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Const
from ...context import Context, Raw
from ...numpy.indexing.bounded_operands import elementwise
from ...operands.libraries import NUMPY
from ...registry import meaning

LIMBS = 70
"""Enough for the greatest float, 2**1024, and for sums of 2**30 of them; the least one, 2**-1074, is in the third limb."""

_LOW = (1 << 32) - 1
_SCALE = 2.0**-64
"""Sums of floats times this do not overflow; a sum of floats does where it reaches 2**960 of it."""


def bits_of(values: Any) -> Any:
    """Floats of 64 bits as integers with the same bits."""
    return values.view(np.int64)


@meaning(bits_of)
def _bits_of(ctx: Context, values: Raw) -> Abstract:
    if isinstance(values, Bounded):
        return elementwise(ctx, "math.fsum", bits_of, lambda whole: _bits_of(ctx, whole), values)
    return NUMPY.result(ctx, ctx.op(BitcastConvert(INT64), NUMPY.operand(ctx, values, "fsum").value))


def without_derivative(number: float) -> float:
    """The number, without a derivative."""
    return number


@meaning(without_derivative)
def _without_derivative(ctx: Context, number: Raw) -> Abstract:
    given = ctx.read(number)
    return given if isinstance(given, Const) else ctx.python(ctx.op(StopGradient(), given.value))


def exact_sum(iterable: Any) -> float:
    """The result of `math.fsum(iterable)`, and its exceptions."""
    values = np.array([math.ldexp(item, 0) for item in iterable], float)
    finite = np.isfinite(values)
    numbers = np.where(finite, values, 0.0)
    if np.any(np.abs(np.cumsum(numbers * _SCALE)) >= 2.0**960):
        raise OverflowError("intermediate overflow in fsum")
    if not np.all(finite):
        if np.any(values == math.inf) and np.any(values == -math.inf):
            raise ValueError("-inf + inf in fsum")
        return float(np.sum(np.where(finite, 0.0, values)))
    limbs = _added(numbers)
    negative = _carried(limbs)[LIMBS - 1] < 0
    size = _rounded(_carried(-limbs if negative else limbs))
    slope = float(np.sum(numbers))
    return (-size if negative else size) + (slope - without_derivative(slope))


def _added(values: Any) -> Any:
    """The sum as limbs, which may be negative and exceed 32 bits."""
    bits = bits_of(values)
    exponent = (bits >> 52) & 0x7FF
    digits = (bits & ((1 << 52) - 1)) | np.where(exponent > 0, 1 << 52, 0)
    place = np.maximum(exponent, 1) - 1
    first, shift = (place >> 5) + 2, place & 31
    sign = np.where(bits < 0, -1, 1)
    low, high = (digits & _LOW) << shift, (digits >> 32) << shift
    limbs = np.zeros(LIMBS, np.int64)
    np.add.at(limbs, first, sign * (low & _LOW))
    np.add.at(limbs, first + 1, sign * ((low >> 32) + (high & _LOW)))
    np.add.at(limbs, first + 2, sign * (high >> 32))
    return limbs


def _carried(limbs: Any) -> Any:
    """The same number with limbs of 32 bits, after carries; the last one has the sign."""
    made = np.zeros(LIMBS, np.int64)
    carry = np.int64(0)
    for i in range(LIMBS - 1):
        limb = limbs[i] + carry
        made[i] = limb & _LOW
        carry = limb >> 32
    made[LIMBS - 1] = limbs[LIMBS - 1] + carry
    return made


def _rounded(limbs: Any) -> float:
    """A number that is not negative, rounded to the nearest float, halves to even."""
    places = np.arange(LIMBS)
    top = np.max(np.where(limbs != 0, places, 2))
    words = limbs[top - np.arange(3)]
    length = np.maximum((bits_of(words[0].astype(float)) >> 52) - 1022, 0)
    left = 32 - length
    head = ((words[0] << 32 | words[1]) << left | words[2] >> length).astype(np.uint64)
    rest = (words[2] & ((1 << length) - 1)) | np.any((limbs != 0) & (places < top - 2))
    digits, dropped = head >> 11, head & 0x7FF
    half = np.uint64(1 << 10)
    up = (dropped > half) | ((dropped == half) & ((rest != 0) | (digits & 1 == 1)))
    digits = (digits + up.astype(np.uint64)).astype(np.int64)
    return float(np.ldexp(digits.astype(float), 32 * (top - 1) - left + 11 - 1074 - 64))
