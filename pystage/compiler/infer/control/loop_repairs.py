"""Repairs of loops: what is done where what a loop carries has no common type on entry and after a trip.

After each pass over the body that has changed a template, the repairs are asked in order. The first that applies says what
makes the program in place of further passes; where none does, the next pass begins with wider templates.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn, cast

from ....records import dataclass
from ... import limits
from ...diagnostics.codes_control import NeverSettles
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError
from ...hlo.walk import operation_count
from ...stage import ir as stage
from ...values.lattice import Abstract, Array, Const, Ref
from ...values.slots import Slot
from ...values.state import Content
from ..core.engine import Engine
from ..diagnostics.provenance import name_of, unlike_note
from ..state.constants import SourceLoop, unroll, unrollable
from ..state.loop import Active, Loop, Pass
from ..state.retry import Retry, RetryReason, commit_unless_retried
from ..state.structural_equality import same_template
from .branches import infer_if, lookup
from .join import Join, LoopHead, Merge
from .loop_exits import source_of
from .resizing import Resizing, can_bound, make_bounded, resizings

Infer = Callable[[Engine, Loop], None]
"""What infers a loop."""
Make = Callable[[], None]
"""What makes the program of a loop, and the state what it is after it."""


@dataclass(frozen=True, slots=True)
class Generalised(RetryReason):
    """An inner loop found that a variable which `loop` carries has another type: its passes begin again."""

    loop: Active


@dataclass(frozen=True, slots=True)
class _PeeledInVain(RetryReason):
    """The trips after the first one leave as many variables without a common type as the first one does."""


@dataclass(frozen=True, slots=True)
class _RefusedWhole(RetryReason):
    """In a loop that was not peeled something was refused."""


@dataclass(frozen=True, slots=True)
class _RefusedOfBounded(RetryReason):
    """In a loop whose arrays were made bounded something was refused."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A pass over a loop's body whose templates are not those that it began with.

    `settled` are the templates that cover the entry and the end of a trip, `before` is what slots hold on entry, `carried`
    says how many objects were carried after each pass. `infer` infers a loop.
    """

    engine: Engine
    loop: Loop
    infer: Infer
    settled: dict[Slot, Content]
    join: Join
    result: Pass
    before: dict[Slot, Content]
    carried: tuple[int, ...]

    @property
    def reason(self) -> Diagnostic | None:
        """Why the first of the variables without a common type has none; None if all have one."""
        conflicts = self.join.conflicts.found
        return conflicts[0].reason if conflicts else None


Repair = Callable[[Unsettled], Make | None]

# ---------------------------------------------------------------- the repairs, in order


def give_up_deeper(unsettled: Unsettled) -> Make | None:
    """A structure that gets deeper in each trip: the loop is written out if that is possible; else it is PS305."""
    if _gets_deeper(unsettled.carried):
        _refuse_deeper(unsettled.engine, unsettled.loop, unsettled.settled)
    return None


def generalise_outer(unsettled: Unsettled) -> Make | None:
    """Loops around that guessed another type of a variable begin their passes again with a wider one.

    So one pass of each is thrown away, where each would find it by a pass of its own for every pass of the loops around it.
    """
    engine = unsettled.engine
    for outer in engine.loops.active[:-1]:
        if outer.round >= limits.GENERALISED_ROUNDS:
            continue
        found = False
        for slot, guess in outer.guess.items():
            end = unsettled.result.changes.get(slot)
            if not isinstance(guess, Array) or not isinstance(end, Array) or slot not in unsettled.settled:
                continue
            join = Join(engine.state, Merge(span=engine.b.span, loop=LoopHead()))
            wide = join.join(cast(Abstract, outer.entry[slot]), end)
            if isinstance(wide, Array) and not same_template(guess, wide):
                outer.guess[slot] = wide
                found = True
        if found:
            raise Retry(Generalised(outer))
    return None


def bound_arrays(unsettled: Unsettled) -> Make | None:
    """Arrays that trips make longer or shorter are made bounded before the loop; the first trip is peeled if some cannot."""
    if unsettled.reason is None or unsettled.loop.resized >= limits.RESIZED_ROUNDS:
        return None
    resized = resizings(
        unsettled.before, lookup(unsettled.result.changes, unsettled.before), list(unsettled.join.entries)
    )
    possible = [each for each in resized if can_bound(unsettled.engine, unsettled.loop, each)]
    if can_peel(unsettled.loop) and len(possible) < len(resized):
        return functools.partial(peel, unsettled.engine, unsettled.loop, unsettled.infer)
    return functools.partial(_with_capacity, unsettled, possible, unsettled.reason) if possible else None


def write_out_growing(unsettled: Unsettled) -> Make | None:
    """Where something gets longer in each trip, or differs after the first one, the loop is written out if it can be."""
    if unsettled.reason is not None and (unsettled.join.grows or unsettled.loop.peeled):
        _write_out(unsettled.engine, unsettled.loop, unsettled.reason)
    return None


def peel_first_trip(unsettled: Unsettled) -> Make | None:
    """The first trip runs before the loop, the rest of which then begins with settled types."""
    if unsettled.reason is None or unsettled.join.grows or not can_peel(unsettled.loop):
        return None
    loop = replace(unsettled.loop, conflicts=len(unsettled.join.conflicts.found))
    large = operation_count(unsettled.result.body.ops) > limits.PEELED_OPERATIONS
    return functools.partial(_whole_or_peeled if large else peel, unsettled.engine, loop, unsettled.infer)


def take_back_peeling(unsettled: Unsettled) -> Make | None:
    """A loop that was peeled stays whole where as many variables have no common type in the rest."""
    if 0 < unsettled.loop.conflicts <= len(unsettled.join.conflicts.found) and unsettled.loop.peeled:
        raise Retry(_PeeledInVain())
    return None


REPAIRS: tuple[Repair, ...] = (
    give_up_deeper,
    generalise_outer,
    bound_arrays,
    write_out_growing,
    peel_first_trip,
    take_back_peeling,
)

# ---------------------------------------------------------------- writing out


def is_counted(loop: Loop) -> bool:
    """True if the loop could be written out trip by trip, as it is known now."""
    if loop.instruction is None:
        return False
    if isinstance(loop.instruction, stage.While):
        return loop.certain
    return loop.trips is not None and loop.trips <= limits.UNROLLED_TRIPS


def _write_out(engine: Engine, loop: Loop, reason: Diagnostic) -> None:
    """Begins again where the loop can be written out trip by trip, or one around it that decides its trip count.

    `reason`: what is another thing after a trip.
    """
    first = _unrollable(engine, loop)
    if first is not None and (first.trips or 0) <= limits.UNROLLED_TRIPS:
        unroll(first, unlike_note(reason))


def _unrollable(engine: Engine, loop: Loop) -> SourceLoop | None:
    """The loop that can be written out trip by trip, this one or one around it that decides its trip count."""
    source = source_of(loop)
    if source is None or (not isinstance(loop.instruction, stage.For) and not is_counted(loop)):
        return None
    return unrollable(engine.origins, source)


def _gets_deeper(carried: Sequence[int]) -> bool:
    """True if a loop carries more objects after each pass, and each time more new ones than before.

    So it is where it builds a structure whose depth the trips decide, as a tree, and no number of passes settles that.
    """
    new = [b - a for a, b in itertools.pairwise(carried[-limits.DEEPER_PASSES - 1 :])]
    return len(new) == limits.DEEPER_PASSES and new[0] > 0 and all(a < b for a, b in itertools.pairwise(new))


def _refuse_deeper(engine: Engine, loop: Loop, settled: Mapping[Slot, Content]) -> NoReturn:
    """Writes the loop out trip by trip if that is possible; else PS305."""
    holders = [s for s, content in settled.items() if isinstance(s, tuple) and isinstance(content, Ref)]
    reason = NeverSettles(
        span=engine.b.span,
        what=name_of(engine.state.slots, holders[0]) if holders else "what the loop keeps",
        first="a structure of objects",
        second="a deeper one",
    )
    _write_out(engine, loop, reason)
    raise DiagnosticError(reason)


# ---------------------------------------------------------------- peeling, bounding


def can_peel(loop: Loop) -> bool:
    return not loop.peeled and loop.peelable


def peel(engine: Engine, loop: Loop, infer: Infer) -> None:
    """Runs the first trip before the loop; the rest of it then begins with settled types.

    Where as many variables have no common type in the rest, the loop stays whole.
    """

    def rest() -> None:
        loop.body()
        infer(engine, replace(loop, certain=False, peeled=True))

    with commit_unless_retried(engine, _PeeledInVain) as trial:
        condition = engine.truth(loop.test())
        if not isinstance(condition, Const):
            infer_if(engine, cast(Array, condition).value, loop.frame, rest, lambda: None)
        elif condition.value:
            rest()
    if trial.retried is not None:
        infer(engine, replace(loop, peelable=False))


def _whole_or_peeled(engine: Engine, loop: Loop, infer: Infer) -> None:
    """A loop of a large body stays whole, where what is None before the first trip may be so in all; else it is peeled.

    XLA would compile the body twice.
    """
    with commit_unless_retried(engine, _RefusedWhole) as trial:
        try:
            infer(engine, replace(loop, peelable=False, optional=True))
        except (DiagnosticError, Retry):
            raise Retry(_RefusedWhole()) from None
        if trial.refused:
            raise Retry(_RefusedWhole())
    if trial.retried is not None:
        peel(engine, loop, infer)


def _with_capacity(unsettled: Unsettled, found: Sequence[Resizing], reason: Diagnostic) -> None:
    """Infers a loop with arrays that it makes longer or shorter bounded before it.

    One of few trips in which something is refused of bounded arrays is written out in place of that.
    """
    engine, loop = unsettled.engine, unsettled.loop
    first = _unrollable(engine, loop)
    few = first is not None and (first.trips or 0) < limits.REFUSED_TRIPS
    with commit_unless_retried(engine, _RefusedOfBounded) as trial:
        make_bounded(engine, loop, list(found))
        try:
            unsettled.infer(engine, replace(loop, resized=loop.resized + 1))
        except DiagnosticError:
            if few:
                raise Retry(_RefusedOfBounded()) from None
            raise
        if few and trial.refused:
            raise Retry(_RefusedOfBounded())
    if trial.retried is not None:
        unroll(cast(SourceLoop, first), unlike_note(reason))
