"""Calls, control flow, iteration and operators by the classes of user objects."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence

from ...values.lattice import Abstract
from ...values.vector import Vector
from .operations import Raw


class Control(abc.ABC):
    """Calls, control flow, iteration and operators by the classes of user objects."""

    @abc.abstractmethod
    def call(
        self, function: Abstract, args: Sequence[Abstract], kwargs: Mapping[str, Abstract] = {}
    ) -> Abstract:
        """The result of a call to any callable value, user functions included."""

    @abc.abstractmethod
    def truth(self, value: Raw) -> Abstract:
        """`bool(value)`: a `Const` bool, or a staged Python bool; the plain run's error for arrays."""

    @abc.abstractmethod
    def branch(
        self, condition: Abstract, then: Callable[[], Abstract], orelse: Callable[[], Abstract]
    ) -> Abstract:
        """The value of the arm that `condition` (a staged scalar bool) chooses; both arms are inferred."""

    @abc.abstractmethod
    def while_loop(
        self,
        condition: Callable[[Abstract], Abstract],
        body: Callable[[Abstract], Abstract],
        initial: Abstract,
        trip_count: int | None = None,
        most: int | None = None,
    ) -> Abstract:
        """`state = initial; while condition(state): state = body(state)`, rolled into one `While`.

        `trip_count` is the number of iterations, `most` the greatest number of them, where these are known.
        """

    @abc.abstractmethod
    def iterate(self, value: Abstract) -> list[Abstract] | None:
        """The elements of an iterable whose length is known now, or None where it cannot be listed."""

    @abc.abstractmethod
    def gathered(self, value: Abstract) -> Vector[Abstract] | None:
        """The elements of an iterable as rows, if only the program knows how many there are, and they have a template."""

    @abc.abstractmethod
    def getattr(self, value: Abstract, name: str) -> Abstract:
        """`value.name`."""

    def overloaded(self, op: str, left: Raw, right: Raw) -> Abstract | None:
        """The result of a binary operator or comparison by the classes of user objects; None if they define none."""
        return None

    @abc.abstractmethod
    def unary(self, op: str, x: Raw) -> Abstract:
        """`-x`, `+x` or `~x`, by the classes of user objects too."""

    @abc.abstractmethod
    def inplace(self, op: str, left: Raw, right: Raw) -> Abstract:
        """`left op= right`: what the target is bound to afterwards, by the classes of user objects too."""
