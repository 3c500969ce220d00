"""Arrays of computed size: `np.arange(n)`, `np.zeros(n)`; and bounded arrays in other shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from ....diagnostics.codes_constant import NotKnown
from ....diagnostics.codes_types import MaskedUse
from ....diagnostics.errors import StagingError
from ....hlo.ir import Op, Value
from ....hlo.types import BOOL, INT64
from ....ops import And, Compare, Divide, Multiply, Or, Pad, Remainder, Select, Slice, Subtract
from ....values.bounded import Bounded, Extent, Progression, extent_of
from ....values.lattice import NONE, Abstract, Array, Const, Ref, SliceObject, Tuple
from ....values.state import References
from ....values.views import Reshaped
from ...containers import row_lists
from ...context import Context, Raw
from ...kernels.layout import is_contiguous, note_possible_copy, strides_of
from ...kernels.python_implementations import run_program
from ...kernels.structures import abstract
from ...operands.contraction import diagonal_views
from ...operands.libraries import NUMPY, Rules
from ...operands.rows_as_arrays import arrays_of_rows, is_of_any_type
from ...registry import meaning_of
from ...rules.jax import axes_of, axis_of, integer, is_none
from ..indexing.bounded import (
    bounded,
    bounded_attribute,
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
    transposed,
    viewed,
)
from ..indexing.bounded import (
    shape as extents_of,
)
from ..indexing.slices import times
from ..linalg.matrices import two_axes
from ..subscripts.subscripts import array_getitem
from .size_rules import by_element, for_bounded, twins_for_bounded, whole_like

_LIBRARY = str(Path(__file__).parents[2])
"""Programs of the library, which do not store into flat arrays that they are given."""

by_element((np.where, jnp.where), "condition", "x", "y")
by_element((np.clip, jnp.clip), "a", "arr", "a_min", "a_max", "min", "max")
by_element((np.round, np.around, jnp.round), "a")
by_element((np.angle,), "z")
by_element((np.nan_to_num, np.sinc, np.isreal, np.iscomplex, np.isposinf, np.isneginf, np.i0), "x")
by_element((np.power, np.float_power), "x1", "x2")
by_element((np.isclose, jnp.isclose), "a", "b")
by_element((np.zeros_like, np.ones_like, np.full_like, np.copy), "a")
by_element((jnp.zeros_like, jnp.ones_like, jnp.full_like, jnp.copy), "a")
by_element((np.empty_like, jnp.empty_like), "prototype")


@for_bounded(np.real, jnp.real)
def real(ctx: Context, val: Raw) -> Abstract:
    """The real parts."""
    return ctx.getattr(abstract(val), "real")


@for_bounded(np.imag, jnp.imag)
def imag(ctx: Context, val: Raw) -> Abstract:
    """The imaginary parts."""
    return ctx.getattr(abstract(val), "imag")


_chosen = {module: meaning_of(module.where) for module in (np, jnp)}


@twins_for_bounded(np.where, jnp.where)
def where(ctx: Context, rules: Rules, condition: Raw, x: Raw = None, y: Raw = None, /) -> Abstract:
    """The elements of `x` or `y`; the places where the condition holds, where there are none."""
    if is_none(x) and is_none(y):
        return ctx.call(Const(rules.module.nonzero), [abstract(condition)])
    chosen = _chosen[rules.module]
    assert chosen is not None
    return chosen(ctx, condition, x, y)


def _made_of(rules: Rules, function: Any) -> Any:
    """The arrays that JAX makes of a list of computed length; calls give NumPy's."""

    def rows(ctx: Context, /, a: Raw, *args: Raw, **kwargs: Raw) -> Raw:
        return arrays_of_rows(ctx, a, jnp.array, is_of_any_type(function, (a, *args), kwargs), rules)

    return rows if rules.is_jax else None


def _asarray(ctx: Context, /, rules: Rules, a: Raw, dtype: Raw = None, **options: Raw) -> Abstract:
    if not isinstance(a, Bounded):
        return array(ctx, rules, a, dtype)
    if is_none(dtype) or ctx.known(dtype, "the dtype of asarray") == a.type.dtype:
        return a
    return ctx.call(ctx.getattr(a, "astype"), [dtype])


