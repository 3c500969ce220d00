"""Merged cells: after paths joined, one cell may stand for one of several objects, its sources.

Such a cell remembers what each source held when the paths met. It can be read while no source has changed,
and stored into while no source has another name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from ..values.lattice import ArrayCell, Cell, DictCell, ListCell, ObjectCell, SetCell, Slot
from ..values.state import Content, State

UNSEALED: Cell = SetCell(frozenset())
"""Stands for the contents of a source until the joined state is complete (see `seal`)."""

RIVAL: Cell = SetCell(frozenset())
"""Stands for the contents of a source that only matters to stores."""

_MERGEABLE = (ArrayCell, ListCell, DictCell, SetCell, ObjectCell)

STALE: Cell = SetCell(frozenset())
"""Stands for the contents of a source that has changed since: the merged cell cannot be read."""


def seal(state: State, slots: Iterable[Slot]) -> None:
    """Notes, in the merged cells among `slots`, what the cells they may stand for hold now."""
    for slot in slots:
        content = state.slots.get(slot)
        if isinstance(content, _MERGEABLE) and content.sources:
            sources = tuple(
                [(c, k if k is RIVAL or k is STALE else state.slots.get(c, k)) for c, k in content.sources]
            )
            state.set(slot, replace(content, sources=cast("tuple[tuple[int, Cell], ...]", sources)))


NO_CELL = -1
"""Takes the place of a source that a merged cell certainly is not."""


def is_stale(state: State, source: int, content: Cell) -> bool:
    """True if a source of a merged cell has changed since the paths joined."""
    now = state.slots.get(source)
    if content is STALE or now is None or now is content or content is RIVAL:
        return content is STALE
    if isinstance(now, ArrayCell) and isinstance(content, ArrayCell):
        return now.value is not content.value
    return True


def note_stale(state: State, slots: Iterable[Slot]) -> None:
    """Marks the sources that have changed, before their contents are forgotten."""
    for slot in slots:
        content = state.slots.get(slot)
        if isinstance(content, _MERGEABLE) and content.sources:
            sources = tuple([(c, STALE if is_stale(state, c, k) else k) for c, k in content.sources])
            state.set(slot, replace(content, sources=sources))


def without_source(content: Content, cell: int) -> Content:
    """The contents of a merged cell that certainly is not `cell` any more."""
    if isinstance(content, _MERGEABLE):
        sources = tuple([(c, k) if c != cell else (NO_CELL, RIVAL) for c, k in content.sources])
        return replace(content, sources=sources)
    return content
