"""Joins of two states, where two paths of control meet.

`Join` compares the two contents that each slot has and gives a *template*: what they have in common, with
a `Placeholder` in place of every program value in which they differ. `phi_operands` then computes, on either side, the
values for the placeholders, and `rebuild` puts the results of an `If`, or the carried values of a `While`, into
them. Cells that the two sides created separately, and that are the same object afterwards, are merged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from typing import Any, cast

from ....records import dataclass
from ... import limits
from ...diagnostics.codes_control import NeverSettles, NoCommonType
from ...diagnostics.span import Span
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT32, INT64, ArrayType
from ...library.python.strings import is_string
from ...library.rules.numbers import common_type, joined_range, kinds_of, number_type
from ...library.rules.row_index import has_numbers, index_type
from ...library.rules.rows import copied_objects
from ...library.rules.tables import class_of_table, factory_of, keys_in, stored_entries
from ...library.rules.templates import (
    are_of_two_lengths,
    can_be_in_tuples,
    is_view,
    items_of_tuple,
    template_of_both,
)
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent, joined_most, joined_objects
from ...values.capacity import Capacity
from ...values.gated import (
    Gated,
    GatedNumber,
    alternatives,
    assigned_alternatives,
    form_of,
    is_absent,
    may_be_none,
)
from ...values.identity import Identity, united
from ...values.lattice import (
    LISTS,
    NONE,
    TABLES,
    Abstract,
    AnyList,
    AnyTable,
    Array,
    ArrayCell,
    Closure,
    Const,
    DictCell,
    DictView,
    ErrorCell,
    Items,
    IteratorCell,
    ListCell,
    Meaning,
    MemberCell,
    Method,
    ObjectCell,
    OutputCell,
    PoolCell,
    Pooled,
    Records,
    Ref,
    RowsCell,
    RowsTuple,
    SetCell,
    TableCell,
    Text,
    Tuple,
    Undef,
    Unknown,
    VariableCell,
    have_one_order,
    is_number,
    same_constant,
)
from ...values.node import TreeNode
from ...values.slots import Slot
from ...values.state import MISSING, Content, Lookup, State
from ...values.vector import Vector
from ...values.walk import N, cells_of, children, counterparts, head, nodes, rebuild, with_children
from ..aliases.alias_sets import joined_aliases, seen_through
from ..aliases.joinable import are_of_one_class, are_unlike, joined_error, own_field
from ..aliases.pool_demands import PoolDemands, unboxed_list, unboxed_table
from ..core.growth import JoinedVectors, joined_count
from ..diagnostics.conflicts import Conflicts
from ..diagnostics.describe import describe_list, describe_table, describe_type
from ..diagnostics.provenance import MergeProvenance
from ..state.merged import MERGEABLE, aliases_of
from ..state.phi import (
    SELECTOR,
    Placeholder,
    formatted_alike,
    from_side,
    is_alike,
    join_selectors,
    joined_path,
    placeholder_for,
    positions_of,
)
from .joined_objects import Carriers, JoinedObjects, place

Alternatives = tuple[list[Abstract], Sequence[int]]
"""The alternatives of a gated φ that are values, and the positions in it of the second side's."""


def _nothing(slot: Slot) -> Content:
    """No slot has contents: two values are joined by themselves."""
    return cast(Content, MISSING)


