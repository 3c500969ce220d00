"""Lists of arrays that paths leave with different lengths become rows, before the paths are joined.

In: the two sides of a join, and slots that differ. Out: of a list with arrays among its elements, which has another
length on either side, each side holds the rows (`RowsCell`) with copies of the arrays, into which no store goes any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import cast

from ...hlo.ir import Region
from ...library.kernels.array_rows import has_arrays, is_element, with_shared
from ...library.rules.rows import as_rows, common_rows, common_template, joined, template_of_list
from ...values.boundary import Form
from ...values.lattice import (
    LISTS,
    Abstract,
    AnyList,
    Array,
    ArrayCell,
    Frozen,
    ListCell,
    MemberCell,
    Pooled,
    Ref,
    Stamp,
    Tuple,
)
from ...values.slots import Slot
from ...values.state import Content, Lookup
from ...values.walk import rebuild
from ..aliases.merged import may_alias_cells
from .engine import Engine
from .phi import Deferred, DeferredRead

WRITTEN_OUT = 64
"""A loop of fewer trips that adds arrays to a list is written out: its elements may be of any kind, and of another each."""


@dataclass(frozen=True, slots=True)
class Side:
    """A side of a join: what its slots hold, how that is replaced, and the region where its values are computed."""

    find: Lookup
    put: Callable[[Slot, Content], None]
    region: Region | None


def differing(a: Side, b: Side, slots: Iterable[Slot]) -> list[int]:
    """The lists of arrays among `slots` that have another length on either side, and can be rows."""
    found: list[int] = []
    for slot in slots:
        first, second = (a.find(slot), b.find(slot)) if isinstance(slot, int) else (None, None)
        lists = isinstance(first, LISTS) and isinstance(second, LISTS)
        if (
            lists
            and isinstance(slot, int)
            and _are_to_be_rows(a, cast(AnyList, first), b, cast(AnyList, second))
        ):
            found.append(slot)
    return found


def _are_to_be_rows(a: Side, first: AnyList, b: Side, second: AnyList) -> bool:
    if isinstance(first, ListCell) and isinstance(second, ListCell) and len(first.items) == len(second.items):
        return False
    if common_rows(first, second) is not None:
        return False
    sides = [
        (side, cell)
        for side, cell in ((a, first), (b, second))
        if not isinstance(cell, ListCell) or cell.items
    ]
    templates = [template_of_list(_held(side, cell)) for side, cell in sides]
    template = templates[0] if len(templates) == 1 else joined(templates[0], templates[1])
    return template is not None and has_arrays(template)


def unbox(engine: Engine, side: Side, lists: Iterable[int]) -> None:
    """The lists as rows on this side; an empty one has no template and stays what it is."""
    for slot in lists:
        cell = side.find(slot)
        if not isinstance(cell, ListCell) or not cell.items:
            continue
        with nullcontext() if side.region is None else engine.b.region(side.region):
            items = [
                rebuild(_item(side, item), lambda v: v.compute(engine.b) if isinstance(v, Deferred) else v)
                for item in cell.items
            ]
            held = ListCell(tuple(items), cell.aliases, cell.selector)
            template = common_template(held.items)
            assert template is not None
            rows = as_rows(engine.b, held, template, len(held.items))
        shared = False
        for item in cell.items:
            shared |= _froze(engine, side, item)
        side.put(slot, with_shared(rows, shared))


def _held(side: Side, cell: AnyList) -> AnyList:
    """The list with the contents of arrays in place of them."""
    return (
        replace(cell, items=tuple([_item(side, item) for item in cell.items]))
        if isinstance(cell, ListCell)
        else cell
    )


def _item(side: Side, item: Abstract) -> Abstract:
    if isinstance(item, Tuple):
        return Tuple(tuple([_item(side, part) for part in item.items]), item.cls)
    content = side.find(item.cell) if isinstance(item, Ref) else None
    if isinstance(content, MemberCell):
        return Pooled(content.pool, content.place)
    if not isinstance(item, Ref) or not isinstance(content, ArrayCell) or not is_element(content, item):
        return item
    stale = any(alias.stamp is Stamp.OUT_OF_DATE for alias in content.aliases)
    value = DeferredRead(content.value, item.path) if item.path else content.value
    return item if stale else Array(value, Form.NDARRAY)


def _froze(engine: Engine, side: Side, item: Abstract) -> bool:
    """No store goes to the arrays of an item any more; gives whether one of them may be an element already."""
    if isinstance(item, Tuple):
        return max([_froze(engine, side, part) for part in item.items], default=False)
    if not isinstance(item, Ref):
        return False
    shared = False
    for cell in may_alias_cells(side.find, item.cell):
        content = side.find(cell)
        if isinstance(content, ArrayCell):
            shared |= content.frozen is not Frozen.NOT or cell in engine.externals.initial
            side.put(cell, replace(content, frozen=max(content.frozen, Frozen.ORIGINAL)))
    return shared
