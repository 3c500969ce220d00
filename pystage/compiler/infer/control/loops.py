"""Loops: the fixpoint that finds the carried values of a `While`.

The body is inferred on the entry state; each slot that it changes is carried, with a type that covers the entry and the
end of a trip; and again, until nothing changes. Each pass is a speculation, taken back unless it was the last. A loop
whose first trip differs is peeled; one that cannot be a `While` is unrolled (`control_flow.py`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from ....records import dataclass
from ... import limits
from ...analysis.ranges import ANY
from ...analysis.variables import assigned, lengths_tested
from ...diagnostics.codes_calls import InternalError
from ...diagnostics.codes_control import NeverSettles
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Region, Value
from ...hlo.types import BOOL, ArrayType
from ...library.rules.numbers import range_of
from ...ops import Convert, constant
from ...stage import ir as stage
from ...values.boundary import Form
from ...values.identity import Identity
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Const,
    ErrorCell,
    PoolCell,
    Ref,
    Undef,
    is_number,
    same_constant,
)
from ...values.slots import Hidden, Purpose, Slot, Variable, is_temporary
from ...values.state import ERROR, MISSING, OUTPUT, Content, Lookup, State
from ...values.views import View
from ...values.walk import nodes, rebuild, values_of
from ..aliases.alias_sets import seen_through
from ..aliases.coherent import reconcile_aliases
from ..aliases.pool_demands import PoolDemand, carried_pools, unboxed_content
from ..core.engine import Engine
from ..core.induction_ranges import assume_ranges, induction_ranges, with_range
from ..diagnostics.provenance import MergeProvenance, name_of
from ..exceptions.raising import attempt, error_of
from ..state.constants import is_decidable
from ..state.frame import PythonRaise
from ..state.loop import Active, EntryContents, Loop, Pass, counter_of
from ..state.merged import MERGEABLE, may_alias_cells, note_out_of_date, stamp_versions
from ..state.phi import DeferredRead, Placeholder, phi_operands, placeholder_for, placeholders_of
from ..state.retry import Retry, RetryReason, WriteOut, commit_unless_retried
from ..state.speculate import speculate
from ..state.structural_equality import same_template, same_templates
from .branches import at_end, infer_if, lookup, satisfied, settle_versions
from .fixpoint_cache import carried_earlier, note_carried
from .join import Join, LoopHead, Merge
from .joined_objects import Carriers
from .loop_exits import finish, source_of
from .loop_locals import assigned_only, of_one_trip, take_out, within_trips
from .loop_repairs import REPAIRS, Generalised, Unsettled, can_peel, is_counted, peel
from .resizing import fit
from .unboxing import differing, is_to_unbox, unbox


@dataclass(frozen=True, slots=True)
class _TripRaises(RetryReason):
    """The test or the body of a loop certainly raises: it runs once, if it runs."""


@dataclass(frozen=True, slots=True)
class _RefusedWithGuess(RetryReason):
    """A loop does not work that began with what an earlier inference of it carried, as in another call."""


@dataclass(frozen=True, slots=True)
class _TestPrints(RetryReason):
    """The test of a loop prints: it must stand in the program once for each time that it runs."""


def infer_loop(engine: Engine, loop: Loop) -> None:
    """Infers the loop and makes the state what it is after it."""
    source, demands = loop.instruction, len(engine.origins.demands)
    is_doubtful = loop.guessed and engine.loops.has_worked(source) and not engine.raises.bodies
    with commit_unless_retried(engine, _TripRaises, _TestPrints, _RefusedWithGuess) as trial:
        try:
            _infer_rolled(engine, loop)
        except Retry as retry:
            if isinstance(retry.reason, _TripRaises) and trial.refused and not loop.guessed:
                raise DiagnosticError(trial.refused[-1]) from None  # it follows from what was refused
            if not is_doubtful or not isinstance(retry.reason, WriteOut) or retry.reason.loop is not source:
                raise
            raise Retry(_RefusedWithGuess()) from None
        engine.loops.note_refused(source, bool(trial.refused))
        if trial.refused and is_doubtful and len(engine.origins.demands) == demands:
            raise Retry(_RefusedWithGuess())
        return
    match trial.retried:
        case _TestPrints():
            _infer_rolled(engine, _tested_once(engine, loop))
        case reason if trial.refused or isinstance(
            reason, _RefusedWithGuess
        ):  # the guess may have been too wide
            infer_loop(engine, replace(loop, guessed=False))
        case _:
            _raise_at_once(engine, loop)


def _infer_rolled(engine: Engine, loop: Loop) -> None:
    generalised: dict[Slot, Content] = {}
    made = Identity(of_loop=True)
    loop = replace(loop, made=made)
    note_out_of_date(engine.state, engine.state.merged_cells())
    make: Callable[[], None] | None = None
    for round in itertools.count():
        templates = {**_guess(engine, loop), **generalised}
        entry = {slot: engine.state.slots[slot] for slot in templates}
        active = Active(round, templates, entry, made, loop.instruction)
        engine.loops.active.append(active)
        try:
            with commit_unless_retried(engine, Generalised) as trial:
                make = _settle(engine, loop, dict(templates))
        finally:
            engine.loops.active.pop()
        if trial.retried is None:
            break
        if trial.retried != Generalised(active):
            raise Retry(trial.retried)
        generalised = active.guess
    assert make is not None
    try:
        make()
    finally:
        made.end()


def _settle(engine: Engine, loop: Loop, templates: dict[Slot, Content]) -> Callable[[], None]:
    """Repeats passes over the body until the carried values are stable; gives what makes the program of the loop."""
    before = engine.state.slots
    guessed = set(templates)
    owned: EntryContents = {}
    ranges = induction_ranges(engine, loop.instruction, loop.frame)
    splits, retyped, parted = engine.splits, False, False
    entered: dict[int, bool] = {}
    demands: list[PoolDemand] = []
    unpoolable: set[int] = set()
    carried: list[int] = []  # how many objects, after each pass
    taken: list[int] = []  # the steps of each pass
    changing: list[Slot] = []  # what the last pass made another type of
    for _ in range(limits.LOOP_PASSES):
        if entered or demands:  # known outside of the passes, each of which is taken back
            unbox(engine, entered)
            unpoolable |= satisfied(engine, demands)
            templates, guessed, entered, demands = {}, set(), {}, []
        with speculate(engine) as trial:
            steps = engine.effort.steps
            result = _one_pass(engine, loop, templates, owned)
            loop = replace(loop, steps=max(loop.steps, engine.effort.steps - steps))
            if result is None:  # the condition is false on entry: the loop does not run, but the test does
                return functools.partial(_only_tested, engine, loop)
            lists = _lists_of_arrays(engine, loop, templates, result, before)
            if any(is_to_unbox(before.get(slot), views) for slot, views in lists.items()):
                entered, changing = lists, [*lists]
                continue
            take_out(engine, loop, result, _head(templates, before), before)
            may_alias = len(engine.state.may_alias)
            certain = loop.certain or (result.first and isinstance(result.condition, Const))
            optional = loop.optional or ((loop.peeled or not certain) and not is_counted(loop))
            while True:
                join = _join(engine, loop, templates, owned, result, before, guessed, optional, unpoolable)
                demands = [d.on_entry(owned) for d in join.demands.found if d.side == 0]
                if demands or not join.demands.found:
                    break
                with at_end(engine, result.body, result.changes) as changes:
                    unpoolable |= satisfied(engine, join.demands.found)
                result.changes = changes
            if demands:
                changing = [demand.cell for demand in demands]
                continue
            same_aliasing = len(engine.state.may_alias) == may_alias  # as the pass took it
            retyped |= join.retyped
            parted |= bool(join.conflicts.found) and not join.grows
            if retyped and loop.instruction is not None:
                engine.loops.retyped.add(loop.instruction)
            settled = {slot: entry[0] for slot, entry in join.entries.items()}
            for counter, ends in ranges.items():
                if counter in settled:
                    settled[counter] = with_range(settled[counter], ends)
            constant = {s for s in guessed if _stays(before.get(s), result.changes.get(s))}
            if constant:  # guessed to change, and does not
                guessed -= constant
                templates = {s: p for s, p in templates.items() if s not in constant}
                continue
            within: set[Slot] = set()
            if same_aliasing and not trial.refused:
                within = within_trips(engine, settled, join)
                fresh = assigned_only(templates, settled, join, within)
                if fresh and same_templates({**templates, **fresh}, settled):
                    templates = {**templates, **fresh}
                    _carry(result, fresh)
            if same_aliasing and same_templates(templates, settled):
                differs = retyped and engine.splits != splits
                if can_peel(loop) and (
                    differs or (parted and trial.refused)
                ):  # the first trip does something else
                    return functools.partial(peel, engine, loop, infer_loop)
                trial.commit()
                note_carried(engine, loop, templates, before)
                return functools.partial(finish, engine, loop, templates, owned, result, join, before)
            carried.append(sum(isinstance(slot, int) for slot in settled))
            taken.append(engine.effort.steps - steps)
            engine.effort.foresee_passes(taken)
            loop = replace(loop, certain=certain)
            unsettled = Unsettled(engine, loop, infer_loop, settled, join, result, before, tuple(carried))
            for repair in REPAIRS:
                make = repair(unsettled)
                if make is not None:
                    return make
            known = {slot: template for slot, template in settled.items() if slot not in within}
            changing = [
                s for s, t in known.items() if s not in templates or not same_template(templates[s], t)
            ]
            templates, guessed = _with_merged(engine, {**templates, **known}), set()
    known = {**before, **templates}
    names = [name for slot in changing if (name := name_of(known, slot)) != "a value"]
    raise DiagnosticError(
        NeverSettles(
            span=engine.b.span,
            what=names[0] if names else "one of its variables",
            first="of one type",
            second="of another, however often its types are adapted,",
        )
    )


def _only_tested(engine: Engine, loop: Loop) -> None:
    """A loop that does not run."""
    engine.truth(loop.test())


def _head(templates: dict[Slot, Content], before: dict[Slot, Content]) -> Lookup:
    """The carried contents at the begin of a trip."""
    return lambda slot: templates.get(slot) or before.get(slot, cast(Content, MISSING))


def _lists_of_arrays(
    engine: Engine, loop: Loop, templates: dict[Slot, Content], result: Pass, before: dict[Slot, Content]
) -> dict[int, bool]:
    """Turns the lists of arrays to which a trip of a long loop has added into rows; gives those lists (`differing`)."""
    if loop.is_short:
        return {}

    end = lookup(result.changes, before)
    lists = differing(
        engine, _head(templates, before), end, [slot for slot in result.changes if slot in before]
    )
    if lists:
        with at_end(engine, result.body, result.changes) as changes:
            unbox(engine, lists)
        result.changes = changes
    return lists


def _tested(engine: Engine, loop: Loop) -> Abstract:
    """The truth of the test; a retry if it certainly raises, or prints."""
    found: list[Abstract] = []
    printed = engine.state.slots[OUTPUT]
    raised = attempt(engine, lambda: found.append(engine.truth(loop.test())))
    if engine.state.slots[OUTPUT] is not printed:
        raise Retry(_TestPrints())
    if raised is not None:
        raise Retry(_TripRaises())
    return found[0]


def _tested_once(engine: Engine, loop: Loop) -> Loop:
    """The same loop with its test before it and at the end of each trip: a variable holds the result."""
    slot = (loop.frame, Hidden(Purpose.TEST, id(loop)))

    def test() -> None:
        engine.state.set(slot, engine.truth(loop.test()))

    def body() -> None:
        loop.body()
        test()

    test()
    return Loop(lambda: cast(Abstract, engine.state.get(slot)), body, loop.frame)


def _raise_at_once(engine: Engine, loop: Loop) -> None:
    """Infers a loop whose body certainly raises as a branch."""

    def trip() -> None:
        loop.body()
        raise DiagnosticError(
            InternalError(span=engine.b.span, text="a trip that raises does not raise at first")
        )

    condition = engine.truth(loop.test())
    if not isinstance(condition, Const):
        infer_if(engine, engine.predicate(condition), loop.frame, trip, lambda: None)
    elif condition.value:
        trip()


def _guess(engine: Engine, loop: Loop) -> dict[Slot, Content]:
    """The variables and arrays that the source of the body assigns, as the first carried values.

    It saves the pass that would find them; numbers that turn out not to change are taken back.
    """
    if loop.instruction is None or not loop.guessed or not _certainly_entered(engine, loop):
        return {}
    slots = engine.state.slots
    guess: dict[Slot, Content] = {}
    names, stored = assigned(loop.instruction)
    variables: list[Variable] = [(loop.frame, name) for name in names]
    for slot in (*variables, counter_of(loop.frame, loop.instruction)):
        content = slots.get(slot)
        if content is not None and of_one_trip(engine, slot, loop, content):
            continue
        if isinstance(content, Const) and type(content.value) in (int, float):
            type_ = ArrayType(np.dtype(np.int64 if isinstance(content.value, int) else np.float64))
            at_least = (content.value, math.inf) if isinstance(content.value, int) else ANY
            guess[slot] = Array(Placeholder(type_), Form.PYTHON, range=at_least)
        elif isinstance(content, Array):
            guess[slot] = replace(rebuild(content, placeholder_for), range=ANY)
    for name in stored:
        content = slots.get((loop.frame, name))
        if isinstance(content, Ref):
            for each in may_alias_cells(slots.get, content.cell):
                cell = slots.get(each)
                if isinstance(cell, ArrayCell):
                    guess[each] = replace(cell, value=Placeholder(cell.value.type))
    for counter, ends in induction_ranges(engine, loop.instruction, loop.frame).items():
        guess[counter] = with_range(guess[counter], ends)
    return _with_merged(engine, {**carried_earlier(engine, loop), **guess})


def _with_merged(engine: Engine, templates: dict[Slot, Content]) -> dict[Slot, Content]:
    """The carried contents, and the merged arrays that are carried beside one of their aliases.

    Such an array is as up to date at the begin of each trip as before the loop, unless the end of a trip says otherwise.
    Beside an alias that is carried, one that is not carried itself would be out of date in every trip.
    """
    found = dict(templates)
    for number in engine.state.merged_cells():
        content = engine.state.slots.get(number)
        if number in found or not isinstance(content, ArrayCell):
            continue
        if any(alias.cell in templates for alias in content.aliases):
            found[number] = replace(content, value=Placeholder(content.value.type))
    return found


def _certainly_entered(engine: Engine, loop: Loop) -> bool:
    """True if the test is not false at once: a loop that never runs leaves everything known."""
    with speculate(engine):
        condition = _tested(engine, loop)
        if isinstance(loop.instruction, stage.While) and isinstance(condition, Array):
            loop.undecided = not is_decidable(engine.origins, condition)
    if not isinstance(condition, Const):
        return True
    loop.certain = loop.certain or bool(condition.value)
    return bool(condition.value)


def _stays(entry: Content | None, end: Content | None) -> bool:
    """True if a variable that the body assigns is the same constant before and after."""
    return isinstance(entry, Const) and isinstance(end, Const) and same_constant(entry.value, end.value)


def _one_pass(
    engine: Engine, loop: Loop, templates: dict[Slot, Content], owned: EntryContents
) -> Pass | None:
    """Infers test and body once, from the templates; None if the test is false at once."""
    state, b = engine.state, engine.b
    versions = error_of(engine).versions
    cond, body = Region(), Region()
    with state.fork() as tested, b.region(cond), engine.under_condition():
        _enter(engine, templates, cond)
        entered = {slot: state.slots[slot] for slot in templates}
        condition = _tested(engine, loop)
        if isinstance(condition, Const) and not condition.value and not templates:
            return None
        first = not templates
        value = (
            constant(b, bool(condition.value))
            if isinstance(condition, Const)
            else cast(Array, condition).value
        )
        cond.results = (value if value.type.dtype == BOOL else b.op(Convert(BOOL), value),)
        test_error = error_of(engine)
    pure_test = not any(
        entered.get(slot) is not content and _visible(slot, loop, state) for slot, content in tested.items()
    )
    source = source_of(loop)
    if source is not None and not loop.undecided:
        engine.origins.loops[body] = source
    entries = {slot: state.slots.get(owned[slot][0] if slot in owned else slot) for slot in templates}
    with state.fork() as changes, b.region(body), engine.under_condition():
        _enter(engine, templates, body)
        _note_entries(engine, templates, entries)
        if _in_trip(engine, loop, templates) is not None:
            raise Retry(_TripRaises())
        settle_versions(engine, len(versions))
        reconcile_aliases(engine)
        note_out_of_date(state, state.merged_cells())
    return Pass(cond, body, changes, condition, pure_test, first, test_error)


def _in_trip(engine: Engine, loop: Loop, templates: dict[Slot, Content]) -> PythonRaise | None:
    """Infers test and body of one trip, where the test holds; gives the exception by which it certainly ends."""

    def trip() -> None:
        loop.body()
        fit(engine, loop, {**engine.state.origins(), **templates})

    going = engine.truth(loop.test())
    if isinstance(going, Const):
        return attempt(engine, trip)
    undecided = [] if loop.trips is not None else [going if loop.runs is None else loop.runs]
    with engine.intervals.under(engine.predicate(going), True), engine.current.under(undecided):
        return attempt(engine, trip)


def _visible(slot: Slot, loop: Loop, state: State) -> bool:
    """True for what the program of the loop can see: its variables, and cells that exist before the loop.

    The error cell is carried apart (`_carry_error`): a trip begins only while nothing has been raised.
    """
    if isinstance(slot, int):
        return slot in state.slots and slot != ERROR
    return (slot[0] == loop.frame or slot[0] < 0) and not is_temporary(slot)


def _enter(engine: Engine, templates: dict[Slot, Content], region: Region) -> None:
    """Puts the templates into the state, with the region's parameters in their placeholders."""
    for slot, template in templates.items():
        content = rebuild(template, lambda v: _param(region, v))
        engine.state.set(slot, content)
        assume_ranges(engine, content)
    stamp_versions(engine.state, templates)
    engine.state.set(ERROR, ErrorCell(versions=error_of(engine).versions))


