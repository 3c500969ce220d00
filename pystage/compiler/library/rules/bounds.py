"""Ranges of integers, and whether a type can represent them."""

from __future__ import annotations

import numpy as np

from ...hlo.ir import Value
from ...hlo.types import BOOL, INT64, DType, is_integer
from ...ops import Compare, Or
from ...values.boundary import Form
from ...values.gated import GatedNumber
from ...values.lattice import Array, Const
from ..context import Context

Bounds = tuple[int | None, int | None]
"""The least and the greatest value, None where not known."""

UNBOUNDED: Bounds = (None, None)


def bounds_of(x: Array | Const) -> Bounds:
    """What is known of an integer's value; nothing of other numbers."""
    if isinstance(x, Const):
        value = x.value
        return (int(value), int(value)) if isinstance(value, int) else (None, None)
    if x.dtype == BOOL:
        return 0, 1
    return x.lower, x.upper


def bounds(ctx: Context, x: Array | Const) -> Bounds:
    """What is known of an integer's value here, under the conditions that led here."""
    low, high = bounds_of(x)
    if isinstance(x, Const) or x.dtype.kind not in "iu" or x.rank:
        return low, high
    least, most = ctx.intervals.bounds(x.value)
    if least is not None:
        low = least if low is None else max(low, least)
    if most is not None:
        high = most if high is None else min(high, most)
    return low, high


def check_fits(ctx: Context, operand: Array, dtype: DType) -> None:
    """A Python integer that meets, or is stored into, NumPy integers of a smaller type: OverflowError."""
    if operand.form is Form.PYTHON and operand.dtype == INT64:
        check_element(ctx, operand, dtype)


def check_element(ctx: Context, operand: Array, dtype: DType) -> None:
    """An integer, Python's or NumPy's, as an element of a list that becomes an array of a smaller type: OverflowError."""
    if not is_integer(operand.dtype) or isinstance(operand, GatedNumber) or not is_integer(dtype):
        return
    low, high = bounds(ctx, operand)
    least, most = ends_of(dtype)
    own_least, own_most = ends_of(operand.dtype)
    conditions = []
    if (own_least if low is None else low) < least:
        conditions.append(("LT", least))
    if (own_most if high is None else high) > most:
        conditions.append(("GT", most))
    bad: Value | None = None
    for direction, end in conditions:
        outside = ctx.op(Compare(direction), operand.value, ctx.constant(end, operand.dtype))
        bad = outside if bad is None else ctx.op(Or(), bad, outside)

    def store(value: object) -> None:
        np.array([value], dtype)

    if bad is not None:
        ctx.check(bad, OverflowError("Python integer out of bounds"), store, [operand])


def ends_of(dtype: DType) -> tuple[int, int]:
    """The least and the greatest number of an integer type."""
    return int(np.iinfo(dtype.name).min), int(np.iinfo(dtype.name).max)
