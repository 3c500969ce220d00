"""Iterators: `iter`, `next`, `filter`, and the next element of each kind of iterator.

An iterator is a cell with its source and its position, so it observes later changes of a list, a dict or an ndarray, and
all its users share one position. That of a count is part of its source: the number that it gives next.
"""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from typing import Any, cast

from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.codes_syntax import GeneratorFunction
from ...hlo.ir import Value
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import (
    LISTS,
    Abstract,
    AnyList,
    Array,
    ArrayCell,
    Const,
    Count,
    DictCell,
    DictView,
    Enumerate,
    Filtered,
    FlatIterator,
    IteratorCell,
    Mapped,
    Ref,
    Reversed,
    RowsCell,
    RowsTuple,
    Suspended,
    Tuple,
    Zip,
)
from ..containers.vectors import get, holding, int_of
from ..context import Context, Raw
from ..kernels.python_implementations import run_program
from ..kernels.structures import (
    MISSING,
    abstract,
    cell_of,
    items_in_list,
    list_items,
    new_iterator,
    new_rows,
    type_name,
    view_items,
)
from ..numpy.indexing.stores import shape_of
from ..numpy.subscripts.subscripts import array_getitem
from ..prelude import builtins
from ..registry import meaning
from ..rules.classes import class_name
from . import generators
from .builtins import listed
from .numbers.scalars import special


@meaning(iter)
def iter_(ctx: Context, iterable: Raw, /) -> Abstract:
    """`iter(iterable)`."""
    iterable = abstract(iterable)
    if is_iterator(ctx, iterable):
        iterator: Abstract = iterable
        return iterator
    method = special(ctx, iterable, "__iter__")
    if method is not None:
        return ctx.call(method, [])
    content = cell_of(ctx, iterable)
    if isinstance(content, DictCell):
        return _over(ctx, DictView("keys", cast(Ref, iterable).cell), tuple(content.entries))
    if isinstance(iterable, DictView) and isinstance(entries := ctx.cell(Ref(iterable.cell)), DictCell):
        return _over(ctx, iterable, tuple(entries.entries))
    if isinstance(iterable, Bounded | RowsTuple):
        return _over(ctx, iterable)
    if isinstance(content, LISTS) or (isinstance(content, ArrayCell) and shape_of(ctx, cast(Ref, iterable))):
        return _over(ctx, iterable)
    rows = ctx.gathered(iterable)
    if rows is not None:
        return _over(ctx, new_rows(ctx, rows))
    return new_iterator(ctx, listed(ctx, iterable, "iter()"))


def _over(ctx: Context, source: Abstract, keys: tuple[object, ...] = ()) -> Ref:
    return Ref(ctx.state.new_cell(IteratorCell(source, 0, keys)))


@meaning(filter)
def filter_(ctx: Context, function: Raw, iterable: Raw, /) -> Abstract:
    """`filter(function, iterable)`: which elements stay must be known when they are taken."""
    inner = iter_(ctx, iterable)
    if generators.is_suspended(ctx, inner):
        return run_program(ctx, builtins.kept, [function, inner])
    return _over(ctx, Filtered(abstract(function), inner))


@meaning(next)
def next_(ctx: Context, iterator: Raw, default: Raw = MISSING, /) -> Abstract:
    """`next(iterator, default)`."""
    method = special(ctx, iterator, "__next__")
    if method is not None:
        found = None if default is MISSING else ctx.attempt(lambda: ctx.call(method, []), StopIteration)
        if found is not None:
            return found
        return ctx.call(method, []) if default is MISSING else abstract(default)
    if isinstance(iterator, Enumerate | Zip | Reversed | Mapped):
        kind = type_name(ctx, iterator)
        why = f"of a {kind} it would take one element and leave the rest"
        ctx.fail(NotServed(span=ctx.span, name="next()", why=why, instead="take it from iter(list(…))"))
    if isinstance(iterator, Const) and hasattr(type(iterator.value), "__next__"):
        why = "it was made outside of the function, where others may take elements of it"
        ctx.fail(NotServed(span=ctx.span, name="next()", why=why, instead="make the iterator inside"))
    if not is_iterator(ctx, iterator):
        ctx.raise_(TypeError(f"{class_name(ctx, iterator)!r} object is not an iterator"))
    if generators.is_suspended(ctx, iterator):
        return run_program(ctx, builtins.first, [x for x in (iterator, default) if x is not MISSING])
    if is_computed_iterator(ctx, cast(Ref, iterator)):
        return _next_if_any(ctx, cast(Ref, iterator), default)
    first = taken(ctx, cast(Ref, iterator))
    return _at_end(ctx, default) if first is None else first


def _at_end(ctx: Context, default: Raw) -> Abstract:
    """The result of `next` of an exhausted iterator."""
    if default is MISSING:
        ctx.raise_(StopIteration())
    return abstract(default)


