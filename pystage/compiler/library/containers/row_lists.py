"""Operations on lists of rows (`RowsCell`): what each does to the rows and the length.

In: a reference to a list, or its contents, and abstract operands. Out: new contents, an element, a number. Where an
operation may need more rows than there are, the capacity grows with the program text, or the program is checked
(`with_reserve`). What has no template in common with the elements, or needs the elements one by one, asks for the
length (`list_items`), so that the loop around is unrolled where that gives it.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from ... import limits
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.codes_mutation import CannotStore
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.errors import StagingError
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT64, ArrayType, is_floating
from ...library.kernels.structures import with_elements
from ...ops import (
    Add,
    And,
    Compare,
    Convert,
    Gather,
    Iota,
    Maximum,
    Minimum,
    Or,
    Pad,
    Reduce,
    Reverse,
    Select,
    Slice,
    Sort,
    Subtract,
)
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.capacity import AllocationSite, Capacity
from ...values.gated import Gated, GatedNumber, alternatives, tag_of
from ...values.identity import SOME_OBJECT, united
from ...values.lattice import (
    FALSE,
    NONE,
    TRUE,
    Abstract,
    Array,
    Const,
    Items,
    IteratorCell,
    ListCell,
    Pooled,
    Ref,
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
from ..kernels.structures import known_item, list_items, list_length
from ..numpy.indexing.bounded import compact, elements, part_around
from ..numpy.indexing.bounded import count as bounded_count
from ..numpy.indexing.slices import progression, times
from ..rules import templates
from ..rules.moved_rows import moved_to_end, moved_to_front
from ..rules.numbers import is_of_kind
from ..rules.promote import PYTHON_DTYPES, python_type
from ..rules.rows import (
    as_vector,
    copied_objects,
    from_first,
    row_at,
    row_behind,
    row_of,
    rows_from,
    rows_of,
    with_row,
    with_rows_from,
)
from ..rules.split import needs_split
from .unboxing import (
    element_of,
    frozen,
    has_views,
    held_as,
    may_share,
    objects_of,
    put_in,
    unboxed,
    with_contents,
)

Int = int | Value
"""An integer: known, or an int64 of the program."""


# ---------------------------------------------------------------- what a list is


def as_rows(ctx: Context, items: Items, *also: Abstract, ragged: bool = False) -> Vector[Abstract] | None:
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


def _difference(ctx: Operations, a: Int, b: Int) -> Int:
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


def _places(ctx: Operations, count: int) -> Value:
    return ctx.op(Iota(ArrayType(INT64, (count,)), 0))


# ---------------------------------------------------------------- checks


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


def front(ctx: Context, cell: Vector[Abstract], index: Abstract, outside: Callable[[], Any]) -> Int:
    """An index counted from the front; the program raises what `outside` raises where there is no such element."""
    place: Int
    if isinstance(index, Const):
        place = operator.index(index.value)
        if place < 0:
            place = added(ctx, cell.length, place)
    else:
        assert isinstance(index, Array)
        place = from_end(ctx, cell, index)
    low = compared(ctx, "LT", place, 0)
    high = compared(ctx, "GE", place, cell.length)
    text = IndexError()
    for bad in (low, high):
        check(ctx, bad, text, outside)
    return place


def from_end(ctx: Operations, cell: Vector[Abstract], index: Array) -> Value:
    """A computed index, the negative ones counted from the end of the list."""
    place = ctx.convert(index.value, INT64)
    if index.dtype.kind in "ub" or ctx.range_of(index)[0] >= 0:
        return place
    negative = ctx.op(Compare("LT"), place, ctx.constant(0, INT64))
    return ctx.op(Select(), negative, int_value(ctx, added(ctx, place, cell.length)), place)


def item_outside() -> None:
    """Raises what `l[i]` raises."""
    operator.getitem([], 0)


def tuple_item_outside() -> None:
    """Raises what `t[i]` raises."""
    operator.getitem((), 0)


def store_outside() -> None:
    """Raises what `l[i] = x` and `del l[i]` raise."""
    operator.setitem([], 0, None)


def pop_outside() -> None:
    """Raises what `l.pop(i)` raises."""
    operator.methodcaller("pop", 1)([None])


def pop_empty() -> None:
    """Raises what `l.pop()` of an empty list raises."""
    operator.methodcaller("pop")([])


def remove_missing() -> None:
    """Raises what `l.remove(x)` raises."""
    operator.methodcaller("remove", None)([])


def index_missing(value: object) -> None:
    """Raises what `l.index(x)` raises."""
    operator.methodcaller("index", value)([])


def tuple_missing(value: object) -> None:
    """Raises what `t.index(x)` raises."""
    operator.methodcaller("index", value)(())


# ---------------------------------------------------------------- elements


def item(ctx: Context, cell: Vector[Abstract], place: Int) -> Abstract:
    """The element at a position inside."""
    if isinstance(place, int) and place < cell.capacity:
        return known_item(ctx, cell, place)
    at = int_value(ctx, row_of(ctx.b, cell, place))
    found = boxed(ctx, row_at(ctx.b, cell.element, at), cell.objects)
    return part_around(ctx, found).same_as(found) if isinstance(found, Bounded) else found


def with_item(ctx: Context, cell: Vector[Abstract], place: Int, new: Abstract) -> Vector[Abstract]:
    """The list with another element at a position inside; the template covers `new`."""
    held = held_as(ctx, new, cell.element)
    element = with_row(ctx.b, cell.element, int_value(ctx, row_of(ctx.b, cell, place)), held)
    return replace(cell, element=element, objects=united(cell.objects, (SOME_OBJECT,)))


def with_reserve(ctx: Context, cell: Vector[Abstract], more: Int, most: int) -> tuple[Vector[Abstract], Int]:
    """The list with a capacity for so many elements more, at most `most`, and its length then."""
    new = added(ctx, cell.length, more)
    if isinstance(new, int) or cell.site is None:
        template = templates.template_of_items(cell)
        assert template is not None
        needed = new if isinstance(new, int) else cell.capacity + most
        capacity = _amortised(cell.capacity, needed)
        if capacity * templates.row_size(template) > limits.DOUBLED_LIST_BYTES:
            needed = min(_most_in(ctx, cell) + most, _greatest(ctx, new))
            capacity = cell.capacity if needed <= cell.capacity else needed + needed // 8
        return as_vector(ctx.b, cell, template, capacity), new
    itemsize = templates.row_size(templates.row_template(cell.element))
    ctx.needs_capacity(Capacity(cell.site, cell.capacity, itemsize), new)
    return cell, new


def _most_in(ctx: Operations, cell: Vector[Abstract]) -> int:
    """The maximal number of elements of a list."""
    return min(cell.capacity, _greatest(ctx, cell.length))


def _greatest(ctx: Operations, count: Int) -> int:
    """The greatest value of a count."""
    if isinstance(count, int):
        return count
    end = ctx.range_of(Array(count, Form.PYTHON))[1]
    return limits.REPEATED_ELEMENTS if math.isinf(end) else int(end)


def _amortised(capacity: int, needed: int) -> int:
    """The capacity of a growing list: a power of two, as it may grow again."""
    return capacity if needed <= capacity else 1 << (needed - 1).bit_length()


def appended(ctx: Context, cell: Items, new: Abstract) -> Vector[Abstract] | None:
    """The list with one more element; None without a common template."""
    rows = as_rows(ctx, cell, new)
    if rows is None:
        return None
    end = rows.length
    rows, count = with_reserve(ctx, rows, 1, 1)
    return replace(with_item(ctx, rows, end, new), length=count)


def joined(ctx: Context, first: Items, second: Items) -> Vector[Abstract] | None:
    """The elements of the first list, followed by those of the second."""
    template = templates.template_of_both(first, second, ragged=True)
    if second == ():
        return as_rows(ctx, first)
    if first == ():
        rows = as_rows(ctx, second)
        if rows is None:
            return None
        return with_shared(rows, isinstance(second, Vector), objects=copied_objects(second))
    if template is None and any(map(has_views, (first, second))):
        return joined(ctx, with_contents(ctx, first), with_contents(ctx, second))
    if template is None:
        return None
    capacities = [capacity_of(x) for x in (first, second)]
    left, right = [as_vector(ctx.b, x, template, max(n, 1)) for x, n in zip((first, second), capacities)]
    if left.site is None:
        left = replace(left, site=right.site)
    if left.site is not None:  # as large as the other, at least
        left = as_vector(ctx.b, left, template, max(left.capacity, right.capacity))
    left, count = with_reserve(ctx, left, right.length, capacities[1])
    longer = replace(left, element=_with_behind(ctx, left, right), length=count)
    one, two = element_of(first), element_of(second)
    twice = two is not None and (may_share(one, two) if one is not None else has_arrays(two))
    objects = united(copied_objects(first), copied_objects(second))
    return with_shared(longer, twice or right.shared is Sharing.TWICE, objects=objects)


def _with_behind(ctx: Operations, left: Vector[Abstract], right: Vector[Abstract]) -> Abstract:
    """The rows of one list, which has the capacity, and behind its elements those of another.

    What changes is in a window of as many rows as the other has, which ends with the memory at the latest.
    """
    width = min(left.capacity, right.capacity)
    end = int_value(ctx, left.length)
    start = ctx.op(Minimum(), end, ctx.constant(left.capacity - width, INT64))
    places = _places(ctx, width)
    shift = ctx.broadcast(ctx.op(Subtract(), end, start), (width,))
    behind = ctx.op(Compare("GE"), places, shift)
    window = rebuild(left.element, lambda v: rows_from(ctx.b, v, start, width))
    new = taken_rows(ctx, right.element, ctx.op(Subtract(), places, shift))
    changed = iter(values_of(_chosen(ctx, behind, new, window)))
    return rebuild(left.element, lambda v: with_rows_from(ctx.b, v, start, next(changed)))


def _chosen(ctx: Operations, condition: Value, on_true: Abstract, on_false: Abstract) -> Abstract:
    """The rows of either list, selected row by row by `condition`."""
    others = iter(values_of(on_true))

    def chosen(rows: Value) -> Value:
        shape = rows.type.shape
        each = ctx.reshape(condition, (shape[0], *[1] * (len(shape) - 1)))
        return ctx.op(Select(), ctx.broadcast(each, shape), next(others), rows)

    return rebuild(on_false, chosen)


def taken_rows(ctx: Operations, element: Abstract, places: Value) -> Abstract:
    """The rows at these indices, clamped into range."""

    def taken(rows: Value) -> Value:
        capacity, *shape = rows.type.shape
        top = ctx.broadcast(ctx.constant(capacity - 1, INT64), places.type.shape)
        inside = ctx.op(Maximum(), ctx.op(Minimum(), places, top), ctx.op(Subtract(), top, top))
        kind = Gather(tuple(range(1, 1 + len(shape))), (0,), (0,), 1, (1, *shape))
        return ctx.op(kind, rows, inside)

    return rebuild(element, taken)


def _shifted(ctx: Operations, element: Abstract, by: int) -> Abstract:
    """The rows moved by one position."""

    def moved(rows: Value) -> Value:
        none = (0,) * (rows.type.rank - 1)
        zero = ctx.constant(0, rows.type.dtype)
        return ctx.op(Pad((by, *none), (-by, *none), (0, *none)), rows, zero)

    return rebuild(element, moved)


def repeated(ctx: Context, items: Sequence[Abstract], count: Abstract) -> Vector[Abstract] | None:
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
    capacity = ctx.capacity(
        limits.LISTED_EQUAL_ELEMENTS, templates.row_size(template), "a list", with_inputs=True
    )
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


def inserted(ctx: Context, cell: Items, index: Abstract, new: Abstract) -> Vector[Abstract] | None:
    """The list with an element inserted before `index`, which is clamped into range."""
    rows = as_rows(ctx, cell, new)
    if rows is None:
        return None
    if isinstance(index, Const):
        index = ctx.python(ctx.constant(operator.index(index.value), INT64))
    assert isinstance(index, Array)
    zero = ctx.constant(0, INT64)
    place = ctx.op(Maximum(), from_end(ctx, rows, index), zero)
    end = int_value(ctx, rows.length)
    place = ctx.op(Minimum(), place, end)
    rows, count = with_reserve(ctx, rows, 1, 1)
    element = moved_to_end(ctx.b, rows.element, place, end)
    return replace(with_item(ctx, replace(rows, element=element), place, new), length=count)


def without(ctx: Operations, cell: Vector[Abstract], place: Int) -> Vector[Abstract]:
    """The list without the element at a position inside.

    Without the first one, the second row comes first; of arrays it is noted in which row each is, so these move.
    """
    count = _difference(ctx, cell.length, 1)
    if isinstance(count, int) and place == count:
        return replace(cell, length=count)
    if isinstance(place, int) and place == 0 and not has_arrays(cell.element):
        return replace(cell, length=count, start=row_behind(ctx.b, cell, 1))
    cell = from_first(ctx.b, cell)
    element = moved_to_front(ctx.b, cell.element, int_value(ctx, place), int_value(ctx, count))
    return replace(cell, element=element, length=count)


def without_part(ctx: Context, cell: Vector[Abstract], entry: SliceObject) -> Vector[Abstract]:
    """The list without the elements of `l[start:stop]`."""
    capacity = cell.capacity
    left = progression(ctx, entry, ctx.python(int_value(ctx, cell.length), (0, capacity)))
    places = _places(ctx, capacity)
    moved = ctx.op(Add(), places, ctx.broadcast(left.count, (capacity,)))
    behind = ctx.op(Compare("GE"), places, ctx.broadcast(left.start, (capacity,)))
    element = _chosen(ctx, behind, taken_rows(ctx, cell.element, moved), cell.element)
    return replace(cell, element=element, length=_difference(ctx, cell.length, left.count))


def popped(ctx: Context, cell: Vector[Abstract], index: Abstract) -> tuple[Abstract, Vector[Abstract]]:
    """The result of `l.pop(index)`, and the list afterwards."""
    check(ctx, compared(ctx, "EQ", cell.length, 0), IndexError(), pop_empty)
    if isinstance(index, Const) and index.value == -1:
        return taken(ctx, cell, in_front=False)
    place = front(ctx, cell, index, pop_outside)
    return item(ctx, cell, place), without(ctx, cell, place)


def taken(ctx: Context, cell: Vector[Abstract], in_front: bool) -> tuple[Abstract, Vector[Abstract]]:
    """The element at one end, and the list without it; there must be one. No other row moves."""
    count = _difference(ctx, cell.length, 1)
    if not in_front:
        return item(ctx, cell, count), replace(cell, length=count)
    return item(ctx, cell, 0), replace(cell, length=count, start=row_behind(ctx.b, cell, 1))


def part(ctx: Context, cell: Vector[Abstract], entry: SliceObject) -> Vector[Abstract]:
    """`l[start:stop:step]`."""
    extent = list_length(cell)
    if isinstance(extent, Const):
        extent = ctx.python(ctx.constant(extent.value, INT64), (extent.value, extent.value))
    assert isinstance(extent, Array)
    places = progression(ctx, entry, extent)
    at = times(ctx, _places(ctx, cell.capacity), places.step)
    at = ctx.op(Add(), at, ctx.broadcast(places.start, (cell.capacity,)))
    element = taken_rows(ctx, cell.element, at)
    return Vector(element, cell.capacity, places.count, cell.site, objects=cell.objects)


def known_part(ctx: Operations, cell: Vector[Abstract], entry: slice) -> Vector[Abstract] | None:
    """`l[start:stop:step]`, all of which is known, of a list of known length; None if it is empty."""
    assert isinstance(cell.length, int)
    places = range(cell.length)[entry]
    if not places:
        return None
    low, high, step = min(places[0], places[-1]), max(places[0], places[-1]), abs(places.step)

    def chosen(rows: Value) -> Value:
        _, *rest = rows.type.shape
        none = (0,) * len(rest)
        kept = ctx.op(Slice((low, *none), (high + 1, *rest), (step, *[1] * len(rest))), rows)
        return kept if places.step > 0 else ctx.op(Reverse((0,)), kept)

    return Vector(rebuild(cell.element, chosen), len(places), len(places))


def turned(ctx: Operations, cell: Vector[Abstract]) -> Vector[Abstract]:
    """The elements in reverse order."""
    last = ctx.broadcast(int_value(ctx, _difference(ctx, cell.length, 1)), (cell.capacity,))
    at = ctx.op(Subtract(), last, _places(ctx, cell.capacity))
    return replace(cell, element=taken_rows(ctx, cell.element, at))


# ---------------------------------------------------------------- one after the other


def fold(
    ctx: Context,
    cell: Vector[Abstract],
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
        more = truth_of(compared(ctx, "LT", int_of(position), cell.length))
        if goes_on is None or more is FALSE:
            return more
        return ctx.branch(more, lambda: ctx.truth(goes_on(found)), lambda: FALSE)

    def body(state: Abstract) -> Abstract:
        position, found = _pair(state)
        found = step(found, position, item(ctx, cell, int_of(position)))
        return Tuple((_next(ctx, position), found))

    known = max(cell.length - first, 0) if isinstance(cell.length, int) else None
    start, stores = Tuple((Const(first), initial)), ctx.element_stores()
    result = _pair(ctx.while_loop(condition, body, start, known, max(cell.capacity - first, 0)))[1]
    if has_arrays(cell.element) and ctx.element_stores() != stores:
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


def truth_of(holds: bool | Value) -> Abstract:
    """A bool of Python's, known or of the program."""
    return (TRUE if holds else FALSE) if isinstance(holds, bool) else Array(holds, Form.PYTHON)


