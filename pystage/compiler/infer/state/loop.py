"""A loop while it is inferred: its source, its passes, and the state of all open loops."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping
from dataclasses import field
from typing import ClassVar, cast

from ....records import dataclass
from ... import limits
from ...diagnostics.diagnostic import Note
from ...hlo.ir import Region
from ...speculation import Balanced, Declarations, Fixed, Grows
from ...stage import ir as stage
from ...values.demand import LoopDecisions
from ...values.identity import Identity
from ...values.lattice import Abstract, ErrorCell
from ...values.slots import Hidden, Purpose, Slot, Variable
from ...values.state import Changes, Content

EntryContents = dict[int, tuple[int, Callable[[], Content]]]
"""By the cell of an object that a loop carries: its cell on entry, and the contents of that then."""


@dataclass(slots=True)
class Loop:
    """A loop as the fixpoint sees it: `test` gives the condition, `body` runs one trip.

    `frame` is the frame whose variables it changes. `instruction` and `trips` are those of a counted
    loop of the source, which could be unrolled; `certain`: it runs at least once; `peeled`: its first trip
    stands before it, because `conflicts` variables had no common type; not `peelable`: as many had none then.
    `optional`: what is None before it may be so in any trip. `runs` is a number of the program that says how often it runs,
    where that is not known; `expected`: how often in the call at hand, of an outermost loop that runs to its end.
    `guessed`: the first pass takes for carried what the source says that the body assigns. `resized`: how often arrays
    were made bounded before it. `undecided`: only the run knows whether it is entered, so that no trip can be unrolled.
    `steps`: how many steps of inference a pass over the body takes. `made` stands for the arrays of computed size that
    trips make. `ranks` orders the objects that it carries, of which later ones may have earlier ones as aliases.
    """

    test: Callable[[], Abstract]
    body: Callable[[], None]
    frame: int
    instruction: stage.Instr | None = None
    trips: int | None = None
    expected: int | None = None
    certain: bool = False
    peeled: bool = False
    conflicts: int = 0
    peelable: bool = True
    optional: bool = False
    runs: Abstract | None = None
    guessed: bool = True
    resized: int = 0
    undecided: bool = False
    steps: int = 0
    made: Identity | None = None
    ranks: dict[int, int] = field(default_factory=dict)

    @property
    def is_short(self) -> bool:
        """True if the loop may be unrolled so that more of it is known."""
        few = self.trips is not None and self.trips < limits.WRITTEN_OUT_TRIPS
        return few and self.steps * cast(int, self.trips) <= limits.WRITTEN_OUT_STEPS


def counter_of(frame: int, loop: stage.Instr) -> Variable:
    """The variable that counts the trips of a rolled `for`."""
    return frame, Hidden(Purpose.COUNTER, id(loop))


@dataclass(slots=True)
class Pass:
    """The outcome of one pass over the body: the regions, the changes, the conditions."""

    cond: Region
    body: Region
    changes: Changes
    condition: Abstract
    pure_test: bool
    first: bool
    test_error: ErrorCell


@dataclass(slots=True, eq=False)
class Active:
    """A loop whose body is being inferred: the guessed carried values, and their values on entry.

    `round` counts how often its passes began; an inner loop begins them again at most `GENERALISE_LIMIT` times.
    """

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "round": Fixed(),
            "guess": Grows("an inner loop generalises it for the next round of passes"),
            "entry": Fixed(),
            "made": Fixed(),
            "instruction": Fixed(),
        }
    )

    round: int
    guess: dict[Slot, Content]
    entry: dict[Slot, Content]
    made: Identity
    instruction: stage.Instr | None


@dataclass(slots=True, eq=False)
class Taking:
    """The loop whose next element is being looked up, and the number of lists from which it takes one (`zip`)."""

    instruction: stage.Instr
    lists: int = 0


@dataclass(slots=True, eq=False)
class Loops:
    """The loops of one program.

    `decisions` say how they are inferred: which are `unrolled`, and why; `by_place`, those over
    many arrays or objects: True where the list is read at computed places, since the loop is too large unrolled,
    False where that was refused; `appending`, those that append what is no row of an array of their own. `alternatives`
    are those that store one of several things into a list: where the program is refused they are unrolled. `active` are
    those whose bodies are being inferred, outermost first; `taking` says of which the next element is being looked up.
    `retyped` are those of which a variable has another type after the first trip than before it. `settled` is what a loop
    carried of cells when it was inferred last, by their numbers and by how its frame reaches them: what each held on
    entry, and its template. Inferred again, in another pass of a loop around it, it begins with these. `refused` are those
    of which something was refused when they were inferred last.
    """

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "decisions": Grows(
                "a loop that was inferred in one way in vain is inferred in another from then on"
            ),
            "alternatives": Grows("a loop is written out in vain, before the program is refused"),
            "active": Balanced(),
            "taking": Balanced(),
            "retyped": Grows(
                "at worst a first trip is inferred by itself, or a loop written out, without need"
            ),
            "settled": Grows("a guess that does not hold costs a pass, or another inference of the loop"),
            "refused": Grows("at worst a loop is inferred once more, or refused with its guess"),
        }
    )

    decisions: LoopDecisions
    alternatives: dict[stage.Instr, Note] = field(default_factory=dict)
    active: list[Active] = field(default_factory=list)
    taking: Taking | None = None
    retyped: set[stage.Instr] = field(default_factory=set)
    settled: dict[stage.Instr | None, dict[Hashable, tuple[Content, Content]]] = field(default_factory=dict)
    refused: set[stage.Instr | None] = field(default_factory=set)

    def has_worked(self, loop: stage.Instr | None) -> bool:
        """True for a loop that was inferred before, and of which nothing was refused then."""
        return loop in self.settled and loop not in self.refused

    def note_refused(self, loop: stage.Instr | None, refused: bool) -> None:
        """Notes whether something was refused of a loop."""
        (self.refused.add if refused else self.refused.discard)(loop)

    @property
    def unrolled(self) -> Mapping[stage.Instr, Note]:
        """The loops that are unrolled, and why."""
        return self.decisions.unrolled

    @property
    def by_place(self) -> Mapping[stage.Instr, bool]:
        """The loops that are rolled over the positions of a list (True), or in which that was refused."""
        return self.decisions.by_place

    @property
    def appending(self) -> Container[stage.Instr]:
        """The loops that append what is no row of an array of their own."""
        return self.decisions.appending

    def take(self) -> tuple[object, Identity] | None:
        """A record of where a rolled loop takes another element of a list in each trip, or None."""
        innermost, taking = self.active[-1] if self.active else None, self.taking
        if innermost is None or taking is None or innermost.instruction is not taking.instruction:
            return None
        taking.lists += 1
        return (taking.instruction.span, taking.lists), innermost.made
