"""Structured (record) arrays: subscripts, attributes, operators and NumPy functions, field by field.

A part of records is the same part of each field, and each field is an ndarray like any other: an operation on records is
the library's operation on each field. NumPy itself determines fields, dtypes and exceptions. What is not supported is
PS606.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from .... import limits
from ....diagnostics.codes_calls import NotServed
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import (
    KNOWN_NUMBERS,
    LISTS,
    Abstract,
    Array,
    Const,
    ListCell,
    Meaning,
    Method,
    Records,
    Ref,
    Tuple,
)
from ....values.memory import Leaf, RecordClass, RecordType, leaves_of, record_class, why_not
from ....values.views import FieldOf, Permuted, entire
from ...context import Context, Raw
from ...kernels.layout import is_contiguous
from ...kernels.structures import MISSING, abstract, cell_of, known_object, sequence_items
from ..indexing.indices import spelled_out
from ..indexing.stores import check_writable, shape_of
from ..indexing.stores import dtype_of as dtype_of_array
from .subscripts import array_getitem, array_setitem

ALL = Const(Ellipsis)


def refuse(
    ctx: Context,
    name: str,
    instead: str = "do it field by field: `a['x']`",
    why: str = "of structured arrays fields, elements, slices, copies, stores and comparisons are staged",
) -> NoReturn:
    """Raises PS606 for what is not supported of structured arrays."""
    ctx.fail(NotServed(span=ctx.span, name=f"{name} of a structured array", why=why, instead=instead))


# ---------------------------------------------------------------- what they are


def _type_of(ctx: Context, part: Abstract) -> tuple[int, ...]:
    """The extents of a field, bounds in place of those that only the run knows."""
    if isinstance(part, Bounded):
        return part.type.shape
    assert isinstance(part, Ref)
    return shape_of(ctx, part)


def rank_of(ctx: Context, records: Records) -> int:
    """The number of axes."""
    return len(_type_of(ctx, records.parts[0])) - len(records.leaves[0].shape)


def _extents(ctx: Context, records: Records, name: str) -> tuple[int, ...]:
    """The shape, where it must be known."""
    if any(isinstance(part, Bounded) for part in records.parts):
        refuse(ctx, f"{name}, of a size that only the run knows,")
    return _type_of(ctx, records.parts[0])[: rank_of(ctx, records)]


def _made(cls: type[RecordClass], parts: Sequence[Abstract], element: bool = False) -> Records:
    """New records, with memory of their own."""
    return Records(cls, tuple(parts), cls.dtype.itemsize, element)


def _by_field(
    ctx: Context, records: Records, name: str, change: Callable[[Abstract, Leaf], Abstract]
) -> tuple[Abstract, ...]:
    """The results of `change` for each field, which must still be arrays of which there are views."""
    parts = tuple([change(part, leaf) for part, leaf in zip(records.parts, records.leaves)])
    if not all(ctx.is_ndarray(part) or isinstance(part, Bounded) for part in parts):
        refuse(ctx, name)
    return parts


def _sample(records: Records) -> Any:
    """Records of the dtype, for asking NumPy for exceptions."""
    sample = np.zeros(1, records.dtype).view(records.cls.array)
    return sample[0] if records.element else sample


# ---------------------------------------------------------------- reading


def getitem(ctx: Context, records: Records, index: Abstract) -> Abstract:
    """`records[index]`: a field, several fields, an element or a part."""
    known = known_object(ctx, index)
    if isinstance(known, str):
        return field(ctx, records, known)
    names = _names(ctx, index)
    if names is not None:
        return _fields(ctx, records, names)
    if records.element:
        return _of_element(ctx, records, known)
    return _part(ctx, records, index)


def _names(ctx: Context, index: Abstract) -> list[str] | None:
    """The names of fields in a list; None for any other index."""
    items = _written_out(ctx, index) if isinstance(index, Ref) else ()
    if not items or not all(isinstance(item, Const) and isinstance(item.value, str) for item in items):
        return None
    return [item.value for item in items if isinstance(item, Const)]


def _written_out(ctx: Context, sequence: Raw) -> tuple[Abstract, ...]:
    """The elements of a tuple, or of a list whose elements are known one by one; empty for anything else."""
    cell = cell_of(ctx, sequence)
    if isinstance(cell, ListCell):
        return cell.items
    return sequence.items if isinstance(sequence, Tuple) else ()


def _checked(ctx: Context, records: Records, look_up: Callable[[Any], Any]) -> Any:
    """NumPy's result for records of the dtype; what it raises the program raises."""
    try:
        return look_up(_sample(records))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        ctx.raise_(error)


