"""Operations on vectors (`values/vector.py`): what each does to the rows and the length.

In: a vector, or elements, and abstract operands. Out: a vector, an element, a number. Where an operation may need more rows
than there are, the capacity grows with the program text, or the program is checked (`reserve`). What has no template in
common with the elements, or needs the elements one by one, asks for the length (`list_items`), so that the loop around is
unrolled where that gives it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ... import limits
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.codes_mutation import CannotStore
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.errors import StagingError
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT64, ArrayType, is_inexact
from ...ops import (
    Add,
    And,
    Compare,
    Gather,
    Iota,
    Maximum,
    Minimum,
    Reduce,
    Reverse,
    Select,
    Slice,
    Subtract,
)
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.capacity import AllocationSite, Capacity, counted_size
from ...values.gated import Gated
from ...values.identity import SOME_OBJECT, united
from ...values.lattice import (
    FALSE,
    TRUE,
    Abstract,
    Array,
    Const,
    Items,
    RowsTuple,
    SliceObject,
    Tuple,
    Unknown,
)
from ...values.vector import Sharing, Vector, capacity_of
from ...values.walk import nodes, rebuild, values_of
from ..context import Context, Raw
from ..interfaces.operations import Operations
from ..kernels.array_rows import boxed, has_arrays, with_shared
from ..kernels.number_checks import refuse
from ..kernels.structures import known_item, list_length
from ..numpy.indexing.bounded import compact, elements, part_around
from ..numpy.indexing.bounded import count as bounded_count
from ..numpy.indexing.slices import progression, times
from ..rules import templates
from ..rules.moved_rows import copied_behind, moved_to_end, moved_to_front
from ..rules.promote import PYTHON_DTYPES, python_type
from ..rules.rows import (
    as_vector,
    copied_objects,
    from_first,
    row_at,
    row_behind,
    row_of,
    rows_of,
    with_row,
)
from ..rules.split import needs_split
from .unboxing import (
    element_of,
    has_views,
    held_as,
    may_share,
    with_contents,
)

Int = int | Value
"""An integer: known, or an int64 of the program."""

Selected = Sequence[tuple[Vector[Abstract], Value]]
"""Vectors, each with the condition under which it is the one that is meant; one of these holds."""


# ---------------------------------------------------------------- construction


def holding(ctx: Context, items: Items, *also: Abstract, ragged: bool = False) -> Vector[Abstract] | None:
    """The elements as a vector that can hold `also` besides them; None where they have no template in common.

    `ragged`: they may be tuples of several lengths, and one of several things.
    """
    ragged |= isinstance(items, Vector)
    ragged |= any(isinstance(node, RowsTuple | Gated) for item in also for node in nodes(item))
    template = _template(items, also, ragged)
    if template is None and any(map(has_views, (items, *also))):
        items, also = with_contents(ctx, items), tuple([held_as(ctx, item, None) for item in also])
        template = _template(items, also, ragged)
    if template is None:
        return None
    ctx.state.note_alternatives(template)
    capacity = max(capacity_of(items), 1)
    for item in also:
        _needs_tuples(ctx, template, item, capacity)
    return as_vector(ctx.b, items, template, capacity)


def _template(items: Items, also: Sequence[Abstract], ragged: bool) -> Abstract | None:
    """The common template of the elements of a list and of further items."""
    template = templates.template_of_items(items, ragged)
    known = items == ()
    for item in also:
        other = templates.template_of(item)
        if other is None or (template is None and not known):
            return None
        if template is not None:
            other = templates.cropped(other, template)
        template = other if template is None else templates.joined(template, other, ragged=ragged)
        known = False
    return template


def _needs_tuples(ctx: Context, template: Abstract, item: Abstract, count: int) -> None:
    """Requires for tuples in an item the capacity that tuples in the list have."""
    if isinstance(template, Tuple) and isinstance(item, Tuple):
        for part, own in zip(template.items, item.items, strict=True):
            _needs_tuples(ctx, part, own, count)
    if isinstance(template, RowsTuple) and isinstance(item, RowsTuple):
        rows = template.items
        if rows.site is not None and item.items.capacity > rows.capacity:
            itemsize = templates.row_size(templates.row_template(rows.element)) * count
            ctx.needs_capacity(
                Capacity(rows.site, rows.capacity, itemsize), int_value(ctx, item.items.length)
            )


def of_array(ctx: Context, array: Raw, form: Form | None = None) -> Vector[Abstract] | None:
    """The elements of an array with one axis as rows of scalars; None where they are few, or no numbers.

    `form`: `PYTHON` for Python's numbers in place of the array's own.
    """
    kept: Bounded | Array | None = None
    if isinstance(array, Bounded):
        kept = compact(ctx, array) if array.rank == 1 else None
    else:
        read = ctx.read(array)
        if isinstance(read, Array) and read.rank == 1 and read.shape[0] > limits.LISTED_ARRAY_ELEMENTS:
            kept = read
    if kept is None or kept.type.dtype.kind not in "biufc":
        return None
    value = elements(ctx, kept) if isinstance(kept, Bounded) else kept.value
    if value.type.shape == (0,):
        value = ctx.broadcast(ctx.constant(0, value.type.dtype), (1,))  # there is a row that means nothing
    if form is Form.PYTHON:
        wide = PYTHON_DTYPES[python_type(value.type.dtype)]
        if value.type.dtype.kind == "u" and value.type.dtype.itemsize == wide.itemsize:
            return None
        element = Array(ctx.convert(value, wide), form)
    else:
        own = kept.form is Form.JAX
        element = Array(value, Form.JAX if own else Form.SCALAR, weak=own and kept.weak)
    (capacity,) = value.type.shape
    length = bounded_count(ctx, kept, kept.extents[0]).value if isinstance(kept, Bounded) else capacity
    return Vector(element, capacity, length)


def repeat(ctx: Context, items: Sequence[Abstract], count: Abstract) -> Vector[Abstract] | None:
    """`[x] * count` of many elements, or of as many as only the program knows; None for anything else."""
    template = templates.template_of(items[0]) if len(items) == 1 else None
    integer = isinstance(count, Const) and type(count.value) is int
    if template is None or not (integer or type(count) is Array):
        return None
    if isinstance(count, Const):
        if not limits.LISTED_EQUAL_ELEMENTS < count.value <= limits.REPEATED_ELEMENTS:
            return None
        return _of_equal(ctx, items[0], template, count.value, count.value, None)
    assert isinstance(count, Array)
    if count.rank or count.dtype.kind not in "iu" or not ctx.is_computed(count):
        return None
    number = ctx.op(Maximum(), ctx.convert(count.value, INT64), ctx.constant(0, INT64))
    itemsize, expected = templates.row_size(template), ctx.expected(count)
    least = limits.LISTED_EQUAL_ELEMENTS
    if expected is not None:
        least = counted_size(least, itemsize, expected)
    capacity = ctx.capacity(least, itemsize, "a list", with_inputs=expected is None)
    ctx.needs_capacity(capacity, number)
    return _of_equal(ctx, items[0], template, capacity.size, number, capacity.site)


def _of_equal(
    ctx: Operations, new: Abstract, template: Abstract, capacity: int, count: Int, site: AllocationSite | None
) -> Vector[Abstract]:
    """A list of `count` times one element."""

    def rows(one: Value) -> Value:
        return ctx.broadcast(one, (capacity, *one.type.shape[1:]))

    element = rebuild(rows_of(ctx.b, [new], template, 1), rows)
    return Vector(element, capacity, count, site)


# ---------------------------------------------------------------- integers


def int_value(ctx: Operations, x: Int) -> Value:
    """An integer as a value of the program."""
    return ctx.constant(x, INT64) if isinstance(x, int) else x


def added(ctx: Operations, a: Int, b: Int) -> Int:
    """`a + b`."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if b == 0 and isinstance(b, int):
        return a
    return ctx.op(Add(), int_value(ctx, a), int_value(ctx, b))


