"""What a list holds whose elements refer to objects of pools, as rows hold it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...values.lattice import Abstract, AnyList, ListCell, MemberCell, Pooled, Ref, RowsCell, Tuple
from ...values.state import Content


def held_list(find: Callable[[Any], Any], cell: AnyList) -> AnyList:
    """The list with which object of a pool it is (`Pooled`) in place of each reference to one; `find` gives contents."""
    if not isinstance(cell, ListCell):
        return cell
    return replace(cell, items=tuple([_held(find, item) for item in cell.items]))


def held_content(find: Callable[[Any], Any], template: Content, content: Content) -> Content:
    """The contents of a slot, of a list as its template has it."""
    if isinstance(template, RowsCell) and isinstance(content, ListCell):
        return held_list(find, content)
    return content


def _held(find: Callable[[Any], Any], item: Abstract) -> Abstract:
    if isinstance(item, Tuple):
        return Tuple(tuple([_held(find, part) for part in item.items]), item.cls)
    content = find(item.cell) if isinstance(item, Ref) and not item.path else None
    return Pooled(content.pool, content.place) if isinstance(content, MemberCell) else item
