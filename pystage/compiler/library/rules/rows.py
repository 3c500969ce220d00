"""Vectors (`values/vector.py`): construction, conversion and access to the arrays of all elements.

The *element* of a vector is its template (`templates.py`) with an array in place of each placeholder, which has one row
for each element.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ... import limits, ops
from ...hlo.builder import Builder
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT64, ArrayType, DType
from ...values.bounded import Bounded
from ...values.gated import Gated, GatedNumber, alternatives, tag_of
from ...values.identity import SOME_OBJECT, Identity, may_be_one
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Const,
    Frozen,
    Items,
    Pooled,
    RowsTuple,
    Tuple,
)
from ...values.packing import stacked
from ...values.vector import Sharing, Vector, length_of
from ...values.walk import nodes, rebuild, values_of
from .numbers import is_of_kind, whole_of
from .templates import array_part, is_view, items_of_tuple, joined, placeholder, row_template, template_of

# ---------------------------------------------------------------- arrays


def as_vector(b: Builder, items: Items, template: Abstract, capacity: int) -> Vector[Abstract]:
    """The elements as `capacity` rows of the template, which covers them."""
    if isinstance(items, Vector):
        items = items if items.capacity == capacity else from_first(b, items)
        element = _converted(b, items.element, template, items.capacity, capacity)
        return replace(items, element=element, capacity=capacity)
    shared = Sharing.TWICE if _have_one_view(items) else Sharing.NOT
    return Vector(rows_of(b, items, template, capacity), capacity, len(items), shared=shared)


def copied_objects(x: ArrayCell | Items) -> tuple[Identity, ...]:
    """The objects that an array, or the arrays among some elements, may be, of which lists hold copies."""
    if isinstance(x, ArrayCell):
        return () if x.frozen is Frozen.NOT else x.objects
    if isinstance(x, Vector):
        return x.objects
    return (SOME_OBJECT,) if x else ()


def _have_one_view(items: Sequence[Abstract]) -> bool:
    """True if two of the items may contain the same view object."""
    found = [[n.objects for n in nodes(item) if isinstance(n, Bounded) and is_view(n)] for item in items]
    each = [objects for inside in found for objects in inside]
    return any(itertools.starmap(may_be_one, itertools.combinations(each, 2)))


def from_first(b: Builder, cell: Vector[Abstract]) -> Vector[Abstract]:
    """The rows in order, beginning with the first."""
    if is_in_order(cell):
        return cell
    start = b.op(ops.Constant(np.asarray(cell.start))) if isinstance(cell.start, int) else cell.start

    def turned(rows: Value) -> Value:
        shape = rows.type.shape
        rest = [b.op(ops.Constant(np.zeros((), start.type.dtype)))] * (len(shape) - 1)
        return b.op(ops.DynamicSlice(shape), b.op(ops.Concatenate(0), rows, rows), start, *rest)

    return replace(cell, element=rebuild(cell.element, turned), start=0)


def is_in_order(cell: Vector[Abstract]) -> bool:
    """True if the first row is the first element."""
    return isinstance(cell.start, int) and cell.start == 0


def row_of(b: Builder, cell: Vector[Abstract], place: int | Value) -> int | Value:
    """The row of the element at a position inside."""
    return place if is_in_order(cell) else row_behind(b, cell, place)


def row_behind(b: Builder, cell: Vector[Abstract], place: int | Value) -> int | Value:
    """The row so many places behind the first one, at most as many as there are rows."""
    if isinstance(cell.start, int) and isinstance(place, int):
        return (cell.start + place) % cell.capacity
    start, count = [
        b.op(ops.Constant(np.asarray(x, INT64))) if isinstance(x, int) else x for x in (cell.start, place)
    ]
    row, end = b.op(ops.Add(), start, count), b.op(ops.Constant(np.asarray(cell.capacity, INT64)))
    return b.op(ops.Select(), b.op(ops.Compare("GE"), row, end), b.op(ops.Subtract(), row, end), row)


def rows_of(b: Builder, items: Sequence[Abstract], template: Abstract, capacity: int) -> Abstract:
    """The items, followed by zeros, as `capacity` rows of the template."""
    if isinstance(template, Tuple):
        parts = [
            rows_of(b, [_part(item, place) for item in items], part, capacity)
            for place, part in enumerate(template.items)
        ]
        return Tuple(tuple(parts), template.cls)
    if isinstance(template, Pooled):
        return Pooled(template.pool, _column(b, items, functools.partial(_pool_index, b), _PLACE, capacity))
    if isinstance(template, Bounded | RowsTuple):
        return _stacked_rows(b, items, template, capacity)
    if isinstance(template, Gated):
        return _rows_of_alternatives(b, items, template, capacity)
    if not isinstance(template, Array):
        return template
    columns = [_column(b, items, functools.partial(_value_of, b, template), template.value.type, capacity)]
    if isinstance(template, GatedNumber):
        columns += [
            _column(b, items, lambda item, kind=kind: is_of_kind(b, item, kind), ArrayType(BOOL), capacity)  # type: ignore[misc]
            for kind in template.kinds[: len(template.tags)]
        ]
        if template.whole is not None:
            columns.append(_column(b, items, functools.partial(whole_of, b), ArrayType(INT64), capacity))
    return _with_values(template, columns)


def _stacked_rows(
    b: Builder, items: Sequence[Abstract], template: Bounded | RowsTuple, capacity: int
) -> Abstract:
    """Bounded arrays, or tuples, in the bounds of the template, with their sizes."""
    arrays = [retyped(b, item, template, ()) for item in items]
    columns = iter(zip(*map(values_of, arrays), strict=True)) if arrays else None

    def column(v: Value) -> Value:
        if columns is None:
            zero = b.op(ops.Constant(np.zeros((), v.type.dtype)))
            return b.op(ops.Broadcast((capacity, *v.type.shape), ()), zero)
        return padded(b, stacked(b, next(columns)), capacity)

    return rebuild(template, column)


def _rows_of_alternatives(b: Builder, items: Sequence[Abstract], template: Gated, capacity: int) -> Abstract:
    """The alternatives of each item, zeros for those that it does not have, and the selectors."""

    def of(item: Abstract, option: int) -> Abstract:
        return _alternative(b, item, template, option, ())

    def tag(item: Abstract, option: int) -> Value:
        return _is_alternative(b, item, template, option, ())

    options = [
        rows_of(b, [of(item, place) for item in items], option, capacity)
        for place, option in enumerate(template.options)
    ]
    tags = [
        _column(b, items, functools.partial(tag, option=place), ArrayType(BOOL), capacity)
        for place in range(len(template.tags))
    ]
    return Gated(tuple(options), tuple(tags), template.reason)


def _matches(template: Gated, x: Abstract, option: int, axes: int) -> list[int]:
    """Which alternatives of `x`, rows along these axes, are one option of a template that covers it."""

    def position(each: Abstract) -> int:
        rows = rebuild(each, lambda v: placeholder(v.type.dtype, v.type.shape[axes:]))
        own = rows if axes else template_of(each)
        return next(i for i, other in enumerate(template.options) if joined(other, own) is not None)

    return [place for place, each in enumerate(alternatives(x)) if position(each) == option]


def _alternative(b: Builder, x: Abstract, template: Gated, option: int, shape: tuple[int, ...]) -> Abstract:
    """`x`, rows along axes of this shape, as one option of a template; zeros where it never is that one."""
    of, found = template.options[option], _matches(template, x, option, len(shape))
    if not found:
        return rebuild(of, lambda v: _zeros(b, (*shape, *v.type.shape), v.type.dtype))
    if not isinstance(x, Gated):
        return retyped(b, x, of, shape)
    first, *rest = [(place, retyped(b, x.options[place], of, shape)) for place in found]
    result = first[1]
    for place, other in rest:
        values, tag = iter(values_of(other)), tag_of(b, x, place)
        result = rebuild(result, lambda v: b.op(ops.Select(), tag, next(values), v))  # noqa: B023
    return result


def _is_alternative(b: Builder, x: Abstract, template: Gated, option: int, shape: tuple[int, ...]) -> Value:
    """Whether `x`, rows along axes of this shape, is one option of a template."""
    found = _matches(template, x, option, len(shape))
    if not isinstance(x, Gated):
        return b.op(ops.Broadcast(shape, ()), b.op(ops.Constant(np.asarray(bool(found)))))
    if not found:
        return b.op(ops.Broadcast(shape, ()), b.op(ops.Constant(np.asarray(False))))
    return functools.reduce(lambda p, q: b.op(ops.Or(), p, q), [tag_of(b, x, place) for place in found])


def _zeros(b: Builder, shape: tuple[int, ...], dtype: DType) -> Value:
    return b.op(ops.Broadcast(shape, ()), b.op(ops.Constant(np.zeros((), dtype))))


_PLACE = ArrayType(INT64)


def _pool_index(b: Builder, item: Abstract) -> Value:
    assert isinstance(item, Pooled)
    return b.op(ops.Constant(np.asarray(item.place, INT64))) if isinstance(item.place, int) else item.place


def _part(item: Abstract, place: int) -> Abstract:
    assert isinstance(item, Tuple)
    return item.items[place]


def _value_of(b: Builder, template: Array, item: Abstract) -> Value:
    if isinstance(item, Const):
        return b.op(ops.Constant(np.asarray(item.value).astype(template.dtype)))
    assert isinstance(item, Array)
    return item.value if item.dtype == template.dtype else b.op(ops.Convert(template.dtype), item.value)


def _column(
    b: Builder, items: Sequence[Abstract], of: Callable[[Abstract], Value], type: ArrayType, capacity: int
) -> Value:
    """The results of `of` for each item, followed by zeros, along a new axis. Equal constants are processed once."""
    known: dict[Any, Any] = {}
    column = np.zeros((capacity, *type.shape), type.dtype)
    for at, item in enumerate(items):
        key = (item.value.__class__, item.value) if isinstance(item, Const) else None
        found = known.get(key) if key is not None else None
        if found is None:
            value = of(item)
            found = _constant(value)
            if key is not None and item.value == item.value and item.value != 0:  # type: ignore[attr-defined]
                known[key] = found
        if found is None:
            break
        column[at] = found
    else:
        if column.nbytes < limits.CONSTANT_ROW_BYTES:
            return _of_constant(b, column)
        return padded(b, b.op(ops.Constant(column[: len(items)])), capacity, loose=True)
    return padded(b, stacked(b, [of(item) for item in items]), capacity, loose=True)


def _constant(value: Value) -> Any:
    kind = getattr(value.owner, "kind", None)
    return np.asarray(kind.data) if isinstance(kind, ops.Constant) else None


def _of_constant(b: Builder, column: np.ndarray) -> Value:
    """A constant array; of equal elements, one of them broadcast."""
    first = column.reshape(-1)[:1]
    if column.size and column.tobytes() == first.tobytes() * column.size:
        return b.op(ops.Broadcast(column.shape, ()), b.op(ops.Constant(first.reshape(()))))
    return b.op(ops.Constant(column))


def padded(b: Builder, rows: Value, capacity: int, axis: int = 0, loose: bool = False) -> Value:
    """The rows along an axis, followed by zeros; `loose`: or by anything else."""
    rank, count = rows.type.rank, rows.type.shape[axis]
    if count >= capacity:
        return rows
    zero = b.op(ops.Constant(np.zeros((), rows.type.dtype)))
    none = (0,) * rank
    behind = tuple([capacity - count if each == axis else 0 for each in range(rank)])
    return b.op(ops.Pad(none, behind, none, loose), rows, zero)


def _converted(b: Builder, element: Abstract, template: Abstract, count: int, capacity: int) -> Abstract:
    """Rows as `capacity` rows of a template that covers them."""
    return rebuild(retyped(b, element, template, (count,)), lambda v: padded(b, v, capacity, loose=True))


def retyped(b: Builder, element: Abstract, template: Abstract, shape: tuple[int, ...]) -> Abstract:
    """Rows along axes of this shape as those of a template that covers them."""
    if isinstance(template, Tuple):
        assert isinstance(element, Tuple)
        pairs = zip(element.items, template.items, strict=True)
        return Tuple(tuple([retyped(b, e, t, shape) for e, t in pairs]), template.cls)
    if isinstance(template, Pooled):
        return element
    if isinstance(template, Bounded):
        return _in_bounds(b, element, template, shape)
    if isinstance(template, RowsTuple):
        return RowsTuple(retyped_tuple(b, element, template.items, shape))
    if isinstance(template, Gated):
        places = range(len(template.options))
        options = tuple([_alternative(b, element, template, place, shape) for place in places])
        tags = tuple([_is_alternative(b, element, template, place, shape) for place in places[:-1]])
        return Gated(options, tags, template.reason)
    if not isinstance(template, Array):
        return template
    columns = [_value_of(b, template, element)]
    if isinstance(template, GatedNumber):
        for kind in template.kinds[: len(template.tags)]:
            tag = is_of_kind(b, element, kind)
            columns.append(tag if tag.type.shape else b.op(ops.Broadcast(shape, ()), tag))
        if template.whole is not None:
            columns.append(whole_of(b, element))
    return _with_values(template, columns)


def _in_bounds(b: Builder, element: Abstract, template: Bounded, shape: tuple[int, ...]) -> Bounded:
    """An array, or arrays along axes of this shape, in the bounds of a template that covers them."""
    if isinstance(element, Bounded) and is_view(template):
        pairs = zip(element.extents, template.extents, strict=True)
        found = tuple([replace(e, step=_step(b, e.step, of.step, shape), most=of.most) for e, of in pairs])
        return replace(template, extents=tuple([replace(e, capacity=None, bounds=()) for e in found]))
    assert isinstance(element, Array | Bounded) and isinstance(template.whole, Array)
    whole = array_part(element)
    assert whole is not None
    value, sizes = whole.value, {}
    if isinstance(element, Bounded):
        sizes = {extent.axis: extent for extent in element.extents}
    for extent in template.extents:
        axis = len(shape) + extent.axis
        if extent.axis not in sizes:
            size = b.op(ops.Constant(np.asarray(value.type.shape[axis], INT64)))
            sizes[extent.axis] = replace(extent, size=b.op(ops.Broadcast(shape, ()), size) if shape else size)
        value = padded(b, value, template.type.shape[extent.axis], axis)
    extents = tuple([sizes[extent.axis] for extent in template.extents])
    return replace(template, whole=replace(template.whole, value=value), extents=extents)


def _step(b: Builder, step: int | Value, template: int | Value, shape: tuple[int, ...]) -> int | Value:
    """A step, or steps along axes of this shape, in the form of a template."""
    if isinstance(step, Value) or isinstance(template, int):
        return step
    known = b.op(ops.Constant(np.asarray(step, INT64)))
    return b.op(ops.Broadcast(shape, ()), known) if shape else known


def retyped_tuple(
    b: Builder, x: Abstract, template: Vector[Abstract], shape: tuple[int, ...]
) -> Vector[Abstract]:
    """The elements of a tuple as rows of a template that covers them; of tuples along axes of this shape.

    The elements beyond the capacity of the template are left out: where there are any, the run ends.
    """
    inner, axis, rows = row_template(template.element), len(shape), items_of_tuple(x)
    assert rows is not None
    if isinstance(rows, Vector):
        assert rows.start == 0
        count = min(rows.capacity, template.capacity)
        first = rebuild(rows.element, lambda v: _first_along(b, axis, v, count))
        element = retyped(b, first, inner, (*shape, count))
    elif shape and rows:
        parts = [values_of(retyped(b, item, inner, shape)) for item in rows]
        columns = iter([_along(b, axis, column) for column in zip(*parts, strict=True)])
        element = rebuild(inner, lambda v: next(columns))
    elif shape:
        element = rebuild(
            template.element,
            lambda v: b.op(
                ops.Broadcast((*shape, *v.type.shape), ()), b.op(ops.Constant(np.zeros((), v.type.dtype)))
            ),
        )
    else:
        element = rows_of(b, rows, inner, template.capacity)
    element = rebuild(element, lambda v: padded(b, v, template.capacity, axis))
    length = length_of(rows)
    if isinstance(length, int):
        length = b.op(ops.Constant(np.asarray(length, INT64)))
    if not length.type.shape and shape:
        length = b.op(ops.Broadcast(shape, ()), length)
    return Vector(element, template.capacity, length, template.site)


def _first_along(b: Builder, axis: int, value: Value, count: int) -> Value:
    """The first elements of a value along an axis."""
    shape = value.type.shape
    if shape[axis] == count:
        return value
    limits = (*shape[:axis], count, *shape[axis + 1 :])
    return b.op(ops.Slice((0,) * len(shape), limits, (1,) * len(shape)), value)


def _along(b: Builder, axis: int, values: Sequence[Value]) -> Value:
    """The values along a new axis."""
    shape = values[0].type.shape
    wide = [b.op(ops.Reshape((*shape[:axis], 1, *shape[axis:])), value) for value in values]
    return b.op(ops.Concatenate(axis), *wide) if len(wide) > 1 else wide[0]


def _with_values(template: Array, columns: Sequence[Value]) -> Abstract:
    take = iter(columns)
    return rebuild(template, lambda v: next(take))


# ---------------------------------------------------------------- rows


def row_at(b: Builder, element: Abstract, at: Value) -> Abstract:
    """The element of the list at an index inside."""
    return rebuild(element, functools.partial(_row, b, at=at))


def _row(b: Builder, rows: Value, at: Value) -> Value:
    return b.op(ops.Reshape(rows.type.shape[1:]), rows_from(b, rows, at, 1))


def rows_from(b: Builder, rows: Value, at: Value, count: int) -> Value:
    """Consecutive rows, from an index on."""
    return b.op(ops.DynamicSlice((count, *rows.type.shape[1:])), rows, *_starts(b, rows, at))


def with_rows_from(b: Builder, rows: Value, at: Value, new: Value) -> Value:
    """The rows, with others from an index on."""
    return b.op(ops.DynamicUpdateSlice(), rows, new, *_starts(b, rows, at))


def _starts(b: Builder, rows: Value, at: Value) -> list[Value]:
    """The start along each axis of a slice of whole rows."""
    return [at, *[b.op(ops.Constant(np.zeros((), at.type.dtype)))] * (rows.type.rank - 1)]


def with_row(b: Builder, element: Abstract, at: Value, item: Abstract) -> Abstract:
    """The rows with `item`, which the template covers, at an index inside."""
    template = row_template(element)
    new = iter(values_of(rows_of(b, [item], template, 1)))
    return rebuild(element, lambda rows: with_rows_from(b, rows, at, next(new)))
