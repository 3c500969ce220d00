"""Lists and dicts of arrays that paths leave with different lengths, or keys, become rows, before the paths are joined.

In: the two sides of a join, and slots that differ. Out: of a list, or the entries of a dict, with arrays in it, which has
another length on either side, each side holds the rows (`RowsCell`) with copies of the arrays, into which no store goes
any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from ...hlo.types import INT64, ArrayType
from ...library.kernels.array_rows import has_arrays, with_shared
from ...library.kernels.unboxing import frozen, is_element, unboxed
from ...library.rules.rows import (
    as_rows,
    class_of_table,
    common_rows,
    common_template,
    entries_of,
    joined,
    template_of_list,
)
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent
from ...values.gated import Gated
from ...values.lattice import (
    LISTS,
    Abstract,
    AnyList,
    Array,
    ArrayCell,
    DictCell,
    ListCell,
    MemberCell,
    Pooled,
    Ref,
    Stamp,
    TableCell,
    Tuple,
)
from ...values.slots import Slot
from ...values.state import Lookup
from ...values.views import path_type
from ...values.walk import nodes
from .engine import Engine
from .phi import Placeholder


def differing(a: Lookup, b: Lookup, slots: Iterable[Slot]) -> list[int]:
    """The lists and dicts of arrays among `slots` that differ in length, or keys, on either side, and can be rows."""
    found: list[int] = []
    for slot in slots:
        contents = [x(slot) if isinstance(slot, int) else None for x in (a, b)]
        first, second = map(_rows_of, contents)
        if first is None or second is None or _are_joined_one_by_one(*contents):
            continue
        if _are_to_be_rows(a, first, b, second):
            found.append(cast(int, slot))
    return found


def _rows_of(content: object) -> AnyList | None:
    """A list, or the entries of a dict as a list."""
    if isinstance(content, DictCell | TableCell):
        return entries_of(content)
    return content if isinstance(content, LISTS) else None


def _are_joined_one_by_one(a: object, b: object) -> bool:
    """True for lists of one length and for dicts with the same keys in the same order."""
    if isinstance(a, DictCell) and isinstance(b, DictCell):
        return list(a.entries) == list(b.entries)
    return isinstance(a, ListCell) and isinstance(b, ListCell) and len(a.items) == len(b.items)


def _are_to_be_rows(a: Lookup, first: AnyList, b: Lookup, second: AnyList) -> bool:
    if common_rows(first, second, ragged=True) is not None:
        return False
    sides = [
        (x, cell) for x, cell in ((a, first), (b, second)) if not isinstance(cell, ListCell) or cell.items
    ]
    templates = [template_of_list(_outline_of_list(find, cell), ragged=True) for find, cell in sides]
    template = templates[0] if len(templates) == 1 else joined(templates[0], templates[1], ragged=True)
    return template is not None and has_arrays(template)


def unbox(engine: Engine, slots: Iterable[int]) -> None:
    """The lists and dicts as rows; an empty one has no template and stays what it is."""
    state = engine.state
    for slot in slots:
        cell = state.get(slot)
        rows = _rows_of(cell)
        if not isinstance(rows, ListCell) or not rows.items:
            continue
        held = ListCell(tuple([unboxed(engine, item) for item in rows.items]), rows.aliases, rows.selector)
        template = common_template(held.items, ragged=True)
        if template is None:
            continue
        state.gated |= any(isinstance(node, Gated) for node in nodes(template))
        made = as_rows(engine.b, held, template, len(held.items))
        shared = False
        for item in rows.items:
            shared |= frozen(engine, item)
        made = with_shared(made, shared)
        if isinstance(cell, DictCell):
            state.set(
                slot,
                TableCell(class_of_table(cell), made, 0, None, cell.aliases, cell.selector, cell.factory),
            )
        else:
            state.set(slot, made)


def _outline_of_list(find: Lookup, cell: AnyList) -> AnyList:
    """The list as rows would hold it, as far as its template goes."""
    if not isinstance(cell, ListCell):
        return cell
    return replace(cell, items=tuple([_outline(find, item) for item in cell.items]))


def _outline(find: Lookup, item: Abstract) -> Abstract:
    if isinstance(item, Tuple):
        return Tuple(tuple([_outline(find, part) for part in item.items]), item.cls)
    if isinstance(item, Bounded) and isinstance(item.whole, Ref):
        size = Placeholder(ArrayType(INT64))
        extents = tuple([Extent(each.axis, size=size) for each in item.extents])
        return Bounded(Array(Placeholder(item.type), Form.NDARRAY), item.type, extents)
    content = find(item.cell) if isinstance(item, Ref) else None
    if isinstance(content, MemberCell):
        return Pooled(content.pool, content.place)
    if not isinstance(item, Ref) or not isinstance(content, ArrayCell) or not is_element(content, item):
        return item
    stale = any(alias.stamp is Stamp.OUT_OF_DATE for alias in content.aliases)
    return item if stale else Array(Placeholder(path_type(content.value.type, item.path)), Form.NDARRAY)
