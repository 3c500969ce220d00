"""Transfer functions of interval arithmetic: the interval of an operation's result from those of its operands.

In: an operation and the intervals of its operands. Out: an interval that holds every element of the result; for floating
point, every element that is not NaN. Integers are exact and wrap around as the operation does: an interval that leaves
the element type becomes the whole range of the type. For floating point little more than the sign is tracked, because of
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .. import limits, ops
from ..hlo.ir import Op
from ..hlo.types import BOOL, is_complex, is_floating, is_integer, is_unsigned
from . import ranges as r
from .ranges import ANY, EITHER, FALSE, TRUE, Interval, full, hull, within

# ---------------------------------------------------------------- arithmetic


def _signed(op: Op, interval: Interval) -> Interval:
    """A floating-point result, of which only the sign is certain."""
    if not is_floating(op.results[0].type.dtype):
        return interval
    return (0 if interval[0] >= 0 else -math.inf, 0 if interval[1] <= 0 else math.inf)


def _add(op: Op, x: Interval, y: Interval) -> Interval:
    dtype = op.results[0].type.dtype
    if dtype == BOOL:
        return _or(op, x, y)
    if is_floating(dtype):  # a sum of what is not negative is no less than either
        low = max(x[0], y[0]) if x[0] >= 0 and y[0] >= 0 else -math.inf
        high = min(x[1], y[1]) if x[1] <= 0 and y[1] <= 0 else math.inf
        return low, high
    return r.add(x, y)


def _subtract(op: Op, x: Interval, y: Interval) -> Interval:
    return _signed(op, r.subtract(x, y))


def _multiply(op: Op, x: Interval, y: Interval) -> Interval:
    low, high = r.multiply(x, y)
    if op.operands[0] is op.operands[1]:
        low = 0 if x[0] <= 0 <= x[1] else min(x[0] ** 2, x[1] ** 2)
    return _signed(op, (low, high))


def _negate(op: Op, x: Interval) -> Interval:
    return r.negate(x)


def _abs(op: Op, x: Interval) -> Interval:
    return r.absolute(x)


def _divide(op: Op, x: Interval, y: Interval) -> Interval:
    if is_floating(op.results[0].type.dtype):
        return (0, math.inf) if x[0] >= 0 and y[0] >= 0 else ANY
    if y[0] <= 0 <= y[1]:
        return ANY
    return r.corners(_truncated, x, y)


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(op: Op, x: Interval, y: Interval) -> Interval:
    """The sign of the dividend, and less than either; the dividend itself where an integer divisor is 0."""
    if not is_integer(op.results[0].type.dtype):
        return (0, math.inf) if x[0] >= 0 else ANY
    most = max(abs(x[0]), abs(x[1]))
    if not y[0] <= 0 <= y[1]:
        most = min(most, max(abs(y[0]), abs(y[1])) - 1)
    return (0 if x[0] >= 0 else -most), (0 if x[1] <= 0 else most)


def _clamp(op: Op, low: Interval, x: Interval, high: Interval) -> Interval:
    return min(max(x[0], low[0]), high[0]), min(max(x[1], low[1]), high[1])


def _maximum(op: Op, x: Interval, y: Interval) -> Interval:
    return r.maximum(x, y)


def _minimum(op: Op, x: Interval, y: Interval) -> Interval:
    return r.minimum(x, y)


# ---------------------------------------------------------------- bits and truth


def _and(op: Op, x: Interval, y: Interval) -> Interval:
    if op.results[0].type.dtype == BOOL:
        return r.minimum(x, y)
    return r.bit_and(x, y)


def _or(op: Op, x: Interval, y: Interval) -> Interval:
    if op.results[0].type.dtype == BOOL:
        return r.maximum(x, y)
    return r.bit_or(x, y)


def _xor(op: Op, x: Interval, y: Interval) -> Interval:
    if op.results[0].type.dtype == BOOL:
        known = x[0] == x[1] and y[0] == y[1]
        return (int(x[0] != y[0]),) * 2 if known else EITHER
    return r.bit_xor(x, y)


def _not(op: Op, x: Interval) -> Interval:
    dtype = op.results[0].type.dtype
    if dtype == BOOL:
        return 1 - x[1], 1 - x[0]
    return ANY if is_unsigned(dtype) else (-x[1] - 1, -x[0] - 1)


def _shift_left(op: Op, x: Interval, y: Interval) -> Interval:
    width = int(op.results[0].type.dtype.itemsize) * 8
    if not 0 <= y[0] <= y[1] < width:
        return ANY
    return r.corners(lambda a, b: a << b, x, y)


def _shift_right(op: Op, x: Interval, y: Interval) -> Interval:
    width = int(op.results[0].type.dtype.itemsize) * 8
    if not 0 <= y[0] <= y[1] < width or (x[0] < 0 and isinstance(op.kind, ops.ShiftRightLogical)):
        return ANY
    return r.corners(lambda a, b: a >> b, x, y)


def _compare(op: Op, x: Interval, y: Interval) -> Interval:
    assert isinstance(op.kind, ops.Compare)
    dtype, direction = op.operands[0].type.dtype, op.kind.direction
    if is_complex(dtype):
        return EITHER
    if op.operands[0] is op.operands[1] and not is_floating(dtype):
        return TRUE if direction in ("EQ", "LE", "GE") else FALSE
    found = r.decide(direction, x, y)
    if is_floating(dtype):  # every comparison with NaN is false, but for NE
        certain = TRUE if direction == "NE" else FALSE
        return found if found == certain else EITHER
    return found


# ---------------------------------------------------------------- elements taken, moved and made


def _same(op: Op, x: Interval, *others: Interval) -> Interval:
    return x


def _any_of(op: Op, *operands: Interval) -> Interval:
    return hull(*operands)


def _stored(op: Op, x: Interval, new: Interval, *places: Interval) -> Interval:
    return hull(x, new)


def _scattered(op: Op, x: Interval, places: Interval, new: Interval) -> Interval:
    assert isinstance(op.kind, ops.Scatter)
    return hull(x, new) if op.kind.combine is None else ANY


_EXACT = 1 << 10
"""Up to this size every floating-point type but bfloat16 holds all integers; rounding keeps the order anyway."""


def _convert(op: Op, x: Interval) -> Interval:
    source, target = op.operands[0].type.dtype, op.results[0].type.dtype
    if target == BOOL:
        return FALSE if x == (0, 0) and not is_floating(source) else TRUE if x[0] > 0 or x[1] < 0 else EITHER
    if is_floating(source) and is_integer(target):
        assert isinstance(op.kind, ops.Convert)
        whole, nan = full(target), op.kind.of_nan()
        if not op.kind.by_xla and not whole[0] <= x[0] <= x[1] <= whole[1]:
            return whole
        low, high = [_to_integer(v, whole) for v in x]
        return min(low, nan), max(high, nan)
    if is_complex(source) or is_complex(target):
        return ANY
    if is_floating(target) and is_integer(source):
        least = -math.inf if x[0] < -_EXACT else min(x[0], _EXACT)
        return least, (math.inf if x[1] > _EXACT else max(x[1], -_EXACT))
    return _signed(op, x) if is_floating(target) else x


def _to_integer(value: float, whole: Interval) -> int:
    if math.isinf(value):
        return int(whole[0] if value < 0 else whole[1])
    return int(min(max(int(value), whole[0]), whole[1]))


def _bitcast(op: Op, x: Interval) -> Interval:
    """The bits of a signed integer that is not negative read as an unsigned one, and the other way round."""
    source, target = op.operands[0].type.dtype, op.results[0].type.dtype
    same = is_integer(source) and is_integer(target) and source.itemsize == target.itemsize
    return x if same and x[0] >= 0 and x[1] <= full(target)[1] else full(target)


def _constant(op: Op) -> Interval:
    assert isinstance(op.kind, ops.Constant)
    data = op.kind.data
    if not 0 < data.size <= limits.INTERVAL_CONSTANT or data.dtype.kind not in "biuf":
        return full(op.results[0].type.dtype)
    numbers = data[data == data]
    return (numbers.min().item() + 0, numbers.max().item() + 0) if numbers.size else ANY


def _iota(op: Op) -> Interval:
    assert isinstance(op.kind, ops.Iota)
    extent = op.results[0].type.shape[op.kind.axis]
    return 0, max(extent - 1, 0)


def _mask_places(op: Op, mask: Interval) -> Interval:
    return 0, max(op.results[0].type.shape[-1] - 1, 0)


def _reduced(op: Op, x: Interval, start: Interval) -> Interval:
    """Elements combined; of a sum, as many as are combined into one."""
    assert isinstance(op.kind, ops.Reduce)
    combine = op.kind.combine
    if isinstance(combine, ops.Maximum | ops.Minimum) or op.results[0].type.dtype == BOOL:
        return hull(x, start)
    count = op.operands[0].type.size // max(op.results[0].type.size, 1)
    if isinstance(combine, ops.Add):
        return _signed(op, (start[0] + r.product(count, x[0]), start[1] + r.product(count, x[1])))
    return ANY


def _exponential(op: Op, x: Interval) -> Interval:
    return 0, math.inf


def _sqrt(op: Op, x: Interval) -> Interval:
    return (1 if x[0] >= 1 else 0), math.inf


def _sign(op: Op, x: Interval) -> Interval:
    return (-1 if x[0] < 0 else 0 if x[0] == 0 else 1), (1 if x[1] > 0 else 0 if x[1] == 0 else -1)


RULES: dict[type, Callable[..., Interval]] = {
    ops.Constant: _constant,
    ops.Iota: _iota,
    ops.MaskPlaces: _mask_places,
    ops.Add: _add,
    ops.Subtract: _subtract,
    ops.Multiply: _multiply,
    ops.Negate: _negate,
    ops.Abs: _abs,
    ops.Divide: _divide,
    ops.Remainder: _remainder,
    ops.Maximum: _maximum,
    ops.Minimum: _minimum,
    ops.Clamp: _clamp,
    ops.Sign: _sign,
    ops.And: _and,
    ops.Or: _or,
    ops.Xor: _xor,
    ops.Not: _not,
    ops.ShiftLeft: _shift_left,
    ops.ShiftRightArithmetic: _shift_right,
    ops.ShiftRightLogical: _shift_right,
    ops.Compare: _compare,
    ops.Convert: _convert,
    ops.BitcastConvert: _bitcast,
    ops.Exponential: _exponential,
    ops.Sqrt: _sqrt,
    ops.Reduce: _reduced,
    ops.Concatenate: _any_of,
    ops.Pad: _any_of,
    ops.DynamicUpdateSlice: _stored,
    ops.Scatter: _scattered,
    **dict.fromkeys(
        (ops.Broadcast, ops.Reshape, ops.Transpose, ops.Reverse, ops.Slice, ops.DynamicSlice, ops.Gather),
        _same,
    ),
}
"""The rule of every operation with one result that has one."""

BY_POSITION = (ops.Sort, ops.OptimizationBarrier)
"""Operations each result of which has the elements of one operand."""


def transfer(op: Op, operands: list[Interval]) -> Interval:
    """The interval of the one result of `op`."""
    dtype = op.results[0].type.dtype
    rule = RULES.get(type(op.kind))
    if rule is None or dtype.kind not in "biuf":
        return full(dtype)
    return within(rule(op, *operands), dtype)
