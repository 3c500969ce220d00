"""Loop-local state: variables and objects that every trip makes anew, and that no trip reads of the trip before.

In: the join of a pass over the body. Out: the variables and cells that a loop would carry only for the state after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ...analysis.variables import of_trips, only_within_trips
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import may_be_unassigned
from ...values.lattice import (
    Abstract,
    Array,
    ListCell,
    MemberCell,
    ObjectCell,
    PoolCell,
    Ref,
    RowsCell,
    Undef,
    Unknown,
)
from ...values.slots import Slot, Variable, is_temporary
from ...values.state import MISSING, Content, Lookup
from ...values.walk import cells_of, nodes
from ..core.engine import Engine
from ..state.loop import Loop, Pass
from ..state.merged import aliases_of
from .branches import at_end, lookup
from .join import Join


def of_one_trip(engine: Engine, slot: Variable, loop: Loop, entry: Content) -> bool:
    """True for a loop-local variable: it is not assigned before, nor read after."""
    if loop.instruction is None:
        return False
    name = slot[1]
    if (
        loop.peeled
        and slot[0] == engine.current.id
        and name in of_trips(loop.instruction, engine.current.function)
    ):
        return True
    if not (entry is MISSING or isinstance(entry, Undef)):
        return False
    return isinstance(name, str) and only_within_trips(name, loop.instruction, engine.current.function)


def assigned_only(
    templates: dict[Slot, Content], settled: dict[Slot, Content], join: Join, within: set[Slot]
) -> dict[Slot, Content]:
    """Variables that do not exist before the loop, and that every trip assigns before it reads them.

    The pass at hand serves: nothing in it could see what the trip before left in them. Empty if there is a
    slot of another kind that the pass did not know. `within`: as `within_trips` has it.
    """
    fresh = {slot: template for slot, template in settled.items() if slot not in templates}
    alone = [slot in within or join.entries[slot][1] is MISSING for slot in fresh]
    return fresh if all(alone) else {}


def within_trips(engine: Engine, settled: dict[Slot, Content], join: Join) -> set[Slot]:
    """The slots that a pass need not carry: loop-local variables, and the objects that only they refer to.

    Pools are there before the loop, but without objects.
    """

    def contents(slot: Slot) -> list[Content]:
        found = [
            settled.get(slot, cast(Content, MISSING)),
            engine.state.slots.get(slot, cast(Content, MISSING)),
        ]
        return [each for each in found if each is not MISSING]

    made = {s for s in settled if isinstance(s, int) and _is_made(join.entries[s][1])}
    alone = {s for s in settled if isinstance(s, tuple) and _is_assigned_first(engine, s, join)}
    while True:
        others = [s for s in settled if s not in alone and s not in made]
        # What another variable was before the trip, one of these may be in it (`old = y; y = y + 1`).
        entries = [entry for s in others if (entry := join.entries[s][1]) is not MISSING]
        held = _reached([*[settled[s] for s in others], *entries], contents)
        shared = {slot for slot in alone if not held.isdisjoint(_reached([settled[slot]], contents))}
        if not shared:
            return {*alone, *(made - held)}
        alone -= shared


def _reached(pending: list[Content], contents: Callable[[int], list[Content]]) -> set[int]:
    """The cells to which something refers, directly, through the contents of others, or as aliases of a merged one."""
    found: set[int] = set()
    while pending:
        content = pending.pop()
        new = {*cells_of(content), *[alias.cell for alias in aliases_of(content)]} - found
        found |= new
        pending += [held for cell in new for held in contents(cell)]
    return found


def take_out(engine: Engine, loop: Loop, result: Pass, head: Lookup, before: dict[Slot, Content]) -> None:
    """Makes an object of its own of a pooled object that the trip made, where only one variable carries it on.

    After `best = min(options, key=cost)` the others are gone with their list.
    """
    end = lookup(result.changes, before)
    holders: dict[int, list[Slot]] = {
        cell: []
        for cell, content in result.changes.items()
        if isinstance(cell, int) and isinstance(content, PoolCell) and _is_made(head(cell))
    }

    def held_at_end(cell: int) -> list[Content]:
        return [] if (found := end(cell)) is MISSING else [found]

    for slot, content in result.changes.items() if holders else ():
        if _is_carried(engine, loop, slot, head(slot), content):
            for pool in _reached([content], held_at_end) & holders.keys():
                holders[pool].append(slot)
    chosen = [
        slots[0]
        for pool, slots in holders.items()
        if len(slots) == 1 and _is_alone(slots[0], pool, head, end)
    ]
    if chosen:
        with at_end(engine, result.body, result.changes) as changes:
            for slot in chosen:
                member = cast(Ref, engine.state.get(slot))
                engine.state.set(slot, Ref(engine.state.new_cell(engine.cell(member))))
        result.changes = changes


def _is_carried(engine: Engine, loop: Loop, slot: Slot, entry: Content, end: Content) -> bool:
    """True for what the next trip, or what comes after the loop, may read."""
    if isinstance(slot, int):
        return not _is_made(entry)
    if is_temporary(slot) or not (slot[0] == loop.frame or slot[0] < 0):
        return False
    return not (of_one_trip(engine, slot, loop, entry) and _is_assigned(engine, slot, end))


def _is_alone(slot: Slot, pool: int, head: Lookup, end: Lookup) -> bool:
    """True for a variable that is an object without arrays of this pool, and was one of its own before."""
    first, last, objects = head(slot), end(slot), end(pool)
    if not (isinstance(first, Ref) and isinstance(last, Ref) and isinstance(slot, tuple)):
        return False
    own, member = head(first.cell), end(last.cell)
    held = cast(PoolCell, objects).objects
    return (
        isinstance(member, MemberCell)
        and member.pool == pool
        and isinstance(own, ListCell | RowsCell | ObjectCell)
        and held is not None
        and not cells_of(held)
        and not any(
            isinstance(x, Bounded) or (isinstance(x, Array) and x.form is Form.NDARRAY) for x in nodes(held)
        )
    )


def _is_made(entry: Content) -> bool:
    """True for what did not exist before the loop."""
    return entry is MISSING or (isinstance(entry, PoolCell) and entry.objects is None)


def _is_assigned_first(engine: Engine, slot: Variable, join: Join) -> bool:
    _, entry, end = join.entries[slot]
    return isinstance(entry, Undef) and _is_assigned(engine, slot, end)


def _is_assigned(engine: Engine, slot: Variable, end: Content) -> bool:
    """True for a variable that every trip assigns before it reads it."""
    lost = isinstance(end, Undef | Unknown) or may_be_unassigned(cast(Abstract, end))
    return not (slot[1] in engine.current.unassigned or lost)
