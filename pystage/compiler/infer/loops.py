"""Loops: unrolled over structure, rolled into one `While` over everything else.

The carried slots of a `While` are found by fixpoint: the body is inferred on the entry state; what it
changes is carried, with a type that covers the entry and the end; and again, until nothing changes.
What a pass built is thrown away unless it was the last.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from ..diagnostics.codes_control import NeverSettles
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.ir import Region, Value
from ..hlo.types import BOOL, ArrayType
from ..ops import Constant, Convert, While
from ..stage import ir as stage
from ..values.boundary import Form
from ..values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Cell,
    Const,
    ErrorCell,
    MaybeUndef,
    ObjectCell,
    Ref,
    Slot,
    Source,
    Undef,
    Unknown,
    same_constant,
)
from ..values.state import ERROR, MISSING, OUTPUT, Changes, Content, State
from ..values.traverse import rebuild
from ..values.views import View
from .assigned import assigned, only_within_trips
from .blame import Parting
from .branches import infer_if, lookup, settle_versions, while_running
from .candidates import seen_through
from .coherent import leave
from .constants import UNROLL_LIMIT
from .counters import counter_bounds, with_bounds
from .frame import PythonRaise, Restart
from .join import Join
from .merged import MERGEABLE, STALE, note_stale, possible, seal, without_source
from .patterns import Hole, fill, holes_of, outline
from .raising import attempt, carry_error, error_of

if TYPE_CHECKING:
    from .engine import Engine

WIDEN_LIMIT = 2
"""How often an inner loop begins the passes of one around it again."""

PASS_LIMIT = 12
"""Passes after which a loop that still changes its types is given up."""


@dataclass(slots=True)
class Loop:
    """A loop as the fixpoint sees it: `test` gives the condition, `body` runs one trip.

    `frame` is the frame whose variables it changes. `instruction` and `trips` are those of a counted
    loop of the source, which could be unrolled; `certain`: it runs at least once; `peeled`: its first trip
    stands before it. `runs` is a number of the program that says how often it runs, where that is not known.
    """

    test: Callable[[], Abstract]
    body: Callable[[], None]
    frame: int
    instruction: stage.Instr | None = None
    trips: int | None = None
    certain: bool = False
    peeled: bool = False
    runs: Abstract | None = None


@dataclass(slots=True)
class _Pass:
    """What one pass over the body left: the regions, the changes, the conditions."""

    cond: Region
    body: Region
    changes: Changes
    condition: Abstract
    pure_test: bool
    first: bool
    test_error: ErrorCell


@dataclass(slots=True, eq=False)
class Active:
    """A loop whose body is being inferred: what it was guessed to carry, and what that was on entry.

    `round` counts how often its passes began; an inner loop begins them again at most `WIDEN_LIMIT` times.
    """

    round: int
    guess: dict[Slot, Content]
    entry: dict[Slot, Content]


class _Widen(Exception):
    """An inner loop found that a variable which `loop` carries has another type: its passes begin again."""

    def __init__(self, loop: Active) -> None:
        super().__init__(loop)
        self.loop = loop


def infer_loop(engine: Engine, loop: Loop) -> None:
    """Infers the loop and makes the state what it is after it."""
    mark = engine.mark_errors()
    try:
        _infer_rolled(engine, loop)
    except _Raises:
        engine.forget_errors(mark)
        _raise_at_once(engine, loop)
    except _Prints:
        engine.forget_errors(mark)
        _infer_rolled(engine, _tested_once(engine, loop))


def _infer_rolled(engine: Engine, loop: Loop) -> None:
    widened: dict[Slot, Content] = {}
    note_stale(engine.state, engine.state.merged)
    for round in itertools.count():
        patterns = {**_guess(engine, loop), **widened}
        entry = {slot: engine.state.slots[slot] for slot in patterns}
        active = Active(round, patterns, entry)
        mark = engine.mark_errors()
        engine.active_loops.append(active)
        try:
            _settle(engine, loop, dict(patterns))
            return
        except _Widen as found:
            if found.loop is not active:
                raise
            engine.forget_errors(mark)
            widened = active.guess
        finally:
            engine.active_loops.pop()


def _settle(engine: Engine, loop: Loop, patterns: dict[Slot, Content]) -> None:
    """Passes over the body until what is carried does not change any more; then the `While`."""
    before = engine.state.slots
    guessed = set(patterns)
    owned: dict[int, tuple[int, Content]] = {}  # a carried object's cell -> the entry's cell and contents
    counters = counter_bounds(engine, loop.instruction, loop.frame)
    told, widened = engine.kinds_told, False
    for _ in range(PASS_LIMIT):
        mark = engine.mark_errors()
        result = _one_pass(engine, loop, patterns)
        if result is None:
            return  # the condition is false on entry: the loop does not run
        together = len(engine.state.together)
        certain = loop.certain or (result.first and isinstance(result.condition, Const))
        optional = (loop.peeled or not certain) and not _is_counted(loop)
        join = _join(engine, loop, patterns, owned, result.changes, before, guessed, optional)
        told_apart = len(engine.state.together) == together  # as the pass took it
        widened |= join.widened
        if widened and loop.instruction is not None:
            engine.widened.add(loop.instruction)
        settled = {slot: entry[0] for slot, entry in join.entries.items()}
        for counter, ends in counters.items():
            if counter in settled:
                settled[counter] = with_bounds(settled[counter], ends)
        constant = {s for s in guessed if _stays(before.get(s), result.changes.get(s))}
        if constant:  # guessed to change, and does not
            engine.forget_errors(mark)
            guessed -= constant
            patterns = {s: p for s, p in patterns.items() if s not in constant}
            continue
        if engine.mark_errors() == mark and told_apart:
            fresh = _assigned_only(patterns, settled, join)
            if fresh and _same({**patterns, **fresh}, settled):
                patterns = {**patterns, **fresh}
                _carry(result, fresh)
        if told_apart and _same(patterns, settled):
            if widened and engine.kinds_told != told and not loop.peeled:
                engine.forget_errors(mark)
                _peel(engine, loop)  # in the first trip it tells another type than in the others
                return
            _finish(engine, loop, patterns, owned, result, join, before)
            return
        _widen_outer(engine, settled, result.changes)
        if certain and not loop.certain:
            loop = replace(loop, certain=True)
        if join.conflicts and (join.grows or loop.peeled) and _unrollable(engine, loop):
            assert loop.instruction is not None
            raise Restart(loop.instruction)
        if join.conflicts and loop.certain and not loop.peeled and not join.grows:
            engine.forget_errors(mark)
            _peel(engine, loop)
            return
        engine.forget_errors(mark)
        patterns, guessed = {**patterns, **settled}, set()
    raise DiagnosticError(
        NeverSettles(
            span=engine.b.span,
            what="one of its variables",
            first="of one type",
            second=f"of another, after {PASS_LIMIT} times too,",
        )
    )


class _Raises(Exception):
    """The test or the body of a loop certainly raises: it runs once, if it runs."""


class _Prints(Exception):
    """The test of a loop prints: it must stand in the program once for each time that it runs."""


def _tested(engine: Engine, loop: Loop) -> Abstract:
    """The truth of the test; `_Raises` if it certainly raises, `_Prints` if it prints."""
    found: list[Abstract] = []
    printed = engine.state.slots[OUTPUT]
    raised = attempt(engine, lambda: found.append(engine.truth(loop.test())))
    if engine.state.slots[OUTPUT] is not printed:
        raise _Prints
    if raised is not None:
        raise _Raises
    return found[0]


def _tested_once(engine: Engine, loop: Loop) -> Loop:
    """The same loop with its test before it and at the end of each trip: a variable holds what it gave."""
    slot = (loop.frame, f".goes_on{id(loop)}")

    def test() -> None:
        engine.state.set(slot, engine.truth(loop.test()))

    def body() -> None:
        loop.body()
        test()

    test()
    return Loop(lambda: cast(Abstract, engine.state.get(slot)), body, loop.frame)


def _raise_at_once(engine: Engine, loop: Loop) -> None:
    """A loop whose body certainly raises is a branch."""
    condition = engine.truth(loop.test())
    if not isinstance(condition, Const):
        infer_if(engine, engine.predicate(condition), loop.frame, loop.body, lambda: None)
    elif condition.value:
        loop.body()


def _widen_outer(engine: Engine, settled: dict[Slot, Content], changes: Changes) -> None:
    """Tells the loops around this one of a variable whose type they guessed otherwise.

    So one pass of each is thrown away, where each would find it by a pass of its own for every pass of the
    loops around it.
    """
    for outer in engine.active_loops[:-1]:
        if outer.round >= WIDEN_LIMIT:
            continue
        found = False
        for slot, guess in outer.guess.items():
            end = changes.get(slot)
            if not isinstance(guess, Array) or not isinstance(end, Array) or slot not in settled:
                continue
            join = Join(engine.state, lambda s: MISSING, lambda s: MISSING, engine.b.span, loop=True)
            wide = join.join(cast(Abstract, outer.entry[slot]), end)
            if isinstance(wide, Array) and not _same_pattern(guess, wide):
                outer.guess[slot] = wide
                found = True
        if found:
            raise _Widen(outer)


def _guess(engine: Engine, loop: Loop) -> dict[Slot, Content]:
    """The variables and arrays that the source of the body assigns, as carried values to begin with.

    It saves the pass that would find them; numbers that turn out not to change are taken back.
    """
    if loop.instruction is None or not _certainly_entered(engine, loop):
        return {}
    slots = engine.state.slots
    guess: dict[Slot, Content] = {}
    names, stored = assigned(loop.instruction)
    for name in names:
        slot = (loop.frame, name)
        content = slots.get(slot)
        if isinstance(content, Const) and type(content.value) in (int, float):
            type_ = ArrayType(np.dtype(np.int64 if isinstance(content.value, int) else np.float64))
            lower = content.value if isinstance(content.value, int) else None
            guess[slot] = Array(Hole(type_), Form.PYTHON, lower=lower)
        elif isinstance(content, Array):
            guess[slot] = replace(content, value=Hole(content.type), lower=None, upper=None)
    for name in stored:
        content = slots.get((loop.frame, name))
        if isinstance(content, Ref):
            cell = slots.get(content.cell)
            if isinstance(cell, ArrayCell) and not cell.sources:
                guess[content.cell] = replace(cell, value=Hole(cell.value.type))
    for counter, ends in counter_bounds(engine, loop.instruction, loop.frame).items():
        guess[counter] = with_bounds(guess[counter], ends)
    return guess


def _certainly_entered(engine: Engine, loop: Loop) -> bool:
    """True if the test is not false at once: a loop that never runs leaves everything known."""
    mark = engine.mark_errors()
    with engine.state.fork(), engine.b.region(Region()), engine.under_condition():
        condition = _tested(engine, loop)
        known_false = isinstance(condition, Const) and not condition.value
        loop.certain = loop.certain or (isinstance(condition, Const) and bool(condition.value))
    engine.forget_errors(mark)
    return not known_false


def _is_counted(loop: Loop) -> bool:
    """True if the loop could be written out trip by trip, as it is known now."""
    if loop.instruction is None:
        return False
    if isinstance(loop.instruction, stage.While):
        return loop.certain
    return loop.trips is not None and loop.trips <= UNROLL_LIMIT


def _unrollable(engine: Engine, loop: Loop) -> bool:
    """True if the loop could be written out trip by trip, its number of trips demanded where it is not known."""
    demanded = isinstance(loop.instruction, stage.For) and loop.trips is None
    return engine.can_be_known(loop.runs) if demanded else _is_counted(loop)


def _stays(entry: Content | None, end: Content | None) -> bool:
    """True if a variable that the body assigns is the same constant before and after."""
    return isinstance(entry, Const) and isinstance(end, Const) and same_constant(entry.value, end.value)


def _peel(engine: Engine, loop: Loop) -> None:
    """Runs the first trip before the loop; the rest of it then begins with settled types."""
    condition = engine.truth(loop.test())
    if isinstance(condition, Const):
        if not condition.value:
            return
        loop.body()
        infer_loop(engine, replace(loop, certain=False, peeled=True))
        return

    def rest() -> None:
        loop.body()
        infer_loop(engine, replace(loop, certain=False, peeled=True))

    infer_if(engine, cast(Array, condition).value, loop.frame, rest, lambda: None)


def _one_pass(engine: Engine, loop: Loop, patterns: dict[Slot, Content]) -> _Pass | None:
    """Infers test and body once, from the patterns; None if the test is false at once."""
    state, b = engine.state, engine.b
    versions = error_of(engine).versions
    cond, body = Region(), Region()
    with state.fork() as tested, b.region(cond), engine.under_condition():
        _enter(engine, patterns, cond)
        entered = {slot: state.slots[slot] for slot in patterns}
        condition = _tested(engine, loop)
        if isinstance(condition, Const) and not condition.value and not patterns:
            return None
        first = not patterns
        value = (
            b.op(Constant(np.asarray(bool(condition.value))))
            if isinstance(condition, Const)
            else cast(Array, condition).value
        )
        cond.results = (value if value.type.dtype == BOOL else b.op(Convert(BOOL), value),)
        test_error = error_of(engine)
    pure_test = not any(
        entered.get(slot) is not content and _visible(slot, loop, state) for slot, content in tested.items()
    )
    if loop.instruction is not None and loop.trips is not None:
        engine.origins.loops[body] = (loop.instruction, loop.trips)
    with state.fork() as changes, b.region(body), engine.under_condition():
        _enter(engine, patterns, body)
        if _in_trip(engine, loop) is not None:
            raise _Raises
        settle_versions(engine, len(versions))
        leave(engine)
        note_stale(state, state.merged)
    return _Pass(cond, body, changes, condition, pure_test, first, test_error)


def _in_trip(engine: Engine, loop: Loop) -> PythonRaise | None:
    """Infers test and body of one trip, where the test holds; gives the exception by which it certainly ends."""
    going = engine.truth(loop.test())
    if isinstance(going, Const):
        return attempt(engine, loop.body)
    with engine.intervals.under(engine.predicate(going), True):
        return attempt(engine, loop.body)


def _of_one_trip(engine: Engine, slot: tuple[int, str], loop: Loop, entry: Content) -> bool:
    """True for a variable that lives within a trip: it is not assigned before, nor read after."""
    if loop.instruction is None or not (entry is MISSING or isinstance(entry, Undef)):
        return False
    return only_within_trips(slot[1], loop.instruction, engine.current.function)


def _visible(slot: Slot, loop: Loop, state: State) -> bool:
    """True for what the loop's own program can see: its variables, and cells that exist before the loop.

    The error cell is carried apart (`_carry_error`): a trip begins only while nothing has been raised.
    """
    if isinstance(slot, int):
        return slot in state.slots and slot != ERROR
    return (slot[0] == loop.frame or slot[0] < 0) and not slot[1].startswith("%")


def _enter(engine: Engine, patterns: dict[Slot, Content], region: Region) -> None:
    """Puts the patterns into the state, with the region's parameters in their holes."""
    for slot, pattern in patterns.items():
        engine.state.set(slot, rebuild(pattern, lambda v: _param(region, v)))
    seal(engine.state, patterns)
    engine.state.set(ERROR, ErrorCell(versions=error_of(engine).versions))