@dataclass(frozen=True, slots=True)
class LoopHead:
    """What is known of a loop where its entry and the end of its body meet.

    `made` stands for the arrays of computed size that its trips make; `trips` is their greatest number, where that is known,
    `expected` their number in the call at hand.
    `is_short`: it may be written out so that more of it is known; `is_nested`: it is in another loop; `is_peelable`: its
    first trip may be peeled. `lengths`: by list, the length up to which its test lets that get longer.
    """

    made: Identity | None = None
    trips: int | None = None
    expected: int | None = None
    is_short: bool = False
    is_nested: bool = False
    is_peelable: bool = False
    lengths: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Merge:
    """Two sides that meet: the arms of a branch or, with `loop`, the entry of a loop and the end of its body.

    `optional`: something may stay None on one side only. `is_rolled`: the branch is inside of a rolled loop. `capacity`
    gives the capacity of what grows. Cells: `owned` stand for a loop-carried object, `kept` are made on one side and stay
    cells of their own, `carriers` says of cells at the end of a body which pair is carried as that object, `unpoolable` are
    no members of a pool.
    """

    a: Lookup = _nothing
    b: Lookup = _nothing
    span: Span | None = None
    loop: LoopHead | None = None
    provenance: MergeProvenance | None = None
    optional: bool = True
    is_rolled: bool = False
    capacity: Callable[..., Capacity] | None = None
    owned: Iterable[int] = ()
    kept: Iterable[int] = ()
    carriers: Carriers | None = None
    unpoolable: AbstractSet[int] = frozenset()


