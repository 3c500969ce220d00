"""Templates: the common structure of the elements of a list.

A *template* is one element with a placeholder for each of its numbers. Numbers of one shape and of any kinds, tuples of
such, and equal constants have a common template; for others, such as different strings, it is a gated φ, whose tags have
rows too. Arrays are represented by their contents (`Form.NDARRAY`; `kernels/array_rows.py`); views of one memory whose
sizes only the run knows by their positions in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ... import limits
from ...diagnostics.codes_control import NoCommonType
from ...hlo.ir import Region, Value
from ...hlo.types import BOOL, INT64, ArrayType, DType
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent, joined_most
from ...values.capacity import AllocationSite
from ...values.gated import Gated, GatedNumber, alternatives, form_of, is_absent
from ...values.identity import united
from ...values.lattice import (
    NONE,
    Abstract,
    Array,
    Const,
    Items,
    Pooled,
    Ref,
    RowsTuple,
    Tuple,
    is_number,
    same_constant,
)
from ...values.node import TreeNode
from ...values.vector import Sharing, Vector, capacity_of
from ...values.walk import nodes, rebuild, values_of
from .numbers import common_type, joined_range, kinds_of, number_type, range_of
from .promote import PYTHON_DTYPES, fits

_NOWHERE = Region()
N = TypeVar("N", bound=TreeNode)


def placeholder(dtype: DType, shape: tuple[int, ...] = ()) -> Value:
    """A value that stands for the numbers of all elements."""
    return Value(ArrayType(dtype, shape), _NOWHERE, 0)


def key_of(key: Any) -> Abstract:
    """A known key; a tuple by its parts."""
    return Tuple(tuple(map(key_of, key)), type(key)) if isinstance(key, tuple) else Const(key)


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
            return Array(placeholder(dtype), form, False, range_of(item))
        case Const(value):
            return NONE if value is None else item
        case Array():
            return rebuild(item, lambda v: placeholder(v.type.dtype, v.type.shape))
        case Pooled(pool):
            return Pooled(pool, placeholder(INT64))
        case Bounded(whole=Array(form=Form.NDARRAY)):
            return rebuild(item, lambda v: placeholder(v.type.dtype, v.type.shape))
        case Bounded() if can_be_view(item):
            extents = tuple([replace(e, capacity=None, bounds=()) for e in item.extents])
            view = replace(item, extents=extents, which=0)
            return rebuild(view, lambda v: placeholder(v.type.dtype, v.type.shape))
        case Tuple(items, cls):
            parts = [template_of(part) for part in items]
            return None if None in parts else Tuple(tuple([p for p in parts if p is not None]), cls)
        case RowsTuple(vector):
            return tuple_template(row_template(vector.element), vector.capacity)
        case Gated(options, tags, reason):
            found = [template_of(option) for option in options]
            if not all(map(_may_be_alternative, found)):
                return None
            alternatives_of = tuple([each for each in found if each is not None])
            return Gated(alternatives_of, tuple([placeholder(BOOL) for _ in tags]), reason)
    return None


def _may_be_alternative(template: Abstract | None) -> bool:
    """True for the template of what may be an alternative of a gated φ: numbers, constants, tuples of such."""
    if isinstance(template, Tuple):
        return all(map(_may_be_alternative, template.items))
    if isinstance(template, Array):
        return not template.shape and not template.key_impl and template.form is not Form.NDARRAY
    return isinstance(template, Const)


def is_view(element: Abstract) -> bool:
    """True for an element that is a view held by position, or rows of such."""
    return isinstance(element, Bounded) and isinstance(element.whole, Ref)


def can_be_view(item: Bounded) -> bool:
    """True for a view that is known by position: of what the program computes, only these."""
    whole = item.whole
    known = isinstance(whole, Ref) and not any(values_of(view) for view in whole.path)
    return known and all(e.progression is not None for e in item.extents)


def vector_template(
    element: N, capacity: int, site: AllocationSite | None = None, shared: Sharing = Sharing.NOT
) -> Vector[N]:
    """The template of vectors of at most so many elements of a template."""
    return Vector(with_capacity(element, capacity), capacity, placeholder(INT64), site, shared=shared)


def tuple_template(element: Abstract, capacity: int, site: AllocationSite | None = None) -> RowsTuple:
    """The template of tuples of at most so many elements of a template."""
    return RowsTuple(vector_template(element, capacity, site))


def items_of_tuple(x: Abstract | None) -> Items | None:
    """The elements of a tuple; None for anything else, and for a named tuple."""
    match x:
        case RowsTuple(items):
            return items
        case Tuple(items) if x.cls is tuple:
            return items
        case Const(value) if type(value) is tuple:
            return tuple(map(key_of, value))
    return None


def are_of_two_lengths(a: Abstract, b: Abstract) -> bool:
    """True for two tuples of known lengths that differ."""
    first, second = items_of_tuple(a), items_of_tuple(b)
    return isinstance(first, tuple) and isinstance(second, tuple) and len(first) != len(second)


def can_be_in_tuples(template: Abstract) -> bool:
    """True for a template of elements that tuples of computed length may have: of no objects, and of no arrays of NumPy."""
    return not any(
        isinstance(node, Pooled | Bounded | Gated) or (isinstance(node, Array) and node.form is Form.NDARRAY)
        for node in nodes(template)
    )


def template_of_items(items: Items, ragged: bool = False) -> Abstract | None:
    """The common template of all elements; None where there is none, as of no elements.

    `ragged`: tuples of several lengths have one, that of tuples of computed length, and so has what is one of
    several things.
    """
    if isinstance(items, Vector):
        return row_template(items.element)
    return common_template(items, ragged)


def row_template(element: N) -> N:
    """The template of the elements of rows."""
    template: N = rebuild(element, lambda v: placeholder(v.type.dtype, v.type.shape[1:]))
    return template


def template_of_both(a: Items, b: Items, loop: bool = False, ragged: bool = False) -> Abstract | None:
    """The common template of the elements of two lists; of an empty one, that of the other."""
    first, second = template_of_items(a, ragged), template_of_items(b, ragged)
    if b == ():
        return first
    if a == ():
        return second
    return joined(first, second, loop, ragged)


def common_template(items: Sequence[Abstract], ragged: bool = False) -> Abstract | None:
    """The common template of one or more elements."""
    if (tuples := _by_parts(items, ragged)) is not None:
        return tuples
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


def _by_parts(items: Sequence[Abstract], ragged: bool) -> Tuple | None:
    """The common template of several tuples whose parts have one each: numbers that are equal are joined once."""
    if len(items) < 2 or not all(isinstance(item, Tuple) for item in items):
        return None
    classes = {(item.cls, len(item.items)) for item in items}  # type: ignore[attr-defined]
    if len(classes) > 1:
        return None
    parts: list[Abstract] = []
    for column in zip(*[item.items for item in items]):  # type: ignore[attr-defined]
        part = common_template(column, ragged)
        if part is None:
            return None
        parts.append(part)
    ((cls, _),) = classes
    return Tuple(tuple(parts), cls)


def joined(
    a: Abstract | None, b: Abstract | None, loop: bool = False, ragged: bool = False
) -> Abstract | None:
    """The common template of two templates; None where there is none. `loop`: bounds are widened."""
    if isinstance(a, Array) and isinstance(b, Array) and (a.shape == b.shape or a.form is not Form.NDARRAY):
        numbers = _joined_numbers(a, b, loop)
        return _joined_alternatives(a, b, loop) if numbers is None and ragged else numbers
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
    """The template of a gated φ of both; None where the alternatives are too many."""
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
    many = strings > limits.GATED_STRINGS or len(options) - strings > limits.ELEMENT_ALTERNATIVES
    if many or not all(map(_may_be_alternative, options)):
        return None
    reasons = [each.reason for each in (a, b) if isinstance(each, Gated)]
    reason = reasons[0] if reasons else NoCommonType(what="an element", first=_short(a), second=_short(b))
    return Gated(tuple(options), tuple([placeholder(BOOL) for _ in options[1:]]), reason)


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
    """The common template of tuples of any length; None where their elements have none."""
    first, second = items_of_tuple(a), items_of_tuple(b)
    if first is None or second is None:
        return None
    element = template_of_both(first, second, loop)
    if element is None:
        return None
    sites = [x.site for x in (first, second) if isinstance(x, Vector) and x.site is not None]
    capacity = max(1, capacity_of(first), capacity_of(second))
    return tuple_template(element, capacity, sites[0] if sites else None)


def cropped(item: Abstract, template: Abstract) -> Abstract:
    """The template of an item, its tuples cropped to the capacity of the rows' template where a run may ask for more."""
    if isinstance(template, Tuple) and isinstance(item, Tuple) and len(template.items) == len(item.items):
        return Tuple(tuple(map(cropped, item.items, template.items)), item.cls)
    if isinstance(template, RowsTuple) and isinstance(item, RowsTuple) and template.items.site is not None:
        capacity = min(template.items.capacity, item.items.capacity)
        return tuple_template(row_template(item.items.element), capacity)
    return item


