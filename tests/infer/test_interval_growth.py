"""How often interval analysis looks at the choices of a program that stand one after the other."""

from __future__ import annotations

import pytest

from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.types import INT64, ArrayType
from pystage.compiler.ops import If, Select
from pystage.compiler.values.intervals import Intervals
from pystage.compiler.values.transfer import Interval
from tests.emit.programs import Code


class _Counting(Intervals):
    """Counts the values that it looks at."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def _compute(self, value: Value) -> Interval:
        self.count += 1
        return super()._compute(value)


def _choices(n: int, kind: type[If | Select]) -> Function:
    """`n` times: `b = b - 1 if a > i else b + 1`."""
    c = Code(ArrayType(INT64), ArrayType(INT64))
    a, b = c.params
    for i in range(n):
        more = c.compare("GT", a, i)
        if kind is If:
            (b,) = c.if_(more, lambda b=b: [c.sub(b, 1)], lambda b=b: [c.add(b, 1)])  # type: ignore[misc]
        else:
            b = c.b.op(Select(), more, c.sub(b, 1), c.add(b, 1))
    return c.done(b)


@pytest.mark.parametrize("kind", [If, Select])
def test_the_number_of_looks_is_proportional_to_the_number_of_choices(kind: type[If | Select]) -> None:
    counts = []
    for n in (8, 16):
        function = _choices(n, kind)
        intervals = _Counting()
        intervals(function.body.results[0])
        counts.append(intervals.count)
    assert counts[1] < 2.5 * counts[0]