@twins_for_bounded(np.asarray, jnp.asarray, rows=_made_of)
def asarray(ctx: Context, /, rules: Rules, a: Raw, dtype: Raw = None, **options: Raw) -> Abstract:
    """The array itself, or its elements in another type; a new one of a list of bounded arrays."""
    return _asarray(ctx, rules, a, dtype)


@for_bounded(np.asanyarray, np.ascontiguousarray)
def asanyarray(ctx: Context, /, a: Raw, dtype: Raw = None, **options: Raw) -> Abstract:
    """As `asarray`."""
    return _asarray(ctx, NUMPY, a, dtype)


@twins_for_bounded(np.array, jnp.array, rows=_made_of)
def array(ctx: Context, /, rules: Rules, object: Raw, dtype: Raw = None, **options: Raw) -> Abstract:
    """A copy; of a list of bounded arrays, they as its rows."""
    if not isinstance(object, Bounded):
        return ctx.call(Const(rules.module.stack), [object])
    made = ctx.call(ctx.getattr(object, "copy"), [])
    return made if is_none(dtype) else ctx.call(ctx.getattr(made, "astype"), [dtype])


@for_bounded(np.shape, jnp.shape)
def shape_(ctx: Context, a: Raw) -> Abstract:
    """The shape."""
    assert isinstance(a, Bounded)
    return bounded_attribute(ctx, a, "shape") or Const(None)


@for_bounded(np.ndim, jnp.ndim)
def ndim(ctx: Context, a: Raw) -> Abstract:
    """The number of axes."""
    assert isinstance(a, Bounded)
    return Const(a.rank)


@for_bounded(np.size, jnp.size)
def size_(ctx: Context, a: Raw, axis: Raw = None) -> Abstract:
    """The number of elements, or the extent of one axis."""
    assert isinstance(a, Bounded)
    if is_none(axis):
        return size(ctx, a)
    along = a.axes[axis_of(ctx, axis, a.rank, "size")]
    return count(ctx, a, along) if isinstance(along, Extent) else Const(along)


# ---------------------------------------------------------------- other shapes


@for_bounded(np.transpose, jnp.transpose)
def transpose(ctx: Context, a: Raw, axes: Raw = None) -> Abstract:
    """The axes in the order named, or reversed."""
    if not isinstance(a, Bounded):  # then the axes are
        ctx.fail(NotKnown(span=ctx.span, what="the axes of transpose"))
    if is_none(axes):
        return transposed(ctx, a, range(a.rank)[::-1])
    order = axes_of(ctx, axes, a.rank, "transpose", repeated="repeated axis in transpose")
    if len(order) != a.rank:
        ctx.raise_(ValueError("axes don't match array"))
    return transposed(ctx, a, order)


@for_bounded(np.swapaxes, jnp.swapaxes)
def swapaxes(ctx: Context, a: Raw, axis1: Raw, axis2: Raw) -> Abstract:
    """Two axes in each other's place."""
    assert isinstance(a, Bounded)
    one, two = (
        axis_of(ctx, axis1, a.rank, "swapaxes", "axis1"),
        axis_of(ctx, axis2, a.rank, "swapaxes", "axis2"),
    )
    order = list(range(a.rank))
    order[one], order[two] = two, one
    return transposed(ctx, a, order)


@for_bounded(np.moveaxis, jnp.moveaxis)
def moveaxis(ctx: Context, a: Raw, source: Raw, destination: Raw) -> Abstract:
    """One axis at another place."""
    assert isinstance(a, Bounded)
    here = axis_of(ctx, source, a.rank, "moveaxis", "source")
    there = axis_of(ctx, destination, a.rank, "moveaxis", "destination")
    order = [axis for axis in range(a.rank) if axis != here]
    order.insert(there, here)
    return transposed(ctx, a, order)


