"""Unboxing of items into lists of rows: contents of arrays and rows of pools in place of references.

In: values of the program. Out: elements of rows. A list of rows holds a copy of each array, and so forbids stores into it
by any name (`ArrayCell.frozen`). Of views of one memory whose sizes only the run knows, it holds the positions in that
memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ... import limits
from ...hlo.ir import Value
from ...hlo.types import INT64, ArrayType
from ...ops import Add, Broadcast, Iota, Multiply, Transpose
from ...values.boundary import Form
from ...values.bounded import Bounded, Progression, extent_of
from ...values.identity import SOME_OBJECT, Identity, may_be_one, united
from ...values.lattice import (
    LISTS,
    Abstract,
    Array,
    ArrayCell,
    Frozen,
    Items,
    MemberCell,
    Pooled,
    Ref,
    Tuple,
)
from ...values.memory import is_row_major
from ...values.node import TreeNode
from ...values.vector import Sharing, Vector
from ...values.views import path_type
from ...values.walk import nodes, values_of
from ..context import Context
from ..kernels.array_rows import has_arrays
from ..numpy.indexing.bounded import bounded, compact, elements, is_compact, part_around, widened
from ..numpy.indexing.fancy_indexing import Fancy, gather
from ..numpy.indexing.slices import times
from ..rules import templates


def unboxed(ctx: Context, item: Abstract, like: Abstract | None = None, views: bool = False) -> Abstract:
    """An item as a list of rows holds it. Where `like`, an element, is an object of a pool, so is the item afterwards.

    The list may hold something else afterwards: where its objects and the item were of two pools, these are one. `views`:
    it may hold views by their places.
    """
    if isinstance(item, Tuple):
        others = like.items if isinstance(like, Tuple) else ()
        parts = [
            unboxed(ctx, part, others[i] if i < len(others) else None, views)
            for i, part in enumerate(item.items)
        ]
        return Tuple(tuple(parts), item.cls)
    if isinstance(item, Bounded) and isinstance(item.whole, Ref):
        view = None if isinstance(like, Array) or not views else _unboxed_view(ctx, item, like)
        return view or _unboxed_bounded(ctx, item)
    if not isinstance(item, Ref):
        return item
    content = ctx.state.slots.get(item.cell)
    if is_element(content, item):
        view = _like_views(ctx, item, like) if views and isinstance(like, Bounded) else None
        return view or Array(ctx.contents(item), Form.NDARRAY)
    if isinstance(like, Pooled) and not isinstance(content, MemberCell | ArrayCell):
        ctx.pooled([item], like.pool)
        content = ctx.state.slots.get(item.cell)
    if isinstance(like, Pooled) and isinstance(content, MemberCell) and content.pool != like.pool:
        ctx.united(content.pool, like.pool)
        content = ctx.state.slots.get(item.cell)
    return Pooled(content.pool, content.place) if isinstance(content, MemberCell) else item


def are_members(ctx: Context, items: Sequence[Abstract]) -> bool:
    """True for references to objects all of which are members of pools."""
    return all(
        isinstance(item, Ref) and isinstance(ctx.state.slots.get(item.cell), MemberCell) for item in items
    )


def make_members(ctx: Context, items: Sequence[Abstract]) -> bool:
    """Makes the objects among items members of one pool, if they are lists, or more than a few; False for others."""
    objects = [item for item in items if isinstance(item, Ref) and not ctx.is_ndarray(item)]
    if len(objects) < len(items):
        return False
    few = len(items) <= limits.ITEM_BRANCHES and not all(
        isinstance(ctx.cell(each), LISTS) for each in objects
    )
    return (are_members(ctx, objects) or not few) and ctx.pooled(objects)


def is_element(content: object, ref: Ref) -> bool:
    """True for an array of which a list of rows may hold a copy: it has a layout of its own, and is writable."""
    if not isinstance(content, ArrayCell) or content.writable is not True:
        return False
    base = content.value.type
    shape = path_type(base, ref.path).shape
    return len(shape) > 0 and is_row_major(base, ref.path) and not any(v.read_only for v in ref.path)


def element_of(items: Items) -> Abstract | None:
    """The template of the elements of a vector."""
    return items.element if isinstance(items, Vector) else None


def has_views(held: TreeNode | tuple[Abstract, ...]) -> bool:
    """True for a list, elements or an item with views held by position."""
    if isinstance(held, tuple):
        return any(map(has_views, held))
    return any(isinstance(node, Bounded) and templates.is_view(node) for node in nodes(held))


def may_share(a: Abstract, b: Abstract) -> bool:
    """True if an array in an element of one list may be an object in an element of another."""
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return any(map(may_share, a.items, b.items))
    if isinstance(a, Bounded) and isinstance(b, Bounded) and templates.is_view(a):
        return may_be_one(a.objects, b.objects)
    return has_arrays(a)


def frozen(
    ctx: Context, item: Abstract, held: Abstract | None = None, before: Abstract | None = None
) -> bool:
    """Refuses stores into the arrays of an item from now on; gives whether one of them may be an element already.

    `held`: the elements of the list with the item, `before`: those without it. A view of which the list holds the places
    takes stores as before.
    """
    if isinstance(item, Tuple):
        mine, theirs = [x.items if isinstance(x, Tuple) else () for x in (held, before)]
        marks = [
            frozen(ctx, part, *[side[i] if i < len(side) else None for side in (mine, theirs)])
            for i, part in enumerate(item.items)
        ]
        return max(marks, default=False)
    if isinstance(item, Bounded) and isinstance(held, Bounded) and templates.is_view(held):
        return isinstance(before, Bounded) and may_be_one(item.objects, before.objects)
    if isinstance(item, Ref) and held is not None and templates.is_view(held):
        return item.path in ctx.state.paths_to(item.cell)
    if isinstance(item, Bounded):
        item = item.whole
    return (
        isinstance(item, Ref) and isinstance(ctx.state.slots.get(item.cell), ArrayCell) and ctx.freeze(item)
    )


def _unboxed_view(ctx: Context, item: Bounded, like: Abstract | None) -> Bounded | None:
    """A view as a list holds it by position, if other elements are views of the same memory; else None."""
    view = _as_view(ctx, item)
    if view is None or not isinstance(like, Bounded):
        return view
    return (
        None if templates.joined(templates.template_of(view), templates.row_template(like)) is None else view
    )


def _as_view(ctx: Context, item: Bounded) -> Bounded | None:
    """A view as its position in its memory; None for an array of its own, and where the position is not fully known."""
    if is_own_array(ctx, item):
        return None
    while (wider := widened(ctx, item)) is not None:
        item = wider
    assert isinstance(item.whole, Ref)
    if not is_view_of(ctx.state.slots.get(item.whole.cell), item):
        return None
    return replace(item, extents=tuple([replace(e, capacity=None, bounds=()) for e in item.extents]), which=0)


def _like_views(ctx: Context, item: Ref, like: Bounded) -> Bounded | None:
    """A view of known size as one that a list holds by position; None for no view of that memory."""
    if not templates.is_view(like) or not item.path:
        return None
    shape = ctx.contents(item).type.shape
    if len(shape) != like.rank:
        return None
    zero = ctx.constant(0, INT64)
    places = [Progression(zero, 1, ctx.constant(shape[e.axis], INT64)) for e in like.extents]
    whole = bounded(ctx, item, [extent_of(p, e.axis) for p, e in zip(places, like.extents)])
    return _unboxed_view(ctx, whole, like)


def is_own_array(ctx: Context, item: Bounded) -> bool:
    """True for an array that is not a view, or the first elements of a memory of its own."""
    whole = item.whole
    assert isinstance(whole, Ref)
    return not whole.path and all(map(is_compact, item.extents)) and not ctx.is_of_caller(whole)


def is_view_of(content: object, item: Bounded) -> bool:
    """True for a view that a list can hold by position in a memory with these contents."""
    return isinstance(content, ArrayCell) and not content.aliases and templates.can_be_view(item)


def put_in(
    ctx: Context, item: Abstract, held: Abstract, before: Abstract | None, objects: tuple[Identity, ...]
) -> Sharing:
    """Freezes an item that is put into a list; gives whether it may be an element already, here or elsewhere.

    `objects`: those that the arrays in the list may be of which it has copies.
    """
    if isinstance(item, Tuple):
        level = Sharing.NOT
        mine, theirs = [x.items if isinstance(x, Tuple) else () for x in (held, before)]
        for i, part in enumerate(item.items):
            of = theirs[i] if i < len(theirs) else None
            level = max(level, put_in(ctx, part, mine[i] if i < len(mine) else held, of, objects))
            objects = united(objects, objects_of(ctx, part))
        return level
    whole = item.whole if isinstance(item, Bounded) else item
    cell = ctx.state.slots.get(whole.cell) if isinstance(whole, Ref) else None
    shared = frozen(ctx, item, held, before)
    if not shared:
        return Sharing.NOT
    known = isinstance(cell, ArrayCell) and cell.frozen is not Frozen.NOT and not cell.aliases
    if not known or templates.is_view(held) or ctx.is_of_caller(cast(Ref, whole)):
        return Sharing.TWICE
    return Sharing.TWICE if may_be_one(cast(ArrayCell, cell).objects, objects) else Sharing.ELSEWHERE


def objects_of(ctx: Context, item: Abstract) -> tuple[Identity, ...]:
    """The objects that the arrays in an item may be, of which lists hold copies from now on."""
    found: list[tuple[Identity, ...]] = []
    for node in nodes(item):
        cell = ctx.state.slots.get(node.cell) if isinstance(node, Ref) else None
        if isinstance(cell, ArrayCell) and cell.frozen is not Frozen.NOT:
            found.append((SOME_OBJECT,) if cell.aliases else cell.objects)
    return united(*found)


def held_as(ctx: Context, held: Abstract, like: Abstract | None) -> Abstract:
    """An item as a list of such elements holds it; where those are no views, views become contents, and are frozen."""
    if isinstance(held, Tuple):
        parts = like.items if isinstance(like, Tuple) else [None] * len(held.items)
        return Tuple(tuple([held_as(ctx, x, y) for x, y in zip(held.items, parts)]), held.cls)
    if (
        isinstance(held, Bounded)
        and templates.is_view(held)
        and not (like is not None and templates.is_view(like))
    ):
        frozen(ctx, held)
        return _unboxed_bounded(ctx, held)
    return held


def with_contents(ctx: Context, items: Items) -> Items:
    """The elements with contents in place of positions of views; the views are frozen."""
    if not has_views(items):
        return items
    if isinstance(items, tuple):
        return tuple([held_as(ctx, item, None) for item in items])
    for node in nodes(items.element):
        if isinstance(node, Bounded):
            frozen(ctx, node)
    return replace(items, element=as_contents(ctx, items.element), objects=(SOME_OBJECT,))


def as_contents(ctx: Context, element: Abstract) -> Abstract:
    """Rows of elements with contents in place of positions of views."""
    if isinstance(element, Tuple):
        return Tuple(tuple([as_contents(ctx, part) for part in element.items]), element.cls)
    if not isinstance(element, Bounded) or not isinstance(element.whole, Ref):
        return element
    (count,) = {v.type.shape[0] for v in values_of(element)}
    memory, shape = ctx.contents(element.whole), element.type.shape
    axes = [e.axis for e in element.extents]
    grid = (count, *[e.most or shape[e.axis] for e in element.extents])
    positions: list[Value] = []
    for i, extent in enumerate(element.extents, 1):
        places = extent.progression
        assert places is not None
        at = ctx.op(Iota(ArrayType(INT64, grid), i))
        if isinstance(places.step, int):
            at = times(ctx, at, places.step)
        else:
            at = ctx.op(Multiply(), at, ctx.op(Broadcast(grid, (0,)), places.step))
        positions.append(ctx.op(Add(), at, ctx.op(Broadcast(grid, (0,)), places.start)))
    found = gather(ctx, memory, Fancy(tuple(axes), tuple(positions), grid, 0, False))
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    order = [
        1 + (axes.index(axis) if axis in axes else len(axes) + kept.index(axis)) for axis in range(len(shape))
    ]
    rows = ctx.op(Transpose((0, *order)), found)
    extents = tuple([replace(e, start=None, step=1, most=None) for e in element.extents])
    type = ArrayType(rows.type.dtype, rows.type.shape[1:])
    return Bounded(Array(rows, Form.NDARRAY), type, extents)


def _unboxed_bounded(ctx: Context, item: Bounded) -> Bounded:
    """The elements of a bounded array, and their number."""
    first = compact(ctx, part_around(ctx, item))
    whole = Array(elements(ctx, first), Form.NDARRAY)
    return Bounded(
        whole,
        first.type,
        tuple([replace(e, start=None, capacity=None, most=None, bounds=()) for e in first.extents]),
    )