def difference(ctx: Operations, a: Int, b: Int) -> Int:
    """`a - b`."""
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if isinstance(b, int):
        return added(ctx, a, -b)
    return ctx.op(Subtract(), int_value(ctx, a), b)


def compared(ctx: Operations, direction: str, a: Int, b: Int) -> bool | Value:
    """`a` and `b` compared, as the direction of a `Compare` says."""
    if isinstance(a, int) and isinstance(b, int):
        return {"LT": a < b, "GE": a >= b, "EQ": a == b, "NE": a != b, "GT": a > b}[direction]
    return ctx.op(Compare(direction), int_value(ctx, a), int_value(ctx, b))


def places_of(ctx: Operations, count: int) -> Value:
    """The first integers, from 0 on."""
    return ctx.op(Iota(ArrayType(INT64, (count,)), 0))


def truth_of(holds: bool | Value) -> Abstract:
    """A bool of Python's, known or of the program."""
    return (TRUE if holds else FALSE) if isinstance(holds, bool) else Array(holds, Form.PYTHON)


def int_of(position: Abstract) -> Int:
    """A position that counts from the front, as a Python int of the program."""
    assert isinstance(position, Const | Array)
    return position.value


def following(ctx: Context, position: Abstract) -> Abstract:
    """The next position."""
    if isinstance(position, Const):
        return Const(position.value + 1)
    assert isinstance(position, Array)
    return ctx.python(ctx.op(Add(), position.value, ctx.constant(1, INT64)), (0, math.inf))


