"""Lists of arrays that paths leave with different lengths become rows, before the paths are joined.

In: the two sides of a join, and slots that differ. Out: of a list with arrays among its elements, which has another
length on either side, each side holds the rows (`RowsCell`) with copies of the arrays, into which no store goes any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from ...hlo.types import INT64, ArrayType
from ...library.kernels.array_rows import has_arrays, with_shared
from ...library.kernels.holding import frozen, is_element, unboxed
from ...library.rules.rows import as_rows, common_rows, common_template, joined, template_of_list
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent
from ...values.lattice import (
    LISTS,
    Abstract,
    AnyList,
    Array,
    ArrayCell,
    ListCell,
    MemberCell,
    Pooled,
    Ref,
    Stamp,
    Tuple,
)
from ...values.slots import Slot
from ...values.state import Lookup
from ...values.views import path_type
from .engine import Engine
from .phi import Placeholder


def differing(a: Lookup, b: Lookup, slots: Iterable[Slot]) -> list[int]:
    """The lists of arrays among `slots` that have another length on either side, and can be rows."""
    found: list[int] = []
    for slot in slots:
        first, second = (a(slot), b(slot)) if isinstance(slot, int) else (None, None)
        if isinstance(first, LISTS) and isinstance(second, LISTS) and _are_to_be_rows(a, first, b, second):
            found.append(cast(int, slot))
    return found


def _are_to_be_rows(a: Lookup, first: AnyList, b: Lookup, second: AnyList) -> bool:
    if isinstance(first, ListCell) and isinstance(second, ListCell) and len(first.items) == len(second.items):
        return False
    if common_rows(first, second) is not None:
        return False
    sides = [
        (x, cell) for x, cell in ((a, first), (b, second)) if not isinstance(cell, ListCell) or cell.items
    ]
    templates = [template_of_list(_outline_of_list(find, cell)) for find, cell in sides]
    template = templates[0] if len(templates) == 1 else joined(templates[0], templates[1])
    return template is not None and has_arrays(template)


def unbox(engine: Engine, lists: Iterable[int]) -> None:
    """The lists as rows; an empty one has no template and stays what it is."""
    state = engine.state
    for slot in lists:
        cell = state.get(slot)
        if not isinstance(cell, ListCell) or not cell.items:
            continue
        held = ListCell(tuple([unboxed(engine, item) for item in cell.items]), cell.aliases, cell.selector)
        template = common_template(held.items)
        if template is None:
            continue
        rows = as_rows(engine.b, held, template, len(held.items))
        shared = False
        for item in cell.items:
            shared |= frozen(engine, item)
        state.set(slot, with_shared(rows, shared))


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
