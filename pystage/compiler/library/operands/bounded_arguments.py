"""Array arguments whose extents the program may compute.

In: an argument, static or bounded. Out: an `ArrayArgument` with its bounded axes. `result_with`
(`indexing/bounded_operands.py`) makes the result of values and axes; without bounded axes that is the array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....records import dataclass
from ...hlo.ir import Value
from ...hlo.types import INT64
from ...ops import Select
from ...values.bounded import Bounded, Extent
from ...values.gated import Gated, alternatives, narrow
from ...values.lattice import Abstract, Array, ListCell, Ref, Tuple
from ..context import Context, Raw
from ..numpy.indexing.bounded import bounded, compact, count, elements, is_compact, raveled, where_of
from ..rules.jax import axis_of, is_none
from ..rules.split import needs_split
from .libraries import ArrayArgument, Rules, as_jax
from .nested_sequences import array_argument


def compact_argument(ctx: Context, rules: Rules, raw: Raw, function: str) -> ArrayArgument:
    """An array argument; of a bounded array the elements come first."""
    return placed_argument(ctx, rules, compact(ctx, raw) if isinstance(raw, Bounded) else raw, function)


def placed_argument(ctx: Context, rules: Rules, raw: Raw, function: str) -> ArrayArgument:
    """The same; the elements of a bounded array are at any positions."""
    array = as_jax(ctx, raw, function) if rules.is_jax and isinstance(raw, Bounded) else raw
    if not isinstance(array, Bounded):
        return array_argument(ctx, rules, array, function)
    return ArrayArgument(elements(ctx, array), array.weak, array.form, array.extents)


def array_of(ctx: Context, rules: Rules, given: ArrayArgument) -> Abstract:
    """An argument as an array of its own."""
    made = rules.array(ctx, given.value, given.weak)
    assert isinstance(made, Ref | Array)
    return bounded(ctx, made, given.extents) if given.extents else made


def compacted(ctx: Context, rules: Rules, given: ArrayArgument) -> ArrayArgument:
    """An argument whose elements come first."""
    if all(map(is_compact, given.extents)):
        return given
    return compact_argument(ctx, rules, array_of(ctx, rules, given), "compact")


def flat_argument(ctx: Context, rules: Rules, given: ArrayArgument) -> ArrayArgument:
    """All elements along one axis."""
    if not given.extents:
        return given.of(ctx.reshape(given.value, (given.value.type.size,)))
    array = array_of(ctx, rules, given)
    assert isinstance(array, Bounded)
    return placed_argument(ctx, rules, raveled(ctx, array), "ravel")


def with_ones(ctx: Context, given: ArrayArgument, places: Sequence[int]) -> ArrayArgument:
    """An argument with axes of one element at these ascending places of the result."""
    shape, extents = list(given.shape), given.extents
    for at in places:
        shape.insert(at, 1)
        extents = tuple([replace(e, axis=e.axis + 1) if e.axis >= at else e for e in extents])
    return replace(given, value=ctx.reshape(given.value, tuple(shape)), extents=extents)


def whole_of(raw: Raw) -> Raw:
    """The whole of a bounded array, which has its element type; anything else as it is."""
    return raw.whole if isinstance(raw, Bounded) else raw


def is_bounded(ctx: Context, raw: Raw) -> bool:
    """True for a bounded array, and for a list or tuple with one in it."""
    if isinstance(raw, Bounded):
        return True
    if isinstance(raw, Tuple):
        return any(isinstance(item, Bounded) for item in raw.items)
    if isinstance(raw, Ref) and not raw.path:
        content = ctx.state.get(raw.cell)
        return isinstance(content, ListCell) and any(isinstance(item, Bounded) for item in content.items)
    return False


def decided(ctx: Context, raw: Raw) -> Raw:
    """A list or tuple with the selected arrays in place of items of which an alternative is bounded."""
    content = ctx.state.get(raw.cell) if isinstance(raw, Ref) and not raw.path else raw
    if not isinstance(content, Tuple | ListCell):
        return raw
    if not any(map(_may_be_bounded, content.items)):
        return raw
    found = [
        narrow(ctx.b, ctx.intervals, i) if isinstance(i, Gated) and _may_be_bounded(i) else i
        for i in content.items
    ]
    for item in found:
        if isinstance(item, Gated) and _may_be_bounded(item):
            raise needs_split(item)
    return Tuple(tuple(found))


def _may_be_bounded(value: Abstract) -> bool:
    return isinstance(value, Gated) and any(isinstance(each, Bounded) for each in alternatives(value))


def size_along(ctx: Context, given: ArrayArgument, axis: int) -> int | Value:
    """The number of elements along an axis, known or computed."""
    extent = given.axes[axis]
    if isinstance(extent, int):
        return extent
    array = Bounded(ctx.jax(given.value), given.value.type, given.extents)
    return count(ctx, array, extent).value


def value_of_size(ctx: Context, size: int | Value) -> Value:
    """A size as an int64 of the program."""
    return ctx.constant(size, INT64) if isinstance(size, int) else size


def filled_up(ctx: Context, given: ArrayArgument, number: object, axes: Sequence[int] | None = None) -> Value:
    """The elements, and a number where some do not belong to the array along these axes, by default all."""
    extents = [e for e in given.extents if axes is None or e.axis in axes]
    if not extents:
        return given.value
    shape = given.value.type.shape
    beside = ctx.broadcast(ctx.constant(number, given.dtype), shape)
    return ctx.op(Select(), where_of(ctx, shape, extents), given.value, beside)


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of an array along an axis; of the flat array where none is named. `rank` is that of the array."""

    given: ArrayArgument
    axis: int
    rank: int
    is_flat: bool

    @property
    def is_bounded(self) -> bool:
        """True if the program computes the length of the lines."""
        return isinstance(self.given.axes[self.axis], Extent)


def lines_of(ctx: Context, rules: Rules, a: Raw, axis: Raw, name: str) -> Lines:
    """The lines along `axis`; a number is one line of one element."""
    is_flat = is_none(axis) or ctx.known(axis, f"the axis of {name}") is None
    if isinstance(a, Bounded):
        given = compact_argument(ctx, rules, raveled(ctx, a) if is_flat else a, name)
        return Lines(given, 0 if is_flat else axis_of(ctx, axis, a.rank, name), a.rank, is_flat)
    given = array_argument(ctx, rules, a, name)
    rank = given.rank
    if is_flat or not rank:
        given = given.of(ctx.reshape(given.value, (given.value.type.size,)))
    return Lines(given, 0 if is_flat else axis_of(ctx, axis, max(rank, 1), name), rank, is_flat)