def int_of(position: Abstract) -> Int:
    """A position that counts from the front, as a Python int of the program."""
    assert isinstance(position, Const | Array)
    return position.value


def _next(ctx: Context, position: Abstract) -> Abstract:
    if isinstance(position, Const):
        return Const(position.value + 1)
    assert isinstance(position, Array)
    return ctx.python(ctx.op(Add(), position.value, ctx.constant(1, INT64)), (0, math.inf))


Equal = Callable[[Abstract, Abstract], Abstract]
"""`x == y`, as a truth."""


def find(ctx: Context, cell: Vector[Abstract], value: Abstract, same: Equal, start: int = 0) -> Abstract:
    """The index of the first element that equals `value`, -1 where none does."""
    _refuse_arrays(ctx, cell)
    _refuse_nan(ctx, value, "whether one of its elements is the same NaN")

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        return ctx.branch(same(each, value), lambda: position, lambda: found)

    def goes_on(found: Abstract) -> Abstract:
        return truth_of(compared(ctx, "LT", int_of(found), 0))

    return fold(ctx, cell, Const(-1), step, start, goes_on)


def is_place_found(ctx: Operations, place: Abstract) -> Abstract:
    """Whether `find` has found an element."""
    return truth_of(compared(ctx, "GE", int_of(place), 0))


