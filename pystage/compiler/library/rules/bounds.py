"""Whether an integer type can represent an integer that only the program knows."""

from __future__ import annotations

import numpy as np

from ...analysis.ranges import full, meet
from ...hlo.ir import Value
from ...hlo.types import INT64, DType, is_integer
from ...ops import Compare, Or
from ...values.boundary import Form
from ...values.gated import GatedNumber
from ...values.lattice import Array
from ..context import Context


def check_fits(ctx: Context, operand: Array, dtype: DType) -> None:
    """Checks a Python integer that meets, or is stored into, NumPy integers of a smaller type: OverflowError."""
    if operand.form is Form.PYTHON and operand.dtype == INT64:
        check_element(ctx, operand, dtype)


def check_element(ctx: Context, operand: Array, dtype: DType) -> None:
    """Checks an integer, Python's or NumPy's, as an element of a list that becomes an array of a smaller type:
    OverflowError.
    """
    if not is_integer(operand.dtype) or isinstance(operand, GatedNumber) or not is_integer(dtype):
        return
    low, high = meet(ctx.range_of(operand), full(operand.dtype))
    least, most = ends_of(dtype)
    conditions = []
    if low < least:
        conditions.append(("LT", least))
    if high > most:
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
