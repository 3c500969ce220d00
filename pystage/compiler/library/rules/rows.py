"""Lists as rows of arrays: what their elements have in common, and the arrays of all elements.

A *template* is one element with a placeholder for each of its numbers. An *element* of a `RowsCell` is the same with an
array in each place, which has one row for each element of the list. Elements have a template in common where they
are numbers of one shape, whatever their kinds, tuples of such, or one constant; of others, as of different strings, the
template is a gated φ of theirs, whose tags have rows too. Of arrays there are their contents (`Form.NDARRAY`;
`kernels/array_rows.py`); of views of one memory, whose sizes only the run knows, their places in it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeGuard, TypeVar

import numpy as np

from ...diagnostics.codes_control import NoCommonType
from ...hlo.builder import Builder
from ...hlo.ir import Region, Value
from ...hlo.types import BOOL, INT64, ArrayType, DType
from ...ops import (
    Broadcast,
    Concatenate,
    Constant,
    Convert,
    DynamicSlice,
    DynamicUpdateSlice,
    Or,
    Pad,
    Reshape,
    Select,
    Slice,
)
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent, joined_most
from ...values.capacity import AllocationSite
from ...values.gated import Gated, GatedNumber, alternatives, form_of, is_absent, tag_of
from ...values.identity import SOME_OBJECT, Identity, may_be_one, united
from ...values.lattice import (
    NONE,
    Abstract,
    AnyList,
    AnyTable,
    Array,
    ArrayCell,
    Const,
    DictCell,
    Frozen,
    ListCell,
    Pooled,
    Ref,
    RowsCell,
    RowsTuple,
    SetCell,
    Sharing,
    TableCell,
    Tuple,
    is_number,
    same_constant,
)
from ...values.node import TreeNode
from ...values.rows import stacked
from ...values.walk import inner, nodes, rebuild, values_of
from .numbers import common_type, is_of_kind, joined_range, kinds_of, number_type, range_of, whole_of
from .promote import PYTHON_DTYPES, fits
from .row_index import are_hashed_alike, has_numbers, index_of, index_type

_NOWHERE = Region()


def _placeholder(dtype: DType, shape: tuple[int, ...] = ()) -> Value:
    return Value(ArrayType(dtype, shape), _NOWHERE, 0)


# ---------------------------------------------------------------- templates


def template_of(item: Abstract) -> Abstract | None:
    """The template of one element; None for what is no number, no constant and no tuple of such."""
    match item:
        case Const(value) if is_number(item):
            exact = type(value) in PYTHON_DTYPES or (
                isinstance(value, np.generic) and value.dtype.kind in "biufc"
            )
            if not exact or (type(value) is int and not fits(value, INT64)):
                return None
            dtype, form, _ = number_type(item)
            return Array(_placeholder(dtype), form, False, range_of(item))
        case Const(value):
            return NONE if value is None else item
        case Array():
            return rebuild(item, lambda v: _placeholder(v.type.dtype, v.type.static_shape))
        case Pooled(pool):
            return Pooled(pool, _placeholder(INT64))
        case Bounded(whole=Array(form=Form.NDARRAY)):
            return rebuild(item, lambda v: _placeholder(v.type.dtype, v.type.static_shape))
        case Bounded() if can_be_view(item):
            extents = tuple([replace(e, capacity=None, bounds=()) for e in item.extents])
            view = replace(item, extents=extents, which=0)
            return rebuild(view, lambda v: _placeholder(v.type.dtype, v.type.static_shape))
        case Tuple(items, cls):
            parts = [template_of(part) for part in items]
            return None if None in parts else Tuple(tuple([p for p in parts if p is not None]), cls)
        case RowsTuple(rows):
            return tuple_template(row_template(rows.element), rows.capacity)
        case Gated(options, tags, reason):
            found = [template_of(option) for option in options]
            if not all(map(_may_be_alternative, found)):
                return None
            alternatives_of = tuple([each for each in found if each is not None])
            return Gated(alternatives_of, tuple([_placeholder(BOOL) for _ in tags]), reason)
    return None


MOST_ALTERNATIVES = 4
"""How many alternatives an element of a list of rows may have."""
MOST_STRINGS = 64
"""How many strings may be among them."""


def _may_be_alternative(template: Abstract | None) -> bool:
    """True for the template of what may be one of several things: numbers, constants, tuples of such."""
    if isinstance(template, Tuple):
        return all(map(_may_be_alternative, template.items))
    if isinstance(template, Array):
        return not template.shape and not template.key_impl and template.form is not Form.NDARRAY
    return isinstance(template, Const)


def is_view(element: Abstract) -> bool:
    """True for an element that is a view of a memory, or rows of such."""
    return isinstance(element, Bounded) and isinstance(element.whole, Ref)


def can_be_view(item: Bounded) -> bool:
    """True for a view that is known by its places: of what the program computes, only these."""
    whole = item.whole
    known = isinstance(whole, Ref) and not any(values_of(view) for view in whole.path)
    return known and all(e.progression is not None for e in item.extents)


def tuple_template(element: Abstract, capacity: int, site: AllocationSite | None = None) -> RowsTuple:
    """The template of tuples of at most so many elements of a template."""
    return RowsTuple(RowsCell(with_capacity(element, capacity), capacity, _placeholder(INT64), site))


def tuple_rows(x: Abstract) -> AnyList | None:
    """The elements of a tuple, as those of a list; None for anything else, and for a named tuple."""
    match x:
        case RowsTuple(rows):
            return rows
        case Tuple(items) if x.cls is tuple:
            return ListCell(items)
        case Const(value) if type(value) is tuple:
            return ListCell(tuple(map(key_of, value)))
    return None


def are_of_two_lengths(a: Abstract, b: Abstract) -> bool:
    """True for two tuples of known lengths that differ."""
    first, second = tuple_rows(a), tuple_rows(b)
    known = isinstance(first, ListCell) and isinstance(second, ListCell)
    return known and len(first.items) != len(second.items)  # type: ignore[union-attr]


def can_be_in_tuples(template: Abstract) -> bool:
    """True for a template of elements that tuples of computed length may have: of no objects, and of no arrays of NumPy."""
    return not any(
        isinstance(node, Pooled | Bounded | Gated) or (isinstance(node, Array) and node.form is Form.NDARRAY)
        for node in nodes(template)
    )


def template_of_list(cell: AnyList, ragged: bool = False) -> Abstract | None:
    """The template that all elements of a list have in common; None where there is none, as of an empty list.

    `ragged`: tuples of several lengths have one, that of tuples of computed length, and so has what is one of
    several things.
    """
    if isinstance(cell, RowsCell):
        return row_template(cell.element)
    return common_template(cell.items, ragged)


def row_template(element: Abstract) -> Abstract:
    """The template of which there are rows."""
    return rebuild(element, lambda v: _placeholder(v.type.dtype, v.type.static_shape[1:]))


def common_rows(a: AnyList, b: AnyList, loop: bool = False, ragged: bool = False) -> Abstract | None:
    """The template that the elements of two lists have in common; of an empty one, that of the other."""
    first, second = template_of_list(a, ragged), template_of_list(b, ragged)
    if isinstance(b, ListCell) and not b.items:
        return first
    if isinstance(a, ListCell) and not a.items:
        return second
    return joined(first, second, loop, ragged)


def common_template(items: Sequence[Abstract], ragged: bool = False) -> Abstract | None:
    """The template that all of at least one elements have in common."""
    found: Abstract | None = None
    seen: set[Any] = set()
    for position, item in enumerate(items):
        key = (type(item.value), item.value) if isinstance(item, Const) and is_number(item) else None
        if key in seen:
            continue
        template = template_of(item)
        found = template if position == 0 else joined(found, template, ragged=ragged)
        if found is None:
            return None
        if key is not None:
            seen.add(key)
    return found


def joined(
    a: Abstract | None, b: Abstract | None, loop: bool = False, ragged: bool = False
) -> Abstract | None:
    """The template of what has one or the other; None where they have none in common. `loop`: bounds are widened."""
    if isinstance(a, Array) and isinstance(b, Array) and (a.shape == b.shape or a.form is not Form.NDARRAY):
        return _joined_numbers(a, b, loop)
    if isinstance(a, Bounded) and isinstance(b, Bounded) and is_view(a) and is_view(b):
        return _joined_views(a, b)
    if isinstance(a, Array | Bounded) and isinstance(b, Array | Bounded):
        return _joined_arrays(a, b, loop)
    if isinstance(a, Const) and isinstance(b, Const) and same_constant(a.value, b.value):
        return a
    if isinstance(a, Pooled) and isinstance(b, Pooled):
        return a if a.pool == b.pool else None
    if isinstance(a, Tuple) and isinstance(b, Tuple) and a.cls is b.cls and len(a.items) == len(b.items):
        parts = [joined(x, y, loop, ragged) for x, y in zip(a.items, b.items)]
        if None not in parts:
            return Tuple(tuple([p for p in parts if p is not None]), a.cls)
    if isinstance(a, RowsTuple) or isinstance(b, RowsTuple):
        return joined_tuples(a, b, loop)
    if ragged and a is not None and b is not None and are_of_two_lengths(a, b):
        found = joined_tuples(a, b, loop)
        if found is not None and can_be_in_tuples(found):
            return found
    if a is not None and b is not None and (ragged or isinstance(a, Gated) or isinstance(b, Gated)):
        return _joined_alternatives(a, b, loop)
    return None


def _joined_alternatives(a: Abstract, b: Abstract, loop: bool) -> Gated | None:
    """The template of what is one thing or another; None where they are too many."""
    options = list(alternatives(a))
    for other in alternatives(b):
        both = [joined(each, other, loop) for each in options]
        here = next((place for place, each in enumerate(both) if each is not None), None)
        if here is None:
            options.append(other)
        else:
            options[here] = both[here] or other
    options.sort(key=lambda option: not is_absent(option))
    strings = sum([is_known_string(option) for option in options])
    many = strings > MOST_STRINGS or len(options) - strings > MOST_ALTERNATIVES
    if many or not all(map(_may_be_alternative, options)):
        return None
    reasons = [each.reason for each in (a, b) if isinstance(each, Gated)]
    reason = reasons[0] if reasons else NoCommonType(what="an element", first=_short(a), second=_short(b))
    return Gated(tuple(options), tuple([_placeholder(BOOL) for _ in options[1:]]), reason)


def is_known_string(value: Abstract) -> bool:
    """True for a string that is known while compiling."""
    return isinstance(value, Const) and type(value.value) is str


def _short(x: Abstract) -> str:
    match x:
        case Const(value):
            return repr(value)
        case Array():
            return f"a number of type {x.dtype}"
        case Tuple(items):
            return f"a tuple of {len(items)}"
    return "something else"


def joined_tuples(a: Abstract | None, b: Abstract | None, loop: bool = False) -> RowsTuple | None:
    """The template of tuples of any length, of which two have one or the other; None where their elements have none."""
    sides = [None if x is None else tuple_rows(x) for x in (a, b)]
    if sides[0] is None or sides[1] is None:
        return None
    element = common_rows(sides[0], sides[1], loop)
    if element is None:
        return None
    capacity = max(
        1, *[x.capacity if isinstance(x, RowsCell) else len(x.items) for x in sides if x is not None]
    )
    sites = [x.site for x in sides if isinstance(x, RowsCell) and x.site is not None]
    return tuple_template(element, capacity, sites[0] if sites else None)


def cropped(item: Abstract, template: Abstract) -> Abstract:
    """The template of an item, its tuples cropped to the capacity of the rows' template where a run may ask for more."""
    if isinstance(template, Tuple) and isinstance(item, Tuple) and len(template.items) == len(item.items):
        return Tuple(tuple(map(cropped, item.items, template.items)), item.cls)
    if isinstance(template, RowsTuple) and isinstance(item, RowsTuple) and template.rows.site is not None:
        return tuple_template(
            row_template(item.rows.element), min(template.rows.capacity, item.rows.capacity)
        )
    return item


