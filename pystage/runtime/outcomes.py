"""Outcomes of a call that has no result yet.

A compiled function (`function.py`) tells these apart at every call, and loads nothing else of what runs programs before its
first one.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax

if TYPE_CHECKING:
    from ..compiler.values.capacity import AllocationSite, CapacityExceeded


class Lazy:
    """Base class of lazy tensors."""

    __slots__ = ()


class HasLazy(Exception):
    """Raised where an argument is a lazy tensor, which `pystage.lazy` serves."""


class Elsewhere(Exception):
    """Raised while tracing: the types at hand need a specialisation of their own."""


class Unprepared(Exception):
    """Raised while tracing: the types at hand are new, and their program is to be compiled before it is called."""


class Raised(Exception):
    """A program has raised `exception`; `traceback` is the user's part of what led there."""

    def __init__(self, exception: BaseException, traceback: types.TracebackType | None) -> None:
        super().__init__(exception)
        self.exception = exception
        self.traceback = traceback

    def genuine(self) -> BaseException:
        """The result for the caller."""
        return self.exception.with_traceback(self.traceback)


class Outgrown(Exception):
    """Raised where a run exceeded a capacity, as `end` says, and nothing has changed outside.

    `capacities`: what is larger in the next program. `writes`: how many writes the run has made, less those that it was to
    skip; None if the program prints nothing.
    """

    def __init__(
        self, end: CapacityExceeded, capacities: Mapping[AllocationSite, int], writes: int | None
    ) -> None:
        super().__init__(end)
        self.end = end
        self.capacities = capacities
        self.writes = writes


class Pending(tuple[Any, ...]):
    """The result of the `jax.jit` of a specialisation where a plan has more to do: it carries the plan.

    A pytree whose leaves are the program's results; JAX keeps the plan with the compiled program, so that
    finding it costs nothing. A tuple, because the least time goes into making one, at every call.
    """

    __slots__ = ()
    plan = property(operator.itemgetter(0))
    values = property(operator.itemgetter(1))


def pending(plan: Any, values: Sequence[Any]) -> Pending:
    """Results for which the plan has more to do."""
    return Pending((plan, values))


jax.tree_util.register_pytree_node(Pending, lambda p: (p.values, p.plan), pending)