def _param(region: Region, value: Value) -> Value:
    return region.add_param(value.type) if isinstance(value, Hole) else value


def _join(
    engine: Engine,
    loop: Loop,
    patterns: dict[Slot, Content],
    owned: dict[int, tuple[int, Content]],
    changes: Changes,
    before: dict[Slot, Content],
    guessed: set[Slot],
    optional: bool,
) -> Join:
    def head(slot: Slot) -> Content:
        found = patterns.get(slot)
        if slot in guessed and isinstance(before.get(slot), Const):
            return before[slot]  # what a known number becomes depends on the first trip
        return found if found is not None else before.get(slot, cast(Content, MISSING))

    i, parting = loop.instruction, None
    if isinstance(i, stage.For | stage.While):
        parting = Parting(engine.current.function, i, None, i.body)
    end = lookup(changes, before)
    carriers: dict[int, tuple[int, int] | None] = {}
    while True:
        join = Join(
            engine.state,
            head,
            end,
            engine.b.span,
            loop=True,
            parting=parting,
            carriers=carriers,
            optional=optional,
        )
        join.owned = set(owned)
        for slot in list(patterns) + [s for s in changes if s not in patterns]:
            if isinstance(slot, int):
                if slot in before and slot != ERROR:
                    join.slot(slot)
            elif isinstance(changes.get(slot), Undef) and isinstance(before.get(slot, Undef()), Undef):
                continue  # assigned and deleted again, as the counters of inner loops are
            elif _visible(slot, loop, engine.state) and not _of_one_trip(engine, slot, loop, head(slot)):
                join.slot(slot)
        found = join.uncarried()
        if not found:
            break
        carriers |= found
    for ((a, path), _), merged in join.merged.items():
        if merged not in owned:
            inner = owned[a][1] if a in owned else MISSING
            begins = _entry(before.get(a, inner), path, join.entries[merged][1])
            if begins is not MISSING:
                begins = rebuild(begins, _on_entry(engine, patterns, before))
            owned[merged] = (a, begins)
            engine.state.apart[merged] = loop
    join.note_together()
    return join