def count(ctx: Context, cell: Vector[Abstract], value: Abstract, same: Equal) -> Abstract:
    """The number of elements that equal `value`."""
    _refuse_arrays(ctx, cell)
    _refuse_nan(ctx, value, "how many of its elements are the same NaN")

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        return ctx.branch(same(each, value), lambda: _next(ctx, found), lambda: found)

    return fold(ctx, cell, Const(0), step)


def _comparable(
    ctx: Context, left: Items, right: Items, what: str
) -> tuple[Vector[Abstract], Vector[Abstract]] | None:
    """Both lists as rows of one template, None without a common one; PS401 where NaN or arrays decide `what`."""
    template = templates.template_of_both(left, right, ragged=True)
    if template is None:
        return None
    first, second = [
        as_vector(ctx.b, x, template, capacity_of(x) if isinstance(x, Vector) else max(len(x), 1))
        for x in (left, right)
    ]
    for cell in (first, second):
        _refuse_arrays(ctx, cell)
        refuse_nan_rows(ctx, cell, what)
    return first, second


def equal(ctx: Context, left: Items, right: Items, same: Equal) -> Abstract | None:
    """`left == right`: as many elements, and each equal to the other; None where they have no template in common."""
    both = _comparable(ctx, left, right, "whether two lists with NaN are equal")
    if both is None:
        return None
    first, second = both
    lengths = truth_of(compared(ctx, "EQ", first.length, second.length))

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        return same(each, item(ctx, second, int_of(position)))

    def elements() -> Abstract:
        return fold(ctx, first, TRUE, step, goes_on=lambda found: found)

    return ctx.branch(lengths, elements, lambda: FALSE)


