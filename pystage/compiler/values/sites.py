"""The raise-site table: the instructions of a program that may raise, by number.

In: a `Site` for each, in the order in which inference meets them, and the calls that repeat those of a callee. Out: numbers,
the codes of the error cell, and for each number its site with the calls that lead to it. The sites of a callee have
consecutive numbers; another call of it is a second range of numbers for the same sites, so that nothing is copied and
an addition converts the code of one call into that of another.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from ...records import dataclass
from ..diagnostics.span import Span
from ..hlo.ir import Value
from ..hlo.types import INT32, ArrayType
from ..speculation import Declarations, Grows
from .boundary import Handled, Site

_HANDLED = 1 << 20
"""The first payload key for exceptions being handled, and the distance between those of two."""


@dataclass(frozen=True, slots=True)
class _Repeated:
    """Another call of a callee whose sites begin at `origin`; `chain` led to it, `own` to the first call."""

    origin: int
    own: int
    chain: tuple[Span, ...]


class RaiseSites:
    """The numbers of raise sites: 1, 2, …; 0 is none."""

    SPECULATION: ClassVar[Declarations] = Declarations(
        dict.fromkeys(
            ("next", "_starts", "_found", "_handled", "_handlers"),
            Grows(
                "a summary that stays raises by these numbers; at worst a handler is inferred for what nothing raises"
            ),
        )
    )

    def __init__(self) -> None:
        self.next = 1
        self._starts: list[int] = []
        self._found: list[Site | _Repeated] = []
        self._handled: list[tuple[int, int, Handled]] = []
        self._handlers = 0

    def add(self, site: Site) -> int:
        """Adds a site; gives its number."""
        return self._append(site, 1)

    def repeat(self, first: int, end: int, own: int, chain: tuple[Span, ...]) -> int:
        """The offset of the numbers from `first` up to `end` for another call, to which `chain` led.

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
        """The exception classes of the sites from the number `first` on."""
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
        """The numbers from `first` on, each with the number under which its site was added."""
        for number in range(first, self.next):
            origin = number
            while not isinstance(found := self._found[index := self._index(origin)], Site):
                origin += found.origin - self._starts[index]
            yield number, origin

    def handle(self, keys: Sequence[tuple[ArrayType, int]]) -> Handled:
        """The payload keys for an exception being handled, which is made of the values under `keys`."""
        self._handlers += 1
        first = self._handlers * _HANDLED
        own = [(key, (key[0], first + i)) for i, key in enumerate(keys, 1)]
        return Handled((ArrayType(INT32), first), tuple(own))

    def handled(self, first: int, handled: Handled) -> None:
        """Records that all sites from the number `first` on raise while this exception is being handled."""
        if self.next > first:
            self._handled.append((first, self.next, handled))

    def _around(self, number: int, first: int) -> tuple[Handled, ...]:
        """The exceptions being handled at a site, since the site `first`, innermost first."""
        return tuple([h for start, end, h in self._handled if first <= start <= number < end])

    def _index(self, number: int) -> int:
        return bisect.bisect_right(self._starts, number) - 1

    def at(self, number: int) -> Site:
        """The site that was added under a number."""
        found = self._found[self._index(number)]
        assert isinstance(found, Site)
        return found

    def find(self, number: int, first: int = 0) -> Site:
        """The site of a number, with the calls that led there, and the exceptions being handled since `first`."""
        index = self._index(number)
        found, handled = self._found[index], self._around(number, first)
        if isinstance(found, Site):
            return replace(found, handled=handled)
        site = self.find(number - self._starts[index] + found.origin, found.origin)
        kept = len(site.chain) - found.own
        return replace(site, chain=site.chain[:kept] + found.chain, handled=site.handled + handled)


def contexts(payload: dict[tuple[ArrayType, int], Value]) -> dict[tuple[ArrayType, int], Value]:
    """The part of a payload for exceptions being handled."""
    return {key: value for key, value in payload.items() if key[1] >= _HANDLED}
