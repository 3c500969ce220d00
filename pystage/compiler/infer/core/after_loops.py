"""The `While` that a settled loop becomes, and what is known after it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ...hlo.ir import Value
from ...ops import While
from ...values.by_path import option
from ...values.lattice import (
    Abstract,
    Array,
    ByPath,
    Cell,
    ErrorCell,
    Kind,
    MaybeUndef,
    ObjectCell,
    Slot,
    Undef,
)
from ...values.state import ERROR, MISSING, Content
from ...values.walk import rebuild
from ..aliases.merged import possible, seal, without_source
from ..exceptions.raising import carry_error, error_of, expose_all
from .branches import lookup, while_running
from .join import Join
from .loop import Loop, Pass
from .patterns import Hole, fill

if TYPE_CHECKING:
    from .engine import Engine


def finish(
    engine: Engine,
    loop: Loop,
    patterns: dict[Slot, Content],
    owned: dict[int, tuple[int, Content]],
    result: Pass,
    join: Join,
    before: dict[Slot, Content],
) -> None:
    """Makes the `While` from the last pass and puts its results into the state."""
    b = engine.b
    initial: list[Value] = []
    for slot, pattern in patterns.items():
        entry = owned[slot][1] if isinstance(slot, int) and slot in owned else before.get(slot, MISSING)
        fill(b, pattern, cast(Content, entry), initial)
    end = lookup(result.changes, before)
    carried: list[Value] = []
    with b.region(result.body):
        for slot, pattern in patterns.items():
            fill(b, pattern, join.entries[slot][2] if slot in join.entries else end(slot), carried)
    result.body.results = tuple(carried)
    keys = carry_error(
        engine, result.cond, result.body, result.test_error, cast(ErrorCell, end(ERROR)), initial
    )
    op = b.apply(While(loop.trips), initial, (result.cond, result.body))
    error = error_of(engine)
    # A program that raised before the loop, or in its first trip, has not gone through it.
    ran = loop.certain and keys is None and isinstance(error.code, int)
    results = iter(op.results)
    ends = {merged: cell for (_, (cell, _)), merged in join.merged.items()}
    after: dict[Slot, Content] = {}
    for slot, pattern in patterns.items():
        content = rebuild(pattern, lambda v: next(results) if isinstance(v, Hole) else v)
        content = _assigned_by(loop, content, end(slot))
        if ran and isinstance(slot, int) and slot in owned:
            source = owned[slot][0]
            if slot in ends and source not in possible(join.b, ends[slot]):
                content = without_source(content, source)
        if loop.certain and isinstance(content, ByPath):
            content = _of_one_kind(engine, content, end(slot))
        after[slot] = content
    for slot, content in after.items():
        engine.state.set(slot, content)
    seal(engine.state, patterns)
    expose_all(engine, patterns)
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


def _assigned_by(loop: Loop, content: Content, end: Content) -> Content:
    """A variable or the attributes of an object after the loop: what every trip assigns is there after one."""
    if isinstance(content, ObjectCell) and isinstance(end, ObjectCell):
        fields = {
            n: _assigned_by(loop, v, end.fields[n]) for n, v in content.fields.items() if n in end.fields
        }
        return replace(content, fields={**content.fields, **cast("dict[str, Abstract]", fields)})
    if not isinstance(content, MaybeUndef) or isinstance(end, MaybeUndef | Undef | Cell):
        return content
    return content.value if loop.certain else replace(content, runs=loop.runs)


def _of_one_kind(engine: Engine, content: ByPath, end: Content) -> Array:
    """After at least one trip a number is of the kind that the end of the body gives it."""
    if not isinstance(end, Array) or isinstance(end, ByPath):
        return content
    return option(engine.b, content, content.kinds.index(Kind(end.dtype, end.form, end.weak)))