def _joined_arrays(a: Array | Bounded, b: Array | Bounded, loop: bool) -> Bounded | None:
    """The common template of arrays of several shapes, bounded by the greater extents; None if mostly empty."""
    first, second = array_part(a), array_part(b)
    if first is None or second is None or first.dtype != second.dtype or first.rank != second.rank:
        return None
    pairs = list(zip(first.shape, second.shape, strict=True))
    shape = tuple([max(pair) for pair in pairs])
    if math.prod(shape) > max(
        limits.PADDED_ROW_ELEMENTS,
        limits.PADDED_ROW_FACTOR * max(math.prod(first.shape), math.prod(second.shape)),
    ):
        return None
    bounded = {axis for axis, (m, n) in enumerate(pairs) if m != n}
    bounded.update(extent.axis for x in (a, b) if isinstance(x, Bounded) for extent in x.extents)
    whole = Array(placeholder(first.dtype, shape), Form.NDARRAY, range=joined_range(first, second, loop))
    extents = [Extent(axis, size=placeholder(INT64)) for axis in sorted(bounded)]
    return Bounded(whole, ArrayType(first.dtype, shape), tuple(extents))


def _joined_views(a: Bounded, b: Bounded) -> Bounded | None:
    """The common template of views of one memory; None for those of two."""
    one, two = a.whole, b.whole
    assert isinstance(one, Ref) and isinstance(two, Ref)
    if (one.cell, one.path) != (two.cell, two.path) or len(a.extents) != len(b.extents):
        return None
    if not all(e.is_like(f) for e, f in zip(a.extents, b.extents)):
        return None
    steps = [e.step if e.step == f.step else placeholder(INT64) for e, f in zip(a.extents, b.extents)]
    pairs = zip(a.extents, b.extents, steps)
    extents = tuple([replace(e, step=step, most=joined_most(e, f)) for e, f, step in pairs])
    return replace(a, extents=extents, objects=united(a.objects, b.objects), which=0)


