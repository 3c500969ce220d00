"""Vectors (`values/vector.py`): construction, conversion and access to the arrays of all elements.

The *element* of a vector is its template (`templates.py`) with an array in place of each placeholder, which has one row
for each element.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

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
    Cell,
    Const,
    Frozen,
    Items,
    Pooled,
    RowsCell,
    RowsTuple,
    Tuple,
)
from ...values.node import TreeNode
from ...values.packing import row, stacked
from ...values.vector import Sharing, Vector, length_of
from ...values.walk import children, counterparts, nodes, rebuild, values_of, with_children
from .numbers import is_of_kind, whole_of
from .templates import array_part, is_view, items_of_tuple, joined, placeholder, row_template, template_of

N = TypeVar("N", bound=TreeNode)


# ---------------------------------------------------------------- arrays


def as_vector(b: Builder, items: tuple[N, ...] | Vector[N], template: N, capacity: int) -> Vector[N]:
    """The elements as `capacity` rows of the template, which covers them."""
    if isinstance(items, Vector):
        items = items if items.capacity == capacity else from_first(b, items)
        element = _converted(b, items.element, template, items.capacity, capacity)
        return replace(items, element=element, capacity=capacity)
    has_views = any(isinstance(n, Bounded) and is_view(n) for n in nodes(template))
    shared = Sharing.TWICE if has_views and _have_one_view(items) else Sharing.NOT
    return Vector(rows_of(b, items, template, capacity), capacity, len(items), shared=shared)


def copied_objects(x: ArrayCell | Items) -> tuple[Identity, ...]:
    """The objects that an array, or the arrays among some elements, may be, of which lists hold copies."""
    if isinstance(x, ArrayCell):
        return () if x.frozen is Frozen.NOT else x.objects
    if isinstance(x, Vector):
        return x.objects
    return (SOME_OBJECT,) if x else ()


def _have_one_view(items: Sequence[TreeNode]) -> bool:
    """True if two of the items may contain the same view object."""
    found = [[n.objects for n in nodes(item) if isinstance(n, Bounded) and is_view(n)] for item in items]
    each = [objects for inside in found for objects in inside]
    return any(itertools.starmap(may_be_one, itertools.combinations(each, 2)))


def from_first(b: Builder, vector: Vector[N]) -> Vector[N]:
    """The rows in order, beginning with the first."""
    if is_in_order(vector):
        return vector
    start = b.op(ops.Constant(np.asarray(vector.start))) if isinstance(vector.start, int) else vector.start

    def turned(rows: Value) -> Value:
        shape = rows.type.shape
        rest = [b.op(ops.Constant(np.zeros((), start.type.dtype)))] * (len(shape) - 1)
        return b.op(ops.DynamicSlice(shape), b.op(ops.Concatenate(0), rows, rows), start, *rest)

    return replace(vector, element=rebuild(vector.element, turned), start=0)


def is_in_order(vector: Vector[Any]) -> bool:
    """True if the first row is the first element."""
    return isinstance(vector.start, int) and vector.start == 0


def row_of(b: Builder, vector: Vector[Any], place: int | Value) -> int | Value:
    """The row of the element at a position inside."""
    return place if is_in_order(vector) else row_behind(b, vector, place)


def row_behind(b: Builder, vector: Vector[Any], place: int | Value) -> int | Value:
    """The row so many places behind the first one, at most as many as there are rows."""
    if isinstance(vector.start, int) and isinstance(place, int):
        return (vector.start + place) % vector.capacity
    start, count = [
        b.op(ops.Constant(np.asarray(x, INT64))) if isinstance(x, int) else x for x in (vector.start, place)
    ]
    row, end = b.op(ops.Add(), start, count), b.op(ops.Constant(np.asarray(vector.capacity, INT64)))
    return b.op(ops.Select(), b.op(ops.Compare("GE"), row, end), b.op(ops.Subtract(), row, end), row)


def rows_of(b: Builder, items: Sequence[N], template: N, capacity: int) -> N:
    """The items, followed by zeros, as `capacity` rows of the template; they may be contents of objects."""
    made: Any = _rows_of(b, items, template, capacity)
    return made  # type: ignore[no-any-return]


def _rows_of(b: Builder, items: Sequence[Any], template: TreeNode, capacity: int) -> TreeNode:
    if isinstance(template, Bounded | RowsTuple | RowsCell):
        return _stacked_rows(b, items, template, capacity)
    if isinstance(template, Tuple | Cell):
        given = [counterparts(template, item) for item in items]
        parts = [
            _rows_of(b, [own[place] for own in given], part, capacity)
            for place, part in enumerate(children(template))
        ]
        return with_children(template, parts)
    if isinstance(template, Pooled):
        return Pooled(template.pool, _column(b, items, functools.partial(_pool_index, b), _PLACE, capacity))
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
    b: Builder, items: Sequence[TreeNode], template: Bounded | RowsTuple | RowsCell, capacity: int
) -> TreeNode:
    """Bounded arrays, tuples or lists in the bounds of the template, with their sizes."""
    arrays = [retyped(b, item, template, ()) for item in items]
    columns = iter(zip(*map(values_of, arrays), strict=True)) if arrays else None

    def column(v: Value) -> Value:
        if columns is None:
            zero = b.op(ops.Constant(np.zeros((), v.type.dtype)))
            return b.op(ops.Broadcast((capacity, *v.type.shape), ()), zero)
        return padded(b, _packed(b, next(columns)), capacity)

    return rebuild(template, column)


def _packed(b: Builder, values: Sequence[Value]) -> Value:
    """Values of one type along a new axis."""
    known = [_constant(v) for v in values]
    if all(each is not None for each in known):
        return b.op(ops.Constant(np.stack(known)))
    return stacked(b, values)


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


def _converted(b: Builder, element: N, template: N, count: int, capacity: int) -> N:
    """Rows as `capacity` rows of a template that covers them."""
    rows: N = rebuild(retyped(b, element, template, (count,)), lambda v: padded(b, v, capacity, loose=True))
    return rows


def retyped(b: Builder, element: N, template: N, shape: tuple[int, ...]) -> N:
    """Rows along axes of this shape as those of a template that covers them."""
    made: Any = _retyped(b, element, template, shape)
    return made  # type: ignore[no-any-return]


def _retyped(b: Builder, element: Any, template: TreeNode, shape: tuple[int, ...]) -> TreeNode:
    if isinstance(template, RowsCell):
        return RowsCell(_retyped_items(b, element.items, template.items, shape))
    if isinstance(template, Tuple | Cell):
        pairs = zip(counterparts(template, element), children(template), strict=True)
        return with_children(template, [_retyped(b, e, t, shape) for e, t in pairs])
    if isinstance(template, Pooled):
        return cast(TreeNode, element)
    if isinstance(template, Bounded):
        return _in_bounds(b, element, template, shape)
    if isinstance(template, RowsTuple):
        items = items_of_tuple(element)
        assert items is not None
        return RowsTuple(_retyped_items(b, items, template.items, shape))
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


def _retyped_items(
    b: Builder, items: Items, template: Vector[Abstract], shape: tuple[int, ...]
) -> Vector[Abstract]:
    """The elements of a tuple or a list as rows of a template that covers them; of several along axes of this shape.

    The elements beyond the capacity of the template are left out: where there are any, the run ends.
    """
    inner, axis = row_template(template.element), len(shape)
    if isinstance(items, Vector):
        assert items.start == 0
        count = min(items.capacity, template.capacity)
        first = rebuild(items.element, lambda v: _first_along(b, axis, v, count))
        element = retyped(b, first, inner, (*shape, count))
    elif shape and items:
        parts = [values_of(retyped(b, item, inner, shape)) for item in items]
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
        element = rows_of(b, items, inner, template.capacity)
    element = rebuild(element, lambda v: padded(b, v, template.capacity, axis))
    length = length_of(items)
    if isinstance(length, int):
        length = b.op(ops.Constant(np.asarray(length, INT64)))
    if not length.type.shape and shape:
        length = b.op(ops.Broadcast(shape, ()), length)
    return replace(template, element=element, length=length)


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


def row_at(b: Builder, element: N, at: int | Value) -> N:
    """The element at a row."""
    found: N = rebuild(element, lambda rows: row(b, rows, at) if isinstance(at, int) else _row(b, rows, at))
    return found


def _row(b: Builder, rows: Value, at: Value) -> Value:
    return b.op(ops.Reshape(rows.type.shape[1:]), rows_from(b, rows, at, 1))


def rows_from(b: Builder, rows: Value, at: Value, count: int) -> Value:
    """Consecutive rows, from an index on."""
    return b.op(ops.DynamicSlice((count, *rows.type.shape[1:])), rows, *_starts(b, rows, at))


def with_rows_from(b: Builder, rows: Value, at: int | Value, new: Value) -> Value:
    """The rows, with others from an index on."""
    return b.op(ops.DynamicUpdateSlice(), rows, new, *_starts(b, rows, at))


def _starts(b: Builder, rows: Value, at: int | Value) -> list[Value]:
    """The start along each axis of a slice of whole rows."""
    first = b.op(ops.Constant(np.asarray(at, INT64))) if isinstance(at, int) else at
    return [first, *[b.op(ops.Constant(np.zeros((), first.type.dtype)))] * (rows.type.rank - 1)]


def first_rows(b: Builder, element: N, count: int) -> N:
    """The first rows."""
    first: N = rebuild(element, lambda rows: _first_along(b, 0, rows, count))
    return first


def with_row(b: Builder, element: N, at: Value, item: N, mask: Value | None = None) -> N:
    """The rows with `item`, which the template covers, at an index inside; as they are where `mask` does not hold."""
    new = rows_of(b, [item], row_template(element), 1)
    old = None if mask is None else rebuild(element, lambda rows: rows_from(b, rows, at, 1))
    return updated(b, element, at, new, old, mask)


def updated(
    b: Builder, element: N, at: int | Value, new: N, old: N | None = None, mask: Value | None = None
) -> N:
    """The rows with those of `new` from an index on; where `mask` holds, what differs from `old`."""
    columns = iter(values_of(new))
    before = iter(values_of(old)) if old is not None else None

    def stored(rows: Value) -> Value:
        value = next(columns)
        kept = next(before) if before is not None else None
        if value is kept:
            return rows
        if mask is not None and kept is not None:
            value = b.op(ops.Select(), b.op(ops.Broadcast(value.type.shape, ()), mask), value, kept)
        return value if value.type == rows.type else with_rows_from(b, rows, at, value)

    made: N = rebuild(element, stored)
    return made
