"""Members of pools: makes objects rows of a pool (`PoolCell`), reads them and stores into them.

An object whose reference is an element of a list of rows lives in a pool, and its cell says which row it is (`MemberCell`).
All names of one object are members with one place, so that what is stored through one is read through any other; `is`
compares the places. A member is in no may-alias set: with an object go all merged cells that may be it.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from ...diagnostics.codes_mutation import CannotStore
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Value
from ...library.containers.unboxing import frozen, unboxed, with_contents
from ...library.containers.vectors import added, int_value
from ...library.kernels.array_rows import boxed
from ...library.rules.pools import (
    class_of_contents,
    joined_contents,
    template_of_contents,
    template_of_pool,
    unboxed_contents,
)
from ...library.rules.rows import as_vector, first_rows, from_first, row_at, rows_of, updated
from ...library.rules.sequences import SEQUENCES
from ...library.rules.templates import row_size
from ...ops import Add, Compare, Select
from ...policy import is_individual
from ...values.capacity import Capacity
from ...values.generators import GENERATORS
from ...values.lattice import (
    Abstract,
    ArrayCell,
    Cell,
    Contents,
    DictCell,
    ListCell,
    MemberCell,
    ObjectCell,
    PoolCell,
    Pooled,
    Ref,
    RowsCell,
    Stamp,
    Tuple,
    Undef,
)
from ...values.node import TreeNode
from ...values.state import new_pool
from ...values.vector import Sharing, Vector
from ...values.walk import map_children, nodes, rebuild
from ..core.engine import Engine
from ..exceptions.raising import is_running
from ..state.merged import Mergeable, aliases_of, alone
from ..state.phi import selector_value
from ..state.speculate import commit_unless
from .joinable import own_field
from .pool_demands import pooled_parts

Truth = bool | Value


class _Unpoolable(Exception):
    """Raised for an object that cannot be a row of the pool."""


def pooled(engine: Engine, cells: Iterable[int], pool: int | None = None) -> bool:
    """Makes objects members of one pool; False, without an effect, where they cannot be."""
    try:
        with commit_unless(engine, _Unpoolable):
            _add(engine, cells, pool, ())
    except _Unpoolable:
        return False
    return True


def _add(engine: Engine, cells: Iterable[int], pool: int | None, around: tuple[int, ...]) -> None:
    """Makes objects members of one pool. `around` are the pools whose objects refer to them, being added themselves."""
    slots = engine.state.slots
    numbers = list(dict.fromkeys(cells))
    there = [content for content in map(slots.get, numbers) if isinstance(content, MemberCell)]
    if pool is None:
        pool = there[0].pool if there else new_pool(engine.state)
    for member in there:
        if member.pool != pool and not united(engine, member.pool, pool):
            raise _Unpoolable
        pool = min(member.pool, pool)
    names = _names(engine, [c for c in numbers if not isinstance(slots.get(c), MemberCell)])
    if names and pool in around:
        raise _Unpoolable
    if names:
        _allocate(engine, names, pool, around)


def _names(engine: Engine, cells: list[int]) -> list[int]:
    """The cells, with all merged cells that may be one of them, and the aliases of those."""
    state = engine.state
    found = dict.fromkeys(cells)
    while True:
        before = len(found)
        for number in list(found):
            for alias in aliases_of(state.slots.get(number)):
                if alias.stamp is Stamp.UNRESOLVED or alias.ref.path:
                    raise _Unpoolable
                if alias.cell in state.slots:
                    found[alias.cell] = None
        for number in state.merged:
            if number not in found and any(a.cell in found for a in aliases_of(state.slots.get(number))):
                found[number] = None
        if len(found) == before:
            return list(found)


def _allocate(engine: Engine, names: list[int], pool: int, around: tuple[int, ...]) -> None:
    """Gives each object of its own a row, and makes all names members."""
    b, before = engine.b, pool_at(engine, pool)
    contents = {number: _contents(engine, number) for number in names}
    cells = {number: engine.contents_at(number) for number in names}
    own = [number for number in names if not _is_another(cells[number])]
    objects_before = before.objects
    length = 0 if objects_before is None else objects_before.length
    rows_of: dict[int, int | Value] = {n: added(engine, length, i) for i, n in enumerate(own)}
    places: dict[int, int | Value] = {}
    cls = class_of_contents(contents[names[0]])
    if is_individual(cls):
        raise _Unpoolable
    for number in names:
        engine.state.set(number, MemberCell(cls, pool, _place(engine, number, cells, rows_of, places)))
    template = template_of_pool(before)
    unboxing = _Unboxing(engine, (*around, pool))
    if len({_names_of_parts(contents[number]) for number in own}) > 1:
        raise _Unpoolable
    objects = unboxed_contents([contents[number] for number in own], template, unboxing.unboxed)
    template = _common(engine, template, objects)
    if objects_before is None:
        made = as_vector(b, tuple(objects), template, len(own))
    else:
        made = _with_objects_behind(engine, objects_before, objects, template)
    initial = engine.externals.initial
    stored = before.stored or any(n in initial and cells[n] is not initial[n][1] for n in names)
    engine.state.set(pool, PoolCell(_with_sharing(made, unboxing.shared), stored))


def _with_objects_behind(
    engine: Engine, before: Vector[Contents], new: Sequence[Contents], template: Contents
) -> Vector[Contents]:
    """The objects of a pool, which the template covers, followed by new ones."""
    b, capacity = engine.b, before.capacity
    length = added(engine, before.length, len(new))
    if isinstance(length, int):
        capacity = max(capacity, length)
    elif before.site is None:
        capacity += len(new)
    else:
        engine.needs_capacity(Capacity(before.site, capacity, row_size(template)), length)
    rows = as_vector(b, before, template, capacity)
    element = updated(b, rows.element, before.length, rows_of(b, new, template, len(new)))
    return replace(rows, element=element, length=length)


def _with_sharing(objects: Vector[Contents], shared: bool) -> Vector[Contents]:
    return replace(objects, shared=Sharing.TWICE) if shared else objects


def _names_of_parts(contents: Contents) -> tuple[Any, ...] | None:
    """The class and the attributes of an object, the keys of a dict; None for lists."""
    match contents:
        case ObjectCell(cls=cls, fields=fields):
            return (cls, *fields)
        case DictCell(entries=entries):
            return tuple(entries)
    return None


def _common(engine: Engine, template: Contents | None, objects: Sequence[Contents]) -> Contents:
    """The template of a pool with further objects."""
    for each in objects:
        of = template_of_contents(each)
        if of is None:
            raise _Unpoolable
        template = of if template is None else joined_contents(template, of)
        if template is None:
            raise _Unpoolable
    assert template is not None
    engine.state.note_alternatives(template)
    return template


def _is_another(content: Cell) -> bool:
    """True for a merged cell that certainly is one of its aliases."""
    selector = getattr(content, "selector", 0)
    return bool(aliases_of(content)) and isinstance(selector, int) and selector != 0


def _place(
    engine: Engine,
    number: int,
    cells: dict[int, Cell],
    own: dict[int, int | Value],
    found: dict[int, int | Value],
) -> int | Value:
    """The row of a name: its `own`, or that of the alias that it is; each is `found` once."""
    if number not in found:
        merged = cast(Mergeable, cells[number])
        options = [own.get(number, 0)]
        for alias in aliases_of(merged):
            options.append(_place(engine, alias.cell, cells, own, found) if alias.cell in cells else 0)
        found[number] = _selected(engine, merged.selector if len(options) > 1 else 0, options)
    return found[number]


def _selected(engine: Engine, selector: int | Value, options: Sequence[int | Value]) -> int | Value:
    """The option at the selector."""
    if isinstance(selector, int):
        return options[selector]
    b = engine.b
    result = int_value(engine, options[0])
    for position, option in enumerate(options[1:], 1):
        here = b.op(Compare("EQ"), selector, selector_value(b, position))
        result = b.op(Select(), here, int_value(engine, option), result)
    return result


def _contents(engine: Engine, number: int) -> Contents:
    """The contents of an object that becomes a row."""
    content = alone(engine.cell(Ref(number)))
    match content:
        case ListCell() | DictCell(container=builtins.dict):
            return content
        case RowsCell(items):
            return RowsCell(cast("Vector[Abstract]", with_contents(engine, items)))
        case ObjectCell(cls=cls) if not (
            content.frozen
            or number in engine.constructing
            or cls in GENERATORS
            or cls in SEQUENCES
            or issubclass(cls, BaseException)
        ):
            names = list(content.fields)
            names += [n for n in (content.origin.names if content.origin else ()) if n not in content.fields]
            fields = {name: own_field(content, name) for name in names}
            if any(isinstance(value, Undef) for value in fields.values()):
                raise _Unpoolable
            return ObjectCell(cls, fields)
    raise _Unpoolable


def pool_at(engine: Engine, pool: int) -> PoolCell:
    """A pool."""
    return cast(PoolCell, engine.contents_at(pool))


class _Unboxing:
    """What rows hold of the parts of objects that become members, or are stored into one.

    `around` are the pools of those objects. `shared`: one of the arrays may be an element of something already.
    """

    def __init__(self, engine: Engine, around: tuple[int, ...]) -> None:
        self._engine = engine
        self._around = around
        self.shared = False

    def unboxed(self, values: Sequence[Abstract], like: Abstract | None) -> list[Abstract]:
        """The rows for values at one position of many objects; `like` is what the pool has there."""
        if values and all(isinstance(value, Tuple) for value in values):
            tuples = cast("Sequence[Tuple]", values)
            if len({(x.cls, len(x.items)) for x in tuples}) == 1:
                return self._unboxed_tuples(tuples, like)
        objects = [v.cell for v in values if isinstance(v, Ref) and not self._is_array(v)]
        if objects:
            _add(self._engine, objects, like.pool if isinstance(like, Pooled) else None, self._around)
        return [self._one(value) for value in values]

    def _unboxed_tuples(self, values: Sequence[Tuple], like: Abstract | None) -> list[Abstract]:
        of = like.items if isinstance(like, Tuple) and len(like.items) == len(values[0].items) else None
        columns = [
            self.unboxed([value.items[i] for value in values], None if of is None else of[i])
            for i in range(len(values[0].items))
        ]
        return [Tuple(tuple([c[k] for c in columns]), x.cls) for k, x in enumerate(values)]

    def _is_array(self, value: Ref) -> bool:
        return isinstance(self._engine.state.slots.get(value.cell), ArrayCell)

    def _one(self, value: Abstract) -> Abstract:
        part = unboxed(self._engine, value)
        if isinstance(part, Ref):
            raise _Unpoolable
        if not isinstance(part, Pooled):
            self.shared |= frozen(self._engine, value)
        return part


# ---------------------------------------------------------------- two pools


def united(engine: Engine, first: int, second: int) -> bool:
    """Makes one pool of two, in all references to either; False, without an effect, where that cannot be.

    The later one must be the callee's at hand: its callers refer to other ones where nothing here sees it.
    """
    state = engine.state
    old, young = sorted((first, second))
    if young <= engine.callees.first_cell:
        return False
    if not _parts_are_united(engine, old, young):
        return False
    into, other = pool_at(engine, old), pool_at(engine, young)
    a, c = template_of_pool(into), template_of_pool(other)
    c = None if c is None else rebuild(c, lambda v: v, lambda pool: old if pool == young else pool)
    template = joined_contents(a, c) if a is not None and c is not None else a or c
    if a is not None and c is not None and template is None:
        return False
    if template is not None:
        state.note_alternatives(template)
    objects = other.objects
    shift: int | Value = 0
    if into.objects is not None:
        objects, shift = into.objects, into.objects.length
        if other.objects is not None and template is not None:
            objects = _one_behind_the_other(engine, into.objects, other.objects, template)
    state.set(old, PoolCell(objects, into.stored or other.stored))
    state.set(young, PoolCell())
    for slot, content in list(state.slots.items()):
        moved_content = _moved(engine, content, young, old, shift)
        if moved_content is not content:
            state.set(slot, moved_content)
    return True


def _one_behind_the_other(
    engine: Engine, first: Vector[Contents], second: Vector[Contents], template: Contents
) -> Vector[Contents]:
    """The objects of one pool, followed by those of another."""
    b, capacity = engine.b, first.capacity + second.capacity
    rows, more = as_vector(b, first, template, capacity), as_vector(b, second, template, second.capacity)
    element = updated(b, rows.element, first.length, more.element)
    length = added(engine, first.length, second.length)
    site = first.site or second.site
    if site is not None and isinstance(length, Value):  # the capacity of a loop does not grow with its trips
        capacity = max(first.capacity, second.capacity)
        engine.needs_capacity(Capacity(site, capacity, row_size(template)), length)
        element = first_rows(b, element, capacity)
    return Vector(element, capacity, length, site, shared=max(first.shared, second.shared))


def _parts_are_united(engine: Engine, first: int, second: int) -> bool:
    """Makes one pool of those of the objects that the objects of two pools hold; False where they cannot be."""
    done: set[tuple[int, int]] = {(first, second)}
    while True:
        objects = [pool_at(engine, pool).objects for pool in (first, second)]
        elements = [x.element for x in objects if x is not None]
        pairs = pooled_parts(*elements) - done if len(elements) == 2 else set()
        if not pairs:
            return True
        pair = min(pairs)
        done.add(pair)
        if not united(engine, *pair):
            return False


def _moved(engine: Engine, x: Any, young: int, old: int, shift: int | Value) -> Any:
    """What referred to objects of a pool, referring to those of another pool that begin at row `shift`."""
    if isinstance(x, Pooled | MemberCell) and x.pool == young:
        return replace(x, pool=old, place=_shifted(engine, x.place, shift))
    if not isinstance(x, TreeNode):
        return x
    return map_children(x, lambda child: _moved(engine, child, young, old, shift))


def _shifted(engine: Engine, place: int | Value, shift: int | Value) -> int | Value:
    if isinstance(place, int) or not place.type.shape:
        return added(engine, place, shift)
    by = engine.broadcast(int_value(engine, shift), place.type.shape)
    return engine.op(Add(), place, by)


# ---------------------------------------------------------------- reading and storing


def contents_of(engine: Engine, member: MemberCell) -> Contents:
    """The contents of a member, for a read."""
    found = _row(engine, member)
    match found:
        case ListCell(items):
            return ListCell(tuple([boxed(engine, item) for item in items]))
        case DictCell(entries):
            return DictCell({key: boxed(engine, value) for key, value in entries.items()})
        case ObjectCell(cls=cls, fields=fields):
            return ObjectCell(cls, {name: boxed(engine, value) for name, value in fields.items()})
        case RowsCell():
            return found


def _row(engine: Engine, member: MemberCell) -> Contents:
    return row_at(engine.b, objects_of_pool(engine, member.pool).element, member.place)


def objects_of_pool(engine: Engine, pool: int) -> Vector[Contents]:
    """The objects of a pool that is not empty."""
    objects = pool_at(engine, pool).objects
    assert objects is not None
    return objects


def store(engine: Engine, number: int, new: Contents) -> None:
    """Writes `new` into the object of a member; after a raise the store is masked."""
    b = engine.b
    unboxing = _Unboxing(engine, ())
    own = RowsCell(from_first(b, new.items)) if isinstance(new, RowsCell) else alone(new)

    def unboxed_once() -> Contents:
        like = template_of_pool(pool_at(engine, _member(engine, number).pool))
        (content,) = unboxed_contents([own], like, unboxing.unboxed)
        return content

    try:
        with commit_unless(engine, _Unpoolable):
            content, member = unboxed_once(), _member(engine, number)
            inside = [part.pool for part in nodes(content) if isinstance(part, Pooled)]
            if any(pool_at(engine, pool).objects is None for pool in inside):
                content = unboxed_once()  # two pools have become one meanwhile
            template = _common(engine, template_of_pool(pool_at(engine, member.pool)), [content])
    except _Unpoolable:
        what = "an object in a list or a dict of computed length in which others hold a value of another kind"
        raise DiagnosticError(CannotStore(span=b.span, what=what)) from None
    before = objects_of_pool(engine, member.pool)
    objects = as_vector(b, before, template, before.capacity)
    old, one = [rows_of(b, [x], template, 1) for x in (row_at(b, objects.element, member.place), content)]
    element = updated(b, objects.element, member.place, one, old, is_running(engine))
    made = _with_sharing(replace(objects, element=element), unboxing.shared)
    engine.state.set(member.pool, PoolCell(made, stored=True))


def _member(engine: Engine, number: int) -> MemberCell:
    return cast(MemberCell, engine.state.slots[number])


def same_member(engine: Engine, a: MemberCell, b: MemberCell) -> Truth:
    """Whether two members are one object."""
    if a.pool != b.pool:
        return False
    if isinstance(a.place, int) and isinstance(b.place, int):
        return a.place == b.place
    if a.place is b.place:
        return True
    return engine.b.op(Compare("EQ"), int_value(engine, a.place), int_value(engine, b.place))
