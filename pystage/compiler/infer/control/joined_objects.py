"""Correspondence of objects in a join: which objects of the two sides each joined cell stands for, or may stand for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import cast

from ...hlo.ir import Value
from ...values.lattice import Alias, ArrayCell, MemberCell, Ref, Stamp, through
from ...values.memory import is_row_major
from ...values.slots import Slot
from ...values.state import MISSING, Content, Lookup, State
from ...values.views import View
from ..aliases.alias_sets import OWN, AliasSet, AliasTree, alias_fork, number_of
from ..state.merged import MERGEABLE, AliasPairs, Mergeable, aliases_of, may_alias_cells
from ..state.phi import SELECTOR

ArrayPath = tuple[int, tuple[View, ...]]
"""An array by the cell that owns it and the path to it; of anything else the path is empty."""


class JoinedObjects:
    """The cells of one join that stand for an object of each side.

    `merged` gives the cell that stands for two different objects. `owned` are cells that stand for a loop-carried object,
    `adopted` those that only one side has, and `kept` those made on one side that stay cells of their own. `carriers`
    says of cells at the end of a loop's body which pair is carried as that object. `joined` gives the cell that stands
    for two cells, whose contents it joins.
    """

    def __init__(
        self,
        state: State,
        a: Lookup,
        b: Lookup,
        entries: dict[Slot, tuple[Content, Content, Content]],
        joined: Callable[[int, int], int],
        owned: Iterable[int],
        kept: Iterable[int],
        carriers: Mapping[int, tuple[int, int] | None],
    ) -> None:
        self.merged: dict[tuple[ArrayPath, ArrayPath], int] = {}
        self.owned = set(owned)
        self.adopted: set[int] = set()
        self.kept = set(kept)
        self._state = state
        self._a = a
        self._b = b
        self._entries = entries
        self._joined = joined
        self._carriers = carriers

    def identified(
        self, refs: tuple[Ref, Ref], merged: int, contents: list[Mergeable]
    ) -> tuple[Mergeable, Mergeable]:
        """The two contents, with the objects that the merged cell may be, and which of them it is."""
        alias_set = AliasSet()
        trees: list[AliasTree] = []
        for ref, content, lookup in zip(refs, contents, (self._a, self._b)):
            selector: int | Value = content.selector
            lasts = ref.cell in self._state.slots or ref.cell in self.kept
            aliases = content.aliases
            if self._carrier(ref.cell, lookup) not in (None, merged):
                aliases, selector = (Alias(ref, Stamp.PENDING),), 1
            elif lasts and ref.cell != merged:
                aliases, selector = (Alias(ref, Stamp.PENDING), *content.aliases), 1
            elif not content.aliases:
                selector = 0
            options = [self._origin(s, lookup, alias_set, merged) for s in aliases]
            trees.append(alias_fork(selector, [OWN, *options]))
        first, second = [
            replace(
                content,
                aliases=alias_set.aliases(tree, other),
                selector=number_of(tree, lambda leaf: leaf.position, SELECTOR),
            )
            for content, tree, other in zip(contents, trees, reversed(trees))
        ]
        return first, second

    def _carrier(self, cell: int, lookup: Lookup) -> int | None:
        """The carried object that will be, in the next trip, what `cell` is at the end of this one."""
        if lookup is self._a or cell not in self._carriers:
            return None
        pair = self._carriers[cell]
        return cell if pair is None else self._joined(*pair)

    def _origin(self, source: Alias, lookup: Lookup, alias_set: AliasSet, merged: int) -> AliasTree:
        """The position of an alias of one side in the may-alias set of `merged`, to which it is added."""
        self._state.step()
        cell, path, stamp = source.cell, source.ref.path, source.stamp
        lasts = cell in self._state.slots or cell in self.kept
        if stamp is not Stamp.UNRESOLVED:
            carrier = self._carrier(cell, lookup)
            content = lookup(cell)
            ends = not lasts if cell not in self.owned else lookup is self._b
            if carrier is not None and carrier != merged:
                return alias_set.leaf(through(Ref(carrier), path), Stamp.PENDING)
            if ends:  # what it stands for; made on this side, it is an object of its own
                inner = [Alias(through(s.ref, path), s.stamp) for s in aliases_of(content)]
                options = [self._origin(s, lookup, alias_set, merged) for s in inner]
                return alias_fork(cast(Mergeable, content).selector, [OWN, *options]) if inner else OWN
        if not lasts and cell not in self.owned:
            return OWN
        return alias_set.leaf(source.ref, stamp)

    def shared(self) -> set[int]:
        """Cells allocated on one side that several joined cells stand for: they must stay cells.

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
                if self.is_rearranged(Ref(*places[side]), lookup):
                    found.add(places[side][0])
            found |= {cell for cell, group in names.items() if len(group) > 1}
        return found - self.kept

    def is_rearranged(self, ref: Ref, lookup: Lookup) -> bool:
        """True for a view of an array allocated on one side, if no array of its own has its layout in memory."""
        made = lookup(ref.cell)
        if not ref.path or ref.cell in self._state.slots or not isinstance(made, ArrayCell):
            return False
        return not is_row_major(made.value.type, ref.path)

    def uncarried(self) -> dict[int, tuple[int, int] | None]:
        """Cells at the end of the body that several carried objects may be, with the pair of one that certainly is.

        None instead of a pair: the cell is carried itself. The join is to be done again with these (`carriers`).
        """
        found: dict[int, tuple[int, int] | None] = {}
        pair_of = {merged: (a, b) for ((a, _), (b, _)), merged in self.merged.items()}
        for cell, group in self._by_end().items():
            if cell in self._carriers or self._is_outer(cell) or not self._may_alias_pairs(group, self._b):
                continue
            views = {merged for (_, (_, path)), merged in self.merged.items() if path}
            exact = [merged for merged, end in group.items() if end == cell and merged not in views]
            if exact:
                found[cell] = pair_of.get(exact[0])
        return found

    def note_may_alias(self) -> None:
        """Records which carried objects may be one, at the end of the body or on entry.

        Where nothing tells whether they are, a store into one is uncertain: they are an unresolved may-alias.
        """
        by_entry: dict[int, dict[int, int]] = {}
        for ((a, _), _), merged in self.merged.items():
            if a not in self.owned:
                for cell in may_alias_cells(self._a, a):
                    by_entry.setdefault(cell, {})[merged] = a
        for group in by_entry.values():
            self._state.may_alias |= self._may_alias_pairs(group, self._a)
        for cell, group in self._by_end().items():
            pairs = self._may_alias_pairs(group, self._b)
            self._state.may_alias |= pairs
            if not self._is_outer(cell) and cell not in self._carriers:
                for pair in pairs:
                    self._note_unresolved(*pair)

    def _by_end(self) -> dict[int, dict[int, int]]:
        """By the cells that carried objects may be at the end of the body: these, and the cell that each has then."""
        found: dict[int, dict[int, int]] = {cell: {cell: cell} for cell in self.adopted}
        for (_, (b, _)), merged in self.merged.items():
            for cell in may_alias_cells(self._b, b):
                if not isinstance(self._b(cell), MemberCell):
                    found.setdefault(cell, {})[merged] = b
        return found

    def _is_outer(self, cell: int) -> bool:
        """True for an object that existed before the loop: `selector` says whether a carried object is that one."""
        return cell in self._state.slots and cell not in self.owned

    def _may_alias_pairs(self, group: dict[int, int], find: Lookup) -> set[frozenset[int]]:
        """The pairs of a group that are not certainly two objects."""
        if len(group) < 2:
            return set()
        known, pairs = AliasPairs(self._state, find), itertools.combinations(group, 2)
        return {frozenset(pair) for pair in pairs if not known.no_alias(group[pair[0]], group[pair[1]])}

    def _note_unresolved(self, first: int, second: int) -> None:
        for cell, other in ((first, second), (second, first)):
            template, *sides = self._entries[cell]
            known = [s.cell for s in aliases_of(template) if s.stamp is Stamp.UNRESOLVED]
            if isinstance(template, MERGEABLE) and other not in known:
                template = replace(template, aliases=(*template.aliases, Alias(Ref(other), Stamp.UNRESOLVED)))
                self._entries[cell] = (template, sides[0], sides[1])
