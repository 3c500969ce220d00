"""Keys of dicts and sets of rows (`row_tables.py`): which values can be keys, and when two are equal.

In: abstract keys, and rows of keys. Out: truths. As Python does, numbers are compared by value, whatever their kinds.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np

from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.errors import StagingError
from ...hlo.ir import Value
from ...hlo.types import BOOL, FLOAT64, INT64, UINT64, ArrayType, is_floating, is_inexact
from ...ops import And, Compare, Convert, Iota, Or, Reduce, Slice
from ...values.boundary import Form
from ...values.gated import Gated, GatedNumber, tag_of
from ...values.lattice import (
    NONE,
    Abstract,
    AnyTable,
    Array,
    Const,
    Items,
    RowsTuple,
    TableCell,
    Tuple,
    is_number,
)
from ...values.packing import stacked
from ...values.vector import Vector, capacity_of, length_of
from ...values.walk import nodes, rebuild, values_of
from ..context import Context, Raw
from ..interfaces.operations import Operations
from ..rules.numbers import kinds_of
from ..rules.promote import fits
from ..rules.row_index import digest
from ..rules.rows import as_vector, row_at
from ..rules.split import needs_split, of_one_kind
from ..rules.templates import items_of_tuple, row_template, template_of_items
from .number_checks import refuse

Found = bool | Value
"""Whether there is an entry: known, or a bool of the program."""


def is_computed_key(ctx: Context, key: Abstract) -> bool:
    """True for a key that only the run knows: a number, or a tuple with such a number or a gated φ in it."""
    if isinstance(key, Gated):
        raise needs_split(key)
    if isinstance(key, Tuple):
        return _is_key(key) and any(isinstance(x, Gated) or is_computed_key(ctx, x) for x in key.items)
    if isinstance(key, RowsTuple):
        return _is_key(key)
    return isinstance(key, Array) and _is_key(key) and ctx.is_computed(key)


def has_alternatives(key: Abstract) -> bool:
    """True for a key with a gated φ in it."""
    return any(isinstance(node, Gated) for node in nodes(key))


def _is_key(key: Abstract) -> bool:
    """True for a hashable value that a program can look up."""
    match key:
        case Const(value):
            return isinstance(value, Hashable) and not isinstance(value, complex | np.complexfloating)
        case Array():
            return not key.rank and key.form in (Form.PYTHON, Form.SCALAR) and key.dtype.kind in "biuf"
        case Tuple(items, cls):
            return _is_compared_by_items(cls) and all(map(_is_key, items))
        case Gated(options=items):
            return all(map(_is_key, items))
        case RowsTuple(rows):
            return _is_key(row_template(rows.element)) and not has_tuples(rows.element)
    return False


def _is_compared_by_items(cls: Any) -> bool:
    """True for a class of tuples that has the equality and the hash of `tuple`."""
    return cls.__eq__ is tuple.__eq__ and cls.__hash__ is tuple.__hash__


def has_tuples(key: Abstract) -> bool:
    """True for a key that contains a tuple of computed length."""
    return any(isinstance(node, RowsTuple) for node in nodes(key))


def is_of_rows(ctx: Context, cell: AnyTable, key: Abstract) -> bool:
    """True where an operation with this key is one on rows."""
    return _is_key(key) if isinstance(cell, TableCell) else is_computed_key(ctx, key)


def same_keys(ctx: Operations, column: Abstract, key: Abstract) -> Found | Value:
    """Which rows of the keys equal `key`: a bool for each, or for all. A known tuple is compared part by part."""
    assert not any(isinstance(x, Const) and isinstance(x.value, tuple) for x in (column, key))
    if isinstance(column, Gated):
        return _same_as_any(ctx, column, [same_keys(ctx, option, key) for option in column.options])
    if isinstance(key, Gated):
        return _same_as_any(ctx, key, [same_keys(ctx, column, option) for option in key.options])
    if isinstance(column, RowsTuple) or isinstance(key, RowsTuple):
        return _same_tuples(ctx, column, key)
    if isinstance(column, Tuple) and isinstance(key, Tuple):
        if len(column.items) != len(key.items):
            return False
        found: Found = True
        for part, other in zip(column.items, key.items):
            found = _both(ctx, found, same_keys(ctx, part, other))
        return found
    if isinstance(column, Const) and isinstance(key, Const):
        return bool(column.value == key.value)
    if isinstance(column, Array) and is_number(key):
        assert isinstance(key, Array | Const)
        return _same_numbers(ctx, column, key)
    return False


def _same_as_any(ctx: Operations, one: Gated, same: Sequence[Found]) -> Found:
    """The comparison with a gated φ: that of the selected alternative."""
    found: Found = False
    for position, each in enumerate(same):
        if each is not False:
            found = _either(ctx, found, _both(ctx, tag_of(ctx.b, one, position), each))
    return found


def _same_tuples(ctx: Operations, column: Abstract, key: Abstract) -> Found:
    """Which tuples of a column equal `key`, one of them of computed length: as many elements, and each the same."""
    rows = key.items if isinstance(key, Tuple) else items_of_tuple(key)
    if rows is None or not isinstance(column, Tuple | RowsTuple):
        return False
    if isinstance(column, Tuple):
        return _same_as_known(ctx, column, rows)
    lengths = column.items.length
    assert isinstance(lengths, Value)
    count, capacity = lengths.type.shape[0], column.items.capacity
    found = ctx.op(Compare("EQ"), lengths, ctx.broadcast(_count(ctx, rows), (count,)))
    element = template_of_items(rows)
    if rows == ():
        return found
    if element is None:
        ctx.fail(
            NotKnown(span=ctx.span, what="the key of a dict or set, a tuple of elements of these kinds,")
        )
    whole = as_vector(ctx.b, rows, element, max(capacity, capacity_of(rows)))

    def first(value: Value) -> Value:
        shape = value.type.shape
        part = ctx.op(Slice((0,) * len(shape), (capacity, *shape[1:]), (1,) * len(shape)), value)
        return ctx.broadcast(part, (count, *part.type.shape))

    same = same_keys(ctx, column.items.element, rebuild(whole.element, first))
    if same is True:
        return found
    shape = (count, capacity)
    places = ctx.op(Iota(ArrayType(INT64, shape), 1))
    outside = ctx.op(Compare("GE"), places, ctx.broadcast(ctx.reshape(lengths, (count, 1)), shape))
    each = ctx.op(Or(), outside, same) if isinstance(same, Value) else outside
    every = ctx.op(Reduce(And(), (1,)), each, ctx.constant(True, BOOL))
    return ctx.op(And(), found, every)


def _same_as_known(ctx: Operations, column: Tuple, rows: Items) -> Found:
    """Which tuples of a column, all as long as is known, equal one of computed length."""
    assert isinstance(rows, Vector)
    if len(column.items) > rows.capacity:
        return False
    found: Found = ctx.op(Compare("EQ"), _count(ctx, rows), ctx.constant(len(column.items), INT64))
    for place, part in enumerate(column.items):
        element = row_at(ctx.b, rows.element, ctx.constant(place, INT64))
        found = _both(ctx, found, same_keys(ctx, part, element))
    return found


def _count(ctx: Operations, rows: Items) -> Value:
    length = length_of(rows)
    return ctx.constant(length, INT64) if isinstance(length, int) else length


def _both(ctx: Operations, a: Found, b: Found) -> Found:
    if isinstance(a, bool) or isinstance(b, bool):
        known, other = (a, b) if isinstance(a, bool) else (b, a)
        return other if known else False
    return ctx.op(And(), *_of_one_shape(ctx, a, b))


def _either(ctx: Operations, a: Found, b: Found) -> Found:
    if isinstance(a, bool) or isinstance(b, bool):
        known, other = (a, b) if isinstance(a, bool) else (b, a)
        return True if known else other
    return ctx.op(Or(), *_of_one_shape(ctx, a, b))


def _of_one_shape(ctx: Operations, a: Value, b: Value) -> list[Value]:
    shape = max(a.type.shape, b.type.shape, key=len)
    return [ctx.broadcast(a, shape), ctx.broadcast(b, shape)]


def _same_numbers(ctx: Operations, column: Array, key: Array | Const) -> Found:
    """Which numbers of a column equal `key`, as Python compares what has equal hashes: by the value, whatever the kinds."""
    if isinstance(key, Const) and type(key.value) is int and not fits(key.value, INT64):
        return False
    number = _number(ctx, key)
    rows = _single(ctx, column)
    integers = [not is_floating(v.type.dtype) for v in (rows, number)]
    wide = [_wide(ctx, v) for v in (rows, number)]
    first, second = wide[0], ctx.broadcast(wide[1], wide[0].type.shape)
    if integers[0] == integers[1]:
        return ctx.op(Compare("EQ"), first, second)
    whole, real = (first, second) if integers[0] else (second, first)
    limit = ctx.broadcast(ctx.constant(2.0**63, FLOAT64), real.type.shape)
    same = ctx.op(Compare("EQ"), ctx.convert(whole, FLOAT64), real)
    exact = ctx.op(Compare("EQ"), whole, ctx.op(Convert(INT64), real))
    inside = ctx.op(Compare("LT"), real, limit)
    return ctx.op(And(), ctx.op(And(), same, inside), exact)


def _number(ctx: Operations, key: Array | Const) -> Value:
    if isinstance(key, Const):
        dtype = np.asarray(key.value).dtype
        return ctx.constant(key.value, dtype)
    return _single(ctx, key)


def _single(ctx: Operations, number: Array) -> Value:
    """The numbers as values of one type that distinguishes them; PS401 where there is none."""
    kinds = kinds_of(number)
    mixed = isinstance(number, GatedNumber) and any(kind.dtype.kind not in "bi" for kind in kinds)
    if mixed and not number.value.type.rank:
        return of_one_kind(ctx, cast(GatedNumber, number), "what is found under a key").value
    if mixed or any(kind.dtype == UINT64 for kind in kinds):
        ctx.fail(NotKnown(span=ctx.span, what="the key of a dict or set with keys of these kinds"))
    return number.value


def _wide(ctx: Operations, value: Value) -> Value:
    return ctx.convert(value, FLOAT64 if is_floating(value.type.dtype) else INT64)


def known_element(ctx: Context, element: Raw, what: str) -> Any:
    """What is looked up in a set, as a Python object; PS401 for NaN, whose identity Python compares first."""
    known = ctx.known(element, what)
    if _holds_nan(known):
        ctx.fail(NotKnown(span=ctx.span, what="whether a key is the same NaN"))
    return known


def known_key(ctx: Context, key: Raw, what: str = "the key of a dict") -> Any:
    """A key of a dict, or an element of a set, as a Python object; TypeError for what has no hash."""
    known = known_element(ctx, key, what)
    try:
        hash(known)
    except TypeError as error:
        ctx.raise_(error)
    return known


def _holds_nan(known: Any) -> bool:
    if isinstance(known, tuple):
        return any(map(_holds_nan, known))
    return isinstance(known, float | complex | np.inexact) and bool(known != known)


def refuse_nan(ctx: Context, key: Abstract) -> None:
    """Raises PS401 where a number in a key is NaN, whose identity Python compares first."""
    if isinstance(key, Tuple):
        for part in key.items:
            refuse_nan(ctx, part)
    elif isinstance(key, Gated):
        for position, option in enumerate(key.options):
            if not values_of(option):
                continue
            holds = Array(tag_of(ctx.b, key, position), Form.PYTHON)
            ctx.branch(holds, functools.partial(_refused_nan, ctx, option), lambda: NONE)
    elif isinstance(key, RowsTuple):
        _refuse_nan_inside(ctx, key.items)
    elif is_number(key) and not (
        isinstance(key, Const) and not isinstance(key.value, float | complex | np.inexact)
    ):
        assert isinstance(key, Array | Const)
        number = _number(ctx, key)
        if is_inexact(number.type.dtype):
            reason = NotKnown(span=ctx.span, what="whether a key is the same NaN")
            ctx.check(ctx.op(Compare("NE"), number, number), StagingError(()), refuse, [lambda: reason])


def _refused_nan(ctx: Context, key: Abstract) -> Abstract:
    refuse_nan(ctx, key)
    return NONE


def _refuse_nan_inside(ctx: Context, rows: Vector[Abstract]) -> None:
    inside = ctx.op(
        Compare("LT"),
        ctx.op(Iota(ArrayType(INT64, (rows.capacity,)), 0)),
        ctx.broadcast(_count(ctx, rows), (rows.capacity,)),
    )
    reason = NotKnown(span=ctx.span, what="whether a key is the same NaN")
    for numbers in values_of(rows.element):
        if is_inexact(numbers.type.dtype):
            bad = ctx.op(And(), inside, ctx.op(Compare("NE"), numbers, numbers))
            any_bad = ctx.op(Reduce(Or(), (0,)), bad, ctx.constant(False, BOOL))
            ctx.check(any_bad, StagingError(()), refuse, [lambda: reason])


def _as_numbers_of_tuples(ctx: Operations, keys: Vector[Abstract], key: Abstract) -> list[Value] | None:
    """As `as_numbers_of`, of keys that are tuples of computed length."""
    rows = key.items if isinstance(key, Tuple) else items_of_tuple(key)
    if rows is None:
        return None
    element, count = row_template(row_template(keys.element)), _count(ctx, rows)
    if isinstance(rows, tuple):
        if not rows:
            return [count, count]
        parts = [as_numbers_of(ctx, element, item) for item in rows]
        known = [part for part in parts if part is not None]
        columns = [stacked(ctx.b, column) for column in zip(*known, strict=True)]
        return None if len(known) < len(parts) else [count, digest(ctx.b, columns, count)]
    found = as_numbers_of(ctx, element, rows.element)
    return None if found is None else [count, digest(ctx.b, found, count)]


def as_numbers_of(ctx: Operations, keys: Abstract, key: Abstract) -> list[Value] | None:
    """The numbers of a key, as `numbers_in` gives those of the keys; None for one that is none of those."""
    if isinstance(keys, RowsTuple):
        return _as_numbers_of_tuples(ctx, keys.items, key)
    if isinstance(keys, Tuple) and isinstance(key, RowsTuple):
        if len(keys.items) > key.items.capacity:
            return None
        places = range(len(keys.items))
        items = tuple([row_at(ctx.b, key.items.element, ctx.constant(place, INT64)) for place in places])
        key = Tuple(items)  # one of another length is told by its length when they are compared
    if isinstance(keys, Tuple) and isinstance(key, Tuple):
        if len(keys.items) != len(key.items):
            return None
        parts = [as_numbers_of(ctx, part, other) for part, other in zip(keys.items, key.items)]
        return None if None in parts else [n for part in parts if part is not None for n in part]
    if isinstance(keys, Gated):
        return []  # whichever it is, it is not looked at to find a key
    if isinstance(keys, Const) and isinstance(key, Const):
        return [] if keys.value == key.value else None
    if not isinstance(keys, Array) or not is_number(key):
        return None
    assert isinstance(key, Array | Const)
    if isinstance(key, Const) and type(key.value) is int and not fits(key.value, INT64):
        return None
    return [ctx.convert(_number(ctx, key), FLOAT64 if is_floating(_single(ctx, keys).type.dtype) else INT64)]