def ordered(
    ctx: Context,
    op: str,
    left: Items,
    right: Items,
    same: Equal,
    order: Callable[[Abstract, Abstract], Abstract],
) -> Abstract | None:
    """`left op right`: that of the first elements that differ, else of the lengths; None without a template in common."""
    both = _comparable(ctx, left, right, "the order of two lists or tuples with NaN")
    if both is None:
        return None
    first, second = both
    lengths = int_value(ctx, first.length), int_value(ctx, second.length)
    shorter = replace(first, length=ctx.op(Minimum(), *lengths))

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        return ctx.branch(same(each, item(ctx, second, int_of(position))), lambda: found, lambda: position)

    def goes_on(found: Abstract) -> Abstract:
        return truth_of(compared(ctx, "LT", int_of(found), 0))

    place = fold(ctx, shorter, Const(-1), step, goes_on=goes_on)

    def elements() -> Abstract:
        at = int_of(place)
        return order(item(ctx, first, at), item(ctx, second, at))

    by_length = truth_of(ctx.op(Compare(_DIRECTIONS[op]), *lengths))
    return ctx.branch(is_place_found(ctx, place), elements, lambda: by_length)


_DIRECTIONS = {"<": "LT", "<=": "LE", ">": "GT", ">=": "GE"}


def _refuse_arrays(ctx: Operations, cell: Vector[Abstract]) -> None:
    """Raises PS401 for arrays, whose identity Python compares first."""
    if has_arrays(cell.element):
        ctx.fail(NotKnown(span=ctx.span, what="which elements of a list are the same array"))


