"""Ranges of numbers and their arithmetic: the one representation of what is known of a number's value.

An interval is the least and the greatest value, each included; an end that is not known is infinite. Finite ends of
integers are exact. The functions below give the range of an exact result, as Python's own integers have it; what an
element type makes of one that it does not hold is for the caller to say (`within`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import limits
from ..hlo.types import BOOL, DType, is_integer, is_unsigned

Interval = tuple[float, float]
"""The least and the greatest value; integers where they are finite, exact."""

FALSE: Interval = (0, 0)
TRUE: Interval = (1, 1)
EITHER: Interval = (0, 1)
ANY: Interval = (-math.inf, math.inf)


def full(dtype: DType) -> Interval:
    """All values of an element type."""
    if dtype == BOOL:
        return EITHER
    if not is_integer(dtype):
        return ANY
    bits = int(dtype.itemsize) * 8
    return (0, (1 << bits) - 1) if is_unsigned(dtype) else (-(1 << bits - 1), (1 << bits - 1) - 1)


def hull(*intervals: Interval) -> Interval:
    """The least interval that holds all of these."""
    return min(i[0] for i in intervals), max(i[1] for i in intervals)


def meet(a: Interval, b: Interval) -> Interval:
    """What two intervals have in common; the first where that is nothing, as in code that never runs."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


def within(interval: Interval, dtype: DType) -> Interval:
    """An exact result in an element type: anything, where it would leave the type."""
    whole = full(dtype)
    return interval if whole[0] <= interval[0] and interval[1] <= whole[1] else whole


def open_ends(interval: Interval, dtype: DType) -> Interval:
    """The interval with an infinite end in place of one that only the element type sets, or that leaves it."""
    low, high = interval
    least, most = full(dtype)
    return low if low > least else -math.inf, high if high < most else math.inf


# ---------------------------------------------------------------- exact arithmetic


def corners(function: Callable[[Any, Any], Any], x: Interval, y: Interval) -> Interval:
    """The range of a function that is monotonous in each operand."""
    found = [function(a, b) for a in x for b in y]
    return ANY if any(v != v for v in found) else (min(found), max(found))


def product(a: Any, b: Any) -> Any:
    """`a * b`, where 0 times infinity is 0."""
    return 0 if a == 0 or b == 0 else a * b


def add(x: Interval, y: Interval) -> Interval:
    """`x + y`."""
    return x[0] + y[0], x[1] + y[1]


def subtract(x: Interval, y: Interval) -> Interval:
    """`x - y`."""
    return x[0] - y[1], x[1] - y[0]


def negate(x: Interval) -> Interval:
    """`-x`."""
    return -x[1], -x[0]


def multiply(x: Interval, y: Interval) -> Interval:
    """`x * y`."""
    return corners(product, x, y)


def absolute(x: Interval) -> Interval:
    """`abs(x)`."""
    sizes = abs(x[0]), abs(x[1])
    return (0 if x[0] <= 0 <= x[1] else min(sizes)), max(sizes)


def maximum(x: Interval, y: Interval) -> Interval:
    """`max(x, y)`."""
    return max(x[0], y[0]), max(x[1], y[1])


def minimum(x: Interval, y: Interval) -> Interval:
    """`min(x, y)`."""
    return min(x[0], y[0]), min(x[1], y[1])


def floor_divide(x: Interval, y: Interval) -> Interval:
    """`x // y`, where the divisor has one sign."""
    if y[1] < 0:
        x, y = negate(x), negate(y)
    return ANY if y[0] <= 0 else corners(_floor_quotient, x, y)


def _floor_quotient(a: float, b: float) -> float:
    """`a // b` for positive `b`."""
    if math.isinf(b):
        return -1 if a < 0 else 0
    return a if math.isinf(a) else a // b


def remainder(x: Interval, y: Interval) -> Interval:
    """`x % y`, which has the sign of the divisor."""
    if y[1] < 0:
        return negate(remainder(negate(x), negate(y)))
    if y[0] <= 0:
        return ANY
    if x[0] < 0:
        return 0, y[1] - 1
    return x if x[1] < y[0] else (0, min(x[1], y[1] - 1))


def power(x: Interval, y: Interval) -> Interval:
    """`x ** y` of integers, where nothing is negative."""
    if x[0] < 0 or y[0] < 0:
        return ANY
    return 0, max(_power(x[1], y[1]), 1)


def _power(base: float, exponent: float) -> float:
    if math.isinf(base) or math.isinf(exponent):
        return math.inf
    base, exponent = int(base), int(exponent)
    return math.inf if exponent * max(base, 2).bit_length() > limits.INTERVAL_BITS else base**exponent


def shift_left(x: Interval, y: Interval) -> Interval:
    """`x << y`, where nothing is negative."""
    if x[0] < 0 or y[0] < 0:
        return ANY
    if math.isinf(x[1]) or y[1] > limits.INTERVAL_BITS:
        return 0, math.inf if x[1] else 0
    return int(x[0]) << int(y[0]), int(x[1]) << int(y[1])


def shift_right(x: Interval, y: Interval) -> Interval:
    """`x >> y`, where the number is not negative."""
    return (0, x[1]) if x[0] >= 0 else ANY


def bit_and(x: Interval, y: Interval) -> Interval:
    """`x & y` of integers: no greater than one that is not negative."""
    if x[0] >= 0 and y[0] >= 0:
        return 0, min(x[1], y[1])
    return (0, x[1]) if x[0] >= 0 else (0, y[1]) if y[0] >= 0 else ANY


def bit_or(x: Interval, y: Interval) -> Interval:
    """`x | y` of integers, where nothing is negative."""
    return (max(x[0], y[0]), _all_ones(x, y)) if x[0] >= 0 and y[0] >= 0 else ANY


def bit_xor(x: Interval, y: Interval) -> Interval:
    """`x ^ y` of integers, where nothing is negative."""
    return (0, _all_ones(x, y)) if x[0] >= 0 and y[0] >= 0 else ANY


def _all_ones(x: Interval, y: Interval) -> float:
    most = max(x[1], y[1])
    return most if math.isinf(most) else (1 << int(most).bit_length()) - 1


def decide(direction: str, x: Interval, y: Interval) -> Interval:
    """A comparison of integers, as far as the intervals decide it."""
    below, above = x[1] < y[0], x[0] > y[1]
    not_above, not_below = x[1] <= y[0], x[0] >= y[1]
    match direction:
        case "LT":
            return TRUE if below else FALSE if not_below else EITHER
        case "LE":
            return TRUE if not_above else FALSE if above else EITHER
        case "GT":
            return TRUE if above else FALSE if not_above else EITHER
        case "GE":
            return TRUE if not_below else FALSE if below else EITHER
    same = x[0] == x[1] == y[0] == y[1]
    equal = TRUE if same else FALSE if below or above else EITHER
    return equal if direction == "EQ" else (1 - equal[1], 1 - equal[0])
