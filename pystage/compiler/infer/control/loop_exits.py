"""Loop exits: builds the `While` of a loop at its fixpoint, and the state after it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import cast

from ... import limits
from ...analysis.congruence import Congruence
from ...hlo.builder import Builder
from ...hlo.ir import Op, Value
from ...hlo.types import BOOL, ArrayType
from ...library.kernels.structures import list_items
from ...library.rules.numbers import kinds_of
from ...library.rules.templates import items_of_tuple
from ...ops import While
from ...values.gated import Gated, GatedNumber, alternatives, is_absent, restrict
from ...values.lattice import (
    LISTS,
    Abstract,
    Cell,
    ErrorCell,
    Items,
    ObjectCell,
    RowsCell,
    RowsTuple,
    Tuple,
    Unknown,
    is_number,
)
from ...values.slots import Slot
from ...values.state import ERROR, MISSING, Content
from ...values.vector import Vector
from ...values.walk import rebuild
from ..aliases.pool_demands import unboxed_content
from ..core.engine import Engine
from ..core.growth import counted
from ..core.induction_ranges import assume_ranges
from ..exceptions.raising import carry_error, error_of, expose_all, is_observable
from ..state.constants import SourceLoop
from ..state.loop import EntryContents, Loop, Pass
from ..state.merged import may_alias_cells, stamp_versions, without_alias
from ..state.phi import Placeholder, phi_operands
from .branches import lookup, while_running
from .join import Join
from .resizing import settle_counted


def finish(
    engine: Engine,
    loop: Loop,
    templates: dict[Slot, Content],
    owned: EntryContents,
    result: Pass,
    join: Join,
    before: dict[Slot, Content],
) -> None:
    """Makes the `While` from the last pass and puts its results into the state."""
    b = engine.b
    initial: list[Value] = []
    entries: dict[Slot, Content] = {}
    for slot, template in templates.items():
        entry = owned[slot][1]() if isinstance(slot, int) and slot in owned else before.get(slot, MISSING)
        entries[slot] = unboxed_content(before.get, template, cast(Content, entry))
        phi_operands(b, template, entries[slot], initial)
    end = lookup(result.changes, before)
    carried: list[Value] = []
    last = {slot: join.entries[slot][2] if slot in join.entries else end(slot) for slot in templates}
    with b.region(result.body):
        for slot, template in templates.items():
            phi_operands(b, template, last[slot], carried)
    result.body.results = tuple(carried)
    keys = carry_error(
        engine, result.cond, result.body, result.test_error, cast(ErrorCell, end(ERROR)), initial
    )
    op = b.apply(While(loop.trips), initial, (result.cond, result.body))
    error = error_of(engine)
    # A program that raised before the loop, or in its first trip, has not gone through it.
    ran = loop.certain and keys is None and isinstance(error.code, int)
    results = iter(_congruent(op))
    ends = {merged: end[0] for (_, end), merged in join.objects.merged.items()}
    after: dict[Slot, Content] = {}
    params = iter(result.body.params)
    begins = {
        slot: rebuild(p, lambda v: next(params) if isinstance(v, Placeholder) else v)
        for slot, p in templates.items()
    }
    for slot, template in templates.items():
        content = rebuild(template, lambda v: next(results) if isinstance(v, Placeholder) else v)
        if ran and isinstance(slot, int) and slot in owned:
            source = owned[slot][0]
            if slot in ends and source not in may_alias_cells(join.b, ends[slot]):
                content = without_alias(content, source)
        if loop.certain:
            content = _after_a_trip(b, content, end(slot))
        if isinstance(content, RowsCell | RowsTuple):
            sides = [_items_of(x) for x in (entries[slot], begins[slot], last[slot])]
            complete = keys is None or (isinstance(content, RowsCell) and not is_observable(engine, slot))
            items = counted(engine, loop, source_of(loop), content.items, sides, complete)
            if isinstance(content, RowsTuple):
                content = _counted_tuple(engine, content, items)
            else:
                content = replace(content, items=items)
        after[slot] = content
    for slot, content in after.items():
        engine.state.set(slot, content)
        assume_ranges(engine, content)
    stamp_versions(engine.state, templates)
    expose_all(engine, templates)
    if keys is not None:
        error = ErrorCell(next(results), dict(zip(keys, results, strict=True)), error.versions)
    engine.state.set(ERROR, error)
    trips = None if loop.instruction is None else cast(SourceLoop, source_of(loop)).exact
    if trips is not None:
        for slot in templates:
            if keys is None or not is_observable(engine, slot):
                settle_counted(engine, slot, (entries[slot], begins[slot], last[slot]), trips)
    if not result.pure_test:  # what the last, failing test does to the state; it has not raised
        while_running(engine, loop.frame, lambda: _only_test(engine, loop))


def _congruent(op: Op) -> list[Value]:
    """The results of a loop; of bools that are equal after any trip count (mostly tags), the first."""
    results = list(op.results)
    bools = [i for i, r in enumerate(results) if r.type == ArrayType(BOOL)]
    places = list(itertools.combinations(bools, 2))[: limits.CARRIED_BOOL_PAIRS]
    alike = Congruence().alike_in_loop(op.operands, op.regions[1], places) if places else []
    for (first, second), equal in zip(places, alike, strict=True):
        if equal:
            results[second] = results[first]
    return results


def source_of(loop: Loop) -> SourceLoop | None:
    """The loop of the source that this is, if it is one."""
    if loop.instruction is None:
        return None
    return SourceLoop(loop.instruction, loop.trips, loop.runs, loop.peeled)


def _only_test(engine: Engine, loop: Loop) -> None:
    """Applies to the state what the test of a loop does where it does not raise."""
    error = error_of(engine)
    loop.test()
    engine.state.set(ERROR, error)


def _items_of(content: Content) -> Items | None:
    """The elements of a list or a tuple; None for anything else."""
    return content.items if isinstance(content, LISTS) else items_of_tuple(cast(Abstract, content))


def _counted_tuple(engine: Engine, content: RowsTuple, items: Vector[Abstract]) -> Abstract:
    """A tuple of these elements after a loop; a short one whose length is known as its elements."""
    if not isinstance(items.length, int):
        return RowsTuple(items)
    return content if items.length > limits.LISTED_EQUAL_ELEMENTS else Tuple(list_items(engine, items))


def _after_a_trip(b: Builder, content: Content, end: Content) -> Content:
    """The contents of a slot after at least one trip: without alternatives that the end of the body does not have."""
    if isinstance(content, ObjectCell) and isinstance(end, ObjectCell):
        fields = {n: _after_a_trip(b, v, end.fields[n]) for n, v in content.fields.items() if n in end.fields}
        return replace(content, fields={**content.fields, **cast("dict[str, Abstract]", fields)})
    if isinstance(end, Cell | Unknown):
        return content
    if isinstance(content, Tuple) and isinstance(end, Tuple):
        parts = [_after_a_trip(b, x, y) for x, y in zip(content.items, end.items, strict=True)]
        return Tuple(tuple(cast("list[Abstract]", parts)), content.cls)
    if isinstance(content, GatedNumber) and is_number(end):
        return restrict(b, content, sorted(map(content.kinds.index, kinds_of(end))))
    if isinstance(content, Gated):
        left = [*map(type, filter(is_absent, alternatives(end)))]
        kept = [i for i, x in enumerate(content.options) if not is_absent(x) or type(x) in left]
        return restrict(b, content, kept)
    return content
