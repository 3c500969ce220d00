"""Arrays and objects as elements of lists of rows: what a list holds of them, and what a reader gets.

In: elements of a list, and references. Out: elements that are contents of arrays (`Form.NDARRAY`) or which object of a pool
it is (`Pooled`), or references. A list of rows holds a copy of each array, so that nobody may store into it any more, by
whatever name it has (`ArrayCell.frozen`). Which elements are one object nothing tells (`RowsCell.shared`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...values.boundary import Form
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Frozen,
    MemberCell,
    PoolCell,
    Pooled,
    Ref,
    RowsCell,
    Tuple,
)
from ...values.memory import is_row_major
from ...values.views import path_type
from ..context import Context
from ..rules.pools import class_of_contents


def has_arrays(element: Abstract) -> bool:
    """True for an element, or rows of elements, in which there are contents of arrays."""
    if isinstance(element, Tuple):
        return any(map(has_arrays, element.items))
    return isinstance(element, Array) and element.form is Form.NDARRAY


def boxed(ctx: Context, element: Abstract) -> Abstract:
    """An element of a list as a reader gets it: references in place of what rows hold of arrays and objects."""
    if isinstance(element, Tuple):
        parts = [boxed(ctx, part) for part in element.items]
        same = all(new is old for new, old in zip(parts, element.items))
        return element if same else Tuple(tuple(parts), element.cls)
    if isinstance(element, Array) and element.form is Form.NDARRAY:
        return Ref(ctx.state.new_cell(ArrayCell(element.value, frozen=Frozen.COPY)))
    if isinstance(element, Pooled):
        pool = ctx.state.get(element.pool)
        assert isinstance(pool, PoolCell) and pool.contents is not None
        return Ref(
            ctx.state.new_cell(MemberCell(class_of_contents(pool.contents), element.pool, element.place))
        )
    return element


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
    return (
        isinstance(item, Ref) and isinstance(ctx.state.slots.get(item.cell), ArrayCell) and ctx.freeze(item)
    )


def with_shared(rows: RowsCell, shared: bool) -> RowsCell:
    """The rows, whose arrays may be elements of another list too where `shared`."""
    return replace(rows, shared=True) if shared and has_arrays(rows.element) else rows
