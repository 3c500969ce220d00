"""Finds the sizes for which a problem disappears, by inferring with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import combinations, product
from typing import Any

from ...compiler.diagnostics.diagnostic import Diagnostic
from ...records import dataclass
from ..annotations import Sizes
from . import naming
from .functions import NotChecked
from .inference import Inference
from .naming import Naming

ProblemKey = tuple[Any, ...]
"""A code, a span, and which of several such problems it is."""
_PROBES = 6
"""How many pairs of names, or of a name and a number, are tried."""
_OF_TYPES = "PS2"
_OF_EFFORT = {"PS402", "PS404"}
"""Of what is too large, trying other sizes would say little and take long."""


def by_key(diagnostics: Sequence[Diagnostic]) -> dict[ProblemKey, Diagnostic]:
    """Diagnostics by code, span and occurrence."""
    seen: Counter[Any] = Counter()
    found: dict[ProblemKey, Diagnostic] = {}
    for each in diagnostics:
        key = each.code, each.span
        seen[key] += 1
        found[(*key, seen[key])] = each
    return found


@dataclass(frozen=True)
class Probing:
    """Infers a function with further sizes. `known` are the keys of all problems that it has with `sizes`."""

    inference: Inference
    fixed: Mapping[str, int]
    sizes: Sizes
    known: Set[ProblemKey]

    def says(self, key: ProblemKey, names: Naming) -> str | None:
        """What can be said of a problem whose texts name sizes; None where nothing can."""
        code: str = key[0]
        if code in _OF_EFFORT:
            return None
        return next(self._all(key, names, code.startswith(_OF_TYPES)), None)

    def _all(self, key: ProblemKey, names: Naming, of_types: bool) -> Iterator[str]:
        used = [name for name in names.a if name in names.used]
        pairs = list(combinations(used, 2))
        if of_types:  # the text need not name all that it is about
            more = [pair for pair in combinations(names.a, 2) if pair not in pairs]
            pairs += sorted(more, key=lambda pair: -len({*pair} & {*used}))
        for left, right in pairs[:_PROBES]:
            if self._fits(key, {right: self.sizes[left]}):
                yield f"`{left}` and `{right}` need not be equal; it fits where they are"
        for name, number in list(product(used, sorted(names.literals - {0, 1})))[:_PROBES]:
            if self._fits(key, {name: number}):
                several = all(self._fits(key, {name: factor * number}) for factor in (2, 3))
                what = f"a multiple of {number}" if several else str(number)
                yield f"`{name}` need not be {what}; it fits where it is"
        large = naming.large(self.fixed)
        told = {name: large[name] for name in names.a}
        if of_types and self._fits(key, told):
            listed = ", ".join([f"{name} = {size}" for name, size in told.items()])
            yield f"it fits with larger sizes, such as {listed}; give one by --dim"

    def _fits(self, key: ProblemKey, changes: Mapping[str, int]) -> bool:
        """True if the problem with this key is none where some sizes are others, and no other problem comes up."""
        changed = {**self.sizes, **changes}
        try:
            found = by_key(self.inference.diagnostics(Sizes(changed, naming.primes(set(changed.values())))))
        except NotChecked:
            return False
        return key not in found and found.keys() <= self.known
