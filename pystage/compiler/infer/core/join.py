"""Joining two states: what is known where two paths of control meet.

`Join` compares the two contents that each slot has and gives a *template*: what they have in common, with
a `Placeholder` in place of every program value in which they differ. `phi_operands` then computes, on either side, the
values for the placeholders, and `rebuild` puts the results of an `If`, or the carried values of a `While`, into
them. Cells that the two sides created separately, and that are the same object afterwards, are merged.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ...diagnostics.codes_control import NeverSettles, NoCommonType
from ...diagnostics.diagnostic import Diagnostic, Note
from ...diagnostics.span import Span
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT32, INT64, ArrayType
from ...library.python.strings import is_string
from ...values.boundary import Form
from ...values.gated import (
    Gated,
    GatedNumber,
    alternatives,
    assigned_alternatives,
    form_of,
    is_absent,
    may_be_none,
)
from ...values.lattice import (
    NONE,
    Abstract,
    Alias,
    Array,
    ArrayCell,
    Closure,
    Const,
    DictCell,
    DictView,
    ErrorCell,
    IteratorCell,
    ListCell,
    Meaning,
    ObjectCell,
    OutputCell,
    Ref,
    SetCell,
    Stamp,
    Text,
    Tuple,
    Undef,
    Unknown,
    VariableCell,
    is_number,
    same_constant,
    through,
)
from ...values.memory import is_row_major
from ...values.slots import Slot
from ...values.state import MISSING, Content, State
from ...values.views import View
from ...values.walk import cells_of, children, head, rebuild, with_children
from ..aliases.alias_sets import OWN, AliasSet, AliasTree, alias_fork, joined_aliases, number_of, seen_through
from ..aliases.merged import MERGEABLE, Mergeable, aliases_of, no_alias, possible
from ..aliases.sides import are_unlike, joined_error, own_field
from ..telling.blame import MergeProvenance, attribute_of, holder_of, name_of
from ..telling.describe import describe, describe_type
from .numbers import common_type, joined_bounds, kinds_of, number_type
from .phi import (
    SELECTOR,
    Placeholder,
    formatted_alike,
    is_alike,
    join_selectors,
    joined_path,
    placeholder_for,
    positions_of,
)

ArrayPath = tuple[int, tuple[View, ...]]
"""An array by the cell that owns it and the path to it; of anything else the path is empty."""

MOST_PARTS = 4
"""How many alternatives a value may have."""
MOST_STRINGS = 64
"""How many strings may be among them."""

Alternatives = tuple[list[Abstract], Sequence[int]]
"""Those of a gated φ that are values, and the positions in it of those of the second side."""

Lookup = Callable[[Slot], Content]
"""The contents of a slot at the end of one side; MISSING if it does not exist there."""


class Join:
    """The join of two sides, `a` and `b`; with `loop`, of the entry of a loop and the end of its body.

    `entries` maps every slot that the joined state changes to its template and its two contents.
    """

    def __init__(
        self,
        state: State,
        a: Lookup,
        b: Lookup,
        span: Span | None,
        loop: bool = False,
        provenance: MergeProvenance | None = None,
        shared: Iterable[int] = (),
        carriers: Mapping[int, tuple[int, int] | None] = {},
        optional: bool = True,
    ) -> None:
        self.state = state
        self.a = a
        self.b = b
        self.span = span
        self.loop = loop
        self.entries: dict[Slot, tuple[Content, Content, Content]] = {}
        self.conflicts: list[Unknown] = []
        self.grows = False
        self.retyped = False  # a number is of another kind after a trip than before it
        self.owned: set[int] = set()  # cells that stand for a loop-carried object
        self.merged: dict[tuple[ArrayPath, ArrayPath], int] = {}
        self._optional = optional  # whether something may stay None on one side only
        self._adopted: set[int] = set()  # cells that only one side has
        self._provenance = provenance
        self._slot: Slot | None = None  # what is being joined
        self._part = ""  # the attribute of it, in words
        self._carriers = (
            carriers  # of cells at the end of a loop's body: the pair that is carried as that object
        )
        self._shared = set(shared)  # cells made on one side that stay cells of their own
        for cell in self._shared:
            self.alone(Ref(cell), b if a(cell) is MISSING else a)

    def slot(self, slot: Slot) -> None:
        """Joins the contents of one slot."""
        self.state.step()
        a, b = self.a(slot), self.b(slot)
        self._slot, self._part = slot, ""
        if isinstance(slot, tuple):
            a = Undef() if a is MISSING else a
            b = Undef() if b is MISSING else b
            self.entries[slot] = (self.join(cast(Abstract, a), cast(Abstract, b)), a, b)
        elif slot not in self.entries:
            self.cell(slot, a, b)

    # -- values

    def join(self, a: Abstract, b: Abstract) -> Abstract:
        """The least abstract value that covers both."""
        if a is b:
            return a
        if isinstance(a, Unknown):
            return a
        if isinstance(b, Unknown):
            return b
        if isinstance(a, Const) and isinstance(b, Const) and same_constant(a.value, b.value):
            return a
        if isinstance(a, Undef) and isinstance(b, Undef):
            return a if b.span is None else b  # one that is deleted is no longer what it was before
        if _is_gated(a) or _is_gated(b):
            return self._gate(a, b)
        if is_number(a) and is_number(b):
            return self._number(a, b)
        if isinstance(a, Ref) and isinstance(b, Ref):
            return self._ref(a, b)
        if isinstance(a, DictView) and isinstance(b, DictView) and a.kind == b.kind:
            return DictView(a.kind, self._cells(a.cell, b.cell))
        if isinstance(a, Closure) and isinstance(b, Closure) and a.cells != b.cells:
            return self.conflict(a, b)  # they share variables with other functions
        if isinstance(a, Text) and isinstance(b, Text) and not formatted_alike(a, b):
            return self.conflict(a, b)
        if type(a) is type(b) and not isinstance(a, Const | Array | Ref):
            return self._structure(a, b)
        return self.conflict(a, b)

    def conflict(self, a: Abstract, b: Abstract) -> Gated | Unknown:
        """No common meaning: one or the other, as the path says; in a loop an error where the value is used."""
        united = self._unite([a], [b])
        return self._no_common(a, b) if united is None else self._gated(a, b, [], *united)

    def _no_common(self, a: Abstract, b: Abstract) -> Unknown:
        return self._conflict_text(*self._texts(a, b))

    def _texts(self, a: Abstract, b: Abstract) -> list[str]:
        return [describe(x, self.state, lookup) for x, lookup in ((a, self.a), (b, self.b))]

    def _gate(self, a: Abstract, b: Abstract) -> Gated | Unknown:
        """One of the alternatives of both sides, of which those that have a common meaning are joined."""
        both = all(map(assigned_alternatives, (a, b)))
        if both and not self._optional and may_be_none(a) != may_be_none(b):
            return self._no_common(a, b)
        absent = [x for x in (*alternatives(a), *alternatives(b)) if is_absent(x)]
        ours, theirs = ([x for x in alternatives(side) if not is_absent(x)] for side in (a, b))
        if absent and len(ours) == len(theirs) == 1:
            joined = self.join(ours[0], theirs[0])
            if isinstance(joined, Unknown):
                return joined
            theirs_in = joined.sides[1][1] if isinstance(joined, Gated) else (0,)
            united: Alternatives = [*alternatives(joined)], theirs_in
        else:
            found = self._unite(ours, theirs)
            if found is None:
                return self._no_common(a, b)
            united = found
        undefined: list[Abstract] = [x for x in absent if isinstance(x, Undef)]
        first = [functools.reduce(self.join, undefined)] if undefined else []
        return self._gated(a, b, first + [NONE] * (len(undefined) < len(absent)), *united)

    def _unite(self, ours: Sequence[Abstract], theirs: Sequence[Abstract]) -> Alternatives | None:
        """The alternatives of both sides, and the positions of the second's; None where they are too many.

        In a loop, alternatives must be there on entry, so that they are as many after any number of trips.
        """
        if not ours or not theirs:
            lookup = self.a if ours else self.b
            return [self.alone(x, lookup) for x in (*ours, *theirs)], range(len(theirs))
        if (self.loop and len(ours) == 1) or not all(map(_may_be_alternative, (*ours, *theirs))):
            return None
        positions = positions_of(ours, theirs, self._is_alike)
        count = max(len(ours), max(positions) + 1)
        if self.loop and positions != positions_of(ours, theirs, is_alike):
            return None
        joined: list[Abstract] = []
        for position in range(count):
            if position not in positions:
                joined.append(self.alone(ours[position], self.a))
            elif position >= len(ours):
                joined.append(self.alone(theirs[positions.index(position)], self.b))
            else:
                joined.append(self.join(ours[position], theirs[positions.index(position)]))
        if any(isinstance(each, Unknown | Gated) for each in joined):
            return None
        strings = sum(map(is_string, joined))
        return None if count - strings > MOST_PARTS or strings > MOST_STRINGS else (joined, positions)

    def _gated(
        self,
        a: Abstract,
        b: Abstract,
        absent: list[Abstract],
        joined: list[Abstract],
        positions: Sequence[int],
    ) -> Gated:
        """The gated φ of these alternatives, of which `positions` are those of the second side that are values."""
        options = (*absent, *joined)
        sides: list[tuple[Abstract, tuple[int, ...]]] = []
        for side, own in ((a, range(len(joined))), (b, positions)):
            rest = iter(own)
            found = [
                _absent_position(absent, x) if is_absent(x) else len(absent) + next(rest)
                for x in alternatives(side)
            ]
            sides.append((side, tuple(found)))
        tags = [cast(Value, Placeholder(ArrayType(BOOL))) for _ in options[1:]]
        if (
            isinstance(a, Gated)
            and isinstance(b, Gated)
            and sides[0][1] == sides[1][1] == tuple(range(len(options)))
        ):
            tags = [x if x is y else tag for x, y, tag in zip(a.tags, b.tags, tags)]
        reason = None
        if len(options) > 1 + isinstance(options[0], Undef):
            self.state.gated = True
            reason = self._parted(NoCommonType, *self._texts(a, b))
        return Gated(options, tuple(tags), reason, tuple(sides))

    def _is_alike(self, a: Abstract, b: Abstract) -> bool:
        """True for alternatives, one of each side, that have a common meaning."""
        if isinstance(a, Ref) and isinstance(b, Ref):
            kinds = self.a(a.cell), self.b(b.cell)
            same = a.cell == b.cell and joined_path(a.path, b.path) is not None
            return same or (type(kinds[0]) is type(kinds[1]) and not are_unlike(a, kinds[0], b, kinds[1]))
        if is_number(a) and is_number(b) and is_alike(a, b):
            return number_type(a) == number_type(b) or common_type(a, b) is not None
        return is_alike(a, b)

    def alone(self, value: Abstract, lookup: Lookup) -> Abstract:
        """The template of a value that only the side of `lookup` has: every program value is a placeholder."""
        for cell in self._reach(value, lookup, alone=True):
            if cell in self.state.slots or cell in self.entries:
                continue
            content = lookup(cell)
            a, b = (content, MISSING) if lookup is self.a else (MISSING, content)
            self.entries[cell] = (rebuild(content, placeholder_for), a, b)
            self._adopted.add(cell)
        return rebuild(value, placeholder_for)

    def _reach(self, value: Content, lookup: Lookup, alone: bool = False) -> list[int]:
        """The cells that a value reaches, and those that they may stand for.

        `alone`: not through those that both sides have, which are joined themselves.
        """
        found = dict.fromkeys(cells_of(value))
        pending = list(found)
        for cell in pending:
            content = lookup(cell)
            if content is MISSING or (alone and cell in self.state.slots):
                continue
            for inner in (*cells_of(content), *[s.cell for s in aliases_of(content)]):
                if inner not in found and lookup(inner) is not MISSING:
                    found[inner] = None
                    pending.append(inner)
        return pending

    def _number(self, a: Abstract, b: Abstract) -> Abstract:
        (dtype_a, form_a, shape_a), (dtype_b, form_b, shape_b) = number_type(a), number_type(b)
        if shape_a != shape_b:
            return self.conflict(a, b)
        key_a = a.key_impl if isinstance(a, Array) else None
        if key_a != (b.key_impl if isinstance(b, Array) else None):
            return self.conflict(a, b)
        if isinstance(a, GatedNumber) or isinstance(b, GatedNumber) or (dtype_a, form_a) != (dtype_b, form_b):
            return self._packed(a, b)
        weak = isinstance(a, Array) and a.weak and isinstance(b, Array) and b.weak
        lower, upper = joined_bounds(a, b, self.loop)
        if isinstance(a, Array) and isinstance(b, Array) and a.value is b.value:
            return Array(a.value, form_a, weak, lower, upper, key_a)
        return Array(Placeholder(ArrayType(dtype_a, shape_a)), form_a, weak, lower, upper, key_a)

    def _packed(self, a: Abstract, b: Abstract) -> Abstract:
        """One number that is of one kind on some paths and of another on others."""
        kinds_a, kinds_b = kinds_of(a), kinds_of(b)
        kinds = tuple(dict.fromkeys(kinds_a + kinds_b))
        forms = {kind.form for kind in kinds}
        found = common_type(a, b)
        if number_type(a)[2] or found is None or not forms <= {Form.PYTHON, Form.SCALAR, Form.JAX}:
            return self.conflict(a, b)
        self.retyped |= self.loop and len(kinds_b) == 1
        self.state.gated = True
        dtype, whole = found
        return GatedNumber(
            Placeholder(ArrayType(dtype)),
            form_of(kinds),
            kinds=kinds,
            tags=tuple([Placeholder(ArrayType(BOOL)) for _ in kinds[1:]]),
            whole=Placeholder(ArrayType(INT64)) if whole else None,
        )

    def _structure(self, a: Abstract, b: Abstract) -> Abstract:
        """Two values of one class of structure, joined part by part."""
        if head(a) != head(b):
            return self.conflict(a, b)
        pairs = list(zip(children(a), children(b), strict=True))
        if any(x != y for x, y in pairs if not isinstance(x, Abstract)):
            return self.conflict(a, b)
        joined = [self.join(x, y) if isinstance(x, Abstract) else x for x, y in pairs]
        return next((part for part in joined if isinstance(part, Unknown)), with_children(a, joined))

    def _ref(self, a: Ref, b: Ref) -> Abstract:
        if a.cell == b.cell and a.path == b.path:
            return a
        kind_a, kind_b = self.a(a.cell), self.b(b.cell)
        if type(kind_a) is not type(kind_b):
            return self.conflict(a, b)
        if not self.loop and are_unlike(a, kind_a, b, kind_b):
            return self.conflict(a, b)
        joined = joined_path(a.path, b.path)
        if joined is not None and a.cell == b.cell:
            return Ref(a.cell, joined)
        if joined is None and self.loop and self._is_rearranged(b, self.b):
            return self._conflict_text(*self._places(a, b))
        merged = self._merge(a, b)
        template = self.entries.get(merged)
        if template is not None and isinstance(template[0], Unknown):
            return template[0]
        return Ref(merged)

    def _places(self, a: Ref, b: Ref) -> list[str]:
        """Two references in words, with what tells them apart."""
        texts = [describe(r, self.state, lookup) for r, lookup in ((a, self.a), (b, self.b))]
        if texts[0] == texts[1]:
            texts = [f"{t} that is {'a view' if r.path else 'no view'}" for t, r in zip(texts, (a, b))]
            if texts[0] == texts[1]:
                texts[1] += " of another place"
        return texts

    # -- cells

    def from_one_side(self, content: Content, lookup: Lookup, inside: set[Value]) -> Content:
        """The template of what only the side of `lookup` leaves: placeholders for the values that are `inside` it."""

        def placeholder(value: Value) -> Value:
            return Placeholder(value.type) if value in inside else value

        for cell in self._reach(content, lookup):
            if cell in self.state.slots or cell in self.entries:
                continue
            made = lookup(cell)
            a, b = (made, MISSING) if lookup is self.a else (MISSING, made)
            self.entries[cell] = (rebuild(made, placeholder), a, b)
        return rebuild(content, placeholder)

    def _cells(self, a: int, b: int) -> int:
        """The cell that stands for `a` on one side and `b` on the other."""
        if a == b:
            if a not in self.entries and self.a(a) is not self.b(b):
                self.cell(a, self.a(a), self.b(b))
            return a
        return self._merge(Ref(a), Ref(b))

    def _merge(self, a: Ref, b: Ref) -> int:
        """The cell that stands for `a` on one side and `b` on the other, which are two objects."""
        places = (a.cell, a.path), (b.cell, b.path)
        found = self.merged.get(places)
        if found is not None:
            return found
        merged = a.cell if a.cell in self.owned and not a.path else self.state.cell_number()
        self.merged[places] = merged
        sides = (self.a(a.cell), self.b(b.cell))
        if all(isinstance(side, MERGEABLE) for side in sides):
            if merged not in self.owned:
                self.state.merged[merged] = None
                if not self.loop:
                    self.state.pairs[merged] = (self.merged, a.cell, b.cell)
            seen = [seen_through(side, ref.path) for side, ref in zip(sides, (a, b))]
            self.cell(merged, *self._identified((a, b), merged, seen))
        else:  # a variable or an iterator that is another one depending on the path
            first, second = (type(side).__name__.removesuffix("Cell").lower() for side in sides)
            conflict = self._conflict_text(f"one {first}", f"another {second}")
            self.entries[merged] = (conflict, *sides)
        return merged

    def _identified(
        self, refs: tuple[Ref, Ref], merged: int, contents: list[Mergeable]
    ) -> tuple[Mergeable, Mergeable]:
        """The two contents, with the objects that the merged cell may be, and which of them it is."""
        alias_set = AliasSet()
        trees: list[AliasTree] = []
        for ref, content, lookup in zip(refs, contents, (self.a, self.b)):
            selector: int | Value = content.selector
            lasts = ref.cell in self.state.slots or ref.cell in self._shared
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
        """The carried object that is, in the next trip, what `cell` is at the end of this one."""
        if lookup is self.a or cell not in self._carriers:
            return None
        pair = self._carriers[cell]
        return cell if pair is None else self._cells(*pair)

    def _origin(self, source: Alias, lookup: Lookup, alias_set: AliasSet, merged: int) -> AliasTree:
        """Which of the candidates of `merged`, to which it is added, an object is that a side may stand for."""
        self.state.step()
        cell, path, stamp = source.cell, source.ref.path, source.stamp
        lasts = cell in self.state.slots or cell in self._shared
        if stamp is not Stamp.UNRESOLVED:
            carrier = self._carrier(cell, lookup)
            content = lookup(cell)
            ends = not lasts if cell not in self.owned else lookup is self.b
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
        """Cells made on one side that several cells of the joined state stand for: they must stay cells.

        The join is to be done again with these known (`shared`).
        """
        found: set[int] = set()
        for side, lookup in enumerate((self.a, self.b)):
            names: dict[int, set[int]] = {
                cell: {cell} for cell in self._adopted if lookup(cell) is not MISSING
            }
            for places, merged in self.merged.items():
                for cell in possible(lookup, places[side][0]):
                    if cell not in self.state.slots and lookup(cell) is not MISSING:
                        names.setdefault(cell, set()).add(merged)
                if self._is_rearranged(Ref(*places[side]), lookup):
                    found.add(places[side][0])
            found |= {cell for cell, group in names.items() if len(group) > 1}
        return found - self._shared

    def _is_rearranged(self, ref: Ref, lookup: Lookup) -> bool:
        """True for a view of what was made on one side, if it lies in memory as no array of its own does."""
        made = lookup(ref.cell)
        if not ref.path or ref.cell in self.state.slots or not isinstance(made, ArrayCell):
            return False
        return not is_row_major(made.value.type, ref.path)

    def uncarried(self) -> dict[int, tuple[int, int] | None]:
        """Cells of the end of the body that several carried objects may be, with the pair of one that certainly is.

        None instead of a pair: the cell is carried itself. The join is to be done again with these (`carriers`).
        """
        found: dict[int, tuple[int, int] | None] = {}
        pair_of = {merged: (a, b) for ((a, _), (b, _)), merged in self.merged.items()}
        for cell, group in self._by_end().items():
            if cell in self._carriers or self._is_outer(cell) or not self._may_alias_pairs(group, self.b):
                continue
            views = {merged for (_, (_, path)), merged in self.merged.items() if path}
            exact = [merged for merged, end in group.items() if end == cell and merged not in views]
            if exact:
                found[cell] = pair_of.get(exact[0])
        return found

    def note_may_alias(self) -> None:
        """Notes which carried objects may be one, at the end of the body or on entry.

        Where nothing tells whether they are, a store into one is uncertain: they are rivals.
        """
        by_entry: dict[int, dict[int, int]] = {}
        for ((a, _), _), merged in self.merged.items():
            if a not in self.owned:
                for cell in possible(self.a, a):
                    by_entry.setdefault(cell, {})[merged] = a
        for group in by_entry.values():
            self.state.may_alias |= self._may_alias_pairs(group, self.a)
        for cell, group in self._by_end().items():
            pairs = self._may_alias_pairs(group, self.b)
            self.state.may_alias |= pairs
            if not self._is_outer(cell) and cell not in self._carriers:
                for pair in pairs:
                    self._note_unresolved(*pair)

    def _by_end(self) -> dict[int, dict[int, int]]:
        """By the cells that carried objects may be at the end of the body: these, and the cell that each has then."""
        found: dict[int, dict[int, int]] = {cell: {cell: cell} for cell in self._adopted}
        for (_, (b, _)), merged in self.merged.items():
            for cell in possible(self.b, b):
                found.setdefault(cell, {})[merged] = b
        return found

    def _is_outer(self, cell: int) -> bool:
        """True for an object that was there before the loop: `selector` tells whether a carried object is that one."""
        return cell in self.state.slots and cell not in self.owned

    def _may_alias_pairs(self, group: dict[int, int], find: Lookup) -> set[frozenset[int]]:
        """The pairs of a group that are not certainly two objects."""
        pairs = itertools.combinations(group, 2) if len(group) > 1 else ()
        return {
            frozenset(pair)
            for pair in pairs
            if not no_alias(self.state, find, group[pair[0]], group[pair[1]])
        }

    def _note_unresolved(self, first: int, second: int) -> None:
        for cell, other in ((first, second), (second, first)):
            template, *sides = self.entries[cell]
            known = [s.cell for s in aliases_of(template) if s.stamp is Stamp.UNRESOLVED]
            if isinstance(template, MERGEABLE) and other not in known:
                template = replace(template, aliases=(*template.aliases, Alias(Ref(other), Stamp.UNRESOLVED)))
                self.entries[cell] = (template, sides[0], sides[1])

    def cell(self, cell: int, a: Content, b: Content) -> None:
        """Joins the contents of a cell; the entry is there while its parts are joined (cycles)."""
        self.entries[cell] = (a if a is not MISSING else b, a, b)
        self.entries[cell] = (self._contents(a, b), a, b)

    def _contents(self, a: Content, b: Content) -> Content:
        if a is b:
            return a
        for side in (a, b):
            if isinstance(side, Unknown):  # what has no common contents on a side has none on both
                self.conflicts.append(side)
                return side
        if a is MISSING or b is MISSING:
            return rebuild(b if a is MISSING else a, placeholder_for)
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            return a if isinstance(a, Unknown) else b
        match a, b:
            case ArrayCell(), ArrayCell():
                if a.value.type != b.value.type:
                    return self._conflict_text(*[describe_type(x.value.type, Form.NDARRAY) for x in (a, b)])
                value = a.value if a.value is b.value else Placeholder(a.value.type)
                aliases = joined_aliases(a, b)
                writable = a.writable if a.writable is b.writable else Placeholder(ArrayType(BOOL))
                return ArrayCell(value, writable, aliases, join_selectors(a.selector, b.selector))
            case ListCell(), ListCell():
                if len(a.items) != len(b.items):
                    return self._growth(*[f"a list of length {len(x.items)}" for x in (a, b)])
                items = tuple([self.join(x, y) for x, y in zip(a.items, b.items)])
                return replace(
                    a,
                    items=items,
                    aliases=joined_aliases(a, b),
                    selector=join_selectors(a.selector, b.selector),
                )
            case DictCell(), DictCell():
                if list(a.entries) != list(b.entries) and a.entries.keys() == b.entries.keys():
                    texts = [f"a dict with the keys in the order {list(x.entries)}" for x in (a, b)]
                    return self._conflict_text(*texts)
                if list(a.entries) != list(b.entries):
                    return self._growth(*[f"a dict with the keys {list(x.entries)}" for x in (a, b)])
                entries = {k: self.join(v, b.entries[k]) for k, v in a.entries.items()}
                return replace(
                    a,
                    entries=entries,
                    aliases=joined_aliases(a, b),
                    selector=join_selectors(a.selector, b.selector),
                )
            case ObjectCell(), ObjectCell():
                if a.cls is not b.cls:
                    return self._conflict_text(f"an instance of {a.cls.__name__}", f"one of {b.cls.__name__}")
                fields = self._fields(a, b)
                return ObjectCell(
                    a.cls,
                    fields,
                    a.origin if a.origin is b.origin else None,
                    joined_aliases(a, b),
                    join_selectors(a.selector, b.selector),
                )
            case SetCell(), SetCell():
                if a.items != b.items:
                    texts = [f"a set with the elements {sorted(x.items, key=repr)}" for x in (a, b)]
                    return self._conflict_text(*texts)
                return replace(
                    a, aliases=joined_aliases(a, b), selector=join_selectors(a.selector, b.selector)
                )
            case VariableCell(), VariableCell():
                return VariableCell(self.join(a.value, b.value))
            case ErrorCell(), ErrorCell():
                return joined_error(a, b)
            case OutputCell(), OutputCell():
                return OutputCell(Placeholder(ArrayType(INT32)))
            case IteratorCell(), IteratorCell():
                if a.source is None or b.source is None or a.index != b.index or a.keys != b.keys:
                    texts = ["at its end" if x.source is None else f"at element {x.index}" for x in (a, b)]
                    return self._conflict_text(*[f"an iterator {text}" for text in texts])
                source = self.join(a.source, b.source)
                return source if isinstance(source, Unknown) else IteratorCell(source, a.index, a.keys)
            case _:
                kinds = [type(x).__name__.removesuffix("Cell").lower() for x in (a, b)]
                return self._conflict_text(*[f"one {kind}" for kind in kinds])

    def _fields(self, a: ObjectCell, b: ObjectCell) -> dict[str, Abstract]:
        joined: dict[str, Abstract] = {}
        names = [*a.fields, *b.fields]
        if a.origin is not b.origin:  # two objects: what either has not read yet is read now
            names += [name for side in (a, b) if side.origin is not None for name in side.origin.names]
        for name in dict.fromkeys(names):
            outer, self._part = self._part, f"the attribute {name!r} of {a.cls.__name__}"
            joined[name] = self.join(own_field(a, name), own_field(b, name))
            self._part = outer
        return joined

    def _growth(self, first: str, second: str) -> Unknown:
        """A container that has another length or other keys on one side."""
        self.grows = self.loop
        return self._conflict_text(first, second)

    def _conflict_text(self, first: str, second: str) -> Unknown:
        found = Unknown(self._parted(NeverSettles if self.loop else NoCommonType, first, second))
        self.conflicts.append(found)
        return found

    def _parted(self, kind: type[NoCommonType | NeverSettles], first: str, second: str) -> Diagnostic:
        """What is at hand is `first` on one side and `second` on the other."""
        what = self._part or name_of(self.state, self._slot)
        slot, provenance = None if self._part else self._slot, self._provenance
        holder = None
        if isinstance(slot, int):
            holder = holder_of(self.state, slot) or attribute_of(self.state, slot)

        def blame() -> tuple[Note, ...]:
            name = None if holder is None else holder[1]
            return () if provenance is None else provenance.notes(slot, name, (first, second))

        return kind(span=self.span, what=what, first=first, second=second, blame=blame)


def _may_be_alternative(x: Abstract) -> bool:
    """True for what may be one thing beside another."""
    if isinstance(x, Tuple):
        return all(map(_may_be_alternative, x.items))
    return isinstance(x, Const | Array | Ref | Text | Meaning)


def _is_gated(x: Abstract) -> bool:
    """True for what has alternatives, or stands for no value, which is an alternative where the other side has one."""
    return isinstance(x, Gated) or is_absent(x)


def _absent_position(absent: Sequence[Abstract], x: Abstract) -> int:
    """The position of an alternative that stands for no value."""
    return next(i for i, each in enumerate(absent) if type(each) is type(x))