def _on_entry(
    engine: Engine, patterns: dict[Slot, Content], before: dict[Slot, Content]
) -> Callable[[Value], Value]:
    """The map from the holes of the patterns to what they are when the loop begins."""
    found: dict[Value, Value] = {}

    def value(v: Value) -> Value:
        if isinstance(v, Hole) and not found:
            for slot, pattern in patterns.items():
                if slot in before:
                    filled: list[Value] = []
                    fill(engine.b, pattern, before[slot], filled)
                    found.update(zip(holes_of(pattern), filled, strict=True))
        return found.get(v, v)

    return value


def _assigned_only(
    patterns: dict[Slot, Content], settled: dict[Slot, Content], join: Join
) -> dict[Slot, Content]:
    """Variables that do not exist before the loop, and that every trip assigns before it reads them.

    The pass at hand serves: nothing in it could see what the trip before left in them. Empty if there is a
    slot of another kind that the pass did not know.
    """
    fresh: dict[Slot, Content] = {}
    for slot, pattern in settled.items():
        if slot in patterns:
            continue
        _, entry, end = join.entries[slot]
        if isinstance(slot, tuple):
            alone = isinstance(entry, Undef) and not isinstance(end, Undef | MaybeUndef | Unknown)
        else:
            alone = entry is MISSING
        if not alone:
            return {}
        fresh[slot] = pattern
    return fresh


