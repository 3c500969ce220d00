"""Frames of the functions that are being inferred, scopes of callees, and the exceptions that interrupt inference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import field
from typing import Any, ClassVar

from ....records import dataclass
from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.span import Span
from ...hlo.ir import Region, Value
from ...speculation import Balanced, Declarations, Fixed, Forked, Grows
from ...stage import ir as stage
from ...values.boundary import Handled
from ...values.lattice import Abstract
from ...values.slots import Slot


@dataclass(slots=True, eq=False)
class Frame:
    """One activation of a staged function: `id` numbers its variables in the state.

    `cells` are the heap cells of the variables that it shares with the functions around and inside it;
    `call` is where it was called. `handled` is what its handlers are handling, innermost last, `depths` those of the
    states in which they began, `finals` how many there were where each `finally` that runs began, and `noted` what got a
    note, with the first place after it. `undecided` are the conditions of the branches and loops being inferred, which only
    the run time knows; `arguments` what the function was called with; `unassigned` the variables that were read where
    nothing had been assigned to them. Of a generator that is fused with a loop, `raised` are the classes that it may raise
    itself, at raise sites from `first_site` on since the loop's body was last left.
    """

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "id": Fixed(),
            "function": Fixed(),
            "namespace": Fixed(),
            "module": Fixed(),
            "cells": Fixed(),
            "call": Fixed(),
            "caller": Fixed(),
            "handled": Forked(),
            "depths": Balanced(),
            "finals": Balanced(),
            "noted": Forked(),
            "undecided": Balanced(),
            "arguments": Fixed(),
            "unassigned": Grows("at worst a loop is inferred once more"),
            "first_site": Grows("at worst a generator is refused that raises no StopIteration"),
            "raised": Grows("at worst a generator is refused that raises no StopIteration"),
        }
    )

    id: int
    function: stage.Function
    namespace: dict[str, Any]
    module: str
    cells: dict[str, int] = field(default_factory=dict)
    call: Span | None = None
    caller: Frame | None = None
    handled: tuple[Abstract, ...] = ()
    depths: list[int] = field(default_factory=list)
    finals: list[int] = field(default_factory=list)
    noted: tuple[tuple[int, Handled], ...] = ()
    undecided: list[Abstract] = field(default_factory=list)
    arguments: Mapping[str, Abstract] = field(default_factory=dict)
    unassigned: set[str] = field(default_factory=set)
    first_site: int = 0
    raised: set[type[BaseException]] = field(default_factory=set)

    @contextmanager
    def under(self, conditions: Sequence[Abstract]) -> Iterator[None]:
        """A `with` block whose instructions run under these conditions."""
        before = len(self.undecided)
        self.undecided += conditions
        try:
            yield
        finally:
            del self.undecided[before:]


@dataclass(slots=True)
class CalleeScope:
    """A callee being inferred; `open` are all open callees, `try_depth` counts the bodies of `try` around it.

    Cells with greater numbers than `first_cell` are its own; `reached` are those that its arguments and its environment
    reach.

    `crossed`: it used what it knows of this very call, so no other may share it. `observed`: of the cells that
    it changes, whether somebody outside of it sees them after a raise. `computed`: of values of it, its
    parameters among them, whether they are computed in each call that shares it (`is_computed_inside`).
    """

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "body": Fixed(),
            "open": Balanced(),
            "try_depth": Fixed(),
            "first_cell": Fixed(),
            "reached": Fixed(),
            "crossed": Grows("at worst the summary of a callee serves for no other call"),
            "observed": Grows("at worst the summary of a callee serves for fewer calls"),
            "computed": Grows("it is about values, each of which is computed once"),
        }
    )

    body: Region
    open: list[CalleeScope]
    try_depth: int
    first_cell: int
    reached: Set[int]
    crossed: bool = False
    observed: dict[Slot, bool] = field(default_factory=dict)
    computed: dict[Value, bool] = field(default_factory=dict)

    def __enter__(self) -> CalleeScope:
        self.open.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        self.open.pop()


class PythonRaise(Exception):
    """Raised where the staged program certainly raises at the current instruction: what follows does not run.

    The error cell says so already, in the fork of the state of this `depth`; before the raise its code was
    `before`. `exception` is what it raises; None where that depends on the path taken.
    """

    def __init__(self, exception: Abstract | None, depth: int, before: int | Value) -> None:
        super().__init__(exception)
        self.exception = exception
        self.depth = depth
        self.before = before


class Endless(Exception):
    """Raised where the recursion of `function` is given up, for the reported reason: no open call of it continues.

    Each would infer again, in each pass over each of its loops, what calls itself as deep.
    """

    def __init__(self, function: stage.Function, refused: Diagnostic) -> None:
        super().__init__(function)
        self.function = function
        self.refused = refused