def field(ctx: Context, records: Records, name: str) -> Abstract:
    """`records[name]`: a view, or the number of an element."""
    _checked(ctx, records, lambda sample: sample[name])
    assert records.dtype.fields is not None
    dtype, *_ = records.dtype.fields[name]
    places = leaves_of(records.cls, name)
    parts = records.parts[places.start : places.stop]
    if dtype.names is not None:
        return replace(records, cls=record_class(dtype), parts=tuple([_again(ctx, part) for part in parts]))
    (part,), leaf = parts, records.leaves[places.start]
    if isinstance(part, Bounded):
        return replace(part.anew(), whole=_seen(ctx, _whole(part), records, leaf))
    assert isinstance(part, Ref)
    if records.element and not leaf.shape:
        return ctx.new(ctx.contents(part))
    return _seen(ctx, part, records, leaf)


def _seen(ctx: Context, part: Ref, records: Records, leaf: Leaf) -> Ref:
    """A field in the layout of its records."""
    rank = len(shape_of(ctx, part)) - len(leaf.shape)
    return Ref(part.cell, (*part.path, FieldOf(records.spacing, rank)))


def _again(ctx: Context, part: Abstract) -> Abstract:
    """Another view of all of a field."""
    if isinstance(part, Bounded):
        return part.anew()
    assert isinstance(part, Ref)
    return Ref(part.cell, (*part.path, entire(shape_of(ctx, part))))


def _fields(ctx: Context, records: Records, names: Sequence[str]) -> Records:
    """`records[["x", "n"]]`: records of some of the fields, a view."""
    dtype = _checked(ctx, records, lambda sample: sample[list(names)]).dtype
    array = records.cls.array
    if why_not(dtype, array) is not None or len(set(names)) < len(names):
        refuse(ctx, "fields that are named twice")
    parts = [_again(ctx, records.parts[i]) for name in names for i in leaves_of(records.cls, name)]
    return replace(records, cls=record_class(dtype, array), parts=tuple(parts))


def _of_element(ctx: Context, element: Records, known: Any) -> Abstract:
    """`row[i]`: the field at a place that is known."""
    if type(known) is not int and not isinstance(known, np.integer):
        refuse(ctx, "such an index of an element", "name the field: `row['x']`")
    _checked(ctx, element, lambda sample: sample[known])
    assert element.dtype.names is not None
    return field(ctx, element, element.dtype.names[known])


def _part(ctx: Context, records: Records, index: Abstract) -> Records:
    """An element, a slice, or what arrays of indices or a mask select."""
    raws, is_element = spelled_out(ctx, index, rank_of(ctx, records))
    at = Tuple((*[abstract(raw) for raw in raws], ALL))
    parts = _by_field(ctx, records, "this index", lambda part, _: array_getitem(ctx, part, at))
    spacing = records.spacing if _shares(records.parts[0], parts[0]) else records.dtype.itemsize
    return Records(records.cls, parts, spacing, is_element)


def _whole(part: Abstract) -> Ref:
    """The ndarray to whose elements a field belongs."""
    whole = part.whole if isinstance(part, Bounded) else part
    assert isinstance(whole, Ref)
    return whole


def _shares(whole: Abstract, part: Abstract) -> bool:
    """True for a part that is a view."""
    return _whole(whole).cell == _whole(part).cell


def elements(ctx: Context, records: Records) -> list[Abstract]:
    """The fields of an element."""
    return [field(ctx, records, name) for name in records.dtype.names or ()]


def length(ctx: Context, records: Records) -> Abstract:
    """`len(records)`."""
    if records.element:
        return Const(len(records.dtype.names or ()))
    if not rank_of(ctx, records):
        ctx.raise_(TypeError("len() of unsized object"))
    return ctx.call(Const(len), [records.parts[0]])


# ---------------------------------------------------------------- stores


def setitem(ctx: Context, records: Records, index: Abstract, value: Abstract) -> None:
    """`records[index] = value`."""
    known, names = known_object(ctx, index), _names(ctx, index)
    if isinstance(known, str):
        return _store_field(ctx, records, known, value)
    if names is not None:
        if records.element:
            _checked(ctx, records, lambda sample: operator.setitem(sample, names, 0))
        return setitem(ctx, replace(_fields(ctx, records, names), element=False), ALL, value)
    if records.element:
        if type(known) is not int and not isinstance(known, np.integer):
            refuse(ctx, "such an index of an element", "name the field: `row['x'] = v`")
        _checked(ctx, records, lambda sample: sample[known])
        assert records.dtype.names is not None
        return _store_field(ctx, records, records.dtype.names[known], value)
    _check_writable(ctx, records)
    raws, is_element = spelled_out(ctx, index, rank_of(ctx, records))
    at = Tuple((*[abstract(raw) for raw in raws], ALL))
    if is_element:
        parts = _by_field(ctx, records, "this index", lambda part, _: array_getitem(ctx, part, at))
        return _store_element(ctx, replace(records, parts=parts, element=True), value)
    given = _converted(ctx, records.cls, value)
    for part, new in zip(records.parts, given.parts):
        array_setitem(ctx, part, at, new)


