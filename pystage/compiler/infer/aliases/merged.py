"""Merged cells: after paths joined, one cell may stand for one of several objects, its sources.

Such a cell remembers what each source held when it was last equal to it, so that it is known to be stale once a
source has changed. `coherent.py` brings it up to date, and stores through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar, cast

from ...values.lattice import ArrayCell, Cell, DictCell, ListCell, ObjectCell, Ref, SetCell, Slot, Source
from ...values.state import Content, State

UNSEALED: Cell = SetCell(frozenset())
"""Stands for the contents of a source until the joined state is complete (see `seal`)."""

RIVAL: Cell = SetCell(frozenset())
"""Stands for the contents of a source that only matters to stores."""

C = TypeVar("C")

Mergeable = ArrayCell | ListCell | DictCell | SetCell | ObjectCell
MERGEABLE = (ArrayCell, ListCell, DictCell, SetCell, ObjectCell)
"""Cells that may stand for one of several objects."""

CONTAINERS = (ListCell, DictCell, ObjectCell)
"""Cells whose children are what they hold, apart from their sources."""

STALE: Cell = SetCell(frozenset())
"""Stands for the contents of a source that has changed since."""


def sources_of(content: Any) -> tuple[Source, ...]:
    """The objects that a cell with these contents may be, with what they held when it was last equal to them."""
    return content.sources if isinstance(content, MERGEABLE) else ()


def alone(content: C) -> C:
    """The contents as those of an object of its own."""
    if isinstance(content, MERGEABLE) and (content.sources or content.which != 0):
        return replace(content, sources=(), which=0)
    return content


def seal(state: State, slots: Iterable[Slot]) -> None:
    """Notes, in the merged cells among `slots`, what the cells they may stand for hold now."""
    for slot in slots:
        content = state.slots.get(slot)
        if isinstance(content, MERGEABLE) and content.sources:
            sources = [s if s.known is STALE else current(state, s) for s in content.sources]
            state.set(slot, replace(content, sources=tuple(sources)))


def current(state: State, source: Source) -> Source:
    """A source with what its cell holds now; rivals have no contents."""
    if source.known is RIVAL:
        return source
    return Source(source.ref, cast(Cell, state.slots.get(source.cell, source.known)))


SOURCES_PER_STEP = 16
"""To look at so many sources of a merged cell counts as one step of inference."""

NO_CELL = -1
"""Takes the place of a source that a merged cell certainly is not."""


def is_stale(state: State, source: Source) -> bool:
    """True if a source of a merged cell has changed since the paths joined."""
    now, content = state.slots.get(source.cell), source.known
    if content is STALE or now is None or now is content or content is RIVAL:
        return content is STALE
    if isinstance(now, ArrayCell) and isinstance(content, ArrayCell):
        return now.value is not content.value
    return True


def note_stale(state: State, slots: Iterable[Slot]) -> None:
    """Marks the sources that have changed, before their contents are forgotten."""
    for slot in slots:
        content = state.slots.get(slot)
        if isinstance(content, MERGEABLE) and content.sources:
            state.step(len(content.sources) // SOURCES_PER_STEP)
            stale = [s.known is not STALE and is_stale(state, s) for s in content.sources]
            if any(stale):
                sources = [Source(s.ref, STALE) if old else s for s, old in zip(content.sources, stale)]
                state.set(slot, replace(content, sources=tuple(sources)))


def without_source(content: Content, cell: int) -> Content:
    """The contents of a merged cell that certainly is not `cell` any more."""
    if isinstance(content, MERGEABLE):
        sources = [s if s.cell != cell else Source(Ref(NO_CELL), RIVAL) for s in content.sources]
        return replace(content, sources=tuple(sources))
    return content


# ---------------------------------------------------------------- which objects are two

Find = Callable[[Any], Any]
"""The contents of a cell; what is no cell where there are none."""


def possible(find: Find, number: int) -> set[int]:
    """The cells whose object a cell may be."""
    found = {number}
    pending = [number]
    for each in pending:
        for source in sources_of(find(each)):
            if source.cell not in found:
                found.add(source.cell)
                pending.append(source.cell)
    return found


def distinct(state: State, find: Find, a: int, b: int) -> bool:
    """True if two cells are certainly two objects.

    Two that the same paths gave are, if they are two on either path; so are two that one loop keeps apart.
    """
    if a == b:
        return False
    one, other = possible(find, a), possible(find, b)
    if a in other or b in one:
        return False
    if state.kept_apart(a, b):
        return True
    if not one & other and all(c not in state.merged or sources_of(find(c)) for c in (a, b)):
        return True
    first, second = state.pairs.get(a), state.pairs.get(b)
    if first is not None and second is not None and first[0] is second[0]:
        return distinct(state, find, first[1], second[1]) and distinct(state, find, first[2], second[2])
    if first is not None and (second is None or a > b):
        return distinct(state, find, first[1], b) and distinct(state, find, first[2], b)
    if second is not None:
        return distinct(state, find, a, second[1]) and distinct(state, find, a, second[2])
    return False
