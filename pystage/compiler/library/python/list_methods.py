"""Methods of lists, tuples and NamedTuples, on their cells.

In: the receiver and abstract arguments. Out: what the method returns; a list that it changes gets a new cell
content. What only the program knows (a length, an index, which element is equal) is found on the list as rows
(`row_lists.py`), where its elements have a template in common; else it must be known.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.codes_types import NoSuchOperation
from ...values.lattice import (
    LISTS,
    NONE,
    TRUE,
    Abstract,
    AnyList,
    Const,
    Items,
    MemberCell,
    Ref,
    RowsCell,
    RowsTuple,
    Tuple,
)
from ...values.vector import Vector
from ..containers import row_lists, vectors
from ..containers.computed_items import is_computed_index, is_index
from ..containers.element_equality import same_or_equal
from ..containers.unboxing import element_of, frozen, unboxed
from ..context import Context, Raw
from ..kernels.array_rows import has_arrays, with_shared
from ..kernels.python_implementations import run_program
from ..kernels.structures import (
    abstract,
    elements_for,
    new_dict,
    new_list,
    new_rows,
    sequence_items,
    type_name,
    vector_of,
    with_elements,
)
from ..prelude import builtins
from ..registry import meaning
from . import generators
from .operators import binary, compare
from .ordering import in_order, rows_in_order


def _items(ctx: Context, receiver: Raw) -> tuple[Abstract, ...]:
    items = sequence_items(ctx, receiver)
    if items is None:
        name = type_name(ctx, receiver)
        ctx.fail(NoSuchOperation(span=ctx.span, operation="a method of list", types=name))
    return items


def _content(ctx: Context, receiver: Raw) -> AnyList:
    """The contents of a list that a method is about to change."""
    cell = ctx.settle(receiver) if isinstance(receiver, Ref) else None
    if not isinstance(cell, LISTS):
        _items(ctx, receiver)
        raise AssertionError("a method of list on what is none")
    return cell


def replace_items(ctx: Context, receiver: Raw, items: Sequence[Abstract] | Vector[Abstract]) -> Abstract:
    """Gives a list these elements."""
    elements = items if isinstance(items, Vector) else tuple(items)
    ctx.write(receiver.cell, with_elements(_content(ctx, receiver), elements))
    return NONE


@meaning(list.append)
def append(ctx: Context, self: Raw, object: Raw, /) -> Abstract:
    """`list.append`."""
    row_lists.append(ctx, self, abstract(object))
    return NONE


@meaning(list.extend)
def extend(ctx: Context, self: Raw, iterable: Raw, /) -> Abstract:
    """`list.extend`, of an iterable whose length is known, or of a list."""
    _content(ctx, self)
    if generators.is_suspended(ctx, iterable):
        return run_program(ctx, builtins.extend, [self, iterable])
    extended = row_lists.extended(ctx, self, abstract(iterable))
    if extended is not None:
        return replace_items(ctx, self, extended)
    return replace_items(
        ctx, self, (*_items(ctx, self), *elements_for(ctx, iterable, "listing the elements"))
    )


@meaning(list.insert)
def insert(ctx: Context, self: Raw, index: Raw, object: Raw, /) -> Abstract:
    """`list.insert`."""
    place, new = abstract(index), abstract(object)
    cell = _content(ctx, self)
    if (isinstance(cell, RowsCell) or is_computed_index(ctx, place)) and is_index(place):
        held = unboxed(ctx, new, cell.items.element, views=True) if isinstance(cell, RowsCell) else new
        rows = vectors.holding(ctx, _content(ctx, self).items, held)
        if rows is not None:
            longer = vectors.insert(ctx, rows, place, held)
            shared = has_arrays(held) and frozen(ctx, new, longer.element, element_of(cell.items))
            return replace_items(ctx, self, with_shared(longer, shared))
    items = list(_items(ctx, self))
    try:
        items.insert(ctx.known(index, "the index of list.insert"), new)
    except TypeError as error:
        ctx.raise_(error)
    return replace_items(ctx, self, items)


@meaning(list.pop)
def pop(ctx: Context, self: Raw, index: Raw = -1, /) -> Abstract:
    """`list.pop`."""
    place = abstract(index)
    cell = _content(ctx, self)
    if isinstance(cell, RowsCell) or is_computed_index(ctx, place):
        rows = vectors.holding(ctx, ctx.settle_ring(self).items) if is_index(place) else None
        if rows is not None:
            taken, left = row_lists.popped(ctx, rows, place, ctx.vectors_of(self))
            replace_items(ctx, self, left)
            return taken
    items = list(_items(ctx, self))
    try:
        taken = items.pop(ctx.known(index, "the index of list.pop"))
    except (IndexError, TypeError) as error:
        ctx.raise_(error)
    replace_items(ctx, self, items)
    return taken


@meaning(list.remove)
def remove(ctx: Context, self: Raw, value: Raw, /) -> Abstract:
    """`list.remove`."""
    rows = _searched(ctx, _content(ctx, self).items, value)
    if rows is not None:
        place = _found(ctx, rows, value, row_lists.remove_missing)
        return replace_items(ctx, self, vectors.delete(ctx, rows, place))
    items = list(_items(ctx, self))
    known = _find(ctx, items, value)
    if known is None:
        ctx.raise_(ValueError("list.remove(x): x not in list"))
    del items[known]
    return replace_items(ctx, self, items)


@meaning(list.clear)
def clear(ctx: Context, self: Raw, /) -> Abstract:
    """`list.clear`."""
    rows = vector_of(ctx, self)
    return replace_items(ctx, self, () if rows is None else vectors.clear(rows))


@meaning(list.reverse)
def reverse(ctx: Context, self: Raw, /) -> Abstract:
    """`list.reverse`."""
    rows = vector_of(ctx, self)
    return replace_items(ctx, self, _items(ctx, self)[::-1] if rows is None else vectors.reverse(ctx, rows))


@meaning(list.copy)
def copy(ctx: Context, self: Raw, /) -> Abstract:
    """`list.copy`."""
    rows = vector_of(ctx, self)
    return new_list(ctx, _items(ctx, self)) if rows is None else new_rows(ctx, rows)


@meaning(list.sort)
def sort(ctx: Context, self: Raw, /, *, key: Raw = None, reverse: Raw = False) -> Abstract:
    """`list.sort`; see `sorted`."""
    cell = _content(ctx, self)
    before = _stamp(ctx, self)
    items = cell.items
    found = (
        rows_in_order(ctx, items, key, reverse)
        if isinstance(items, Vector)
        else in_order(ctx, items, key, reverse)
    )
    _check_unchanged(ctx, self, before)
    return replace_items(ctx, self, found)


def _stamp(ctx: Context, self: Raw) -> object:
    """A value that changes with a list; of one in a pool, with any of the lists there."""
    cell = ctx.state.get(self.cell)
    return ctx.state.get(cell.pool) if isinstance(cell, MemberCell) else ctx.ring(self)


def _check_unchanged(ctx: Context, self: Raw, before: object) -> None:
    """Raises ValueError where the key function of a sort has changed the list."""
    if _stamp(ctx, self) is before:
        return
    if isinstance(ctx.state.get(self.cell), MemberCell):
        ctx.fail(NotKnown(span=ctx.span, what="whether a sort changes its own list, which is in a list"))
    ctx.raise_(ValueError("list modified during sort"))


@meaning(list.index, tuple.index)
def index(ctx: Context, self: Raw, value: Raw, start: Raw = 0, stop: Raw = None, /) -> Abstract:
    """`list.index` and `tuple.index`."""
    kind = row_lists.tuple_missing if isinstance(self, Tuple | RowsTuple) else row_lists.index_missing
    rows = _searched(ctx, _sequence(ctx, self), value) if start == 0 and stop is None else None
    if rows is not None:
        place = _found(ctx, rows, value, kind, [value])
        return Const(place) if isinstance(place, int) else ctx.python(place, (0, rows.capacity - 1))
    items = _items(ctx, self)
    part = slice(ctx.known(start, "the start of index"), ctx.known(stop, "the stop of index"))
    try:
        first, last, _ = part.indices(len(items))
    except TypeError as error:
        ctx.raise_(error)
    known = _find(ctx, items[first:last], value)
    vectors.check(ctx, known is None, ValueError(), kind, [value])
    assert known is not None
    return Const(first + known)


@meaning(list.count, tuple.count)
def count(ctx: Context, self: Raw, value: Raw, /) -> Abstract:
    """`list.count` and `tuple.count`."""
    rows = vector_of(ctx, self)
    if rows is not None:
        return vectors.count(ctx, rows, abstract(value), functools.partial(_same, ctx))
    total: Abstract = Const(0)
    for item in _items(ctx, self):
        same = same_or_equal(ctx, item, abstract(value), functools.partial(_same, ctx))
        total = binary(ctx, "+", total, same)
    return total


def _same(ctx: Context, item: Abstract, value: Raw) -> Abstract:
    return ctx.truth(compare(ctx, "==", item, value))


def _sequence(ctx: Context, self: Raw) -> Items:
    """The elements of a list or a tuple."""
    if isinstance(self, RowsTuple):
        return self.items
    return _content(ctx, self).items if isinstance(self, Ref) else _items(ctx, self)


def _searched(ctx: Context, items: Items, value: Raw) -> Vector[Abstract] | None:
    """The elements as a vector, where only the program knows which of them equals `value`."""
    if isinstance(items, Vector):
        return items
    for item in items:
        same = TRUE if item is value else _same(ctx, item, value)
        if not isinstance(same, Const):
            return vectors.holding(ctx, items)
        if same.value:
            break
    return None


def _found(
    ctx: Context, rows: Vector[Abstract], value: Raw, missing: Callable[..., None], args: Sequence[Raw] = ()
) -> vectors.Int:
    """The index of the first element that equals `value`; the program raises what `missing` raises where there is none."""
    found = vectors.find(ctx, rows, abstract(value), functools.partial(_same, ctx))
    place = vectors.int_of(found)
    vectors.check(ctx, vectors.compared(ctx, "LT", place, 0), ValueError(), missing, args)
    return place


def _find(ctx: Context, items: Sequence[Abstract], value: Raw) -> int | None:
    for i, item in enumerate(items):
        same = same_or_equal(ctx, item, abstract(value), functools.partial(_same, ctx))
        if ctx.known(same, "which element of a list is equal"):
            return i
    return None


def _replace(ctx: Context, self: Raw, /, **changes: Raw) -> Abstract:
    """`NamedTuple._replace`."""
    assert isinstance(self, Tuple)
    names: tuple[str, ...] = self.cls._fields  # type: ignore[attr-defined]
    for name in changes:
        if name not in names:
            ctx.raise_(ValueError(f"Got unexpected field names: {[n for n in changes if n not in names]!r}"))
    items = [abstract(changes.get(n, item)) for n, item in zip(names, self.items, strict=True)]
    return Tuple(tuple(items), self.cls)


def _asdict(ctx: Context, self: Raw, /) -> Abstract:
    """`NamedTuple._asdict`."""
    assert isinstance(self, Tuple)
    return new_dict(ctx, dict(zip(self.cls._fields, self.items, strict=True)))  # type: ignore[attr-defined]


NAMED_METHODS: dict[str, Callable[..., Abstract]] = {"_replace": _replace, "_asdict": _asdict}
"""What a class made by `namedtuple` has beside the methods of tuples."""