class Join:
    """The join of the two sides of a merge.

    `entries` maps every slot that the joined state changes to its template and its two contents. `grows`: something gets
    longer or deeper in each trip. `retyped`: a number is of another kind after a trip than before it.
    """

    def __init__(self, state: State, merge: Merge) -> None:
        self.state = state
        self.a, self.b, self.span = merge.a, merge.b, merge.span
        self.loop = merge.loop is not None
        self.entries: dict[Slot, tuple[Content, Content, Content]] = {}
        self.grows = False
        self.retyped = False
        self._given = merge
        self._head = head = merge.loop or LoopHead()
        sides = merge.a, merge.b
        self.conflicts = Conflicts(state, sides, merge.span, self.loop, merge.provenance)
        self.demands = PoolDemands(state, sides, merge.unpoolable)
        written = self.loop and merge.provenance is not None  # not one of the library's own
        self._short = written and head.is_short
        self._vectors = JoinedVectors(self.loop, head.trips, head.expected, head.is_nested, merge.capacity)
        self.objects = JoinedObjects(
            state, *sides, self.entries, head.made, merge.owned, merge.kept, merge.carriers or Carriers()
        )
        for cell in self.objects.kept:
            self.alone(Ref(cell), merge.b if merge.a(cell) is MISSING else merge.a)

    def slot(self, slot: Slot) -> None:
        """Joins the contents of one slot."""
        self.state.step()
        a, b = self.a(slot), self.b(slot)
        self.conflicts.at(slot)
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
        if (
            isinstance(a, RowsTuple)
            or isinstance(b, RowsTuple)
            or ((self.loop or self._given.is_rolled) and are_of_two_lengths(a, b))
        ):
            return self._tuple_of_rows(a, b)
        if isinstance(a, Pooled) and isinstance(b, Pooled) and a.pool == b.pool:
            return Pooled(a.pool, joined_count(a.place, b.place))
        if isinstance(a, Bounded) and isinstance(b, Bounded):
            return self._bounded(a, b)
        if isinstance(a, Method) and isinstance(b, Method):
            objects = tuple(dict.fromkeys((*a.objects, *b.objects)))
            return self._structure(replace(a, objects=objects), replace(b, objects=objects))
        if type(a) is type(b) and not isinstance(a, Const | Array | Ref):
            return self._structure(a, b)
        return self.conflict(a, b)

    def _tuple_of_rows(self, a: Abstract, b: Abstract) -> Abstract:
        """A tuple of another length on either side: rows of what the elements have in common."""
        first, second = items_of_tuple(a), items_of_tuple(b)
        if first is None or second is None:
            return self.conflict(a, b)
        template = template_of_both(first, second, self.loop)
        if template is None or not can_be_in_tuples(template):
            return self.conflict(a, b)
        return self._vectors.tuple_of(first, second, template)

    def conflict(self, a: Abstract, b: Abstract) -> Gated | Unknown:
        """The join of values without a common meaning: a gated φ, or in a loop an error where the value is used."""
        united = self._unite([a], [b])
        return self.conflicts.between(a, b) if united is None else self._gated(a, b, [], *united)

    def _gate(self, a: Abstract, b: Abstract) -> Gated | Unknown:
        """The gated φ of the alternatives of both sides; those with a common meaning are joined."""
        both = all(map(assigned_alternatives, (a, b)))
        if both and not self._given.optional and may_be_none(a) != may_be_none(b):
            return self.conflicts.between(a, b)
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
                return self.conflicts.between(a, b)
            united = found
        undefined: list[Abstract] = [x for x in absent if isinstance(x, Undef)]
        first = [functools.reduce(self.join, undefined)] if undefined else []
        return self._gated(a, b, first + [NONE] * (len(undefined) < len(absent)), *united)

    def _unite(self, ours: Sequence[Abstract], theirs: Sequence[Abstract]) -> Alternatives | None:
        """The alternatives of both sides, and the positions of the second side's; None where they are too many.

        In a loop, alternatives must be there on entry, so that they are as many after any number of trips; of strings there
        are only as many as the program names.
        """
        if not ours or not theirs:
            lookup = self.a if ours else self.b
            return [self.alone(x, lookup) for x in (*ours, *theirs)], range(len(theirs))
        both = (*ours, *theirs)
        known = [isinstance(x, Const) and is_string(x) for x in both]
        if self.loop and not all(known) and (len(ours) == 1 or all(known[: len(ours)])):
            return None
        if not all(map(_may_be_alternative, both)):
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
        return (
            None
            if count - strings > limits.GATED_ALTERNATIVES or strings > limits.GATED_STRINGS
            else (joined, positions)
        )

    def _gated(
        self,
        a: Abstract,
        b: Abstract,
        absent: list[Abstract],
        joined: list[Abstract],
        positions: Sequence[int],
    ) -> Gated:
        """The gated φ of these alternatives; `positions` are those of the second side that are values."""
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
            reason = self.conflicts.reason(NoCommonType, *self.conflicts.texts(a, b))
        return Gated(options, tuple(tags), reason, tuple(sides))

    def _is_alike(self, a: Abstract, b: Abstract) -> bool:
        """True for two alternatives, one of each side, that have a common meaning."""
        if isinstance(a, Ref) and isinstance(b, Ref):
            kinds = self.a(a.cell), self.b(b.cell)
            same = a.cell == b.cell and joined_path(a.path, b.path) is not None
            return same or (are_of_one_class(*kinds) and not self._are_unlike(a, kinds[0], b, kinds[1]))
        if is_number(a) and is_number(b) and is_alike(a, b):
            return number_type(a) == number_type(b) or common_type(a, b) is not None
        return is_alike(a, b)

    def _are_unlike(self, a: Ref, of_a: Content, b: Ref, of_b: Content) -> bool:
        """`are_unlike`, except for lists of two lengths inside of a rolled loop, which may get any length."""
        if self._given.is_rolled and isinstance(of_a, ListCell) and isinstance(of_b, ListCell):
            return len(of_a.items) != len(of_b.items) and template_of_both(of_a.items, of_b.items) is None
        return are_unlike(a, of_a, b, of_b)

    def alone(self, value: Abstract, lookup: Lookup) -> Abstract:
        """The template of a value that only the side of `lookup` has: every program value becomes a placeholder."""
        for cell in self._reach(value, lookup, alone=True):
            if cell in self.state.slots or cell in self.entries:
                continue
            content = lookup(cell)
            self.objects.adopted.add(cell)
            if self.loop and lookup is self.b:
                content = self.objects.in_next_trip(cell, content)
            a, b = (content, MISSING) if lookup is self.a else (MISSING, content)
            self.entries[cell] = (self._template(content), a, b)
        return self._template(value)

    def _template(self, content: N, value: Callable[[Value], Value] = placeholder_for) -> N:
        """The template of what one side has; of a loop, for the contents of any trip."""
        loop = self._head.made
        if loop is None:
            made = rebuild(content, value)
        else:
            made = rebuild(content, value, object=lambda each: each.after_trips(loop), view=self.objects.left)
        is_gated = any(isinstance(node, Gated) for node in nodes(content))
        return cast(N, from_side(made, content)) if is_gated else made

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
            aliases = () if alone and self.loop else aliases_of(content)
            for inner in (*cells_of(content), *[s.cell for s in aliases]):
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
        range_ = joined_range(a, b, self.loop)
        if isinstance(a, Array) and isinstance(b, Array) and a.value is b.value:
            return Array(a.value, form_a, weak, range_, key_a)
        return Array(Placeholder(ArrayType(dtype_a, shape_a)), form_a, weak, range_, key_a)

    def _packed(self, a: Abstract, b: Abstract) -> Abstract:
        """The packed number (`GatedNumber`) of numbers of several kinds."""
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
        """Two values of one class of structure, joined part by part; of records each part must be an array."""
        records = isinstance(a, Records) and isinstance(b, Records)
        if records and (head(a) != head(b) or not all(map(self._is_alike, children(a), children(b)))):
            return self.conflict(a, b)
        return self._by_parts(a, b) or self.conflict(a, b)

    def _by_parts(self, a: Abstract, b: Abstract) -> Abstract | None:
        """As `_structure`; None where the structures differ."""
        if head(a) != head(b):
            return None
        pairs = list(zip(children(a), children(b), strict=True))
        if not all(_same_but_for_numbers(x, y) for x, y in pairs if not isinstance(x, Abstract)):
            return None
        joined = [self.join(x, y) if isinstance(x, Abstract) else _joined_part(x, y) for x, y in pairs]
        unknown = next((part for part in joined if isinstance(part, Unknown)), None)
        if unknown is not None:
            return unknown
        return with_children(a, joined)

    def _bounded(self, a: Bounded, b: Bounded) -> Abstract:
        """Two bounded arrays, and which of several objects it is."""
        objects = joined_objects(a, b, self._head.made)
        of_one = objects == a.objects == b.objects
        which = join_selectors(a.which, b.which) if of_one else Placeholder(SELECTOR)
        made = self._by_parts(*[replace(each, objects=objects, which=0) for each in (a, b)])
        if made is None:
            return self.conflict(a, b)
        return replace(made, which=which if len(objects) > 1 else 0) if isinstance(made, Bounded) else made

    def _ref(self, a: Ref, b: Ref) -> Abstract:
        if a.cell == b.cell and a.path == b.path:  # two views of one place are two objects
            identity = self.objects.view(a, b)
            return a if identity is a.identity else Ref(a.cell, a.path, identity)
        kind_a, kind_b = self.a(a.cell), self.b(b.cell)
        if not are_of_one_class(kind_a, kind_b):
            return self.conflict(a, b)
        if self.demands.alike(a.cell, kind_a, b.cell, kind_b):
            return a
        if not self.loop and self._are_unlike(a, kind_a, b, kind_b):
            return a if self._demand_one_kind(kind_a, kind_b) else self.conflict(a, b)
        joined = joined_path(a.path, b.path)
        if joined is not None and a.cell == b.cell:
            return Ref(a.cell, joined, self.objects.view(a, b))
        if joined is None and self.loop and self.objects.is_rearranged(b, self.b):
            return self.conflicts.between_references(a, b)
        merged = self._merge(a, b)
        template = self.entries.get(merged)
        if template is not None and isinstance(template[0], Unknown):
            return template[0]
        return Ref(merged)

    def _demand_one_kind(self, a: Content, b: Content) -> bool:
        """Demands that the objects in two lists of rows are members of one pool; False where there are none."""
        if not isinstance(a, LISTS) or not isinstance(b, LISTS):
            return False
        rows = isinstance(a, RowsCell) or isinstance(b, RowsCell)
        return rows and self.demands.elements(unboxed_list(self.a, a).items, unboxed_list(self.b, b).items)

    # -- cells

    def from_one_side(self, content: Content, lookup: Lookup, inside: set[Value]) -> Content:
        """The template of what only the side of `lookup` leaves, with placeholders for the values `inside` it."""

        def placeholder(value: Value) -> Value:
            return Placeholder(value.type) if value in inside else value

        for cell in self._reach(content, lookup):
            if cell in self.state.slots or cell in self.entries:
                continue
            made = lookup(cell)
            a, b = (made, MISSING) if lookup is self.a else (MISSING, made)
            self.entries[cell] = (self._template(made, placeholder), a, b)
        return self._template(content, placeholder)

    def _cells(self, a: int, b: int) -> int:
        """The cell that stands for `a` on one side and `b` on the other."""
        if a == b:
            if a not in self.entries and self.a(a) is not self.b(b):
                self.cell(a, self.a(a), self.b(b))
            return a
        return self._merge(Ref(a), Ref(b))

    def _merge(self, a: Ref, b: Ref) -> int:
        """The cell that stands for `a` on one side and `b` on the other, which are two objects."""
        places = place(a), place(b)
        found = self.objects.merged.get(places)
        if found is not None:
            return found
        merged = self.objects.merged[places] = self.objects.number(places)
        sides = (self.a(a.cell), self.b(b.cell))
        if all(isinstance(side, MemberCell) for side in sides):
            self.cell(merged, *sides)
        elif all(isinstance(side, MERGEABLE) for side in sides):
            if merged not in self.objects.owned:
                self.state.merged[merged] = self._given.is_rolled
                if not self.loop:
                    self.state.pairs[merged] = (self.objects.merged, a.cell, b.cell)
            seen = [seen_through(side, ref) for side, ref in zip(sides, (a, b))]
            self.cell(merged, *self.objects.identified((a, b), merged, seen))
        else:  # a variable or an iterator that is another one depending on the path
            self.entries[merged] = (self.conflicts.between_cells(*sides), *sides)
        return merged

    def cell(self, cell: int, a: Content, b: Content) -> None:
        """Joins the contents of a cell; the entry is there while its parts are joined (cycles)."""
        self.state.step(limits.STEPS_PER_CELL)
        self.entries[cell] = (a if a is not MISSING else b, a, b)
        if self.demands.alike(cell, a, cell, b):
            return
        if isinstance(a, LISTS) and isinstance(b, LISTS) and not _are_of_one_length(a, b):
            a, b = unboxed_list(self.a, a), unboxed_list(self.b, b)
        if isinstance(a, TABLES) and isinstance(b, TABLES) and not _have_the_same_keys(a, b):
            a, b = unboxed_table(self.a, a), unboxed_table(self.b, b)
        self._vectors.limit = self._head.lengths.get(cell)
        self.entries[cell] = (self._contents(a, b), a, b)

    def _contents(self, a: Content, b: Content) -> Content:
        if a is b:
            return a
        for side in (a, b):
            if isinstance(side, Unknown):  # what has no common contents on a side has none on both
                if isinstance(side.reason, NoCommonType | NeverSettles):
                    self.conflicts.found.append(side)
                return side
        if a is MISSING or b is MISSING:
            return self._template(b if a is MISSING else a)
        match a, b:
            case ArrayCell(), ArrayCell():
                if a.value.type != b.value.type:
                    return self.conflicts.unknown(
                        *[describe_type(x.value.type, Form.NDARRAY) for x in (a, b)]
                    )
                value = a.value if a.value is b.value else Placeholder(a.value.type)
                aliases = joined_aliases(a, b, self.objects.view)
                writable = a.writable if a.writable is b.writable else Placeholder(ArrayType(BOOL))
                selector = join_selectors(a.selector, b.selector)
                frozen, objects = max(a.frozen, b.frozen), self._objects(a, b)
                return ArrayCell(value, writable, aliases, selector, frozen, objects)
            case ListCell(), ListCell() if len(a.items) == len(b.items):
                items = tuple([self.join(x, y) for x, y in zip(a.items, b.items)])
                return replace(
                    a,
                    items=items,
                    aliases=joined_aliases(a, b),
                    selector=join_selectors(a.selector, b.selector),
                )
            case ((ListCell() | RowsCell()), (ListCell() | RowsCell())):
                vector = self._vector(a.items, b.items)
                if not isinstance(vector, Vector):
                    return a if vector is None else vector
                vector = replace(vector, objects=self._objects(a.items, b.items))
                return RowsCell(vector, joined_aliases(a, b), join_selectors(a.selector, b.selector))
            case DictCell(), DictCell() if _have_the_same_keys(a, b) and a.container is b.container:
                entries = {k: self.join(v, b.entries[k]) for k, v in a.entries.items()}
                return replace(
                    a,
                    entries=entries,
                    factory=self._factory(a, b),
                    aliases=joined_aliases(a, b),
                    selector=join_selectors(a.selector, b.selector),
                )
            case SetCell(), SetCell() if a.items == b.items:
                in_order = have_one_order(a, b)
                return replace(
                    a,
                    aliases=joined_aliases(a, b),
                    selector=join_selectors(a.selector, b.selector),
                    history=a.history if in_order else None,
                    order=a.order if in_order else None,
                )
            case ((DictCell() | TableCell()), (DictCell() | TableCell())) | (
                (SetCell() | TableCell()),
                (SetCell() | TableCell()),
            ):
                return self._table(cast(AnyTable, a), cast(AnyTable, b))
            case ObjectCell(), ObjectCell():
                if a.cls is not b.cls:
                    return self.conflicts.unknown(
                        f"an instance of {a.cls.__name__}", f"one of {b.cls.__name__}"
                    )
                fields = self._fields(a, b)
                return ObjectCell(
                    a.cls,
                    fields,
                    a.origin if a.origin is b.origin else None,
                    joined_aliases(a, b),
                    join_selectors(a.selector, b.selector),
                    a.frozen or b.frozen,
                )
            case MemberCell(), MemberCell() if a.pool == b.pool:
                return replace(a, place=joined_count(a.place, b.place))
            case PoolCell(), PoolCell():
                joined = self._vectors.pool(a, b)
                if joined is None:
                    demanded = self.demands.parts(a, b)
                    return (
                        a if demanded else self.conflicts.unknown("objects of one kind", "objects of another")
                    )
                if self._is_written_out(joined):
                    return self._growth("objects of one kind", "objects of another")
                self.state.note_alternatives(joined)
                return joined
            case VariableCell(), VariableCell():
                return VariableCell(self.join(a.value, b.value))
            case ErrorCell(), ErrorCell():
                return joined_error(a, b)
            case OutputCell(), OutputCell():
                return OutputCell(Placeholder(ArrayType(INT32)))
            case IteratorCell(), IteratorCell():
                return self._iterator(a, b)
            case _:
                return self.conflicts.between_cells(a, b)

    def _iterator(self, a: IteratorCell, b: IteratorCell) -> Content:
        """Joins two iterators that have given as many elements; over an array or a list also different numbers of them."""
        if not self.loop and (a.source is None) != (b.source is None):
            left, lookup = (b, self.b) if a.source is None else (a, self.a)
            if isinstance(left.source, Ref | Bounded | RowsTuple):  # which has ended where it is none
                index = left.index if isinstance(left.index, int) else Placeholder(left.index.type)
                return IteratorCell(self.alone(left.source, lookup), index, (), Placeholder(ArrayType(BOOL)))
        by_place = isinstance(a.source, Ref | Bounded | RowsTuple)
        if a.source is None or b.source is None or a.keys != b.keys or not (by_place or a.index == b.index):
            return self.conflicts.unknown(*map(_describe_iterator, (a, b)))
        source = self.join(a.source, b.source)
        if isinstance(source, Unknown):
            return source
        ended = a.ended if a.ended is b.ended else Placeholder(ArrayType(BOOL))
        return IteratorCell(source, joined_count(a.index, b.index), a.keys, ended)

    def _vector(self, a: Items, b: Items, is_table: bool = False) -> Vector[Abstract] | Unknown | None:
        """Joins the elements of two lists of different lengths or elements; None where something is demanded of them."""
        template = template_of_both(a, b, self.loop, ragged=True)
        if template is None and self.demands.elements(a, b):
            return None
        if template is None or self._is_written_out(template) or not self._has_memories(template):
            return self._growth(*[describe_list(x) for x in (a, b)])
        if self._head.made is not None:
            loop = self._head.made
            template = rebuild(template, lambda v: v, object=lambda each: each.after_trips(loop))
        return self._vectors.items(a, b, template, is_table)

    def _has_memories(self, template: TreeNode) -> bool:
        """True if the memories of which there are views are there on both sides."""
        return not any(find(cell) is MISSING for cell in cells_of(template) for find in (self.a, self.b))

    def _objects(self, *sides: ArrayCell | Items) -> tuple[Identity, ...]:
        """The objects that the arrays of which lists hold copies may be."""
        found = united(*[copied_objects(side) for side in sides])
        loop = self._head.made
        return found if loop is None else united([each.after_trips(loop) for each in found])

    def _is_written_out(self, template: TreeNode) -> bool:
        """True in a loop of few trips for elements each of which is known in its trip.

        These are what is one of several things, and views, each an object of its own.
        """
        return self._short and any(
            isinstance(n, Gated) or (isinstance(n, Bounded) and is_view(n)) for n in nodes(template)
        )

    def _table(self, a: AnyTable, b: AnyTable) -> Content:
        """Joins two dicts or sets with different keys into rows with a template for their entries."""
        if self._head.is_peelable and _have_the_same_keys_in_another_order(a, b):
            return self._unlike_tables(a, b)  # as JAX's functions give them, sorted from the second trip on
        first, second = stored_entries(a), stored_entries(b)
        same_class = class_of_table(a) is class_of_table(b)
        template = template_of_both(first, second, ragged=True) if same_class else None
        if template is None:
            demanded = same_class and self.demands.elements(first, second)
            return a if demanded else self._unlike_tables(a, b)
        if self._is_written_out(template):
            return self._unlike_tables(a, b)
        rows = self._vector(first, second, is_table=True)
        if not isinstance(rows, Vector):
            return self._unlike_tables(a, b)
        removed = [x.removed if isinstance(x, TableCell) else 0 for x in (a, b)]
        count = joined_count(*removed)
        selector = join_selectors(a.selector, b.selector)
        has_index = any(isinstance(x, TableCell) and x.index is not None for x in (a, b))
        is_indexed = (has_index or rows.site is not None) and has_numbers(keys_in(rows))
        index = Placeholder(index_type(rows.capacity)) if is_indexed else None
        aliases, factory = joined_aliases(a, b), self._factory(a, b)
        made = TableCell(class_of_table(a), rows, count, index, None, 0, aliases, selector, factory)
        if not any(isinstance(x, TableCell) and x.slots is not None for x in (a, b)):
            return made
        number = ArrayType(INT64)  # a side may be compacted for the join, so that it has another length
        made = replace(made, entries=replace(rows, length=Placeholder(number)))
        if index is None:
            return made
        return replace(made, slots=Placeholder(ArrayType(INT32, (rows.capacity,))), holes=Placeholder(number))

    def _factory(self, a: AnyTable, b: AnyTable) -> Abstract | None:
        """The `default_factory` of a `defaultdict`, of one class on both sides."""
        first, second = factory_of(a), factory_of(b)
        return None if first is None or second is None else self.join(first, second)

    def _unlike_tables(self, a: AnyTable, b: AnyTable) -> Unknown:
        """Joins two dicts or sets with different keys, whose entries have no common template."""
        if isinstance(a, SetCell) and isinstance(b, SetCell):
            texts = [f"a set with the elements {sorted(x.items, key=repr)}" for x in (a, b)]
            return self.conflicts.unknown(*texts)
        if isinstance(a, DictCell) and isinstance(b, DictCell) and _have_the_same_keys_in_another_order(a, b):
            texts = [f"a dict with the keys in the order {list(x.entries)}" for x in (a, b)]
            return self.conflicts.unknown(*texts)
        return self._growth(*[describe_table(x) for x in (a, b)])

    def _fields(self, a: ObjectCell, b: ObjectCell) -> dict[str, Abstract]:
        joined: dict[str, Abstract] = {}
        names = [*a.fields, *b.fields]
        if a.origin is not b.origin:  # two objects: what either has not read yet is read now
            names += [name for side in (a, b) if side.origin is not None for name in side.origin.names]
        for name in dict.fromkeys(names):
            with self.conflicts.within(f"the attribute {name!r} of {a.cls.__name__}"):
                joined[name] = self.join(own_field(a, name), own_field(b, name))
        return joined

    def _growth(self, first: str, second: str) -> Unknown:
        """Joins two containers of different lengths or keys, whose elements have no common template."""
        self.grows = self.loop
        return self.conflicts.unknown(first, second)