def _joined_arrays(a: Array | Bounded, b: Array | Bounded, loop: bool) -> Bounded | None:
    """Arrays of several shapes have the greater extents in common, as bounds; None where these would be mostly empty."""
    first, second = _whole_of(a), _whole_of(b)
    if first is None or second is None or first.dtype != second.dtype or first.rank != second.rank:
        return None
    pairs = list(zip(first.shape, second.shape, strict=True))
    shape = tuple([max(pair) for pair in pairs])
    if math.prod(shape) > max(_LOOSE, _MOST_PADDING * max(math.prod(first.shape), math.prod(second.shape))):
        return None
    bounded = {axis for axis, (m, n) in enumerate(pairs) if m != n}
    bounded.update(extent.axis for x in (a, b) if isinstance(x, Bounded) for extent in x.extents)
    whole = Array(_placeholder(first.dtype, shape), Form.NDARRAY, range=joined_range(first, second, loop))
    extents = [Extent(axis, size=_placeholder(INT64)) for axis in sorted(bounded)]
    return Bounded(whole, ArrayType(first.dtype, shape), tuple(extents))


def _joined_views(a: Bounded, b: Bounded) -> Bounded | None:
    """Views of one memory; None for those of two."""
    one, two = a.whole, b.whole
    assert isinstance(one, Ref) and isinstance(two, Ref)
    if (one.cell, one.path) != (two.cell, two.path) or len(a.extents) != len(b.extents):
        return None
    if not all(e.is_like(f) for e, f in zip(a.extents, b.extents)):
        return None
    steps = [e.step if e.step == f.step else _placeholder(INT64) for e, f in zip(a.extents, b.extents)]
    pairs = zip(a.extents, b.extents, steps)
    extents = tuple([replace(e, step=step, most=joined_most(e, f)) for e, f, step in pairs])
    return replace(a, extents=extents, objects=united(a.objects, b.objects), which=0)


