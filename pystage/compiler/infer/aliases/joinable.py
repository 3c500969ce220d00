"""Comparison of the two sides of a join: whether one cell can stand for both objects."""

from __future__ import annotations

from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Value
from ...hlo.types import INT32, ArrayType
from ...library.rules.pools import class_of_contents
from ...library.rules.tables import class_of_table, stored_entries
from ...library.rules.templates import template_of_both
from ...values.exceptions import PayloadKey
from ...values.lattice import (
    LISTS,
    TABLES,
    Abstract,
    AnyTable,
    ArrayCell,
    DictCell,
    ErrorCell,
    ListCell,
    MemberCell,
    ObjectCell,
    Ref,
    RowsCell,
    SetCell,
    TableCell,
    Undef,
    Unknown,
)
from ...values.state import Content
from ...values.views import path_type
from ..state.phi import Placeholder


def are_unlike(a: Ref, of_a: Content, b: Ref, of_b: Content) -> bool:
    """True for references to two objects that no cell can stand for."""
    match of_a, of_b:
        case MemberCell(), MemberCell():
            return of_a.pool != of_b.pool
        case (MemberCell(), _) | (_, MemberCell()):
            return False
        case ArrayCell(), ArrayCell():
            return path_type(of_a.value.type, a.path) != path_type(of_b.value.type, b.path)
        case ListCell(), ListCell():
            return a.cell != b.cell and len(of_a.items) != len(of_b.items)
        case ((ListCell() | RowsCell()), (ListCell() | RowsCell())):
            return a.cell != b.cell and template_of_both(of_a.items, of_b.items) is None
        case DictCell(), DictCell():
            unlike = list(of_a.entries) != list(of_b.entries) or of_a.container is not of_b.container
            return a.cell != b.cell and unlike and not _is_joined(of_a, of_b)
        case ((DictCell() | SetCell() | TableCell()), (DictCell() | SetCell() | TableCell())):
            return a.cell != b.cell and not _is_joined(of_a, of_b)
        case ObjectCell(), ObjectCell():
            return of_a.cls is not of_b.cls
    return False


def _is_joined(a: AnyTable, b: AnyTable) -> bool:
    """True for two dicts, or sets, that are known to be equal, or whose entries have a template in common."""
    if isinstance(a, SetCell) and isinstance(b, SetCell) and a.items == b.items:
        return True
    return (
        class_of_table(a) is class_of_table(b)
        and template_of_both(stored_entries(a), stored_entries(b)) is not None
    )


def are_of_one_class(of_a: Content, of_b: Content) -> bool:
    """True if two contents are those of one kind of object: lists, arrays, instances of a class."""
    if isinstance(of_a, MemberCell) or isinstance(of_b, MemberCell):
        return _class_of(of_a) is _class_of(of_b)
    if isinstance(of_a, TABLES) and isinstance(of_b, TABLES):
        return class_of_table(of_a) is class_of_table(of_b)
    return type(of_a) is type(of_b) or (isinstance(of_a, LISTS) and isinstance(of_b, LISTS))


def _class_of(content: Content) -> type | None:
    """The class of what may be an object of a pool; None for anything else."""
    if isinstance(content, MemberCell):
        return content.kind
    return (
        class_of_contents(content)
        if isinstance(content, ListCell | RowsCell | DictCell | ObjectCell)
        else None
    )


def own_field(cell: ObjectCell, name: str) -> Abstract:
    """An attribute of an object on one side, read now if it was not before; what cannot be staged is `Unknown`."""
    found = cell.fields.get(name)
    if found is None and cell.origin is not None:
        try:
            found = cell.origin(name)
        except DiagnosticError as error:
            return Unknown(error.diagnostic)
    return Undef() if found is None else found


def joined_error(a: ErrorCell, b: ErrorCell) -> ErrorCell:
    """The template of two error cells that know of the same versions."""
    same = a.code is b.code or (isinstance(a.code, int) and a.code == b.code)
    payload: dict[PayloadKey, Value] = {}
    for key in sorted(a.payload.keys() | b.payload.keys(), key=str):
        value = a.payload.get(key)
        payload[key] = value if value is not None and value is b.payload.get(key) else Placeholder(key[0])
    return ErrorCell(a.code if same else Placeholder(ArrayType(INT32)), payload, a.versions)