def _refuse_nan(ctx: Context, value: Abstract, what: str) -> None:
    """Raises PS401 where a number is NaN, whose identity Python compares first."""
    reason = NotKnown(span=ctx.span, what=what)
    if any(isinstance(c, Const) and c.value != c.value for c in _parts(value)):
        ctx.fail(reason)
    for each in _parts(value):
        if isinstance(each, RowsTuple):
            refuse_nan_rows(ctx, each.items, what)
            continue
        for number in values_of(each):
            if is_floating(number.type.dtype) and not number.type.shape:
                ctx.check(ctx.op(Compare("NE"), number, number), StagingError(()), refuse, [lambda: reason])


def _parts(value: Abstract) -> list[Abstract]:
    return [p for item in value.items for p in _parts(item)] if isinstance(value, Tuple) else [value]


def refuse_nan_rows(ctx: Context, cell: Vector[Abstract], what: str) -> None:
    """Raises PS401 where a number in an element is NaN."""
    reason = NotKnown(span=ctx.span, what=what)
    for rows in values_of(cell.element):
        if is_floating(rows.type.dtype):
            refuse_where(ctx, cell, ctx.op(Compare("NE"), rows, rows), reason)


def refuse_where(ctx: Context, cell: Vector[Abstract], bad: Value, reason: NotKnown) -> None:
    """Ends a run in which a condition holds for an element; of tuples, whatever is behind their last elements."""
    axes = tuple(range(1, bad.type.rank))
    if axes:
        bad = ctx.op(Reduce(Maximum(), axes), bad, ctx.constant(False, BOOL))
    bad = ctx.op(And(), is_element(ctx, cell), bad)
    any_bad = ctx.op(Reduce(Maximum(), (0,)), bad, ctx.constant(False, BOOL))
    ctx.check(any_bad, StagingError(()), refuse, [lambda: reason])


