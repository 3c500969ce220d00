"""Dicts and sets as tables: rows of their entries, and the index of their keys."""

from __future__ import annotations

from collections import Counter
from typing import TypeGuard

from ...hlo.builder import Builder
from ...hlo.ir import Value
from ...values.lattice import (
    NONE,
    Abstract,
    AnyList,
    AnyTable,
    DictCell,
    ListCell,
    RowsCell,
    SetCell,
    TableCell,
    Tuple,
)
from .row_index import are_hashed_alike, has_numbers, index_of, index_type
from .rows import rows_of_list
from .templates import key_of


def class_of_table(cell: AnyTable) -> type:
    """The class of a dict or a set."""
    return set if isinstance(cell, SetCell) else cell.container


def is_dict(cell: object) -> TypeGuard[DictCell | TableCell]:
    """True for the contents of a dict."""
    return isinstance(cell, DictCell) or (isinstance(cell, TableCell) and issubclass(cell.container, dict))


def is_counter(cell: object) -> bool:
    """True for the contents of a `Counter`."""
    return isinstance(cell, DictCell | TableCell) and cell.container is Counter


def factory_of(cell: AnyTable) -> Abstract | None:
    """The `default_factory` of a `defaultdict`."""
    return None if isinstance(cell, SetCell) else cell.factory


def entries_of(cell: AnyTable) -> AnyList:
    """The entries of a dict or a set, each a pair of a key and a value; None is the value of an element of a set."""
    match cell:
        case TableCell():
            return cell.entries
        case DictCell(entries=known):
            return ListCell(tuple([Tuple((key_of(key), value)) for key, value in known.items()]))
        case SetCell(items=members):
            return ListCell(tuple([Tuple((key_of(member), NONE)) for member in members]))


def as_table(b: Builder, cell: AnyTable, template: Abstract, capacity: int, is_indexed: bool) -> TableCell:
    """The dict or set as `capacity` rows of the template, which covers its entries; with an index if `is_indexed`."""
    removed = cell.removed if isinstance(cell, TableCell) else 0
    rows = rows_of_list(b, entries_of(cell), template, capacity)
    index = index_for(b, cell, rows) if is_indexed else None
    return TableCell(
        class_of_table(cell), rows, removed, index, cell.aliases, cell.selector, factory_of(cell)
    )


def index_for(b: Builder, cell: AnyTable, rows: RowsCell) -> Value | None:
    """The index of a dict or set whose entries are now these rows; None for keys that have none."""
    keys = keys_in(rows)
    if not has_numbers(keys):
        return None
    index = cell.index if isinstance(cell, TableCell) else None
    if index is not None and index.type == index_type(rows.capacity):
        assert isinstance(cell, TableCell)
        if are_hashed_alike(keys_in(cell.entries), keys):
            return index
    return index_of(b, keys_in(rows), rows.capacity, rows.length)


def keys_in(rows: RowsCell) -> Abstract:
    """The keys of entries."""
    assert isinstance(rows.element, Tuple)
    return rows.element.items[0]
