"""Sorting: of containers whose comparisons are constants, of a few staged numbers by a sorting network, and of objects.

Objects are ordered by the `<` of their class, which is called for the pairs for which CPython calls it, in its order: it may
be no order at all, as where there are NaNs.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ... import limits
from ...analysis.ranges import hull
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.errors import StagingError
from ...hlo.ir import Value
from ...hlo.types import INT64, ArrayType, is_floating
from ...ops import Compare, Iota
from ...values.boundary import Form
from ...values.gated import Gated, alternatives, tag_of
from ...values.lattice import Abstract, Array, Const, Ref, Tuple, is_number
from ...values.vector import Vector
from ..containers import sorting, vectors
from ..containers.unboxing import frozen, make_members, unboxed
from ..context import Context, Raw
from ..kernels.arithmetic import select
from ..kernels.array_rows import has_arrays, with_shared
from ..kernels.number_checks import either, refuse
from ..kernels.python_implementations import run_program
from ..kernels.structures import abstract, cell_of, list_items, new_rows, vector_of
from ..registry import meaning
from ..rules.promote import kinds_of, value_of
from .operators import compare
from .strings import is_string


def in_order(
    ctx: Context, items: Sequence[Abstract], key: Raw, reverse: Raw, total: bool = False
) -> list[Abstract] | Vector[Abstract]:
    """The items in the order of `sorted`, as rows where there are arrays among them.

    Which goes first must be known, except of items with a template in common. `total`: PS401 where two that are not equal
    may be such that neither goes first, as objects.
    """
    backwards = bool(ctx.known(reverse, "the order of a sort"))
    function = abstract(key)
    plain = isinstance(function, Const) and function.value is None
    keys = list(items) if plain else [ctx.call(function, [item]) for item in items]
    if (
        plain
        and 1 < len(items) <= limits.SORTING_NETWORK
        and all(map(_is_scalar, items))
        and _is_computed(items)
    ):
        return _exchanged(ctx, items, backwards)
    if _is_computed(keys):
        make_members(ctx, items)
        held = [unboxed(ctx, item, views=True) for item in items]
        rows = vectors.holding(ctx, tuple(held), ragged=True)
        sorts = vectors.holding(ctx, tuple(_ranked(ctx, keys)))
        if rows is not None and sorts is not None:
            marks = [frozen(ctx, item, rows.element) for item in items]
            ordered = _by_rows(ctx, rows, sorts, backwards, total=total)
            if has_arrays(rows.element):
                return with_shared(ordered, any(marks))
            return list(list_items(ctx, ordered))

    if total and any(cell_of(ctx, key) is not None for key in keys):
        ctx.fail(NotKnown(span=ctx.span, what=OF_OBJECTS))

    def before(i: int, j: int) -> int:
        for sign, (x, y) in ((-1, (i, j)), (1, (j, i))):
            if ctx.known(ctx.truth(compare(ctx, "<", keys[x], keys[y])), "the order of a sort"):
                return sign
        return 0

    order = sorted(range(len(items)), key=functools.cmp_to_key(before), reverse=backwards)
    return [items[i] for i in order]


def _ranked(ctx: Context, keys: Sequence[Abstract]) -> list[Abstract]:
    """The keys with their strings replaced by ranks in the order of all of them.

    They are as they were where a string may be compared with something else, or is not one of several that are known.
    """
    strings = {text for key in keys for text in _strings(key)}
    if not strings or None in strings or len(set(map(_kinds, keys))) > 1:
        return list(keys)
    places = {text: place for place, text in enumerate(sorted(map(str, strings)))}

    def ranked(key: Abstract) -> Abstract:
        if isinstance(key, Tuple):
            return Tuple(tuple(map(ranked, key.items)), key.cls)
        if not is_string(key):
            return key
        first, *others = [Const(places[cast(str, cast(Const, x).value)]) for x in alternatives(key)]
        place: Value = ctx.constant(first.value, INT64)
        for position, other in enumerate(others, 1):
            place = select(
                ctx, tag_of(ctx.b, cast(Gated, key), position), ctx.constant(other.value, INT64), place
            )
        return Array(place, Form.PYTHON, False, (0, len(places) - 1))

    return list(map(ranked, keys))


def _strings(key: Abstract) -> Iterator[str | None]:
    """The strings that a key may be; None for one that is not known."""
    if isinstance(key, Tuple):
        for part in key.items:
            yield from _strings(part)
    elif is_string(key):
        for each in alternatives(key):
            yield each.value if isinstance(each, Const) else None


def _kinds(key: Abstract) -> Hashable:
    """Which parts of a key are strings."""
    return tuple(map(_kinds, key.items)) if isinstance(key, Tuple) else is_string(key)


def rows_in_order(
    ctx: Context, rows: Vector[Abstract], key: Raw, reverse: Raw, unordered: bool = False, total: bool = False
) -> Vector[Abstract]:
    """A list of rows in the order of `sorted`; `unordered`: the elements of a set. `total`: as of `in_order`."""
    backwards = bool(ctx.known(reverse, "the order of a sort"))
    function = abstract(key)
    plain = isinstance(function, Const) and function.value is None
    keys = rows if plain else sorting.mapped(ctx, rows, function)
    return _by_rows(ctx, rows, keys, backwards, unordered and not plain, total)


OF_OBJECTS = "the order of objects of which neither is less than the other"


def _by_rows(
    ctx: Context,
    rows: Vector[Abstract],
    keys: Vector[Abstract],
    backwards: bool,
    without_ties: bool = False,
    total: bool = False,
) -> Vector[Abstract]:
    """The rows in the order of their keys; `without_ties`: PS401 where two are equal, or may be."""
    if not sorting.has_own_order(keys.element):
        return sorting.in_order(ctx, rows, keys, backwards, without_ties)
    if without_ties or total:
        ctx.fail(NotKnown(span=ctx.span, what=OF_OBJECTS))
    if backwards:
        rows, keys = vectors.reverse(ctx, rows), vectors.reverse(ctx, keys)
    vectors.refuse_nan_rows(ctx, keys, "the order of tuples with NaN")
    many = vectors.compared(ctx, "GE", keys.length, MOST_RUN)
    if many is not False and keys.capacity >= MOST_RUN:
        reason = NotKnown(span=ctx.span, what=f"the order of a sort of {MOST_RUN} objects or more")
        if many is True:
            ctx.fail(reason)
        ctx.check(many, StagingError(()), refuse, [lambda: reason])
    places = ctx.ndarray(ctx.op(Iota(ArrayType(INT64, (keys.capacity,)), 0)))
    order = run_program(ctx, _insertion_order, [new_rows(ctx, keys), places])
    assert isinstance(order, Ref)
    ordered = replace(rows, element=vectors.permuted(ctx, rows.element, ctx.contents(order)))
    return vectors.reverse(ctx, ordered) if backwards else ordered


MOST_RUN = 64
"""Python sorts fewer elements than these by binary insertion alone; of more it merges runs."""


def _key_at(keys: Any, place: Any) -> Any:
    """`keys[place]`, without a bounds check."""
    return keys[place]


@meaning(_key_at)
def _key_inside(ctx: Context, keys: Raw, place: Raw) -> Abstract:
    vector = vector_of(ctx, keys)
    assert vector is not None
    return vectors.get(ctx, vector, vectors.int_of(abstract(place)))


def _insertion_order(keys: Any, indices: Any) -> Any:
    """The indices of the keys in sorted order: CPython's `count_run` and `binarysort` (Objects/listobject.c)."""
    count = len(keys)
    places = indices
    run = min(count, 1)
    if count > 1:
        run = 2
        if _key_at(keys, 1) < _key_at(keys, 0):
            while run < count and _key_at(keys, run) < _key_at(keys, run - 1):
                run += 1
            places = np.where(indices < run, run - 1 - indices, indices)
        else:
            while run < count and not _key_at(keys, run) < _key_at(keys, run - 1):
                run += 1
    for start in range(run, count):
        pivot = _key_at(keys, start)
        left = 0
        right = start
        while left < right:
            middle = (left + right) >> 1
            if pivot < _key_at(keys, int(places[middle])):
                right = middle
            else:
                left = middle + 1
        moved = np.where((indices > left) & (indices <= start), np.roll(places, 1), places)
        places = np.where(indices == left, start, moved)
    return places