def array_part(x: Array | Bounded) -> Array | None:
    """The contents of an ndarray in the form of a template."""
    whole = x.whole if isinstance(x, Bounded) else x
    return whole if isinstance(whole, Array) and whole.form is Form.NDARRAY else None


def _joined_numbers(a: Array, b: Array, loop: bool) -> Array | None:
    if a.shape != b.shape or a.key_impl != b.key_impl:
        return None
    kinds = tuple(dict.fromkeys(kinds_of(a) + kinds_of(b)))
    if len(kinds) == 1:
        range = joined_range(a, b, loop)
        return Array(placeholder(a.dtype, a.shape), a.form, a.weak, range, a.key_impl)
    found = common_type(a, b)
    if a.shape or a.key_impl or found is None:
        return None
    dtype, whole = found
    return GatedNumber(
        placeholder(dtype),
        form_of(kinds),
        kinds=kinds,
        tags=tuple([placeholder(BOOL) for _ in kinds[1:]]),
        whole=placeholder(INT64) if whole else None,
    )


def with_capacity(template: N, capacity: int) -> N:
    """The rows that a template describes, as many as the capacity, with a placeholder for each array."""
    rows: N = rebuild(template, lambda v: placeholder(v.type.dtype, (capacity, *v.type.shape)))
    return rows


def row_size(template: TreeNode) -> int:
    """The number of bytes that one element takes."""
    return sum([v.type.nbytes for v in values_of(template)]) or 1