def is_element(ctx: Operations, cell: Vector[Abstract]) -> Value:
    """A mask of the rows that are elements."""
    end = ctx.broadcast(int_value(ctx, cell.length), (cell.capacity,))
    return ctx.op(Compare("LT"), _places(ctx, cell.capacity), end)


# ---------------------------------------------------------------- order


def mapped(ctx: Context, cell: Vector[Abstract], function: Abstract) -> Vector[Abstract]:
    """The results of `function` for each element, in order."""
    made = Ref(ctx.state.new_cell(ListCell(())))

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        append(ctx, made, _certain(ctx, ctx.call(function, [each])))
        return NONE

    fold(ctx, cell, NONE, step)
    found = ctx.cell(made).items
    keys = as_rows(ctx, found)
    if keys is None:
        if found != ():
            _unordered(ctx)
        return replace(cell, element=NONE, length=0)
    template = templates.template_of_items(keys)
    assert template is not None
    element = as_vector(ctx.b, keys, template, max(cell.capacity, keys.capacity)).element
    if keys.capacity > cell.capacity:
        element = taken_rows(ctx, element, _places(ctx, cell.capacity))
    return Vector(element, cell.capacity, cell.length)


def _certain(ctx: Context, key: Abstract) -> Abstract:
    """A sort key, which is a number or None, as the result of `dict.get`; PS401 where it is None."""
    if not isinstance(key, Gated):
        return key
    options = alternatives(key)
    numbers = [each for each in options if each != NONE]
    if len(numbers) != 1 or len(options) != 2:
        return key
    reason = NotKnown(span=ctx.span, what="the order of numbers of which one is None")
    is_none = tag_of(ctx.b, key, options.index(NONE))
    ctx.check(is_none, StagingError(()), refuse, [lambda: reason])
    return numbers[0]


def collected(
    ctx: Context, count: Abstract, element: Callable[[Abstract], Abstract]
) -> Vector[Abstract] | None:
    """The elements at the first `count` positions; None where they have no template in common."""
    made = Ref(ctx.state.new_cell(ListCell(())))
    end = int_of(count)

    def condition(position: Abstract) -> Abstract:
        return truth_of(compared(ctx, "LT", int_of(position), end))

    def body(position: Abstract) -> Abstract:
        append(ctx, made, element(position))
        return _next(ctx, position)

    most = ctx.range_of(count)[1] if isinstance(count, Array) else math.inf
    ctx.while_loop(condition, body, Const(0), most=None if math.isinf(most) else int(most))
    return as_rows(ctx, ctx.cell(made).items)


def _unordered(ctx: Operations) -> NoReturn:
    ctx.fail(NotKnown(span=ctx.span, what="the order of a sort by what are no numbers"))


def in_order(
    ctx: Context, cell: Vector[Abstract], keys: Vector[Abstract], backwards: bool, without_ties: bool = False
) -> Vector[Abstract]:
    """The list in the order of its keys; equal keys keep their order.

    `without_ties`: PS401 where two are equal, of what has no order.
    """
    numbers = _numbers(ctx, keys.element)
    if not all(map(_is_ordered, numbers)):
        _unordered(ctx)
    refuse_nan_rows(ctx, keys, "the order of numbers of which one is NaN")
    _refuse_rounded(ctx, keys)
    places = _places(ctx, cell.capacity)
    behind = ctx.op(Compare("GE"), places, ctx.broadcast(int_value(ctx, cell.length), (cell.capacity,)))
    ties = ctx.op(Subtract(), ctx.broadcast(ctx.constant(0, INT64), (cell.capacity,)), places)
    sorts = [behind, *[n.value for n in numbers], *([ties] if backwards else []), places]
    keys_count = len(sorts) - 1
    order = ctx.b.apply(Sort(0, True, keys_count), sorts).results[-1]
    if without_ties:
        _refuse_ties(ctx, replace(keys, element=taken_rows(ctx, keys.element, order)))
    result = replace(cell, element=taken_rows(ctx, cell.element, order))
    return turned(ctx, result) if backwards else result


