"""The state of an inference: one store of slots (`slots.py`) for variables and heap cells.

Control flow forks the store: a fork journals the old contents of changed slots, so that its end restores them and yields
the changes. The cost of a fork is proportional to the changes, not to the state. A speculation
(`infer/state/speculate.py`) uses the same journal.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from .. import limits
from ..speculation import Declarations, Fixed, Grows, Journaled
from .gated import GatedNumber, Phi
from .lattice import (
    Abstract,
    Array,
    ArrayCell,
    Cell,
    Const,
    ErrorCell,
    OutputCell,
    PoolCell,
    Undef,
)
from .slots import Slot, is_temporary
from .views import View
from .walk import cells_of, nodes, paths_to

Content = Abstract | Cell

Lookup = Callable[[Slot], Content]
"""The contents of a slot in some state; MISSING if it does not exist there."""


MISSING: Any = object()

NOT_YET = Undef()
"""The contents of a module's variable that the program has not assigned yet."""

ERROR = 0
"""The cell that says whether the program has raised."""

OUTPUT = -2
"""The cell that orders what the program prints."""


class OrderSensitivity(enum.Flag):
    """A fact that depends on row-major order of an array: a view was made, which is a copy otherwise."""

    IF_STORED = enum.auto()
    """Once the array is stored into."""
    IF_ANY_STORED = enum.auto()
    """Once any array is: a copy was made, which may be a view else."""
    IF_SEEN = enum.auto()
    """Once the caller gets the array, or it is compared by identity: it was given back as it is, which is a copy else."""
    ALWAYS = enum.auto()
    """The order of the elements is observed."""


def new_pool(state: State) -> int:
    """An empty pool, which exists from the beginning of the program."""
    number = state.cell_number()
    state.define(number, PoolCell())
    return number


class Changes(dict[Slot, Content]):
    """The changes of a fork: the contents of each changed slot at its end."""


WITHOUT_CELLS = frozenset([Array, ArrayCell, Const, GatedNumber])
"""Classes that refer to no cell: most contents of variables and cells."""


class Fork:
    """A fork of a store, given by `State.fork`."""

    __slots__ = ("_changes", "_journal", "_journals", "_slots")

    def __init__(self, slots: dict[Slot, Content], journals: list[dict[Slot, Any]]) -> None:
        self._slots = slots
        self._journals = journals
        self._journal: dict[Slot, Any] = {}
        self._changes = Changes()

    def __enter__(self) -> Changes:
        self._journals.append(self._journal)
        return self._changes

    def __exit__(self, *exception: object) -> None:
        assert self._journals.pop() is self._journal
        slots, changes = self._slots, self._changes
        for slot, old in self._journal.items():
            if old is MISSING:
                new = slots.pop(slot, MISSING)
                if new is not MISSING:
                    changes[slot] = new
                continue
            new = slots.get(slot, MISSING)
            if new is not MISSING and (new is not old or is_temporary(slot)):
                changes[slot] = new
            slots[slot] = old