def _note_entries(
    engine: Engine, templates: dict[Slot, Content], entries: Mapping[Slot, Content | None]
) -> None:
    """Notes what parameters of the body are when the loop begins, where that is nothing but numbers of the program.

    The length of a list of arrays is none of them, if it is known then.
    """
    for slot, template in templates.items():
        entry = entries[slot]
        numbers = () if entry is None or any(isinstance(x, Const) for x in nodes(entry)) else values_of(entry)
        if numbers:
            entered = zip(values_of(template), values_of(engine.state.slots[slot]), strict=True)
            for placeholder, param in entered:
                if isinstance(placeholder, Placeholder):
                    alike = [n for n in numbers if len(n.type.shape) == len(param.type.shape)]
                    engine.origins.entries[param] = tuple(alike)


def _param(region: Region, value: Value) -> Value:
    return region.add_param(value.type) if isinstance(value, Placeholder) else value


def _join(
    engine: Engine,
    loop: Loop,
    templates: dict[Slot, Content],
    owned: EntryContents,
    result: Pass,
    before: dict[Slot, Content],
    guessed: set[Slot],
    optional: bool,
    unpoolable: set[int],
) -> Join:
    changes = result.changes

    def head(slot: Slot) -> Content:
        found = templates.get(slot)
        if slot in guessed and isinstance(before.get(slot), Const):
            return before[slot]  # what a known number becomes depends on the first trip
        return found if found is not None else before.get(slot, cast(Content, MISSING))

    i, provenance = loop.instruction, None
    if isinstance(i, stage.For | stage.While):
        provenance = MergeProvenance(engine.current.function, i, None, i.body, loop.peeled)
    end = lookup(changes, before)
    at_head = LoopHead(
        made=loop.made,
        trips=loop.trips,
        expected=loop.expected,
        is_short=loop.is_short,
        is_nested=len(engine.loops.active) > 1,
        is_peelable=can_peel(loop),
        lengths=_tested_lengths(engine, loop, end),
    )
    carriers = Carriers(loop.ranks)
    while True:
        merge = Merge(
            head,
            end,
            engine.b.span if i is None else i.span,
            at_head,
            provenance,
            optional=optional,
            capacity=engine.capacity,
            owned=owned,
            carriers=carriers,
            unpoolable=unpoolable,
        )
        join = Join(engine.state, merge)
        pools = [s for s in changes if s not in templates and isinstance(before.get(s), PoolCell)]
        for slot in list(templates) + [s for s in changes if s not in templates and s not in pools]:
            if isinstance(slot, int):
                if slot in before and slot != ERROR:
                    join.slot(slot)
            elif isinstance(changes.get(slot), Undef) and isinstance(before.get(slot, Undef()), Undef):
                continue  # assigned and deleted again, as the counters of inner loops are
            elif _visible(slot, loop, engine.state) and not of_one_trip(engine, slot, loop, head(slot)):
                join.slot(slot)
        while found_pools := carried_pools(pools, [entry[0] for entry in join.entries.values()], head):
            for slot in found_pools:
                pools.remove(slot)
                join.slot(slot)
        if not join.objects.add_carriers():
            break
    for ((a, path, _), _), merged in join.objects.merged.items():
        if merged not in owned:
            content, outer = before.get(a, cast(Content, MISSING)), owned.get(a)
            joined, on_entry = join.entries[merged][1], _on_entry(engine, templates, owned, before)
            source = a if outer is None or path else outer[0]
            owned[merged] = (source, functools.partial(_entry, content, outer, path, joined, on_entry))
            engine.state.apart[merged] = loop
    join.objects.note_may_alias()
    return join