def _check_writable(ctx: Context, records: Records) -> None:
    """Raises NumPy's ValueError for read-only memory, before the index and the value are looked at."""
    for part in records.parts:
        check_writable(ctx, _whole(part))


def _store_field(ctx: Context, records: Records, name: str, value: Abstract) -> None:
    """`records[name] = value`."""
    _checked(ctx, records, lambda sample: sample[name])
    _check_writable(ctx, records)
    target = field(ctx, replace(records, element=False), name)
    if isinstance(target, Records):
        if records.element:
            return _store_element(ctx, replace(target, element=True), value)
        given = _converted(ctx, target.cls, value)
        for part, new in zip(target.parts, given.parts):
            array_setitem(ctx, part, ALL, new)
        return
    if isinstance(value, Records):
        refuse(ctx, "a store of records into a field")
    if records.element and isinstance(target, Ref) and not shape_of(ctx, target):
        sample = _sample(records)
        _check_number(ctx, value, functools.partial(operator.setitem, sample, name))
    array_setitem(ctx, target, ALL, value)


def _store_element(ctx: Context, element: Records, value: Abstract) -> None:
    """`records[i] = value`, field after field: those before one that rejects its value are stored."""
    several = isinstance(value, Records) and not value.element and rank_of(ctx, value)
    if several or isinstance(cell_of(ctx, value), LISTS):
        refuse(ctx, "a store of several records into an element")
    if not isinstance(value, Tuple):
        given = value if _is_number(value) else _converted(ctx, element.cls, value)
        for i, part in enumerate(element.parts):
            array_setitem(ctx, part, ALL, given.parts[i] if isinstance(given, Records) else given)
        return
    names = element.dtype.names or ()
    if len(value.items) != len(names):
        text = f"could not assign tuple of length {len(value.items)} to structure with {len(names)} fields."
        ctx.raise_(ValueError(text))
    for name, item in zip(names, value.items):
        target = field(ctx, replace(element, element=False), name)
        if isinstance(target, Records):
            _store_element(ctx, replace(target, element=True), item)
            continue
        assert isinstance(target, Ref)
        if not shape_of(ctx, target):
            sample: Any = np.zeros(1, [("", dtype_of_array(ctx, target))])
            _check_number(ctx, item, functools.partial(_store_in_tuple, sample))
            if ctx.is_ndarray(item):
                refuse(ctx, "an array in a tuple of the fields", "store the number: `x[0]`, `x.item()`")
        array_setitem(ctx, target, ALL, item)


def _store_in_tuple(sample: Any, number: Any) -> None:
    sample[0] = (number,)


def _check_number(ctx: Context, value: Abstract, store: Callable[[Any], None]) -> None:
    """Makes the program raise what NumPy raises for a sequence, or an array with axes, in place of a number."""
    items = sequence_items(ctx, value)
    given: Any
    if items is not None:
        given = (list if isinstance(value, Ref) else tuple)([0] * len(items))
    elif isinstance(value, Ref) and ctx.is_ndarray(value) and shape_of(ctx, value):
        given = np.zeros(shape_of(ctx, value))
    elif not isinstance(value, Records | Bounded):
        return
    else:
        refuse(ctx, "an array in the place of a number")
    try:
        store(given)
    except (TypeError, ValueError) as error:
        ctx.raise_(error)
    refuse(ctx, "a sequence in the place of a number")


def _is_number(value: Abstract) -> bool:
    """True for a number of Python's, which all fields get."""
    if isinstance(value, Const):
        return isinstance(value.value, KNOWN_NUMBERS) and not isinstance(value.value, np.generic)
    return type(value) is Array and value.form is Form.PYTHON


def _converted(ctx: Context, cls: type[RecordClass], value: Abstract) -> Records:
    """The value to store into records of a dtype, as records with the same fields, which nothing changes meanwhile."""
    if isinstance(value, Records):
        if _outline(value.dtype) != _outline(cls.dtype):
            refuse(ctx, "a store of records with other fields")
        return replace(value, parts=_by_field(ctx, value, "a store", lambda part, _: _snapshot(ctx, part)))
    if isinstance(value, Tuple) or _is_number(value):
        made = _filled(ctx, cls, Tuple(()), np.zeros)
        _store_element(ctx, replace(made, element=True), value)
        return made
    if isinstance(cell_of(ctx, value), LISTS):
        return _of_list(ctx, cls, value)
    refuse(ctx, "a store of what is no tuple of the fields, no number and no records")


def _snapshot(ctx: Context, part: Abstract) -> Abstract:
    """The present contents of a field."""
    return ctx.ndarray(ctx.contents(part)) if isinstance(part, Ref) else ctx.call(Const(np.copy), [part])