class State:
    """The store of slots and their contents, with forks."""

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "slots": Journaled(),
            "journals": Journaled(),
            "speculations": Journaled(),
            "step": Fixed(),
            "apart": Grows("each loop, and each time that it begins again, has a group of its own"),
            "may_alias": Grows(
                "what may be one object in any pass may be one: the passes after it reckon with that"
            ),
            "pairs": Grows("it is about merged cells, whose numbers are not used again"),
            "merged": Grows("where to look for merged cells; what a slot holds says whether it is one"),
            "laid_out": Grows("a summary that stays may rely on it; at worst a guard or a copy too many"),
            "row_major": Grows("it is about new cells, whose numbers are not used again"),
            "rearranged": Grows("it is about new cells, whose numbers are not used again"),
            "doubtful": Grows("it is about new cells; a copy of one that is taken back relies on nothing"),
            "stores": Grows("a summary that stays may store; at worst a guard too many"),
            "stored": Grows("a summary that stays may store; at worst a guard too many"),
            "gated": Grows("at worst instructions are speculated on without need"),
            "next_cell": Grows("summaries that stay refer to cells by number"),
            "_next_frame": Grows("a number is never used again"),
        }
    )

    def __init__(self) -> None:
        self.slots: dict[Slot, Content] = {ERROR: ErrorCell(), OUTPUT: OutputCell()}
        self.journals: list[dict[Slot, Any]] = []
        """The old contents of what the open forks and speculations have changed, innermost last."""
        self.step: Callable[..., None] = lambda steps=1: None
        """Called at each step of a join, or for several."""
        self.speculations = 0
        """The number of open speculations."""
        self.apart: dict[int, object] = {}
        """Merged cells that one loop carries, by loop."""
        self.may_alias: set[frozenset[int]] = set()
        """Pairs of cells that one loop carries and that may be one object."""
        self.pairs: dict[int, tuple[object, int, int]] = {}
        """Of merged cells: the join (equal for all of that join), and the cell of each path."""
        self.merged: dict[int, bool] = {}
        """Cells that stand for one of several objects since a join, and whether that is in a trip of a loop."""
        self.laid_out: dict[int, OrderSensitivity] = {}
        """Arrays that the program assumes to be in row-major order, and when that matters."""
        self.row_major: set[int] = set()
        """New arrays that are certainly in row-major order, whatever they were made of."""
        self.rearranged: set[int] = set()
        """New arrays that NumPy stores in the order of an array that is not in row-major order."""
        self.doubtful: dict[int, list[int]] = {}
        """New arrays of which it was taken that they lie in row-major order, where NumPy may have kept another.

        With the copies that may share their memory therefore, and the other way round.
        """
        self.stores = False
        """True once the program stores into an array."""
        self.stored: set[int] = set()
        """The cells of arrays that the program stores into, or would where they were writable."""
        self.gated = False
        """True once a value has alternatives that instructions may be split over."""
        self.next_cell = 0
        """The number of allocated cells."""
        self._next_frame = 0

    # -- slots

    def get(self, slot: Slot) -> Any:
        """The contents of a slot; KeyError if there are none."""
        return self.slots[slot]

    def set(self, slot: Slot, content: Content) -> None:
        """Replaces the contents of a slot."""
        slots = self.slots
        if self.journals:
            self.journals[-1].setdefault(slot, slots.get(slot, MISSING))
        slots[slot] = content

    def forget(self, slot: Slot) -> None:
        """Removes a slot."""
        if self.journals:
            self.journals[-1].setdefault(slot, self.slots.get(slot, MISSING))
        del self.slots[slot]

    def define(self, slot: Slot, content: Content) -> None:
        """Defines the contents of a slot from the beginning of the program: no fork removes them."""
        self.slots[slot] = content

    def new_frame(self) -> int:
        """The number of a new frame."""
        self._next_frame += 1
        return self._next_frame

    def cell_number(self) -> int:
        """The number of a heap cell to be allocated."""
        self.next_cell += 1
        return self.next_cell

    def new_cell(self, content: Cell) -> int:
        """Allocates a heap cell."""
        cell = self.cell_number()
        self.set(cell, content)
        return cell

    def merged_cells(self) -> list[int]:
        """The present merged cells, oldest first; finding them counts as a part of a step."""
        merged, slots = self.merged, self.slots
        self.step(min(len(merged), len(slots)) // limits.MERGED_CELLS_PER_STEP)
        if len(merged) <= len(slots):
            return [cell for cell in merged if cell in slots]
        return sorted([slot for slot in slots if slot in merged])

    # -- forks

    @property
    def depth(self) -> int:
        """The number of open forks."""
        return len(self.journals) - self.speculations

    def fork(self) -> Fork:
        """Runs the `with` block on a fork; afterwards the store is as before and `Changes` holds the ends."""
        return Fork(self.slots, self.journals)

    def is_new(self, slot: Slot) -> bool:
        """True if a slot exists in the innermost fork only."""
        return bool(self.journals) and self.journals[-1].get(slot) is MISSING

    def has_new_cells(self) -> bool:
        """True if a cell exists in the innermost fork only."""
        new = self.journals[-1] if self.journals else {}
        return any(before is MISSING and type(slot) is int for slot, before in new.items())

    # -- speculations

    def begin(self) -> dict[Slot, Any]:
        """Begins a speculation: the store records its changes in the journal that this gives."""
        journal: dict[Slot, Any] = {}
        self.journals.append(journal)
        self.speculations += 1
        return journal

    def commit(self, journal: dict[Slot, Any]) -> None:
        """Applies the changes since `begin` to the fork, or the speculation, around."""
        self._end(journal)
        if self.journals:
            outer = self.journals[-1]
            for slot, old in journal.items():
                outer.setdefault(slot, old)

    def roll_back(self, journal: dict[Slot, Any]) -> None:
        """Restores the store."""
        self._end(journal)
        for slot, old in journal.items():
            if old is MISSING:
                self.slots.pop(slot, None)
            else:
                self.slots[slot] = old

    def _end(self, journal: dict[Slot, Any]) -> None:
        innermost = self.journals.pop()
        assert innermost is journal
        self.speculations -= 1

    def changed(self) -> list[Slot]:
        """The slots that existed before the innermost fork or speculation and that it changed."""
        journal = self.journals[-1] if self.journals else {}
        return [s for s, old in journal.items() if old is not MISSING and self.slots.get(s) is not old]

    def origins(self) -> dict[Slot, Content]:
        """The contents of the slots of `changed` before."""
        journal = self.journals[-1] if self.journals else {}
        return {slot: journal[slot] for slot in self.changed()}

    def rely_on_layout(self, cells: Iterable[int], when: OrderSensitivity) -> None:
        """Records that these arrays are assumed to be in row-major order."""
        for cell in cells:
            self.laid_out[cell] = when | self.laid_out.get(cell, when)

    def note_alternatives(self, template: Abstract | Cell) -> None:
        """Records whether elements of this template may have alternatives."""
        self.gated = self.gated or any(isinstance(node, Phi) for node in nodes(template))

    # -- reachability

    def reachable(self, roots: Iterable[Abstract | Cell]) -> dict[int, None]:
        """The cells that `roots` reach, in the order of a breadth-first walk."""
        found: dict[int, None] = {}
        pending: list[Abstract | Cell] = list(roots)
        for content in pending:
            for cell in cells_of(content):
                if cell not in found:
                    found[cell] = None
                    if cell in self.slots:
                        pending.append(self.slots[cell])
        return found

    def are_no_alias(self, a: Slot, b: int) -> bool:
        """True for two cells that one loop carries and that are two objects in every trip."""
        group = self.apart.get(b)
        if group is None or not isinstance(a, int) or self.apart.get(a) is not group:
            return False
        return frozenset((a, b)) not in self.may_alias

    def paths_to(self, cell: int) -> list[tuple[View, ...]]:
        """The paths by which variables and cells refer to an array; temporaries do not count."""
        named = [content for slot, content in self.slots.items() if not is_temporary(slot)]
        return [path for content in named for path in paths_to(content, cell)]


class References:
    """The references from variables and cells to cells, in a fixed state; temporaries do not count."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._holders: dict[int, list[Slot]] = {}
        self._merged: dict[int, list[Slot]] = {}
        """By a cell, the merged cells that may stand for it."""
        state.step(1 + len(state.slots) // 128)
        for slot, content in state.slots.items():
            if is_temporary(slot):
                continue
            if type(content) not in WITHOUT_CELLS:
                for cell in cells_of(content):
                    self._holders.setdefault(cell, []).append(slot)
            for alias in getattr(content, "aliases", ()):
                self._merged.setdefault(alias.cell, []).append(slot)

    def elsewhere(self, cell: int, by: int) -> bool:
        """True if a variable or a cell other than `by` refers to `cell`.

        A merged cell that may stand for `cell` counts, unless it is one that the loop keeps apart from `by`.
        """
        if any(slot != by for slot in self._holders.get(cell, ())):
            return True
        return any(
            slot != by and not self._state.are_no_alias(slot, by) for slot in self._merged.get(cell, ())
        )
