"""Capacities of what grows."""

from __future__ import annotations

import abc

from ...hlo.ir import Value
from ...values.capacity import Capacity
from ...values.lattice import Abstract


class Capacities(abc.ABC):
    """Capacities of what grows."""

    @abc.abstractmethod
    def capacity(
        self,
        initial: int,
        itemsize: int = 8,
        what: str = "what grows here",
        with_inputs: bool = False,
        share: float = 1,
    ) -> Capacity:
        """The capacity, in this specialisation, of what the instruction at hand allocates; at least `initial` elements.

        `itemsize` is the number of bytes that an element takes. `what` says in words what it is, as `the list`, and tells
        apart several that one instruction allocates. `with_inputs`: large inputs probably make it large. `share`: of as many
        elements as the largest input has, the part that is expected here: each of many lists gets less than 1.
        It is the same in every pass over the instruction and every call.
        """

    @abc.abstractmethod
    def expected(self, number: Abstract) -> int | None:
        """An integer in the call at hand, where numbers of the call decide it: for capacities, since it is not demanded."""

    @abc.abstractmethod
    def needs_capacity(self, capacity: Capacity, needed: Value) -> None:
        """The run ends here if `needed`, an integer scalar, exceeds the capacity; the call is executed again with more.

        It ends as by an exception that no handler sees: afterwards values mean nothing, and stores are masked.
        """

    @abc.abstractmethod
    def is_repeated(self) -> bool:
        """True in the body of a rolled loop."""

    @abc.abstractmethod
    def can_grow(self) -> bool:
        """Whether a run that needs more than a capacity is executed again with more of it; not where JAX traces the call."""
