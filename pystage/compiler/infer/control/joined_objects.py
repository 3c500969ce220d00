"""Correspondence of objects in a join: which objects of the two sides each joined cell stands for, or may stand for."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Mapping
from dataclasses import field, replace
from typing import cast

from ....records import dataclass
from ...hlo.ir import Value
from ...values.identity import Identity
from ...values.lattice import Alias, ArrayCell, MemberCell, Ref, Stamp, through
from ...values.memory import is_row_major
from ...values.slots import Slot
from ...values.state import MISSING, Content, Lookup, State
from ...values.views import View
from ..aliases.alias_sets import OWN, AliasSet, AliasTree, alias_fork, chosen, number_of
from ..state.merged import MERGEABLE, AliasPairs, Mergeable, aliases_of, may_alias_cells
from ..state.phi import SELECTOR

Place = tuple[int, tuple[View, ...], Identity | None]
"""An object by its cell; an array that is a view by the path to it too, and by which one it is."""


def place(ref: Ref) -> Place:
    """Equal for two references to one object."""
    return ref.cell, ref.path, ref.identity


@dataclass(slots=True)
class Carriers:
    """Which of the objects that a loop carries may be one at the end of its body.

    `by_cell`: by a cell of the end of the body, those that may be it, each with what it is then, in the order of `ranks`:
    the later ones have the earlier ones as aliases. `numbers` are the cells of these objects.
    """

    ranks: dict[int, int] = field(default_factory=dict)
    by_cell: dict[int, list[tuple[int, Place]]] = field(default_factory=dict)
    numbers: dict[tuple[Place, Place], int] = field(default_factory=dict)

    def before(self, merged: int, cell: int) -> list[tuple[int, Place]]:
        """Those before `merged` among the objects that may be `cell`."""
        return list(itertools.takewhile(lambda carrier: carrier[0] != merged, self.by_cell.get(cell, ())))

    def add(self, cell: int, group: Mapping[int, Place], views: Container[int]) -> bool:
        """Adds that several objects may be `cell`; those that are `views` get later ranks. False if that was known."""
        known = self.by_cell.get(cell, ())
        if {merged for merged, _ in known} == {*group}:
            return False
        for merged in sorted(group, key=lambda m: (m in views, m)):
            self.ranks.setdefault(merged, len(self.ranks))
        self.by_cell[cell] = sorted(group.items(), key=lambda item: self.ranks[item[0]])
        return True


class JoinedObjects:
    """The cells of one join that stand for an object of each side.

    `merged` gives the cell that stands for two different objects. `owned` are cells that stand for a loop-carried object,
    `adopted` those that only one side has, and `kept` those made on one side that stay cells of their own.
    """

    def __init__(
        self,
        state: State,
        a: Lookup,
        b: Lookup,
        entries: dict[Slot, tuple[Content, Content, Content]],
        made: Identity | None,
        owned: Iterable[int],
        kept: Iterable[int],
        carriers: Carriers,
    ) -> None:
        self.merged: dict[tuple[Place, Place], int] = {}
        self.owned = set(owned)
        self.adopted: set[int] = set()
        self.kept = set(kept)
        self._state = state
        self._a = a
        self._b = b
        self._entries = entries
        self._carriers = carriers
        self._made = made
        self._views: dict[tuple[Identity, Identity | None], Identity] = {}
        self._ends: dict[tuple[int, int], tuple[int | Value, bool]] = {}

    def identified(
        self, refs: tuple[Ref, Ref], merged: int, contents: list[Mergeable]
    ) -> tuple[Mergeable, Mergeable]:
        """The two contents, with the objects that the merged cell may be, and which of them it is."""
        alias_set = AliasSet()
        trees: list[AliasTree] = []
        for ref, content, lookup in zip(refs, contents, (self._a, self._b)):
            lasts = ref.cell in self._state.slots or ref.cell in self.kept
            if lasts and ref.cell != merged:
                options = [
                    self._origin(s, lookup, alias_set, merged)
                    for s in (Alias(ref, Stamp.PENDING), *content.aliases)
                ]
                tree: AliasTree = alias_fork(1, [OWN, *options])
            else:
                tree = self._held(ref, content, lookup, alias_set, merged)
            trees.append(tree)
        first, second = [
            _with_aliases(content, alias_set, tree, other)
            for content, tree, other in zip(contents, trees, reversed(trees))
        ]
        return first, second

    def in_next_trip(self, cell: int, content: Content) -> Content:
        """The contents of an adopted cell of the end of a loop's body, with the objects that it may be in the next trip."""
        if not isinstance(content, MERGEABLE):
            return content
        alias_set = AliasSet()
        return _with_aliases(
            content, alias_set, self._held(Ref(cell), content, self._b, alias_set, cell), OWN
        )

    def _held(
        self, ref: Ref, content: Mergeable, lookup: Lookup, alias_set: AliasSet, merged: int
    ) -> AliasTree:
        """What `merged` is that stands for an object made on one side: one that is carried too, an alias, or its own."""
        options = [self._origin(s, lookup, alias_set, merged) for s in content.aliases]
        own = alias_fork(content.selector, [OWN, *options]) if options else OWN
        return self._carried(ref, own, lookup, alias_set, merged)

    def _carried(
        self, ref: Ref, otherwise: AliasTree, lookup: Lookup, alias_set: AliasSet, merged: int
    ) -> AliasTree:
        """The carried object before `merged` that `ref` is at the end of the body; `otherwise` where it is none."""
        if lookup is self._a:
            return otherwise
        for carrier, end in reversed(self._carriers.before(merged, ref.cell)):
            holds, _ = self._is(end, ref.cell)
            if holds != 0:
                leaf = alias_set.leaf(through(Ref(carrier), ref.path, ref.identity), Stamp.PENDING)
                otherwise = alias_fork(holds, [otherwise, leaf])
        return otherwise

    def _is(self, end: Place, cell: int) -> tuple[int | Value, bool]:
        """1 if `end` is the object of `cell` at the end of the body, else 0; and whether it may be a view of it."""
        holds, viewed = self._is_cell(end[0], cell)
        return (0, viewed or holds != 0) if end[1] else (holds, viewed)

    def _is_alias(self, alias: Alias, cell: int) -> tuple[int | Value, bool]:
        return (0, False) if alias.stamp is Stamp.UNRESOLVED else self._is(place(alias.ref), cell)

    def _is_cell(self, end: int, cell: int) -> tuple[int | Value, bool]:
        if end == cell:
            return 1, False
        found = self._ends.get((end, cell))
        if found is None:
            self._state.step()
            content = self._b(end)
            each = [self._is_alias(s, cell) for s in aliases_of(content)]
            holds: int | Value = 0
            if each:
                options = [0, *[h for h, _ in each]]
                holds = chosen(cast(Mergeable, content).selector, options, SELECTOR)
            found = self._ends[end, cell] = holds, any(viewed for _, viewed in each)
        return found

    def _origin(self, source: Alias, lookup: Lookup, alias_set: AliasSet, merged: int) -> AliasTree:
        """Which member of the may-alias set of `merged`, to which it is added, an alias of one side is."""
        self._state.step()
        cell, path, stamp = source.cell, source.ref.path, source.stamp
        lasts = cell in self._state.slots or cell in self.kept
        if stamp is not Stamp.UNRESOLVED:
            content = lookup(cell)
            ends = not lasts if cell not in self.owned else lookup is self._b
            if ends:  # what it stands for; made on this side, it is an object of its own
                inner = [
                    Alias(through(s.ref, path, source.ref.identity), s.stamp) for s in aliases_of(content)
                ]
                options = [self._origin(s, lookup, alias_set, merged) for s in inner]
                own = alias_fork(cast(Mergeable, content).selector, [OWN, *options]) if inner else OWN
                return self._carried(source.ref, own, lookup, alias_set, merged)
        if not lasts and cell not in self.owned:
            return OWN
        return alias_set.leaf(source.ref, stamp)

    def view(self, a: Ref, b: Ref) -> Identity:
        """Which object a view is that is `a` on one side and `b` on the other."""
        if a.identity is b.identity:
            return a.identity
        known = a.identity, b.identity
        if known not in self._views:
            self._views[known] = Identity.one_of((a.identity, self.left(b.identity)))
        return self._views[known]

    def left(self, view: Identity) -> Identity:
        """Which object a view is that one side has left, a loop after any number of trips."""
        after = view if self._made is None else view.after_trips(self._made)
        if after is view:
            return view
        if (view, None) not in self._views:
            self._views[view, None] = Identity.one_of((after,))
        return self._views[view, None]

    def shared(self) -> set[int]:
        """Cells made on one side that several cells of the joined state stand for: they must stay cells.

        The join is to be done again with these known (`shared`).
        """
        found: set[int] = set()
        for side, lookup in enumerate((self._a, self._b)):
            names: dict[int, set[int]] = {
                cell: {cell} for cell in self.adopted if lookup(cell) is not MISSING
            }
            for places, merged in self.merged.items():
                for cell in may_alias_cells(lookup, places[side][0]):
                    if isinstance(lookup(cell), MemberCell):
                        continue  # which object it is, its place says
                    if cell not in self._state.slots and lookup(cell) is not MISSING:
                        names.setdefault(cell, set()).add(merged)
                if self.is_rearranged(Ref(*places[side][:2]), lookup):
                    found.add(places[side][0])
            found |= {cell for cell, group in names.items() if len(group) > 1}
        return found - self.kept

    def is_rearranged(self, ref: Ref, lookup: Lookup) -> bool:
        """True for a view of what was made on one side, if it lies in memory as no array of its own does."""
        made = lookup(ref.cell)
        if not ref.path or ref.cell in self._state.slots or not isinstance(made, ArrayCell):
            return False
        return not is_row_major(made.value.type, ref.path)

    def add_carriers(self) -> bool:
        """Adds which of the carried objects may be one at the end of the body; True if the join is to be done again."""
        more = False
        views = {merged for (_, end), merged in self.merged.items() if end[1]}
        known = AliasPairs(self._state, self._b)
        for cell, group in self._by_end().items():
            if not self._is_outer(cell) and _may_alias_pairs(group, known):
                viewed = [m for m, end in group.items() if m in views or self._is(end, cell)[1]]
                more |= self._carriers.add(cell, group, viewed)
        return more

    def note_may_alias(self) -> None:
        """Notes which carried objects may be one, at the end of the body or on entry.

        Where nothing tells whether they are, a store into one is uncertain: they are an unresolved may-alias. So are two of
        which the first may be a view of memory that the body has made.
        """
        by_entry: dict[int, dict[int, Place]] = {}
        for ((a, _, _), _), merged in self.merged.items():
            if a not in self.owned:
                for cell in may_alias_cells(self._a, a):
                    by_entry.setdefault(cell, {})[merged] = (a, (), None)
        on_entry, at_end = (AliasPairs(self._state, find) for find in (self._a, self._b))
        for group in by_entry.values():
            self._state.may_alias |= _may_alias_pairs(group, on_entry)
        for cell, group in self._by_end().items():
            pairs = _may_alias_pairs(group, at_end)
            self._state.may_alias |= pairs
            if self._is_outer(cell):
                continue
            for pair in pairs:
                first, second = sorted(pair, key=self._carriers.ranks.__getitem__)
                if self._is(group[first], cell)[1]:
                    self._note_unresolved(first, second)

    def _by_end(self) -> dict[int, dict[int, Place]]:
        """By the cells that carried objects may be at the end of the body: these, and what each is then."""
        found: dict[int, dict[int, Place]] = {}
        ends: dict[int, Place] = {cell: (cell, (), None) for cell in self.adopted}
        ends |= {merged: end for (_, end), merged in self.merged.items()}
        for merged, end in ends.items():
            for cell in may_alias_cells(self._b, end[0]):
                if not isinstance(self._b(cell), MemberCell):
                    found.setdefault(cell, {})[merged] = end
        return found

    def _is_outer(self, cell: int) -> bool:
        """True for an object that was there before the loop: `selector` tells whether a carried object is that one."""
        return cell in self._state.slots and cell not in self.owned

    def number(self, places: tuple[Place, Place]) -> int:
        """The number of the cell that stands for two different objects."""
        (cell, path, _), _ = places
        if cell in self.owned and not path and cell not in self.merged.values():
            return cell
        if places not in self._carriers.numbers:
            self._carriers.numbers[places] = self._state.cell_number()
        return self._carriers.numbers[places]

    def _note_unresolved(self, first: int, second: int) -> None:
        for cell, other in ((first, second), (second, first)):
            template, *sides = self._entries[cell]
            known = [s.cell for s in aliases_of(template) if s.stamp is Stamp.UNRESOLVED]
            if isinstance(template, MERGEABLE) and other not in known:
                template = replace(template, aliases=(*template.aliases, Alias(Ref(other), Stamp.UNRESOLVED)))
                self._entries[cell] = (template, sides[0], sides[1])


def _may_alias_pairs(group: dict[int, Place], known: AliasPairs) -> set[frozenset[int]]:
    """The pairs of a group that are not certainly two objects."""
    pairs = itertools.combinations(group, 2)
    return {frozenset((a, b)) for a, b in pairs if not known.no_alias(group[a][0], group[b][0])}


def _with_aliases(content: Mergeable, alias_set: AliasSet, tree: AliasTree, other: AliasTree) -> Mergeable:
    """The contents of a side that is `tree`, where the other side is `other`."""
    selector = number_of(tree, lambda leaf: leaf.position, SELECTOR)
    return replace(content, aliases=alias_set.aliases(tree, other), selector=selector)
