"""Methods of dicts, on their cells. Keys are constants, or rows that the program computes (`row_tables.py`).

In: the receiver and abstract arguments. Out: the method's result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from ... import limits
from ...diagnostics.codes_types import NoSuchOperation
from ...hlo.ir import Value
from ...values.lattice import (
    NONE,
    Abstract,
    Array,
    Const,
    DictCell,
    DictView,
    Items,
    ObjectCell,
    Ref,
    SetCell,
    TableCell,
    Tuple,
    is_number,
)
from ..containers import row_tables, vectors
from ..containers.computed_items import chosen_item
from ..containers.unboxing import frozen
from ..context import Context, Raw
from ..kernels import table_keys
from ..kernels.array_rows import has_arrays
from ..kernels.python_implementations import run_program
from ..kernels.structures import (
    abstract,
    call_now,
    cell_of,
    elements_for,
    list_items,
    new_dict,
    new_list,
    type_name,
)
from ..kernels.table_keys import known_key
from ..prelude import builtins
from ..prelude.dict import store_mapping
from ..registry import meaning, method_meaning
from ..rules.tables import entries_of, is_counter, is_dict
from ..rules.templates import key_of
from . import generators

_REQUIRED: Any = object()


def _cell(ctx: Context, receiver: Raw) -> DictCell | TableCell:
    cell = cell_of(ctx, receiver)
    if not is_dict(cell):
        name = type_name(ctx, receiver)
        ctx.fail(NoSuchOperation(span=ctx.span, operation="a method of dict", types=name))
    return cell


def _known(ctx: Context, receiver: Raw, key: Raw) -> DictCell:
    """A dict whose keys are known; PS401 where a computed key cannot be compared with the others."""
    cell = _cell(ctx, receiver)
    if isinstance(cell, TableCell):
        row_tables.refuse_key(ctx, abstract(key))
    return cell


def _set(ctx: Context, receiver: Raw, entries: Mapping[Any, Abstract]) -> Abstract:
    assert isinstance(receiver, Ref)
    cell = ctx.settle(receiver)
    ctx.write(receiver.cell, replace(cell, entries=dict(entries)))
    return NONE


def entry_key(ctx: Context, key: Raw, value: Raw) -> Any:
    """The key of an entry as a Python object; PS401 names `value`, what is stored under it, where that needs known keys."""
    is_kept = not isinstance(cell_of(ctx, value), DictCell | SetCell | TableCell)
    return known_key(
        ctx, key, "the key of a dict" if is_kept else f"the key of a dict of {type_name(ctx, value)}s"
    )


def item(ctx: Context, container: Raw, key: Raw) -> Abstract:
    """`d[key]`."""
    missing = _missing(ctx, _cell(ctx, container))
    looked_up = row_tables.lookup(ctx, _cell(ctx, container), abstract(key))
    if looked_up is not None:
        found, place, table = looked_up
        if missing is None:
            row_tables.check_found(ctx, found, abstract(key))
            held = row_tables.unboxed_at(ctx, table, place)
            return row_tables.element_at(ctx, cast(Ref, container), abstract(key), place, held)
        if is_counter(table):
            return ctx.branch(
                vectors.truth_of(found), lambda: row_tables.value_at(ctx, table, place), missing
            )
        return _found_or_stored(ctx, cast(Ref, container), abstract(key), looked_up, missing)
    chosen = _chosen(ctx, _known(ctx, container, key), abstract(key)) if missing is None else None
    if chosen is not None:
        return chosen
    cell, known = _known(ctx, container, key), known_key(ctx, key)
    if known in cell.entries:
        return cell.entries[known]
    if missing is None:
        ctx.raise_(KeyError(known))
    value = missing()
    if not is_counter(cell):
        _set(ctx, container, {**_known(ctx, container, key).entries, known: value})
    return value


def _found_or_stored(
    ctx: Context,
    ref: Ref,
    key: Abstract,
    looked_up: tuple[table_keys.Found, Value, TableCell],
    missing: Callable[[], Abstract],
) -> Abstract:
    """The value under a key; the result of `missing` where there is none, which is stored as the entry."""
    found, place, table = looked_up
    shared = False

    def new() -> Abstract:
        nonlocal shared
        value = missing()
        held = row_tables.unboxed_value(ctx, ref, value)
        shared = (has_arrays(held) and frozen(ctx, value)) or shared
        return held

    value = ctx.branch(vectors.truth_of(found), lambda: row_tables.unboxed_at(ctx, table, place), new)
    if found is not True:
        cell = ctx.settle(ref)
        if row_tables.as_table(ctx, row_tables.unboxed_entries(ctx, cell), Tuple((key, value))) is None:
            row_tables.refuse_key(ctx, key)
        place = row_tables.store_unboxed(ctx, ref, key, value, shared)
    return row_tables.element_at(ctx, ref, key, place, value)


def _missing(ctx: Context, cell: DictCell | TableCell) -> Callable[[], Abstract] | None:
    """The result of `__missing__` for a key; None where it raises KeyError. All but a `Counter` store it as the entry."""
    if is_counter(cell):
        return lambda: Const(0)
    factory = cell.factory
    if factory is None or (isinstance(factory, Const) and factory.value is None):
        return None
    return lambda: ctx.call(factory, [])


def _chosen(ctx: Context, cell: DictCell, key: Abstract) -> Abstract | None:
    """`d[key]` by branches over a few known keys, where values have no common template."""
    if not 0 < len(cell.entries) <= limits.ITEM_BRANCHES or not isinstance(key, Array):
        return None
    keys = row_tables.keys_alone(cell)
    looked_up = None if ctx.can_be_unrolled(key) else row_tables.lookup(ctx, keys, key)
    if looked_up is None:
        return None
    found, place, _ = looked_up
    row_tables.check_found(ctx, found, key)
    if found is False:
        return NONE
    return chosen_item(
        ctx, list(cell.entries.values()), ctx.python(place, (0, len(cell.entries) - 1)), "list"
    )


@meaning(dict.get)
def get(ctx: Context, self: Raw, key: Raw, default: Raw = None, /) -> Abstract:
    """`dict.get`."""
    looked_up = row_tables.lookup(ctx, _cell(ctx, self), abstract(key))
    if looked_up is not None:
        found, place, table = looked_up
        value, truth = row_tables.value_at, vectors.truth_of(found)
        return ctx.branch(truth, lambda: value(ctx, table, place), lambda: abstract(default))
    return abstract(_known(ctx, self, key).entries.get(known_key(ctx, key), default))


@meaning(dict.setdefault)
def setdefault(ctx: Context, self: Raw, key: Raw, default: Raw = None, /) -> Abstract:
    """`dict.setdefault`."""
    looked_up = row_tables.lookup(ctx, _cell(ctx, self), abstract(key))
    if looked_up is not None:
        return _found_or_stored(ctx, cast(Ref, self), abstract(key), looked_up, lambda: abstract(default))
    entries = dict(_known(ctx, self, key).entries)
    known: Abstract = entries.setdefault(entry_key(ctx, key, default), abstract(default))
    _set(ctx, self, entries)
    return known


@meaning(dict.pop)
def pop(ctx: Context, self: Raw, key: Raw, default: Raw = _REQUIRED, /) -> Abstract:
    """`dict.pop`."""
    looked_up = row_tables.lookup(ctx, _cell(ctx, self), abstract(key))
    if looked_up is not None:
        found, place, table = looked_up

        def taken() -> Abstract:
            value = row_tables.value_at(ctx, table, place)
            row_tables.delete(ctx, cast(Ref, self), table, place)
            return value

        if default is _REQUIRED:
            row_tables.check_found(ctx, found, abstract(key))
            return taken()
        return ctx.branch(vectors.truth_of(found), taken, lambda: abstract(default))
    entries = dict(_known(ctx, self, key).entries)
    known = known_key(ctx, key)
    if known not in entries:
        if default is _REQUIRED:
            ctx.raise_(KeyError(known))
        return abstract(default)
    value: Abstract = entries.pop(known)
    _set(ctx, self, entries)
    return value


def _popitem(entries: dict[Any, Any]) -> None:
    """Raises what `d.popitem()` of an empty dict raises."""
    entries.popitem()


@meaning(dict.popitem)
def popitem(ctx: Context, self: Raw, /) -> Abstract:
    """`dict.popitem`."""
    cell = _cell(ctx, self)
    if isinstance(cell, TableCell):
        empty = vectors.compared(ctx, "EQ", row_tables.length(ctx, cell), 0)
        vectors.check(ctx, empty, KeyError(), _popitem, [new_dict(ctx, {})])
        return row_tables.pop_last(ctx, cast(Ref, self), cell)
    entries = dict(cell.entries)
    if not entries:
        ctx.raise_(KeyError("popitem(): dictionary is empty"))
    key, value = entries.popitem()
    _set(ctx, self, entries)
    return Tuple((key_of(key), value))


@meaning(dict.update)
def update(ctx: Context, self: Raw, other: Raw = (), /, **entries: Raw) -> Abstract:
    """`dict.update`, from a dict or from pairs."""
    named = {name: abstract(v) for name, v in entries.items()}
    cell, given = _cell(ctx, self), cell_of(ctx, other)
    has_keys = isinstance(given, ObjectCell) and hasattr(given.cls, "keys")
    if has_keys or generators.is_suspended(ctx, other):
        run_program(ctx, store_mapping if has_keys else builtins.store_all, [self, other])
        return update(ctx, self, **entries) if entries else NONE
    is_table = isinstance(given, TableCell) and issubclass(given.container, dict)
    if is_table and isinstance(cell, DictCell) and not cell.entries:
        row_tables.fill(ctx, cast(Ref, self), given)
        return update(ctx, self, **entries) if entries else NONE
    found = _entries(ctx, other, isinstance(cell, TableCell))
    if isinstance(found, dict) and isinstance(cell, DictCell):
        return _set(ctx, self, {**cell.entries, **found, **named})
    known = found if isinstance(found, dict) else {}
    if not isinstance(found, dict):
        row_tables.store_all(ctx, cast(Ref, self), found)
    row_tables.store_all(ctx, cast(Ref, self), entries_of(ctx.b, DictCell({**known, **named})))
    return NONE


def _entries(ctx: Context, source: Raw, as_pairs: bool) -> Items | dict[Any, Abstract]:
    """The entries of a dict, or the pairs of an iterable: as a list if `as_pairs`, or if the program computes a key."""
    cell = cell_of(ctx, source)
    if is_dict(cell):
        if as_pairs or isinstance(cell, TableCell):
            return entries_of(ctx.b, cell)
        return dict(cell.entries)
    rows = ctx.gathered(abstract(source))
    if rows is not None and isinstance(rows.element, Tuple) and len(rows.element.items) == 2:
        return rows
    items = ctx.iterate(abstract(source)) if rows is None else list(list_items(ctx, rows))
    if items is None:
        name = type_name(ctx, source)
        ctx.fail(NoSuchOperation(span=ctx.span, operation="making a dict", types=name))
    entries = [_entry(ctx, item, place) for place, item in enumerate(items)]
    if as_pairs or any(table_keys.is_computed_key(ctx, key) for key, _ in entries):
        return tuple([Tuple(entry) for entry in entries])
    return {entry_key(ctx, key, value): value for key, value in entries}


def _entry(ctx: Context, pair: Abstract, place: int) -> tuple[Abstract, Abstract]:
    """A key and a value, the pair at `place` of an iterable for a dict; others raise what `dict` raises."""
    parts = None if is_number(pair) else ctx.iterate(pair)
    if parts is None or len(parts) != 2:
        wrong: Any = 0 if parts is None else (0,) * len(parts)
        call_now(ctx, dict, [*[(0, 0)] * place, wrong])
    assert parts is not None
    return parts[0], parts[1]


def merged(ctx: Context, left: DictCell | TableCell, right: DictCell | TableCell) -> Ref:
    """`left | right`: a `defaultdict` where one of them is one, with its factory, else a dict."""
    like = left if left.factory is not None else right
    cls = dict if like.factory is None else like.container
    made = row_tables.new_table(ctx, replace(left, container=cls, factory=like.factory))
    other = row_tables.new_table(ctx, right)
    update(ctx, made, other)
    return made


@meaning(dict.clear)
def clear(ctx: Context, self: Raw, /) -> Abstract:
    """`dict.clear`."""
    cell = _cell(ctx, self)
    if isinstance(cell, TableCell):
        ctx.settle(cast(Ref, self))
        ctx.write(cast(Ref, self).cell, row_tables.cleared(ctx, cell))
        return NONE
    return _set(ctx, self, {})


@meaning(dict.copy)
def copy(ctx: Context, self: Raw, /) -> Abstract:
    """`dict.copy`."""
    return row_tables.new_table(ctx, _cell(ctx, self))


def _view(kind: str) -> Callable[..., Abstract]:
    def view(ctx: Context, self: Raw, /) -> Abstract:
        _cell(ctx, self)
        assert isinstance(self, Ref)
        return DictView(kind, self.cell)

    view.__name__ = kind
    view.__doc__ = f"`dict.{kind}`: a view that follows the dict."
    return view


meaning(dict.keys)(_view("keys"))
meaning(dict.values)(_view("values"))
meaning(dict.items)(_view("items"))


@meaning(defaultdict)
def defaultdict_(ctx: Context, default_factory: Raw = None, source: Raw = (), /, **entries: Raw) -> Abstract:
    """`defaultdict(default_factory, source, **entries)`."""
    factory = abstract(default_factory)
    is_none = isinstance(factory, Const) and factory.value is None
    if not is_none and not ctx.known(ctx.call(Const(callable), [factory]), "what makes missing values"):
        ctx.raise_(TypeError("first argument must be callable or None"))
    made = Ref(ctx.state.new_cell(DictCell({}, container=defaultdict, factory=factory)))
    update(ctx, made, source, **entries)
    return made


@method_meaning(dict, "fromkeys")
def fromkeys(ctx: Context, cls: type, iterable: Raw, value: Raw = None, /) -> Abstract:
    """`dict.fromkeys`."""
    made = new_dict(ctx, {})
    rows, given = ctx.gathered(abstract(iterable)), abstract(value)
    if rows is not None:

        def add(key: Abstract, none: Abstract) -> None:
            row_tables.store_certainly(ctx, made, key, given)

        row_tables.each_entry(ctx, replace(rows, element=Tuple((rows.element, NONE))), add)
        return made
    items = elements_for(ctx, iterable, "dict.fromkeys")
    update(ctx, made, new_list(ctx, [Tuple((item, given)) for item in items]))
    return made