# ---------------------------------------------------------------- indices


def check(
    ctx: Context,
    bad: bool | Value,
    fallback: BaseException,
    function: Callable[..., Any],
    args: Sequence[Raw] = (),
) -> None:
    """Makes the program raise what `function(*args)` raises, where `bad` holds."""
    if bad is True:
        ctx.check(None, fallback, function, args)
    elif bad is not False:
        ctx.check(bad, fallback, function, args)


def front(ctx: Context, vector: Vector[Abstract], index: Abstract, outside: Callable[[], Any]) -> Int:
    """An index counted from the front; the program raises what `outside` raises where there is no such element."""
    place: Int
    if isinstance(index, Const):
        place = operator.index(index.value)
        if place < 0:
            place = added(ctx, vector.length, place)
    else:
        assert isinstance(index, Array)
        place = from_end(ctx, vector, index)
    low = compared(ctx, "LT", place, 0)
    high = compared(ctx, "GE", place, vector.length)
    text = IndexError()
    for bad in (low, high):
        check(ctx, bad, text, outside)
    return place


def from_end(ctx: Operations, vector: Vector[Abstract], index: Array) -> Value:
    """A computed index, the negative ones counted from the end of the list."""
    place = ctx.convert(index.value, INT64)
    if index.dtype.kind in "ub" or ctx.range_of(index)[0] >= 0:
        return place
    negative = ctx.op(Compare("LT"), place, ctx.constant(0, INT64))
    return ctx.op(Select(), negative, int_value(ctx, added(ctx, place, vector.length)), place)


def is_element(ctx: Operations, vector: Vector[Abstract]) -> Value:
    """A mask of the rows that are elements."""
    end = ctx.broadcast(int_value(ctx, vector.length), (vector.capacity,))
    return ctx.op(Compare("LT"), places_of(ctx, vector.capacity), end)


# ---------------------------------------------------------------- one element


def get(ctx: Context, vector: Vector[Abstract], place: Int, among: Selected = ()) -> Abstract:
    """The element at a position inside; `among`: the vectors of which this one is a copy (`Context.vectors_of`)."""
    if isinstance(place, int) and place < vector.capacity and not among:
        return known_item(ctx, vector, place)
    element, *others = [_element(ctx, each, place) for each, _ in among] or [_element(ctx, vector, place)]
    for other, (_, condition) in zip(others, among[1:]):
        element = _selected(ctx, condition, other, element)
    found = boxed(ctx, element, vector.objects)
    return part_around(ctx, found).same_as(found) if isinstance(found, Bounded) else found


