"""HLO text: its number of instructions and their source locations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

# `%name = type opcode(`: types hold no word that is followed by a parenthesis.
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = .*? ([a-z][a-z0-9\-]*)\(")
_COMPUTATION = re.compile(r"^(ENTRY )?%?[\w.\-]+ .*\{$|^(ENTRY )?%?[\w.\-]+ \{$")


class InstructionCounts(NamedTuple):
    """Instructions of an HLO module: of its entry computation, of all computations, and of each opcode."""

    entry: int
    total: int
    by_opcode: dict[str, int]


def instruction_counts(text: str) -> InstructionCounts:
    """Counts the instructions of an HLO module from its text."""
    opcodes: Counter[str] = Counter()
    entry, in_entry = 0, False
    for line in text.splitlines():
        if _COMPUTATION.match(line):
            in_entry = line.startswith("ENTRY ")
            continue
        found = _INSTRUCTION.match(line)
        if found:
            opcodes[found[1]] += 1
            entry += in_entry
    return InstructionCounts(entry, sum(opcodes.values()), dict(opcodes.most_common()))


SourceLocation = tuple[str, int]
"""A file and a line in it."""

_METADATA = re.compile(r', metadata=(\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*\})')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_SOURCE = re.compile(r'source_file="((?:[^"\\]|\\.)*)".*?source_line=(\d+)')
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_NO_PARENT = 1
"""XLA prints the parent of a frame as its index plus one, and one where there is none."""


class HloLine(NamedTuple):
    """A line of an HLO module without its metadata, and its source locations, the innermost first."""

    text: str
    places: tuple[SourceLocation, ...]
    instruction: bool


def hlo_lines(text: str) -> Iterator[HloLine]:
    """The lines of an HLO module, without the location tables at its head."""
    frames = _Frames(text)
    inside = False
    last = ""
    for line in text.strip().splitlines():
        if inside or line in _TABLES:
            inside = bool(line)
            continue
        if not line and not last:
            continue
        last = line
        metadata = _METADATA.search(line)
        places = frames.places(metadata[1]) if metadata else ()
        yield HloLine(_METADATA.sub("", line), places, _INSTRUCTION.match(line) is not None)


class _Frames:
    """The tables at the head of an HLO module: stack frames, which refer to locations, which refer to files."""

    def __init__(self, text: str) -> None:
        files = dict(re.findall(r'^(\d+) "(.*)"$', text.partition("FunctionNames")[0], re.MULTILINE))
        located = re.findall(r"^(\d+) \{file_name_id=(\d+) .*?\bline=(\d+)", text, re.MULTILINE)
        places = {index: (files.get(file, ""), int(line)) for index, file, line in located}
        frames = re.findall(r"^(\d+) \{file_location_id=(\d+) parent_frame_id=(\d+)", text, re.MULTILINE)
        self._places = {int(index): places[place] for index, place, _ in frames if place in places}
        self._parents = {int(index): int(parent) - _NO_PARENT for index, _, parent in frames}

    def places(self, metadata: str) -> tuple[SourceLocation, ...]:
        """The source locations in the metadata of an instruction, and those of the calls around them."""
        source = _SOURCE.search(metadata)
        if source:
            return ((source[1], int(source[2])),)
        found = _FRAME.search(metadata)
        frame = int(found[1]) if found else 0
        chain: list[SourceLocation] = []
        while frame in self._places and len(chain) < len(self._places):
            chain.append(self._places[frame])
            frame = self._parents[frame]
        return tuple(chain)