_LOOSE = 1 << 12
"""With so few elements, the common bounds of arrays of several shapes may be as empty as they are."""
_MOST_PADDING = 8
"""Beyond that they have at most this many times the elements of the larger array."""


def _whole_of(x: Array | Bounded) -> Array | None:
    """The contents of an array of NumPy's, as a template has them."""
    whole = x.whole if isinstance(x, Bounded) else x
    return whole if isinstance(whole, Array) and whole.form is Form.NDARRAY else None


def _joined_numbers(a: Array, b: Array, loop: bool) -> Array | None:
    if a.shape != b.shape or a.key_impl != b.key_impl:
        return None
    kinds = tuple(dict.fromkeys(kinds_of(a) + kinds_of(b)))
    if len(kinds) == 1:
        range = joined_range(a, b, loop)
        return Array(_placeholder(a.dtype, a.shape), a.form, a.weak, range, a.key_impl)
    found = common_type(a, b)
    if a.shape or a.key_impl or found is None:
        return None
    dtype, whole = found
    return GatedNumber(
        _placeholder(dtype),
        form_of(kinds),
        kinds=kinds,
        tags=tuple([_placeholder(BOOL) for _ in kinds[1:]]),
        whole=_placeholder(INT64) if whole else None,
    )


def covers(template: Abstract, item: Abstract) -> bool:
    """True if elements of this template may be what `item` is a template of: no wider one is needed."""
    both = joined(template, item)
    if both is None or _choices_in(template) != _choices_in(both):
        return False
    numbers = zip(_numbers(template), _numbers(both))
    return all(_as_wide(own, wide) for own, wide in numbers)


