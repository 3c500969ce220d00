"""Branches: each arm is inferred on a fork of the state, and the two ends are joined into the results of one `If`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from ....records import dataclass
from ... import limits
from ...hlo.ir import Region, Value
from ...hlo.types import BOOL, ArrayType
from ...ops import If, Not
from ...values.boundary import Form
from ...values.lattice import FALSE, Abstract, Array, ArrayCell, ErrorCell, PoolCell, Version
from ...values.sites import contexts
from ...values.slots import Hidden, Purpose, Slot, Variable, is_temporary_name
from ...values.state import ERROR, MISSING, NOT_YET, OUTPUT, Changes, Content, Lookup
from ...values.walk import rebuild, values_of
from ..aliases.coherent import reconcile_aliases
from ..aliases.pool_demands import PoolDemand
from ..aliases.pools import pooled, united
from ..core.engine import Engine
from ..core.induction_ranges import assume_ranges
from ..diagnostics.provenance import MergeProvenance
from ..exceptions.raising import attempt, error_of, expose_all, is_observable, is_running
from ..state.frame import PythonRaise
from ..state.merged import note_out_of_date, stamp_versions
from ..state.phi import Placeholder, phi_operands
from ..state.structural_equality import alike
from .join import Join, Merge
from .resizing import fit_arm, met
from .unboxing import differing, unbox

Arm = Callable[[], None]

NO_FRAME = 0
"""The frame of a branch that changes no variables of a function."""


@dataclass(slots=True)
class _InferredArm:
    """One inferred arm: its changes to the state, and whether it certainly raises.

    `versions` are those of the error cell that it leaves of what has another structure since.
    """

    region: Region
    changes: Changes
    raises: bool
    versions: list[Version]

    @property
    def inside(self) -> set[Value]:
        """The values that only the arm has."""
        return {value for op in self.region.ops for value in op.results}


def infer_if(
    engine: Engine,
    predicate: Value,
    frame: int,
    then: Arm,
    orelse: Arm,
    provenance: MergeProvenance | None = None,
) -> None:
    """Infers both arms on forks, and joins them: where they differ, the state gets results of the `If`.

    `predicate` is a scalar bool of the program; `frame` the frame whose variables the arms may change;
    `provenance` what they are in the source, for messages. An arm that certainly raises leaves nothing but the
    error, and what can be seen after it; if both do, nothing after the branch runs.
    """
    before = dict_view(engine)
    arms = []
    for arm, taken in ((then, True), (orelse, False)):
        with engine.intervals.under(predicate, taken):
            arms.append(_arm(engine, arm))
    _meet(engine, frame, arms)
    shared: set[int] = set()
    unpoolable: set[int] = set()
    while True:
        first, second = _with_rows(engine, arms, before)
        merge = Merge(
            first,
            second,
            engine.b.span,
            provenance=provenance,
            is_rolled=bool(engine.loops.active),
            kept=shared,
            unpoolable=unpoolable,
        )
        join = Join(engine.state, merge)
        late = _join_versions(frame, arms, join)
        seen = _join(engine, predicate, frame, arms, join)
        if join.demands.found:
            for side, inferred in enumerate(arms):
                unpoolable |= _pool(engine, inferred, [d for d in join.demands.found if d.side == side])
            continue
        more = join.objects.shared()
        if not more:
            break
        shared |= more
    emit_if(engine, predicate, [arm.region for arm in arms], join)
    if late or seen:
        _note_versions(engine, late, seen)
    if all(arm.raises for arm in arms):
        raise PythonRaise(None, engine.state.depth, 0)
    for inferred, taken in zip(arms, (True, False), strict=True):
        if inferred.raises:  # what follows means nothing where it has raised
            engine.intervals.assume(predicate, not taken)


def _with_rows(
    engine: Engine, arms: list[_InferredArm], before: dict[Slot, Content]
) -> tuple[Lookup, Lookup]:
    """Turns lists of arrays that the arms leave with different lengths into rows; gives the contents of the slots."""
    first, second = [lookup(arm.changes, before) for arm in arms]
    if not any(arm.raises for arm in arms):
        changed = [s for s in {**arms[0].changes, **arms[1].changes} if s in before]
        lists = differing(engine, first, second, changed)
        for arm in arms if lists else ():
            with at_end(engine, arm.region, arm.changes) as changes:
                unbox(engine, lists)
            arm.changes = changes
    return lookup(arms[0].changes, before), lookup(arms[1].changes, before)


def _pool(engine: Engine, arm: _InferredArm, demands: Sequence[PoolDemand]) -> set[int]:
    """Makes objects members of a pool at the end of an arm, as a join demands; gives the cells of those that cannot be."""
    if not demands:
        return set()
    with at_end(engine, arm.region, arm.changes) as changes:
        refused = satisfied(engine, demands)
    arm.changes = changes
    return refused


def satisfied(engine: Engine, demands: Sequence[PoolDemand]) -> set[int]:
    """Makes objects members of a pool, as a join demands; gives the cells of those that cannot be."""
    refused: set[int] = set()
    by_pool: dict[int, list[int]] = {}
    for demand in demands:
        by_pool.setdefault(demand.pool, []).append(demand.cell)
    for pool, cells in by_pool.items():
        for each in [c for c in cells if isinstance(engine.state.slots.get(c), PoolCell)]:
            cells.remove(each)
            if not united(engine, each, pool):
                refused |= {each, pool}
        if cells and not pooled(engine, cells, pool):
            refused.update(cells)
    return refused


@contextmanager
def at_end(engine: Engine, region: Region, changes: Changes) -> Iterator[Changes]:
    """Continues a fork that ended with `changes`; gives its changes afterwards."""
    with engine.state.fork() as more, engine.b.region(region), engine.under_condition():
        for slot, content in changes.items():
            engine.state.set(slot, content)
        yield more


def _meet(engine: Engine, frame: int, arms: list[_InferredArm]) -> None:
    """Puts arrays of many sizes that the arms leave into common bounds."""
    if any(arm.raises for arm in arms):
        return
    changes = arms[0].changes, arms[1].changes
    before = engine.state.slots
    slots = [s for s in dict.fromkeys([*changes[0], *changes[1]]) if relevant(s, frame, *changes, before)]
    targets = met(lookup(changes[0], before), lookup(changes[1], before), slots)
    for arm in arms if targets else ():
        with at_end(engine, arm.region, arm.changes) as refit:
            fit_arm(engine, targets)
        arm.changes = refit


def _join(engine: Engine, predicate: Value, frame: int, arms: list[_InferredArm], join: Join) -> list[_Seen]:
    """Joins the ends of the arms; gives the versions of slots that an observer sees where one of them raises."""
    if any(arm.raises for arm in arms):
        return _join_raising(engine, predicate, frame, arms, join)
    changes = arms[0].changes, arms[1].changes
    for slot in dict.fromkeys([*changes[0], *changes[1]]):
        if relevant(slot, frame, *changes, engine.state.slots):
            join.slot(slot)
    return []


def _arm(engine: Engine, run: Arm) -> _InferredArm:
    region = Region()
    kept = len(error_of(engine).versions)
    with engine.state.fork() as changes, engine.b.region(region), engine.under_condition():
        raised = attempt(engine, run)
        versions = settle_alike(engine, kept, engine.state.is_new)
        reconcile_aliases(engine)
        note_out_of_date(engine.state, engine.state.merged_cells())
    return _InferredArm(region, changes, raised is not None, versions)


def settle_versions(engine: Engine, kept: int) -> None:
    """Puts into the state what the versions beyond the first `kept` say of a program that has raised."""
    for version in reversed(settle_alike(engine, kept)):
        put_back(engine, version)


def settle_alike(engine: Engine, kept: int, within: Callable[[int], bool] | None = None) -> list[Version]:
    """Removes the versions beyond the first `kept` from the error cell, and puts their contents into the state.

    Gives those that have no common structure with what is there now, but of cells `within`.
    """
    cell = error_of(engine)
    versions = cell.versions[kept:]
    if not versions:
        return []
    engine.state.set(ERROR, replace(cell, versions=cell.versions[:kept]))
    slots = engine.state.slots
    apart: set[Slot] = set()
    for version in versions:
        slot = version.slot
        lasting = within is None or isinstance(slot, tuple) or not within(slot)
        if lasting and not alike(slots.get(slot), version.content):
            apart.add(slot)
    for version in reversed(versions):
        if version.slot not in apart:
            put_back(engine, version)
    return [v for v in versions if v.slot in apart]


def put_back(engine: Engine, version: Version) -> None:
    """Puts the contents of a version into the state, under its condition."""
    frame = version.slot[0] if isinstance(version.slot, tuple) else NO_FRAME
    put_old = functools.partial(engine.state.set, version.slot, version.content)
    infer_if(engine, version.condition, frame, put_old, lambda: None)


def while_running(engine: Engine, frame: int, run: Arm) -> None:
    """Infers what happens only if the program has not raised; inside, that is certain."""
    before, running = error_of(engine), is_running(engine)
    if running is None:
        run()
        return

    def then() -> None:
        engine.state.set(ERROR, ErrorCell(0, contexts(before.payload), before.versions))
        run()

    def orelse() -> None:
        raise PythonRaise(None, engine.state.depth, before.code)

    infer_if(engine, running, frame, then, orelse)


def _join_raising(
    engine: Engine, predicate: Value, frame: int, arms: list[_InferredArm], join: Join
) -> list[_Seen]:
    """Joins arms of which one or both certainly raise; gives the versions of slots that an observer sees then.

    In what the other arm leaves, nothing needs to have a meaning for the one that raises.
    """
    lookups = (join.a, join.b)
    live = next((i for i in (0, 1) if not arms[i].raises), None)
    slots = engine.state.slots
    made: list[_Seen] = []
    for slot in dict.fromkeys([*arms[0].changes, *arms[1].changes]):
        if slot in (ERROR, OUTPUT) or (slot in slots and isinstance(slots[slot], ArrayCell | PoolCell)):
            join.slot(slot)
            continue
        for side, arm in enumerate(arms):
            if arm.raises and _is_seen(engine, slot):
                condition = predicate if side == 0 else engine.b.op(Not(), predicate)
                place = (frame, Hidden(Purpose.RAISED, len(made)))
                content = lookups[side](slot) if slot in slots or slot in arm.changes else NOT_YET
                template = join.from_one_side(content, lookups[side], arm.inside)
                join.entries[place] = (template, *_sides(side, content))
                made.append(_Seen(place, slot, condition))
        if live is not None and slot in arms[live].changes and _stays(slot, frame, slots):
            content = arms[live].changes[slot]
            template = join.from_one_side(content, lookups[live], arms[live].inside)
            join.entries[slot] = (template, *_sides(live, content))
    return made


@dataclass(slots=True)
class _Seen:
    """`place` holds what is seen of `slot` after a raise under `condition`."""

    place: Variable
    slot: Slot
    condition: Value


def _is_seen(engine: Engine, slot: Slot) -> bool:
    """True for what can be observed after the raise and existed before the branch."""
    return (isinstance(slot, tuple) or slot in engine.state.slots) and is_observable(engine, slot)


def _stays(slot: Slot, frame: int, before: dict[Slot, Content]) -> bool:
    """True if what the only arm that does not raise leaves in `slot` can be read after the branch."""
    if isinstance(slot, int):
        return slot in before
    return slot[0] == frame or slot[0] < 0


def _sides(side: int, content: Content) -> tuple[Content, Content]:
    missing = cast(Content, MISSING)
    return (content, missing) if side == 0 else (missing, content)


@dataclass(slots=True)
class _Late:
    """`place` holds what is seen of `slot` after a raise in an arm, under the condition that `condition` holds."""

    place: Variable
    slot: Slot
    condition: Variable


def _join_versions(frame: int, arms: list[_InferredArm], join: Join) -> list[_Late]:
    """Hands on the versions of the arms; where the other arm ran, their conditions are false."""
    made: list[_Late] = []
    for side, arm in enumerate(arms):
        for version in arm.versions:
            place, condition = [
                (frame, Hidden(purpose, len(made))) for purpose in (Purpose.VERSION, Purpose.CONDITION)
            ]
            template = join.from_one_side(version.content, (join.a, join.b)[side], arm.inside)
            join.entries[place] = (template, *_sides(side, version.content))
            holds = Array(version.condition, Form.PYTHON)
            sides = (holds, FALSE) if side == 0 else (FALSE, holds)
            join.entries[condition] = (Array(Placeholder(ArrayType(BOOL)), Form.PYTHON), *sides)
            made.append(_Late(place, version.slot, condition))
    return made


def _note_versions(engine: Engine, late: list[_Late], seen: list[_Seen]) -> None:
    """Adds the versions whose contents the joined state holds in temporaries."""
    state = engine.state
    cell = error_of(engine)
    found = [Version(x.slot, cast(Array, state.slots[x.condition]).value, state.slots[x.place]) for x in late]
    found += [Version(s.slot, s.condition, state.slots[s.place]) for s in seen]
    state.set(ERROR, replace(cell, versions=(*cell.versions, *found)))
    for place in (*[p for x in late for p in (x.place, x.condition)], *[s.place for s in seen]):
        state.forget(place)


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
    """True if the change of a fork to `slot` can be observed after it.

    A temporary is read after a branch only if both arms wrote it; variables of frames that were entered
    and left are gone; a cell made in an arm matters only if something that matters refers to it.
    """
    if isinstance(slot, int):
        return slot in before
    number, name = slot
    if is_temporary_name(name):
        return number == frame and slot in first and slot in second
    return number == frame or number < 0


def emit_if(engine: Engine, predicate: Value, regions: list[Region], join: Join) -> None:
    """Makes the `If` and puts its results into the state."""
    results: list[list[Value]] = [[], []]
    placeholders: list[Placeholder] = []
    for side, region in enumerate(regions):
        with engine.b.region(region):
            for template, a, b in join.entries.values():
                phi_operands(engine.b, template, (a, b)[side], results[side])
    for template, _, _ in join.entries.values():
        walked = values_of(template)
        engine.effort.run(len(walked) // limits.VALUES_PER_STEP)
        placeholders += [v for v in walked if isinstance(v, Placeholder)]
    # a placeholder that both sides fill with one outer value, or several placeholders filled alike, need no result
    pairs = list(zip(results[0], results[1], strict=True))
    kept = [p for p in dict.fromkeys(pairs) if p[0] is not p[1]]
    for side, region in enumerate(regions):
        region.results = tuple([p[side] for p in kept])
    made: dict[tuple[Value, Value], Value] = {}
    if kept or any(map(engine.effects.are_in, regions)):
        op = engine.b.apply(If(), (predicate,), regions)
        made = dict(zip(kept, op.results))
    by_placeholder: dict[Value, Value] = {}
    for placeholder, pair in zip(placeholders, pairs, strict=True):
        by_placeholder[placeholder] = pair[0] if pair[0] is pair[1] else made[pair]
    put(engine, join, by_placeholder)


def put(engine: Engine, join: Join, by_placeholder: dict[Value, Value]) -> None:
    """Puts the joined contents, placeholders filled, into the state."""
    for slot, (template, _, _) in join.entries.items():
        content = rebuild(template, lambda v: by_placeholder.get(v, v))
        engine.state.set(slot, content)
        assume_ranges(engine, content)
    stamp_versions(engine.state, join.entries)
    expose_all(engine, join.entries)


def infer_choice(
    engine: Engine, predicate: Value, then: Callable[[], Abstract], orelse: Callable[[], Abstract]
) -> Abstract:
    """The value of one of two computations, chosen at run time; infers both."""
    frame = engine.state.new_frame()
    slot = (frame, Hidden(Purpose.CHOICE))
    infer_if(
        engine,
        predicate,
        frame,
        lambda: engine.state.set(slot, then()),
        lambda: engine.state.set(slot, orelse()),
    )
    return cast(Abstract, engine.state.get(slot))