def _tested_lengths(engine: Engine, loop: Loop, end: Lookup) -> dict[int, float]:
    """The lengths up to which the test of a loop lets lists grow, at the end of a trip, by their cells."""
    found: dict[int, float] = {}
    if isinstance(loop.instruction, stage.While):
        for name, temp in lengths_tested(loop.instruction):
            of, most = end((loop.frame, name)), end((loop.frame, temp))
            if isinstance(of, Ref) and isinstance(most, Array | Const) and is_number(most):
                found[of.cell] = range_of(most)[1]
    return found


def _entry(
    content: Content,
    outer: tuple[int, Callable[[], Content]] | None,
    path: tuple[View, ...],
    joined: Content,
    on_entry: Callable[[Value], Value],
) -> Content:
    """The contents of a carried object on entry, and which of the possible objects it is.

    Asked for once the passes are over: what a pass adds to the program is taken back.
    """
    if content is MISSING and outer is not None:
        content = outer[1]()
    if isinstance(content, MERGEABLE) and isinstance(joined, MERGEABLE):
        content = replace(
            seen_through(content, Ref(0, path)), aliases=joined.aliases, selector=joined.selector
        )
    return content if content is MISSING else rebuild(content, on_entry)


def _on_entry(
    engine: Engine, templates: dict[Slot, Content], owned: EntryContents, before: dict[Slot, Content]
) -> Callable[[Value], Value]:
    """The map from the placeholders of the templates to their values on entry."""
    found: dict[Value, Value] = {}

    def value(v: Value) -> Value:
        if isinstance(v, Placeholder) and not found:
            for slot, template in templates.items():
                content = owned[slot][1]() if isinstance(slot, int) and slot in owned else before.get(slot)
                if content is not None:
                    filled: list[Value] = []
                    phi_operands(engine.b, template, unboxed_content(before.get, template, content), filled)
                    found.update(zip(placeholders_of(template), filled, strict=True))
        return v.mapped(value) if isinstance(v, DeferredRead) else found.get(v, v)

    return value


def _carry(result: Pass, fresh: dict[Slot, Content]) -> None:
    """Adds carried values to a finished pass, which does not read them."""
    for template in fresh.values():
        for placeholder in placeholders_of(template):
            result.cond.add_param(placeholder.type)
            result.body.add_param(placeholder.type)
