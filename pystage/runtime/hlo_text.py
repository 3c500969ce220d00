"""HLO text: how many instructions it has."""

from __future__ import annotations

import re
from collections import Counter
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
