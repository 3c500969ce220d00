"""The call graph of the user's functions in a program.

In: a typed program. Out: a tree of calls from the compiled function, with each function's own calls shown once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..compiler.diagnostics.span import Span
from ..compiler.hlo.ir import Function
from ..compiler.hlo.walk import callees
from ..records import dataclass
from ..runtime.reports.hlo_text import SourceLocation
from .programs import location_of
from .targets import is_ours

_Key = tuple[str, str]
"""A file, and the qualified name of a function in it."""


@dataclass(frozen=True, slots=True)
class Calls:
    """A function of the user's, where it is defined or begins, where it is called, and what it calls.

    `again`: what it calls is shown where it stands first.
    """

    name: str
    place: SourceLocation | None
    lines: tuple[SourceLocation, ...]
    calls: tuple[Calls, ...]
    again: bool = False

    def walk(self) -> Iterator[Calls]:
        """This and all below it."""
        yield self
        for call in self.calls:
            yield from call.walk()


def calls_of(function: Function, definition: Span | None, name: str) -> Calls:
    """The calls in a program whose function is defined there, and called so by the user."""
    graph = _Graph()
    root = graph.add(function, _key(definition) or ("", name))
    graph.places[root] = location_of(definition)
    return replace(graph.tree(root, (), set()), name=name)


class _Graph:
    """The functions that spans name, where they are, and their calls."""

    def __init__(self) -> None:
        self.places: dict[_Key, SourceLocation | None] = {}
        self._calls: dict[_Key, dict[_Key, list[SourceLocation]]] = {}
        self._seen: set[tuple[Function, _Key]] = set()

    def add(self, function: Function, caller: _Key) -> _Key:
        """Adds what is called in `function`, which stands for `caller` unless it has a definition of its own."""
        own = _key(function.span) or caller
        if (function, own) in self._seen:
            return own
        self._seen.add((function, own))
        self._calls.setdefault(own, {})
        if function.span is not None:
            self.places[own] = location_of(function.span)
        for op in function.body.walk():
            inside = _key(op.span) or own
            if inside != own:
                self._inlined(own, inside, op.span)
            for callee in callees(op):
                key = self.add(callee, inside)
                if key != inside:
                    self._call(inside, key, location_of(op.span))
        return own

    def _inlined(self, own: _Key, inside: _Key, span: Span | None) -> None:
        """A function whose operations stand among those of another, without a call."""
        if inside not in self._calls:
            self._call(own, inside, None)
            self.places.setdefault(inside, location_of(span))

    def _call(self, caller: _Key, callee: _Key, at: SourceLocation | None) -> None:
        self._calls.setdefault(callee, {})
        places = self._calls.setdefault(caller, {}).setdefault(callee, [])
        if at is not None and at not in places:
            places.append(at)

    def tree(self, key: _Key, lines: tuple[SourceLocation, ...], shown: set[_Key]) -> Calls:
        """The calls from one function on; `shown` are those whose calls have been told."""
        again = key in shown and bool(self._calls[key])
        below: tuple[Calls, ...] = ()
        if key not in shown:
            shown.add(key)
            below = tuple([self.tree(k, tuple(at), shown) for k, at in self._calls[key].items()])
        name = key[1].replace("<locals>.", "")
        return Calls(name, self.places.get(key), lines, below, again)


def _key(span: Span | None) -> _Key | None:
    if span is None or not span.function or is_ours(span.file):
        return None
    return span.file, span.function