def _refuse_ties(ctx: Context, keys: Vector[Abstract]) -> None:
    """Raises PS401 where two neighbouring keys are equal."""
    reason = NotKnown(span=ctx.span, what=UNORDERED)
    same = is_element(ctx, replace(keys, length=_difference(ctx, keys.length, 1)))
    for number, following in zip(_numbers(ctx, keys.element), _numbers(ctx, _shifted(ctx, keys.element, -1))):
        same = ctx.op(And(), same, ctx.op(Compare("EQ"), number.value, following.value))
    any_same = ctx.op(Reduce(Maximum(), (0,)), same, ctx.constant(False, BOOL))
    ctx.check(any_same, StagingError(()), refuse, [lambda: reason])


UNORDERED = "the order of a set of computed elements whose keys are equal"


def _is_ordered(numbers: Array) -> bool:
    """True for rows of single numbers whose order is that of the array of them."""
    return numbers.rank == 1 and not numbers.key_impl and numbers.dtype.kind in "biuf"


def _numbers(ctx: Operations, element: Abstract) -> list[Array]:
    if isinstance(element, Tuple):
        return [n for part in element.items for n in _numbers(ctx, part)]
    if isinstance(element, RowsTuple):
        return _columns(ctx, element.items)
    if isinstance(element, Gated):
        return [_ranks(ctx, element)]
    if isinstance(element, GatedNumber) and element.whole is not None:
        exact = [_rounded_away(ctx, element, element.whole)] if _is_of_python(element) else []
        return [Array(element.value, Form.PYTHON), *exact]
    if isinstance(element, Array):
        return [element]
    if not templates.is_known_string(element):
        _unordered(ctx)
    return []  # all are this string


def has_own_order(element: Abstract) -> bool:
    """True if the order of elements of this template is not that of the numbers and known strings in them.

    They are objects, tuples with objects or of a class that defines `<`, or what has no order.
    """
    match element:
        case Tuple(items, cls):
            own = cls.__lt__ is not tuple.__lt__  # type: ignore[operator]
            return own or any(map(has_own_order, items))
        case RowsTuple(rows):
            return has_own_order(rows.element)
        case Array() | GatedNumber() | Gated():
            return False
    return not templates.is_known_string(element)


def _is_of_python(number: GatedNumber) -> bool:
    """True for ints and floats, which Python compares exactly; NumPy rounds the integer to a floating-point number."""
    return all(kind.form is Form.PYTHON for kind in number.kinds)


def _refuse_rounded(ctx: Context, cell: Vector[Abstract]) -> None:
    """Raises PS401 where NumPy rounds an integer to compare it: it may equal two different numbers."""
    reason = NotKnown(
        span=ctx.span, what="the order of integers beyond 2**53 among floating-point numbers of NumPy"
    )
    for each in nodes(cell.element):
        if isinstance(each, GatedNumber) and each.whole is not None and not _is_of_python(each):
            away = _rounded_away(ctx, each, each.whole).value
            none = ctx.broadcast(ctx.constant(0, INT64), away.type.shape)
            refuse_where(ctx, cell, ctx.op(Compare("NE"), away, none), reason)


def _rounded_away(ctx: Operations, rows: GatedNumber, whole: Value) -> Array:
    """What integers are more than the floating-point numbers that they are rounded to; 0 of other numbers.

    The differences wrap around: 2**63, to which large integers are rounded, is -2**63 then.
    """
    shape = whole.type.shape
    limit = ctx.broadcast(ctx.constant(2.0**63, rows.value.type.dtype), shape)
    zero, least = [ctx.broadcast(ctx.constant(n, INT64), shape) for n in (0, -(2**63))]
    below = ctx.op(Compare("LT"), rows.value, limit)
    rounded = ctx.op(Select(), below, ctx.op(Convert(INT64), rows.value), least)
    integers = [is_of_kind(ctx.b, rows, kind) for kind in rows.kinds if kind.dtype.kind in "biu"]
    is_integer = functools.reduce(lambda a, b: ctx.op(Or(), a, b), integers)
    return Array(ctx.op(Select(), is_integer, ctx.op(Subtract(), whole, rounded), zero), Form.PYTHON)


def _ranks(ctx: Operations, rows: Gated) -> Array:
    """Rows of strings as their ranks in sorted order; PS401 for anything else."""
    if not all(map(templates.is_known_string, rows.options)):
        _unordered(ctx)
    strings = [option.value for option in rows.options]  # type: ignore[attr-defined]
    order = sorted(strings)
    shape = rows.tags[0].type.shape
    rank = ctx.broadcast(ctx.constant(order.index(strings[-1]), INT64), shape)
    for tag, string in zip(rows.tags, strings):
        here = ctx.broadcast(ctx.constant(order.index(string), INT64), shape)
        rank = ctx.op(Select(), tag, here, rank)
    return Array(rank, Form.PYTHON)