def _element(ctx: Operations, vector: Vector[Abstract], place: Int) -> Abstract:
    """The element at a position inside, as the vector holds it."""
    return row_at(ctx.b, vector.element, int_value(ctx, row_of(ctx.b, vector, place)))


def _selected(ctx: Operations, condition: Value, on_true: Abstract, on_false: Abstract) -> Abstract:
    """One of two elements."""
    others = iter(values_of(on_true))
    return rebuild(on_false, lambda v: ctx.op(Select(), condition, next(others), v))


def put(
    ctx: Context, vector: Vector[Abstract], place: Int, new: Abstract, mask: Value | None = None
) -> Vector[Abstract]:
    """The vector with another element, which the template covers, at a position inside, if `mask` holds."""
    held = held_as(ctx, new, vector.element)
    element = with_row(ctx.b, vector.element, int_value(ctx, row_of(ctx.b, vector, place)), held, mask)
    return replace(vector, element=element, objects=united(vector.objects, (SOME_OBJECT,)))


def pop(
    ctx: Context, vector: Vector[Abstract], in_front: bool, among: Selected = ()
) -> tuple[Abstract, Vector[Abstract]]:
    """The element at one end (`get`), and the vector without it; there must be one. No other row moves."""
    count = difference(ctx, vector.length, 1)
    if not in_front:
        return get(ctx, vector, count, among), replace(vector, length=count)
    return get(ctx, vector, 0, among), replace(vector, length=count, start=row_behind(ctx.b, vector, 1))


def insert(ctx: Context, rows: Vector[Abstract], index: Abstract, new: Abstract) -> Vector[Abstract]:
    """The vector, which covers `new`, with it inserted before `index`, which is clamped into range."""
    if isinstance(index, Const):
        index = ctx.python(ctx.constant(operator.index(index.value), INT64))
    assert isinstance(index, Array)
    zero = ctx.constant(0, INT64)
    place = ctx.op(Maximum(), from_end(ctx, rows, index), zero)
    end = int_value(ctx, rows.length)
    place = ctx.op(Minimum(), place, end)
    rows, count = reserve(ctx, rows, 1, 1)
    element = moved_to_end(ctx.b, rows.element, place, end)
    return replace(put(ctx, replace(rows, element=element), place, new), length=count)


def delete(ctx: Operations, vector: Vector[Abstract], place: Int) -> Vector[Abstract]:
    """The vector without the element at a position inside.

    Without the first one, the second row comes first; of arrays it is noted in which row each is, so these move.
    """
    count = difference(ctx, vector.length, 1)
    if isinstance(count, int) and place == count:
        return replace(vector, length=count)
    if isinstance(place, int) and place == 0 and not has_arrays(vector.element):
        return replace(vector, length=count, start=row_behind(ctx.b, vector, 1))
    vector = from_first(ctx.b, vector)
    element = moved_to_front(ctx.b, vector.element, int_value(ctx, place), int_value(ctx, count))
    return replace(vector, element=element, length=count)


# ---------------------------------------------------------------- growth


def reserve(ctx: Context, vector: Vector[Abstract], more: Int, most: int) -> tuple[Vector[Abstract], Int]:
    """The vector with a capacity for so many elements more, at most `most`, and its length then."""
    new = added(ctx, vector.length, more)
    if isinstance(new, int) or vector.site is None:
        template = templates.template_of_items(vector)
        assert template is not None
        needed = new if isinstance(new, int) else vector.capacity + most
        capacity = _amortised(vector.capacity, needed)
        if capacity * templates.row_size(template) > limits.DOUBLED_LIST_BYTES:
            needed = min(_most_in(ctx, vector) + most, _greatest(ctx, new))
            capacity = vector.capacity if needed <= vector.capacity else needed + needed // 8
        return as_vector(ctx.b, vector, template, capacity), new
    itemsize = templates.row_size(templates.row_template(vector.element))
    ctx.needs_capacity(Capacity(vector.site, vector.capacity, itemsize), new)
    return vector, new