def _outline(dtype: RecordType) -> tuple[Any, ...]:
    """The structure of the fields in a dtype; assignments use it, not names."""
    fields = [dtype[name] for name in dtype.names or ()]
    return tuple([field.shape if field.names is None else ("structure", _outline(field)) for field in fields])


# ---------------------------------------------------------------- new records


def _filled(ctx: Context, cls: type[RecordClass], shape: Raw, function: Callable[..., Any]) -> Records:
    """`np.zeros(shape, dtype)` or one of its kin."""
    given = sequence_items(ctx, shape)
    extents = (abstract(shape),) if given is None else given
    if extents == ():
        values = [np.ones(leaf.shape) if function is np.ones else np.zeros(leaf.shape) for leaf in cls.leaves]
        return _made(cls, [ctx.ndarray(ctx.constant(v, leaf.dtype)) for v, leaf in zip(values, cls.leaves)])
    shapes = [Tuple((*extents, *map(Const, leaf.shape))) for leaf in cls.leaves]
    types = [{"dtype": Const(leaf.dtype)} for leaf in cls.leaves]
    return _made(cls, [ctx.call(Const(function), [shape], dtype) for shape, dtype in zip(shapes, types)])


def _of_list(ctx: Context, cls: type[RecordClass], value: Abstract) -> Records:
    """`np.array([(1.0, 2), …], dtype)`."""
    items = sequence_items(ctx, value)
    if items is None or not all(isinstance(item, Tuple | Records) for item in items):
        refuse(ctx, "making one of anything but tuples of its fields", "write a list of tuples")
    made = _filled(ctx, cls, Tuple((Const(len(items)),)), np.zeros)
    if len(items) > limits.RECORD_TUPLES:
        refuse(
            ctx,
            f"making one of more than {limits.RECORD_TUPLES} tuples",
            "make an array of each field, and store it",
        )
    for i, item in enumerate(items):
        setitem(ctx, made, Const(i), item)
    return made


def copied(ctx: Context, records: Records, order: str = "C") -> Records:
    """`records.copy()`."""

    def copy(part: Abstract, leaf: Leaf) -> Abstract:
        if isinstance(part, Ref) and not shape_of(ctx, part):
            return ctx.ndarray(ctx.contents(part))
        return ctx.call(Const(np.copy), [part], {"order": Const(order)})

    return _made(records.cls, _by_field(ctx, records, "a copy", copy), records.element)


def dtype_of(ctx: Context, raw: Raw) -> RecordType | None:
    """A structured dtype that is staged, as an argument, also as the list of its fields; None for any other."""
    known = known_object(ctx, raw)
    if known is MISSING and isinstance(raw, Ref):
        items = [known_object(ctx, item) for item in _written_out(ctx, raw)]
        if not items or not all(isinstance(item, tuple) for item in items):
            return None
        try:
            known = np.dtype(items)
        except (TypeError, ValueError) as error:
            ctx.raise_(error)
    staged = isinstance(known, np.dtype) and known.names is not None and why_not(known) is None
    return known if staged else None


def _creating(function: Callable[..., Any]) -> Callable[..., Abstract]:
    def call(ctx: Context, shape: Raw, dtype: Raw = None, order: Raw = "C") -> Abstract:
        known = dtype_of(ctx, dtype)
        if known is None or known_object(ctx, order) != "C":
            refuse(ctx, f"np.{function.__name__} with these arguments")
        return _filled(ctx, record_class(known), shape, function)

    return call


def _like(function: Callable[..., Any]) -> Callable[..., Abstract]:
    def call(ctx: Context, a: Raw) -> Abstract:
        if not isinstance(a, Records) or a.element:
            refuse(ctx, f"np.{function.__name__}")
        return _made(
            a.cls, _by_field(ctx, a, function.__name__, lambda part, _: ctx.call(Const(function), [part]))
        )

    return call


def _array(ctx: Context, object: Raw, dtype: Raw = None) -> Abstract:
    """`np.array`."""
    known = None if dtype is None else dtype_of(ctx, dtype)
    if isinstance(object, Records) and not object.element and (known is None or known == object.dtype):
        return copied(ctx, object, "K")
    if known is None or isinstance(object, Records):
        refuse(ctx, "np.array with these arguments")
    if isinstance(object, Tuple):
        return _converted(ctx, record_class(known), object)
    return _of_list(ctx, record_class(known), abstract(object))


def _copy(ctx: Context, a: Raw) -> Abstract:
    """`np.copy`."""
    if not isinstance(a, Records) or a.element:
        refuse(ctx, "np.copy")
    return copied(ctx, a, "K")


def _asarray(ctx: Context, a: Raw) -> Abstract:
    """`np.asarray` of records; a dtype that equals theirs may make another array of them, or not."""
    if not isinstance(a, Records) or a.element:
        refuse(ctx, "np.asarray")
    return a


