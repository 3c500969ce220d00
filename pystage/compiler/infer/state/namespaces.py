"""The modules and classes whose variables the program assigns."""

from __future__ import annotations

from typing import Any, ClassVar

from ...speculation import Declarations, Grows
from ...values.slots import Variable
from ...values.state import State

Namespace = dict[str, Any] | type
"""The variables of a module, or a class with its attributes."""


class Namespaces:
    """Numbers for namespaces: -1, -2, …; a variable of one is the slot `(number, name)`, as of a frame.

    A namespace has a number from the first time that something in it is assigned.
    """

    __slots__ = ("_numbers", "owners")

    SPECULATION: ClassVar[Declarations] = Declarations(
        dict.fromkeys(__slots__, Grows("a number is not used again"))
    )

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # by id
        self.owners: dict[int, Namespace] = {}
        """By number: the namespace, which is kept alive so."""

    def number(self, namespace: Namespace) -> int | None:
        """The number of a namespace; None if nothing in it was assigned."""
        return self._numbers.get(id(namespace))

    def assigned(self, namespace: Namespace) -> int:
        """The number of a namespace in which something is assigned."""
        number = self._numbers.setdefault(id(namespace), -len(self._numbers) - 1)
        self.owners[number] = namespace
        return number

    def written(self, state: State) -> list[Variable]:
        """The variables that the program has assigned, on the path at hand."""
        if not self._numbers:
            return []
        return [slot for slot in state.slots if isinstance(slot, tuple) and slot[0] < 0]
