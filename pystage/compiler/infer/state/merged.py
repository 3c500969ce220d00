"""Merged cells: after a join, one cell stands for any member of its may-alias set.

Each alias carries a version stamp, the contents that it had when the merged cell was last equal to it, which tells when it
is out of date. `coherent.py` reconciles such a cell with its aliases, and stores through it. Two cells are no-alias where
they are certainly two objects (`no_alias`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar, cast

from ... import limits
from ...analysis.intervals import Intervals
from ...hlo.ir import Value
from ...values.lattice import (
    Alias,
    ArrayCell,
    Cell,
    DictCell,
    ListCell,
    MemberCell,
    ObjectCell,
    Ref,
    RowsCell,
    SetCell,
    Stamp,
    TableCell,
)
from ...values.slots import Slot
from ...values.state import Content, State

C = TypeVar("C")

Mergeable = ArrayCell | ListCell | RowsCell | DictCell | SetCell | TableCell | ObjectCell
MERGEABLE = (ArrayCell, ListCell, RowsCell, DictCell, SetCell, TableCell, ObjectCell)
"""Cells that may stand for one of several objects."""

CONTAINERS = (ListCell, DictCell, ObjectCell)
"""Cells whose children are their contents, apart from their aliases."""


_HAVE_ALIASES = frozenset(MERGEABLE)


def aliases_of(content: Any) -> tuple[Alias, ...]:
    """The may-alias set of a cell with these contents."""
    return content.aliases if type(content) in _HAVE_ALIASES else ()


def may_be_own(content: Mergeable, intervals: Intervals) -> bool:
    """False if a merged cell with these contents certainly is one of its aliases."""
    selector = content.selector
    return selector == 0 if isinstance(selector, int) else intervals(selector)[0] <= 0


def assume_alias(intervals: Intervals, given: Any, passed: Any) -> None:
    """Assumes of a merged cell, as it enters or leaves a callee, that it is one of its aliases, if it certainly was."""
    if aliases_of(given) and isinstance(passed.selector, Value) and not may_be_own(given, intervals):
        intervals.keep({passed.selector: (1, len(passed.aliases))})


def alone(content: C) -> C:
    """The contents of an object that aliases no other."""
    if isinstance(content, MERGEABLE) and (content.aliases or content.selector != 0):
        return replace(content, aliases=(), selector=0)
    return content


def stamp_versions(state: State, slots: Iterable[Slot]) -> None:
    """Stamps the aliases of the merged cells among `slots` with their present contents."""
    for slot in slots:
        content = state.slots.get(slot)
        if isinstance(content, MERGEABLE) and content.aliases:
            aliases = [s if s.stamp is Stamp.OUT_OF_DATE else stamped(state, s) for s in content.aliases]
            state.set(slot, replace(content, aliases=tuple(aliases)))


def stamped(state: State, alias: Alias) -> Alias:
    """An alias with the present contents of its cell as its stamp; one that is unresolved has no stamp."""
    if alias.stamp is Stamp.UNRESOLVED:
        return alias
    return Alias(alias.ref, cast(Cell, state.slots.get(alias.cell, alias.stamp)))


NO_CELL = -1
"""The number in place of an alias that a merged cell certainly is not."""


def is_out_of_date(state: State, alias: Alias) -> bool:
    """True if an alias of a merged cell has changed since its version stamp."""
    now, content = state.slots.get(alias.cell), alias.stamp
    if content is Stamp.OUT_OF_DATE or now is None or now is content or content is Stamp.UNRESOLVED:
        return content is Stamp.OUT_OF_DATE
    if isinstance(now, ArrayCell) and isinstance(content, ArrayCell):
        return now.value is not content.value
    return True


def note_out_of_date(state: State, slots: Iterable[Slot]) -> None:
    """Marks the aliases that are out of date, before their contents are forgotten."""
    steps, find = 0, state.slots.get
    for slot in slots:
        content = find(slot)
        if known := aliases_of(content):
            steps += len(known) // limits.ALIASES_PER_STEP
            changed = [s for s in known if find(s.ref.cell) is not s.stamp]  # most have not
            if any(s.stamp is not Stamp.OUT_OF_DATE and is_out_of_date(state, s) for s in changed):
                aliases = [Alias(s.ref, Stamp.OUT_OF_DATE) if is_out_of_date(state, s) else s for s in known]
                state.set(slot, replace(cast(Mergeable, content), aliases=tuple(aliases)))
    state.step(steps)


def unresolved_of(content: Any) -> set[int]:
    """The cells that share memory with a cell with these contents on some path, where no selector tells on which."""
    return {s.cell for s in aliases_of(content) if s.stamp is Stamp.UNRESOLVED and s.cell != NO_CELL}


def without_alias(content: Content, cell: int) -> Content:
    """The contents of a merged cell that certainly is not `cell` any more."""
    if isinstance(content, MERGEABLE):
        aliases = [s if s.cell != cell else Alias(Ref(NO_CELL), Stamp.UNRESOLVED) for s in content.aliases]
        return replace(content, aliases=tuple(aliases))
    return content


# ---------------------------------------------------------------- which objects are two

Find = Callable[[Any], Any]
"""The contents of a cell; what is no cell where there are none."""
NONE_KNOWN: Mapping[int, set[int]] = MappingProxyType({})


def may_alias_cells(find: Find, number: int) -> set[int]:
    """The cells whose object a cell may be."""
    found = {number}
    pending = [number]
    for each in pending:
        for alias in aliases_of(find(each)):
            cell = alias.ref.cell
            if cell not in found:
                found.add(cell)
                pending.append(cell)
    return found


class AliasPairs:
    """The pairs of cells that are no-alias in a fixed state; each may-alias set and each pair is computed once.

    `known`: the may-alias sets of some. The pairs that joins have merged are as many as all of their sides' pairs, so that
    they count as steps.
    """

    def __init__(self, state: State, find: Find, known: Mapping[int, set[int]] = NONE_KNOWN) -> None:
        self._state = state
        self._find = find
        self._known = dict(known)
        self._found: dict[tuple[int, int], bool] = {}

    def no_alias(self, a: int, b: int) -> bool:
        """True if two cells are no-alias: certainly two objects.

        Two that one join has merged are, if they are no-alias on either path; so are two that one loop carries apart.
        """
        pair = (a, b) if a < b else (b, a)
        found = self._found.get(pair)
        if found is None:
            self._state.step(not len(self._found) % limits.ALIAS_PAIRS_PER_STEP)
            found = self._found[pair] = self._no_alias(a, b)
        return found

    def _no_alias(self, a: int, b: int) -> bool:
        state, find = self._state, self._find
        if a == b or any(isinstance(find(each), MemberCell) for each in (a, b)):
            return False
        one, other = self._may_alias(a), self._may_alias(b)
        if a in other or b in one:
            return False
        if state.are_no_alias(a, b):
            return True
        if one.isdisjoint(other) and all(_is_told_by_aliases(state, find, each) for each in (a, b)):
            return True
        first, second = state.pairs.get(a), state.pairs.get(b)
        if first is not None and second is not None and first[0] is second[0]:
            pairs: tuple[tuple[int, int], ...] = ((first[1], second[1]), (first[2], second[2]))
        elif first is not None and (second is None or a > b):
            pairs = ((first[1], b), (first[2], b))
        elif second is not None:
            pairs = ((a, second[1]), (a, second[2]))
        else:
            return False
        return all(self.no_alias(*each) for each in pairs)

    def _may_alias(self, cell: int) -> set[int]:
        found = self._known.get(cell)
        if found is None:
            found = self._known[cell] = may_alias_cells(self._find, cell)
        return found


def no_alias(state: State, find: Find, a: int, b: int) -> bool:
    """True if two cells are no-alias: certainly two objects (`AliasPairs`)."""
    return AliasPairs(state, find).no_alias(a, b)


def _is_told_by_aliases(state: State, find: Find, number: int) -> bool:
    """True for a cell that may be itself and its aliases only."""
    return number not in state.merged or bool(aliases_of(find(number)))


class AliasIndex:
    """The cells among several that may be one object, in a fixed state; each may-alias set is computed once."""

    def __init__(self, state: State, cells: Iterable[int]) -> None:
        find = state.slots.get
        self._known = {each: may_alias_cells(find, each) for each in cells}
        self._pairs = AliasPairs(state, find, self._known)
        self._names: dict[int, list[int]] = {}
        """By a cell, those that may be it."""
        for each, found in self._known.items():
            for cell in found:
                self._names.setdefault(cell, []).append(each)
        self._doubtful = {
            c
            for c in self._known
            if isinstance(find(c), MemberCell) or not _is_told_by_aliases(state, find, c)
        }

    def may_alias(self, cell: int) -> set[int]:
        """The cells, `cell` among them, that may be the object of `cell`."""
        suspects: Iterable[int] = self._known
        if cell not in self._doubtful:
            suspects = {*self._doubtful, *itertools.chain(*[self._names[each] for each in self._known[cell]])}
        return {c for c in suspects if not self._pairs.no_alias(cell, c)}
