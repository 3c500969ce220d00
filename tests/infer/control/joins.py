"""Joining two values on two sides of a state, and what two joined templates have in common."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pystage.compiler.hlo.ir import Value
from pystage.compiler.hlo.types import FLOAT32, FLOAT64, INT64
from pystage.compiler.infer.control.branches import lookup
from pystage.compiler.infer.control.join import Join, LoopHead, Merge
from pystage.compiler.infer.state.phi import outline
from pystage.compiler.values.gated import Gated, GatedNumber, alternatives
from pystage.compiler.values.lattice import (
    Abstract,
    ArrayCell,
    Cell,
    Const,
    DictCell,
    ListCell,
    Ref,
    Unknown,
)
from pystage.compiler.values.state import State
from tests.values.samples import REASON, number, program

X = (1, "x")
UNKNOWN = Unknown(REASON)


def heap() -> dict[int, Cell]:
    """Cells that both sides have."""
    return {
        1: ArrayCell(program(FLOAT64, 3, 4)),
        2: ArrayCell(program(FLOAT64, 3, 4)),
        3: ArrayCell(program(FLOAT32, 2, 3)),
        4: ListCell((number(), Const(1))),
        5: ListCell((Const(2.0), Const(1))),
        6: ListCell((Ref(1),)),
        7: DictCell({"a": Const(1)}),
        8: DictCell({"a": number(INT64)}),
    }


HEAP = heap()


def state() -> State:
    """A state with the cells of `HEAP`."""
    made = State()
    for cell, content in HEAP.items():
        made.set(cell, content)
    made.next_cell = len(HEAP)
    return made


class Joined:
    """The join of two values on a state; what either side has changed besides is in `first` and `second`."""

    def __init__(self, a: Any, b: Any, first: Any = None, second: Any = None, loop: bool = False) -> None:
        self.state = state()
        sides = []
        for value, changed in ((a, first), (b, second)):
            with self.state.fork() as changes:
                for slot, content in {X: value, **(changed or {})}.items():
                    self.state.set(slot, content)
            sides.append(lookup(changes, self.state.slots))
        self.join = Join(self.state, Merge(*sides, loop=LoopHead() if loop else None))
        for slot in {X: 0, **(first or {}), **(second or {})}:
            if isinstance(slot, tuple) or slot in self.state.slots:
                self.join.slot(slot)
        self.value: Any = self.join.entries[X][0]

    def content(self, cell: int) -> Any:
        """The joined contents of a cell."""
        found = self.join.entries.get(cell)
        return self.state.slots.get(cell) if found is None else found[0]

    def shape(self, x: Any, aliases: bool = True, seen: tuple[int, ...] = ()) -> Any:
        """What two templates must have equal that are equal up to selectors: classes, types, alternatives, sources."""

        def inner(part: Any) -> Any:
            return self.shape(part, aliases, seen)

        match x:
            case Value():
                return x.type
            case Gated():
                return Gated, frozenset(Counter(map(inner, alternatives(x))).items())
            case GatedNumber():
                return GatedNumber, inner(x.value), frozenset(x.kinds), len(x.tags), x.whole is None
            case Const():
                return Const, type(x.value), repr(x.value)
            case Unknown():
                return Unknown
            case Ref() if x.cell in seen:
                return Ref, seen.index(x.cell)
            case Ref():
                own = Joined.shape(self, self.content(x.cell), aliases, (*seen, x.cell))
                return Ref, own, tuple(map(type, x.path)), x.cell if x.cell in HEAP and aliases else None
            case Abstract() | Cell():
                names = [
                    n for n in type(x).__dataclass_fields__ if n not in ("aliases", "selector", "reason")
                ]
                own = tuple([(n, inner(getattr(x, n))) for n in names])
                known = {outline(s.ref) for s in getattr(x, "aliases", ())} if aliases else ()
                return type(x), own, frozenset(known)
            case tuple():
                return tuple(map(inner, x))
            case dict():
                return tuple([(key, inner(part)) for key, part in x.items()])
        return x


def shape(a: Any, b: Any, aliases: bool = True) -> Any:
    """That of the join of two values."""
    j = Joined(a, b)
    return j.shape(j.value, aliases)
