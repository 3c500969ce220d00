"""Lists, dicts, tuples, sets, strings and ranges: their items, and lookup of their methods.

In: an abstract container and an index or the name of an attribute. Out: the abstract item; or, for a method,
the method bound to its receiver. Keys must be constants; indices of lists and tuples may be computed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from ... import limits
from ...hlo.ir import Value
from ...hlo.types import INT64
from ...ops import Add, Compare, Or, Select
from ...values.gated import GatedNumber
from ...values.lattice import (
    LISTS,
    Abstract,
    AnyList,
    Array,
    Const,
    DictCell,
    DictView,
    Items,
    IteratorCell,
    ListCell,
    Meaning,
    Method,
    Range,
    Ref,
    RowsCell,
    RowsTuple,
    SetCell,
    SliceObject,
    TableCell,
    Tuple,
)
from ...values.vector import Vector, length_of
from ..containers import row_lists, row_tables, vectors
from ..containers.computed_items import (
    checked_place,
    chosen_item,
    computed_character,
    computed_item,
    is_computed_index,
    is_index,
)
from ..containers.unboxing import are_members, element_of, frozen, make_members, unboxed
from ..context import Context, Raw
from ..kernels import row_tuples
from ..kernels.array_rows import boxed, has_arrays, with_shared
from ..kernels.structures import (
    MISSING,
    abstract,
    cell_of,
    elements_for,
    known_object,
    lift,
    list_items,
    list_of,
    new_list,
    new_rows,
    sequence_items,
    type_name,
    with_elements,
)
from ..kernels.table_keys import known_key
from ..numpy.subscripts.flat import flat_attribute, flat_of
from ..registry import declared
from ..rules.classes import class_name
from ..rules.promote import Operand, fits, kinds_of, value_of
from ..rules.tables import is_counter, is_dict
from ..rules.templates import items_of_tuple
from . import dict_methods, list_methods, strings
from .iterators import next_
from .ranges import range_element, range_length

# ---------------------------------------------------------------- attributes


def attribute_of_container(ctx: Context, value: Raw, name: str) -> Abstract | None:
    """`value.name` for a container, a string, a range or a slice; None where it is none of these or has no
    attribute of that name. A method comes bound to its receiver."""
    match value:
        case Tuple():
            return _tuple_attribute(ctx, value, name)
        case RowsTuple():
            return _bound(tuple, value, name)
        case Range(start, stop, step) | SliceObject(start, stop, step):
            parts = {"start": start, "stop": stop, "step": step}
            return parts.get(name) or _known_method(ctx, value, name)
        case Const(value=known) if isinstance(known, str | bytes | range | frozenset | tuple):
            return strings.attribute(ctx, value, name)
        case DictView():
            return _bound(set, value, name) if name == "isdisjoint" else None
        case Ref():
            flat = flat_of(ctx, value)
            if flat is not None and name != "__next__":
                return flat_attribute(ctx, flat, name)
            cell = ctx.cell(value)
            if name == "default_factory" and isinstance(cell, DictCell | TableCell):
                return cell.factory
            if isinstance(cell, IteratorCell):
                return Method(Meaning(name, next_), value) if name == "__next__" else None
            cls = _class_of(cell)
            return None if cls is None else _bound(cls, value, name)
        case _:
            return None


def _class_of(cell: object) -> type | None:
    """The class written in C whose methods an object has."""
    match cell:
        case ListCell() | RowsCell():
            return list
        case DictCell() | TableCell() if is_dict(cell):
            return dict
        case SetCell() | TableCell():
            return set
        case _:
            return None


def _bound(cls: type, receiver: Abstract, name: str) -> Abstract | None:
    method = declared(vars(cls).get(name))
    return None if method is None else Method(Meaning(name, method), receiver)


def _known_method(ctx: Context, value: Abstract, name: str) -> Abstract | None:
    known = known_object(ctx, value)
    if known is MISSING:
        known = ctx.known(value, f"the receiver of {name}") if hasattr(range, name) else MISSING
    return None if known is MISSING else strings.attribute(ctx, Const(known), name)


def _tuple_attribute(ctx: Context, value: Tuple, name: str) -> Abstract | None:
    names = getattr(value.cls, "_fields", ())
    if name in names:
        return value.items[names.index(name)]
    if names and name in list_methods.NAMED_METHODS:
        return Method(Meaning(name, list_methods.NAMED_METHODS[name]), value)
    return _bound(tuple, value, name)


# ---------------------------------------------------------------- items


def container_getitem(ctx: Context, container: Raw, index: Raw) -> Abstract | None:
    """`container[index]`; None where `container` is no container."""
    container = abstract(container)
    cell = cell_of(ctx, container)
    items_of = items_of_tuple(container)
    if items_of is not None:
        found = _of_tuple(ctx, items_of, abstract(index))
        if found is not None:
            return found
    if isinstance(cell, LISTS):
        found = _of_list(ctx, container, cell.items, abstract(index))
        if found is not None:
            return found
    items = sequence_items(ctx, container)
    if items is not None:
        kind = "list" if isinstance(cell, LISTS) else "tuple"
        return _sequence_item(ctx, items, index, kind)
    if is_dict(cell):
        return dict_methods.item(ctx, container, index)
    if isinstance(container, Range):
        return _range_item(ctx, container, index)
    if isinstance(container, Const) and isinstance(container.value, str | bytes):
        character = computed_character(ctx, container.value, index) if is_computed_index(ctx, index) else None
        if character is not None:
            return character
    if isinstance(container, Const) and isinstance(container.value, str | bytes | dict | range):
        key = ctx.known(index, f"the index of a {type_name(ctx, container)}")
        try:
            return lift(ctx, container.value[key])
        except (IndexError, KeyError, TypeError) as error:
            ctx.raise_(error)
    return None


def _of_tuple(ctx: Context, items: Items, index: Abstract) -> Abstract | None:
    """An item or a slice of a tuple of computed length, and a computed slice of any tuple; None for others."""
    if isinstance(index, SliceObject) and (isinstance(items, Vector) or _must_be_of_rows(ctx, index)):
        rows = vectors.holding(ctx, items)
        return None if rows is None else row_tuples.of_items(ctx, vectors.slice_of(ctx, rows, index))
    if not isinstance(items, Vector) or not is_index(index):
        return None
    return vectors.get(ctx, items, vectors.front(ctx, items, index, row_lists.tuple_item_outside))


def _of_list(ctx: Context, container: Abstract, items: Items, index: Abstract) -> Abstract | None:
    """An item or a slice of a list of computed length, and a computed slice of any list; None for others."""
    known = known_object(ctx, index)
    if isinstance(items, Vector) and isinstance(items.length, int) and isinstance(known, slice):
        return list_of(ctx, vectors.known_slice(ctx, items, known) or ())
    if isinstance(index, SliceObject) and (isinstance(items, Vector) or _is_computed_slice(ctx, index)):
        rows = vectors.holding(ctx, items)
        return None if rows is None else new_rows(ctx, vectors.slice_of(ctx, rows, index))
    if isinstance(items, Vector) and is_index(index):
        ring: Vector[Abstract] = ctx.ring(container).items if isinstance(container, Ref) else items
        place = vectors.front(ctx, ring, index, row_lists.item_outside)
        found = vectors.get(ctx, ring, place, ctx.vectors_of(container))
        if isinstance(found, Ref) and isinstance(container, Ref):
            ctx.note_element(found, container, place, index)
        return found
    return None


_OF_DIFFERENT = "the index of a list of different things"


def _is_computed_slice(ctx: Context, index: SliceObject) -> bool:
    return any(is_computed_index(ctx, end) for end in (index.start, index.stop))


def _must_be_of_rows(ctx: Context, index: SliceObject) -> bool:
    """True for a slice whose ends are known in no trip of a loop that may be unrolled."""
    ends = [end for end in (index.start, index.stop) if is_computed_index(ctx, end)]
    return bool(ends) and not any(ctx.can_be_unrolled(end) for end in ends if isinstance(end, Array))


def _sequence_item(ctx: Context, items: tuple[Abstract, ...], index: Raw, kind: str) -> Abstract:
    if is_computed_index(ctx, index):
        found = computed_item(ctx, items, index, kind)
        if found is None:
            found = _member(ctx, items, index, kind)
        if found is None and not ctx.can_be_unrolled(index):
            found = chosen_item(ctx, items, index, kind) or _copied_item(ctx, items, index, kind)
        if found is None and len(items) > limits.ITEM_BRANCHES:
            found = _copied_item(ctx, items, index, kind, ragged=True)
            if found is not None:
                ctx.leave_rolled(index, _OF_DIFFERENT)
        if found is not None:
            return found
    position = _position(ctx, index, kind)
    if isinstance(position, slice):
        part = items[position]
        return new_list(ctx, part) if kind == "list" else Tuple(part)
    try:
        return items[position]
    except IndexError:
        ctx.raise_(IndexError(f"{kind} index out of range"))


def _member(ctx: Context, items: tuple[Abstract, ...], index: Array, kind: str) -> Abstract | None:
    """`items[index]` of objects, which become members of a pool; None for others."""
    if not are_members(ctx, items) and ctx.can_be_unrolled(index):
        return None
    if not make_members(ctx, items):
        return None
    found = computed_item(ctx, tuple([unboxed(ctx, item) for item in items]), index, kind)
    return None if found is None else boxed(ctx, found)


def _copied_item(
    ctx: Context, items: tuple[Abstract, ...], index: Array, kind: str, ragged: bool = False
) -> Abstract | None:
    """`items[index]` of many arrays of one shape, which are frozen from then on; None for others.

    `ragged`: they may be of several things.
    """
    found = computed_item(ctx, tuple([unboxed(ctx, item) for item in items]), index, kind, ragged)
    if found is None:
        return None
    for item in items:
        frozen(ctx, item)
    return boxed(ctx, found)


def _position(ctx: Context, index: Raw, kind: str) -> int | slice:
    """An index or a slice of a sequence, known."""
    if isinstance(index, SliceObject):
        parts = [ctx.known(p, f"a slice of a {kind}") for p in (index.start, index.stop, index.step)]
        made = slice(*parts)
        try:
            made.indices(0)
        except (TypeError, ValueError) as error:
            ctx.raise_(error)
        return made
    known = ctx.known(index, f"the index of a {kind}")
    if isinstance(known, slice):
        return known
    try:
        if not hasattr(type(known), "__index__") or not fits(operator.index(known), INT64):
            operator.getitem([] if kind == "list" else (), known)
        return operator.index(known)
    except (IndexError, TypeError) as error:
        ctx.raise_(error)


def _range_item(ctx: Context, container: Range, index: Raw) -> Abstract:
    """`range(…)[i]`: of a range that is known now, or by arithmetic; IndexError where there is no such element."""
    known, place = known_object(ctx, container), known_object(ctx, index)
    if isinstance(index, SliceObject):
        known = ctx.known(container, "a range that is sliced")
        place = ctx.known(index, "a slice of a range")
    if known is not MISSING and place is not MISSING:
        try:
            return lift(ctx, known[place])
        except (IndexError, TypeError) as error:
            ctx.raise_(error)
    if not is_index(abstract(index)):
        ctx.raise_(TypeError(f"range indices must be integers or slices, not {class_name(ctx, index)}"))
    at = ctx.read(index)
    count = range_length(ctx, container)
    size, number = [ctx.convert(value_of(ctx, ctx.read(x), INT64), INT64) for x in (count, at)]
    zero = ctx.constant(0, INT64)
    front = number
    if ctx.range_of(at)[0] < 0:
        front = ctx.op(Select(), ctx.op(Compare("LT"), number, zero), ctx.op(Add(), number, size), number)
    outside = ctx.op(Or(), ctx.op(Compare("LT"), front, zero), ctx.op(Compare("GE"), front, size))

    def look_up(place: int, size: int) -> None:
        range(size)[place]

    if ctx.intervals.decides(outside) is not False:
        ctx.check(outside, IndexError("range object index out of range"), look_up, [at, count])
    most = ctx.range_of(ctx.read(count))[1]
    return range_element(ctx, container, ctx.python(front, (0, max(most - 1, 0))))


def container_setitem(ctx: Context, container: Raw, index: Raw, value: Raw) -> bool:
    """`container[index] = value`; False where `container` is no list and no dict."""
    if not isinstance(container, Ref):
        return False
    cell = ctx.settle(container)
    match cell:
        case ListCell() | RowsCell() if _store_row(ctx, container, cell, abstract(index), abstract(value)):
            return True
        case ListCell() | RowsCell():
            items = list_items(ctx, cell.items)
            position = _position(ctx, index, "list")
            changed: Any = list(items)
            new: Any = (
                elements_for(ctx, value, "assigning to a slice of a list")
                if isinstance(position, slice)
                else abstract(value)
            )
            _change(
                ctx, lambda: operator.setitem(changed, position, new), "list assignment index out of range"
            )
            ctx.write(container.cell, with_elements(cell, tuple(changed)))
            return True
        case DictCell() | TableCell() if _store_entry(ctx, container, abstract(index), abstract(value)):
            return True
        case DictCell(entries=entries):
            key = dict_methods.entry_key(ctx, index, value)
            ctx.write(container.cell, replace(cell, entries={**entries, key: abstract(value)}))
            return True
        case _:
            return False


def _store_entry(ctx: Context, container: Ref, key: Abstract, value: Abstract) -> bool:
    """`container[key] = value` of a dict with computed keys; False where the key must be known."""
    cell = ctx.settle(container)
    if not is_dict(cell):
        return False
    if row_tables.store(ctx, container, key, value):
        return True
    if isinstance(cell, TableCell):
        row_tables.refuse_key(ctx, key)
    return False


def _store_row(ctx: Context, container: Ref, cell: AnyList, index: Abstract, new: Abstract) -> bool:
    """`container[index] = new` at a computed index, or of a list of rows; False where it is done item by item."""
    if not is_index(index) or not (isinstance(cell, RowsCell) or is_computed_index(ctx, index)):
        return False
    if isinstance(new, Ref) and ctx.is_element(new, container, index):
        return True
    if isinstance(cell, RowsCell):
        held = unboxed(ctx, new, cell.items.element, views=True)
        cell = cast(AnyList, ctx.settle_ring(container))
        rows = vectors.holding(ctx, cell.items, held)
    else:
        are_pooled = make_members(ctx, (*cell.items, new))
        members = tuple([unboxed(ctx, item) for item in cell.items]) if are_pooled else cell.items
        held = unboxed(ctx, new) if are_pooled else new
        rows = vectors.holding(ctx, members, held)
        if rows is None and len(members) > limits.ITEM_BRANCHES:
            held = unboxed(ctx, new)
            rows = vectors.holding(ctx, members, held, ragged=True)
            if rows is not None and isinstance(index, Array):
                ctx.leave_rolled(index, _OF_DIFFERENT)
    few = isinstance(cell, ListCell) and 0 < len(cell.items) <= limits.ITEM_BRANCHES
    apart = few and rows is not None and _stay_of_one_kind(rows.element, list_items(ctx, cell.items), new)
    if rows is not None and not apart:
        place = vectors.front(ctx, rows, index, row_lists.store_outside)
        shared = has_arrays(held) and frozen(ctx, new, rows.element, element_of(cell.items))
        masked = isinstance(cell, RowsCell) and not has_arrays(rows.element)
        mask = ctx.store_mask(container.cell) if masked else None
        stored = with_shared(vectors.put(ctx, rows, place, held, mask), shared)
        ctx.write(container.cell, with_elements(cell, stored), masked)
        return True
    if not few or not isinstance(index, Array) or (not apart and ctx.can_be_unrolled(index)):
        return False
    items = list_items(ctx, cell.items)
    at = checked_place(ctx, index, len(items), "list assignment")
    changed = tuple([_stored(ctx, item, new, at, place) for place, item in enumerate(items)])
    ctx.write(container.cell, with_elements(cell, changed))
    return True


def _stay_of_one_kind(element: Abstract, items: Sequence[Abstract], new: Abstract) -> bool:
    """True for numbers of several kinds some of which stay of their kind, with `new` in their place too."""
    if not isinstance(element, GatedNumber):
        return False
    return any(kinds_of(cast(Operand, item)) == kinds_of(cast(Operand, new)) for item in items)


def _stored(ctx: Context, item: Abstract, new: Abstract, at: Value, place: int) -> Abstract:
    here = ctx.op(Compare("EQ"), at, ctx.constant(place, INT64))
    return ctx.branch(ctx.python(here), lambda: new, lambda: item)


def _delete_row(ctx: Context, container: Ref, cell: AnyList, index: Abstract) -> bool:
    """`del container[index]` at computed indices, or of a list of rows; False where it is done item by item."""
    known = known_object(ctx, index)
    if isinstance(known, slice):
        index = SliceObject(Const(known.start), Const(known.stop), Const(known.step))
    if isinstance(index, SliceObject):
        return _delete_rows(ctx, container, cell, index)
    if not is_index(index) or not (isinstance(cell, RowsCell) or is_computed_index(ctx, index)):
        return False
    cell = cast(AnyList, ctx.settle_ring(container))
    rows = vectors.holding(ctx, cell.items)
    if rows is None:
        return False
    place = vectors.front(ctx, rows, index, row_lists.store_outside)
    ctx.write(container.cell, with_elements(cell, vectors.delete(ctx, rows, place)))
    return True


def _delete_rows(ctx: Context, container: Ref, cell: AnyList, index: SliceObject) -> bool:
    """`del container[start:stop]` with computed ends; False for others."""
    settled = isinstance(length_of(cell.items), int)
    steps = not (isinstance(index.step, Const) and index.step.value in (None, 1))
    if steps or (settled and not _is_computed_slice(ctx, index)):
        return False
    rows = vectors.holding(ctx, cell.items)
    if rows is None:
        return False
    ctx.write(container.cell, with_elements(cell, vectors.delete_slice(ctx, rows, index)))
    return True


def _delete_entry(ctx: Context, container: Ref, cell: DictCell | TableCell, key: Abstract) -> bool:
    """`del container[key]` of a dict with computed keys; False where the key must be known."""
    delete = row_tables.discard if is_counter(cell) else row_tables.remove
    return delete(ctx, container, key)


def container_delitem(ctx: Context, container: Raw, index: Raw) -> bool:
    """`del container[index]`; False where `container` is no list and no dict."""
    if not isinstance(container, Ref):
        return False
    cell = ctx.settle(container)
    match cell:
        case ListCell() | RowsCell() if _delete_row(ctx, container, cell, abstract(index)):
            return True
        case ListCell() | RowsCell():
            position = _position(ctx, index, "list")
            changed = list(list_items(ctx, cell.items))
            _change(ctx, lambda: operator.delitem(changed, position), "list assignment index out of range")
            ctx.write(container.cell, with_elements(cell, tuple(changed)))
            return True
        case DictCell() | TableCell() if is_dict(cell) and _delete_entry(
            ctx, container, cell, abstract(index)
        ):
            return True
        case DictCell(entries=entries):
            key = known_key(ctx, index)
            if key not in entries and not is_counter(cell):
                ctx.raise_(KeyError(key))
            rest = {k: v for k, v in entries.items() if k != key}
            ctx.write(container.cell, replace(cell, entries=rest))
            return True
        case _:
            return False


def _change(ctx: Context, change: Callable[[], Any], text: str) -> None:
    try:
        change()
    except IndexError:
        ctx.raise_(IndexError(text))
    except ValueError as error:
        ctx.raise_(error)
