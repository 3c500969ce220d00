"""Methods of lists, tuples and NamedTuples, on their cells.

In: the receiver and abstract arguments. Out: the method's result; a method that mutates a list replaces the content of its
cell. A search by value needs every comparison to be a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...diagnostics.codes_types import NoSuchOperation
from ...values.lattice import NONE, Abstract, Const, ListCell, Ref, Tuple
from ..context import Context, Raw
from ..kernels.structures import abstract, elements_for, new_dict, new_list, sequence_items, type_name
from ..registry import meaning
from .operators import binary, compare
from .ordering import in_order


def _items(ctx: Context, receiver: Raw) -> tuple[Abstract, ...]:
    items = sequence_items(ctx, receiver)
    if items is None:
        name = type_name(ctx, receiver)
        ctx.fail(NoSuchOperation(span=ctx.span, operation="a method of list", types=name))
    return items


def replace_items(ctx: Context, receiver: Raw, items: Sequence[Abstract]) -> Abstract:
    assert isinstance(receiver, Ref)
    cell = ctx.settle(receiver)
    assert isinstance(cell, ListCell)
    ctx.write(receiver.cell, replace(cell, items=tuple(items)))
    return NONE


@meaning(list.append)
def append(ctx: Context, self: Raw, object: Raw, /) -> Abstract:
    """`list.append`."""
    return replace_items(ctx, self, (*_items(ctx, self), abstract(object)))


@meaning(list.extend)
def extend(ctx: Context, self: Raw, iterable: Raw, /) -> Abstract:
    """`list.extend`, of an iterable whose length is known."""
    return replace_items(
        ctx, self, (*_items(ctx, self), *elements_for(ctx, iterable, "listing the elements"))
    )


@meaning(list.insert)
def insert(ctx: Context, self: Raw, index: Raw, object: Raw, /) -> Abstract:
    """`list.insert`."""
    items = list(_items(ctx, self))
    items.insert(ctx.known(index, "the index of list.insert"), abstract(object))
    return replace_items(ctx, self, items)


@meaning(list.pop)
def pop(ctx: Context, self: Raw, index: Raw = -1, /) -> Abstract:
    """`list.pop`."""
    items = list(_items(ctx, self))
    try:
        taken = items.pop(ctx.known(index, "the index of list.pop"))
    except IndexError as error:
        ctx.raise_(error)
    replace_items(ctx, self, items)
    return taken


@meaning(list.remove)
def remove(ctx: Context, self: Raw, value: Raw, /) -> Abstract:
    """`list.remove`; which element is equal must be known."""
    items = list(_items(ctx, self))
    place = _find(ctx, items, value)
    if place is None:
        ctx.raise_(ValueError("list.remove(x): x not in list"))
    del items[place]
    return replace_items(ctx, self, items)


@meaning(list.clear)
def clear(ctx: Context, self: Raw, /) -> Abstract:
    """`list.clear`."""
    return replace_items(ctx, self, ())


@meaning(list.reverse)
def reverse(ctx: Context, self: Raw, /) -> Abstract:
    """`list.reverse`."""
    return replace_items(ctx, self, _items(ctx, self)[::-1])


@meaning(list.copy)
def copy(ctx: Context, self: Raw, /) -> Abstract:
    """`list.copy`."""
    return new_list(ctx, _items(ctx, self))


@meaning(list.sort)
def sort(ctx: Context, self: Raw, /, *, key: Raw = None, reverse: Raw = False) -> Abstract:
    """`list.sort`; see `sorted`."""
    return replace_items(ctx, self, in_order(ctx, _items(ctx, self), key, reverse))


@meaning(list.index, tuple.index)
def index(ctx: Context, self: Raw, value: Raw, start: Raw = 0, stop: Raw = None, /) -> Abstract:
    """`list.index` and `tuple.index`; which element is equal must be known."""
    items = _items(ctx, self)
    first, last, _ = slice(
        ctx.known(start, "the start of index"), ctx.known(stop, "the stop of index")
    ).indices(len(items))
    place = _find(ctx, items[first:last], value)
    if place is None:
        kind = "tuple.index(x): x not in tuple" if isinstance(self, Tuple) else "x is not in list"
        ctx.raise_(ValueError(kind))
    return Const(first + place)


@meaning(list.count, tuple.count)
def count(ctx: Context, self: Raw, value: Raw, /) -> Abstract:
    """`list.count` and `tuple.count`."""
    total: Abstract = Const(0)
    for item in _items(ctx, self):
        same = Const(True) if item is value else ctx.truth(compare(ctx, "==", item, value))
        total = binary(ctx, "+", total, same)
    return total


def _find(ctx: Context, items: Sequence[Abstract], value: Raw) -> int | None:
    for i, item in enumerate(items):
        if item is value or ctx.known(
            ctx.truth(compare(ctx, "==", item, value)), "which element of a list is equal"
        ):
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


METHODS: dict[str, Callable[..., Abstract]] = {
    "append": append,
    "extend": extend,
    "insert": insert,
    "pop": pop,
    "remove": remove,
    "clear": clear,
    "reverse": reverse,
    "copy": copy,
    "sort": sort,
    "index": index,
    "count": count,
}
"""The methods of lists."""

TUPLE_METHODS: dict[str, Callable[..., Abstract]] = {"index": index, "count": count}
NAMED_METHODS: dict[str, Callable[..., Abstract]] = {"_replace": _replace, "_asdict": _asdict}
