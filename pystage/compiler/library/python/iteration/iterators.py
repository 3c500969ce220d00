"""Iterators: `iter`, `next`, `filter`, and the next element of each kind of iterator.

An iterator is a cell with its source and its position, so it observes later changes of a list, a dict or an ndarray, and
all its users share one position. That of a count is part of its source: the number that it gives next.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import cast

from ....diagnostics.codes_calls import NotServed
from ....diagnostics.codes_syntax import GeneratorFunction
from ....values.lattice import (
    LISTS,
    Abstract,
    AnyList,
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
    Suspended,
    Tuple,
    Zip,
)
from ...context import Context, Raw
from ...kernels.structures import MISSING, abstract, cell_of, list_items, new_iterator, type_name, view_items
from ...numpy.indexing.stores import shape_of
from ...numpy.indexing.subscripts import array_getitem
from ...registry import meaning
from ...rules.classes import class_name
from ..builtins import listed
from ..scalars import special
from . import generators


@meaning(iter)
def iter_(ctx: Context, iterable: Raw, /) -> Abstract:
    """`iter(iterable)` of known structure."""
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
    if isinstance(content, LISTS) or (isinstance(content, ArrayCell) and shape_of(ctx, cast(Ref, iterable))):
        return _over(ctx, iterable)
    return new_iterator(ctx, listed(ctx, iterable, "iter()"))


def _over(ctx: Context, source: Abstract, keys: tuple[object, ...] = ()) -> Ref:
    return Ref(ctx.state.new_cell(IteratorCell(source, 0, keys)))


@meaning(filter)
def filter_(ctx: Context, function: Raw, iterable: Raw, /) -> Abstract:
    """`filter(function, iterable)`: which elements stay must be known when they are asked for."""
    inner = iter_(ctx, iterable)
    if generators.is_suspended(ctx, inner):
        return generators.kept(ctx, abstract(function), inner)
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
        program = generators.first if default is MISSING else generators.first_or
        return ctx.call(Const(program), [abstract(x) for x in (iterator, default) if x is not MISSING])
    first = taken(ctx, cast(Ref, iterator))
    if first is not None:
        return first
    if default is not MISSING:
        return abstract(default)
    ctx.raise_(StopIteration())


def is_iterator(ctx: Context, value: Raw) -> bool:
    """True for what `iter`, `filter` or `itertools.count` has made."""
    return isinstance(cell_of(ctx, value), IteratorCell)


def taken(ctx: Context, iterator: Ref) -> Abstract | None:
    """The next element of an iterator, which it gives no more; None at its end."""
    cell = cast(IteratorCell, ctx.cell(iterator))
    if isinstance(cell.source, Count):
        number, step = cell.source.next, cell.source.step
        after = ctx.call(Const(operator.add), [number, step])
        ctx.write(iterator.cell, replace(cell, source=Count(after, step)))
        return number
    if isinstance(cell.source, Suspended):
        ctx.fail(GeneratorFunction(span=ctx.span, why="it is run step by step"))
    item = None if cell.source is None else _next_of(ctx, cell.source, cell)
    if item is not None:
        ctx.write(iterator.cell, replace(cell, index=cell.index + 1))
    elif not isinstance(cell.source, FlatIterator):  # which can be indexed still
        ctx.write(iterator.cell, IteratorCell())
    return item


def _next_of(ctx: Context, source: Abstract, cell: IteratorCell) -> Abstract | None:
    """The next element of the source of an iterator, as it is now."""
    match source:
        case Filtered(function, inner):
            return _kept(ctx, function, cast(Ref, inner))
        case FlatIterator(array):
            source = array
        case DictView():
            return _of_dict(ctx, source, cell)
    content = cell_of(ctx, source)
    if isinstance(content, ArrayCell):
        at = cell.index
        return array_getitem(ctx, source, Const(at)) if at < shape_of(ctx, cast(Ref, source))[0] else None
    items = source.items if isinstance(source, Tuple) else list_items(ctx, cast(AnyList, content))
    return items[cell.index] if cell.index < len(items) else None


def _kept(ctx: Context, function: Abstract, inner: Ref) -> Abstract | None:
    """The next element for which the function of a filter holds."""
    plain = isinstance(function, Const) and function.value is None
    while (item := taken(ctx, inner)) is not None:
        verdict = item if plain else ctx.call(function, [item])
        if ctx.known(ctx.truth(verdict), "what filter() keeps"):
            return item
    return None


def _of_dict(ctx: Context, view: DictView, cell: IteratorCell) -> Abstract | None:
    """The next key, value or item of a dict; RuntimeError where it has got more or fewer."""
    entries = cast(DictCell, ctx.cell(Ref(view.cell))).entries
    if len(entries) != len(cell.keys):
        ctx.raise_(RuntimeError("dictionary changed size during iteration"))
    if cell.index == len(cell.keys):
        return None
    if cell.keys[cell.index] not in entries:
        ctx.raise_(RuntimeError("dictionary keys changed during iteration"))
    return view_items(ctx, view)[cell.index]
