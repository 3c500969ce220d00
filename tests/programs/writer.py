"""The state of writing a random program: its lines, the names that may be used here, and Hypothesis' choices.

Every choice is one small integer whose zero is the simplest, and every statement and expression is drawn as a
strategy of its own, so that Hypothesis shrinks a failing program by leaving out parts of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from .kinds import Expression, Form, Kind, Number, places

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]


@lru_cache(100)
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


@dataclass(frozen=True)
class Variable:
    """What a name stands for; `assignable`: whether it may be bound again here."""

    kind: Kind
    assignable: bool = True


@dataclass(frozen=True)
class Callee:
    """A function that the program defines: with the kinds of its parameters, the last `defaults` of them optional."""

    name: str
    params: tuple[Number, ...]
    defaults: int
    rest: bool
    result: Number


@dataclass
class Scope:
    """What can be used at a place of the program."""

    variables: dict[str, Variable] = field(default_factory=dict)
    callees: list[Callee] = field(default_factory=list)
    loops: int = 0
    results: tuple[Number, ...] = ()
    """The kinds of what `return` gives here; empty where there is none but the last."""
    captured: frozenset[str] = frozenset()
    """Names of what stands outside of the function: `name += 1` would make it a local variable."""


class Writer:
    """Writes one program."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.scope = Scope()
        self.depth = 0
        self.statements = 0
        self.calm = False
        """Names of arrays, containers and objects are not bound again in branches and loops."""
        self.looped = False
        """What loops change, and what is kept under their counters, is written more often."""
        self.sources: tuple[Callable[[Writer], Expression | None], ...] = ()
        """What gives expressions that are made neither of operations nor of calls."""
        self._count = 0

    # -- choices

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        if len(options) == 1:
            return options[0]
        return options[self.draw(_below(len(options)))]

    def chance(self, count: int) -> bool:
        """True once in `count` times."""
        return bool(self.draw(_below(count)) == count - 1)

    def below(self, count: int) -> int:
        """A number from 0 to `count - 1`."""
        return int(self.draw(_below(count)))

    def statement(self, write: Callable[[], T]) -> T:
        """What `write` gives, its choices a statement to Hypothesis, which may leave it out."""
        return self.draw(_statement(write))

    def expression(self, write: Callable[[], T]) -> T:
        """What `write` gives, its choices an expression to Hypothesis."""
        return self.draw(_expression(write))

    # -- names

    def name(self, letter: str) -> str:
        """A name that is not used yet."""
        self._count += 1
        return f"{letter}{self._count}"

    def declare(self, name: str, kind: Kind, assignable: bool = True) -> None:
        """From here on the name can be used."""
        self.scope.variables[name] = Variable(kind, assignable)

    def places(self) -> Iterator[tuple[str, Kind, bool]]:
        """Everything that can be read here."""
        for name, variable in self.scope.variables.items():
            yield from places(name, variable.kind, variable.assignable)

    def numbers(self, wanted: Callable[[Number], bool] = lambda _: True) -> list[tuple[str, Number, bool]]:
        """The numbers that can be read here."""
        return [
            (text, kind, assignable)
            for text, kind, assignable in self.places()
            if isinstance(kind, Number) and wanted(kind)
        ]

    def arrays(self, wanted: Callable[[Number], bool] = lambda _: True) -> list[tuple[str, Number, bool]]:
        """The arrays that have elements and can be stored into here."""
        return self.numbers(lambda k: k.form is Form.ARRAY and k.elements > 0 and k.shape != () and wanted(k))

    def of_type(self, cls: type[T]) -> list[tuple[str, T, bool]]:
        """The containers of a kind that can be read here."""
        return [(text, kind, ok) for text, kind, ok in self.places() if isinstance(kind, cls)]

    @property
    def keeps(self) -> bool:
        """Whether names of what can be mutated stay what they are, here."""
        return self.calm and self.depth > 1

    # -- lines

    def add(self, text: str) -> None:
        """Writes a line."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, header: str, **changes: Any) -> Iterator[None]:
        """Lines under a header; what they declare is forgotten behind them. `changes` are those of the scope."""
        self.add(header)
        outer, start = self.scope, len(self.lines)
        scope = Scope(dict(outer.variables), list(outer.callees), outer.loops, outer.results, outer.captured)
        for name, value in changes.items():
            setattr(scope, name, value)
        self.scope, self.depth = scope, self.depth + 1
        yield
        if len(self.lines) == start:
            self.add("pass")
        self.scope, self.depth = outer, self.depth - 1


@st.composite
def _statement(draw: Draw, write: Callable[[], T]) -> T:
    draw(st.none())
    return write()


@st.composite
def _expression(draw: Draw, write: Callable[[], T]) -> T:
    draw(st.none())
    return write()
