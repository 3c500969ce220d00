"""Identity of arrays, where only the run knows the object: by allocation site and time of inference."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable


class Identity:
    """The identity of an array by allocation site and time: no two are made at one time.

    One object; of a loop, any of those that its trips have made at one place of the source, an allocation site; or any of
    several, its `parts`. The site may be unknown. What a loop over a list takes of it is one of its elements, `elements`,
    and in each trip of `taker` another one.
    """

    __slots__ = (
        "_first",
        "_last",
        "_loop",
        "_sites",
        "_unions",
        "elements",
        "of_loop",
        "parts",
        "site",
        "taker",
    )

    def __init__(
        self,
        site: Hashable = None,
        of_loop: bool = False,
        elements: tuple[Identity, ...] = (),
        taker: Identity | None = None,
    ) -> None:
        self.site = site
        self.of_loop = of_loop
        self.parts: tuple[Identity, ...] = ()
        self.elements = elements
        self.taker = taker
        self._loop = self
        self._sites: dict[Hashable, Identity] | None = None
        self._unions: dict[tuple[Identity, ...], Identity] | None = None
        self._first = next(_TIMES)
        self._last = math.inf if of_loop else self._first

    @classmethod
    def any_of(cls, objects: Iterable[Identity]) -> Identity:
        """An unknown one of these."""
        parts = dict.fromkeys([part for each in objects for part in each.parts or (each,)])
        first, *others = parts
        if not others and first.of_loop:
            return first
        unions = first._unions = first._unions or {}
        known = unions.get(tuple(others))
        if known is None:
            known = unions[tuple(others)] = cls.one_of(parts)
        return known

    @classmethod
    def one_of(cls, objects: Iterable[Identity]) -> Identity:
        """A certain one of these, nobody knows which: another one each time that this is asked."""
        made = cls(of_loop=True)
        made.parts = tuple(dict.fromkeys([part for each in objects for part in each.parts or (each,)]))
        return made

    def at(self, site: Hashable, elements: tuple[Identity, ...] = ()) -> Identity:
        """The objects of the trips of a loop, restricted to those of this place."""
        sites = self._sites = self._sites or {}
        found = sites.get((site, elements))
        if found is None:
            found = sites[site, elements] = Identity(site, True, elements)
            found._loop = self
        return found

    def end(self) -> None:
        """Ends the loop: objects made from now on are none of its objects."""
        self._last = next(_TIMES)

    def may_be(self, other: Identity) -> bool:
        """False if the two are certainly different objects.

        While a loop is inferred, what its trips have made is of the trips before.
        """
        if self.parts:
            return any(part.may_be(other) for part in self.parts)
        if other.parts:
            return other.may_be(self)
        if self is other or self is SOME_OBJECT or other is SOME_OBJECT:
            return True
        if self.elements or other.elements:
            if self._is_taken_beside(other) or other._is_taken_beside(self):
                return False
            return any(a.may_be(b) for a in self.elements or (self,) for b in other.elements or (other,))
        if self.site != other.site and self.site is not None and other.site is not None:
            return False
        one, two = self._loop, other._loop
        if math.inf in (one._last, two._last):
            return False
        return one._first <= two._last and two._first <= one._last

    def _is_taken_beside(self, other: Identity) -> bool:
        """True for what a trip takes, and what earlier trips have taken at the same place."""
        return self.taker is other._loop and bool(other.elements) and self.site == other.site

    def is_like(self, other: Identity) -> bool:
        """True if it may be the same objects."""
        return self is other or (bool(self.parts) and {*self.parts} == {*other.parts})

    def covers(self, other: Identity) -> bool:
        """True for the objects of a loop, or one of several, if the other is among them."""
        if other.parts or self is SOME_OBJECT:
            return all(map(self.covers, other.parts))
        if self.parts:
            return any(part is other or part.covers(other) for part in self.parts)
        return self.of_loop and self.site == other.site and self._loop._first <= other._loop._first

    def after_trips(self, loop: Identity) -> Identity:
        """The identity after any number of trips of a loop that leaves it."""
        if self.parts:
            parts = [part.after_trips(loop) for part in self.parts]
            return self if parts == [*self.parts] else Identity.any_of(parts)
        of, begin = self._loop, loop._first
        is_outer = of._last == math.inf and of._first < begin
        if of._last < begin or is_outer or of is loop:
            return self
        return loop.at(self.site, tuple([each.after_trips(loop) for each in self.elements]))


_TIMES = itertools.count()

SOME_OBJECT = Identity(of_loop=True)
"""An unknown object."""


def may_be_one(a: Iterable[Identity], b: Iterable[Identity]) -> bool:
    """False if no object of one set is certainly an object of the other."""
    others = list(b)
    return any(one.may_be(other) for one in a for other in others)


def united(*objects: Iterable[Identity]) -> tuple[Identity, ...]:
    """The union of sets of objects."""
    return tuple(dict.fromkeys(itertools.chain(*objects)))
