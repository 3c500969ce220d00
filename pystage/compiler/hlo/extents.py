"""Arithmetic on extents: integers are computed, symbols give symbols that name the linear form.

Transfer functions use nothing else on extents, so a program can be typed before all its shapes are known.
Two forms that are equal as linear expressions get equal symbols (`n+1+1` and `n+2`), which is what
`known_equal` compares; the names of plain symbols should be identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .types import Extent, Shape, Symbol

_TERM = re.compile(r"([+-]?)(?:(\d+)(?![\w(*])|(?:(\d+)\*)?([A-Za-z_]\w*|<[^<>]*>))")

_Form = tuple[dict[str, int], int]


def add(*extents: Extent) -> Extent:
    """The sum of the extents."""
    return _combine([(1, e) for e in extents])


def subtract(a: Extent, b: Extent) -> Extent:
    """`a - b`."""
    return _combine([(1, a), (-1, b)])


def scale(extent: Extent, factor: int) -> Extent:
    """`factor * extent`."""
    return _combine([(factor, extent)])


def ceil_divide(extent: Extent, divisor: int) -> Extent:
    """`extent / divisor`, rounded up: how many steps of `divisor` an axis holds."""
    if isinstance(extent, int):
        return -(-extent // divisor)
    return extent if divisor == 1 else Symbol(f"<{_plain(extent.name)} ceildiv {divisor}>")


def same_size(a: Shape, b: Shape) -> bool:
    """True if two shapes certainly have the same number of elements."""
    size_a, symbols_a = _product(a)
    size_b, symbols_b = _product(b)
    return size_a == size_b and (size_a == 0 or symbols_a == symbols_b)


def _product(shape: Shape) -> tuple[int, list[str]]:
    """The product of the integers of a shape, and its symbols in order of name."""
    size = 1
    symbols = []
    for extent in shape:
        if isinstance(extent, int):
            size *= extent
        else:
            symbols.append(extent.name)
    return size, sorted(symbols)


def _combine(parts: Iterable[tuple[int, Extent]]) -> Extent:
    """A linear combination of extents, as an integer or a symbol with a canonical name."""
    constant = 0
    factors: dict[str, int] = {}
    for factor, extent in parts:
        if isinstance(extent, int):
            constant += factor * extent
            continue
        terms, offset = _parse(extent.name)
        constant += factor * offset
        for name, count in terms.items():
            factors[name] = factors.get(name, 0) + factor * count
    text = ""
    for name, count in sorted(factors.items()):
        if count:
            text += f"{count:+d}*{name}" if abs(count) != 1 else f"{'+' if count > 0 else '-'}{name}"
    if not text:
        return constant
    if constant:
        text += f"{constant:+d}"
    return Symbol(text.removeprefix("+"))


def _parse(name: str) -> _Form:
    """The linear form that a symbol's name spells; a name that spells none is one term."""
    factors: dict[str, int] = {}
    constant = 0
    position = 0
    while position < len(name):
        found = _TERM.match(name, position)
        if found is None:
            return {f"<{_plain(name)}>": 1}, 0
        sign, number, factor, term = found.groups()
        unit = -1 if sign == "-" else 1
        if number is not None:
            constant += unit * int(number)
        else:
            factors[term] = factors.get(term, 0) + unit * int(factor or 1)
        position = found.end()
    return factors, constant


def _plain(name: str) -> str:
    """A name without the brackets that mark a term, so that terms do not nest."""
    return name.replace("<", "(").replace(">", ")")
