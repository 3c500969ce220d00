"""What a list of rows holds of an item: contents of arrays, and which object of a pool it is, in place of references.

In: values, as the program has them. Out: elements of rows. A list of rows holds a copy of each array, so that nobody may
store into it any more, by whatever name it has (`ArrayCell.frozen`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import LISTS, Abstract, Array, ArrayCell, MemberCell, Pooled, Ref, Tuple
from ...values.memory import is_row_major
from ...values.views import path_type
from ..context import Context
from ..numpy.indexing.bounded import compact, elements
from ..python.computed_items import MOST_BRANCHES


def unboxed(ctx: Context, item: Abstract, like: Abstract | None = None) -> Abstract:
    """What a list of rows holds of an item. Where `like`, an element of it, is an object of a pool, so is the item then.

    The list may hold something else afterwards: where its objects and the item were of two pools, these are one.
    """
    if isinstance(item, Tuple):
        others = like.items if isinstance(like, Tuple) else ()
        parts = [
            unboxed(ctx, part, others[i] if i < len(others) else None) for i, part in enumerate(item.items)
        ]
        return Tuple(tuple(parts), item.cls)
    if isinstance(item, Bounded) and isinstance(item.whole, Ref):
        return _unboxed_bounded(ctx, item)
    if not isinstance(item, Ref):
        return item
    content = ctx.state.slots.get(item.cell)
    if is_element(content, item):
        return Array(ctx.contents(item), Form.NDARRAY)
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
    few = len(items) <= MOST_BRANCHES and not all(isinstance(ctx.cell(each), LISTS) for each in objects)
    return (are_members(ctx, objects) or not few) and ctx.pooled(objects)


def is_element(content: object, ref: Ref) -> bool:
    """True for an array that a list of rows may hold a copy of: it lies in memory as one of its own, and is writable."""
    if not isinstance(content, ArrayCell) or content.writable is not True:
        return False
    base = content.value.type
    shape = path_type(base, ref.path).shape
    return len(shape) > 0 and is_row_major(base, ref.path) and not any(v.read_only for v in ref.path)


def frozen(ctx: Context, item: Abstract) -> bool:
    """Refuses stores into the arrays of an item from now on; gives whether one of them may be an element already."""
    if isinstance(item, Tuple):
        return max([frozen(ctx, part) for part in item.items], default=False)
    if isinstance(item, Bounded):
        item = item.whole
    return (
        isinstance(item, Ref) and isinstance(ctx.state.slots.get(item.cell), ArrayCell) and ctx.freeze(item)
    )


def _unboxed_bounded(ctx: Context, item: Bounded) -> Bounded:
    """The elements of a bounded array, and how many there are."""
    first = compact(ctx, item)
    whole = Array(elements(ctx, first), Form.NDARRAY)
    return Bounded(
        whole, first.type, tuple([replace(e, start=None, capacity=None, bounds=()) for e in first.extents])
    )
