"""The places of a program that may raise, by number.

In: a `Site` for each such place, in the order in which inference meets them, and the calls that repeat what a
callee does. Out: numbers, the codes of the error cell, and for each number its place with the calls that led
there. A callee's places have consecutive numbers; another call of it is a second range of numbers with the same
places, so that nothing is copied and the code of a place becomes that of the other call by an addition.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..diagnostics.span import Span
from .boundary import Site


@dataclass(frozen=True, slots=True)
class _Repeated:
    """Another call of a callee whose places begin at `origin`; `chain` led to it, `own` to the first call."""

    origin: int
    own: int
    chain: tuple[Span, ...]


class Sites:
    """Numbers for places: 1, 2, …; 0 is none."""

    def __init__(self) -> None:
        self.next = 1
        self._starts: list[int] = []
        self._found: list[Site | _Repeated] = []

    def add(self, site: Site) -> int:
        """The number of a new place."""
        return self._append(site, 1)

    def repeat(self, first: int, end: int, own: int, chain: tuple[Span, ...]) -> int:
        """What is to be added to the numbers from `first` up to `end` for another call, to which `chain` led.

        `own`: how many calls led to the first one.
        """
        return self._append(_Repeated(first, own, chain), end - first) - first

    def _append(self, found: Site | _Repeated, count: int) -> int:
        number = self.next
        self._starts.append(number)
        self._found.append(found)
        self.next += count
        return number

    def classes(self, first: int) -> set[type[BaseException]]:
        """What the places from the number `first` on may raise."""
        found: set[type[BaseException]] = set()
        pending = [(first, self.next)]
        seen: set[tuple[int, int]] = set()
        for begin, end in pending:
            if (begin, end) in seen:
                continue
            seen.add((begin, end))
            index = self._index(begin)
            for i in range(max(index, 0), len(self._starts)):
                place, start = self._found[i], self._starts[i]
                if start >= end:
                    break
                if isinstance(place, Site):
                    found.add(place.cls)
                else:
                    count = (self._starts[i + 1] if i + 1 < len(self._starts) else self.next) - start
                    pending.append((place.origin, place.origin + count))
        return found

    def numbers(self, first: int) -> Iterator[tuple[int, int]]:
        """The numbers from `first` on, each with the number under which its place was added."""
        for number in range(first, self.next):
            origin = number
            while not isinstance(found := self._found[index := self._index(origin)], Site):
                origin += found.origin - self._starts[index]
            yield number, origin

    def _index(self, number: int) -> int:
        return bisect.bisect_right(self._starts, number) - 1

    def find(self, number: int) -> Site:
        """The place of a number, with the calls that led there."""
        index = self._index(number)
        found = self._found[index]
        if isinstance(found, Site):
            return found
        site = self.find(number - self._starts[index] + found.origin)
        kept = len(site.chain) - found.own
        return replace(site, chain=site.chain[:kept] + found.chain)
