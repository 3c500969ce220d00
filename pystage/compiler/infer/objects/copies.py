"""Copies of abstract values together with the heap that they reach, and walks over both."""

from __future__ import annotations

from ...values.lattice import Abstract, ArrayCell, Cell, Ref, Tuple
from ...values.node import TreeNode
from ...values.state import State
from ...values.walk import map_children
from ..core.engine import Engine
from ..state.merged import CONTAINERS, alone
from .objects import completed


def opened(engine: Engine, x: Abstract) -> TreeNode | None:
    """A value whose children are the parts of a container: a tuple, or the contents of a list, dict or object; else None."""
    if isinstance(x, Tuple):
        return x
    content = alone(completed(engine, engine.cell(x))) if isinstance(x, Ref) else None
    return content if isinstance(content, CONTAINERS) else None


def class_of(container: TreeNode) -> type:
    """The class of the container that `opened` gives; for lists and dicts that of their contents."""
    return getattr(container, "cls", type(container))


class Copies:
    """Copies of structures, with a new object in place of each that they reach, once each, cycles included.

    What is no container is as `leaf` says, and an array as `array` does.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.made: dict[int, Ref] = {}
        """The new objects, by the cells of the old ones."""

    def of(self, x: Abstract) -> Abstract:
        """The copy of a structure."""
        if isinstance(x, Tuple):
            return map_children(x, self.of)
        return self.object(x) if isinstance(x, Ref) else self.leaf(x)

    def object(self, ref: Ref) -> Abstract:
        """The copy of an object and of all that it holds."""
        if ref.cell not in self.made:
            made = self.made[ref.cell] = Ref(self._state.cell_number())
            content = alone(self.contents(ref.cell))
            if isinstance(content, ArrayCell):
                content = self.array(content)
            elif isinstance(content, CONTAINERS):
                content = map_children(content, self.of)
            self._state.set(made.cell, content)
        return self.made[ref.cell]

    def contents(self, cell: int) -> Cell:
        """What an object holds."""
        raise NotImplementedError

    def leaf(self, x: Abstract) -> Abstract:
        """The replacement of a value that is no container."""
        raise NotImplementedError

    def array(self, content: ArrayCell) -> ArrayCell:
        """The replacement of the contents of an array."""
        raise NotImplementedError
