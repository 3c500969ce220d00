"""Class tests of a caught exception, which only the run can decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...hlo.ir import Value
from ...hlo.types import INT32
from ...ops import And, Compare, Or
from ...values.lattice import Abstract, Array, Caught, Const
from ..context import Context


def is_among(ctx: Context, code: Value, numbers: Sequence[int]) -> Value:
    """Whether the number of a place, an int32, is one of these, which ascend."""
    found: Value | None = None
    for low, high in _ranges(numbers):
        inside = ctx.op(Compare("GE"), code, ctx.constant(low, INT32))
        inside = ctx.op(And(), inside, ctx.op(Compare("LE"), code, ctx.constant(high, INT32)))
        found = inside if found is None else ctx.op(Or(), found, inside)
    assert found is not None
    return found


def _ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as ranges, ends included."""
    found: list[tuple[int, int]] = []
    for each in numbers:
        if found and found[-1][1] == each - 1:
            found[-1] = found[-1][0], each
        else:
            found.append((each, each))
    return found


def is_instance(ctx: Context, caught: Caught, wanted: Any) -> Abstract:
    """`isinstance(caught, wanted)`."""
    numbers = sorted(n for n, _, cls in caught.sites if issubclass(cls, wanted))
    if len(numbers) in (0, len(caught.sites)):
        return Const(bool(numbers))
    code = caught.values[0]
    assert isinstance(code, Array)
    return ctx.python(is_among(ctx, code.value, numbers))
