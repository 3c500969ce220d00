"""Methods of dicts, on their cells. Keys are constants.

In: the receiver and abstract arguments. Out: the method's result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...diagnostics.codes_types import NoSuchOperation
from ...values.lattice import NONE, Abstract, Const, DictCell, DictView, Ref, Tuple
from ..context import Context, Raw
from ..kernels.structures import abstract, cell_of, new_dict, type_name
from ..registry import meaning

_REQUIRED: Any = object()


def _cell(ctx: Context, receiver: Raw) -> DictCell:
    cell = cell_of(ctx, receiver)
    if not isinstance(cell, DictCell):
        name = type_name(ctx, receiver)
        ctx.fail(NoSuchOperation(span=ctx.span, operation="a method of dict", types=name))
    return cell


def _set(ctx: Context, receiver: Raw, entries: Mapping[Any, Abstract]) -> Abstract:
    assert isinstance(receiver, Ref)
    cell = ctx.settle(receiver)
    ctx.write(receiver.cell, replace(cell, entries=dict(entries)))
    return NONE


def known_key(ctx: Context, key: Raw) -> Any:
    """A key as a Python object."""
    known = ctx.known(key, "the key of a dict")
    try:
        hash(known)
    except TypeError as error:
        ctx.raise_(error)
    return known


def item(ctx: Context, cell: DictCell, key: Raw) -> Abstract:
    """`d[key]`."""
    known = known_key(ctx, key)
    if known not in cell.entries:
        ctx.raise_(KeyError(known))
    return cell.entries[known]


@meaning(dict.get)
def get(ctx: Context, self: Raw, key: Raw, default: Raw = None, /) -> Abstract:
    """`dict.get`."""
    return abstract(_cell(ctx, self).entries.get(known_key(ctx, key), default))


@meaning(dict.setdefault)
def setdefault(ctx: Context, self: Raw, key: Raw, default: Raw = None, /) -> Abstract:
    """`dict.setdefault`."""
    entries = dict(_cell(ctx, self).entries)
    value: Abstract = entries.setdefault(known_key(ctx, key), abstract(default))
    _set(ctx, self, entries)
    return value


@meaning(dict.pop)
def pop(ctx: Context, self: Raw, key: Raw, default: Raw = _REQUIRED, /) -> Abstract:
    """`dict.pop`."""
    entries = dict(_cell(ctx, self).entries)
    known = known_key(ctx, key)
    if known not in entries:
        if default is _REQUIRED:
            ctx.raise_(KeyError(known))
        return abstract(default)
    value: Abstract = entries.pop(known)
    _set(ctx, self, entries)
    return value


@meaning(dict.popitem)
def popitem(ctx: Context, self: Raw, /) -> Abstract:
    """`dict.popitem`."""
    entries = dict(_cell(ctx, self).entries)
    if not entries:
        ctx.raise_(KeyError("popitem(): dictionary is empty"))
    key, value = entries.popitem()
    _set(ctx, self, entries)
    return Tuple((Const(key), value))


@meaning(dict.update)
def update(ctx: Context, self: Raw, other: Raw = (), /, **entries: Raw) -> Abstract:
    """`dict.update`, from a dict or from pairs."""
    added = entries_of(ctx, other)
    named = {name: abstract(v) for name, v in entries.items()}
    return _set(ctx, self, {**_cell(ctx, self).entries, **added, **named})


def entries_of(ctx: Context, source: Raw) -> dict[Any, Abstract]:
    """The entries that `dict(source)` has: of a dict, or of an iterable of pairs."""
    cell = cell_of(ctx, source)
    if isinstance(cell, DictCell):
        return dict(cell.entries)
    pairs = ctx.iterate(abstract(source))
    entries: dict[Any, Abstract] = {}
    for pair in pairs if pairs is not None else []:
        parts = ctx.iterate(pair)
        if parts is None or len(parts) != 2:
            ctx.raise_(TypeError("cannot convert dictionary update sequence element to a pair"))
        entries[known_key(ctx, parts[0])] = parts[1]
    if pairs is None:
        name = type_name(ctx, source)
        ctx.fail(NoSuchOperation(span=ctx.span, operation="making a dict", types=name))
    return entries


@meaning(dict.clear)
def clear(ctx: Context, self: Raw, /) -> Abstract:
    """`dict.clear`."""
    return _set(ctx, self, {})


@meaning(dict.copy)
def copy(ctx: Context, self: Raw, /) -> Abstract:
    """`dict.copy`."""
    return new_dict(ctx, _cell(ctx, self).entries)


def _view(kind: str) -> Callable[..., Abstract]:
    def view(ctx: Context, self: Raw, /) -> Abstract:
        _cell(ctx, self)
        assert isinstance(self, Ref)
        return DictView(kind, self.cell)

    view.__name__ = kind
    view.__doc__ = f"`dict.{kind}`: a view that follows the dict."
    return view


keys = meaning(dict.keys)(_view("keys"))
values = meaning(dict.values)(_view("values"))
items = meaning(dict.items)(_view("items"))

METHODS: dict[str, Callable[..., Abstract]] = {
    "get": get,
    "setdefault": setdefault,
    "pop": pop,
    "popitem": popitem,
    "update": update,
    "clear": clear,
    "copy": copy,
    "keys": keys,
    "values": values,
    "items": items,
}
"""The methods of dicts."""