def _carry(result: _Pass, fresh: dict[Slot, Content]) -> None:
    """Adds carried values to a finished pass, which does not read them."""
    for pattern in fresh.values():
        for hole in holes_of(pattern):
            result.cond.add_param(hole.type)
            result.body.add_param(hole.type)


def _same(old: dict[Slot, Content], new: dict[Slot, Content]) -> bool:
    """True if the two sets of patterns have the same holes and the same structure."""
    return all(slot in old and _same_pattern(old[slot], pattern) for slot, pattern in new.items())


_NOT_COMPARED = frozenset(["sources", "span", "origin", "runs", "reason"])
"""Fields of abstract values that say nothing of what a loop carries, or are compared apart."""


def _same_pattern(old: object, new: object) -> bool:
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, Value):
        return isinstance(old, Hole) and old.type == cast(Value, new).type
    if isinstance(old, Unknown):
        return True
    if isinstance(old, Abstract | Cell) or hasattr(old, "__dataclass_fields__"):
        names = [n for n in type(old).__dataclass_fields__ if n not in _NOT_COMPARED]
        return _same_sources(getattr(old, "sources", ()), getattr(new, "sources", ())) and all(
            _same_pattern(getattr(old, n), getattr(new, n)) for n in names
        )
    if isinstance(old, tuple | list):
        return len(old) == len(cast("tuple[object]", new)) and all(
            map(_same_pattern, old, cast("tuple[object]", new))
        )
    if isinstance(old, dict):
        return list(old) == list(cast("dict[object, object]", new)) and all(
            _same_pattern(v, cast("dict[object, object]", new)[k]) for k, v in old.items()
        )
    return bool(old == new)