def _choices_in(template: Abstract) -> list[int]:
    """Of how many alternatives each gated φ in a template is, and what is known of the bounded axes of each array."""
    sides = [
        node.options if isinstance(node, Gated) else node.extents
        for node in nodes(template)
        if isinstance(node, Gated | Bounded)
    ]
    extents = [each for side in sides for each in side if isinstance(each, Extent)]
    known = [number for e in extents for number in (isinstance(e.step, int), e.most or 0)]
    return [*map(len, sides), *known]


def _as_wide(own: Array, wide: Array) -> bool:
    same = type(own) is type(wide) and own.type == wide.type and kinds_of(own) == kinds_of(wide)
    packed = isinstance(own, GatedNumber) and isinstance(wide, GatedNumber)
    if packed and (own.whole is None) != (wide.whole is None):  # type: ignore[attr-defined]
        return False
    return same and own.range == wide.range


def _numbers(template: Abstract) -> list[Array]:
    if isinstance(template, Tuple | Gated):
        return [n for part in inner(template) for n in _numbers(part)]
    if isinstance(template, Bounded) and isinstance(template.whole, Array):
        return [template.whole]
    if isinstance(template, RowsTuple):
        return _numbers(template.rows.element)
    return [template] if isinstance(template, Array) else []


N = TypeVar("N", bound=TreeNode)


def with_capacity(template: N, capacity: int) -> N:
    """So many rows of what a template describes, with a placeholder in place of each array."""
    rows: N = rebuild(template, lambda v: _placeholder(v.type.dtype, (capacity, *v.type.static_shape)))
    return rows


def row_size(template: TreeNode) -> int:
    """The number of bytes that one element takes."""
    return sum([v.type.nbytes for v in values_of(template)]) or 1


# ---------------------------------------------------------------- dicts and sets


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


