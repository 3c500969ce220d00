"""One function checked for sizes in general: inferred with two assignments, and its problems told with names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from ...compiler.diagnostics.diagnostic import Diagnostic, Note
from ..annotations import Sizes
from . import naming
from .functions import NotChecked
from .inference import Inference
from .naming import Naming

_PROBES = 6
"""So many pairs of names, or of a name and a number, are tried to say more of one problem."""
_OF_TYPES = "PS2"
_OF_EFFORT = {"PS402", "PS404"}
"""Of what is too large, trying other sizes would say little and take long."""


@dataclass(frozen=True)
class Generic:
    """Checks one function. `fixed` are the sizes that the user gives, `apart_from` the integers of the program."""

    inference: Inference
    fixed: Mapping[str, int]
    apart_from: Set[int]

    def problems(self) -> list[Diagnostic]:
        """What is wrong with the function. `NotChecked` where it cannot be checked."""
        a = naming.first(self.fixed, self.apart_from)
        with_a = _by_place(self.inference.diagnostics(a))
        if len(a) == len(self.fixed):
            return list(with_a.values())
        b = naming.second(self.fixed, self.apart_from, a)
        with_b = _by_place(self.inference.diagnostics(b))
        found = [self._named(each, with_b.get(place), place, a, b) for place, each in with_a.items()]
        return found + [
            self._named(each, None, place, b, a) for place, each in with_b.items() if place not in with_a
        ]

    def _named(self, one: Diagnostic, other: Diagnostic | None, place: Any, a: Sizes, b: Sizes) -> Diagnostic:
        """The problem with names for sizes, and with what can be said of them."""
        names = Naming(a, b, self.fixed.keys())
        found = names.diagnostic(one, other)
        notes: list[Note] = []
        if other is None:
            notes.append(Note(f"it depends on sizes: so with {_told(names.a)}, not with {_told(names.b)}"))
        else:
            notes += self._unequal(names, place, a) if one.code not in _OF_EFFORT else ()
            if names.unnamed:
                notes.append(Note(f"the sizes are those with {_told(names.a)}"))
        return replace(found, notes=(*notes, *found.notes))

    def _unequal(self, names: Naming, place: Any, a: Sizes) -> Iterator[Note]:
        """For sizes that a problem names: which of them, if they were equal, would solve it."""
        used = [name for name in names.a if name in names.used]
        pairs = list(combinations(used, 2))
        if place[0].startswith(_OF_TYPES):  # the text need not name all that it is about
            more = [pair for pair in combinations(names.a, 2) if pair not in pairs]
            pairs += sorted(more, key=lambda pair: used.count(pair[0]) + used.count(pair[1]), reverse=True)
        for left, right in pairs[:_PROBES]:
            if self._fits(place, {**a, right: a[left]}):
                yield Note(f"`{left}` and `{right}` need not be equal; it fits where they are")
                return
        numbers = list(product(used, sorted(names.literals - {0, 1})))
        for name, number in numbers[:_PROBES]:
            if self._fits(place, {**a, name: number}):
                several = self._fits(place, {**a, name: 2 * number}) and self._fits(
                    place, {**a, name: 3 * number}
                )
                what = f"a multiple of {number}" if several else str(number)
                yield Note(f"`{name}` need not be {what}; it fits where it is")
                return

    def _fits(self, place: Any, sizes: Mapping[str, int]) -> bool:
        """True if the problem at a place is none with these sizes."""
        fresh = naming.primes(self.apart_from | set(sizes.values()))
        try:
            return place not in _by_place(self.inference.diagnostics(Sizes(sizes, fresh)))
        except NotChecked:
            return False


def _by_place(diagnostics: Sequence[Diagnostic]) -> dict[Any, Diagnostic]:
    """Diagnostics by code and place, and which of several it is there."""
    seen: Counter[Any] = Counter()
    found: dict[Any, Diagnostic] = {}
    for each in diagnostics:
        place = each.code, each.span
        seen[place] += 1
        found[(*place, seen[place])] = each
    return found


def _told(sizes: Mapping[str, int]) -> str:
    return ", ".join([f"{name} = {size}" for name, size in sizes.items()])