def _dtype(ctx: Context, dtype: Raw) -> Abstract:
    """`np.dtype` of a list of fields."""
    return Const(dtype_of(ctx, dtype))


def _concatenate(ctx: Context, arrays: Raw, axis: Raw = 0) -> Abstract:
    """`np.concatenate`."""
    items = _written_out(ctx, arrays)
    records = [item for item in items if isinstance(item, Records) and not item.element]
    along = known_object(ctx, axis)
    if len(records) < len(items) or type(along) is not int or along < 0:
        refuse(ctx, "np.concatenate with these arguments", "give arrays of one dtype, and an axis from 0 on")
    if any(each.dtype != records[0].dtype for each in records):
        refuse(ctx, "np.concatenate of several dtypes", "give arrays of one dtype")
    if along >= min(rank_of(ctx, each) for each in records):
        refuse(ctx, "np.concatenate along an axis that is not there")
    made = np.concatenate([np.empty(0, each.dtype) for each in records])
    columns = zip(*[each.parts for each in records])
    parts = [ctx.call(Const(np.concatenate), [Tuple(column)], {"axis": Const(along)}) for column in columns]
    return _made(record_class(made.dtype), parts)


def _append(ctx: Context, arr: Raw, values: Raw) -> Abstract:
    """`np.append` of arrays of one axis."""
    for each in (arr, values):
        if not isinstance(each, Records) or each.element or rank_of(ctx, each) != 1:
            refuse(ctx, "np.append of these")
    return _concatenate(ctx, Tuple((abstract(arr), abstract(values))))


def _require_plain_fields(ctx: Context, records: Records) -> None:
    """PS606 for records that are not sorted, whatever the order."""
    if any(leaf.shape or len(leaf.names) > 1 for leaf in records.leaves) or rank_of(ctx, records) != 1:
        refuse(ctx, "sorting, with more than one axis, or fields of arrays or structures,", _BY_FIELDS)


def _order(ctx: Context, records: Records, order: Raw) -> list[Abstract]:
    """The fields to sort by, those that `order` names first."""
    _require_plain_fields(ctx, records)
    known = known_object(ctx, order)
    names = _names(ctx, abstract(order)) if known is MISSING else [known] if isinstance(known, str) else known
    if names is not None and not isinstance(names, list | tuple):
        refuse(ctx, "sorting by such an order")
    given = () if names is None else tuple(names)
    _checked(ctx, records, lambda sample: np.sort(sample, order=list(given) or None))
    all_names = records.dtype.names or ()
    return [field(ctx, records, name) for name in (*given, *[n for n in all_names if n not in given])]


_BY_FIELDS = "sort by fields: `a[np.argsort(a['x'], kind='stable')]`, or by x and then y `a[np.lexsort((a['y'], a['x']))]`"


def _sort(
    ctx: Context, a: Raw, axis: Raw = -1, kind: Raw = None, order: Raw = None, *, stable: Raw = None
) -> Abstract:
    """`np.sort`: by the fields of `order`, then by the others; records that equal in all of them are alike."""
    if not isinstance(a, Records) or a.element:
        refuse(ctx, "np.sort")
    return _copied_part(ctx, a, _sorted(ctx, a, np.sort, axis, kind, order, stable), np.sort)


def _argsort(
    ctx: Context, a: Raw, axis: Raw = -1, kind: Raw = None, order: Raw = None, *, stable: Raw = None
) -> Abstract:
    """`np.argsort` that is stable: in which order another one has records that are equal is NumPy's own."""
    if not isinstance(a, Records) or a.element:
        refuse(ctx, "np.argsort")
    _require_plain_fields(ctx, a)
    if known_object(ctx, kind) not in ("stable", "mergesort") and known_object(ctx, stable) is not True:
        why = "in which order it has records that are equal is NumPy's own"
        refuse(ctx, "an argsort that is not stable,", "give it `kind='stable'`", why)
    return _sorted(ctx, a, np.argsort, axis, kind, order, stable)


def _sorted(
    ctx: Context,
    records: Records,
    function: Callable[..., Any],
    axis: Raw,
    kind: Raw,
    order: Raw,
    stable: Raw,
) -> Abstract:
    """The places of the records in order, by a stable sort."""
    options = {
        "axis": known_object(ctx, axis),
        "kind": known_object(ctx, kind),
        "stable": known_object(ctx, stable),
    }
    keys = _order(ctx, records, order)
    if MISSING in options.values():
        refuse(ctx, "sorting by such options")
    _checked(ctx, records, lambda sample: function(sample, **options))
    return ctx.call(Const(np.lexsort), [Tuple(tuple(keys[::-1]))])


def _copied_part(ctx: Context, records: Records, places: Abstract, function: Callable[..., Any]) -> Records:
    """The records at these places, of the dtype that a function gives them."""
    found = _part(ctx, records, places)
    return replace(found, cls=record_class(function(_sample(records)).dtype, records.cls.array))