def key_of(key: Any) -> Abstract:
    """A known key; a tuple as the parts of which it consists."""
    return Tuple(tuple(map(key_of, key)), type(key)) if isinstance(key, tuple) else Const(key)


def as_table(b: Builder, cell: AnyTable, template: Abstract, capacity: int, is_indexed: bool) -> TableCell:
    """The dict or set as `capacity` rows of the template, which covers its entries; with an index if `is_indexed`."""
    removed = cell.removed if isinstance(cell, TableCell) else 0
    rows = as_rows(b, entries_of(cell), template, capacity)
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


# ---------------------------------------------------------------- arrays


def as_rows(b: Builder, cell: AnyList, template: Abstract, capacity: int) -> RowsCell:
    """The list as `capacity` rows of the template, which covers its elements."""
    if isinstance(cell, RowsCell):
        cell = cell if cell.capacity == capacity else from_first(b, cell)
        element = _converted(b, cell.element, template, cell.capacity, capacity)
        return replace(cell, element=element, capacity=capacity)
    element = rows_of(b, cell.items, template, capacity)
    shared = Sharing.TWICE if _have_one_view(cell.items) else Sharing.NOT
    return RowsCell(element, capacity, len(cell.items), None, cell.aliases, cell.selector, shared)


def copied_objects(x: ArrayCell | AnyList) -> tuple[Identity, ...]:
    """The objects that an array may be, or those in a list, of which lists hold copies."""
    if isinstance(x, ArrayCell):
        return () if x.frozen is Frozen.NOT else x.objects
    if isinstance(x, RowsCell):
        return x.objects
    return (SOME_OBJECT,) if x.items else ()


def _have_one_view(items: Sequence[Abstract]) -> bool:
    """True if two of the items may have the same object in them, which is a view."""
    found = [[n.objects for n in nodes(item) if isinstance(n, Bounded) and is_view(n)] for item in items]
    each = [objects for inside in found for objects in inside]
    return any(itertools.starmap(may_be_one, itertools.combinations(each, 2)))


def from_first(b: Builder, cell: RowsCell) -> RowsCell:
    """The rows in their order, from the first one on."""
    if isinstance(cell.start, int) and cell.start == 0:
        return cell
    start = b.op(Constant(np.asarray(cell.start))) if isinstance(cell.start, int) else cell.start

    def turned(rows: Value) -> Value:
        shape = rows.type.static_shape
        rest = [b.op(Constant(np.zeros((), start.type.dtype)))] * (len(shape) - 1)
        return b.op(DynamicSlice(shape), b.op(Concatenate(0), rows, rows), start, *rest)

    return replace(cell, element=rebuild(cell.element, turned), start=0)


def rows_of(b: Builder, items: Sequence[Abstract], template: Abstract, capacity: int) -> Abstract:
    """The items, and behind them zeros, as `capacity` rows of the template."""
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
    """Arrays of bounded extent, or tuples, in the bounds of the template, and how many elements they have."""
    arrays = [retyped(b, item, template, ()) for item in items]
    columns = iter(zip(*map(values_of, arrays), strict=True)) if arrays else None

    def column(v: Value) -> Value:
        if columns is None:
            zero = b.op(Constant(np.zeros((), v.type.dtype)))
            return b.op(Broadcast((capacity, *v.type.static_shape), ()), zero)
        return padded(b, stacked(b, next(columns)), capacity)

    return rebuild(template, column)


def _rows_of_alternatives(b: Builder, items: Sequence[Abstract], template: Gated, capacity: int) -> Abstract:
    """The alternatives of each item side by side, zeros for those that it has not, and which of them it is."""

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
    """Which of the alternatives of `x`, rows along so many axes, are one option of a template that covers it."""

    def position(each: Abstract) -> int:
        rows = rebuild(each, lambda v: _placeholder(v.type.dtype, v.type.static_shape[axes:]))
        own = rows if axes else template_of(each)
        return next(i for i, other in enumerate(template.options) if joined(other, own) is not None)

    return [place for place, each in enumerate(alternatives(x)) if position(each) == option]


def _alternative(b: Builder, x: Abstract, template: Gated, option: int, shape: tuple[int, ...]) -> Abstract:
    """What `x`, rows along axes of this shape, is where it is one option of a template; zeros where it never is."""
    of, found = template.options[option], _matches(template, x, option, len(shape))
    if not found:
        return rebuild(of, lambda v: _zeros(b, (*shape, *v.type.static_shape), v.type.dtype))
    if not isinstance(x, Gated):
        return retyped(b, x, of, shape)
    first, *rest = [(place, retyped(b, x.options[place], of, shape)) for place in found]
    result = first[1]
    for place, other in rest:
        values, tag = iter(values_of(other)), tag_of(b, x, place)
        result = rebuild(result, lambda v: b.op(Select(), tag, next(values), v))  # noqa: B023
    return result


