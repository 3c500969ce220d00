"""Operations on dicts and sets of computed keys (`TableCell`): what each does to the rows of entries.

In: a reference to a dict or a set, or its contents, and abstract keys and values. Out: new contents, a value, a truth. A
key is looked up among all rows at once. As Python does, it compares numbers whatever their kinds; the key that came
first stays when its value is replaced, and the entry of one that was deleted goes to the end. What has no template in
common with the other entries asks for the key (`Context.known`), as do keys that are no numbers and no tuples of numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from ... import limits
from ...diagnostics.codes_constant import NotKnown
from ...hash_order import made_by
from ...hlo.ir import Region, Value
from ...hlo.types import BOOL, INT32, INT64, ArrayType, DType
from ...ops import Add, And, Compare, Divide, Iota, Maximum, Minimum, Not, Or, Reduce, Select, While
from ...values.gated import Gated
from ...values.lattice import (
    FALSE,
    NONE,
    TRUE,
    Abstract,
    AnyTable,
    Array,
    DictCell,
    Items,
    Ref,
    RowsTuple,
    SetCell,
    TableCell,
    Tuple,
)
from ...values.vector import Vector, length_of
from ...values.walk import inner, rebuild, values_of
from ..context import Context
from ..interfaces.operations import Operations
from ..kernels.array_rows import boxed, copied, has_arrays, with_shared
from ..kernels.table_keys import Found, as_numbers_of, has_alternatives, is_of_rows, refuse_nan, same_keys
from ..rules import row_index, templates
from ..rules.rows import row_at, rows_of
from ..rules.tables import (
    cell_as,
    compacted,
    compacted_where,
    count_of,
    entries_of,
    keys_in,
    marked,
    stored_entries,
    with_rows,
    without_holes_behind,
)
from . import vectors
from .unboxing import frozen, make_members, unboxed
from .vectors import Int, fold, int_value, reserve, truth_of


def _pair(entry: Abstract) -> tuple[Abstract, Abstract]:
    assert isinstance(entry, Tuple)
    key, value = entry.items
    return key, value


# ---------------------------------------------------------------- lookup


def as_table(ctx: Context, cell: AnyTable, *also: Abstract, ragged: bool = False) -> TableCell | None:
    """The dict or set as rows that can hold the entries `also`; None without a common template.

    `ragged`: as for `vectors.holding`.
    """
    entries = vectors.holding(ctx, stored_entries(cell), *also, ragged=ragged)
    if entries is None and not also and is_empty(cell):
        entries = Vector(Tuple((NONE, NONE)), 1, 0)
    if entries is None:
        return None
    if isinstance(cell, TableCell):
        return with_rows(ctx.b, cell, entries)
    return cell_as(cell, entries)


def keys_alone(cell: AnyTable) -> AnyTable:
    """The contents without the values, which may have no common template."""
    return replace(cell, entries=dict.fromkeys(cell.entries, NONE)) if isinstance(cell, DictCell) else cell


def find(ctx: Context, cell: TableCell, key: Abstract) -> tuple[Found, Value]:
    """Whether there is an entry with this key, and its row."""
    refuse_nan(ctx, key)
    return _indexed(ctx, cell, key)[:2] if cell.index is not None else _scanned(ctx, cell, key)


def _indexed(ctx: Operations, cell: TableCell, key: Abstract) -> tuple[Found, Value, Value, Value]:
    """The same, by the index; also the slot of the entry, and the first free slot on the probe sequence."""
    assert cell.index is not None
    keys, zero = keys_in(cell.entries), ctx.constant(0, INT64)
    numbers = as_numbers_of(ctx, keys, key)
    if numbers is None:
        return False, zero, zero, zero
    buckets = row_index.buckets_for(cell.entries.capacity)
    first = row_index.bucket_of(ctx.b, numbers, buckets)
    nowhere, none = ctx.constant(row_index.NOWHERE, INT64), ctx.constant(-1, INT64)
    initial = (first, zero, none, none, nowhere, ctx.constant(True, BOOL))
    types = tuple([value.type for value in initial])
    condition, body = Region(types), Region(types)
    with ctx.b.region(condition):
        condition.results = (condition.params[-1],)
    with ctx.b.region(body):
        bucket, seen, _, _, unused, _ = body.params
        window, slots = row_index.window_of(ctx.b, cell.index, bucket), row_index.slots_of(ctx.b, bucket)
        held = vectors.permuted(ctx, keys, ctx.convert(window, INT64))
        same = same_keys(ctx, held, key)
        assert isinstance(same, Value)
        own = ctx.op(And(), same, ctx.op(Compare("GE"), window, _eight(ctx, 0, INT32)))
        place, slot = [
            ctx.op(Reduce(Maximum(), (0,)), ctx.op(Select(), own, each, _eight(ctx, -1, INT64)), none)
            for each in (ctx.convert(window, INT64), slots)
        ]
        unused = ctx.op(Minimum(), unused, row_index.first_unused(ctx.b, window, slots))
        free = ctx.op(Compare("EQ"), window, _eight(ctx, row_index.FREE, INT32))
        ends = ctx.op(Reduce(Or(), (0,)), free, ctx.constant(False, BOOL))
        seen = ctx.op(Add(), seen, ctx.constant(1, INT64))
        missing = ctx.op(Compare("LT"), place, zero)
        more = ctx.op(Compare("LT"), seen, ctx.constant(buckets, INT64))
        goes_on = ctx.op(And(), ctx.op(And(), missing, more), ctx.op(Not(), ends))
        body.results = (row_index.next_bucket(ctx.b, bucket, buckets), seen, place, slot, unused, goes_on)
    _, _, place, slot, unused, _ = ctx.b.apply(While(), initial, (condition, body)).results
    found = ctx.op(Compare("GE"), place, zero)
    return found, ctx.op(Maximum(), place, zero), slot, unused


def _eight(ctx: Operations, value: int, dtype: DType) -> Value:
    return ctx.broadcast(ctx.constant(value, dtype), (row_index.WIDTH,))


def _scanned(ctx: Operations, cell: TableCell, key: Abstract) -> tuple[Found, Value]:
    """The same, by comparing the key with all of a few rows."""
    rows = cell.entries
    zero = ctx.constant(0, INT64)
    same = same_keys(ctx, keys_in(rows), key)
    if same is False or (isinstance(rows.length, int) and rows.length == 0):
        return False, zero
    if same is True:
        return vectors.compared(ctx, "GT", rows.length, 0), zero
    none = ctx.constant(-1, INT32)
    places = ctx.op(Iota(ArrayType(INT32, (rows.capacity,)), 0))
    own = ctx.op(And(), same, vectors.is_element(ctx, rows))
    each = ctx.op(Select(), own, places, ctx.broadcast(none, (rows.capacity,)))
    place = ctx.convert(ctx.op(Reduce(Maximum(), (0,)), each, none), INT64)
    return ctx.op(Compare("GE"), place, zero), ctx.op(Maximum(), place, zero)


def contains(ctx: Context, cell: AnyTable, key: Abstract) -> Abstract | None:
    """`key in d`; None where it must be known."""
    if not is_of_rows(ctx, cell, key):
        return None
    table = as_table(ctx, keys_alone(cell), ragged=has_alternatives(key))
    return None if table is None else truth_of(find(ctx, table, key)[0])


def lookup(ctx: Context, cell: AnyTable, key: Abstract) -> tuple[Found, Value, TableCell] | None:
    """`find` in a dict of any form, which becomes rows; None where the key must be known."""
    if not is_of_rows(ctx, cell, key):
        return None
    table = as_table(ctx, cell, ragged=has_alternatives(key))
    if table is None and isinstance(cell, DictCell) and not _can_be_unrolled(ctx, key):
        members = make_members(ctx, list(cell.entries.values()))
        table = as_table(ctx, unboxed_entries(ctx, cell)) if members else None
    return None if table is None else (*find(ctx, table, key), table)


def _can_be_unrolled(ctx: Context, key: Abstract) -> bool:
    """True for a key that is known once a loop around is unrolled."""
    if isinstance(key, Tuple):
        return any(_can_be_unrolled(ctx, part) for part in key.items)
    return isinstance(key, Array) and ctx.can_be_unrolled(key)


def value_at(ctx: Context, cell: TableCell, place: Value) -> Abstract:
    """The value of the entry at a row."""
    return boxed(ctx, unboxed_at(ctx, cell, place))


def unboxed_at(ctx: Operations, cell: TableCell, place: Value) -> Abstract:
    """The value at a row as the rows hold it, with the contents of arrays in their place."""
    return _pair(row_at(ctx.b, cell.entries.element, place))[1]


def key_missing(key: object) -> None:
    """Raises what `d[key]` raises."""
    operator.getitem({}, key)


def check_found(ctx: Context, found: Found, key: Abstract) -> None:
    """Makes the program raise KeyError where there is no such entry."""
    bad = not found if isinstance(found, bool) else ctx.op(Not(), found)
    vectors.check(ctx, bad, KeyError(), key_missing, [key])


def element_at(ctx: Context, ref: Ref, key: Abstract, place: Value, held: Abstract) -> Abstract:
    """The value found under a key at a row; a store into an array of it reaches the rows."""
    value = boxed(ctx, held)
    if isinstance(value, Ref):
        ctx.note_element(value, ref, place, key)
    return value


# ---------------------------------------------------------------- changes


def store(ctx: Context, ref: Ref, key: Abstract, value: Abstract = NONE) -> bool:
    """`d[key] = value`, or `s.add(key)`; False where the key must be known."""
    cell = ctx.settle(ref)
    if not is_of_rows(ctx, cell, key):
        return False
    if isinstance(value, Ref) and ctx.is_element(value, ref, key):
        return True
    held = unboxed_value(ctx, ref, value)
    cell = ctx.settle(ref)
    if as_table(ctx, unboxed_entries(ctx, cell), Tuple((key, held))) is None:
        return False
    shared = has_arrays(held) and frozen(ctx, value)
    if isinstance(cell, DictCell) and held is not value:
        shared = max([shared, *[frozen(ctx, each) for each in cell.entries.values()]])
    store_unboxed(ctx, ref, key, held, shared)
    return True


def unboxed_value(ctx: Context, ref: Ref, value: Abstract) -> Abstract:
    """A value of a dict as rows hold it; objects become members of the pool of the other values."""
    cell = ctx.settle(ref)
    if isinstance(cell, TableCell) and not is_empty(cell):
        return unboxed(ctx, value, _pair(cell.entries.element)[1])
    others = list(cell.entries.values()) if isinstance(cell, DictCell) else []
    pool_together(ctx, [*others, value])
    return unboxed(ctx, value)


def pool_together(ctx: Context, values: Sequence[Abstract]) -> None:
    """Makes the objects at corresponding positions of values, which are no arrays, members of one pool, if possible."""
    tuples = [value for value in values if isinstance(value, Tuple)]
    if tuples and len(tuples) == len(values) and len({len(value.items) for value in tuples}) == 1:
        for column in zip(*[value.items for value in tuples]):
            pool_together(ctx, column)
        return
    objects = [value for value in values if isinstance(value, Ref) and not ctx.is_ndarray(value)]
    if objects:
        ctx.pooled(objects)


def is_empty(cell: AnyTable) -> bool:
    """True for a dict or a set that has no entries as far as is known now, and so no template."""
    count = length_of(stored_entries(cell))
    return isinstance(count, int) and count == 0


def unboxed_entries(ctx: Context, cell: AnyTable) -> AnyTable:
    """The contents with the contents of arrays in their place."""
    if not isinstance(cell, DictCell):
        return cell
    return replace(cell, entries={k: unboxed(ctx, value) for k, value in cell.entries.items()})


def store_unboxed(ctx: Context, ref: Ref, key: Abstract, value: Abstract, shared: bool = False) -> Value:
    """Stores an entry in unboxed form and gives its row; `shared`: its arrays may be elsewhere too."""
    table = as_table(ctx, unboxed_entries(ctx, ctx.settle(ref)), Tuple((key, value)))
    assert table is not None
    table = with_room(ctx, replace(table, entries=with_shared(table.entries, shared)))
    refuse_nan(ctx, key)
    if table.index is None:
        found, place = _scanned(ctx, table, key)
    else:
        found, place, _, unused = _indexed(ctx, table, key)
        table = _with_entry(ctx, table, found, unused)
    stored, at = _stored(ctx, table, found, place, Tuple((key, value)))
    ctx.write(ref.cell, stored)
    return at


def _with_entry(ctx: Operations, table: TableCell, found: Found, unused: Value) -> TableCell:
    """The table with the row of a new last entry in its index, unless the key was found."""
    assert table.index is not None and isinstance(found, Value)
    size = table.index.type.shape[0]
    slot = ctx.op(Minimum(), unused, ctx.constant(size - 1, INT64))
    end = int_value(ctx, table.entries.length)
    held = row_index.slot_at(ctx.b, table.index, slot)
    index = row_index.with_slot(ctx.b, table.index, slot, ctx.op(Select(), found, held, end))
    if table.slots is None:
        return replace(table, index=index)
    most = ctx.constant(table.entries.capacity - 1, INT64)
    at = ctx.op(Minimum(), end, most)  # where there is no room, the run ends
    slots = row_index.with_slot(
        ctx.b, table.slots, at, ctx.op(Select(), found, row_index.slot_at(ctx.b, table.slots, at), slot)
    )
    return replace(table, index=index, slots=slots)


def _stored(
    ctx: Context, table: TableCell, found: Found, place: Value, entry: Tuple
) -> tuple[TableCell, Value]:
    """The table with an entry, which replaces the one that was found but keeps its key, or comes last; and its row."""
    rows = table.entries
    key, value = entry.items
    if found is True:
        more: Int = 0
    else:
        more = 1 if found is False else ctx.convert(ctx.op(Not(), found), INT64)
    end = int_value(ctx, rows.length)
    at = place if found is True else end
    if isinstance(found, Value):
        at = ctx.op(Select(), found, place, end)
    if found is not False:
        key = _first(ctx, rows, found, place, key)
    count = rows.length
    if found is not True:
        rows, count = reserve(ctx, rows, more, 1)
    new = vectors.put(ctx, rows, at, Tuple((key, value)))
    return with_rows(ctx.b, table, replace(new, length=count)), at


def with_room(ctx: Operations, table: TableCell) -> TableCell:
    """The table, compacted where the rows do not suffice for one more entry and a quarter of them hold none.

    So a compaction, which passes over all rows, comes after so many deletions.
    """
    rows = table.entries
    if table.slots is None:
        return table
    if rows.site is None or isinstance(rows.length, int):
        return compacted(ctx.b, table)
    is_full = ctx.op(Compare("GE"), rows.length, ctx.constant(rows.capacity, INT64))
    many = ctx.constant(rows.capacity // 4, INT64)
    pays = ctx.op(Compare("GT"), int_value(ctx, table.holes), many)
    return compacted_where(ctx.b, table, ctx.op(And(), is_full, pays))


def _first(ctx: Operations, rows: Vector[Abstract], found: Found, place: Value, key: Abstract) -> Abstract:
    """The key of an entry after a store: the one that came first."""
    keys = _pair(rows.element)[0]
    if all(_is_determined_by_value(part) for part in _numbers(keys)):
        return key  # which is the same
    old = row_at(ctx.b, keys, place)
    if found is True:
        return old
    assert isinstance(found, Value)
    new = iter(values_of(rows_of(ctx.b, [key], templates.row_template(keys), 1)))

    def chosen(value: Value) -> Value:
        other = ctx.reshape(next(new), value.type.shape)
        return ctx.op(Select(), found, value, other)

    return rebuild(old, chosen)


def _is_determined_by_value(number: Array) -> bool:
    """True for numbers of one kind of which equal ones are the same."""
    return type(number) is Array and number.dtype.kind in "biu"


def _numbers(element: Abstract) -> list[Array]:
    if isinstance(element, Tuple | Gated):
        return [n for part in inner(element) for n in _numbers(part)]
    if isinstance(element, RowsTuple):
        return _numbers(element.items.element)
    return [element] if isinstance(element, Array) else []


def delete(ctx: Context, ref: Ref, table: TableCell, place: Int) -> None:
    """Removes the entry at a row from the dict or set, which holds `table`."""
    removed = vectors.added(ctx, table.removed, 1)
    if table.index is None:
        rest = vectors.delete(ctx, table.entries, place)
        ctx.write(ref.cell, replace(table, entries=rest, removed=removed))
        return
    table, at = marked(ctx.b, table), int_value(ctx, place)
    assert table.index is not None and table.slots is not None
    slot = row_index.slot_at(ctx.b, table.slots, at)
    index = row_index.with_slot(ctx.b, table.index, slot, _left_in(ctx, table.index, slot))
    slots = row_index.with_slot(ctx.b, table.slots, at, ctx.constant(row_index.FREE, INT64))
    holes = vectors.added(ctx, table.holes, 1)
    ctx.write(ref.cell, replace(table, removed=removed, index=index, slots=slots, holes=holes))


def _left_in(ctx: Operations, index: Value, slot: Value) -> Value:
    """The contents of a slot whose entry has been removed."""
    bucket = ctx.op(Divide(), slot, ctx.constant(row_index.WIDTH, INT64))
    window = row_index.window_of(ctx.b, index, bucket)
    free = ctx.op(Compare("EQ"), window, _eight(ctx, row_index.FREE, INT32))
    was_never_full = ctx.op(Reduce(Or(), (0,)), free, ctx.constant(False, BOOL))
    free_again, taken_out = [ctx.constant(n, INT64) for n in (row_index.FREE, row_index.TAKEN_OUT)]
    return ctx.op(Select(), was_never_full, free_again, taken_out)


def pop_last(ctx: Context, ref: Ref, table: TableCell) -> Abstract:
    """Removes the last entry of a dict, which holds `table` and is not empty."""
    table = without_holes_behind(ctx.b, table)
    last = int_value(ctx, vectors.added(ctx, table.entries.length, -1))
    entry = vectors.get(ctx, table.entries, last)
    delete(ctx, ref, table, last)
    return entry


def remove(ctx: Context, ref: Ref, key: Abstract) -> bool:
    """`del d[key]`, or `s.remove(key)`; False where the key must be known."""
    looked_up = lookup(ctx, ctx.settle(ref), key)
    if looked_up is None:
        return False
    found, place, table = looked_up
    check_found(ctx, found, key)
    delete(ctx, ref, table, place)
    return True


def discard(ctx: Context, ref: Ref, key: Abstract) -> bool:
    """`s.discard(key)`; False where the key must be known."""
    looked_up = lookup(ctx, ctx.settle(ref), key)
    if looked_up is None:
        return False
    found, place, table = looked_up

    def taken_out() -> Abstract:
        delete(ctx, ref, table, place)
        return NONE

    ctx.branch(truth_of(found), taken_out, lambda: NONE)
    return True


def cleared(ctx: Operations, table: TableCell) -> TableCell:
    """The table without entries."""
    removed = vectors.added(ctx, table.removed, count_of(ctx.b, table))
    index = None if table.index is None else row_index.empty_index(ctx.b, table.entries.capacity)
    entries = vectors.clear(table.entries)
    return replace(table, entries=entries, removed=removed, index=index, slots=None, holes=0)


def new_table(ctx: Context, table: AnyTable) -> Ref:
    """A new dict or set of the same contents."""
    if isinstance(table, TableCell):
        table = replace(table, entries=copied(table.entries))
    elif isinstance(table, SetCell):
        table = table.changed(table.items, made_by(set.copy, table.history))
    return Ref(ctx.state.new_cell(replace(table, aliases=(), selector=0)))


def fill(ctx: Context, ref: Ref, table: TableCell) -> None:
    """Fills a dict without entries with those of another."""
    cell = ctx.settle(ref)
    assert isinstance(cell, DictCell)
    filled = replace(
        cell_as(cell, copied(table.entries)), index=table.index, slots=table.slots, holes=table.holes
    )
    ctx.write(ref.cell, filled)


# ---------------------------------------------------------------- all entries


def many(ctx: Context, elements: Sequence[Abstract]) -> Vector[Abstract] | None:
    """Many elements as a vector, over which a loop is rolled; None for few, or without a common template."""
    return vectors.holding(ctx, tuple(elements)) if len(elements) > limits.STORED_ONE_BY_ONE else None


def each_entry(ctx: Context, entries: Items, step: Callable[[Abstract, Abstract], None]) -> None:
    """Runs `step(key, value)` for each entry, in order."""
    if isinstance(entries, tuple):
        entries = many(ctx, entries) or entries
    if isinstance(entries, tuple):
        for entry in entries:
            step(*_pair(entry))
        return

    def one(found: Abstract, position: Abstract, entry: Abstract) -> Abstract:
        step(*_pair(entry))
        return NONE

    fold(ctx, entries, NONE, one)


def all_entries(ctx: Context, cell: AnyTable, holds: Callable[[Abstract, Abstract], Abstract]) -> Abstract:
    """Whether `holds(key, value)`, a truth, holds for each entry."""
    entries = entries_of(ctx.b, cell)
    rows = vectors.holding(ctx, entries)
    if rows is not None:
        return fold(
            ctx, rows, TRUE, lambda found, position, entry: holds(*_pair(entry)), goes_on=lambda found: found
        )
    assert isinstance(entries, tuple)

    def from_place(place: int) -> Abstract:
        if place == len(entries):
            return TRUE
        return ctx.branch(holds(*_pair(entries[place])), lambda: from_place(place + 1), lambda: FALSE)

    return from_place(0)


def _searched(ctx: Context, cell: AnyTable) -> TableCell:
    """A dict or set as rows in which keys that the program computes are looked up; PS401 without a common template."""
    table = as_table(ctx, cell, ragged=True)
    if table is None:
        ctx.fail(
            NotKnown(span=ctx.span, what="which entries two dicts or sets of several kinds have in common")
        )
    return table


def store_all(ctx: Context, ref: Ref, entries: Items) -> None:
    """Stores each entry in a dict or set; PS401 without a common template."""
    each_entry(ctx, entries, lambda key, value: store_certainly(ctx, ref, key, value))


def store_certainly(ctx: Context, ref: Ref, key: Abstract, value: Abstract = NONE) -> None:
    """Stores an entry; PS401 where its key must be known."""
    held = unboxed_value(ctx, ref, value)
    cell = ctx.settle(ref)
    if isinstance(cell, TableCell) or held is not value:
        stored = store(ctx, ref, key, value)
    else:
        table = as_table(ctx, cell, Tuple((key, held)))
        stored = table is not None
        if table is not None:
            ctx.write(ref.cell, table)
            store_unboxed(ctx, ref, key, held)
    if not stored:
        refuse_key(ctx, key)


def refuse_key(ctx: Context, key: Abstract) -> NoReturn:
    """Raises PS401 for a key that must be known, after unrolling the loop around if that determines it."""
    ctx.known(key, "the key of a dict or set")
    what = "which keys a dict or set has that are no numbers of one kind, or whose values are not,"
    ctx.fail(NotKnown(span=ctx.span, what=what))


def equal(
    ctx: Context, first: AnyTable, second: AnyTable, same: Callable[[Abstract, Abstract], Abstract]
) -> Abstract | None:
    """`first == second`, at least one of them rows: as many entries, and each of one is in the other."""
    if any(isinstance(x, TableCell) and has_arrays(x.entries.element) for x in (first, second)):
        ctx.fail(NotKnown(span=ctx.span, what="which values of a dict are the same array"))
    lengths = truth_of(vectors.compared(ctx, "EQ", length(ctx, first), length(ctx, second)))
    return ctx.branch(lengths, lambda: _is_part(ctx, first, second, same), lambda: FALSE)


def is_subset(ctx: Context, first: AnyTable, second: AnyTable) -> Abstract:
    """`first <= second` of sets."""
    return _is_part(ctx, first, second, lambda x, y: TRUE)


def _is_part(
    ctx: Context, first: AnyTable, second: AnyTable, same: Callable[[Abstract, Abstract], Abstract]
) -> Abstract:
    table = _searched(ctx, second)

    def holds(key: Abstract, value: Abstract) -> Abstract:
        found, place = find(ctx, table, key)
        return ctx.branch(truth_of(found), lambda: same(value, value_at(ctx, table, place)), lambda: FALSE)

    return all_entries(ctx, first, holds)


def is_disjoint(ctx: Context, first: AnyTable, second: AnyTable) -> Abstract:
    """`first.isdisjoint(second)`."""
    table = _searched(ctx, second)

    def holds(key: Abstract, value: Abstract) -> Abstract:
        found, _ = find(ctx, table, key)
        return FALSE if found is True else TRUE if found is False else ctx.python(ctx.op(Not(), found))

    return all_entries(ctx, first, holds)


def length(ctx: Operations, cell: AnyTable) -> Int:
    """The number of entries."""
    if isinstance(cell, TableCell):
        return count_of(ctx.b, cell)
    return len(cell.items if isinstance(cell, SetCell) else cell.entries)


def only(ctx: Context, first: AnyTable, second: AnyTable, kept: bool) -> Ref:
    """A new set of the elements of the first that are in the second too, if `kept`, or that are not."""
    made = Ref(ctx.state.new_cell(SetCell(frozenset())))
    other = _searched(ctx, second)

    def step(key: Abstract, value: Abstract) -> None:
        found, _ = find(ctx, other, key)

        def add() -> Abstract:
            store_certainly(ctx, made, key)
            return NONE

        def leave() -> Abstract:
            return NONE

        ctx.branch(truth_of(found), *((add, leave) if kept else (leave, add)))

    each_entry(ctx, entries_of(ctx.b, first), step)
    return made


def view_rows(ctx: Operations, cell: TableCell, kind: str) -> Vector[Abstract]:
    """The keys, values or items of a dict as rows."""
    cell = compacted(ctx.b, cell)
    key, value = _pair(cell.entries.element)
    element = {"keys": key, "values": value}.get(kind, cell.entries.element)
    return replace(cell.entries, element=element, site=None)