def is_computed_iterator(ctx: Context, iterator: Ref) -> bool:
    """Whether only the program knows the position of an iterator, or the number of elements of its source."""
    cell = cast(IteratorCell, ctx.cell(iterator))
    if (
        isinstance(cell.source, Bounded | RowsTuple)
        or isinstance(cell.index, Value)
        or cell.ended is not False
    ):
        return True
    return isinstance(cell_of(ctx, cell.source), RowsCell)


def place_of(cell: IteratorCell) -> Abstract:
    """The number of elements that an iterator has given."""
    if isinstance(cell.index, int):
        return Const(cell.index)
    return Array(cell.index, Form.PYTHON, range=(0, math.inf))


def has_ended(ctx: Context, cell: IteratorCell) -> Abstract:
    """Whether an iterator is exhausted."""
    return Const(cell.ended) if isinstance(cell.ended, bool) else ctx.python(cell.ended)


def _next_if_any(ctx: Context, iterator: Ref, default: Raw) -> Abstract:
    """The next element, where the program finds that there is one.

    An iterator over a list has ended once there is none, even if the list gets longer.
    """
    cell = cast(IteratorCell, ctx.cell(iterator))
    place, source = place_of(cell), cast(Abstract, cell.source)
    given = ctx.call(Const(operator.add), [place, Const(1)])
    after = replace(cell, index=int_of(given))

    def some() -> Abstract:
        ctx.write(iterator.cell, after)
        items = source.items if isinstance(source, RowsTuple) else items_in_list(ctx, source)
        if items is None:
            return array_getitem(ctx, source, place)
        of_one_kind = holding(ctx, items)
        if of_one_kind is None:
            what = "which element of a list of several kinds an iterator gives"
            ctx.fail(NotKnown(span=ctx.span, what=what))
        return get(ctx, of_one_kind, int_of(place))

    def none() -> Abstract:
        ctx.write(iterator.cell, replace(after, ended=True))
        return _at_end(ctx, default)

    length = ctx.call(Const(len), [source])
    more = ctx.call(Const(operator.lt), [place, length])
    goes_on = ctx.call(Const(operator.and_), [more, ctx.call(Const(operator.not_), [has_ended(ctx, cell)])])
    return ctx.branch(goes_on, some, none)


def is_iterator(ctx: Context, value: Raw) -> bool:
    """True for what `iter`, `filter` or `itertools.count` has made."""
    return isinstance(cell_of(ctx, value), IteratorCell)


def taken(ctx: Context, iterator: Ref) -> Abstract | None:
    """The next element of an iterator, which is consumed; None at its end."""
    cell = cast(IteratorCell, ctx.cell(iterator))
    if isinstance(cell.source, Count):
        number, step = cell.source.next, cell.source.step
        after = ctx.call(Const(operator.add), [number, step])
        ctx.write(iterator.cell, replace(cell, source=Count(after, step)))
        return number
    if isinstance(cell.source, Suspended):
        ctx.fail(GeneratorFunction(span=ctx.span, why="it is run step by step"))
    index = ctx.known(place_of(cell), "how many elements an iterator has given")
    ended = cell.source is None or ctx.known(has_ended(ctx, cell), "whether an iterator has ended")
    found = None if ended else _next_of(ctx, cast(Abstract, cell.source), index, cell.keys)
    if found is not None:
        ctx.write(iterator.cell, replace(cell, index=index + 1))
    elif not isinstance(cell.source, FlatIterator):  # which can be indexed still
        ctx.write(iterator.cell, IteratorCell())
    return found


def _next_of(ctx: Context, source: Abstract, index: int, keys: tuple[Any, ...]) -> Abstract | None:
    """The next element of the source of an iterator that has given `index`, at present."""
    match source:
        case Filtered(function, inner):
            return _kept(ctx, function, cast(Ref, inner))
        case FlatIterator(array):
            source = array
        case DictView():
            return _of_dict(ctx, source, index, keys)
    content = cell_of(ctx, source)
    if isinstance(content, ArrayCell):
        ends = index >= shape_of(ctx, cast(Ref, source))[0]
        return None if ends else array_getitem(ctx, source, Const(index))
    holder = source if isinstance(source, Tuple | RowsTuple) else cast(AnyList, content)
    items = list_items(ctx, holder.items)
    return items[index] if index < len(items) else None


def _kept(ctx: Context, function: Abstract, inner: Ref) -> Abstract | None:
    """The next element for which the function of a filter holds."""
    plain = isinstance(function, Const) and function.value is None
    while (found := taken(ctx, inner)) is not None:
        verdict = found if plain else ctx.call(function, [found])
        if ctx.known(ctx.truth(verdict), "what filter() keeps"):
            return found
    return None


def _of_dict(ctx: Context, view: DictView, index: int, keys: tuple[Any, ...]) -> Abstract | None:
    """The next key, value or item of a dict; RuntimeError where the number of entries has changed."""
    entries = cast(DictCell, ctx.cell(Ref(view.cell))).entries
    if len(entries) != len(keys):
        ctx.raise_(RuntimeError("dictionary changed size during iteration"))
    if index == len(keys):
        return None
    if keys[index] not in entries:
        ctx.raise_(RuntimeError("dictionary keys changed during iteration"))
    return view_items(ctx, view)[index]
