"""Instructions of control flow: branches, loops, `return` and `raise`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from ....records import dataclass
from ... import limits
from ...analysis.induction import InductionVariable, Recurrence
from ...diagnostics.codes_constant import NotKnown, TooManyToUnroll
from ...diagnostics.codes_control import HandlerAtRunTime, NeverSettles, NoCommonType, NotIterable
from ...diagnostics.codes_mutation import CannotStore, UncertainAlias
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError, Note
from ...hlo.walk import operation_count
from ...library.containers.deques import is_deque
from ...library.python import operators
from ...library.python.generators import is_suspended
from ...stage import ir as stage
from ...values.boundary import Form
from ...values.lattice import FALSE, NONE, Abstract, Array, Caught, Const, Exc, ObjectCell, Range, Ref, Undef
from ...values.slots import Hidden, Purpose
from ..core.engine import Engine
from ..core.induction_ranges import assume_ranges
from ..diagnostics.describe import describe
from ..diagnostics.provenance import MergeProvenance, unlike_note
from ..exceptions.raising import attempt, raise_from, raise_now
from ..iteration.appending import growing_lists, infer_appending
from ..iteration.fusing import fused_for
from ..iteration.iterators import (
    Step,
    exhaust,
    iterator_of,
    iterators_in,
    known_range,
    leave_open,
    left_open,
    narrowed_iterable,
    object_items,
    steps,
)
from ..iteration.rolled_iterables import Rolled, count_now, count_of_like_items, obstacle, rolled, written_out
from ..objects import initialisation
from ..state.constants import SourceLoop, unroll
from ..state.effort import Exhausted
from ..state.loop import Loop, Taking, counter_of
from ..state.retry import GoOverPlaces, Retry, RetryReason, WriteOut, commit_unless_retried
from ..state.speculate import speculate
from .branches import infer_if
from .loop_decisions import begin_again_at
from .loops import infer_loop

# ---------------------------------------------------------------- control flow


def if_(e: Engine, i: stage.If) -> None:
    frame = e.current
    condition = e.truth(e.operand(i.cond))
    if isinstance(condition, Const):
        e.run_block(i.then if condition.value else i.orelse)
        return
    predicate = e.predicate(condition)
    provenance = MergeProvenance(frame.function, i, i.then, i.orelse)
    with frame.under([condition]):
        infer_if(
            e, predicate, frame.id, lambda: e.run_block(i.then), lambda: e.run_block(i.orelse), provenance
        )


def while_(e: Engine, i: stage.While) -> None:
    begin_again_at(e, i, functools.partial(_while, e, i))


def _while(e: Engine, i: stage.While) -> None:
    frame = e.current

    def test() -> Abstract:
        e.run_block(i.test)
        return e.operand(i.cond)

    def body() -> None:
        with e.effort.next_pass(i):
            e.run_block(i.body)

    if i not in e.loops.unrolled:
        infer_loop(e, Loop(test, body, frame.id, instruction=i, trips=None))
        return
    for times in range(1, limits.UNROLLED_TRIPS + 1):
        undecided = _undecided(e, test)
        if undecided is not None and not e.can_be_known(undecided):  # from here on only the run time knows
            e.unroll_around(undecided, "whether this loop goes on", i.span)
            infer_loop(e, Loop(test, body, frame.id))
            return
        if not e.known(e.truth(test()), "whether this loop goes on"):
            return
        with e.effort.trip(i, times, e.loops.unrolled[i]):
            e.run_block(i.body)
        if e.errors.found:  # what would end the loop may be what was refused
            raise DiagnosticError(e.errors.found[-1])
    raise DiagnosticError(_too_many(e, i, limits.UNROLLED_TRIPS + 1))


def _too_many(e: Engine, i: stage.Instr, trips: int) -> TooManyToUnroll:
    return TooManyToUnroll(
        span=i.span, notes=(e.loops.unrolled[i],), trips=trips, limit=limits.UNROLLED_TRIPS
    )


def _undecided(e: Engine, test: Callable[[], Abstract]) -> Abstract | None:
    """The condition of a loop if it is not known now; found by a speculation."""
    found: list[Abstract] = []
    with speculate(e):
        attempt(e, lambda: found.append(e.truth(test())))
    return found[0] if found and not isinstance(found[0], Const) else None


def for_(e: Engine, i: stage.For) -> None:
    begin_again_at(e, i, functools.partial(_go_over, e, i))
    e.state.set((e.current.id, i.iterable), Undef())  # nothing holds what it was any more


def _go_over(e: Engine, i: stage.For) -> None:
    iterable = narrowed_iterable(e, e.get(i.iterable))
    if isinstance(iterable, Ref) and isinstance(e.state.get(iterable.cell), ObjectCell):
        iterable = iterator_of(e, iterable)
    if is_suspended(e, iterable):
        fused_for(e, i, cast(Ref, iterable))
        return
    parts = None if i in e.loops.unrolled else rolled(e, iterable, e.loops.by_place.get(i, False))
    if parts is None or (i.until is None and _is_one_trip(iterable)):
        _unrolled_for(e, i, iterable)
    else:
        ending = leave_open(e, iterable, i.span)
        _rolled_or_written_out(e, i, parts)
        if parts.at_end is not None:
            _after_last_trip(e, i, parts.at_end)
        if i.until is None:
            exhaust(e, ending)


def _is_one_trip(iterable: Abstract) -> bool:
    """True for a known range of one number: it makes no loop of the program."""
    found = known_range(iterable) if isinstance(iterable, Range) else None
    return found is not None and len(found[:2]) == 1


def _after_last_trip(e: Engine, i: stage.For, check: Callable[[bool], None]) -> None:
    """Checks the iterable after a loop, unless a `break` or `return` has left it."""

    def checked() -> Abstract:
        check(True)
        return NONE

    left = FALSE if i.until is None else cast(Abstract, e.state.get((e.current.id, i.until)))
    e.branch(e.negate(left), checked, lambda: NONE)


@dataclass(frozen=True, slots=True)
class _RefusedRolled(RetryReason):
    """In a rolled loop of few trips something was refused that code of its own for each trip may serve."""

    refused: Diagnostic


def _depends_on_trips(refused: Diagnostic) -> bool:
    """True where values have no common type, are not known, or are objects of which the run chooses one.

    How long a list is after a branch depends on its condition, in a trip of its own too.
    """
    if isinstance(refused, NoCommonType) and refused.is_about_length:
        return False
    return isinstance(refused, NoCommonType | NeverSettles | NotKnown | UncertainAlias | CannotStore)


def _rolled_or_written_out(e: Engine, i: stage.For, parts: Rolled) -> None:
    """Infers a rolled loop; one of few trips is written out where something in it has no common type, or is not known."""
    length = parts.length
    if not (isinstance(length, Const) and length.value < limits.REFUSED_TRIPS):
        _rolled_for(e, i, parts)
        return
    with commit_unless_retried(e, _RefusedRolled) as trial:
        refused = len(e.errors.found)
        try:
            _rolled_for(e, i, parts)
        except DiagnosticError as error:
            if _depends_on_trips(error.diagnostic):
                raise Retry(_RefusedRolled(error.diagnostic)) from None
            raise
        found = next(filter(_depends_on_trips, e.errors.found[refused:]), None)
        if found is not None:
            raise Retry(_RefusedRolled(found))
    if trial.retried is not None:
        unroll(
            SourceLoop(i, length.value, length, False),
            unlike_note(cast(_RefusedRolled, trial.retried).refused),
        )


def _rolled_for(e: Engine, i: stage.For, parts: Rolled) -> None:
    frame = e.current
    length = e.decided(parts.length, "the number of trips of this loop")
    trips = length.value if isinstance(length, Const) else None
    if trips == 0:
        return
    known = trips is not None or parts.length_now is None
    most = e.range_of(cast(Array | Const, length))[1] if known else math.inf
    counted = InductionVariable((0, 0), Recurrence(1, 1, 1, 1), None if math.isinf(most) else int(most))
    counter = counter_of(frame.id, i)
    outer = e.state.slots.get(counter)
    e.state.set(counter, Const(0))

    def test() -> Abstract:
        position = cast(Abstract, e.state.get(counter))
        now = length if parts.length_now is None else parts.length_now()
        if trips is not None and not (isinstance(now, Const) and now.value == trips):
            text = "its body makes longer or shorter what it iterates over"
            raise Retry(WriteOut(i, Note(text, i.span, text)))
        more = operators.compare(e, "<", position, now)
        if i.until is None:
            return more
        flag = cast(Abstract, e.state.get((frame.id, i.until)))
        if isinstance(flag, Const):
            return FALSE if flag.value else more
        if isinstance(more, Const):
            return e.negate(flag) if more.value else FALSE
        return operators.binary(e, "&", more, e.negate(flag))

    def trip(position: Abstract) -> None:
        around, e.loops.taking = e.loops.taking, Taking(i)
        try:
            element = parts.element(position)
        finally:
            e.loops.taking = around
        e.put(i.target, element)
        e.run_block(i.body)
        e.state.set(counter, operators.binary(e, "+", position, Const(1)))

    growing = growing_lists(e, frame, i, trips)
    if growing:
        with speculate(e):
            attempt(e, lambda: trip(Const(0)))
            growing = [each for each in growing if each.has_arrays()]

    def body() -> None:
        position = cast(Abstract, e.state.get(counter))
        if isinstance(position, Array):
            position = Array(position.value, Form.PYTHON, range=counted.during)
            assume_ranges(e, position)
        for each in growing:
            each.begin_trip()
        with e.effort.next_pass(i):
            trip(position)
        for each in growing:
            each.end_trip(position)

    if growing:
        trip(Const(0))
    expected = None if e.loops.active or i.until is not None else e.expected(length)
    loop = Loop(test, body, frame.id, i, trips, expected, bool(trips), peeled=bool(growing), runs=length)
    draws = e.effects.draws
    infer_appending(e, growing, lambda: infer_loop(e, loop))
    if trips is None and i.until is None and e.effects.draws > draws:
        _demand_trips(e, length)
    e.state.set(counter, cast(Abstract, outer) if outer is not None else Undef())


def _demand_trips(e: Engine, length: Abstract) -> None:
    """Demands the number of trips of a loop that draws, which the host needs to draw before the program runs.

    It is demanded of any such loop in the end (`calls/hoist.py`), but of one that may not run it is not certain yet.
    """
    may_not_run = e.loops.active or e.raises.bodies or any(frame.undecided for frame in e.open_frames())
    if isinstance(length, Array) and not may_not_run and e.can_be_known(length):
        e.known(length, "the number of trips of a loop that draws")


def _unrolled_for(e: Engine, i: stage.For, iterable: Abstract) -> None:
    frame = e.current

    taken: list[int] = []
    refused = len(e.errors.found)

    why = e.loops.unrolled.get(i)
    if why is None:
        what = describe(written_out(e, iterable), e.state)
        why = Note(f"each element of {what} needs a trip of its own")

    many = 0 if i in e.loops.by_place else _count_to_roll(e, i, iterable)
    count = count_now(e, iterable) if i.until is None else None

    def trip(item: Step) -> None:
        before, region = e.effort.steps, e.b.open[-1][0]
        made = len(region.ops)
        with e.effort.trip(i, len(taken) + 1, why), _at_most(e, i, len(taken), many):
            e.b.span = i.span
            e.put(i.target, item())
            e.run_block(i.body)
        taken.append(e.effort.steps - before)
        if count is not None:
            e.effort.foresee(taken, count - len(taken))
        if len(taken) == 2 and operation_count(region.ops[made:]) * many > limits.WRITTEN_OUT_OPERATIONS:
            raise Retry(GoOverPlaces(i))
        if len(taken) > 1 and len(e.errors.found) > refused:  # further trips would meet it again
            raise DiagnosticError(e.errors.found[-1])

    def broken() -> Abstract:
        return FALSE if i.until is None else cast(Abstract, e.state.get((frame.id, i.until)))

    items = _items(e, i, iterable)
    shared = iterators_in(e, iterable)
    ends_early = False
    while True:
        flag = broken()
        if isinstance(flag, Const) and flag.value:
            break
        if not isinstance(flag, Const) and items.by_steps:
            raise DiagnosticError(NotIterable(span=i.span, what=f"{items.what}: a `break` depends on values"))
        e.b.span = i.span
        item = next(items.rest, None)
        if item is None:
            break
        if isinstance(flag, Const):
            trip(item)
        else:
            ends_early = True
            going = e.predicate(e.negate(flag))
            provenance = MergeProvenance(frame.function, i, i.body, None)
            infer_if(e, going, frame.id, functools.partial(trip, item), lambda: None, provenance)
    if ends_early:
        for cell in shared:  # what is left of them depends on the trip at which it ended
            e.state.set(cell, left_open(i.span))


@contextmanager
def _at_most(e: Engine, i: stage.For, taken: int, many: int) -> Iterator[None]:
    """A `with` block for the trip after `taken` ones, in a loop that goes over places where `many` such are too large."""
    most = (limits.WRITTEN_OUT_STEPS_IN_CALLS, limits.WRITTEN_OUT_STEPS)
    if not many or taken >= len(most):
        yield
        return
    try:
        with e.effort.at_most(most[taken] // many):
            yield
    except Exhausted:
        e.effort.run(0)  # which is raised again where it is the limit of the program
        raise Retry(GoOverPlaces(i)) from None


def _count_to_roll(e: Engine, i: stage.For, iterable: Abstract) -> int:
    """The trip count of a loop that may be rolled over the positions of a list or tuple, or over the integers that index it,
    although unrolling has begun. 0 for other loops.
    """
    if i not in e.loops.unrolled:
        return count_of_like_items(e, iterable)
    counted = known_range(iterable) if isinstance(iterable, Range) else None
    return 0 if counted is None else len(counted)


@dataclass(frozen=True, slots=True)
class _UnrolledItems:
    """The elements of an unrolled loop. `by_steps`: the program itself finds each element when it is needed."""

    rest: Iterator[Step]
    what: str
    by_steps: bool = False


def _items(e: Engine, i: stage.For, iterable: Abstract) -> _UnrolledItems:
    what = describe(iterable, e.state)
    cell = e.state.get(iterable.cell) if isinstance(iterable, Ref) else None
    if isinstance(cell, ObjectCell) and not is_deque(e, iterable):
        items = (functools.partial(_given, item) for item in object_items(e, iterable))
        return _UnrolledItems(items, what, by_steps=True)
    found = steps(e, iterable)
    if found is None:
        return _UnrolledItems(_counted_items(e, i, iterable), what)
    return _UnrolledItems(found, what)


def _counted_items(e: Engine, i: stage.For, iterable: Abstract) -> Iterator[Step]:
    """The elements of a loop whose trip count is demanded."""
    parts = rolled(e, iterable)
    if parts is None:
        raise DiagnosticError(NotIterable(span=i.span, what=describe(obstacle(e, iterable), e.state)))
    trips = e.known(parts.length, "the number of trips of this loop")
    if trips > limits.UNROLLED_TRIPS:
        raise DiagnosticError(_too_many(e, i, trips))
    leave_open(e, iterable, i.span)
    element = parts.element
    return iter([functools.partial(element, Const(k)) for k in range(trips)])


def _given(item: Abstract) -> Abstract:
    return item


def return_(e: Engine, i: stage.Return) -> None:
    frame = e.current
    e.state.set((frame.id, Hidden(Purpose.RESULT)), e.peek(i.value))


# ---------------------------------------------------------------- exceptions


def exception_of(e: Engine, value: Abstract) -> Abstract:
    """The exception that `raise value` raises."""
    if isinstance(value, Const) and isinstance(value.value, type) and issubclass(value.value, BaseException):
        return initialisation.initialised(e, Exc(value.value, ()))
    if isinstance(value, Exc | Caught) or (
        isinstance(value, Const) and isinstance(value.value, BaseException)
    ):
        return value
    cell = e.cell(value) if isinstance(value, Ref) else None
    if isinstance(cell, ObjectCell) and issubclass(cell.cls, BaseException):
        what = "`raise self` in a method of an exception"
        raise DiagnosticError(HandlerAtRunTime(span=e.b.span, what=what))
    e.raise_(TypeError("exceptions must derive from BaseException"))


def raise_(e: Engine, i: stage.Raise) -> None:
    if i.exc is None:
        handled, finals = e.current.handled, e.current.finals
        if finals and finals[-1] == len(handled):
            what = "`raise` without an exception in a `finally`"
            raise DiagnosticError(HandlerAtRunTime(span=i.span, what=what))
        if not handled:  # the caller, or its caller, may be handling one
            what = "`raise` without an exception outside of a handler"
            raise DiagnosticError(HandlerAtRunTime(span=i.span, what=what))
        raise raise_now(e, handled[-1])
    exception = exception_of(e, e.get(i.exc))
    _check_handled(e, exception)
    if i.cause is not None:
        cause = e.get(i.cause)
        if not (isinstance(cause, Const) and cause.value is None):
            cause = exception_of(e, cause)
        if isinstance(exception, Caught):
            raise raise_from(e, exception, cause)
        if isinstance(exception, Exc):
            exception = replace(exception, cause=cause)
    raise raise_now(e, exception)


def _check_handled(e: Engine, exception: Abstract) -> None:
    """PS308 where a handler raises what another one has caught, which would get a new context."""
    handled = e.current.handled
    if not handled or not isinstance(exception, Caught):
        return
    now = handled[-1]
    if isinstance(now, Caught) and now.values[0] is not exception.values[0]:
        what = "`raise` of an exception in the handler of another"
        raise DiagnosticError(HandlerAtRunTime(span=e.b.span, what=what))
