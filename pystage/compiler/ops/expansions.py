"""What one HLO operation should do but XLA does not do right, as several operations."""

from __future__ import annotations

import numpy as np

from ..hlo.builder import Builder
from ..hlo.ir import Region, Value
from ..hlo.types import BOOL
from .binary import And, Multiply, Or, ShiftRightLogical
from .compare import Compare, Select
from .control import While
from .operands import INTEGERS, require_dtype, require_same_type
from .reduce import Reduce
from .structure import Broadcast, Constant


def integer_power(b: Builder, base: Value, exponent: Value) -> Value:
    """`base ** exponent` of integers of one type and shape, wrapping around as NumPy's does.

    By repeated squaring in a loop that ends when no exponent has bits left. Exponents are read as
    unsigned: what is to happen to negative ones, which NumPy refuses, the caller decides. XLA's own `power`
    reads six bits of an integer exponent. Raises `ShapeError` for other types.
    """
    type = base.type
    require_same_type("integer power", (type, exponent.type))
    require_dtype("integer power", type, INTEGERS)
    zero, one = (b.op(Broadcast(type.shape, ()), b.op(Constant(np.array(n, type.dtype)))) for n in (0, 1))
    carried = (type, type, type)
    condition, body = Region(carried), Region(carried)
    with b.region(condition):
        bits_left = b.op(Compare("NE"), condition.params[2], zero)
        false = b.op(Constant(np.array(False, BOOL)))
        condition.results = (b.op(Reduce(Or(), tuple(range(type.rank))), bits_left, false),)
    with b.region(body):
        power, square, bits = body.params
        odd = b.op(Compare("NE"), b.op(And(), bits, one), zero)
        body.results = (
            b.op(Select(), odd, b.op(Multiply(), power, square), power),
            b.op(Multiply(), square, square),
            b.op(ShiftRightLogical(), bits, one),
        )
    return b.apply(While(), (one, base, exponent), (condition, body)).results[0]
