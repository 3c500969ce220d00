"""Eviction: which programs of a function are kept, and the warning about many that differ in one argument.

A function keeps at most `config.max_programs` programs. Beyond that, the least recently used specialisation is evicted
with its executables; those that calls reach by the fast path, which records no use, come last. A specialisation that
alone has too many programs, for as many shapes, keeps the latest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...compiler.pipeline import Staged
from ...compiler.values.boundary import Demand, LeafSpec, Spec
from ...config import config
from ..reports.warnings import SpecialisationWarning, warn
from .specialisation import Specialisation

STORM = 8
"""How many programs that differ in the value of one argument lead to a warning."""
_SHOWN = 4
_now = itertools.count(1).__next__


class ProgramCache:
    """The cached programs of one function, in the order of their compilation."""

    def __init__(self, name: str, short: Mapping[Any, tuple[Any, ...]]) -> None:
        self._name = name
        self._short = short
        self.staged: list[Staged] = []
        self._take_away: dict[Specialisation, Callable[[], object]] = {}
        self._values: dict[str, dict[str, None]] = {}
        """The values of arguments that had to be constants, by path, until they are reported."""
        self.suggests_buckets = True
        """False where the user knows of buckets, or has been told."""
        self._shapes: dict[Any, dict[tuple[tuple[int, ...], ...], None]] = {}
        """The shapes of the arrays among the arguments, by their names, element types and numbers of axes."""

    def add(self, made: Specialisation, take_away: Callable[[], object]) -> None:
        """Keeps a specialisation, which `take_away` makes unreachable."""
        self._take_away[made] = take_away
        self._report(made.staged.demands)
        self.trim(made)

    def note_shapes(self, arguments: Mapping[str, Spec]) -> None:
        """Records the shapes that a program is for; warns once where sizes keep changing."""
        arrays = {
            name: spec.type
            for name, spec in arguments.items()
            if isinstance(spec, LeafSpec) and spec.type.rank
        }
        if not (self.suggests_buckets and arrays):
            return
        shapes = self._shapes.setdefault(tuple([(name, t.dtype, t.rank) for name, t in arrays.items()]), {})
        shapes[tuple([t.shape for t in arrays.values()])] = None
        if len(shapes) < STORM:
            return
        self.suggests_buckets = False
        buckets = {
            name: {
                axis: "pow2"
                for axis, sizes in enumerate(zip(*each, strict=True))
                if len({*sizes}) >= STORM // 2
            }
            for name, each in zip(arrays, zip(*shapes, strict=True), strict=True)
        }
        buckets = {name: axes for name, axes in buckets.items() if axes}
        if buckets:
            warn(
                f"`{self._name}` was compiled for {STORM} shapes of its arguments and is for each further one; "
                f"`pystage.compile(bucket={buckets})` lets sizes share programs",
                SpecialisationWarning,
            )

    def replace(self, outgrown: Specialisation) -> None:
        """Drops a specialisation all of whose calls another one serves."""
        take_away = self._take_away.pop(outgrown, None)
        if take_away is not None:
            take_away()
            self._drop(outgrown.retire())

    def trim(self, current: Specialisation) -> None:
        """Drops programs until their number is within the limit; `current` is in use."""
        current.used = _now()
        quick = {id(short[-1]) for short in list(self._short.values())}
        while len(self.staged) > config.max_programs and len(self._take_away) > 1:
            others = [each for each in self._take_away if each is not current]
            oldest = min(others, key=lambda each: (id(each) in quick, each.used))
            self._take_away.pop(oldest)()
            self._drop(oldest.drop())
        if len(self.staged) > config.max_programs:
            self._drop(current.drop_older())

    def note_use(self, specialisation: Specialisation) -> None:
        """Records a use by a call."""
        specialisation.used = _now()
        if len(self.staged) > config.max_programs:
            self.trim(specialisation)

    def _drop(self, gone: Sequence[Staged]) -> None:
        identities = set(map(id, gone))
        self.staged = [s for s in self.staged if id(s) not in identities]

    def _report(self, demands: Sequence[Demand]) -> None:
        for demand in demands:
            if not isinstance(demand.place, int):
                continue
            values = self._values.setdefault(demand.where, {})
            if len(values) >= STORM:
                continue
            values[repr(demand.value)] = None
            if len(values) == STORM:
                some = ", ".join(list(values)[:_SHOWN])
                at = f" ({demand.span.at})" if demand.span is not None else ""
                warn(
                    f"`{self._name}` was compiled for {STORM} values of `{demand.where}` ({some}, …) and is for "
                    f"each further one, because {demand.reason} needs the value{at}",
                    SpecialisationWarning,
                )