def _unique(
    ctx: Context,
    ar: Raw,
    return_index: Raw = False,
    return_inverse: Raw = False,
    return_counts: Raw = False,
) -> Abstract:
    """`np.unique`."""
    if not isinstance(ar, Records) or ar.element:
        refuse(ctx, "np.unique")
    wanted = [known_object(ctx, each) for each in (return_index, return_inverse, return_counts)]
    if not all(type(each) is bool for each in wanted):
        refuse(ctx, "np.unique with these arguments")
    keys = _order(ctx, ar, Const(None))
    order = ctx.call(Const(np.lexsort), [Tuple(tuple(keys[::-1]))])
    ordered = _part(ctx, ar, order)
    found = ctx.call(Const(_first_of_equal), [Tuple(tuple(_order(ctx, ordered, Const(None)))), order])
    assert isinstance(found, Tuple)
    first, *others = found.items
    made = _copied_part(ctx, ordered, first, np.unique)
    given = [each for each, is_wanted in zip(others, wanted) if is_wanted]
    return Tuple((made, *given)) if given else made


def _first_of_equal(fields: Any, order: Any) -> Any:
    """Where records in order differ from the one before: a mask, their places before, the inverse, and the counts."""
    differs = np.zeros(len(order), bool)
    for each in fields:
        differs[1:] |= each[1:] != each[:-1]
    first = differs | (np.arange(len(order)) == 0)
    inverse = np.empty(len(order), np.intp)
    inverse[order] = np.cumsum(first) - 1
    counts = np.diff(np.append(np.flatnonzero(first), len(order)))
    return first, order[first], inverse, counts


def _where(ctx: Context, condition: Raw, x: Raw = MISSING, y: Raw = MISSING) -> Abstract:
    """`np.where` of records of one dtype."""
    if not (isinstance(x, Records) and isinstance(y, Records)) or x.dtype != y.dtype:
        refuse(ctx, "np.where, but of records of one dtype,")
    if x.element and y.element:
        refuse(ctx, "np.where of two elements")
    parts = []
    for leaf, a, b in zip(x.leaves, x.parts, y.parts):
        chosen = condition
        if leaf.shape:
            axes = Const(tuple(range(-len(leaf.shape), 0)))
            chosen = ctx.call(Const(np.expand_dims), [abstract(condition), axes])
        parts.append(ctx.call(Const(np.where), [abstract(chosen), a, b]))
    made = np.where(np.ones(1, bool), _sample(x), _sample(y))
    return _made(record_class(made.dtype), parts)


def _take(ctx: Context, a: Raw, indices: Raw) -> Abstract:
    """`np.take` along the only axis."""
    read = ctx.read(indices)
    if not isinstance(a, Records) or a.element or rank_of(ctx, a) != 1 or not getattr(read, "shape", ()):
        refuse(ctx, "np.take of these", "index it: `a[places]`")
    return _part(ctx, a, abstract(indices))


def _shape(ctx: Context, a: Raw) -> Abstract:
    return attribute(ctx, a, "shape") or refuse(ctx, "np.shape")


def _ndim(ctx: Context, a: Raw) -> Abstract:
    return attribute(ctx, a, "ndim") or refuse(ctx, "np.ndim")


def _size(ctx: Context, a: Raw) -> Abstract:
    return attribute(ctx, a, "size") or refuse(ctx, "np.size")


def _array_equal(ctx: Context, a1: Raw, a2: Raw) -> Abstract:
    """`np.array_equal`."""
    pair = a1, a2
    if not all(isinstance(each, Records) and not each.element for each in pair):
        refuse(ctx, "np.array_equal")
    if _extents(ctx, a1, "np.array_equal") != _extents(ctx, a2, "np.array_equal"):
        return Const(False)
    return ctx.call(Const(bool), [ctx.call(Const(np.all), [equal(ctx, a1, a2)])])


FUNCTIONS: Mapping[Any, Callable[..., Abstract]] = {
    np.zeros: _creating(np.zeros),
    np.empty: _creating(np.empty),
    np.ones: _creating(np.ones),
    np.zeros_like: _like(np.zeros_like),
    np.empty_like: _like(np.empty_like),
    np.ones_like: _like(np.ones_like),
    np.array: _array,
    np.asarray: _asarray,
    np.asanyarray: _asarray,
    np.copy: _copy,
    np.dtype: _dtype,
    np.concatenate: _concatenate,
    np.append: _append,
    np.sort: _sort,
    np.argsort: _argsort,
    np.unique: _unique,
    np.where: _where,
    np.take: _take,
    np.shape: _shape,
    np.ndim: _ndim,
    np.size: _size,
    np.array_equal: _array_equal,
}
"""The functions of NumPy for structured arrays."""

