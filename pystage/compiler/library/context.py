"""`Context`: the interface of inference to library functions.

A library function has the signature of the Python function that it implements, preceded by the context:
`def mean(ctx, a, axis=None, …)`. Its arguments are abstract values, its defaults plain Python objects, and
every accessor here takes either. It builds HLO operations with `ctx.op` and returns abstract values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..hlo.ir import Value
from ..values.bounded import Compressed
from .interfaces.capacities import Capacities
from .interfaces.control import Control
from .interfaces.environment import Environment
from .interfaces.failures import ExceptionCase as ExceptionCase
from .interfaces.failures import Failures
from .interfaces.heap import Heap
from .interfaces.host_effects import HostEffects
from .interfaces.knowledge import Knowledge
from .interfaces.operations import Raw as Raw


class Context(Knowledge, Heap, Control, Failures, Capacities, HostEffects, Environment):
    """The inference at work, as library functions use it."""

    compressed: dict[Value, Compressed]
    """By the compacted elements that a mask selects: all elements, and the mask."""
    members: Callable[[tuple[int, ...]], Value | None] | None
    """While an elementwise computation runs on wholes: which elements of a shape belong to the result. None, also as its
    result: all do."""

    @contextmanager
    def computing_for(self, members: Callable[[tuple[int, ...]], Value | None]) -> Iterator[None]:
        """A `with` block in which only the elements that `members` says count."""
        before, self.members = self.members, members
        try:
            yield
        finally:
            self.members = before
