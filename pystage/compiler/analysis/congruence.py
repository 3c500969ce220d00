"""Values of a program that are equal in every run: computed alike, of carried values that begin alike and change alike.

In: two values. Out: whether they certainly are equal. Of loops it is an induction: what is carried is taken to be equal
when a trip begins, and must be so when it ends (value numbering; Alpern, Wegman, Zadeck, POPL 1988).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..hlo.ir import Op, Region, Value
from ..ops import If, While

Pair = tuple[Value, Value]


class Congruence:
    """Which values are equal where some `pairs` are; each question is answered once."""

    def __init__(self, pairs: dict[Pair, bool] | None = None) -> None:
        self._known = dict(pairs or {})

    def are_equal(self, a: Value, b: Value) -> bool:
        """True for values that certainly are equal."""
        if a is b:
            return True
        found = self._known.get((a, b))
        if found is None:
            found = self._known[a, b] = self._known[b, a] = a.type == b.type and self._are_computed_alike(
                a, b
            )
        return found

    def _are_computed_alike(self, a: Value, b: Value) -> bool:
        first, second = a.owner, b.owner
        if not isinstance(first, Op) or not isinstance(second, Op):
            return False
        if first is not second:
            alike = first.kind.pure and first.kind == second.kind and not (first.regions or second.regions)
            return alike and a.index == b.index and self._are_all_equal(first.operands, second.operands)
        if isinstance(first.kind, If):
            return all(self.are_equal(r.results[a.index], r.results[b.index]) for r in first.regions)
        if isinstance(first.kind, While):
            (found,) = self.alike_in_loop(first.operands, first.regions[1], [(a.index, b.index)])
            return found
        return False

    def _are_all_equal(self, first: Sequence[Value], second: Sequence[Value]) -> bool:
        return len(first) == len(second) and all(map(self.are_equal, first, second))

    def alike_in_loop(
        self, initial: Sequence[Value], body: Region, places: Sequence[tuple[int, int]]
    ) -> list[bool]:
        """Whether the carried values at two places are equal, for each of the `places`."""
        alike = [self.are_equal(initial[i], initial[k]) for i, k in places]
        while True:
            assumed = [(body.params[i], body.params[k]) for (i, k), holds in zip(places, alike) if holds]
            within = Congruence(
                {**self._known, **{pair: True for a, b in assumed for pair in ((a, b), (b, a))}}
            )
            found = [
                holds and within.are_equal(body.results[i], body.results[k])
                for (i, k), holds in zip(places, alike)
            ]
            if found == alike:
                return alike
            alike = found