def _is_scalar(item: Abstract) -> bool:
    """True for one number."""
    return is_number(item) and not (isinstance(item, Array) and item.rank)


def _is_computed(items: Sequence[Abstract]) -> bool:
    """True if the program computes one of the numbers."""
    return any(
        isinstance(item, Array | Gated) or (isinstance(item, Tuple) and _is_computed(item.items))
        for item in items
    )


def _alike(items: Sequence[Abstract]) -> bool:
    """True for staged scalars of one kind."""
    first = items[0]
    return isinstance(first, Array) and all(
        type(i) is Array and i.type == first.type and i.form is first.form and not i.rank for i in items
    )


def _exchanged(ctx: Context, items: Sequence[Abstract], backwards: bool) -> list[Abstract]:
    """Numbers sorted by exchanging neighbours, each exchange a selection (a sort that is stable)."""
    result = list(items)
    if len(items) > 3:
        _refuse_nan(ctx, items)
    for end in range(len(result) - 1, 0, -1):
        for i in range(end):
            first, second = result[i], result[i + 1]
            swap = compare(ctx, "<", first, second) if backwards else compare(ctx, "<", second, first)
            result[i] = choose(ctx, swap, second, first)
            result[i + 1] = choose(ctx, swap, first, second)
    return result


def _refuse_nan(ctx: Context, items: Sequence[Abstract]) -> None:
    """Raises PS401 where a number is NaN: the order of comparisons depends on the version of Python; of three it does not
    matter.
    """
    read = [ctx.number(item) for item in items]
    reason = NotKnown(span=ctx.span, what="the order of numbers of which one is NaN")
    if any(isinstance(x, Const) and x.value != x.value for x in read):
        ctx.fail(reason)
    floats = [x.value for x in read if isinstance(x, Array) and is_floating(x.dtype)]
    if floats:
        bad = either(ctx, *[ctx.op(Compare("NE"), value, value) for value in floats])
        ctx.check(bad, StagingError(()), refuse, [lambda: reason])


