"""Reads of lists of rows whose elements are arrays or objects.

In: elements as rows hold them (`unboxing.py`): contents of arrays (`Form.NDARRAY`, or `Bounded`), and rows of pools
(`Pooled`). Out: references. Nothing says which elements are one array (`Vector.shared`).
"""

from __future__ import annotations

from dataclasses import replace

from ...diagnostics.codes_constant import NotKnown
from ...hlo.ir import Value
from ...hlo.types import INT64
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.identity import SOME_OBJECT, Identity
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Frozen,
    MemberCell,
    PoolCell,
    Pooled,
    Ref,
    Tuple,
)
from ...values.vector import Sharing, Vector
from ..context import Context
from ..rules.pools import class_of_contents
from ..rules.templates import is_view


def has_arrays(element: Abstract) -> bool:
    """True for an element, or rows of elements, that contain contents of arrays."""
    if isinstance(element, Tuple):
        return any(map(has_arrays, element.items))
    return isinstance(element, Bounded) or (isinstance(element, Array) and element.form is Form.NDARRAY)


def has_copies(element: Abstract) -> bool:
    """True for an element, or rows of elements, that contain contents of arrays, not just positions of views."""
    if isinstance(element, Tuple):
        return any(map(has_copies, element.items))
    return has_arrays(element) and not is_view(element)


def boxed(ctx: Context, element: Abstract, objects: tuple[Identity, ...] = (SOME_OBJECT,)) -> Abstract:
    """An element of a list as a reader gets it: references in place of the contents of arrays and of rows of pools.

    `objects`: those that the arrays in the list may be.
    """
    if isinstance(element, Tuple):
        parts = [boxed(ctx, part, objects) for part in element.items]
        same = all(new is old for new, old in zip(parts, element.items))
        return element if same else Tuple(tuple(parts), element.cls)
    if isinstance(element, Array) and element.form is Form.NDARRAY:
        return _copy(ctx, element.value, objects)
    if isinstance(element, Bounded) and isinstance(element.whole, Ref):
        return _view(ctx, element)
    if isinstance(element, Bounded):
        assert isinstance(element.whole, Array)
        whole = _copy(ctx, element.whole.value, objects)
        zero = ctx.constant(0, INT64)
        return Bounded(whole, element.type, tuple([replace(each, start=zero) for each in element.extents]))
    if isinstance(element, Pooled):
        pool = ctx.state.get(element.pool)
        if not isinstance(pool, PoolCell) or pool.objects is None:  # lost with what was refused
            ctx.fail(NotKnown(span=ctx.span, what="an object of a list"))
        cls = class_of_contents(pool.objects.element)
        return Ref(ctx.state.new_cell(MemberCell(cls, element.pool, element.place)))
    return element


def _copy(ctx: Context, value: Value, objects: tuple[Identity, ...]) -> Ref:
    """A copy of an array of which a list holds the contents."""
    one = (Identity.any_of(objects),) if objects else objects
    return Ref(ctx.state.new_cell(ArrayCell(value, frozen=Frozen.COPY, objects=one)))


def _view(ctx: Context, element: Bounded) -> Bounded:
    """A view that is an element of a list."""
    bound = element.type.shape
    extents = []
    for each in element.extents:
        assert each.start is not None and each.size is not None
        ends = ctx.python(each.start), ctx.python(each.size, (0, bound[each.axis]))
        extents.append(replace(each, bounds=ends))
    return replace(element, extents=tuple(extents), objects=(Identity.any_of(element.objects),))


def taken_once(ctx: Context, item: Abstract, source: object, taker: Identity) -> Abstract:
    """An element of a list, of which each trip of a loop takes another one through `source`."""
    if isinstance(item, Tuple):
        return Tuple(tuple([taken_once(ctx, part, source, taker) for part in item.items]), item.cls)
    whole = item.whole if isinstance(item, Bounded) else item
    cell = ctx.state.slots.get(whole.cell) if isinstance(whole, Ref) else None
    if isinstance(cell, ArrayCell) and isinstance(whole, Ref) and cell.frozen is Frozen.COPY:
        one = Identity(source, elements=cell.objects, taker=taker)
        ctx.state.set(whole.cell, replace(cell, objects=(one,)))
    elif isinstance(item, Bounded):
        return replace(item, objects=(Identity(source, elements=item.objects, taker=taker),))
    return item


def with_shared(
    rows: Vector[Abstract],
    shared: bool,
    level: Sharing = Sharing.TWICE,
    objects: tuple[Identity, ...] = (SOME_OBJECT,),
) -> Vector[Abstract]:
    """The rows, whose arrays may be one object with another, as `level` says, where `shared`.

    `objects`: those that the arrays may be of which there are copies.
    """
    if not has_arrays(rows.element):
        return rows
    return replace(rows, shared=max(rows.shared, level) if shared else rows.shared, objects=objects)


def copied(rows: Vector[Abstract]) -> Vector[Abstract]:
    """The rows as those of another list, which has each of these elements at most once."""
    return with_shared(rows, True, Sharing.ELSEWHERE, rows.objects)
