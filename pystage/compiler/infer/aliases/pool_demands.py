"""Demands of a join: the objects that must become members of one pool before the sides can be joined.

In: contents of the two sides that have no common template as long as an object is a member of a pool on one side only, or
of different pools. Out: demands; the join is repeated once they are satisfied on their side (`branches.satisfied`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, cast

from ....records import dataclass
from ...values.lattice import (
    Abstract,
    AnyList,
    AnyTable,
    ArrayCell,
    DictCell,
    Items,
    ListCell,
    MemberCell,
    ObjectCell,
    PoolCell,
    Pooled,
    Ref,
    RowsCell,
    TableCell,
    Tuple,
)
from ...values.node import TreeNode
from ...values.slots import Slot
from ...values.state import Content, Lookup, State, new_pool
from ...values.vector import Vector
from ...values.walk import cells_of, children, head
from ..state.loop import EntryContents

POOLABLE = (ListCell, RowsCell, DictCell, ObjectCell)
"""What may become an object of a pool."""


@dataclass(frozen=True, slots=True)
class PoolDemand:
    """What must be done on one side (0 or 1) before the two have common contents.

    The object of a cell must be a member of a pool; or a pool, which the cell is then, be one with the other.
    """

    side: int
    cell: int
    pool: int

    def on_entry(self, owned: EntryContents) -> PoolDemand:
        """The demands on the entry of a loop, for an object that the loop carries."""
        cell = self.cell
        while cell in owned:
            cell = owned[cell][0]
        return replace(self, cell=cell)


class PoolDemands:
    """The demands of one join. Cells in `unpoolable` are known to be impossible as members."""

    def __init__(self, state: State, lookups: tuple[Lookup, Lookup], unpoolable: AbstractSet[int]) -> None:
        self.found: list[PoolDemand] = []
        self._state = state
        self._lookups = lookups
        self._unpoolable = unpoolable

    def alike(self, first: int, a: Content, second: int, b: Content) -> bool:
        """Demands that two objects are members of one pool, where one is a member; False where nothing is to be done."""
        if isinstance(a, MemberCell) and isinstance(b, MemberCell):
            return self._one_pool([a.pool, b.pool])
        if not isinstance(a, MemberCell) and not isinstance(b, MemberCell):
            return False
        member, side, cell, other = (a, 1, second, b) if isinstance(a, MemberCell) else (b, 0, first, a)
        if not isinstance(other, POOLABLE) or cell in self._unpoolable:
            return False
        self.found.append(PoolDemand(side, cell, cast(MemberCell, member).pool))
        return True

    def elements(self, a: Items, b: Items) -> bool:
        """Demands that the objects in two lists are members of one pool; False where there are none, or they cannot be."""
        before = len(self.found)
        values: list[tuple[int, Abstract]] = []
        for side, items in enumerate((a, b)):
            each_of = (items.element,) if isinstance(items, Vector) else items
            values += [(side, each) for each in each_of]
        return self._column(values) and len(self.found) > before

    def parts(self, a: PoolCell, b: PoolCell) -> bool:
        """Demands that the pools of the parts of two pools' objects are one; False where they are, or cannot be."""
        before = len(self.found)
        elements = [None if x.objects is None else x.objects.element for x in (a, b)]
        for pair in sorted(pooled_parts(*elements)):
            self._one_pool(pair)
        return len(self.found) > before

    def _column(self, values: Sequence[tuple[int, Abstract]]) -> bool:
        tuples = [(side, x) for side, x in values if isinstance(x, Tuple)]
        if tuples and len({len(x.items) for _, x in tuples}) == 1 and len(tuples) == len(values):
            count = len(tuples[0][1].items)
            columns = [[(side, x.items[i]) for side, x in tuples] for i in range(count)]
            return all(map(self._column, columns))
        plain = [(side, x.cell) for side, x in values if isinstance(x, Ref) and not x.path]
        contents = {(side, cell): self._lookups[side](cell) for side, cell in plain}
        objects = {key: held for key, held in contents.items() if not isinstance(held, ArrayCell)}
        if any(cell in self._unpoolable for _, cell in objects):
            return False
        if not all(isinstance(held, POOLABLE) for held in objects.values()):
            return False
        pools = [x.pool for _, x in values if isinstance(x, Pooled)]
        self._one_pool(pools)
        if objects:
            pool = min(pools) if pools else new_pool(self._state)
            self.found += [PoolDemand(side, cell, pool) for side, cell in objects]
        return True

    def _one_pool(self, pools: Sequence[int]) -> bool:
        """Demands that pools are one; False where they are, or cannot be."""
        known = sorted(set(pools))
        if len(known) < 2 or self._unpoolable >= set(known):
            return False
        self.found += [
            PoolDemand(side, each, known[0])
            for side in (0, 1)
            for each in known[1:]
            if not self._is_empty(side, each)
        ]
        return True

    def _is_empty(self, side: int, pool: int) -> bool:
        """True for a pool that has no objects on a side, as one that a trip of a loop makes has none before it."""
        held = self._lookups[side](pool)
        return isinstance(held, PoolCell) and held.objects is None


def pooled_parts(a: Any, b: Any) -> set[tuple[int, int]]:
    """The pools of objects at one place of two contents, where they are two."""
    if isinstance(a, Pooled) and isinstance(b, Pooled):
        return {(a.pool, b.pool)} if a.pool != b.pool else set()
    if type(a) is not type(b) or not isinstance(a, TreeNode) or head(a) != head(b):
        return set()
    return set[tuple[int, int]]().union(*map(pooled_parts, children(a), children(b)))


def unboxed_list(find: Callable[[Any], Any], cell: AnyList) -> AnyList:
    """The list with a `Pooled` in place of each reference to an object of a pool; `find` gives contents."""
    if not isinstance(cell, ListCell):
        return cell
    return replace(cell, items=tuple([_unboxed(find, item) for item in cell.items]))


def unboxed_content(find: Callable[[Any], Any], template: Content, content: Content) -> Content:
    """The contents of a slot, of a list or a dict in the form of its template."""
    if isinstance(template, RowsCell) and isinstance(content, ListCell):
        return unboxed_list(find, content)
    if isinstance(template, TableCell) and isinstance(content, DictCell):
        return unboxed_table(find, content)
    return content


def unboxed_table(find: Callable[[Any], Any], cell: AnyTable) -> AnyTable:
    """The values of a dict, in the form of `unboxed_list`."""
    if not isinstance(cell, DictCell):
        return cell
    return replace(cell, entries={key: _unboxed(find, value) for key, value in cell.entries.items()})


def _unboxed(find: Callable[[Any], Any], item: Abstract) -> Abstract:
    if isinstance(item, Tuple):
        return Tuple(tuple([_unboxed(find, part) for part in item.items]), item.cls)
    content = find(item.cell) if isinstance(item, Ref) and not item.path else None
    return Pooled(content.pool, content.place) if isinstance(content, MemberCell) else item


def carried_pools(pools: list[Slot], templates: Sequence[Content], before: Lookup) -> list[Slot]:
    """The pools that hold objects before a loop, or whose objects the carried values refer to."""
    carried: set[int] = set()
    for template in templates:
        carried.update(cells_of(template))
    return [s for s in pools if s in carried or cast(PoolCell, before(s)).objects is not None]
