"""The state of the program being inferred: one store of slots for variables and heap cells alike.

A slot is a variable `(frame, name)` or the number of a heap cell. Control flow forks the store: a fork
notes the old contents of what it changes, so that leaving it restores them and yields the changes.
Forking costs what was changed, not what exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .lattice import (
    Abstract,
    Array,
    ArrayCell,
    Cell,
    Closure,
    Const,
    DictCell,
    DictView,
    Enumerate,
    IteratorCell,
    ListCell,
    Mapped,
    MaybeUndef,
    Method,
    ObjectCell,
    Partial,
    Range,
    Ref,
    Reversed,
    SetCell,
    Slice,
    Super,
    Tuple,
    VariableCell,
    Zip,
)

Slot = int | tuple[int, str]
Content = Abstract | Cell

MISSING: Any = object()


class Changes(dict[Slot, Content]):
    """What a fork left behind: the contents that each changed slot has at its end."""


class State:
    """Slots and their contents, with forks."""

    def __init__(self) -> None:
        self.slots: dict[Slot, Content] = {}
        self._journals: list[dict[Slot, Any]] = []
        self._next_cell = 0
        self._next_frame = 0

    # -- slots

    def get(self, slot: Slot) -> Any:
        """The contents of a slot; KeyError if there are none."""
        return self.slots[slot]

    def set(self, slot: Slot, content: Content) -> None:
        """Replaces the contents of a slot."""
        if self._journals:
            journal = self._journals[-1]
            if slot not in journal:
                journal[slot] = self.slots.get(slot, MISSING)
        self.slots[slot] = content

    def new_frame(self) -> int:
        """The number of a new frame."""
        self._next_frame += 1
        return self._next_frame

    def new_cell(self, content: Cell) -> int:
        """Allocates a heap cell."""
        self._next_cell += 1
        self.set(self._next_cell, content)
        return self._next_cell

    # -- forks

    @contextmanager
    def fork(self) -> Iterator[Changes]:
        """Runs the `with` block on a fork; afterwards the store is as before and `Changes` holds the ends."""
        changes = Changes()
        journal: dict[Slot, Any] = {}
        self._journals.append(journal)
        try:
            yield changes
        finally:
            assert self._journals.pop() is journal
            slots = self.slots
            for slot, old in journal.items():
                if slot in slots and slots[slot] is not old:
                    changes[slot] = slots[slot]
                if old is MISSING:
                    slots.pop(slot, None)
                else:
                    slots[slot] = old

    # -- reachability

    def reachable(self, roots: Iterable[Abstract]) -> dict[int, None]:
        """The cells that `roots` reach, in the order of a depth-first walk."""
        found: dict[int, None] = {}
        stack = list(roots)[::-1]
        while stack:
            value = stack.pop()
            if isinstance(value, Ref | DictView):
                if value.cell in found:
                    continue
                found[value.cell] = None
                if value.cell in self.slots:
                    stack.extend(list(parts(self.slots[value.cell]))[::-1])
            elif isinstance(value, Closure):
                for _, cell in value.cells:
                    if cell not in found:
                        found[cell] = None
                        if cell in self.slots:
                            stack.extend(list(parts(self.slots[cell]))[::-1])
                stack.extend(parts(value))
            else:
                stack.extend(list(parts(value))[::-1])
        return found

    def held_elsewhere(self, cell: int, by: int) -> bool:
        """True if a variable or a cell other than `by` refers to `cell`; temporaries do not count."""
        for slot, content in self.slots.items():
            if slot == by or (isinstance(slot, tuple) and slot[1].startswith("%")):
                continue
            for part in parts(content):
                if refers(part, cell):
                    return True
            if isinstance(content, Ref) and content.cell == cell:
                return True
        return False


def refers(value: Abstract, cell: int) -> bool:
    """True if `value` refers to `cell` without going through another cell."""
    if isinstance(value, Ref | DictView):
        return value.cell == cell
    if isinstance(value, Closure) and any(c == cell for _, c in value.cells):
        return True
    return any(refers(part, cell) for part in parts(value))


def parts(content: Content) -> Iterator[Abstract]:
    """The abstract values directly inside a value or a cell."""
    match content:
        case Const() | Array() | Ref() | ArrayCell() | SetCell():
            return
        case Tuple(items=items) | ListCell(items=items) | IteratorCell(rest=items):
            yield from items
        case Slice(start, stop, step) | Range(start, stop, step):
            yield from (start, stop, step)
        case Enumerate(inner, start):
            yield from (inner, start)
        case Zip(inners=inners):
            yield from inners
        case Reversed(inner):
            yield inner
        case Mapped(function, inners):
            yield function
            yield from inners
        case Closure(defaults=defaults, kw_defaults=kw_defaults):
            yield from defaults
            for _, value in kw_defaults:
                yield value
        case Method(function, receiver):
            yield from (function, receiver)
        case Partial(function, args, kwargs):
            yield function
            yield from args
            for _, value in kwargs:
                yield value
        case Super(receiver=receiver):
            yield receiver
        case MaybeUndef(value=value) | VariableCell(value=value):
            yield value
        case DictCell(entries=entries):
            yield from entries.values()
        case ObjectCell(fields=fields):
            yield from fields.values()
