"""What grows, for tests: library functions that ask for a capacity, and say how much they turned out to need."""

from __future__ import annotations

from typing import Any

import numpy as np

import pystage
from pystage.compiler.hlo.ir import Value
from pystage.compiler.hlo.types import INT64, ArrayType
from pystage.compiler.library.context import Context, Raw
from pystage.compiler.library.registry import meaning
from pystage.compiler.ops import Compare, Iota, Select
from pystage.compiler.values.lattice import Abstract, Array, Const

INITIAL = 4
"""The capacity where nothing is known."""
SMALL = 32768 // 8
"""That of the next program."""


def total_below(n: int) -> float:
    """The sum of the numbers from 0 below `n`, which a program keeps in an array that grows."""
    return float(np.arange(n).sum())


@pystage.compile
def total_of_numbers(n: int) -> float:
    """As above, compiled."""
    return total_below(n)


def count_below(n: int) -> int:
    """`n`; what grows takes 1,024 bytes an element."""
    return n


def _number(ctx: Context, n: Raw) -> Value:
    found = ctx.read(n)
    return found.value if isinstance(found, Array) else ctx.constant(found.value, INT64)


@meaning(total_below)
def _total_below(ctx: Context, n: Abstract) -> Abstract:
    needed = _number(ctx, n)
    capacity = ctx.capacity(INITIAL, what="the numbers")
    dtype, shape = needed.type.dtype, (capacity.size,)
    index = ctx.op(Iota(ArrayType(dtype, shape), 0))
    ctx.needs_capacity(capacity, needed)
    inside = ctx.op(Compare("LT"), index, ctx.broadcast(needed, shape))
    masked = ctx.op(Select(), inside, index, ctx.broadcast(ctx.constant(0, dtype), shape))
    total: Any = ctx.call(Const(np.sum), [ctx.ndarray(masked)])
    return ctx.python(ctx.convert(total.value, np.dtype(float)))


@meaning(count_below)
def _count_below(ctx: Context, n: Abstract) -> Abstract:
    needed = _number(ctx, n)
    ctx.needs_capacity(ctx.capacity(INITIAL, 1024, "the rows"), needed)
    return ctx.python(needed)
