"""Specialisation feedback: which numbers must be constants, which integers change between calls, which loops are unrolled.

In: compiled programs, and guards that failed. Out: requests for the next programs, which ask for the required constants and
unroll the loops at once, so that nothing is found twice, and make inputs of integers that change, so that a counter does
not need a program for each of its values.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from ...compiler.pipeline import Request, Staged
from ...compiler.values.boundary import (
    ConstantTemplate,
    ContainerTemplate,
    Demand,
    Guard,
    GuardKind,
    HiddenInput,
    Mutation,
    OutputTemplate,
    Path,
    PathKey,
    Program,
    Template,
    Write,
)
from ...compiler.values.capacity import AllocationSite
from ...compiler.values.demand import LoopDecisions
from ..outcomes import Outgrown
from ..reports.ledger import Change, value_text
from .environment import Reader

Leaves = tuple[str, ...]
"""The paths of the leaves of a call: calls that have them in common want the same constants."""


class Feedback:
    """The feedback of one function's programs. Entries are only added, so that threads need no lock; capacities grow."""

    def __init__(self) -> None:
        self.changing: dict[PathKey, Path] = {}
        """Integers of the environment that were seen to change, and tables of numbers that were."""
        self.capacities: dict[AllocationSite, int] = {}
        """The capacities that calls turned out to need, of arguments of any kind."""
        self.skips_writes = False
        """True once a call that had printed exceeded a capacity."""
        self._growing = threading.Lock()
        self._loops: dict[Leaves, LoopDecisions] = {}
        self._demands: dict[Leaves, dict[int, Demand]] = {}
        self._fixed: dict[Leaves, dict[PathKey, Demand]] = {}

    def request(self, request: Request, leaves: Leaves) -> Request:
        """The request, completed by what is known of calls of this kind."""
        return replace(
            request,
            demands=dict(self._demands.get(leaves, {})),
            fixed=dict(self._fixed.get(leaves, {})),
            changing=dict(self.changing),
            capacities=self.capacities,
            skips_writes=self.skips_writes,
            loops=self._loops.setdefault(leaves, LoopDecisions()),
        )

    def is_current(self, request: Request) -> bool:
        """True if a program made by this request has the capacities that calls turned out to need."""
        return request.capacities == self.capacities and request.skips_writes == self.skips_writes

    def demanded(self, leaves: Leaves) -> Mapping[int, Demand]:
        """The leaves that had to be constants in calls of this kind."""
        return self._demands.get(leaves, {})

    def note(self, staged: Staged, leaves: Leaves) -> None:
        """Records what a program demanded."""
        demands = {d.place: d for d in staged.demands if isinstance(d.place, int)}
        self._demands[leaves] = {leaf: demands[leaf] for leaf in staged.static if leaf in demands}
        self._fixed[leaves] = {**self._fixed.get(leaves, {}), **staged.fixed}

    def note_kept(
        self, capacities: Mapping[AllocationSite, int], changing: Sequence[Path], skips: bool
    ) -> None:
        """Records what another process knew of calls when it made a program."""
        self.changing.update({path.key: path for path in changing})
        with self._growing:
            known = self.capacities
            self.capacities = {**known, **{s: max(n, known.get(s, 0)) for s, n in capacities.items()}}
            self.skips_writes |= skips

    def note_outgrown(self, outgrown: Outgrown) -> Change:
        """Records that a run has exceeded a capacity; returns what is different in the next program."""
        capacity, larger = outgrown.end.capacity, outgrown.capacities
        site = capacity.site
        with self._growing:
            known = self.capacities
            self.capacities = {**known, **{s: max(n, known.get(s, 0)) for s, n in larger.items()}}
            self.skips_writes |= outgrown.writes is not None
        size = self.capacities[site]
        return Change(
            f"capacity for {site.what}", str(capacity.size), str(size), "it was exceeded", site.span
        )

    def note_stores(self, program: Program) -> bool:
        """Records the integers under a guard that the program itself changes; True if there are any."""
        guards = {g.path.key: g for g in program.guards if _is_value(g) and type(g.expected) is int}
        found = {
            path.key: path
            for mutation in program.mutations
            for path, value in _stores(mutation)
            if path.key in guards and _differs(value, guards[path.key].expected)
        }
        self.changing.update(found)
        return bool(found)

    def note_failure(self, reader: Reader, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Change]:
        """Records the integers whose guards failed as changing; gives all changes."""
        found: list[Change] = []
        failing: list[Guard | HiddenInput] = reader.failing(args, kwargs)
        for each in failing:
            now = reader.value_at(each.path, args, kwargs)
            if _is_value(each) and type(now) in (int, tuple) and type(now) is type(each.expected):
                self.changing[each.path.key] = each.path
            known = _is_value(each) and now is not ...
            old, new = (value_text(each.expected), value_text(now)) if known else ("what it was", "another")  # type: ignore[union-attr]
            found.append(Change(str(each.path), old, new))
        return found


def _is_value(condition: Guard | HiddenInput) -> TypeGuard[Guard]:
    return isinstance(condition, Guard) and condition.kind is GuardKind.EQUAL


def _stores(mutation: Mutation) -> Iterator[tuple[Path, Template]]:
    """The paths that a mutation assigns, and the templates of their new values."""
    target, value = mutation.target, mutation.value
    match mutation.kind:
        case Write.GLOBAL | Write.CELL:
            yield target, value
        case Write.ATTRIBUTE:
            yield target.attribute(mutation.key), value
        case Write.LIST | Write.DICT if isinstance(value, ContainerTemplate):
            for key, child in zip(value.keys, value.children, strict=True):
                yield target.item(key), child


def _differs(value: Template, expected: int) -> bool:
    if isinstance(value, ConstantTemplate):
        return type(value.value) is int and value.value != expected
    return isinstance(value, OutputTemplate) and value.scalar is int
