"""Stores into arrays that are elements of lists and dicts of rows, which hold copies of them (`kernels/array_rows.py`).

In: an array that was read from a list or a dict of rows, and a store into it. Out: the rows with the stored value.
Whatever else may be that array is out of date then, and is refused where it is read.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from ...diagnostics.codes_mutation import CannotStore
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Value
from ...hlo.types import INT64, ArrayType
from ...library.rules.rows import with_row
from ...values.boundary import Form
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Const,
    Frozen,
    PoolCell,
    Ref,
    RowsCell,
    TableCell,
    Tuple,
    Unknown,
)
from ...values.slots import Slot
from ...values.vector import Sharing, Vector
from ...values.walk import nodes
from ..core.engine import Engine
from ..state.elements import Element
from ..state.merged import may_alias_cells


def note(engine: Engine, array: Ref, holder: Ref, place: int | Value, key: Abstract) -> None:
    """Records that an array is the element at a place."""
    content, own = engine.state.slots.get(holder.cell), engine.state.slots.get(array.cell)
    if isinstance(content, RowsCell | TableCell) and isinstance(own, ArrayCell) and not content.aliases:
        engine.elements.places[array.cell] = Element(holder, place, key, content, own)


def is_at(engine: Engine, array: Ref, holder: Ref, key: Abstract) -> bool:
    """True for an array that certainly is the element under this key."""
    found = None if array.path else _find(engine, array.cell)
    return found is not None and found.holder.cell == holder.cell and _is_same_key(found.key, key)


def takes_stores(engine: Engine, cell: int) -> bool:
    """True for an array that is an element, and no other element is the same object."""
    found = _find(engine, cell)
    return found is not None and not found.array.aliases and _vector(found.content).shared is Sharing.NOT


def store(engine: Engine, cell: int) -> None:
    """Stores into the rows what has been stored into the element."""
    found = engine.elements.places[cell]
    array, holder = engine.state.slots[cell], found.content
    assert isinstance(array, ArrayCell)
    place = engine.constant(found.place, INT64) if isinstance(found.place, int) else found.place
    stored, vector = Array(array.value, Form.NDARRAY), _vector(holder)
    if isinstance(holder, TableCell):
        assert isinstance(vector.element, Tuple)
        keys, values = vector.element.items
        entries = replace(vector, element=Tuple((keys, with_row(engine.b, values, place, stored))))
        engine.write(found.holder.cell, replace(holder, entries=entries))
    else:
        items = replace(vector, element=with_row(engine.b, vector.element, place, stored))
        engine.write(found.holder.cell, replace(holder, items=items))
    note_store(engine, array.value.type, (cell, found.holder.cell))
    note(engine, Ref(cell), found.holder, found.place, found.key)


def note_store(engine: Engine, type: ArrayType, kept: Container[Slot]) -> None:
    """Marks as out of date whatever may be a stored element of this type, except in the slots `kept`.

    PS503 where an object of a pool may hold it.
    """
    engine.elements.stored.append(type)
    reason = CannotStore(span=engine.b.span, what="an array that may be an element and has another name")
    for slot, content in list(engine.state.slots.items()):
        if isinstance(content, PoolCell) and _may_hold(content, type):
            raise DiagnosticError(reason)
        kept_here = slot in kept or slot in engine.externals.initial
        if not kept_here and _may_be_element(engine, slot, content, type):
            engine.state.set(slot, Unknown(reason))


def _find(engine: Engine, cell: int) -> Element | None:
    """The element that an array certainly still is, or None."""
    found, slots = engine.elements.places.get(cell), engine.state.slots
    if found is None or slots.get(cell) is not found.array:
        return None
    return found if slots.get(found.holder.cell) is found.content else None


def _vector(content: RowsCell | TableCell) -> Vector[Abstract]:
    return content.entries if isinstance(content, TableCell) else content.items


def _is_same_key(a: Abstract, b: Abstract) -> bool:
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return all(map(_is_same_key, a.items, b.items))
    if isinstance(a, Const) and isinstance(b, Const):
        return type(a.value) is type(b.value) and bool(a.value == b.value)
    return a is b or (isinstance(a, Array) and isinstance(b, Array) and a.value is b.value)


def _may_hold(pool: PoolCell, type: ArrayType) -> bool:
    """True for a pool whose objects may hold an array of this type that is an element of a list or a dict too."""
    objects = pool.objects
    shared = any(isinstance(n, Vector) and n.shared is not Sharing.NOT for n in nodes(pool))
    if objects is None or not shared:
        return False
    held = [n for n in nodes(objects) if isinstance(n, Array) and n.form is Form.NDARRAY]
    return any(n.dtype == type.dtype and n.rank > type.rank for n in held)


def _may_be_element(engine: Engine, slot: Slot, content: object, type: ArrayType) -> bool:
    """True for what may be, or hold, an element of this type that another list or dict holds too."""
    if isinstance(content, RowsCell | TableCell):
        vector = _vector(content)
        held = [n for n in nodes(vector.element) if isinstance(n, Array) and n.form is Form.NDARRAY]
        return vector.shared is not Sharing.NOT and any(
            n.shape[1:] == type.shape and n.dtype == type.dtype for n in held
        )
    if not isinstance(content, ArrayCell) or not isinstance(slot, int):
        return False
    if not content.aliases:
        return content.frozen is not Frozen.NOT and content.value.type == type
    find = engine.state.slots.get
    cells = [find(each) for each in may_alias_cells(find, slot)]
    return any(isinstance(cell, ArrayCell) and cell.frozen is not Frozen.NOT for cell in cells)
