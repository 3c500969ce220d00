"""Shapes with computed extents: `np.zeros(n)`, `np.arange(len(x[x > 0]))`.

In: the shape argument of a function that makes arrays. Out: the extents of a whole, which are known, and the sizes of its
bounded axes. The bound is what is known of the range of the integer, else a capacity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .....records import dataclass
from .... import limits
from ....hlo.ir import Value
from ....hlo.types import INT64, is_integer
from ....ops import Compare
from ....values.capacity import first_size
from ....values.lattice import Abstract, Array, Ref, Tuple
from ...context import Context, Raw
from ...kernels.structures import abstract
from .bounded import first_elements


@dataclass(frozen=True, slots=True)
class ComputedShape:
    """The extents of a whole, and by axis the sizes that the program computes."""

    extents: tuple[int, ...]
    sizes: dict[int, Value]

    def of(self, ctx: Context, whole: Abstract) -> Abstract:
        """An array of these extents, bounded by the sizes."""
        assert isinstance(whole, Ref | Array)
        return first_elements(ctx, whole, self.sizes)


def computed_shape(ctx: Context, raw: Raw, function: str) -> ComputedShape | None:
    """A shape argument with computed extents; None where all are known, or can be."""
    if not is_computed_shape(ctx, raw):
        return None
    parts = _parts(raw)
    extents: list[int] = []
    sizes: dict[int, Value] = {}
    for axis, part in enumerate(parts):
        if not _is_computed(ctx, part):
            extents.append(int(ctx.known(part, f"the shape of {function}")))
            continue
        assert isinstance(part, Array)
        extents.append(bound_of(ctx, part, function))
        sizes[axis] = size_of(ctx, part)
    return ComputedShape(tuple(extents), sizes)


def is_computed_shape(ctx: Context, raw: Raw) -> bool:
    """True for a shape argument with computed extents."""
    return any(_is_computed(ctx, part) for part in _parts(raw))


def _parts(raw: Raw) -> Sequence[Abstract]:
    given = abstract(raw)
    return given.items if isinstance(given, Tuple) else (given,)


def _is_computed(ctx: Context, part: Abstract) -> bool:
    if not isinstance(part, Array) or part.rank or not is_integer(part.dtype):
        return False
    return not ctx.can_be_known(part)


def bound_of(ctx: Context, number: Array, function: str, expected: int = 0) -> int:
    """The greatest value that an integer may have; where that is not known, a capacity, at first for what is `expected`."""
    _, high = ctx.range_of(number)
    if high <= limits.BOUND_BY_RANGE:
        return max(int(high), 0)
    initial = first_size(limits.FIRST_EXTENT, number.dtype.itemsize, expected)
    capacity = ctx.capacity(initial, what=f"the result of {function}", with_inputs=True)
    ctx.needs_capacity(capacity, ctx.convert(number.value, INT64))
    return capacity.size


def size_of(ctx: Context, number: Array) -> Value:
    """An integer as a size; the program raises where it is negative."""
    value = ctx.convert(number.value, INT64)
    low, _ = ctx.range_of(number)
    if low < 0:
        negative = ctx.op(Compare("LT"), value, ctx.constant(0, INT64))
        ctx.check(negative, ValueError("negative dimensions are not allowed"), np.zeros, [number])
    return value