def _most_in(ctx: Operations, vector: Vector[Abstract]) -> int:
    """The maximal number of elements of a list."""
    return min(vector.capacity, _greatest(ctx, vector.length))


def _greatest(ctx: Operations, count: Int) -> int:
    """The greatest value of a count."""
    if isinstance(count, int):
        return count
    end = ctx.range_of(Array(count, Form.PYTHON))[1]
    return limits.REPEATED_ELEMENTS if math.isinf(end) else int(end)


def _amortised(capacity: int, needed: int) -> int:
    """The capacity of a growing list: a power of two, as it may grow again."""
    return capacity if needed <= capacity else 1 << (needed - 1).bit_length()


def push(
    ctx: Context, rows: Vector[Abstract], new: Abstract, in_front: bool = False, most: int | None = None
) -> Vector[Abstract]:
    """The vector, which covers `new`, with it added at one end; of `most` elements, the one at the other end is removed."""
    end = rows.length
    more: Int = 1
    dropped: Int = 0
    is_full = False if most is None else compared(ctx, "GE", end, most)
    if is_full is True:
        more, dropped = 0, 1
    elif is_full is not False:
        dropped = ctx.convert(is_full, INT64)
        more = ctx.op(Subtract(), ctx.constant(1, INT64), dropped)
    rows, count = reserve(ctx, rows, more, 1)
    if in_front:
        rows = replace(rows, start=row_behind(ctx.b, rows, rows.capacity - 1))
        return replace(put(ctx, rows, 0, new), length=count)
    stored = replace(put(ctx, rows, end, new), length=count)
    return stored if most is None else replace(stored, start=row_behind(ctx.b, rows, dropped))


def clear(vector: Vector[Abstract]) -> Vector[Abstract]:
    """The vector without elements."""
    return replace(vector, length=0)


# ---------------------------------------------------------------- many elements


def concatenate(ctx: Context, first: Items, second: Items) -> Vector[Abstract] | None:
    """The elements of the first list, followed by those of the second; None without a common template."""
    template = templates.template_of_both(first, second, ragged=True)
    if second == ():
        return holding(ctx, first)
    if first == ():
        rows = holding(ctx, second)
        if rows is None:
            return None
        return with_shared(rows, isinstance(second, Vector), objects=copied_objects(second))
    if template is None and any(map(has_views, (first, second))):
        return concatenate(ctx, with_contents(ctx, first), with_contents(ctx, second))
    if template is None:
        return None
    capacities = [capacity_of(x) for x in (first, second)]
    left, right = [as_vector(ctx.b, x, template, max(n, 1)) for x, n in zip((first, second), capacities)]
    if left.site is None:
        left = replace(left, site=right.site)
    if left.site is not None:  # as large as the other, at least
        left = as_vector(ctx.b, left, template, max(left.capacity, right.capacity))
    left, count = reserve(ctx, left, right.length, capacities[1])
    element = copied_behind(ctx.b, left.element, int_value(ctx, left.length), right.element, right.length)
    longer = replace(left, element=element, length=count)
    one, two = element_of(first), element_of(second)
    twice = two is not None and (may_share(one, two) if one is not None else has_arrays(two))
    objects = united(copied_objects(first), copied_objects(second))
    return with_shared(longer, twice or right.shared is Sharing.TWICE, objects=objects)


def slice_of(ctx: Context, vector: Vector[Abstract], entry: SliceObject) -> Vector[Abstract]:
    """`l[start:stop:step]`; one that is certainly short has as many rows as it may have elements."""
    extent = list_length(vector)
    if isinstance(extent, Const):
        extent = ctx.python(ctx.constant(extent.value, INT64), (extent.value, extent.value))
    assert isinstance(extent, Array)
    places = progression(ctx, entry, extent)
    least, most = ctx.difference(ctx.python(places.count), Const(0))
    count, length, site = vector.capacity, int(least) if least == most else places.count, vector.site
    if 2 * most <= count:
        count, site = max(int(most), 1), None
    at = times(ctx, places_of(ctx, count), places.step)
    at = ctx.op(Add(), at, ctx.broadcast(places.start, (count,)))
    return Vector(permuted(ctx, vector.element, at), count, length, site, objects=vector.objects)


