"""Derivatives of cumulative products and extrema: reductions over windows that reach back to the first element.

A cumulative product `y` of `x` has the tangent `t[k] = x[k] t[k-1] + y[k-1] dx[k]`, a linear recurrence, which needs no
division and so holds where elements are 0. A parallel scan computes it in ⌈log₂ n⌉ steps (W. D. Hillis, G. L. Steele,
"Data Parallel Algorithms", CACM 29(12), 1986). A cumulative maximum has the tangent of the element that it equals: the
last one that was greater than all before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....records import dataclass
from ...hlo.calculus import Calculus
from ...hlo.ir import Value
from ...hlo.op import HloOp
from ...hlo.types import INT64
from ..structure.gather import Gather


@dataclass(frozen=True, slots=True)
class Direction:
    """The axis along which a reduction runs; `backwards`: from its end."""

    axis: int
    backwards: bool

    def shifted(self, c: Calculus, x: Value, by: int) -> Value:
        """Each element's predecessor, `by` places before it; zeros where there is none."""
        low = [0] * x.type.rank
        low[self.axis] = -by if self.backwards else by
        return c.pad(x, low, [-n for n in low])

    @property
    def opposite(self) -> Direction:
        """The same axis the other way."""
        return Direction(self.axis, not self.backwards)


def direction_of(
    shape: Sequence[int], window: Sequence[int], strides: Sequence[int], padding: Sequence[tuple[int, int]]
) -> Direction | None:
    """How a reduction over these windows (without dilation) runs along one axis; None if it does not."""
    if any(s != 1 for s in strides):
        return None
    wide = [i for i, (n, pads) in enumerate(zip(window, padding, strict=True)) if n != 1 or any(pads)]
    if len(wide) != 1:
        return None
    (axis,) = wide
    reach = shape[axis] - 1
    if window[axis] != shape[axis] or padding[axis] not in ((reach, 0), (0, reach)):
        return None
    return Direction(axis, padding[axis][0] == 0)


def recurrence(c: Calculus, way: Direction, factors: Value, terms: Value) -> Value:
    """`s` with `s[k] = factors[k] s[k-1] + terms[k]`, where what comes before the first is 0."""
    reach, length = 1, factors.type.shape[way.axis]
    while reach < length:
        terms = c.add(terms, c.mul(factors, way.shifted(c, terms, reach)))
        factors = c.mul(factors, way.shifted(c, factors, reach))
        reach *= 2
    return terms


def exclusive(c: Calculus, way: Direction, product: Value) -> Value:
    """The running product up to the element before each; 1 for the first."""
    at = c.iota(INT64, product.type.shape, way.axis)
    first = product.type.shape[way.axis] - 1 if way.backwards else 0
    is_first = c.compare("EQ", at, c.filled(at.type, first))
    return c.select(is_first, c.filled(product.type, 1), way.shifted(c, product, 1))


def product_tangent(c: Calculus, way: Direction, x: Value, product: Value, tangent: Value) -> Value:
    """The tangent of a running product of `x`."""
    return recurrence(c, way, x, c.mul(exclusive(c, way, product), tangent))


def product_cotangent(c: Calculus, way: Direction, x: Value, product: Value, cotangent: Value) -> Value:
    """The cotangent of `x`, of whose running product this is the cotangent."""
    following = way.opposite.shifted(c, x, 1)
    return c.mul(exclusive(c, way, product), recurrence(c, way.opposite, following, cotangent))


@dataclass(frozen=True, slots=True)
class ExtremumIndices:
    """Which element each place of a running extremum is, as a `Gather` and its indices."""

    gather: Gather
    indices: Value

    def tangent(self, c: Calculus, tangent: Value) -> Value:
        """The tangent of the extremum."""
        return c.op(self.gather, tangent, self.indices)

    def cotangent(self, c: Calculus, cotangent: Value) -> Value:
        """The cotangent of the array."""
        return c.scatter_add(self.gather, c.zeros(cotangent.type), self.indices, cotangent)


def chosen(
    c: Calculus, way: Direction, x: Value, extremum: Value, better: str, latest: HloOp
) -> ExtremumIndices:
    """`better` ("GT" or "LT"): how an element compares that is chosen from here on. `latest`: the same running
    reduction as a maximum, of counts."""
    shape, axis = x.type.shape, way.axis
    count = c.iota(INT64, shape, axis)
    last = c.filled(count.type, shape[axis] - 1)
    if way.backwards:
        count = c.sub(last, count)
    is_new = c.compare(better, x, way.shifted(c, extremum, 1))
    none = c.zeros(count.type)
    at = c.op(latest, c.select(is_new, count, none), c.zeros(count.type.with_shape(())))
    if way.backwards:
        at = c.sub(last, at)
    others = tuple([i for i in range(len(shape)) if i != axis])
    gather = Gather((), (axis,), (axis,), len(shape), (1,) * len(shape), others, others)
    return ExtremumIndices(gather, c.reshape(at, (*shape, 1)))
