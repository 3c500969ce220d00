"""Coherence of merged cells: a store through any name is seen through every alias.

A merged cell caches the contents of the object that it stands for, and `selector` says at run time which of its aliases
that is. A store through the cell updates the cache, and each alias under the condition that the selector names it. A read
after an alias has changed reloads the contents of that alias where the selector names it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import cast

from ... import limits
from ...diagnostics.codes_mutation import CannotStore, UncertainAlias
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Op, Value
from ...ops import And, Compare, DynamicSlice, DynamicUpdateSlice, Or, Select
from ...values.boundary import Form
from ...values.identity import Identity
from ...values.lattice import (
    Abstract,
    Alias,
    Array,
    ArrayCell,
    Cell,
    Const,
    DictCell,
    Frozen,
    ListCell,
    MemberCell,
    ObjectCell,
    Ref,
    RowsCell,
    Stamp,
    through,
)
from ...values.memory import is_row_major
from ...values.vector import Vector
from ...values.views import View, may_be_one, path_type, read_path
from ...values.walk import rebuild, values_of
from ..core.engine import Engine
from ..diagnostics.describe import describe
from ..exceptions.raising import write
from ..state.merged import (
    NO_CELL,
    AliasPairs,
    Mergeable,
    aliases_of,
    is_out_of_date,
    may_alias_cells,
    may_be_own,
    no_alias,
    stamped,
    unresolved_of,
)
from ..state.phi import SELECTOR, placeholder_for, selector_value
from ..state.structural_equality import same_template
from . import pools
from .element_stores import takes_stores

Truth = bool | Value
"""Whether something holds: known now, or a bool of the program."""


def both(engine: Engine, a: Truth, b: Truth) -> Truth:
    """`a and b`."""
    if isinstance(a, bool):
        return b if a else False
    if isinstance(b, bool):
        return a if b else False
    return engine.b.op(And(), a, b)


def either(engine: Engine, a: Truth, b: Truth) -> Truth:
    """`a or b`."""
    if isinstance(a, bool):
        return True if a else b
    if isinstance(b, bool):
        return True if b else a
    return engine.b.op(Or(), a, b)


def abstract_truth(truth: Truth) -> Abstract:
    """A bool of the program as an abstract Python bool."""
    return Const(truth) if isinstance(truth, bool) else Array(truth, Form.PYTHON)


def is_alias(engine: Engine, cell: Mergeable, position: int) -> Truth:
    """Whether a merged cell is its own object (position 0), or the alias at that position, counted from 1."""
    if isinstance(cell.selector, int):
        return cell.selector == position
    if position == 0 and not may_be_own(cell, engine.intervals):
        return False
    return engine.b.op(Compare("EQ"), cell.selector, selector_value(engine.b, position))


# ---------------------------------------------------------------- reading


def reconciled(engine: Engine, number: int) -> Cell:
    """The contents of a cell; a merged one is reconciled with its aliases first."""
    cell = engine.contents_at(number)
    if not any(is_out_of_date(engine.state, s) for s in aliases_of(cell)):
        return cell
    for alias in aliases_of(cell):
        if alias.stamp is not Stamp.UNRESOLVED and aliases_of(engine.state.slots.get(alias.cell)):
            reconciled(engine, alias.cell)
    merged = cast(Mergeable, cell)
    for position, alias in enumerate(merged.aliases, 1):
        if is_out_of_date(engine.state, alias) and alias.cell in engine.state.slots:
            _take_over(engine, number, alias.ref, is_alias(engine, merged, position))
    engine.state.set(number, stamped_cell(engine, cast(Mergeable, engine.contents_at(number))))
    return engine.contents_at(number)


def _take_over(engine: Engine, number: int, alias: Ref, condition: Truth) -> None:
    """Copies the contents of `alias` into the merged cell, under `condition`."""
    new = cast(Mergeable, reconciled(engine, alias.cell))
    if alias.path and isinstance(new, ArrayCell):
        new = replace(new, value=read_path(engine.b, new.value, alias.path))
    old = cast(Mergeable, engine.contents_at(number))
    under(engine, condition, lambda: _set_contents(engine, number, old, new), (old, new, number))


def part_of(engine: Engine, ref: Ref) -> Value | None:
    """The part of an array that a view is, selected among its places in the memories that the array may be.

    So nothing demands the copy that a merged cell holds. None where that is loaded from (`_memories`).
    """
    merged = engine.contents_at(ref.cell)
    if not isinstance(merged, ArrayCell) or not merged.aliases:
        return None
    base = merged.value.type
    part, count = path_type(base, ref.path), len(merged.aliases)
    if math.prod(part.shape) * count > math.prod(base.shape):
        return None
    selected: Value | None = None
    for each, condition in _memories(engine, ref):
        cell = engine.contents_at(each.cell)
        assert isinstance(cell, ArrayCell)
        found = read_path(engine.b, cell.value, each.path)
        if selected is not None:
            assert isinstance(condition, Value)
            found = engine.b.op(Select(), condition, found, selected)
        selected = found
    return selected


def vectors_of(engine: Engine, ref: Ref) -> list[tuple[Vector[Abstract], Value]]:
    """The vectors of the lists that a merged cell may be, each with its condition; none where its own is loaded from."""
    merged = engine.contents_at(ref.cell)
    if not isinstance(merged, RowsCell) or not merged.aliases:
        return []
    found: list[tuple[Vector[Abstract], Value]] = []
    for each, condition in _memories(engine, ref):
        cell = engine.contents_at(each.cell)
        if (
            not isinstance(cell, RowsCell)
            or isinstance(condition, bool)
            or not _have_one_layout(merged, cell)
        ):
            return []
        found.append((cell.items, condition))
    return found


def _memories(engine: Engine, ref: Ref) -> list[tuple[Ref, Truth]]:
    """The memories that a merged cell may be, each with its condition.

    None where it may be an object of its own, or one of many, or its copy is made but once: then that is loaded from.
    """
    if not engine.state.merged.get(ref.cell):
        return []
    found, find = memory_of(engine, ref), engine.state.slots.get
    if len(found) > limits.SELECTED_MEMORIES or any(aliases_of(find(each.cell)) for each, _ in found):
        return []
    return found


def stamped_cell(engine: Engine, cell: Mergeable) -> Mergeable:
    """The contents of a merged cell, with the present versions of its aliases as their stamps."""
    return replace(cell, aliases=tuple([stamped(engine.state, s) for s in cell.aliases]))


def reconcile_aliases(engine: Engine) -> None:
    """Before a fork is closed, reconciles merged cells with the objects that were allocated in it."""
    state = engine.state
    if not state.has_new_cells():
        return
    for number in state.merged_cells():
        aliases = aliases_of(state.slots.get(number))
        state.step(len(aliases) // limits.ALIASES_PER_STEP)
        if any(state.is_new(s.cell) and is_out_of_date(state, s) for s in aliases):
            reconciled(engine, number)


# ---------------------------------------------------------------- storing


def other_names(engine: Engine, number: int) -> list[tuple[Ref, Truth]]:
    """The aliases of a cell, also by way of other merged cells, each with the condition under which it is one."""
    start = Ref(number)
    return [(ref, truth) for ref, truth in _may_be(engine, start, True).items() if ref is not start]


def store_to_aliases(engine: Engine, number: int, store: Callable[[Ref, Value | None], None]) -> None:
    """After a store to the array of a merged cell: the same store to everything else that may be the same array.

    `store` gets each with the condition under which it is, None if it certainly is.
    """
    fresh = unaffected_names(engine, number)
    for other, condition in other_names(engine, number):
        store(other, None if isinstance(condition, bool) else condition)
    stamp_names(engine, fresh)


def write_all(engine: Engine, number: int, new: Cell) -> None:
    """Writes `new` into the object of a cell, which is no array, under every name that it has."""
    old = engine.state.slots.get(number)
    write(engine, number, new)
    if not aliases_of(new):
        return
    fresh = unaffected_names(engine, number)
    for ref, condition in other_names(engine, number):
        other = ref.cell
        target = cast(Mergeable, engine.contents_at(other))
        stored = _stored_again(engine, condition, cast(Mergeable, old), new, target)
        if stored is not None:
            write(engine, other, stored)
            continue
        changed = _changed(cast(Mergeable, old), cast(Mergeable, new), target)
        under(engine, condition, lambda c=other, n=changed: write(engine, c, n), (target, changed, other))  # type: ignore[misc]
    stamp_names(engine, fresh)


def unaffected_names(engine: Engine, number: int) -> list[int]:
    """The merged cells that stay up to date when the object of `number` changes: the cell itself, and those no-alias with
    it.
    """
    slots = engine.state.slots
    found = [number]
    pairs = AliasPairs(engine.state, slots.get)
    reached = {ref.cell for ref, _ in other_names(engine, number)}
    for each in engine.state.merged_cells():
        aliases = aliases_of(slots.get(each))
        if each != number and any(s.cell in reached for s in aliases):
            apart = pairs.no_alias(each, number)
            if apart and not any(is_out_of_date(engine.state, s) for s in aliases):
                found.append(each)
    return found


def stamp_names(engine: Engine, numbers: Iterable[int]) -> None:
    """Stamps the merged cells that agree with their aliases."""
    for number in numbers:
        engine.state.set(number, stamped_cell(engine, cast(Mergeable, engine.contents_at(number))))


def under(
    engine: Engine, condition: Truth, change: Callable[[], None], between: tuple[Mergeable, Mergeable, int]
) -> None:
    """Changes a cell if `condition` holds; `between`: its contents before and after, and its number."""
    if isinstance(condition, bool):
        if condition:
            change()
        return
    old, new, number = between
    if isinstance(old, ArrayCell) and isinstance(new, ArrayCell) and old.value.type == new.value.type:
        value = engine.b.op(Select(), condition, new.value, old.value)
        engine.state.set(number, replace(old, value=value))
        return
    engine.change_if(condition, change)


def _set_contents(engine: Engine, number: int, old: Mergeable, new: Mergeable) -> None:
    engine.state.set(number, cast(Cell, replace(new, aliases=old.aliases, selector=old.selector)))


def _changed(old: Mergeable, new: Mergeable, target: Mergeable) -> Mergeable:
    """The contents `target` of another name of the object, after the change from `old` to `new`."""
    match old, new, target:
        case ListCell(), ListCell(), ListCell() if len(old.items) == len(target.items):
            items = [
                t if n is o else n
                for o, n, t in zip((*old.items, *[None] * len(new.items)), new.items, _padded(target, new))
            ]
            return replace(target, items=tuple(cast("list[Abstract]", items)))
        case DictCell(), DictCell(), DictCell():
            entries = {
                k: target.entries[k] if k in target.entries and old.entries.get(k) is v else v
                for k, v in new.entries.items()
            }
            return replace(target, entries=entries)
        case ObjectCell(), ObjectCell(), ObjectCell():
            fields = {k: v for k, v in new.fields.items() if old.fields.get(k) is not v}
            return replace(target, fields={**target.fields, **fields})
    return replace(new, aliases=target.aliases, selector=target.selector)


def _stored_again(
    engine: Engine, condition: Truth, old: Mergeable, new: Cell, target: Mergeable
) -> RowsCell | None:
    """The list `target`, which is `old` if `condition` holds, after the stores into rows that made `new` of `old`.

    None where `new` is not made by such stores, or these are different lists in memory.
    """
    match old, new, target:
        case RowsCell(), RowsCell(), RowsCell() if isinstance(condition, Value):
            if not _have_one_layout(old, target) or not _have_one_layout(new, target):
                return None
        case _:
            return None
    before, after = (values_of(x.items) for x in (old, new))
    kept = values_of(target.items)
    made = [_store_again(engine, condition, *each) for each in zip(before, after, kept, strict=True)]
    if None in made:
        return None
    take = iter(cast("list[Value]", made))
    return replace(target, items=rebuild(target.items, lambda v: next(take)))


def _store_again(engine: Engine, condition: Value, old: Value, new: Value, target: Value) -> Value | None:
    """The stores that made the array `new` of `old`, done to `target` if `condition` holds; a scalar is selected."""
    if new is old:
        return target
    if not new.type.shape:
        return engine.b.op(Select(), condition, new, target)
    op = new.owner
    if not isinstance(op, Op) or not isinstance(op.kind, DynamicUpdateSlice):
        return None
    array, update, *starts = op.operands
    base = _store_again(engine, condition, old, array, target)
    if base is None:
        return None
    before = engine.b.op(DynamicSlice(update.type.shape), base, *starts)
    return engine.b.op(op.kind, base, engine.b.op(Select(), condition, update, before), *starts)


def _have_one_layout(a: RowsCell, b: RowsCell) -> bool:
    """True for two lists whose vectors differ in nothing but the numbers inside."""
    first, second = (rebuild(x.items, placeholder_for) for x in (a, b))
    return same_template(first, second)


def _padded(target: ListCell, new: ListCell) -> tuple[Abstract | None, ...]:
    return (*target.items, *[None] * max(len(new.items) - len(target.items), 0))


# ---------------------------------------------------------------- elements of lists of rows


def is_frozen(engine: Engine, number: int) -> bool:
    """True for an array that may be an element of a list of rows, which holds a copy of it."""
    find = engine.state.slots.get
    cells = [find(each) for each in may_alias_cells(find, number)]
    return any(isinstance(cell, ArrayCell) and cell.frozen is not Frozen.NOT for cell in cells)


def freeze(engine: Engine, number: int) -> bool:
    """Forbids stores to this array by any name; gives whether they were forbidden before, or the caller has the array."""
    cells = may_alias_cells(engine.state.slots.get, number)
    shared = is_frozen(engine, number) or any(each in engine.externals.initial for each in cells)
    for each in cells:
        cell = engine.state.slots.get(each)
        if isinstance(cell, ArrayCell):
            frozen = max(cell.frozen, Frozen.ORIGINAL)
            objects = (Identity(engine.b.span),) if cell.frozen is Frozen.NOT else cell.objects
            engine.state.set(each, replace(cell, frozen=frozen, objects=objects))
    return shared


# ---------------------------------------------------------------- identity


def identities(engine: Engine, ref: Ref) -> list[tuple[Ref, Truth]]:
    """The objects that a reference may be, each with the condition under which it is that object.

    A view is an object of its own: what it is a view of does not tell which one.
    """
    return _origins(engine, ref, False)


def is_rearranged(engine: Engine, alias: Alias) -> bool:
    """True for a view whose layout in memory no array of its own has."""
    held = engine.state.slots.get(alias.cell)
    return isinstance(held, ArrayCell) and not is_row_major(held.value.type, alias.ref.path)


def memory_of(engine: Engine, ref: Ref) -> list[tuple[Ref, Truth]]:
    """The memory that an array may be: by the cell that owns it and the path to it, each with its condition."""
    return _origins(engine, ref, True)


def _origins(engine: Engine, ref: Ref, through_views: bool) -> list[tuple[Ref, Truth]]:
    """The objects that a reference may be without being an alias, or by an unresolved alias, with the conditions."""
    found: list[tuple[Ref, Truth]] = []
    for each, truth in _may_be(engine, ref, through_views).items():
        cell = engine.state.slots.get(each.cell)
        aliases = _aliases_at(engine, each, through_views)
        unresolved = [i for i, alias in enumerate(aliases, 1) if not _is_resolved(engine, alias)]
        for position in (0, *unresolved) if aliases else ():
            found.append((each, both(engine, truth, is_alias(engine, cast(Mergeable, cell), position))))
        if not aliases:
            found.append((each, truth))
    return [(each, truth) for each, truth in found if truth is not False]


_Place = tuple[int, tuple[View, ...]]


def _place(ref: Ref) -> _Place:
    """A key, equal for two references to one place."""
    return ref.cell, ref.path


def _may_be(engine: Engine, start: Ref, through_views: bool) -> dict[Ref, Truth]:
    """All objects that a reference may be by way of merged cells, the reference itself first, with the conditions.

    The aliases make a directed acyclic graph, of which each node has one condition: of so many cells that were merged one
    after the other there are exponentially many ways from one to another.
    """
    order: dict[_Place, Ref] = {}

    def visit(ref: Ref) -> None:
        if _place(ref) not in order:
            for alias in _aliases_at(engine, ref, through_views):
                if _is_resolved(engine, alias):
                    visit(through(alias.ref, ref.path))
            order[_place(ref)] = ref

    visit(start)
    found: dict[_Place, Truth] = {_place(start): True}
    for place, ref in reversed(order.items()):
        truth = found.get(place, False)
        if truth is False:
            continue
        cell = cast(Mergeable, engine.state.slots.get(ref.cell))
        for position, alias in enumerate(_aliases_at(engine, ref, through_views), 1):
            if _is_resolved(engine, alias):
                condition = both(engine, truth, is_alias(engine, cell, position))
                other = _place(through(alias.ref, ref.path))
                if condition is not False:
                    found[other] = either(engine, found.get(other, False), condition)
    return {order[place]: truth for place, truth in found.items()}


def _aliases_at(engine: Engine, ref: Ref, through_views: bool) -> tuple[Alias, ...]:
    """The aliases of what a reference stands for; of a view only where it counts as its memory."""
    return aliases_of(engine.state.slots.get(ref.cell)) if through_views or not ref.path else ()


def _is_resolved(engine: Engine, alias: Alias) -> bool:
    return alias.stamp is not Stamp.UNRESOLVED and alias.cell in engine.state.slots


def alias_if(engine: Engine, ref: Ref, condition: Value) -> Ref:
    """The array `ref` itself under `condition`, else a copy."""
    contents = engine.contents(ref)
    cell = cast(ArrayCell, engine.contents_at(ref.cell))
    aliases = [Alias(ref, cell), *[Alias(through(s.ref, ref.path), s.stamp) for s in cell.aliases]]
    selector = engine.convert(condition, SELECTOR.dtype)
    number = engine.state.new_cell(ArrayCell(contents, True, tuple(aliases), selector, cell.frozen))
    engine.state.merged[number] = False
    return Ref(number)


def same_object(engine: Engine, a: Ref, b: Ref) -> Truth | None:
    """Whether two references are one object; None where that is not known."""
    if a.cell == b.cell and (not (a.path or b.path) or a.identity is b.identity):
        return True
    first, second = engine.state.slots.get(a.cell), engine.state.slots.get(b.cell)
    if isinstance(first, MemberCell) and isinstance(second, MemberCell):
        return pools.same_member(engine, first, second)
    if isinstance(first, MemberCell) or isinstance(second, MemberCell):
        return False
    if is_frozen(engine, a.cell) and is_frozen(engine, b.cell):
        return None
    find = engine.state.slots.get
    if no_alias(engine.state, find, a.cell, b.cell):
        return False
    for one, other in ((a, b), (b, a)):
        if unresolved_of(find(one.cell)) & may_alias_cells(find, other.cell):
            return None
    result: Truth = False
    theirs = identities(engine, b)
    for mine, here in identities(engine, a):
        for other, there in theirs:
            equal = _is_one(engine, mine, other)
            when = both(engine, here, there)
            if equal is None and when is not False:
                return None
            if equal:
                result = either(engine, result, when)
    return result


def _is_one(engine: Engine, a: Ref, b: Ref) -> bool | None:
    """Whether two references, neither of which is a merged object, are one object; None where that is not known."""
    if not (a.path or b.path):
        return a.cell == b.cell
    if not (a.path and b.path) or no_alias(engine.state, engine.state.slots.get, a.cell, b.cell):
        return False
    if a.identity is b.identity or not a.identity.may_be(b.identity):
        return a.identity is b.identity
    return None if may_be_one(a.path, b.path) else False


def cell(engine: Engine, ref: Ref) -> Cell:
    """The contents of a cell that is about to be read."""
    cell = engine.contents_at(ref.cell)
    if isinstance(cell, MemberCell):
        return pools.contents_of(engine, cell)
    return reconciled(engine, ref.cell) if aliases_of(cell) else cell


def settle(engine: Engine, ref: Ref) -> Cell:
    """The contents of a cell that is about to be changed.

    A merged cell without another name for what it may be is an object of its own from now on. PS501 where
    nothing tells which of several objects it is.
    """
    cell = engine.contents_at(ref.cell)
    if isinstance(cell, ArrayCell) and is_frozen(engine, ref.cell) and not takes_stores(engine, ref.cell):
        what = "an array that may be an element of a list or dict that only the program knows"
        raise DiagnosticError(CannotStore(span=engine.b.span, what=what))
    if isinstance(cell, MemberCell):
        return pools.contents_of(engine, cell)
    if not aliases_of(cell):
        return cell
    cell = cast(Mergeable, reconciled(engine, ref.cell))
    others = [s.cell for s in cell.aliases if s.cell != NO_CELL]
    held = engine.referenced_elsewhere(others, ref.cell)
    if unresolved_of(cell) & held:
        what = describe(Ref(ref.cell), engine.state).partition(" of ")[0]
        raise DiagnosticError(UncertainAlias(span=engine.b.span, what=what))
    if not held and not any(is_rearranged(engine, s) for s in cell.aliases):
        cell = replace(cell, aliases=(), selector=0)
        engine.state.set(ref.cell, cell)
    return cell