def known_slice(ctx: Operations, vector: Vector[Abstract], entry: slice) -> Vector[Abstract] | None:
    """`l[start:stop:step]`, all of which is known, of a list of known length; None if it is empty."""
    assert isinstance(vector.length, int)
    places = range(vector.length)[entry]
    if not places:
        return None
    low, high, step = min(places[0], places[-1]), max(places[0], places[-1]), abs(places.step)

    def chosen(rows: Value) -> Value:
        _, *rest = rows.type.shape
        none = (0,) * len(rest)
        kept = ctx.op(Slice((low, *none), (high + 1, *rest), (step, *[1] * len(rest))), rows)
        return kept if places.step > 0 else ctx.op(Reverse((0,)), kept)

    return Vector(rebuild(vector.element, chosen), len(places), len(places))


def delete_slice(ctx: Context, vector: Vector[Abstract], entry: SliceObject) -> Vector[Abstract]:
    """The vector without the elements of `l[start:stop]`."""
    capacity = vector.capacity
    left = progression(ctx, entry, ctx.python(int_value(ctx, vector.length), (0, capacity)))
    places = places_of(ctx, capacity)
    moved = ctx.op(Add(), places, ctx.broadcast(left.count, (capacity,)))
    behind = ctx.op(Compare("GE"), places, ctx.broadcast(left.start, (capacity,)))
    element = _chosen(ctx, behind, permuted(ctx, vector.element, moved), vector.element)
    return replace(vector, element=element, length=difference(ctx, vector.length, left.count))


def reverse(ctx: Operations, vector: Vector[Abstract]) -> Vector[Abstract]:
    """The elements in reverse order."""
    last = ctx.broadcast(int_value(ctx, difference(ctx, vector.length, 1)), (vector.capacity,))
    at = ctx.op(Subtract(), last, places_of(ctx, vector.capacity))
    return replace(vector, element=permuted(ctx, vector.element, at))


def permuted(ctx: Operations, element: Abstract, places: Value) -> Abstract:
    """The rows at these indices, clamped into range."""

    def taken(rows: Value) -> Value:
        capacity, *shape = rows.type.shape
        top = ctx.broadcast(ctx.constant(capacity - 1, INT64), places.type.shape)
        inside = ctx.op(Maximum(), ctx.op(Minimum(), places, top), ctx.op(Subtract(), top, top))
        kind = Gather(tuple(range(1, 1 + len(shape))), (0,), (0,), 1, (1, *shape))
        return ctx.op(kind, rows, inside)

    return rebuild(element, taken)


def _chosen(ctx: Operations, condition: Value, on_true: Abstract, on_false: Abstract) -> Abstract:
    """The rows of either list, selected row by row by `condition`."""
    others = iter(values_of(on_true))

    def chosen(rows: Value) -> Value:
        shape = rows.type.shape
        each = ctx.reshape(condition, (shape[0], *[1] * (len(shape) - 1)))
        return ctx.op(Select(), ctx.broadcast(each, shape), next(others), rows)

    return rebuild(on_false, chosen)


# ---------------------------------------------------------------- one after the other


def fold(
    ctx: Context,
    vector: Vector[Abstract],
    initial: Abstract,
    step: Callable[[Abstract, Abstract, Abstract], Abstract],
    first: int = 0,
    goes_on: Callable[[Abstract], Abstract] | None = None,
) -> Abstract:
    """The fold of `step(so far, position, element)` over the elements from `first` on.

    It ends early where `goes_on(so far)` does not hold.
    """

    def condition(state: Abstract) -> Abstract:
        position, found = _pair(state)
        more = truth_of(compared(ctx, "LT", int_of(position), vector.length))
        if goes_on is None or more is FALSE:
            return more
        return ctx.branch(more, lambda: ctx.truth(goes_on(found)), lambda: FALSE)

    def body(state: Abstract) -> Abstract:
        position, found = _pair(state)
        found = step(found, position, get(ctx, vector, int_of(position)))
        return Tuple((following(ctx, position), found))

    known = max(vector.length - first, 0) if isinstance(vector.length, int) else None
    start, stores = Tuple((Const(first), initial)), ctx.element_stores()
    result = _pair(ctx.while_loop(condition, body, start, known, max(vector.capacity - first, 0)))[1]
    if has_arrays(vector.element) and ctx.element_stores() != stores:
        ctx.fail(CannotStore(span=ctx.span, what="an array that may be an element and is iterated over"))
    return result


