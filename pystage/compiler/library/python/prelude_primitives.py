"""The meanings of what programs of the prelude call beside Python itself (`prelude/primitives.py`)."""

from __future__ import annotations

import collections

from ...diagnostics.codes_calls import WrongArguments
from ...values.lattice import LISTS, NONE, Abstract, Const, DictCell, Ref, RowsCell
from ...values.vector import Vector
from ..containers import row_tables, sequences, vectors
from ..containers.sequences import items_of
from ..containers.unboxing import unboxed
from ..context import Context, Raw
from ..kernels import table_keys
from ..kernels.array_rows import has_arrays
from ..kernels.structures import (
    abstract,
    call_now,
    cell_of,
    items_in_list,
    new_list,
    new_rows,
    type_name,
    with_elements,
)
from ..prelude import primitives
from ..registry import meaning
from ..rules.classes import c_name
from ..rules.sequences import SEQUENCES
from .containers import container_delitem, container_getitem, container_setitem
from .iterables import sorted_list


@meaning(primitives.at)
def at(ctx: Context, items: Raw, place: Raw) -> Abstract:
    """An element, without a bounds check."""
    held = items_in_list(ctx, items)
    if isinstance(held, Vector):
        return vectors.get(ctx, held, vectors.int_of(abstract(place)), ctx.vectors_of(items))
    found = container_getitem(ctx, items, place)
    assert found is not None
    return found


@meaning(primitives.put)
def put(ctx: Context, items: Raw, place: Raw, item: Raw) -> Abstract:
    """Stores an element, without a bounds check."""
    assert isinstance(items, Ref)
    cell, new = ctx.settle(items), abstract(item)
    rows = None
    if isinstance(cell, RowsCell):
        new = unboxed(ctx, new, cell.items.element)
        rows = vectors.holding(ctx, cell.items, new)
    if rows is None or has_arrays(rows.element):
        container_setitem(ctx, items, place, item)
    else:
        stored = vectors.put(ctx, rows, vectors.int_of(abstract(place)), new)
        ctx.write(items.cell, with_elements(cell, stored))
    return NONE


@meaning(primitives.check_list)
def check_list(ctx: Context, heap: Raw, argument: Raw) -> Abstract:
    """Raises TypeError for an argument that is no list."""
    if not isinstance(cell_of(ctx, heap), LISTS):
        name = ctx.known(argument, "the name of an argument")
        ctx.raise_(TypeError(f"{name} must be list, not {type_name(ctx, heap)}"))
    return NONE


@meaning(primitives.totally_ordered)
def totally_ordered(ctx: Context, iterable: Raw, key: Raw, reverse: Raw) -> Abstract:
    """The elements in order; PS401 where objects may have ties."""
    return sorted_list(ctx, iterable, key, reverse, total=True)


@meaning(primitives.rolled)
def rolled(ctx: Context, iterable: Raw) -> Abstract:
    """Many elements, of which the program computes some, as rows; others as they are."""
    source = abstract(iterable)
    gathered = ctx.gathered(source)
    if gathered is not None:
        return new_rows(ctx, gathered)
    items = ctx.iterate(source)
    if items is None:
        return source
    if not any(table_keys.is_computed_key(ctx, item) for item in items):
        return new_list(ctx, items)
    rows = row_tables.many(ctx, items)
    return new_list(ctx, items) if rows is None else new_rows(ctx, rows)


@meaning(primitives.elements)
def elements(ctx: Context, sequence: Raw) -> Abstract:
    """The list of the elements of a sequence."""
    return items_of(ctx, sequence)


@meaning(primitives.new_sequence)
def new_sequence(ctx: Context, cls: Raw, *constants: Raw) -> Abstract:
    """A new sequence without elements."""
    kind = ctx.known(cls, "the class of a sequence")
    known = [ctx.known(x, f"an argument of {kind.__name__}") for x in constants]
    call_now(ctx, SEQUENCES[kind].make, [], *known)
    if known[0] in ("u", "w"):
        reason = WrongArguments(span=ctx.span, name=c_name(kind), why="its elements are characters")
        ctx.fail(reason)
    return sequences.new_sequence(ctx, kind, (), *known)


@meaning(collections.Counter)
def Counter(ctx: Context, iterable: Raw = None, /, **kwds: Raw) -> Abstract:
    """`Counter(iterable, **kwds)`."""
    made = Ref(ctx.state.new_cell(DictCell({}, container=collections.Counter)))
    named = {name: abstract(value) for name, value in kwds.items()}
    ctx.call(Const(collections.Counter.update), [made, abstract(iterable)], named)
    return made


@meaning(collections.Counter.__delitem__)
def delete(ctx: Context, self: Raw, elem: Raw) -> Abstract:
    """`del counter[element]`."""
    container_delitem(ctx, self, elem)
    return NONE