def _is_alternative(b: Builder, x: Abstract, template: Gated, option: int, shape: tuple[int, ...]) -> Value:
    """Whether `x`, rows along axes of this shape, is one option of a template."""
    found = _matches(template, x, option, len(shape))
    if not isinstance(x, Gated):
        return b.op(Broadcast(shape, ()), b.op(Constant(np.asarray(bool(found)))))
    if not found:
        return b.op(Broadcast(shape, ()), b.op(Constant(np.asarray(False))))
    return functools.reduce(lambda p, q: b.op(Or(), p, q), [tag_of(b, x, place) for place in found])


def _zeros(b: Builder, shape: tuple[int, ...], dtype: DType) -> Value:
    return b.op(Broadcast(shape, ()), b.op(Constant(np.zeros((), dtype))))


_PLACE = ArrayType(INT64)


def _pool_index(b: Builder, item: Abstract) -> Value:
    assert isinstance(item, Pooled)
    return b.op(Constant(np.asarray(item.place, INT64))) if isinstance(item.place, int) else item.place


def _part(item: Abstract, place: int) -> Abstract:
    assert isinstance(item, Tuple)
    return item.items[place]


def _value_of(b: Builder, template: Array, item: Abstract) -> Value:
    if isinstance(item, Const):
        return b.op(Constant(np.asarray(item.value).astype(template.dtype)))
    assert isinstance(item, Array)
    return item.value if item.dtype == template.dtype else b.op(Convert(template.dtype), item.value)


def _column(
    b: Builder, items: Sequence[Abstract], of: Callable[[Abstract], Value], type: ArrayType, capacity: int
) -> Value:
    """What `of` gives for each item, and behind them zeros, along a new axis. Equal constants are looked at once."""
    known: dict[Any, Any] = {}
    column = np.zeros((capacity, *type.static_shape), type.dtype)
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
        if column.nbytes < _FILLED:
            return _of_constant(b, column)
        return padded(b, b.op(Constant(column[: len(items)])), capacity, loose=True)
    return padded(b, stacked(b, [of(item) for item in items]), capacity, loose=True)


_FILLED = 4096
"""So many bytes of known rows are a constant; of more, the memory behind the rows may be left as it is."""


def _constant(value: Value) -> Any:
    kind = getattr(value.owner, "kind", None)
    return np.asarray(kind.data) if isinstance(kind, Constant) else None


def _of_constant(b: Builder, column: np.ndarray) -> Value:
    """A constant array; of equal elements, one of them broadcast."""
    first = column.reshape(-1)[:1]
    if column.size and column.tobytes() == first.tobytes() * column.size:
        return b.op(Broadcast(column.shape, ()), b.op(Constant(first.reshape(()))))
    return b.op(Constant(column))


def padded(b: Builder, rows: Value, capacity: int, axis: int = 0, loose: bool = False) -> Value:
    """The rows along an axis, and behind them zeros; `loose`: or anything else."""
    rank, count = rows.type.rank, rows.type.static_shape[axis]
    if count >= capacity:
        return rows
    zero = b.op(Constant(np.zeros((), rows.type.dtype)))
    none = (0,) * rank
    behind = tuple([capacity - count if each == axis else 0 for each in range(rank)])
    return b.op(Pad(none, behind, none, loose), rows, zero)


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
        return RowsTuple(retyped_tuple(b, element, template.rows, shape))
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
            columns.append(tag if tag.type.shape else b.op(Broadcast(shape, ()), tag))
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
    whole = _whole_of(element)
    assert whole is not None
    value, sizes = whole.value, {}
    if isinstance(element, Bounded):
        sizes = {extent.axis: extent for extent in element.extents}
    for extent in template.extents:
        axis = len(shape) + extent.axis
        if extent.axis not in sizes:
            size = b.op(Constant(np.asarray(value.type.static_shape[axis], INT64)))
            sizes[extent.axis] = replace(extent, size=b.op(Broadcast(shape, ()), size) if shape else size)
        value = padded(b, value, template.type.static_shape[extent.axis], axis)
    extents = tuple([sizes[extent.axis] for extent in template.extents])
    return replace(template, whole=replace(template.whole, value=value), extents=extents)