def _pair(state: Abstract) -> tuple[Abstract, Abstract]:
    if isinstance(state, Unknown):
        raise DiagnosticError(state.reason)
    if isinstance(state, Gated):
        raise needs_split(state)
    assert isinstance(state, Tuple)
    first, second = state.items
    return first, second


Equal = Callable[[Abstract, Abstract], Abstract]
"""`x == y`, as a truth."""


def find(ctx: Context, vector: Vector[Abstract], value: Abstract, same: Equal, start: int = 0) -> Abstract:
    """The index of the first element that equals `value`, -1 where none does."""
    refuse_arrays(ctx, vector)
    _refuse_nan(ctx, value, "whether one of its elements is the same NaN")

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        return ctx.branch(same(each, value), lambda: position, lambda: found)

    def goes_on(found: Abstract) -> Abstract:
        return truth_of(compared(ctx, "LT", int_of(found), 0))

    return fold(ctx, vector, Const(-1), step, start, goes_on)


def is_place_found(ctx: Operations, place: Abstract) -> Abstract:
    """Whether `find` has found an element."""
    return truth_of(compared(ctx, "GE", int_of(place), 0))


def count(ctx: Context, vector: Vector[Abstract], value: Abstract, same: Equal) -> Abstract:
    """The number of elements that equal `value`."""
    refuse_arrays(ctx, vector)
    _refuse_nan(ctx, value, "how many of its elements are the same NaN")

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        return ctx.branch(same(each, value), lambda: following(ctx, found), lambda: found)

    return fold(ctx, vector, Const(0), step)


# ---------------------------------------------------------------- refusals


def refuse_arrays(ctx: Operations, vector: Vector[Abstract]) -> None:
    """Raises PS401 for arrays, whose identity Python compares first."""
    if has_arrays(vector.element):
        ctx.fail(NotKnown(span=ctx.span, what="which elements of a list are the same array"))


def _refuse_nan(ctx: Context, value: Abstract, what: str) -> None:
    """Raises PS401 where a number is NaN, whose identity Python compares first; those in tuples are compared by `same`."""
    if isinstance(value, Tuple | RowsTuple):
        return
    reason = NotKnown(span=ctx.span, what=what)
    if isinstance(value, Const) and value.value != value.value:
        ctx.fail(reason)
    for number in values_of(value):
        if is_inexact(number.type.dtype) and not number.type.shape:
            ctx.check(ctx.op(Compare("NE"), number, number), StagingError(()), refuse, [lambda: reason])


def refuse_nan_rows(ctx: Context, vector: Vector[Abstract], what: str) -> None:
    """Raises PS401 where a number in an element is NaN."""
    reason = NotKnown(span=ctx.span, what=what)
    for rows in values_of(vector.element):
        if is_inexact(rows.type.dtype):
            refuse_where(ctx, vector, ctx.op(Compare("NE"), rows, rows), reason)


def refuse_where(ctx: Context, vector: Vector[Abstract], bad: Value, reason: NotKnown) -> None:
    """Ends a run in which a condition holds for an element; of tuples, whatever is behind their last elements."""
    axes = tuple(range(1, bad.type.rank))
    if axes:
        bad = ctx.op(Reduce(Maximum(), axes), bad, ctx.constant(False, BOOL))
    bad = ctx.op(And(), is_element(ctx, vector), bad)
    any_bad = ctx.op(Reduce(Maximum(), (0,)), bad, ctx.constant(False, BOOL))
    ctx.check(any_bad, StagingError(()), refuse, [lambda: reason])
