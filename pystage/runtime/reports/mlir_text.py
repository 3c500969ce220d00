"""StableHLO text with source locations of its operations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from .hlo_text import SourceLocation

_STRING = r'"(?:[^"\\]|\\.)*"'
_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_PART = re.compile(rf"({_STRING}):(\d+):\d+|(#loc\d*)|{_STRING}")
_INNER = rf'(?:[^()"]|{_STRING})*'
_LOCATION = re.compile(rf"({_STRING})| loc\(({_INNER}(?:\({_INNER}\){_INNER})*)\)")
_NO_OPERATION = re.compile(r"(\}|cond \{|module|func\.func|(stablehlo\.|func\.)?return\b|\^|$)")


class MlirLine(NamedTuple):
    """A line of a module without its location, and its source locations, the innermost first."""

    text: str
    places: tuple[SourceLocation, ...]
    operation: bool


def mlir_lines(text: str) -> list[MlirLine]:
    """The lines of a module that was printed with its locations.

    The location of an operation that holds others stands after them; it counts for the operation's first line, too.
    """
    locations = _Locations(dict(_DEFINITION.findall(text)))
    lines: list[MlirLine] = []
    unlocated: dict[int, list[int]] = defaultdict(list)
    for line in _DEFINITION.sub("", text).strip().splitlines():
        shown = _LOCATION.sub(r"\1", line)
        code = shown.lstrip()
        waiting = unlocated[len(shown) - len(code)]
        location = next((m[2] for m in _LOCATION.finditer(line) if m.end() == len(line)), None)
        places = () if location is None else locations.places(location)
        if location is None and code:
            waiting.append(len(lines))
        elif location is not None:
            for i in waiting if code.startswith("}") else ():
                lines[i] = lines[i]._replace(places=places)
            waiting.clear()
        lines.append(MlirLine(shown, places, _NO_OPERATION.match(code) is None))
    return lines


class _Locations:
    """The locations that a module names."""

    def __init__(self, definitions: Mapping[str, str]) -> None:
        self._definitions = definitions
        self._known: dict[str, tuple[SourceLocation, ...]] = {}

    def places(self, location: str) -> tuple[SourceLocation, ...]:
        """The source locations of an MLIR location, callee before caller."""
        known = self._known.get(location)
        if known is None:
            found: list[SourceLocation] = []
            for file, line, name in _PART.findall(location):
                if file:
                    found.append((file[1:-1], int(line)))
                elif name:
                    found += self.places(self._definitions.get(name, ""))
            known = self._known[location] = tuple(found)
        return known
