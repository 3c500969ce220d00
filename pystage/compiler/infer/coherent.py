"""Merged cells and the objects that they may be, kept equal: a change through any name shows through every other.

A merged cell holds a copy of what the object that it stands for held when it was last looked at; `which` says at run
time which of its sources that object is. A store through it changes, besides the copy, each source under the
condition that it is that one; a read after a source has changed takes the source's contents where it is that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ..hlo.ir import Value
from ..ops import And, Compare, Not, Or, Select
from ..values.boundary import Form
from ..values.lattice import Abstract, Array, ArrayCell, Cell, Const, DictCell, ListCell, ObjectCell
from .merged import RIVAL, Mergeable, distinct, is_stale, possible, sources_of
from .patterns import which_value
from .raising import write

if TYPE_CHECKING:
    from .engine import Engine

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
    """As a Python bool of the program that is compiled."""
    return Const(truth) if isinstance(truth, bool) else Array(truth, Form.PYTHON)


def is_source(engine: Engine, cell: Mergeable, position: int) -> Truth:
    """Whether a merged cell is its own object (position 0), or the source at that position, counted from 1."""
    if isinstance(cell.which, int):
        return cell.which == position
    return engine.b.op(Compare("EQ"), cell.which, which_value(engine.b, position))


# ---------------------------------------------------------------- reading


def refreshed(engine: Engine, number: int) -> Cell:
    """What a cell holds; a merged one takes over what has changed in its sources."""
    cell = engine.contents_at(number)
    if not any(is_stale(engine.state, c, known) for c, known in sources_of(cell)):
        return cell
    for source, known in sources_of(cell):
        if known is not RIVAL and sources_of(engine.state.slots.get(source)):
            refreshed(engine, source)
    merged = cast(Mergeable, cell)
    for position, (source, known) in enumerate(merged.sources, 1):
        if is_stale(engine.state, source, known) and source in engine.state.slots:
            _take_over(engine, number, source, is_source(engine, merged, position))
    engine.state.set(number, sealed(engine, cast(Mergeable, engine.contents_at(number))))
    return engine.contents_at(number)


def _take_over(engine: Engine, number: int, source: int, condition: Truth) -> None:
    """The merged cell holds what `source` holds, if `condition`."""
    new = cast(Mergeable, refreshed(engine, source))
    old = cast(Mergeable, engine.contents_at(number))
    under(engine, condition, lambda: _set_contents(engine, number, old, new), (old, new, number))


def sealed(engine: Engine, cell: Mergeable) -> Mergeable:
    """The contents of a merged cell that agrees with what its sources hold now."""
    slots = engine.state.slots
    sources = [(c, k if k is RIVAL else cast(Cell, slots.get(c, k))) for c, k in cell.sources]
    return replace(cell, sources=tuple(sources))


def leave(engine: Engine) -> None:
    """Before a fork is closed: merged cells take over what changed in objects that were made in it."""
    state = engine.state
    for number in list(state.merged):
        stale = [
            source
            for source, known in sources_of(state.slots.get(number))
            if state.is_new(source) and is_stale(state, source, known)
        ]
        if stale:
            refreshed(engine, number)


def refresh_all(engine: Engine, cells: Iterable[int]) -> None:
    """Merged cells among `cells` take over what has changed in their sources."""
    for number in cells:
        if sources_of(engine.state.slots.get(number)):
            refreshed(engine, number)


# ---------------------------------------------------------------- storing


def others(engine: Engine, number: int) -> list[tuple[int, Truth]]:
    """The other cells of whose object a cell may be another name, each with the condition under which it is."""
    found: list[tuple[int, Truth]] = []
    cell = engine.state.slots.get(number)
    for position, (source, known) in enumerate(sources_of(cell), 1):
        if known is RIVAL or source not in engine.state.slots:
            continue
        condition = is_source(engine, cast(Mergeable, cell), position)
        if condition is False:
            continue
        found.append((source, condition))
        found += [(c, both(engine, condition, truth)) for c, truth in others(engine, source)]
    return [(c, truth) for c, truth in found if truth is not False]


def spread(engine: Engine, number: int, store: Callable[[int, Value | None], None]) -> None:
    """After a store to the array of a merged cell: the same store to every other cell that may be the same array.

    `store` gets each with the condition under which it is, None if it certainly is.
    """
    fresh = settled_names(engine, number)
    for other, condition in others(engine, number):
        store(other, None if isinstance(condition, bool) else condition)
    seal_names(engine, fresh)


def write_all(engine: Engine, number: int, new: Cell) -> None:
    """The object of a cell, which is no array, holds `new`, under every name that it has."""
    old = engine.state.slots.get(number)
    write(engine, number, new)
    if not sources_of(new):
        return
    fresh = settled_names(engine, number)
    for other, condition in others(engine, number):
        target = cast(Mergeable, engine.contents_at(other))
        changed = _changed(cast(Mergeable, old), cast(Mergeable, new), target)
        under(engine, condition, lambda c=other, n=changed: write(engine, c, n), (target, changed, other))  # type: ignore[misc]
    seal_names(engine, fresh)


def settled_names(engine: Engine, number: int) -> list[int]:
    """The merged cells that stay as they are while the object of `number` changes: itself, and what it is not."""
    slots = engine.state.slots
    found = [number]
    reached = {c for c, _ in others(engine, number)}
    for each in engine.state.merged:
        sources = sources_of(slots.get(each))
        if each != number and any(c in reached for c, _ in sources):
            apart = distinct(engine.state, slots.get, each, number)
            if apart and not any(is_stale(engine.state, c, known) for c, known in sources):
                found.append(each)
    return found


def seal_names(engine: Engine, numbers: Iterable[int]) -> None:
    """Merged cells that agree with their sources."""
    for number in numbers:
        engine.state.set(number, sealed(engine, cast(Mergeable, engine.contents_at(number))))


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
    engine.state.set(number, cast(Cell, replace(new, sources=old.sources, which=old.which)))


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
    return replace(new, sources=target.sources, which=target.which)


def _padded(target: ListCell, new: ListCell) -> tuple[Abstract | None, ...]:
    return (*target.items, *[None] * max(len(new.items) - len(target.items), 0))


# ---------------------------------------------------------------- identity


def identities(engine: Engine, number: int) -> list[tuple[int, Truth]]:
    """The objects that a cell may be, by the cell that owns each, with the condition under which it is that one."""
    cell = engine.state.slots.get(number)
    sources = sources_of(cell)
    if not sources:
        return [(number, True)]
    merged = cast(Mergeable, cell)
    found = [(number, is_source(engine, merged, 0))]
    for position, (source, known) in enumerate(sources, 1):
        condition = is_source(engine, merged, position)
        if known is RIVAL or source not in engine.state.slots:
            found.append((number, condition))
            continue
        found += [(c, both(engine, condition, truth)) for c, truth in identities(engine, source)]
    return [(c, truth) for c, truth in found if truth is not False]


def same_object(engine: Engine, a: int, b: int) -> Truth | None:
    """Whether two cells are one object; None where that is not known."""
    find = engine.state.slots.get
    if distinct(engine.state, find, a, b):
        return False
    for one, other in ((a, b), (b, a)):
        cell = engine.state.slots.get(one)
        rivals = {c for c, known in sources_of(cell) if known is RIVAL}
        if rivals & {other, *possible(find, other)}:
            return None
    result: Truth = False
    theirs = identities(engine, b)
    for mine, here in identities(engine, a):
        for cell_number, there in theirs:
            if mine == cell_number:
                result = either(engine, result, both(engine, here, there))
    return result


def negated(engine: Engine, truth: Truth) -> Truth:
    """`not truth`."""
    return not truth if isinstance(truth, bool) else engine.b.op(Not(), truth)
