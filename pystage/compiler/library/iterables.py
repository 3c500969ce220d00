"""Builtins that make or walk iterables: `range`, `enumerate`, `zip`, `sorted`, `list`, `dict`, `next`, …

In: abstract arguments. Out: abstract ranges and iterators that stay unexpanded, so that loops over them can
be rolled, or containers of listed elements.
"""

from __future__ import annotations

from ..diagnostics.codes_calls import NotServed
from ..values.lattice import (
    NONE,
    Abstract,
    Const,
    Enumerate,
    IteratorCell,
    ListCell,
    Mapped,
    Ref,
    Reversed,
    Slice,
    Tuple,
    Zip,
)
from .builtins import listed
from .context import Context, Raw
from .dict_methods import entries_of
from .ordering import in_order
from .registry import meaning
from .scalars import special
from .structures import (
    MISSING,
    abstract,
    cell_of,
    left_of,
    new_dict,
    new_iterator,
    new_list,
    new_set,
    new_turn,
    type_name,
)

# ---------------------------------------------------------------- lazy ones


@meaning(enumerate)
def enumerate_(ctx: Context, iterable: Raw, start: Raw = 0) -> Abstract:
    """`enumerate(iterable, start)`."""
    return Enumerate(_iterable(ctx, iterable), abstract(start), new_turn(ctx))


@meaning(zip)
def zip_(ctx: Context, *iterables: Raw, strict: Raw = False) -> Abstract:
    """`zip(*iterables, strict=…)`."""
    inners = tuple([_iterable(ctx, i) for i in iterables])
    return Zip(inners, bool(ctx.known(strict, "strict of zip()")), new_turn(ctx))


@meaning(reversed)
def reversed_(ctx: Context, sequence: Raw, /) -> Abstract:
    """`reversed(sequence)`."""
    method = special(ctx, sequence, "__reversed__")
    if method is not None:
        return ctx.call(method, [])
    inner = _iterable(ctx, sequence)
    content = cell_of(ctx, inner)
    return Reversed(inner, len(content.items) if isinstance(content, ListCell) else None, new_turn(ctx))


@meaning(map)
def map_(ctx: Context, function: Raw, *iterables: Raw) -> Abstract:
    """`map(function, *iterables)`: calls when it is iterated over."""
    return Mapped(abstract(function), tuple([_iterable(ctx, i) for i in iterables]), new_turn(ctx))


def _iterable(ctx: Context, value: Raw) -> Abstract:
    """An argument that is iterated over later; an iterator gives what is left of it to its new owner."""
    value = abstract(value)
    if isinstance(cell_of(ctx, value), IteratorCell):
        return Tuple(tuple(listed(ctx, value, "an iterator")))
    method = special(ctx, value, "__iter__")
    return ctx.call(method, []) if method is not None else value


# ---------------------------------------------------------------- containers


@meaning(list)
def list_(ctx: Context, iterable: Raw = (), /) -> Abstract:
    """`list(iterable)`."""
    return new_list(ctx, listed(ctx, iterable, "list()"))


@meaning(tuple)
def tuple_(ctx: Context, iterable: Raw = (), /) -> Abstract:
    """`tuple(iterable)`."""
    return Tuple(tuple(listed(ctx, iterable, "tuple()")))


@meaning(dict)
def dict_(ctx: Context, source: Raw = (), /, **entries: Raw) -> Abstract:
    """`dict(source, **entries)`."""
    return new_dict(ctx, {**entries_of(ctx, source), **{k: abstract(v) for k, v in entries.items()}})


@meaning(set)
def set_(ctx: Context, iterable: Raw = (), /) -> Abstract:
    """`set(iterable)`; elements must be known."""
    return new_set(ctx, [ctx.known(i, "an element of a set") for i in listed(ctx, iterable, "set()")])


@meaning(frozenset)
def frozenset_(ctx: Context, iterable: Raw = (), /) -> Abstract:
    """`frozenset(iterable)`; elements must be known."""
    items = listed(ctx, iterable, "frozenset()")
    return Const(frozenset(ctx.known(i, "an element of a set") for i in items))


@meaning(slice)
def slice_(ctx: Context, first: Raw, stop: Raw = MISSING, step: Raw = None, /) -> Abstract:
    """`slice(stop)`, `slice(start, stop, step)`."""
    if stop is MISSING:
        return Slice(NONE, abstract(first), NONE)
    return Slice(abstract(first), abstract(stop), abstract(step))


@meaning(sorted)
def sorted_(ctx: Context, iterable: Raw, /, *, key: Raw = None, reverse: Raw = False) -> Abstract:
    """`sorted(iterable)`: the order must be known, except for a few numbers of one type."""
    return new_list(ctx, in_order(ctx, listed(ctx, iterable, "sorted()"), key, reverse))


@meaning(filter)
def filter_(ctx: Context, function: Raw, iterable: Raw, /) -> Abstract:
    """`filter(function, iterable)`: which elements stay must be known."""
    function = abstract(function)
    plain = isinstance(function, Const) and function.value is None
    kept = []
    for item in listed(ctx, iterable, "filter()"):
        verdict = item if plain else ctx.call(function, [item])
        if ctx.known(ctx.truth(verdict), "what filter() keeps"):
            kept.append(item)
    return new_iterator(ctx, kept)


# ---------------------------------------------------------------- iterators


@meaning(iter)
def iter_(ctx: Context, iterable: Raw, /) -> Abstract:
    """`iter(iterable)` of known structure."""
    iterable = abstract(iterable)
    if isinstance(cell_of(ctx, iterable), IteratorCell):
        iterator: Abstract = iterable
        return iterator
    method = special(ctx, iterable, "__iter__")
    if method is not None:
        return ctx.call(method, [])
    items = tuple(listed(ctx, iterable, "iter()"))
    source = iterable if isinstance(cell_of(ctx, iterable), ListCell) else None
    return Ref(ctx.state.new_cell(IteratorCell(items, source)))


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
    cell = cell_of(ctx, iterator)
    if not isinstance(cell, IteratorCell):
        ctx.raise_(TypeError(f"{type_name(ctx, iterator)!r} object is not an iterator"))
    assert isinstance(iterator, Ref)
    left = left_of(ctx, cell)
    if not left:
        ctx.write(iterator.cell, IteratorCell(()))
        if default is not MISSING:
            return abstract(default)
        ctx.raise_(StopIteration())
    first, *rest = left
    ctx.write(iterator.cell, IteratorCell(tuple(rest), cell.source, cell.index + 1))
    taken: Abstract = first
    return taken
