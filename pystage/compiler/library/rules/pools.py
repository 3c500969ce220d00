"""Contents of pools (`PoolCell`): their templates, and the arrays that have one row for each object.

In: contents of objects as rows hold them: numbers, tuples of them, contents of arrays (`Form.NDARRAY`) and references to
objects of pools (`Pooled`), but no other references. A *template* of contents is one object with a placeholder for each
array; the element of the vector of a pool is the same with one axis more in front of each. Objects have a template in
common where they are instances of one class with the same attributes, dicts with the same keys in the same order, or
lists: of one length, item by item, else vectors with a capacity of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ... import ops
from ...hlo.builder import Builder
from ...hlo.ir import Op, Region, Value
from ...hlo.types import INT64, ArrayType
from ...library.rules.templates import template_of_both, template_of_items
from ...values.capacity import AllocationSite
from ...values.identity import SOME_OBJECT
from ...values.lattice import (
    LISTS,
    Abstract,
    Cell,
    Contents,
    DictCell,
    Items,
    ListCell,
    ObjectCell,
    PoolCell,
    RowsCell,
)
from ...values.packing import row, stacked
from ...values.vector import Sharing, Vector, capacity_of
from ...values.walk import rebuild, values_of
from .rows import as_vector, padded, retyped, rows_of
from .templates import joined, row_template, template_of, with_capacity

_NOWHERE = Region()
K = TypeVar("K")


def _placeholder(type: ArrayType) -> Value:
    return Value(type, _NOWHERE, 0)


# ---------------------------------------------------------------- templates


def class_of_contents(contents: Cell) -> type:
    """The class of an object with these contents."""
    if isinstance(contents, ObjectCell):
        return contents.cls
    return dict if isinstance(contents, DictCell) else list


def template_of_contents(contents: Contents) -> Contents | None:
    """The template of the contents of one object; None where a part has none."""
    match contents:
        case ListCell(items):
            parts = _templates(dict(enumerate(items)))
            return None if parts is None else ListCell(tuple(parts.values()))
        case RowsCell(items):
            template = rebuild(items, lambda v: _placeholder(v.type))
            return RowsCell(replace(template, length=_placeholder(ArrayType(INT64)), objects=(SOME_OBJECT,)))
        case DictCell(entries):
            entries_of = _templates(entries)
            return None if entries_of is None else DictCell(entries_of)
        case ObjectCell(cls=cls, fields=fields):
            fields_of = _templates(fields)
            return None if fields_of is None else ObjectCell(cls, fields_of)


def _templates(parts: Mapping[K, Abstract]) -> dict[K, Abstract] | None:
    found = {key: template_of(part) for key, part in parts.items()}
    return None if None in found.values() else {k: v for k, v in found.items() if v is not None}


def template_of_pool(pool: PoolCell) -> Contents | None:
    """The template of the objects of a pool; None before there is any."""
    return None if pool.objects is None else row_template(pool.objects.element)


def joined_contents(a: Contents | None, b: Contents | None, loop: bool = False) -> Contents | None:
    """The common template of the contents of objects; None where there is none."""
    match a, b:
        case (ListCell(), ListCell()) if (
            len(a.items) == len(b.items)
            and (parts := _joined_parts(dict(enumerate(a.items)), dict(enumerate(b.items)), loop)) is not None
        ):
            return ListCell(tuple(parts.values()))
        case ((ListCell() | RowsCell()), (ListCell() | RowsCell())):
            items = _joined_items(a.items, b.items, loop)
            return None if items is None else RowsCell(items)
        case DictCell(), DictCell() if list(a.entries) == list(b.entries):
            entries = _joined_parts(a.entries, b.entries, loop)
            return None if entries is None else DictCell(entries)
        case ObjectCell(), ObjectCell() if a.cls is b.cls and a.fields.keys() == b.fields.keys():
            fields = _joined_parts(a.fields, b.fields, loop)
            return None if fields is None else ObjectCell(a.cls, fields)
    return None


def _joined_parts(a: Mapping[K, Abstract], b: Mapping[K, Abstract], loop: bool) -> dict[K, Abstract] | None:
    found = {key: joined(part, b[key], loop, ragged=True) for key, part in a.items()}
    return None if None in found.values() else {k: v for k, v in found.items() if v is not None}


def _joined_items(a: Items, b: Items, loop: bool) -> Vector[Abstract] | None:
    """The template of the elements of lists of any length."""
    element = template_of_both(a, b, loop)
    if element is None:
        return None
    vectors = [x for x in (a, b) if isinstance(x, Vector)]
    sites = [x.site for x in vectors if x.site is not None]
    shared = max([x.shared for x in vectors], default=Sharing.NOT)
    return vector_template(element, max(capacity_of(a), capacity_of(b)), sites[0] if sites else None, shared)


def vector_template(
    element: Abstract, capacity: int, site: AllocationSite | None, shared: Sharing = Sharing.NOT
) -> Vector[Abstract]:
    """The template of vectors of such elements, of any length up to the capacity."""
    return Vector(
        with_capacity(element, capacity), capacity, _placeholder(ArrayType(INT64)), site, shared=shared
    )


def parts_of(contents: Cell) -> list[Abstract]:
    """The parts of the contents of an object."""
    match contents:
        case ListCell(items):
            return list(items)
        case DictCell(entries):
            return list(entries.values())
        case ObjectCell(fields=fields):
            return list(fields.values())
        case RowsCell(items=Vector(element)):
            return [element]
    return []


def size_of(template: Cell) -> int:
    """The number of bytes that one object takes."""
    return sum([v.type.nbytes for v in values_of(template)]) or 1


# ---------------------------------------------------------------- rows


def as_objects(b: Builder, given: Sequence[Contents], template: Contents, capacity: int) -> Contents:
    """Contents of objects, followed by zeros, as `capacity` rows of the template, which covers them."""

    def column(parts: Sequence[Abstract], of: Abstract) -> Abstract:
        return rows_of(b, parts, of, capacity)

    match template:
        case ListCell(items):
            lists = [x.items for x in given if isinstance(x, ListCell)]
            return ListCell(tuple([column([x[i] for x in lists], t) for i, t in enumerate(items)]))
        case DictCell(entries):
            dicts = [x.entries for x in given if isinstance(x, DictCell)]
            return DictCell({key: column([x[key] for x in dicts], t) for key, t in entries.items()})
        case ObjectCell(cls=cls, fields=fields):
            objects = [x.fields for x in given if isinstance(x, ObjectCell)]
            return ObjectCell(cls, {n: column([x[n] for x in objects], t) for n, t in fields.items()})
        case RowsCell(items):
            of = row_template(items.element)
            vectors = [as_vector(b, x.items, of, items.capacity) for x in given if isinstance(x, LISTS)]
            lengths = [_length(b, x) for x in vectors]
            columns = iter(zip(*[values_of(x.element) for x in vectors], strict=True))
            packed = rebuild(items.element, lambda v: _packed(b, next(columns), capacity))
            return RowsCell(replace(items, element=packed, length=_packed(b, lengths, capacity)))


def _length(b: Builder, x: Vector[Abstract]) -> Value:
    return b.op(ops.Constant(np.asarray(x.length, INT64))) if isinstance(x.length, int) else x.length


def _packed(b: Builder, values: Sequence[Value], capacity: int) -> Value:
    """Values of one type along a new axis, followed by zeros."""
    owners = [v.owner for v in values]
    if all(isinstance(o, Op) and isinstance(o.kind, ops.Constant) for o in owners):
        known = np.stack([np.asarray(o.kind.data) for o in owners])  # type: ignore[union-attr]
        return padded(b, b.op(ops.Constant(known)), capacity)
    return padded(b, stacked(b, values), capacity)


def converted(b: Builder, objects: Vector[Contents], template: Contents, capacity: int) -> Contents:
    """The rows of a pool as `capacity` rows of a template that covers them."""
    contents, count = objects.element, objects.capacity

    def widened(element: Abstract, of: Abstract) -> Abstract:
        return rebuild(retyped(b, element, of, (count,)), lambda v: padded(b, v, capacity))

    match contents, template:
        case ListCell(items), ListCell(of):
            return ListCell(tuple(map(widened, items, of)))
        case DictCell(entries), DictCell(of_entries):
            return DictCell({key: widened(entries[key], t) for key, t in of_entries.items()})
        case ObjectCell(fields=fields), ObjectCell(cls=cls, fields=of_fields):
            return ObjectCell(cls, {name: widened(fields[name], t) for name, t in of_fields.items()})
        case ListCell(items), RowsCell(of_vector):
            return RowsCell(_of_one_length(b, items, of_vector, count, capacity))
        case RowsCell(vector), RowsCell(of_vector):
            assert isinstance(vector.length, Value)
            typed = retyped(b, vector.element, row_template(of_vector.element), (count, vector.capacity))
            grown = rebuild(typed, lambda v: padded(b, padded(b, v, of_vector.capacity, 1), capacity))
            return RowsCell(replace(of_vector, element=grown, length=padded(b, vector.length, capacity)))
    raise AssertionError("a template that does not cover the objects of a pool")


def _of_one_length(
    b: Builder, items: Sequence[Abstract], template: Vector[Abstract], count: int, capacity: int
) -> Vector[Abstract]:
    """Lists of one length as lists of any length."""
    of = row_template(template.element)
    parts = [values_of(retyped(b, item, of, (count,))) for item in items]
    columns = iter(zip(*parts, strict=True)) if parts else None

    def beside(v: Value) -> Value:
        dtype, shape = v.type.dtype, v.type.shape[1:]
        if columns is None:
            zero = b.op(ops.Constant(np.zeros((), dtype)))
            return b.op(ops.Broadcast((capacity, template.capacity, *shape), ()), zero)
        one = [b.op(ops.Reshape((count, 1, *shape)), value) for value in next(columns)]
        together = b.op(ops.Concatenate(1), *one) if len(one) > 1 else one[0]
        return padded(b, padded(b, together, template.capacity, 1), capacity)

    length = b.op(ops.Broadcast((capacity,), ()), b.op(ops.Constant(np.asarray(len(items), INT64))))
    return replace(template, element=rebuild(template.element, beside), length=length)


def object_at(b: Builder, contents: Cell, place: int | Value) -> Any:
    """The contents of the object at a row of a pool."""

    def of(rows: Value) -> Value:
        if isinstance(place, int):
            return row(b, rows, place)
        shape = rows.type.shape[1:]
        return b.op(ops.Reshape(shape), b.op(ops.DynamicSlice((1, *shape)), rows, *_starts(b, rows, place)))

    return rebuild(contents, of)


def with_objects(
    b: Builder,
    contents: Contents,
    place: int | Value,
    new: Contents,
    old: Contents | None = None,
    mask: Value | None = None,
) -> Contents:
    """The rows of a pool with those of `new` from a row on; where `mask` holds, what differs from `old`."""
    columns = iter(values_of(new))
    before = iter(values_of(old)) if old is not None else None

    def stored(rows: Value) -> Value:
        value = next(columns)
        kept = next(before) if before is not None else None
        if value is kept:
            return rows
        if mask is not None and kept is not None:
            each = b.op(ops.Broadcast(value.type.shape, ()), mask)
            value = b.op(ops.Select(), each, value, kept)
        if value.type == rows.type:
            return value
        return b.op(ops.DynamicUpdateSlice(), rows, value, *_starts(b, rows, place))

    return rebuild(contents, stored)


def first_objects(b: Builder, contents: Contents, count: int) -> Contents:
    """The first rows of a pool."""

    def first(rows: Value) -> Value:
        _, *shape = rows.type.shape
        return b.op(ops.Slice((0,) * rows.type.rank, (count, *shape), (1,) * rows.type.rank), rows)

    found: Contents = rebuild(contents, first)
    return found


def _starts(b: Builder, rows: Value, place: int | Value) -> list[Value]:
    zero = b.op(ops.Constant(np.zeros((), INT64)))
    first = b.op(ops.Constant(np.asarray(place, INT64))) if isinstance(place, int) else place
    if first.type.dtype != INT64:
        first = b.op(ops.Convert(INT64), first)
    return [first, *[zero] * (rows.type.rank - 1)]


Unbox = Callable[[Sequence[Abstract], Abstract | None], list[Abstract]]
"""The rows for values at one position of many objects, and those of the objects in the pool."""


def unboxed_contents(given: Sequence[Contents], like: Contents | None, unbox: Unbox) -> list[Contents]:
    """Contents of objects of one kind, with `unbox` applied to their parts."""
    first = given[0]
    match first:
        case ObjectCell():
            objects = [x.fields for x in given if isinstance(x, ObjectCell)]
            columns = _unboxed_columns(objects, like.fields if isinstance(like, ObjectCell) else {}, unbox)
            return [ObjectCell(first.cls, fields) for fields in columns]
        case DictCell():
            dicts = [x.entries for x in given if isinstance(x, DictCell)]
            columns = _unboxed_columns(dicts, like.entries if isinstance(like, DictCell) else {}, unbox)
            return [DictCell(entries) for entries in columns]
    known = [x for x in given if isinstance(x, ListCell)]
    lengths = {len(x.items) for x in (*known, like) if isinstance(x, ListCell)}
    if len(lengths) == 1 and not isinstance(like, RowsCell):
        by_place = [dict(enumerate(x.items)) for x in known]
        by_item = _unboxed_columns(
            by_place, dict(enumerate(like.items)) if isinstance(like, ListCell) else {}, unbox
        )
        made = iter([ListCell(tuple(items.values())) for items in by_item])
    else:
        element = None
        if isinstance(like, LISTS):
            element = template_of_items(like.items)
        flat = iter(unbox([item for x in known for item in x.items], element))
        made = iter([ListCell(tuple([next(flat) for _ in x.items])) for x in known])
    return [next(made) if isinstance(x, ListCell) else x for x in given]


def _unboxed_columns(
    given: Sequence[Mapping[K, Abstract]], like: Mapping[K, Abstract], unbox: Unbox
) -> list[dict[K, Abstract]]:
    columns = {
        key: unbox([parts[key] for parts in given], like.get(key)) for key in (given[0] if given else ())
    }
    return [{key: column[i] for key, column in columns.items()} for i in range(len(given))]
