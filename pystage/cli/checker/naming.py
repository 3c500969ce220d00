"""Assigns sizes to named dimensions, and translates sizes back to names.

The compiler infers with integers. So each name gets a size of its own, a small prime that the program does not mention,
in two assignments: a number that is the same under both is the program's own; one that differs is a size, and the
expression in names (`2*n`, `n*m`, `n+1`) must match under both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, replace
from itertools import combinations, combinations_with_replacement, count
from math import isqrt
from typing import Any

from ...compiler.diagnostics.codes_types import ResultNotAsAnnotated
from ...compiler.diagnostics.diagnostic import Diagnostic, Note
from ..annotations import Sizes

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w]|\.\d)")
_NUMPYS_NAMES = re.compile(r", with gufunc signature [^ ]+")
"""What NumPy calls the dimensions in its messages, among which the names here would stand."""
_SMALL = 100
_LARGE = 67
_LARGEST_FACTOR = 4096


def primes(taken: Set[int], mentioned: Set[int] = frozenset(), at_least: int = 7) -> Iterator[int]:
    """Primes that are not taken: first small ones that the program does not mention, then small ones, then all others."""
    small = [p for p in _primes_from(at_least, at_least + _SMALL) if p not in taken]
    yield from (p for p in small if p not in mentioned)
    yield from (p for p in small if p in mentioned)
    yield from (p for p in _primes_from(at_least + _SMALL) if p not in taken)


def _primes_from(start: int, end: int | None = None) -> Iterator[int]:
    for number in count(start) if end is None else range(start, end):
        if all(number % divisor for divisor in range(2, isqrt(number) + 1)):
            yield number


def first(fixed: Mapping[str, int], mentioned: Set[int]) -> Sizes:
    """Sizes in ascending order, each name's when it is first met."""
    return Sizes(fixed, primes(set(fixed.values()), mentioned))


def second(fixed: Mapping[str, int], mentioned: Set[int], before: Sizes) -> Sizes:
    """Other sizes for the same names, in descending order, so that the two differ by another number for each name."""
    fresh = primes(set(before.values()), mentioned)
    descending = [next(fresh) for _ in range(len(before) - len(fixed))][::-1]
    return Sizes(fixed, _chained(descending, fresh))


def large(fixed: Mapping[str, int]) -> Sizes:
    """Sizes of which halves of halves are still some elements."""
    return Sizes(fixed, primes(set(fixed.values()), at_least=_LARGE))


def _chained(some: list[int], more: Iterator[int]) -> Iterator[int]:
    yield from some
    yield from more


class Naming:
    """The names for the numbers of two texts that were made under two assignments of sizes; `fixed` keep their numbers."""

    def __init__(self, a: Mapping[str, int], b: Mapping[str, int], fixed: Set[str]) -> None:
        self.a = {name: size for name, size in a.items() if name not in fixed}
        self.b = {name: size for name, size in b.items() if name not in fixed}
        self.used: set[str] = set()
        """The names that were found in texts."""
        self.literals: set[int] = set()
        """The numbers of the program that stood in texts with sizes."""
        self.unnamed = False
        """True if some size is of no name, nor a sum or product of some."""

    def diagnostic(self, a: Diagnostic, b: Diagnostic | None) -> Diagnostic:
        """A diagnostic with names for sizes; `b` is the same one under the second assignment, if it is found there."""
        changes: dict[str, Any] = {}
        if isinstance(a, ResultNotAsAnnotated):
            self.used.update(self.a.keys() & set(re.findall(r"[^\W\d]\w*", a.said)))
        for each in fields(a):
            value = getattr(a, each.name)
            if isinstance(value, str):
                changes[each.name] = self.text(value, None if b is None else getattr(b, each.name))
        others = (None,) * len(a.notes) if b is None or len(b.notes) != len(a.notes) else b.notes
        notes = [self._note(note, other) for note, other in zip(a.notes, others)]
        return replace(a, notes=tuple(notes), **changes)

    def _note(self, a: Note, b: Note | None) -> Note:
        label = self.text(a.label, None if b is None else b.label)
        return replace(a, text=self.text(a.text, None if b is None else b.text), label=label)

    def text(self, a: str, b: str | None) -> str:
        """The text with names for sizes."""
        a = _NUMPYS_NAMES.sub("", a)
        b = None if b is None else _NUMPYS_NAMES.sub("", b)
        numbers = None if b is None else _NUMBER.findall(b)
        if b is None or numbers is None or _NUMBER.sub("0", a) != _NUMBER.sub("0", b):
            return _NUMBER.sub(lambda found: self._alone(found[0]), a)
        others = iter(numbers)
        return _NUMBER.sub(lambda found: self._named(int(found[0]), int(next(others))), a)

    def _alone(self, number: str) -> str:
        names = [name for name, size in self.a.items() if size == int(number)]
        self.used.update(names)
        return names[0] if names else number

    def _named(self, a: int, b: int) -> str:
        if a == b:
            self.literals.add(a)
            return str(a)
        for found in (self._names(a, b), self._compound(a, b)):
            if len(found) == 1:
                [(text, names)] = found.items()
                self.used.update(names)
                return text
        self.unnamed = True
        return str(a)

    def _names(self, a: int, b: int) -> dict[str, tuple[str, ...]]:
        return {name: (name,) for name in self.a if (self.a[name], self.b.get(name)) == (a, b)}

    def _compound(self, a: int, b: int) -> dict[str, tuple[str, ...]]:
        """Products, sums and quotients of names and numbers that give `a` and `b`; products before all."""
        found: dict[str, tuple[str, ...]] = {}
        pairs = {name: (self.a[name], self.b[name]) for name in self.a if name in self.b}
        for length in (1, 2, 3):
            for names in combinations_with_replacement(pairs, length):
                x = y = 1
                for name in names:
                    x, y = x * pairs[name][0], y * pairs[name][1]
                if a % x == 0 and b % y == 0 and a // x == b // y <= _LARGEST_FACTOR:
                    factor = a // x
                    found["*".join(([str(factor)] if factor > 1 else []) + list(names))] = names
            if found:
                return found
        for name, (x, y) in pairs.items():
            if a - x == b - y:
                found[f"{name}{a - x:+d}"] = (name,)
            found |= {f"{name}//{k}": (name,) for k in range(2, 17) if (x // k, y // k) == (a, b)}
        for left, right in combinations(pairs, 2):
            (x, y), (u, v) = pairs[left], pairs[right]
            if (x + u, y + v) == (a, b):
                found[f"{left}+{right}"] = (left, right)
        return found