@for_bounded(np.diagonal, jnp.diagonal)
def diagonal(ctx: Context, a: Raw, offset: Raw = 0, axis1: Raw = 0, axis2: Raw = 1) -> Abstract:
    """A diagonal of two axes as the last axis: a read-only view, or of a new array what it shows."""
    assert isinstance(a, Bounded)
    first, second = two_axes(ctx, a.rank, axis1, axis2, "diagonal")
    at = integer(ctx, offset, "the offset of diagonal")
    places = _both_places(ctx, a, first, second)
    made = a
    if places is None:
        if _is_held(ctx, a):
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


@for_bounded(np.squeeze, jnp.squeeze)
def squeeze(ctx: Context, a: Raw, axis: Raw = None) -> Abstract:
    """Without axes of one element; the run ends (PS221) where it finds one element along an axis that is not named."""
    assert isinstance(a, Bounded)
    span = ctx.span
    named = (
        None if is_none(axis) else axes_of(ctx, axis, a.rank, "squeeze", repeated="duplicate value in 'axis'")
    )
    axes = [i for i, n in enumerate(a.axes) if n == 1] if named is None else named
    if len(axes) == a.rank:
        refuse(ctx, "np.squeeze of all axes", a)

    def refuse_axis(n: int) -> None:
        raise StagingError(
            (MaskedUse(span=span, what="np.squeeze of an array with one element along an axis"),)
        )

    for at, along in enumerate(a.axes):
        own = count(ctx, a, along) if isinstance(along, Extent) else Const(along)
        if at in axes and own != Const(1):
            differs = row_lists.compared(ctx, "NE", own.value, 1)
            row_lists.check(ctx, differs, ValueError(), _no_squeeze, [own])
        elif at not in axes and named is None and isinstance(along, Extent):
            one = row_lists.compared(ctx, "EQ", own.value, 1)
            row_lists.check(ctx, one, StagingError(()), refuse_axis, [own])
    if not axes:
        return a
    full = SliceObject(NONE, NONE, NONE)
    return array_getitem(ctx, a, Tuple(tuple([Const(0) if i in axes else full for i in range(a.rank)])))


def _no_squeeze(n: int) -> None:
    np.squeeze(np.broadcast_to(np.int8(0), (n,)), 0)


@for_bounded(np.ravel, jnp.ravel)
def ravel(ctx: Context, a: Raw, order: Raw = "C") -> Abstract:
    """All elements along one axis; a vector is given back itself."""
    assert isinstance(a, Bounded)
    if ctx.known(order, "the order of ravel") not in ("C", "A", "K"):
        refuse(ctx, "np.ravel in another order", a)
    if a.rank > 1 and _is_view(ctx, a):
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


def _is_view(ctx: Context, array: Bounded) -> bool:
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
    flat = viewed(ctx, array.whole, Reshaped((array.type.size,)))
    row = ctx.constant(array.type.size // max(array.bound(extent), 1), INT64)
    start, own = [ctx.op(Multiply(), n, row) for n in (places.start, places.count)]
    return bounded(ctx, flat, [extent_of(Progression(start, 1, own), 0, extent.bounds)])


@for_bounded(np.reshape, jnp.reshape)
def reshape(ctx: Context, a: Raw, shape: Raw, order: Raw = "C", copy: Raw = None) -> Abstract:
    """The same elements in another shape, of which the first axis may have as many as there are."""
    if not isinstance(a, Bounded):
        refuse(ctx, "np.reshape", shape)
    if ctx.known(order, "the order of reshape") != "C":
        refuse(ctx, "np.reshape in another order", a)
    wanted = _extents(ctx, shape)
    flat = a if a.rank == 1 else ravel(ctx, a)
    assert isinstance(flat, Bounded)
    open_ = [i for i, n in enumerate(wanted) if not isinstance(n, int) or n == -1]
    before = wanted[: open_[0]] if open_ else ()
    if len(open_) != 1 or any(n != 1 for n in before):
        return _exactly(ctx, flat, wanted)
    (at,) = open_
    others = [n for i, n in enumerate(wanted) if i != at and isinstance(n, int)]
    rest = int(np.prod(others, dtype=np.int64))
    return _in_rows(ctx, flat, wanted[at], at, [*others[:at]], [*others[at:]], rest)


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
