"""Sorting of vectors by keys: numbers, tuples of them, strings that are known.

In: a vector, and a vector of keys. Out: the vector in the order of its keys; PS401 where that is not known.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import NoReturn

from ... import limits
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.errors import StagingError
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT64
from ...ops import (
    And,
    Compare,
    Convert,
    Maximum,
    Or,
    Pad,
    Reduce,
    Select,
    Slice,
    Sort,
    Subtract,
)
from ...values.boundary import Form
from ...values.gated import Gated, GatedNumber, alternatives, tag_of
from ...values.lattice import (
    NONE,
    Abstract,
    Array,
    ListCell,
    Ref,
    RowsTuple,
    Tuple,
)
from ...values.vector import Vector
from ...values.walk import nodes, rebuild
from ..context import Context
from ..interfaces.operations import Operations
from ..kernels.number_checks import refuse
from ..rules import templates
from ..rules.numbers import is_of_kind
from ..rules.rows import (
    as_vector,
)
from . import vectors
from .row_lists import append

# ---------------------------------------------------------------- keys


def mapped(ctx: Context, vector: Vector[Abstract], function: Abstract) -> Vector[Abstract]:
    """The results of `function` for each element, in order."""
    made = Ref(ctx.state.new_cell(ListCell(())))

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        append(ctx, made, _certain(ctx, ctx.call(function, [each])))
        return NONE

    vectors.fold(ctx, vector, NONE, step)
    found = ctx.cell(made).items
    keys = vectors.holding(ctx, found)
    if keys is None:
        if found != ():
            _unordered(ctx)
        return replace(vector, element=NONE, length=0)
    template = templates.template_of_items(keys)
    assert template is not None
    element = as_vector(ctx.b, keys, template, max(vector.capacity, keys.capacity)).element
    if keys.capacity > vector.capacity:
        element = vectors.permuted(ctx, element, vectors.places_of(ctx, vector.capacity))
    return Vector(element, vector.capacity, vector.length)


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


# ---------------------------------------------------------------- order


def in_order(
    ctx: Context,
    vector: Vector[Abstract],
    keys: Vector[Abstract],
    backwards: bool,
    without_ties: bool = False,
) -> Vector[Abstract]:
    """The list in the order of its keys; equal keys keep their order.

    `without_ties`: PS401 where two are equal, of what has no order.
    """
    numbers = _numbers(ctx, keys.element)
    if not all(map(_is_ordered, numbers)):
        _unordered(ctx)
    vectors.refuse_nan_rows(ctx, keys, "the order of numbers of which one is NaN")
    _refuse_rounded(ctx, keys)
    places = vectors.places_of(ctx, vector.capacity)
    behind = ctx.op(
        Compare("GE"), places, ctx.broadcast(vectors.int_value(ctx, vector.length), (vector.capacity,))
    )
    ties = ctx.op(Subtract(), ctx.broadcast(ctx.constant(0, INT64), (vector.capacity,)), places)
    sorts = [behind, *[n.value for n in numbers], *([ties] if backwards else []), places]
    keys_count = len(sorts) - 1
    order = ctx.b.apply(Sort(0, True, keys_count), sorts).results[-1]
    if without_ties:
        _refuse_ties(ctx, replace(keys, element=vectors.permuted(ctx, keys.element, order)))
    result = replace(vector, element=vectors.permuted(ctx, vector.element, order))
    return vectors.reverse(ctx, result) if backwards else result


def _refuse_ties(ctx: Context, keys: Vector[Abstract]) -> None:
    """Raises PS401 where two neighbouring keys are equal."""
    reason = NotKnown(span=ctx.span, what=UNORDERED)
    same = vectors.is_element(ctx, replace(keys, length=vectors.difference(ctx, keys.length, 1)))
    for number, following in zip(_numbers(ctx, keys.element), _numbers(ctx, _shifted(ctx, keys.element, -1))):
        same = ctx.op(And(), same, ctx.op(Compare("EQ"), number.value, following.value))
    any_same = ctx.op(Reduce(Maximum(), (0,)), same, ctx.constant(False, BOOL))
    ctx.check(any_same, StagingError(()), refuse, [lambda: reason])


UNORDERED = "the order of a set of computed elements whose keys are equal"


def _unordered(ctx: Operations) -> NoReturn:
    ctx.fail(NotKnown(span=ctx.span, what="the order of a sort by what are no numbers"))


def _shifted(ctx: Operations, element: Abstract, by: int) -> Abstract:
    """The rows moved by one position."""

    def moved(rows: Value) -> Value:
        none = (0,) * (rows.type.rank - 1)
        zero = ctx.constant(0, rows.type.dtype)
        return ctx.op(Pad((by, *none), (-by, *none), (0, *none)), rows, zero)

    return rebuild(element, moved)


# ---------------------------------------------------------------- numbers in keys


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


def _is_of_python(number: GatedNumber) -> bool:
    """True for ints and floats, which Python compares exactly; NumPy rounds the integer to a floating-point number."""
    return all(kind.form is Form.PYTHON for kind in number.kinds)


def _refuse_rounded(ctx: Context, vector: Vector[Abstract]) -> None:
    """Raises PS401 where NumPy rounds an integer to compare it: it may equal two different numbers."""
    reason = NotKnown(
        span=ctx.span, what="the order of integers beyond 2**53 among floating-point numbers of NumPy"
    )
    for each in nodes(vector.element):
        if isinstance(each, GatedNumber) and each.whole is not None and not _is_of_python(each):
            away = _rounded_away(ctx, each, each.whole).value
            none = ctx.broadcast(ctx.constant(0, INT64), away.type.shape)
            vectors.refuse_where(ctx, vector, ctx.op(Compare("NE"), away, none), reason)


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
        here = vectors.compared(
            ctx, "GT", tuples.length, ctx.broadcast(ctx.constant(place, INT64), _shape(tuples))
        )
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