def _same_sources(old: Sequence[Source], new: Sequence[Source]) -> bool:
    """True if merged cells may be the same objects, and know as much of them."""
    first, second = [{outline(s.ref): s for s in sources} for sources in (old, new)]
    return first.keys() == second.keys() and all(
        (s.known is STALE) == (second[key].known is STALE) and _same_pattern(s.ref.path, second[key].ref.path)
        for key, s in first.items()
    )


def _finish(
    engine: Engine,
    loop: Loop,
    patterns: dict[Slot, Content],
    owned: dict[int, tuple[int, Content]],
    result: _Pass,
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
    _note_trips(engine, loop, result.body)
    results = iter(op.results)
    ends = {merged: cell for (_, (cell, _)), merged in join.merged.items()}
    after: dict[Slot, Content] = {}
    for slot, pattern in patterns.items():
        content = rebuild(pattern, lambda v: next(results) if isinstance(v, Hole) else v)
        content = _assigned_by(loop, content, end(slot))
        if loop.certain and isinstance(slot, int) and slot in owned:
            source = owned[slot][0]
            if slot in ends and source not in possible(join.b, ends[slot]):
                content = without_source(content, source)
        if loop.certain and isinstance(content, Array) and content.kinds:
            content = _of_one_kind(engine, content, end(slot))
        after[slot] = content
    for slot, content in after.items():
        engine.state.set(slot, content)
    seal(engine.state, patterns)
    error = error_of(engine)
    if keys is not None:
        error = ErrorCell(next(results), dict(zip(keys, results, strict=True)), error.versions)
    engine.state.set(ERROR, error)
    if not result.pure_test:  # what the last, failing test does to the state; it has not raised
        while_running(engine, loop.frame, lambda: _only_test(engine, loop))
    if loop.instruction is not None and loop.trips is not None:
        engine.origins.loops[result.body] = (loop.instruction, loop.trips)


def _only_test(engine: Engine, loop: Loop) -> None:
    """What the test of a loop does to the state, where it does not raise."""
    error = error_of(engine)
    loop.test()
    engine.state.set(ERROR, error)


def _note_trips(engine: Engine, loop: Loop, body: Region) -> None:
    """Notes what is known of how often a finished loop runs."""
    if isinstance(loop.instruction, stage.While):
        engine.origins.whiles[body] = loop.instruction
    elif isinstance(loop.instruction, stage.For) and loop.instruction.until is None:
        if loop.trips is not None:
            engine.origins.exact[body] = loop.trips - loop.peeled
        elif loop.runs is not None:
            engine.origins.lengths[body] = loop.runs


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


def _of_one_kind(engine: Engine, content: Array, end: Content) -> Array:
    """After at least one trip a number has the kind that the end of the body gives it."""
    if not isinstance(end, Array) or end.kinds:
        return content
    value = engine.convert(content.value, end.dtype)
    return replace(end, value=value, lower=None, upper=None)


def _entry(content: Content, path: tuple[View, ...], joined: Content) -> Content:
    """What a carried object holds when the loop begins, and which of the possible objects it is."""
    if isinstance(content, MERGEABLE) and isinstance(joined, MERGEABLE):
        return replace(seen_through(content, path), sources=joined.sources, which=joined.which)
    return content