OF_RECARRAYS = {function: FUNCTIONS[function] for function in (np.shape, np.ndim, np.size)}
"""Those that do the same with `np.recarray`s; of the others NumPy makes one or the other class of array."""
_DTYPE_AT = {
    np.zeros: 1,
    np.empty: 1,
    np.ones: 1,
    np.full: 2,
    np.array: 1,
    np.asarray: 1,
    np.asanyarray: 1,
    np.dtype: 0,
}
"""The position of the dtype among the arguments of a function."""
_OF_LISTS = frozenset({np.concatenate, np.append})


def function_of(
    ctx: Context, function: Any, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]
) -> Callable[..., Abstract] | None:
    """The meaning of a function of arrays for structured arrays or their dtype; None for other arguments."""
    given = [*args, *kwargs.values()]
    known = function if _is_hashable(function) else None
    if known in _OF_LISTS:
        given += [item for each in given for item in _written_out(ctx, each)]
    records = [each for each in given if isinstance(each, Records)]
    at = _DTYPE_AT.get(known)
    if not records and at is not None:
        dtypes = [kwargs["dtype"]] if "dtype" in kwargs else args[at : at + 1]
        if all(dtype_of(ctx, each) is None for each in dtypes):
            return None
    elif not records:
        return None
    served = OF_RECARRAYS if any(map(_is_recarray, records)) else FUNCTIONS
    return served.get(known) or _refused(function)


def _is_recarray(records: Records) -> bool:
    """True for a `np.recarray`, and for an element of one."""
    return records.cls.array is np.recarray


def _is_hashable(function: Any) -> bool:
    return type(function).__hash__ is not None


def _refused(function: Any) -> Callable[..., Abstract]:
    name = getattr(function, "__name__", "a function of arrays")

    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        refuse(ctx, f"`{name}`")

    return call


# ---------------------------------------------------------------- operators and attributes


def equal(ctx: Context, left: Records, right: Records) -> Abstract:
    """`left == right`: of each record, whether all of its fields are equal."""
    if left.dtype != right.dtype or _is_recarray(left) or _is_recarray(right):
        refuse(ctx, "a comparison with another dtype, or of a recarray,")
    if not (left.element and right.element):
        shapes = [_extents(ctx, each, "a comparison") for each in (left, right)]
        if shapes[0] != shapes[1] and () not in shapes:
            refuse(ctx, "a comparison of other shapes")
    result: Abstract | None = None
    for leaf, x, y in zip(left.leaves, left.parts, right.parts):
        same = ctx.call(Const(np.equal), [x, y])
        if leaf.shape:
            same = ctx.call(Const(np.all), [same], {"axis": Const(tuple(range(-len(leaf.shape), 0)))})
        result = same if result is None else ctx.call(Const(np.logical_and), [result, same])
    assert result is not None
    return result


def compare(ctx: Context, op: str, left: Raw, right: Raw) -> Abstract:
    """`==` and `!=` of records."""
    if op not in ("==", "!=") or not isinstance(left, Records) or not isinstance(right, Records):
        refuse(ctx, f"the operator {op}")
    same = equal(ctx, left, right)
    return same if op == "==" else ctx.call(Const(np.logical_not), [same])


def attribute(ctx: Context, records: Records, name: str) -> Abstract | None:
    """`records.name`; PS606 for attributes of ndarrays that are not supported, None for those that do not exist."""
    match name:
        case "dtype":
            return Const(records.dtype)
        case "shape" if records.element:
            return Const(())
        case "shape":
            shape = ctx.getattr(records.parts[0], "shape")
            items = sequence_items(ctx, shape) or ()
            return Tuple(tuple(items[: rank_of(ctx, records)]))
        case "ndim":
            return Const(rank_of(ctx, records))
        case "itemsize":
            return Const(records.dtype.itemsize)
        case "size":
            return Const(math.prod(_extents(ctx, records, "the size")))
        case "nbytes":
            return Const(math.prod(_extents(ctx, records, "the size")) * records.dtype.itemsize)
        case "T":
            return _viewed(ctx, records, "T")
    method = METHODS.get(name)
    cls = records.dtype.type if records.element else records.cls.array
    if method is not None and hasattr(cls, name):
        return Method(Meaning(f"ndarray.{name}", method), records)
    if hasattr(cls, name) or (_is_recarray(records) and _is_own_attribute(records, name)):
        refuse(ctx, f"`{name}`")
    if not _is_recarray(records):
        return None
    _checked(ctx, records, lambda sample: getattr(sample, name))
    return field(ctx, records, name)


def _is_own_attribute(records: Records, name: str) -> bool:
    """True where a recarray may have an attribute that is no field: it takes any."""
    return not records.element and name not in (records.dtype.names or ())


