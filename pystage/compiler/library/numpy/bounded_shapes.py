"""Views and copies of bounded arrays in other shapes: diagonals, flat arrays, rows, and without axes of one element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...diagnostics.codes_types import MaskedUse
from ...diagnostics.errors import StagingError
from ...hlo.ir import Op, Value
from ...hlo.types import BOOL, INT64
from ...ops import And, Compare, Divide, Multiply, Or, Pad, Remainder, Select, Slice, Subtract
from ...values.bounded import Bounded, Extent, Progression, extent_of
from ...values.lattice import NONE, Abstract, Array, Const, Ref, SliceObject, Tuple
from ...values.state import References
from ...values.views import Reshaped
from ..context import Context, Raw
from ..kernels.layout import is_contiguous, note_possible_copy, strides_of
from ..kernels.python_implementations import run_program
from ..kernels.structures import abstract
from ..operands.contraction import diagonal_views
from .indexing.bounded import (
    bounded,
    compact,
    count,
    elements,
    first_elements,
    from_zero,
    is_compact,
    raveled,
    refuse,
    same_number,
    size,
    viewed,
    whole_like,
)
from .indexing.bounded import (
    shape as extents_of,
)
from .indexing.slices import times
from .subscripts.subscripts import array_getitem

_LIBRARY = str(Path(__file__).parents[1])
"""Programs of the library, which do not store into flat arrays that they are given."""


def diagonal_of(ctx: Context, a: Bounded, at: int, first: int, second: int, is_read: bool = False) -> Bounded:
    """A diagonal of two axes as the last axis: a read-only view, or of a new array what it shows.

    `is_read`: the caller reads its elements only.
    """
    places = _both_places(ctx, a, first, second)
    made = a
    if places is None:
        if not is_read and _is_held(ctx, a):
            refuse(ctx, "the diagonal of a part whose rows and columns begin at two places", a)
        made, places = compact(ctx, a), from_zero(ctx, 0)
    lengths = extents_of(ctx, made)
    number = run_program(ctx, _on_diagonal, (lengths[first], lengths[second], Const(at)))
    others = [axis for axis in range(a.rank) if axis not in (first, second)]
    extents = [replace(e, axis=others.index(e.axis)) for e in made.extents if e.axis in others]
    step = cast(int, places.step)
    beside = at * step
    whole = made.whole
    for view in diagonal_views(a.rank, beside, first, second, frozen=isinstance(whole, Ref)):
        whole = viewed(ctx, whole, view)
    start = places.start
    if at and step < 0:
        start = ctx.op(Subtract(), start, ctx.constant(abs(beside), INT64))
    length = number.value if isinstance(number, Array) else ctx.constant(cast(Const, number).value, INT64)
    extents.append(extent_of(Progression(start, places.step, length), len(others)))
    return bounded(ctx, whole, extents)


def _both_places(ctx: Context, a: Bounded, first: int, second: int) -> Progression | None:
    """The common start and step of two axes in the whole; None where they differ."""
    along = [a.axes[axis] for axis in (first, second)]
    if all(isinstance(e, int) or is_compact(e) for e in along):
        return from_zero(ctx, 0)
    one, two = [e.progression if isinstance(e, Extent) else from_zero(ctx, e) for e in along]
    if one is None or two is None or not isinstance(one.step, int) or one.step != two.step:
        return None
    return one if same_number(ctx, one.start, two.start) else None


def _on_diagonal(rows: Any, columns: Any, offset: Any) -> Any:
    return max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)


def without_axes(ctx: Context, a: Bounded, axes: Sequence[int], named: bool) -> Abstract:
    """Without axes of one element; the run ends (PS221) where it finds one element along an axis that is not `named`."""
    span, one = ctx.span, ctx.constant(1, INT64)
    if len(axes) == a.rank:
        refuse(ctx, "np.squeeze of all axes", a)

    def refuse_axis(n: int) -> None:
        raise StagingError(
            (MaskedUse(span=span, what="np.squeeze of an array with one element along an axis"),)
        )

    for extent in a.extents:
        own = count(ctx, a, extent)
        if extent.axis in axes:
            ctx.check(ctx.op(Compare("NE"), own.value, one), ValueError(), _no_squeeze, [own])
        elif not named:
            ctx.check(ctx.op(Compare("EQ"), own.value, one), StagingError(()), refuse_axis, [own])
    if not axes:
        return a
    full = SliceObject(NONE, NONE, NONE)
    return array_getitem(ctx, a, Tuple(tuple([Const(0) if i in axes else full for i in range(a.rank)])))


def _no_squeeze(n: int) -> None:
    np.squeeze(np.broadcast_to(np.int8(0), (n,)), 0)


def flattened(ctx: Context, a: Bounded) -> Bounded:
    """All elements along one axis; a vector is given back itself."""
    if a.rank > 1 and lies_in_order(ctx, a):
        return _flat_view(ctx, a)
    made = raveled(ctx, a)
    if a.rank > 1 and isinstance(a.whole, Ref):
        note_possible_copy(ctx, a.whole, made.whole)
        if _is_held(ctx, a):
            _refuse_views(ctx, a)
    return made


def _is_held(ctx: Context, array: Bounded) -> bool:
    """False for a new array, or a part of one, whose memory only this expression of the user refers to."""
    if not isinstance(array.whole, Ref) or (ctx.span is not None and ctx.span.file.startswith(_LIBRARY)):
        return False
    if not array.whole.path and isinstance(elements(ctx, array).owner, Op):
        return False
    named = References(ctx.state)
    cells = [origin.cell for origin, _ in ctx.memory_of(array.whole)]
    return any(named.elsewhere(c, c) or not isinstance(ctx.state.get(c).value.owner, Op) for c in cells)


def _refuse_views(ctx: Context, array: Bounded) -> None:
    """Ends the run (PS221) where a flat array is a view in the plain run, whose elements are equally spaced."""
    span = ctx.span
    assert isinstance(array.whole, Ref)
    found: Value | None = None
    for strides in sorted(strides_of(ctx, array.whole)):
        here = _equally_far(ctx, array, strides)
        found = here if found is None else ctx.op(Or(), found, here)
    assert found is not None

    def refuse_view() -> None:
        raise StagingError((MaskedUse(span=span, what="a flat view of one row or column"),))

    ctx.check(found, StagingError(()), refuse_view, [])


def _equally_far(ctx: Context, array: Bounded, strides: Sequence[int]) -> Value:
    """Whether the elements are equally spaced in a whole with these strides; axes of one element do not count."""
    holds = ctx.constant(True, BOOL)
    reached = ctx.constant(0, INT64)  # how far the axes so far reach; 0 while each has one element
    for along, stride in reversed(list(zip(array.axes, strides))):
        if isinstance(along, Extent):
            own, apart = count(ctx, array, along).value, times(ctx, ctx.constant(stride, INT64), along.step)
        else:
            own, apart = ctx.constant(along, INT64), ctx.constant(stride, INT64)
        single = ctx.op(Compare("EQ"), own, ctx.constant(1, INT64))
        first = ctx.op(Compare("EQ"), reached, ctx.constant(0, INT64))
        fits = ctx.op(Or(), ctx.op(Or(), single, first), ctx.op(Compare("EQ"), apart, reached))
        some = ctx.op(Compare("GT"), own, ctx.constant(0, INT64))
        holds = ctx.op(And(), holds, ctx.op(And(), some, fits))
        reached = ctx.op(Select(), single, reached, ctx.op(Multiply(), apart, own))
    return holds


def lies_in_order(ctx: Context, array: Bounded) -> bool:
    """True if NumPy gives other shapes of the array as views: its elements are contiguous."""
    first, *others = array.axes
    if not isinstance(first, Extent) or first.progression is None or first.step != 1:
        return False
    if not all(isinstance(n, int) for n in others):
        return False
    return isinstance(array.whole, Array) or is_contiguous(ctx, array.whole) is True


def _flat_view(ctx: Context, array: Bounded) -> Bounded:
    """The elements of an array whose first axis is bounded along one axis."""
    (extent,) = array.extents
    places = extent.progression
    assert places is not None
    line = viewed(ctx, array.whole, Reshaped((array.type.size,)))
    row = ctx.constant(array.type.size // max(array.bound(extent), 1), INT64)
    start, own = [ctx.op(Multiply(), n, row) for n in (places.start, places.count)]
    return bounded(ctx, line, [extent_of(Progression(start, 1, own), 0, extent.bounds)])


def in_shape(ctx: Context, a: Bounded, shape: Raw) -> Abstract:
    """The same elements in another shape, of which the first axis may have as many as there are."""
    wanted = _extents(ctx, shape)
    line = a if a.rank == 1 else flattened(ctx, a)
    open_ = [i for i, n in enumerate(wanted) if not isinstance(n, int) or n == -1]
    before = wanted[: open_[0]] if open_ else ()
    if len(open_) != 1 or any(n != 1 for n in before):
        return _exactly(ctx, line, wanted)
    (at,) = open_
    others = [n for i, n in enumerate(wanted) if i != at and isinstance(n, int)]
    rest = int(np.prod(others, dtype=np.int64))
    return _in_rows(ctx, line, wanted[at], at, [*others[:at]], [*others[at:]], rest)


def _extents(ctx: Context, shape: Raw) -> list[Any]:
    """The integers of a shape, known or not."""
    given = abstract(shape)
    items = (
        given.items
        if isinstance(given, Tuple)
        else ctx.iterate(given)
        if not isinstance(given, Const | Array)
        else None
    )
    if items is None:
        items = (
            [Const(n) for n in given.value]
            if isinstance(given, Const) and isinstance(given.value, tuple)
            else [given]
        )
    return [int(i.value) if isinstance(i, Const) else i for i in items]


def _mismatch(n: int, *shape: int) -> None:
    np.zeros(n, np.int8).reshape(shape)


def _exactly(ctx: Context, flat: Bounded, wanted: Sequence[Any]) -> Abstract:
    """The elements of a vector as an array of known shape, which must have as many."""
    known = [n for n in wanted if isinstance(n, int)]
    if len(known) < len(wanted) or -1 in known:
        refuse(ctx, "np.reshape to this shape", flat)
    total = int(np.prod(known, dtype=np.int64))
    own = size(ctx, flat)
    bad = ctx.op(Compare("NE"), own.value, ctx.constant(total, INT64))
    ctx.check(bad, ValueError("cannot reshape array"), _mismatch, [own, *map(Const, known)])
    value = elements(ctx, compact(ctx, flat))
    bound = flat.type.size
    if bound < total:
        value = ctx.op(Pad((0,), (total - bound,), (0,)), value, ctx.constant(0, value.type.dtype))
    elif bound > total:
        value = ctx.op(Slice((0,), (total,), (1,)), value)
    return whole_like(ctx, flat, ctx.reshape(value, tuple(known)))


def _in_rows(
    ctx: Context, flat: Bounded, given: Any, at: int, before: list[int], after: list[int], rest: int
) -> Abstract:
    """The elements of a vector in rows of `rest`, as many as there are."""
    own = size(ctx, flat)
    if rest == 0:
        refuse(ctx, "np.reshape to no elements", flat)
    by = ctx.constant(rest, INT64)
    rows = ctx.op(Divide(), own.value, by)
    bad = ctx.op(Compare("NE"), ctx.op(Remainder(), own.value, by), ctx.constant(0, INT64))
    shape: list[Any] = [*map(Const, before), Const(-1), *map(Const, after)]
    if not isinstance(given, int):
        wanted = ctx.convert(ctx.read(given).value, INT64)
        bad = ctx.op(Compare("NE"), own.value, ctx.op(Multiply(), wanted, by))
        shape[at] = given
    if rest != 1 or not isinstance(given, int):
        ctx.check(bad, ValueError("cannot reshape array"), _mismatch, [own, *shape])
    if rest == 1:
        line = viewed(ctx, flat.whole, Reshaped((*before, flat.type.size, *after)))
        return bounded(ctx, line, [replace(flat.extents[0], axis=at)])
    array = flat if is_compact(flat.extents[0]) else compact(ctx, flat)
    if array is not flat and isinstance(flat.whole, Ref):
        note_possible_copy(ctx, flat.whole, array.whole)
    extent = array.extents[0]
    most = array.bound(extent) // rest
    whole: Any = array.whole
    if most * rest != array.bound(extent):
        value = ctx.op(Slice((0,), (most * rest,), (1,)), elements(ctx, array))
        whole = whole_like(ctx, array, value)
        if isinstance(array.whole, Ref):
            note_possible_copy(ctx, array.whole, whole)
    made = viewed(ctx, whole, Reshaped((*before, most, *after)))
    return first_elements(ctx, made, {at: rows})