def _columns(ctx: Operations, tuples: Vector[Abstract]) -> list[Array]:
    """Rows of tuples as numbers that are in the order of these: of each place whether there is one, and which."""
    found: list[Array] = []
    if tuples.capacity > limits.SORTED_TUPLE_PLACES:
        _unordered(ctx)
    for place in range(tuples.capacity):
        here = compared(ctx, "GT", tuples.length, ctx.broadcast(ctx.constant(place, INT64), _shape(tuples)))
        assert isinstance(here, Value)
        found.append(Array(here, Form.PYTHON))

        def at(rows: Value, here: Value = here, place: int = place) -> Value:
            count, _, *rest = rows.type.shape
            none = (0,) * len(rest)
            part = ctx.op(Slice((0, place, *none), (count, place + 1, *rest), (1,) * (2 + len(rest))), rows)
            value = ctx.reshape(part, (count, *rest))
            if rest:
                _unordered(ctx)
            return ctx.op(Select(), here, value, ctx.broadcast(ctx.constant(0, value.type.dtype), (count,)))

        found += _numbers(ctx, rebuild(tuples.element, at))
    return found


def _shape(tuples: Vector[Abstract]) -> tuple[int, ...]:
    assert isinstance(tuples.length, Value)
    return tuples.length.type.shape


def extended(ctx: Context, ref: Ref, other: Abstract) -> Vector[Abstract] | None:
    """A list extended by the elements of another one; None where neither is a vector, or without a template."""
    items: Items = ctx.settle(ref).items
    content = ctx.cell(other) if isinstance(other, Ref) else None
    more: Items | None = content.items if isinstance(content, ListCell) else ctx.gathered(other)
    if more is None and isinstance(items, Vector):
        iterated = ctx.iterate(other)
        more = None if iterated is None else tuple(iterated)
    if more is None or not (isinstance(items, Vector) or isinstance(more, Vector)):
        return None
    if isinstance(more, Vector):
        if unite(ctx, items, more):
            items = ctx.settle(ref).items
            gathered = ctx.gathered(other)
            assert gathered is not None
            more = gathered
        longer = joined(ctx, with_members(ctx, items, more), more)
        if longer is None and isinstance(content, IteratorCell):  # which has given its elements
            ctx.fail(NotKnown(span=ctx.span, what="the number of elements of an iterator"))
        return longer
    held = with_members(ctx, more, items)
    items = ctx.settle(ref).items
    longer = joined(ctx, items, held)
    if longer is None or not has_arrays(longer.element):
        return longer
    for item in more:
        longer = with_shared(longer, frozen(ctx, item, longer.element, element_of(items)))
    return longer


def with_members(ctx: Context, items: Items, other: Items) -> Items:
    """The elements as a vector holds them, the objects in the pools of another list's objects."""
    if isinstance(items, Vector):
        return items
    like = element_of(other)
    return tuple([unboxed(ctx, item, like, views=True) for item in items])


def unite(ctx: Context, first: Items, second: Items) -> bool:
    """Makes one pool of those of the objects in two lists; gives whether the contents of the lists changed."""
    if not isinstance(first, Vector) or not isinstance(second, Vector):
        return False
    return _unite(ctx, first.element, second.element)


def _unite(ctx: Context, a: Abstract, b: Abstract) -> bool:
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        united = [_unite(ctx, x, y) for x, y in zip(a.items, b.items)]
        return any(united)
    if not isinstance(a, Pooled) or not isinstance(b, Pooled) or a.pool == b.pool:
        return False
    return ctx.united(a.pool, b.pool)


def append(ctx: Context, ref: Ref, new: Abstract) -> None:
    """`l.append(new)`."""
    cell = ctx.settle_ring(ref)
    if isinstance(cell, ListCell):
        ctx.write(ref.cell, replace(cell, items=(*cell.items, new)))
        return
    held = unboxed(ctx, new, cell.items.element, views=True)
    cell = ctx.settle_ring(ref)
    longer = appended(ctx, cell.items, held)
    if longer is None:  # its elements are known one by one, or it is refused
        ctx.write(ref.cell, with_elements(cell, (*list_items(ctx, cell.items), new)))
        return
    was_copied = has_views(cell.items) and not has_views(
        longer
    )  # now it holds copies of what it had by its places
    objects = (SOME_OBJECT,) if was_copied else copied_objects(cell.items)
    level = put_in(ctx, new, longer.element, element_of(cell.items), objects)
    objects = united(objects, objects_of(ctx, new))
    ctx.write(ref.cell, with_elements(cell, with_shared(longer, level is not Sharing.NOT, level, objects)))
