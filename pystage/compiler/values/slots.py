"""Slots: the variables and cells that the state of inference has contents for.

A slot is the number of a heap cell, or a variable: a frame and a name. A name is that of a variable or temporary of stage
IR, or `Hidden` where inference itself keeps something in the state, so that joins and loops treat it as any other variable.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import NamedTuple

from ..stage.ir import is_temp
from .node import CellNumber


class Purpose(enum.Enum):
    """The purpose of a hidden variable."""

    __hash__ = object.__hash__  # each is one object, and part of many keys

    RESULT = "the result of a call"
    CHOICE = "the value of a conditional expression"
    RAISED = "what a slot held where an arm of a branch has raised"
    VERSION = "the contents of a version of the error cell"
    CONDITION = "the condition of a version of the error cell"
    COUNTER = "the number of a trip"
    TEST = "the truth of the test of a loop"
    ROWS = "what a loop appends to a list"
    ARGUMENTS = "arguments of a derivative"


_TEMPORARY = frozenset([Purpose.RESULT, Purpose.CHOICE, Purpose.RAISED, Purpose.VERSION, Purpose.CONDITION])
"""A purpose of variables that are written before they are read on every path, as temporaries of stage IR."""


class Hidden(NamedTuple):
    """The name of a variable that inference makes; `key` distinguishes those of one purpose."""

    purpose: Purpose
    key: Hashable = None


Name = str | Hidden
Variable = tuple[int, Name]
"""A frame and the name of a variable of it."""

Slot = CellNumber | Variable


def is_temporary(slot: Slot) -> bool:
    """True for a temporary, which is written before it is read on every path."""
    return isinstance(slot, tuple) and is_temporary_name(slot[1])


def is_temporary_name(name: Name) -> bool:
    """True for the name of a temporary."""
    return name.purpose in _TEMPORARY if isinstance(name, Hidden) else is_temp(name)


def is_of_compiler(name: Name) -> bool:
    """True for a variable that the source does not name."""
    return isinstance(name, Hidden) or name.startswith(".")
