"""What lives within the trips of a loop: it is made anew in each, and no trip sees what the one before left.

In: the join of a pass over the body. Out: the variables and cells that a loop only carries so that they are there after it.
"""

from __future__ import annotations

from typing import cast

from ...analysis.variables import of_trips, only_within_trips
from ...values.gated import may_be_unassigned
from ...values.lattice import (
    Abstract,
    PoolCell,
    Undef,
    Unknown,
)
from ...values.slots import Slot, Variable
from ...values.state import MISSING, Content
from ...values.walk import cells_of
from ..core.engine import Engine
from ..core.join import Join
from ..core.loop import Loop


def of_one_trip(engine: Engine, slot: Variable, loop: Loop, entry: Content) -> bool:
    """True for a variable that lives within a trip: it is not assigned before, nor read after."""
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
    engine: Engine, templates: dict[Slot, Content], settled: dict[Slot, Content], join: Join
) -> dict[Slot, Content]:
    """Variables that do not exist before the loop, and that every trip assigns before it reads them.

    The pass at hand serves: nothing in it could see what the trip before left in them. Empty if there is a
    slot of another kind that the pass did not know.
    """
    fresh = {slot: template for slot, template in settled.items() if slot not in templates}
    within = within_trips(engine, settled, join)
    alone = [slot in within or join.entries[slot][1] is MISSING for slot in fresh]
    return fresh if all(alone) else {}


def within_trips(engine: Engine, settled: dict[Slot, Content], join: Join) -> set[Slot]:
    """What a pass need not know: variables of which no trip sees what the one before left, and what only they hold.

    Pools are there before the loop, but without objects.
    """
    made = {s for s in settled if isinstance(s, int) and _is_made(join.entries[s][1])}
    alone = {s for s in settled if isinstance(s, tuple) and _is_assigned_first(engine, s, join)}
    while True:
        held = _reached([settled[s] for s in settled if s not in alone and s not in made], settled)
        shared = {slot for slot in alone if not held.isdisjoint(_reached([settled[slot]], settled))}
        if not shared:
            return {*alone, *(made - held)}
        alone -= shared


def _reached(pending: list[Content], settled: dict[Slot, Content]) -> set[int]:
    """The cells that templates refer to, directly or through the templates of others."""
    found: set[int] = set()
    while pending:
        new = set(cells_of(pending.pop())) - found
        found |= new
        pending += [settled[cell] for cell in new if cell in settled]
    return found


def _is_made(entry: Content) -> bool:
    """True for what there was not before the loop."""
    return entry is MISSING or (isinstance(entry, PoolCell) and entry.contents is None)


def _is_assigned_first(engine: Engine, slot: Variable, join: Join) -> bool:
    _, entry, end = join.entries[slot]
    read = slot[1] in engine.current.unassigned
    lost = isinstance(end, Undef | Unknown) or may_be_unassigned(cast(Abstract, end))
    return isinstance(entry, Undef) and not (read or lost)