def _are_of_one_length(a: AnyList, b: AnyList) -> bool:
    return isinstance(a, ListCell) and isinstance(b, ListCell) and len(a.items) == len(b.items)


def _have_the_same_keys(a: AnyTable, b: AnyTable) -> bool:
    """True for two dicts with the same known keys, in one order."""
    return isinstance(a, DictCell) and isinstance(b, DictCell) and list(a.entries) == list(b.entries)


def _have_the_same_keys_in_another_order(a: AnyTable, b: AnyTable) -> bool:
    return isinstance(a, DictCell) and isinstance(b, DictCell) and a.entries.keys() == b.entries.keys()


def _may_be_alternative(x: Abstract) -> bool:
    """True for what may be an alternative of a gated φ."""
    if isinstance(x, Tuple):
        return all(map(_may_be_alternative, x.items))
    return isinstance(x, Const | Array | Bounded | Records | Ref | RowsTuple | Text | Meaning)


def _same_but_for_numbers(x: Any, y: Any) -> bool:
    """True for parts that are no values themselves, if they differ in numbers of the program only."""
    if isinstance(x, Extent) and isinstance(y, Extent):
        return x.is_like(y)
    return bool(x == y)


def _joined_part(x: Any, y: Any) -> Any:
    """The template of two such parts."""
    if x is y or not isinstance(x, Extent):
        return x
    joined = replace(x, step=joined_count(x.step, y.step), most=joined_most(x, y))
    pairs = zip(children(joined), counterparts(joined, y), strict=True)
    return with_children(joined, [v if v is w else Placeholder(v.type) for v, w in pairs])


def _is_gated(x: Abstract) -> bool:
    """True for a gated φ, and for what stands for no value where the other side has one."""
    return isinstance(x, Gated) or is_absent(x)


def _describe_iterator(x: IteratorCell) -> str:
    if x.source is None:
        return "an iterator at its end"
    return f"an iterator at {f'element {x.index}' if isinstance(x.index, int) else 'some element'}"


def _absent_position(absent: Sequence[Abstract], x: Abstract) -> int:
    """The position of an alternative that stands for no value."""
    return next(i for i, each in enumerate(absent) if type(each) is type(x))