def _step(b: Builder, step: int | Value, template: int | Value, shape: tuple[int, ...]) -> int | Value:
    """A step, or steps along axes of this shape, as a template has it."""
    if isinstance(step, Value) or isinstance(template, int):
        return step
    known = b.op(Constant(np.asarray(step, INT64)))
    return b.op(Broadcast(shape, ()), known) if shape else known


def retyped_tuple(b: Builder, x: Abstract, template: RowsCell, shape: tuple[int, ...]) -> RowsCell:
    """The elements of a tuple as rows of a template that covers them; of tuples along axes of this shape.

    The elements beyond the capacity of the template are left out: where there are any, the run ends.
    """
    inner, axis, rows = row_template(template.element), len(shape), tuple_rows(x)
    assert rows is not None
    if isinstance(rows, RowsCell):
        assert rows.start == 0
        count = min(rows.capacity, template.capacity)
        first = rebuild(rows.element, lambda v: _first_along(b, axis, v, count))
        element = retyped(b, first, inner, (*shape, count))
    elif shape and rows.items:
        parts = [values_of(retyped(b, item, inner, shape)) for item in rows.items]
        columns = iter([_along(b, axis, column) for column in zip(*parts, strict=True)])
        element = rebuild(inner, lambda v: next(columns))
    elif shape:
        element = rebuild(
            template.element,
            lambda v: b.op(
                Broadcast((*shape, *v.type.static_shape), ()), b.op(Constant(np.zeros((), v.type.dtype)))
            ),
        )
    else:
        element = rows_of(b, rows.items, inner, template.capacity)
    element = rebuild(element, lambda v: padded(b, v, template.capacity, axis))
    length = rows.length if isinstance(rows, RowsCell) else len(rows.items)
    if isinstance(length, int):
        length = b.op(Constant(np.asarray(length, INT64)))
    if not length.type.shape and shape:
        length = b.op(Broadcast(shape, ()), length)
    return RowsCell(element, template.capacity, length, template.site)


def _first_along(b: Builder, axis: int, value: Value, count: int) -> Value:
    """So many of what a value has along an axis."""
    shape = value.type.static_shape
    if shape[axis] == count:
        return value
    limits = (*shape[:axis], count, *shape[axis + 1 :])
    return b.op(Slice((0,) * len(shape), limits, (1,) * len(shape)), value)


def _along(b: Builder, axis: int, values: Sequence[Value]) -> Value:
    """The values along a new axis."""
    shape = values[0].type.static_shape
    wide = [b.op(Reshape((*shape[:axis], 1, *shape[axis:])), value) for value in values]
    return b.op(Concatenate(axis), *wide) if len(wide) > 1 else wide[0]


def _with_values(template: Array, columns: Sequence[Value]) -> Abstract:
    take = iter(columns)
    return rebuild(template, lambda v: next(take))


# ---------------------------------------------------------------- rows


def row_at(b: Builder, element: Abstract, at: Value) -> Abstract:
    """The element of the list at a place that lies inside."""
    return rebuild(element, functools.partial(_row, b, at=at))


def _row(b: Builder, rows: Value, at: Value) -> Value:
    return b.op(Reshape(rows.type.static_shape[1:]), rows_from(b, rows, at, 1))


def rows_from(b: Builder, rows: Value, at: Value, count: int) -> Value:
    """So many of the rows, from a place on."""
    return b.op(DynamicSlice((count, *rows.type.static_shape[1:])), rows, *_starts(b, rows, at))


def with_rows_from(b: Builder, rows: Value, at: Value, new: Value) -> Value:
    """The rows with others from a place on."""
    return b.op(DynamicUpdateSlice(), rows, new, *_starts(b, rows, at))


def _starts(b: Builder, rows: Value, at: Value) -> list[Value]:
    """Where a slice of whole rows starts along each axis."""
    return [at, *[b.op(Constant(np.zeros((), at.type.dtype)))] * (rows.type.rank - 1)]


def with_row(b: Builder, element: Abstract, at: Value, item: Abstract) -> Abstract:
    """The rows with what `item`, which the element covers, is at a place that lies inside."""
    template = row_template(element)
    new = iter(values_of(rows_of(b, [item], template, 1)))
    return rebuild(element, lambda rows: with_rows_from(b, rows, at, next(new)))
