"""The `While` that a loop at its fixpoint becomes, and the state after it."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ...hlo.builder import Builder
from ...hlo.ir import Value
from ...ops import While
from ...values.gated import Gated, GatedNumber, alternatives, is_absent, restrict
from ...values.lattice import (
    Abstract,
    Cell,
    ErrorCell,
    ObjectCell,
    Unknown,
    is_number,
)
from ...values.slots import Slot
from ...values.state import ERROR, MISSING, Content
from ...values.walk import rebuild
from ..aliases.merged import may_alias_cells, stamp_versions, without_alias
from ..exceptions.raising import carry_error, error_of, expose_all
from .branches import lookup, while_running
from .engine import Engine
from .induction_ranges import assume_ranges
from .join import Join
from .loop import EntryContents, Loop, Pass
from .numbers import kinds_of
from .phi import Placeholder, phi_operands


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
    for slot, template in templates.items():
        entry = owned[slot][1]() if isinstance(slot, int) and slot in owned else before.get(slot, MISSING)
        phi_operands(b, template, cast(Content, entry), initial)
    end = lookup(result.changes, before)
    carried: list[Value] = []
    with b.region(result.body):
        for slot, template in templates.items():
            phi_operands(b, template, join.entries[slot][2] if slot in join.entries else end(slot), carried)
    result.body.results = tuple(carried)
    keys = carry_error(
        engine, result.cond, result.body, result.test_error, cast(ErrorCell, end(ERROR)), initial
    )
    op = b.apply(While(loop.trips), initial, (result.cond, result.body))
    error = error_of(engine)
    # A program that raised before the loop, or in its first trip, has not gone through it.
    ran = loop.certain and keys is None and isinstance(error.code, int)
    results = iter(op.results)
    ends = {merged: cell for (_, (cell, _)), merged in join.objects.merged.items()}
    after: dict[Slot, Content] = {}
    for slot, template in templates.items():
        content = rebuild(template, lambda v: next(results) if isinstance(v, Placeholder) else v)
        if ran and isinstance(slot, int) and slot in owned:
            source = owned[slot][0]
            if slot in ends and source not in may_alias_cells(join.b, ends[slot]):
                content = without_alias(content, source)
        if loop.certain:
            content = _after_a_trip(b, content, end(slot))
        after[slot] = content
    for slot, content in after.items():
        engine.state.set(slot, content)
        assume_ranges(engine, content)
    stamp_versions(engine.state, templates)
    expose_all(engine, templates)
    if keys is not None:
        error = ErrorCell(next(results), dict(zip(keys, results, strict=True)), error.versions)
    engine.state.set(ERROR, error)
    if not result.pure_test:  # what the last, failing test does to the state; it has not raised
        while_running(engine, loop.frame, lambda: _only_test(engine, loop))


def _only_test(engine: Engine, loop: Loop) -> None:
    """What the test of a loop does to the state, where it does not raise."""
    error = error_of(engine)
    loop.test()
    engine.state.set(ERROR, error)


def _after_a_trip(b: Builder, content: Content, end: Content) -> Content:
    """What a slot holds after at least one trip: without the alternatives that the end of the body does not have."""
    if isinstance(content, ObjectCell) and isinstance(end, ObjectCell):
        fields = {n: _after_a_trip(b, v, end.fields[n]) for n, v in content.fields.items() if n in end.fields}
        return replace(content, fields={**content.fields, **cast("dict[str, Abstract]", fields)})
    if isinstance(end, Cell | Unknown):
        return content
    if isinstance(content, GatedNumber) and is_number(end):
        return restrict(b, content, sorted(map(content.kinds.index, kinds_of(end))))
    if isinstance(content, Gated):
        left = [*map(type, filter(is_absent, alternatives(end)))]
        kept = [i for i, x in enumerate(content.options) if not is_absent(x) or type(x) in left]
        return restrict(b, content, kept)
    return content