def choose(ctx: Context, condition: Abstract, on_true: Abstract, on_false: Abstract) -> Abstract:
    """`on_true if condition else on_false`; scalars of one type without a branch."""
    truth = ctx.truth(condition)
    if isinstance(truth, Const):
        return on_true if truth.value else on_false
    first, second = _staged(ctx, on_true, on_false), _staged(ctx, on_false, on_true)
    if isinstance(first, Array) and isinstance(second, Array) and _alike([first, second]):
        assert isinstance(truth, Array)
        return select_alike(ctx, truth, first, second)
    return ctx.branch(truth, lambda: on_true, lambda: on_false)


def _staged(ctx: Context, x: Abstract, other: Abstract) -> Abstract:
    """A known number as a value of the program, where the other one is of the same kind."""
    if not isinstance(x, Const) or type(other) is not Array or not is_number(x):
        return x
    (kind,) = kinds_of(x)
    if (kind.dtype, kind.form) != (other.dtype, other.form) or other.rank:
        return x
    return Array(value_of(ctx, x, kind.dtype, kind.form), kind.form, False, ctx.range_of(x))


def select_alike(ctx: Context, condition: Array, on_true: Array, on_false: Array) -> Array:
    """A selection between scalars of one kind, with the range of both."""
    return Array(
        select(ctx, condition.value, on_true.value, on_false.value),
        on_true.form,
        on_true.weak and on_false.weak,
        hull(on_true.range, on_false.range),
    )
