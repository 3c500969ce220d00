"""Arrays as elements of lists of rows: what a list holds of an array, and the array that a reader gets.

In: elements of a list, and references to arrays. Out: elements that are contents of arrays (`Form.NDARRAY`), or references
to arrays. A list of rows holds a copy of each array, so that nobody may store into it any more, by whatever name it has
(`ArrayCell.frozen`). Which elements are one object nothing tells (`RowsCell.shared`).
"""

from __future__ import annotations

from dataclasses import replace

from ...values.boundary import Form
from ...values.lattice import Abstract, Array, ArrayCell, Frozen, Ref, RowsCell, Sharing, Tuple
from ..context import Context


def has_arrays(element: Abstract) -> bool:
    """True for an element, or rows of elements, in which there are contents of arrays."""
    if isinstance(element, Tuple):
        return any(map(has_arrays, element.items))
    return isinstance(element, Array) and element.form is Form.NDARRAY


def boxed(ctx: Context, element: Abstract) -> Abstract:
    """An element of a list as a reader gets it: arrays in place of their contents."""
    if isinstance(element, Tuple) and has_arrays(element):
        return Tuple(tuple([boxed(ctx, part) for part in element.items]), element.cls)
    if isinstance(element, Array) and element.form is Form.NDARRAY:
        return Ref(ctx.state.new_cell(ArrayCell(element.value, frozen=Frozen.COPY)))
    return element


def unboxed(ctx: Context, item: Abstract) -> Abstract:
    """What a list of rows holds of an item: the contents of arrays in place of them."""
    if isinstance(item, Tuple):
        return Tuple(tuple([unboxed(ctx, part) for part in item.items]), item.cls)
    if isinstance(item, Ref) and is_element(ctx.state.slots.get(item.cell), item):
        return Array(ctx.contents(item), Form.NDARRAY)
    return item


def is_element(content: object, ref: Ref) -> bool:
    """True for an array that a list of rows may hold a copy of: it owns its memory, which is writable."""
    return (
        not ref.path
        and isinstance(content, ArrayCell)
        and content.writable is True
        and content.value.type.rank > 0
    )


def frozen(ctx: Context, item: Abstract) -> bool:
    """Refuses stores into the arrays of an item from now on; gives whether one of them may be an element already."""
    if isinstance(item, Tuple):
        return max([frozen(ctx, part) for part in item.items], default=False)
    return (
        isinstance(item, Ref) and isinstance(ctx.state.slots.get(item.cell), ArrayCell) and ctx.freeze(item)
    )


def with_shared(rows: RowsCell, shared: bool, level: Sharing = Sharing.TWICE) -> RowsCell:
    """The rows, of which an array may be one object with another as `level` says where `shared`."""
    if not shared or not has_arrays(rows.element):
        return rows
    return replace(rows, shared=max(rows.shared, level))


def copied(rows: RowsCell) -> RowsCell:
    """The rows as those of another list, which has each of these elements once at most."""
    return with_shared(rows, True, Sharing.ELSEWHERE)