def set_attribute(ctx: Context, records: Records, name: str, value: Abstract) -> bool:
    """`records.name = value` for a field of a `np.recarray`; False for any other attribute."""
    cls = records.dtype.type if records.element else records.cls.array
    if not _is_recarray(records) or hasattr(cls, name) or name not in (records.dtype.names or ()):
        return False
    _store_field(ctx, records, name, value)
    return True


def _viewed(ctx: Context, records: Records, name: str) -> Records:
    """The axes of records in reverse."""
    rank = len(_extents(ctx, records, name))

    def turned(part: Abstract, leaf: Leaf) -> Abstract:
        assert isinstance(part, Ref)
        inner = range(rank, rank + len(leaf.shape))
        return Ref(part.cell, (*part.path, Permuted((*reversed(range(rank)), *inner))))

    return replace(records, parts=_by_field(ctx, records, name, turned))


def _reshaped(ctx: Context, records: Records, *shape: Raw) -> Abstract:
    """`records.reshape(…)`, with all extents known."""
    extents = _extents(ctx, records, "`reshape`")
    given = sequence_items(ctx, shape[0]) if len(shape) == 1 else None
    wanted = [ctx.known(n, "the shape of reshape") for n in (shape if given is None else given)]
    new = _checked(ctx, records, lambda _: np.broadcast_to(np.zeros(()), extents).reshape(wanted)).shape
    return _by_method(ctx, records, "reshape", lambda leaf: [Tuple(tuple(map(Const, (*new, *leaf.shape))))])


def _flatten(ctx: Context, records: Records) -> Abstract:
    """`records.flatten()`."""
    size = math.prod(_extents(ctx, records, "`flatten`"))
    return _reshaped(ctx, copied(ctx, records), Const(size))


def _ravel(ctx: Context, records: Records) -> Abstract:
    """`records.ravel()`: a view where the records lie in row-major order without gaps, else a copy."""
    size = math.prod(_extents(ctx, records, "`ravel`"))
    in_order = is_contiguous(ctx, _whole(records.parts[0]))
    if not isinstance(in_order, bool):
        refuse(ctx, "`ravel`, which may copy or not,", "write `.flatten()`, which copies")
    return _reshaped(ctx, records if in_order else copied(ctx, records), Const(size))


def _by_method(ctx: Context, records: Records, name: str, args: Callable[[Leaf], list[Abstract]]) -> Records:
    """The result of a method of ndarrays for each field: a view, or a copy of all."""

    def call(part: Abstract, leaf: Leaf) -> Abstract:
        return ctx.call(ctx.getattr(part, name), args(leaf))

    if records.element:
        refuse(ctx, f"`{name}` of an element")
    parts = _by_field(ctx, records, name, call)
    shares = _shares(records.parts[0], parts[0])
    return replace(records, parts=parts, spacing=records.spacing if shares else records.dtype.itemsize)


def _astype(ctx: Context, records: Records, dtype: Raw) -> Abstract:
    """`records.astype(dtype)` of another structured dtype, by the places of the fields."""
    known = dtype_of(ctx, dtype)
    if known is None or records.element or _is_recarray(records):
        refuse(ctx, "`astype`")
    shape = Tuple(tuple(map(Const, _extents(ctx, records, "`astype`"))))
    made = _filled(ctx, record_class(known), shape, np.zeros)
    setitem(ctx, made, ALL, records)
    return made


def _take_method(ctx: Context, records: Records, indices: Raw) -> Abstract:
    return _take(ctx, records, indices)


def _copy_method(ctx: Context, records: Records, order: Raw = "C") -> Abstract:
    return copied(ctx, records, ctx.known(order, "the order of a copy"))


def _fill(ctx: Context, records: Records, value: Raw) -> Abstract:
    setitem(ctx, records, ALL, abstract(value))
    return Const(None)


def _sort_method(
    ctx: Context, records: Records, axis: Raw = -1, kind: Raw = None, order: Raw = None, *, stable: Raw = None
) -> Abstract:
    setitem(ctx, records, ALL, _sort(ctx, records, axis, kind, order, stable=stable))
    return Const(None)


def _item(ctx: Context, element: Records) -> Abstract:
    """`row.item()`: a tuple of Python's numbers."""
    if not element.element or any(leaf.shape or len(leaf.names) > 1 for leaf in element.leaves):
        refuse(
            ctx,
            "item() or tolist(), but of an element whose fields are numbers,",
            "take its fields: `row['x']`",
        )
    return Tuple(tuple([ctx.call(ctx.getattr(number, "item"), []) for number in elements(ctx, element)]))


METHODS: Mapping[str, Callable[..., Abstract]] = {
    "copy": _copy_method,
    "fill": _fill,
    "sort": _sort_method,
    "argsort": _argsort,
    "item": _item,
    "tolist": _item,
    "reshape": _reshaped,
    "ravel": _ravel,
    "flatten": _flatten,
    "astype": _astype,
    "take": _take_method,
}
"""The methods of structured arrays and of their elements."""
