"""Diagnostics for values that cannot be joined."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...diagnostics.codes_control import NeverSettles, NoCommonType
from ...diagnostics.diagnostic import Diagnostic, Note
from ...diagnostics.span import Span
from ...values.lattice import Abstract, MemberCell, ObjectCell, Ref, RowsCell, TableCell, Unknown
from ...values.slots import Slot
from ...values.state import Content, Lookup, State
from .describe import describe
from .provenance import MergeProvenance, attribute_of, holder_of, name_of


class Conflicts:
    """Makes the diagnostics of one join; knows which slot and part is being joined."""

    def __init__(
        self,
        state: State,
        sides: tuple[Lookup, Lookup],
        span: Span | None,
        loop: bool,
        provenance: MergeProvenance | None,
    ) -> None:
        self.found: list[Unknown] = []
        self._state = state
        self._sides = sides
        self._span = span
        self._loop = loop
        self._provenance = provenance
        self._slot: Slot | None = None
        self._part = ""

    def at(self, slot: Slot) -> None:
        """Begins the join of the contents of this slot."""
        self._slot, self._part = slot, ""

    @contextmanager
    def within(self, part: str) -> Iterator[None]:
        """A `with` block in which a part of the contents is joined."""
        outer, self._part = self._part, part
        yield
        self._part = outer

    def unknown(self, first: str, second: str) -> Unknown:
        """The `Unknown` for values that are `first` on one side and `second` on the other."""
        conflict = Unknown(self.reason(NeverSettles if self._loop else NoCommonType, first, second))
        self.found.append(conflict)
        return conflict

    def between(self, a: Abstract, b: Abstract) -> Unknown:
        """The `Unknown` for values that are `a` on one side and `b` on the other."""
        return self.unknown(*self.texts(a, b))

    def between_references(self, a: Ref, b: Ref) -> Unknown:
        """The same for two references, with what distinguishes objects of one kind."""
        texts = self.texts(a, b)
        if texts[0] == texts[1]:
            texts = [f"{t} that is {'a view' if r.path else 'no view'}" for t, r in zip(texts, (a, b))]
            if texts[0] == texts[1]:
                texts[1] += " of another place"
        return self.unknown(*texts)

    def between_cells(self, a: Content, b: Content) -> Unknown:
        """The same for the contents of two cells."""
        return self.unknown(f"one {_class_of_cell(a)}", f"another {_class_of_cell(b)}")

    def texts(self, a: Abstract, b: Abstract) -> list[str]:
        """The two sides in words."""
        return [describe(x, self._state, lookup) for x, lookup in zip((a, b), self._sides, strict=True)]

    def reason(self, kind: type[NoCommonType | NeverSettles], first: str, second: str) -> Diagnostic:
        """The diagnostic for values that are `first` on one side and `second` on the other."""
        what = self._part or name_of(self._state.slots, self._slot)
        slot, provenance = None if self._part else self._slot, self._provenance
        holder = None
        if isinstance(slot, int):
            holder = holder_of(self._state.slots, slot) or attribute_of(self._state.slots, slot)

        def blame() -> tuple[Note, ...]:
            name = None if holder is None else holder[1]
            return () if provenance is None else provenance.notes(slot, name, (first, second))

        return kind(span=self._span, what=what, first=first, second=second, blame=blame)


def _class_of_cell(content: Content) -> str:
    match content:
        case MemberCell(kind=kind) | ObjectCell(cls=kind):
            return kind.__name__
        case RowsCell():
            return "list"
        case TableCell():
            return "dict or set"
    return type(content).__name__.removesuffix("Cell").lower()
