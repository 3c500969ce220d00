"""Branches: both arms on forked states, joined into one functional `If`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ..hlo.ir import Region, Value
from ..ops import If
from ..values.lattice import Abstract
from ..values.state import MISSING, Changes, Content, Slot
from ..values.traverse import rebuild
from .join import Join
from .merged import note_stale, seal
from .patterns import Hole, fill, holes_of

if TYPE_CHECKING:
    from .engine import Engine

Arm = Callable[[], None]


def infer_if(engine: Engine, predicate: Value, frame: int, then: Arm, orelse: Arm) -> None:
    """Infers both arms, and makes the state what it is after either: `If`'s results where they differ.

    `predicate` is a scalar bool of the program; `frame` the frame whose variables the arms may change.
    """
    before = dict_view(engine)
    arms: list[tuple[Region, Changes]] = []
    for arm in (then, orelse):
        region = Region()
        with engine.state.fork() as changes, engine.b.region(region), engine.under_condition():
            arm()
            note_stale(engine.state, engine.state.merged)
        arms.append((region, changes))
    (_, first), (_, second) = arms
    join = Join(engine.state, lookup(first, before), lookup(second, before), engine.b.span)
    for slot in dict.fromkeys([*first, *second]):
        if relevant(slot, frame, first, second, engine.state.slots):
            join.slot(slot)
    emit_if(engine, predicate, [r for r, _ in arms], join)


def dict_view(engine: Engine) -> dict[Slot, Content]:
    """The slots, as they are once every fork that opens from here on is closed again."""
    return engine.state.slots


def lookup(changes: Changes, before: dict[Slot, Content]) -> Callable[[Slot], Content]:
    """Contents at the end of a fork that left `changes`."""

    def find(slot: Slot) -> Content:
        found = changes.get(slot)
        if found is not None:
            return found
        return before.get(slot, cast(Content, MISSING))

    return find


def relevant(slot: Slot, frame: int, first: Changes, second: Changes, before: dict[Slot, Content]) -> bool:
    """True if what a fork did to `slot` can be seen after it.

    A temporary is read after a branch only if both arms wrote it; variables of frames that were entered
    and left are gone; a cell made in an arm matters only if something that matters refers to it.
    """
    if isinstance(slot, int):
        return slot in before
    number, name = slot
    if name.startswith("%"):
        return number == frame and slot in first and slot in second
    return number == frame or number < 0


def emit_if(engine: Engine, predicate: Value, regions: list[Region], join: Join) -> None:
    """Makes the `If` and puts its results into the state."""
    results: list[list[Value]] = [[], []]
    holes: list[Hole] = []
    for side, region in enumerate(regions):
        with engine.b.region(region):
            for pattern, a, b in join.entries.values():
                fill(engine.b, pattern, (a, b)[side], results[side])
    for pattern, _, _ in join.entries.values():
        holes.extend(holes_of(pattern))
    # a hole that both sides fill with one outer value, or several holes filled alike, need no result
    pairs = list(zip(results[0], results[1], strict=True))
    kept = [p for p in dict.fromkeys(pairs) if p[0] is not p[1]]
    for side, region in enumerate(regions):
        region.results = tuple([p[side] for p in kept])
    made: dict[tuple[Value, Value], Value] = {}
    if kept or any(not op.kind.pure or op.regions for region in regions for op in region.walk()):
        op = engine.b.apply(If(), (predicate,), regions)
        made = dict(zip(kept, op.results))
    by_hole: dict[Value, Value] = {}
    for hole, pair in zip(holes, pairs, strict=True):
        by_hole[hole] = pair[0] if pair[0] is pair[1] else made[pair]
    put(engine, join, by_hole)


def put(engine: Engine, join: Join, by_hole: dict[Value, Value]) -> None:
    """Puts the joined contents, holes filled, into the state."""
    for slot, (pattern, _, _) in join.entries.items():
        engine.state.set(slot, rebuild(pattern, lambda v: by_hole.get(v, v)))
    seal(engine.state, join.entries)


def infer_choice(
    engine: Engine, predicate: Value, then: Callable[[], Abstract], orelse: Callable[[], Abstract]
) -> Abstract:
    """The value of one of two computations, chosen at run time; both are inferred."""
    frame = engine.state.new_frame()
    slot = (frame, "%value")
    infer_if(
        engine,
        predicate,
        frame,
        lambda: engine.state.set(slot, then()),
        lambda: engine.state.set(slot, orelse()),
    )
    return cast(Abstract, engine.state.get(slot))
